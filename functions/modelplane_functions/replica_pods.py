"""The errors of a replica's pods: when they are asked for, and what is read.

A collection of provider-kubernetes lists the pods while workers are not ready. It is there for nobody else: a replica
that runs has none, and no decision about the workload rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from modelplane import seen
from modelplane.render import objects, pod_collection, progress
from modelplane.render.backend import Observation
from modelplane.render.progress import Known, Progress
from modelplane.workload.model import Replica
from modelplane_functions.exchange import Child, Kind, Observed, Ready, Requirement, Resource

_MEMBERS, _COLLECTIONS = "pods", "pod-collections"
COLLECTIONS = {_COLLECTIONS: Kind(pod_collection.API_VERSION, pod_collection.KIND)}
"""The question whether the control plane serves collections."""


@dataclass(frozen=True, slots=True)
class Pods:
    """The observed collection of a replica's pods, None without one, and the objects with the label of its members."""

    collection: Resource | None
    members: tuple[Resource, ...] = ()
    is_served: bool = False

    def requirements(self, replica: Replica) -> dict[str, Requirement]:
        """Return the requirement for the members, none without a collection."""
        if self.collection is None:
            return {}
        labels = pod_collection.membership(pod_collection.name_of(replica))
        return {_MEMBERS: Requirement(objects.API_VERSION, objects.KIND, labels=labels, namespace=replica.namespace)}

    def explained(self, replica: Replica, observation: Observation) -> Observation:
        """Return the observation of the backend with the first useful error of the pods."""
        if self.collection is None:
            return observation
        error = pod_collection.error(replica, self.collection, self.members)
        found = progress.explained(observation, error)
        return replace(found, problems=(*found.problems, *pod_collection.unread(self.collection)))

    def kinds(self, rendered: Mapping[str, Child], found: Progress) -> dict[str, Kind]:
        """Return the question whether the control plane serves collections, before the first one is made.

        Crossplane applies nothing of a composite that has a child of a kind that is not served.
        """
        if self.collection is not None or not self.is_short(rendered, found):
            return {}
        return dict(COLLECTIONS)

    def read(self, replica: Replica) -> list[Resource]:
        """Return the pods of the replica that were read last."""
        if self.collection is None:
            return []
        return pod_collection.pods(self.collection, self.members)

    @staticmethod
    def is_short(rendered: Mapping[str, Child], found: Progress) -> bool:
        """Return whether workers are rendered, have been counted on the cluster, and are known not to be ready."""
        return bool(rendered) and bool(found.counted) and found.workload.known is Known.NO

    @staticmethod
    def provider_config(rendered: Mapping[str, Child]) -> Mapping[str, str] | None:
        """Return the provider configuration of the rendered objects, None where they have none."""
        return _provider_config(rendered)

    def children(self, replica: Replica, rendered: Mapping[str, Child], found: Progress) -> dict[str, Child]:
        """Return the collection, made when workers are known not to be ready and kept until they are known to be.

        It is always ready, because no readiness of the replica depends on it.
        """
        provider = _provider_config(rendered)
        is_kept = self.collection is not None and found.workload.known is not Known.YES
        is_made = self.is_served and self.is_short(rendered, found)
        if provider is None or not (is_kept or is_made):
            return {}
        return {pod_collection.KEY: Child(pod_collection.wrap(replica, provider), Ready.TRUE)}


def are_collections_served(observed: Observed) -> bool | None:
    """Return whether the control plane serves collections, None where nobody asked or the caller cannot say."""
    return observed.served.get(_COLLECTIONS)


def split(observed: Observed) -> tuple[Observed, Pods]:
    """Return the observed state without the collection, which is no object of the workload, and the pods."""
    found = observed.children.get(pod_collection.KEY)
    members = observed.required.get(_MEMBERS, ())
    is_served = bool(are_collections_served(observed))
    if found is None or not pod_collection.is_collection(found):
        return observed, Pods(None, members, is_served)
    others = {key: child for key, child in observed.children.items() if key != pod_collection.KEY}
    return replace(observed, children=others), Pods(found, members, is_served)


def _provider_config(rendered: Mapping[str, Child]) -> Mapping[str, str] | None:
    """Return the provider configuration of the rendered objects, None where they have none."""
    for _, child in sorted(rendered.items()):
        used = seen.at(child.resource, "spec", "providerConfigRef")
        kind, name = seen.text(seen.at(used, "kind")), seen.text(seen.at(used, "name"))
        if kind and name:
            return {"kind": kind, "name": name}
    return None
