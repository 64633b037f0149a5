"""The queue that a replica waits in: when it is asked for, and what is read.

An Object that only reads the queue, and a collection of the entries in which the scheduler notes what waits, are there
while workers are not ready. No decision about the workload rests on them: they say only what it waits for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from modelplane import seen
from modelplane.render import objects, pod_collection, progress
from modelplane.render.backend import Observation
from modelplane.render.manifest import Lifecycle, Manifest, Purpose
from modelplane.render.progress import Known, Progress
from modelplane.render.scheduler import Queue, Sight
from modelplane.render.schedulers import selection
from modelplane.workload.model import Replica
from modelplane_functions.exchange import Child, Observed, Ready, Requirement, Resource
from modelplane_functions.replica_pods import Pods

KEY_QUEUE, KEY_ENTRIES = "queue", "queue-entries"
_MEMBERS = "queue-members"
# So provider-kubernetes words that an object which it reads is not there.
_ABSENT = "does not exist"


@dataclass(frozen=True, slots=True)
class Waiting:
    """The observed objects about the queue of a replica, None without them, and those with the label of its entries."""

    queue: Resource | None = None
    collection: Resource | None = None
    members: tuple[Resource, ...] = ()

    def requirements(self, replica: Replica) -> dict[str, Requirement]:
        """Return the requirement for the entries, none without a collection."""
        if self.collection is None:
            return {}
        labels = pod_collection.membership(objects.name_of(replica.name, KEY_ENTRIES))
        return {_MEMBERS: Requirement(objects.API_VERSION, objects.KIND, labels=labels, namespace=replica.namespace)}

    def explained(
        self, replica: Replica, observation: Observation, rendered: Iterable[Resource], pods: Pods
    ) -> Observation:
        """Return the observation with the reason why the replica waits. `rendered` are the observed Objects."""
        if self.queue is None and self.collection is None:
            return observation
        queue = selection.queue(replica, _bare(rendered))
        if queue is None:
            return observation
        return progress.queued(observation, selection.waits(queue, self._sight(queue, replica, pods)))

    def children(
        self, replica: Replica, rendered: Mapping[str, Child], found: Progress, pods: Pods
    ) -> dict[str, Child]:
        """Return the children that read the queue, made when workers are known not to be ready and kept until they are.

        It is always ready, because no readiness of the replica depends on it.
        """
        queue = selection.queue(replica, _bare(child.resource for _, child in sorted(rendered.items())))
        provider = pods.provider_config(rendered)
        if queue is None or provider is None:
            return {}
        is_short = pods.is_short(rendered, found)
        made: dict[str, Resource] = {}
        if is_short or (self.queue is not None and found.workload.known is not Known.YES):
            manifest = Manifest(KEY_QUEUE, queue.resource, Purpose.SUPPORT, lifecycle=Lifecycle.OBSERVE)
            made[KEY_QUEUE] = objects.wrap(
                manifest, provider_config=provider, namespace=replica.namespace, owner=replica.name
            )
        is_kept = self.collection is not None and found.workload.known is not Known.YES
        if is_kept or (is_short and pods.is_served):
            made[KEY_ENTRIES] = pod_collection.wrap_entries(replica, KEY_ENTRIES, queue.entries, queue.labels, provider)
        return {key: Child(resource, Ready.TRUE) for key, resource in made.items()}

    def _sight(self, queue: Queue, replica: Replica, pods: Pods) -> Sight:
        kind = seen.text(seen.at(queue.entries, "kind"))
        entries = pod_collection.members(self.collection, self.members, kind) if self.collection is not None else []
        read = objects.observed(self.queue)
        is_same = seen.at(read, "metadata", "name") == queue.name
        synced = {} if self.queue is None else objects.condition(self.queue, "Synced")
        told = seen.text(synced.get("message")) if synced.get("status") == "False" else ""
        is_absent = told.endswith(_ABSENT) and self._asks_for(queue)
        return Sight(
            entries=tuple(sorted(entries, key=_name)),
            pods=tuple(pods.read(replica)),
            queue=read if is_same and not is_absent else None,
            is_absent=is_absent,
            unread=self._unread(told if not is_absent and self._asks_for(queue) else ""),
        )

    def _unread(self, told: str) -> str:
        """Return why the entries or the queue cannot be read, with a remedy, empty if they can."""
        failure = "" if self.collection is None else pod_collection.failure(self.collection)
        if failure or not told or objects.observed(self.queue) is not None:
            return failure
        return f"{pod_collection.cut(told)}; apply examples/rbac-workload.yaml on the cluster"

    def _asks_for(self, queue: Queue) -> bool:
        """Return whether the Object reads this queue, and not the one that the workload had before."""
        return bool(self.queue is not None and objects.unwrap(self.queue) == queue.resource)


def split(observed: Observed) -> tuple[Observed, Waiting]:
    """Return the observed state without the objects about the queue, which are none of the workload, and those."""
    queue, collection = observed.children.get(KEY_QUEUE), observed.children.get(KEY_ENTRIES)
    others = {key: child for key, child in observed.children.items() if key not in (KEY_QUEUE, KEY_ENTRIES)}
    is_listed = collection is not None and pod_collection.is_collection(collection)
    found = Waiting(queue, collection if is_listed else None, observed.required.get(_MEMBERS, ()))
    return (observed if others.keys() == observed.children.keys() else replace(observed, children=others)), found


def _bare(rendered: Iterable[Resource]) -> list[Resource]:
    """Return the manifests that run pods."""
    return [objects.unwrap(one) for one in rendered if objects.purpose(one) is Purpose.WORKLOAD]


def _name(entry: Resource) -> str:
    return seen.text(seen.at(entry, "metadata", "name"))
