"""Volcano, which places the pods of a PodGroup together, as the share of its Queue allows.

LeaderWorkerSet makes a PodGroup of each of its groups (chart value gangSchedulingManagement.schedulerProvider=volcano)
and reads the queue as an annotation of the LeaderWorkerSet. For other pods Volcano's controller makes one for each
ReplicaSet, of one pod at least, and reads the queue as an annotation of the pod.
Source: LeaderWorkerSet v0.9.0 (pkg/schedulerprovider), Volcano v1.15.1 (pkg/controllers/podgroup). Volcano itself was
not run, because no module proxy serves its API.
"""

from __future__ import annotations

from collections.abc import Iterator

from modelplane import seen
from modelplane.errors import Unsupported
from modelplane.render.backend import Problem, for_gangs
from modelplane.render.scheduler import Json, Object, PodMarks, Queue, Sight
from modelplane.render.schedulers import waiting
from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts

NAME = "Volcano"
SCHEDULER = "volcano"
API_VERSION = "scheduling.volcano.sh/v1beta1"
QUEUE = "scheduling.volcano.sh/queue-name"

_REFUSED = {
    "KubeRay": "its operator makes a PodGroup only where it was started for Volcano, and then one of all groups",
    "KAITO": "its StatefulSets would get a PodGroup each whose queue no field of an InferenceSet names",
    "Dynamo": "its LeaderWorkerSets have no annotation of a queue, so their groups would use the default queue",
    "VLLMStack": "a VLLMRuntime has no field for the scheduler of its pods",
}


def check(workload: Workload, backend: str) -> None:
    """Check that every worker gets a PodGroup of the cluster's queue. Raises: Unsupported if it does not."""
    waiting.check_backend(backend, _REFUSED, NAME, "LLMD or Native")
    if backend == "KServe" and for_gangs(workload):
        raise Unsupported(
            "a worker of KServe over several nodes cannot be queued by Volcano: KServe does not pass the annotation of "
            "the queue on to its LeaderWorkerSet; use LLMD or Native there",
            reason="BackendUnavailable",
        )


def marks(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
    """Return the queue as an annotation of object and pods, the name of the scheduler, and the priority's class."""
    queue = {QUEUE: facts.queue}
    return PodMarks(
        annotations=queue,
        scheduler_name=SCHEDULER,
        object_annotations=queue,
        priority_class=waiting.priority_class(replica, facts),
    )


def frozen(resource: Object) -> Json:
    """Return None: a PodGroup follows the pods that are made next, and no change is refused."""


def queue(replica: Replica, resource: Object) -> Queue | None:
    """Return the queue of an object with its annotation. The entries are the PodGroups of a LeaderWorkerSet.

    Those of other pods have a label of neither the object nor the pods; the pods themselves tell what they wait for.
    """
    name = seen.text(seen.at(resource, "metadata", "annotations", QUEUE))
    if not name:
        return None
    return Queue(
        scheduler=NAME,
        name=name,
        resource={"apiVersion": API_VERSION, "kind": "Queue", "metadata": {"name": name}},
        entries={"apiVersion": API_VERSION, "kind": "PodGroup"},
        labels={"leaderworkerset.sigs.k8s.io/name": seen.text(seen.at(resource, "metadata", "name"))},
    )


def quota(facts: ClusterFacts) -> Object | None:
    """Return the Queue of the cluster."""
    if facts.quota is None:
        return None
    return {"apiVersion": API_VERSION, "kind": "Queue", "metadata": {"name": facts.queue}}


def limit(holder: Object, resource: str) -> int | None:
    """Return the capability of the Queue; what it deserves may be exceeded."""
    return waiting.whole(seen.at(holder, "spec", "capability", resource))


def waits(queue: Queue, sight: Sight) -> Problem | None:
    """Return the reason why PodGroups or, without a word of theirs, pods of a replica wait."""
    where = f"Queue {queue.name}"
    is_placed = any(seen.text(seen.at(pod, "spec", "nodeName")) for pod in sight.pods)
    if sight.is_absent and not is_placed:
        told = f"{where} of Volcano does not exist; create it, or correct spec.scheduler.queueName of the cluster"
        return waiting.Waiting(waiting.Rank.MISSING, "QueueMissing", told).problem()
    state = seen.text(seen.at(sight.queue, "status", "state"))
    if state in ("Closed", "Closing") and not is_placed:
        told = f"{where} of Volcano is {state} and takes no pod; open it with `vcctl queue operate -a open`"
        return waiting.Waiting(waiting.Rank.STOPPED, "QueueStopped", told).problem()
    found = sorted(one for entry in sight.entries for one in _told(entry, where))
    found = found or sorted(waiting.unscheduled(sight.pods, SCHEDULER, where))
    return found[0].problem() if found else None


def _told(entry: Object, where: str) -> Iterator[waiting.Waiting]:
    phase = seen.text(seen.at(entry, "status", "phase"))
    if phase in ("Running", "Completed"):
        return
    condition = seen.condition(entry.get("status"), "Unschedulable")
    told = waiting.message(condition) if seen.verdict(condition) is True else f"its PodGroup is {phase or 'Pending'}"
    name = waiting.cut(seen.text(seen.at(entry, "metadata", "name")))
    message = f"PodGroup {name} waits in {where} of Volcano: {told}"
    yield waiting.Waiting(waiting.Rank.PENDING, "QueuePending", message)
