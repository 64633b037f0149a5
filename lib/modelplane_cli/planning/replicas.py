"""Replicas as they are at one moment of a world: where each is, what was composed for it, and whether it serves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from modelplane import names, seen
from modelplane.api import inference_cluster, replica
from modelplane.api.fields import Field
from modelplane.devices.model import Claim
from modelplane.errors import InvalidInput
from modelplane.workload.model import BoundRole, Replica
from modelplane_cli.simulator.store import Key, Object, Store

Json: TypeAlias = Any

DEPLOYMENT = "ModelDeployment"


class Deployment(NamedTuple):
    """Identity of a ModelDeployment."""

    namespace: str
    name: str

    def __str__(self) -> str:
        """Return `namespace/name`."""
        return names.qualified(self.namespace, self.name)

    @property
    def key(self) -> Key:
        """Return its identity in a store."""
        return Key(names.GROUP, DEPLOYMENT, self.namespace, self.name)


class ReplicaId(NamedTuple):
    """A replica on a cluster: the name of a replica that went may be used again, on another cluster."""

    namespace: str
    name: str
    cluster: str


@dataclass(frozen=True, slots=True)
class ObservedRole:
    """One role on its pool; `devices_per_pod` are (request, count) pairs of what pods claim."""

    role: str
    pool: str
    pods: int
    devices_per_pod: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ObservedReplica:
    """One replica. `written` is a digest of what would restart it; `roles` is empty where it cannot be read.

    `lost`: its cluster is gone for good, so it serves nobody whatever was last seen of it.
    """

    id: ReplicaId
    deployment: Deployment
    roles: tuple[ObservedRole, ...]
    backend: str
    phase: str
    admitted: bool
    serves: bool
    replaces: str | None
    written: str
    lost: bool = False

    @property
    def name(self) -> str:
        """Return the replica's name."""
        return self.id.name

    @property
    def cluster(self) -> str:
        """Return the cluster it is on."""
        return self.id.cluster


ObservedReplicas: TypeAlias = Mapping[ReplicaId, ObservedReplica]


class Observer:
    """Reads replicas from a store again and again; what has not changed is decoded once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[Key, tuple[tuple[int, int], ObservedReplica]] = {}

    def carried_on(self, store: Store) -> Observer:
        """Return an observer of a copy of the store, which knows what this one knows."""
        other = Observer(store)
        other._known = dict(self._known)
        return other

    def replicas(self, lost: frozenset[str]) -> ObservedReplicas:
        """Return the replicas of the store now, sorted by namespace and name; `lost` are clusters that are gone."""
        found = {}
        for key in self._store.of_kind(names.GROUP, replica.KIND):
            one = self._replica(key)
            found[one.id] = replace(one, serves=False, lost=True) if one.cluster in lost else one
        return found

    def _replica(self, key: Key) -> ObservedReplica:
        resource = self._store.get(key) or {}
        cluster = str((resource.get("spec") or {}).get("clusterName") or "")
        home = Key(names.GROUP, inference_cluster.KIND, "", cluster)
        version = (self._store.version(key), self._store.version(home))
        known = self._known.get(key)
        if known is None or known[0] != version:
            is_admitted = names.qualified(key.namespace, key.name) in _admitted_by(self._store, home)
            known = self._known[key] = (version, _decoded(key, resource, is_admitted=is_admitted))
        return known[1]


class Placed(NamedTuple):
    """The identities of the replicas by the cluster and by the deployment that they name, in their order."""

    by_cluster: Mapping[str, Sequence[Key]]
    by_deployment: Mapping[Deployment, Sequence[Key]]


def placed(store: Store) -> Placed:
    """Return the replicas of the store by what they name. It is made once for as long as no replica changes."""
    return store.standing("placed", ((names.GROUP, replica.KIND),), lambda: _placed(store))


def _placed(store: Store) -> Placed:
    by_cluster: dict[str, list[Key]] = {}
    by_deployment: dict[Deployment, list[Key]] = {}
    for key in store.of_kind(names.GROUP, replica.KIND):
        spec = seen.at(store.get(key), "spec")
        by_cluster.setdefault(seen.text(seen.at(spec, "clusterName")), []).append(key)
        owner = Deployment(key.namespace, seen.text(seen.at(spec, "deploymentRef", "name")))
        by_deployment.setdefault(owner, []).append(key)
    return Placed(by_cluster, by_deployment)


def admitted(store: Store) -> Iterator[Replica]:
    """Yield the replicas that their clusters have admitted, as far as they can be read, by namespace and name."""
    by_home: dict[str, frozenset[str]] = {}
    for key in store.of_kind(names.GROUP, replica.KIND):
        try:
            one = replica.decode(store.get(key) or {})
        except InvalidInput:
            continue
        if one.cluster not in by_home:
            home = Key(names.GROUP, inference_cluster.KIND, "", one.cluster)
            by_home[one.cluster] = frozenset(_admitted_by(store, home))
        if names.qualified(key.namespace, key.name) in by_home[one.cluster]:
            yield one


def _admitted_by(store: Store, home: Key) -> Collection[str]:
    return ((store.get(home) or {}).get("status") or {}).get("admitted") or ()


def _decoded(key: Key, resource: Object, *, is_admitted: bool) -> ObservedReplica:
    spec = resource.get("spec") or {}
    annotations = resource["metadata"].get("annotations") or {}
    owner = str((spec.get("deploymentRef") or {}).get("name") or "")
    return ObservedReplica(
        id=ReplicaId(key.namespace, key.name, str(spec.get("clusterName") or "")),
        deployment=Deployment(key.namespace, owner),
        roles=tuple(_roles(resource)),
        backend=str(spec.get("backend") or ""),
        phase=str((resource.get("status") or {}).get("phase") or ""),
        admitted=is_admitted,
        serves=inference_cluster.condition(resource, "Serving") == "True",
        replaces=Field(annotations).at(names.ANNOTATION_REPLACES).optional(),
        written=_written(spec),
    )


def _roles(resource: Object) -> Iterator[ObservedRole]:
    try:
        bound = replica.decode(resource)
    except InvalidInput:
        return
    for role in bound.roles:
        yield ObservedRole(str(role.spec.role), role.pool, role.spec.pods, _claimed(role))


def _claimed(role: BoundRole) -> tuple[tuple[str, int], ...]:
    return tuple((one.name, one.count) for one in role.devices if one.claim is not Claim.SYNTHETIC)


def _written(spec: Mapping[str, Json]) -> str:
    """Return a digest of the spec without what changes while a replica runs on."""
    kept = {name: value for name, value in spec.items() if name not in ("crossplane", "priority")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
