"""The pods of deleted and changed replicas: the collections that list them, and which replicas may still have one.

The controllers of some backends delete in the background, so the Objects of a workload are gone before its pods have
ended. A collection of provider-kubernetes lists the pods from then on. It is made only then, so whatever it lists was
listed after the last Object went. In the same way another one lists those of changed replicas from when their cluster
has the change. Replicas of one namespace that are found together share one: few are made for many.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from modelplane import names, seen, words
from modelplane.render import objects, pod_collection
from modelplane_functions import replica_pods
from modelplane_functions.exchange import Child, Observed, Ready, Requirement, Resource

_ENDING, _CHANGED, _MEMBERS = "ending-pods-", "changed-pods-", "ending-pods/"
# A list request has the names in its URL, of which servers take some 8 KiB.
_TOGETHER = 50
# A message names so many replicas.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Listing:
    """A collection: its composition key, its replicas by `namespace/name`, and their pods that may hold devices.

    `pods` are by replica. They are None where they are not known: until they are listed, and while one was not read.
    """

    key: str
    replicas: tuple[str, ...]
    pods: Mapping[str, tuple[Resource, ...]] | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Endings:
    """The listings of a cluster. `is_served`: whether the control plane serves collections, None if it cannot say."""

    listings: tuple[Listing, ...]
    is_served: bool | None

    def may_have_pods(self, key: str) -> bool:
        """Return whether a replica may still have pods, once the Objects of its workload are gone.

        Without an answer whether collections are served, nobody can list them, and the Objects alone decide.
        """
        if not any(key in listing.replicas for listing in self._of(_ENDING)):
            return self.is_served is not None
        pods = self._pods(_ENDING, key)
        return pods is None or bool(pods)

    def pods_since_change(self, key: str) -> tuple[Resource, ...] | None:
        """Return the pods of a changed replica that may hold devices, None if they are not known."""
        return self._pods(_CHANGED, key)

    def _of(self, prefix: str) -> tuple[Listing, ...]:
        return tuple(listing for listing in self.listings if listing.key.startswith(prefix))

    def _pods(self, prefix: str, key: str) -> tuple[Resource, ...] | None:
        found = [one.pods for one in self._of(prefix) if key in one.replicas and one.pods is not None]
        return min((pods.get(key, ()) for pods in found), key=len, default=None)

    def children(
        self, observed: Observed, lingering: Iterable[str], changed: Iterable[str], provider: Mapping[str, str]
    ) -> Iterator[tuple[str, Child]]:
        """Yield the collections for the replicas of which only pods may be left, and for changed ones.

        No readiness depends on one. One goes with the first of its replicas that has ended. Another replica of that
        name may come and go while the others linger, and what was listed before says nothing of its pods.
        """
        for prefix, replicas in ((_ENDING, lingering), (_CHANGED, changed)):
            yield from self._collected(prefix, observed, frozenset(replicas), provider)

    def _collected(
        self, prefix: str, observed: Observed, wanted: frozenset[str], provider: Mapping[str, str]
    ) -> Iterator[tuple[str, Child]]:
        kept = [listing for listing in self._of(prefix) if wanted.issuperset(listing.replicas)]
        new = wanted.difference(*(listing.replicas for listing in kept)) if self.is_served else ()
        for replicas in (*(listing.replicas for listing in kept), *_batches(new)):
            key, namespace = _key(prefix, replicas), replicas[0].partition("/")[0]
            where = names.SYSTEM_NAMESPACE, objects.name_of(observed.name, key)
            bare = [replica.partition("/")[2] for replica in replicas]
            yield key, Child(pod_collection.wrap_all(where, namespace, bare, provider), Ready.TRUE)

    def told(self, cluster: str, ending: Collection[str], changed: Collection[str], looked_for: Collection[str]) -> str:
        """Return the end of a message about the deleted and the changed replicas that are counted, empty without any.

        `looked_for` are those of them whose pods should be listed.
        """
        said = ""
        if ending:
            is_counted = "is deleted and stays counted until its workload and its pods are seen to be gone from"
            if len(ending) > 1:
                is_counted = (
                    "are deleted and stay counted until their workloads and their pods are seen to be gone from"
                )
            said += f"; {words.first(sorted(ending), _NAMED)} {is_counted} cluster {cluster}"
        if changed:
            counts = "counts as before its change" if len(changed) == 1 else "count as before their change"
            of_before = f"too, until the pods from before are seen to be gone from cluster {cluster}"
            said += f"; {words.first(sorted(changed), _NAMED)} {counts} {of_before}"
        if said:
            said += f" (kubectl get pods -A -l {names.LABEL_REPLICA} on that cluster)"
        problem = self._problem()
        if looked_for and problem:
            said += f"; the pods of {words.first(sorted(looked_for), _NAMED)} cannot be listed: {problem}"
        return said

    def _problem(self) -> str:
        if self.is_served is False:
            return (
                f"the control plane does not serve {pod_collection.KIND} of {pod_collection.API_VERSION}; install "
                "provider-kubernetes 1.2 or activate the kind (ManagedResourceActivationPolicy)"
            )
        return next((listing.failure for listing in self.listings if listing.failure), "")


def requirements(observed: Observed) -> dict[str, Requirement]:
    """Return the requirements for the members of the collections, none without a collection."""
    return {
        _MEMBERS + key: Requirement(
            objects.API_VERSION,
            objects.KIND,
            labels=pod_collection.membership(objects.name_of(observed.name, key)),
            namespace=names.SYSTEM_NAMESPACE,
        )
        for key, _, _ in _collections(observed)
    }


def read(observed: Observed) -> Endings:
    """Return the listings of the observed collections. Cost: linear in their members."""
    listings = tuple(
        Listing(key, replicas, _pods(observed, key, replicas, collection), pod_collection.failure(collection))
        for key, replicas, collection in _collections(observed)
    )
    return Endings(listings, replica_pods.are_collections_served(observed))


def _pods(
    observed: Observed, key: str, replicas: tuple[str, ...], collection: Resource
) -> Mapping[str, tuple[Resource, ...]] | None:
    """Return the pods by replica, None where they are not known: one that was not read may be anybody's.

    What has the label of a member counts, even where an earlier collection of the name made it.
    """
    if not pod_collection.has_listed(collection):
        return None
    namespace, pods = replicas[0].partition("/")[0], dict[str, tuple[Resource, ...]]()
    for member in observed.required.get(_MEMBERS + key, ()):
        holder = None if pod_collection.is_gone(member) else pod_collection.holder(member)
        if holder == "":
            return None
        pod = objects.observed(member)
        if holder is not None and pod is not None:
            replica = names.qualified(namespace, holder)
            pods[replica] = (*pods.get(replica, ()), pod)
    return pods


def _collections(observed: Observed) -> Iterator[tuple[str, tuple[str, ...], Resource]]:
    """Yield the collections with their keys and replicas. One that lists anything else is not believed."""
    for key, child in sorted(observed.children.items()):
        prefix = next((one for one in (_ENDING, _CHANGED) if key.startswith(one)), None)
        if prefix is None or not pod_collection.is_collection(child):
            continue
        if seen.at(child, "metadata", "deletionTimestamp"):
            continue  # it was there for those that had the names before
        asked = seen.at(child, "spec", "observeObjects")
        namespace = seen.text(seen.at(asked, "namespace"))
        expressions = seen.objects(seen.at(asked, "selector", "matchExpressions"))
        values = expressions[0].get("values") if expressions else None
        listed = values if isinstance(values, list) else []
        replicas = tuple(names.qualified(namespace, name) for name in listed if isinstance(name, str))
        is_as_made = pod_collection.wrap_all(("", ""), namespace, listed, {"kind": "", "name": ""})["spec"]
        if replicas and key == _key(prefix, replicas) and asked == is_as_made["observeObjects"]:
            yield key, replicas, child


def _batches(replicas: Iterable[str]) -> Iterator[tuple[str, ...]]:
    for _, group in itertools.groupby(sorted(replicas), lambda key: key.partition("/")[0]):
        found = tuple(group)
        for start in range(0, len(found), _TOGETHER):
            yield found[start : start + _TOGETHER]


def _key(prefix: str, replicas: tuple[str, ...]) -> str:
    return prefix + names.digest(*replicas)
