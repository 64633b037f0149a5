"""The repair of an edited ModelReplica: its spec, made again from its deployment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from modelplane import names
from modelplane.api import replica
from modelplane.api.admissions import Record
from modelplane.api.fields import Field
from modelplane.devices.model import NodeClass
from modelplane.placement import binding
from modelplane.placement.snapshot import Cluster, Holding
from modelplane.workload.model import Replica, Workload
from modelplane_functions import cache_facts
from modelplane_functions.exchange import Resource


@dataclass(frozen=True, slots=True)
class Repair:
    """A problem of a deployment's replica. `written` corrects it; None keeps the replica as it is."""

    message: str
    written: Replica | None


@dataclass(frozen=True, slots=True)
class Decision:
    """The inputs that a deployment's replicas are made from. A repair uses the same ones. `clusters` are by name."""

    workload: Workload
    backend: str
    clusters: Mapping[str, Cluster]
    may_fetch: bool = False
    """Replicas without the files of the deployment's cache load the model themselves."""


def as_admitted(child: Resource, cluster: str, decision: Decision, record: Record) -> Repair:
    """Return the repair to the admitted spec, when the deployment and the class still produce that spec."""
    name = child["metadata"]["name"]
    pools = _classes(decision, cluster)
    for backend in _backends(child, decision):
        identity = _identity(child, cluster, decision, backend)
        made = (
            binding.bind_again(identity, workload, record.holdings, pools, exactly=True)
            for workload in _workloads(child, decision)
        )
        found = next((one for one in made if one is not None and replica.fingerprint(one) == record.digest), None)
        if found is not None:
            return Repair(f'ModelReplica "{name}" was changed by another client; its spec is restored', found)
    said = f'ModelReplica "{name}" differs from what its cluster admitted, and cannot be restored because the'
    return Repair(f"{said} deployment or the class has changed since; the admitted workload keeps running", None)


def is_outdated(child: Resource, cluster: str, decision: Decision, record: Record) -> bool:
    """Return whether the deployment says something else now than when the replica was admitted."""
    # While the key of the cache is not known, a key that the replica had is no difference.
    workloads = (decision.workload,) if decision.workload.cache_key else tuple(_workloads(child, decision))
    said = (
        replica.workload_digest(binding.said(_identity(child, cluster, decision, backend), workload))
        for backend in _backends(child, decision)
        for workload in workloads
    )
    return record.workload not in said


def _backends(child: Resource, decision: Decision) -> tuple[str, ...]:
    """Return the backends that the replica may have been admitted with: what it names, and the deployment's."""
    return tuple(dict.fromkeys((str(Field(child).at("spec", "backend").value), decision.backend)))


def as_proposed(child: Resource, cluster: str, decision: Decision, held: tuple[Holding, ...]) -> Repair | None:
    """Return the repair of a replica that was never admitted: the spec that would be proposed now on its pools.

    None when the replica was admitted, or when no such spec can be made. A replica that runs nevertheless is rendered
    anew only after an admission.
    """
    known = decision.clusters.get(cluster)
    name = str(child["metadata"]["name"])
    key = names.qualified(decision.workload.namespace, name)
    if known is None or known.unreadable or key in known.admitted:
        return None
    identity = _identity(child, cluster, decision, decision.backend)
    workload = _proposed(child, decision)
    found = binding.bind_again(identity, workload, held, _classes(decision, cluster), exactly=False)
    if found is None:
        return None
    return Repair(f'ModelReplica "{name}" was not admitted with its current spec; its spec is replaced', found)


def _workloads(child: Resource, decision: Decision) -> Iterator[Workload]:
    """Yield the workload with each key of its cache that the replica may have been admitted with."""
    workload = decision.workload
    known = (cache_facts.files_of(child), (workload.cache_key, workload.cache_uri), ("", ""))
    for key, uri in dict.fromkeys(known):
        yield replace(workload, cache_key=key, cache_uri=uri)


def _proposed(child: Resource, decision: Decision) -> Workload:
    """Return the workload with the key that a replica is proposed with.

    It keeps its own while no other is known, and goes on without one where it fetches the model itself.
    """
    (key, uri), known = cache_facts.files_of(child), decision.workload.cache_key
    is_own = not known or (key == "" and decision.may_fetch)
    return replace(decision.workload, cache_key=key, cache_uri=uri) if is_own else decision.workload


def _classes(decision: Decision, cluster: str) -> Mapping[str, NodeClass | None]:
    known = decision.clusters.get(cluster)
    return {} if known is None else {pool.name: pool.node_class for pool in known.pools}


def _identity(child: Resource, cluster: str, decision: Decision, backend: str) -> Replica:
    """Return the fields of a replica that its deployment never changes."""
    return Replica(
        namespace=decision.workload.namespace,
        name=str(child["metadata"]["name"]),
        deployment=decision.workload.deployment,
        cluster=cluster,
        backend=backend,
        model=None,
        engine=decision.workload.engine,
        roles=(),
    )
