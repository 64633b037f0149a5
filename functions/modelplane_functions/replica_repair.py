"""The repair of an edited ModelReplica: its spec, made again from its deployment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from modelplane import names
from modelplane.api import replica
from modelplane.api.admissions import Record
from modelplane.api.fields import Field
from modelplane.devices.model import NodeClass
from modelplane.placement import binding
from modelplane.placement.snapshot import Cluster, Holding
from modelplane.workload.model import Replica, Workload
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


def as_admitted(child: Resource, cluster: str, decision: Decision, record: Record) -> Repair:
    """Return the repair to the admitted spec, when the deployment and the class still produce that spec."""
    name = child["metadata"]["name"]
    pools = _classes(decision, cluster)
    for backend in _backends(child, decision):
        identity = _identity(child, cluster, decision, backend)
        found = binding.bind_again(identity, decision.workload, record.holdings, pools, exactly=True)
        if found is not None and replica.fingerprint(found) == record.digest:
            return Repair(f'ModelReplica "{name}" was changed by another client; its spec is restored', found)
    said = f'ModelReplica "{name}" differs from what its cluster admitted, and cannot be restored because the'
    return Repair(f"{said} deployment or the class has changed since; the admitted workload keeps running", None)


def is_outdated(child: Resource, cluster: str, decision: Decision, record: Record) -> bool:
    """Return whether the deployment says something else now than when the replica was admitted."""
    said = (
        replica.workload_digest(binding.said(_identity(child, cluster, decision, backend), decision.workload))
        for backend in _backends(child, decision)
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
    found = binding.bind_again(identity, decision.workload, held, _classes(decision, cluster), exactly=False)
    if found is None:
        return None
    return Repair(f'ModelReplica "{name}" was not admitted with its current spec; its spec is replaced', found)


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
