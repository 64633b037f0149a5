"""A placed workload: the replica that is composed from a plan."""

from __future__ import annotations

from collections.abc import Mapping

from modelplane.devices.model import Device, NodeClass
from modelplane.placement.plan import DeviceAssignment, PlacedReplica, PlacedRole
from modelplane.units import Quantity
from modelplane.workload.model import BoundRole, Replica, ResolvedRequest, RoleSpec, Workload

MEMORY = "memory"


def bind(workload: Workload, placed: PlacedReplica, pools: Mapping[str, NodeClass], *, priority: int) -> Replica:
    """Return the replica that runs `workload` where the plan placed it; `pools` maps a pool's name to its class."""
    roles = {role.role: role for role in placed.roles}
    return Replica(
        namespace=workload.namespace,
        name=placed.name,
        deployment=workload.deployment,
        cluster=placed.cluster,
        backend=placed.backend,
        model=workload.model,
        engine=workload.engine,
        roles=tuple(_bound(spec, roles[spec.role], pools[roles[spec.role].pool]) for spec in workload.roles),
        priority=priority,
        model_cache=workload.model_cache,
    )


def runs_same(replica: Replica, workload: Workload) -> bool:
    """Return whether the replica was made from this very workload; otherwise it is outdated."""
    return (
        replica.model == workload.model
        and replica.engine is workload.engine
        and replica.model_cache == workload.model_cache
        and tuple(bound.spec for bound in replica.roles) == workload.roles
    )


def published_memory(device: Device) -> int | None:
    """Return the memory in bytes that the device's driver publishes, None where it publishes none.

    A capacity without a domain belongs to the driver's domain.
    """
    for name, value in device.capacity:
        if name in {MEMORY, f"{device.driver}/{MEMORY}"}:
            return Quantity.parse(value).ceil()
    return None


def _bound(spec: RoleSpec, placed: PlacedRole, node_class: NodeClass) -> BoundRole:
    devices = {device.name: device for device in node_class.devices}
    selectors = {request.name: request.selectors for request in spec.requests}
    return BoundRole(
        spec=spec,
        pool=placed.pool,
        devices=tuple(
            _resolved(assignment, devices[assignment.device], selectors[assignment.request])
            for assignment in placed.devices
        ),
    )


def _resolved(assignment: DeviceAssignment, device: Device, selectors: tuple[str, ...]) -> ResolvedRequest:
    return ResolvedRequest(
        name=assignment.request,
        device=device.name,
        driver=device.driver,
        claim=device.claim,
        count=assignment.count,
        device_class=device.device_class,
        resource_name=device.resource_name,
        selectors=selectors,
        memory_bytes=published_memory(device),
    )
