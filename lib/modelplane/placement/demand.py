"""Demand of a workload and holdings of a bound replica, in the units of the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from modelplane import units
from modelplane.devices import sharing
from modelplane.devices.model import Claim
from modelplane.errors import InvalidInput, InvalidQuantity
from modelplane.placement.snapshot import ANY_CLAIM, Demand, Holding, PodShape, RoleDemand
from modelplane.topology.shape import Topology
from modelplane.units import Quantity
from modelplane.workload.model import BoundRole, Replica, ResolvedRequest, Role, RoleSpec, Workload

AMOUNT_MAX = 2**63 - 1
"""The largest amount that Kubernetes represents; a larger one could not be read back from the status."""
Splits: TypeAlias = Mapping[Role, tuple[Topology, ...]]
"""For a role whose pods no node of the fleet holds: the topologies over more nodes that it could have instead."""
_NO_SPLITS: Final[Splits] = MappingProxyType({})


def of(workload: Workload, claims: frozenset[Claim] = ANY_CLAIM, splits: Splits = _NO_SPLITS) -> Demand:
    """Return the demand of one replica of `workload`, whose backend can claim devices in the ways of `claims`.

    `splits` change no placement: a diagnosis proposes one of them where a tensor size is more than nodes have.

    Raises: InvalidQuantity, with its path under the template, for an invalid cpu or memory amount (the author's fault).
    """
    return Demand(tuple(_role(spec, splits.get(spec.role, ())) for spec in workload.roles), claims)


def held(replica: Replica) -> tuple[Holding, ...]:
    """Return the holdings of a bound `replica`, from its resolved device requests and its template."""
    return tuple(_holding(bound) for bound in replica.roles)


def pod_shape(
    devices: Iterable[tuple[str, int]], cpu_millis: int, memory_bytes: int, consumed: tuple[tuple[str, int], ...] = ()
) -> PodShape:
    """Return the shape with `devices` summed per name, sorted, and zero counts left out."""
    counts: dict[str, int] = {}
    for name, count in devices:
        counts[name] = counts.get(name, 0) + count
    return PodShape(tuple(sorted((n, c) for n, c in counts.items() if c)), cpu_millis, memory_bytes, consumed)


def _role(spec: RoleSpec, splits: tuple[Topology, ...]) -> RoleDemand:
    cpu_millis, memory_bytes = _node_resources(spec)
    return RoleDemand(
        role=spec.role,
        pods=spec.pods,
        nodes_per_worker=spec.topology.nodes,
        requests=spec.requests,
        constraints=spec.constraints,
        cpu_millis=cpu_millis,
        memory_bytes=memory_bytes,
        splits=splits,
    )


def _holding(bound: BoundRole) -> Holding:
    cpu_millis, memory_bytes = _node_resources(bound.spec)
    counted = [request for request in bound.devices if _is_counted(request)]
    parts = [sharing.Part(one.device, one.count, sharing.read(one.consumes)) for one in counted if one.consumes]
    return Holding(
        role=bound.spec.role,
        pool=bound.pool,
        pods=bound.spec.pods,
        nodes_per_worker=bound.spec.topology.nodes,
        shape=pod_shape(
            ((request.device, request.count) for request in counted), cpu_millis, memory_bytes, sharing.consumed(parts)
        ),
    )


def _is_counted(request: ResolvedRequest) -> bool:
    return request.claim is not Claim.SYNTHETIC


def _node_resources(spec: RoleSpec) -> tuple[int, int]:
    """Return cpu (millis) and memory (bytes) of one pod.

    The sum over its containers, a missing request counting as the limit.
    """
    containers = (spec.template.get("spec") or {}).get("containers") or []
    cpu_millis = memory_bytes = 0
    for index, container in enumerate(containers):
        path = ("template", "spec", "containers", index)
        cpu_millis += _amount(container, "cpu", 3, path)
        memory_bytes += _amount(container, "memory", 0, path)
    return cpu_millis, memory_bytes


def _amount(container: Mapping[str, Any], resource: str, power: int, path: tuple[str | int, ...]) -> int:
    """Return the amount times ten to `power`, rounded up as Kubernetes rounds a request; 0 where nothing is asked."""
    resources = container.get("resources") or {}
    for kind in ("requests", "limits"):
        text = (resources.get(kind) or {}).get(resource)
        if text is None:
            continue
        field = (*path, "resources", kind, resource)
        try:
            quantity = units.quantity(str(text))
        except InvalidQuantity as error:
            raise error.under(*field) from None
        if quantity.sign < 0:
            raise InvalidInput(f"must be at least 0, not {text}", path=field)
        return min(AMOUNT_MAX, Quantity(quantity.unscaled, quantity.exponent + power).ceil())
    return 0
