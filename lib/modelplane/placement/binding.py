"""Binding of a placed workload to devices: the replica that is composed from a plan."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace

from modelplane import names, units
from modelplane.devices import matching, memory
from modelplane.devices.model import Attribute, AttributeKind, Claim, Device, NodeClass
from modelplane.devices.selector import Outcome
from modelplane.placement.decision import DeviceAssignment, PlacedReplica
from modelplane.placement.snapshot import Holding
from modelplane.workload.model import BoundRole, Replica, ResolvedRequest, RoleSpec, Workload


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
        roles=tuple(
            _bound(spec, roles[spec.role].pool, roles[spec.role].devices, pools[roles[spec.role].pool])
            for spec in workload.roles
        ),
        priority=priority,
        model_cache=workload.model_cache,
    )


def bind_again(
    replica: Replica,
    workload: Workload,
    held: Iterable[Holding],
    pools: Mapping[str, NodeClass | None],
    *,
    exactly: bool,
) -> Replica | None:
    """Return `workload` bound as it was when the replica of this name was given `held`, None when that is unknown.

    Only the fields of `replica` that a deployment never changes are read: names, cluster, backend and priority. Each
    role gets the option of its pool's class that takes exactly what the role holds. If there is none and `exactly` is
    False, the role gets the first option of the class.
    """
    given = {holding.role: holding for holding in held}
    if given.keys() != {spec.role for spec in workload.roles}:
        return None
    roles = []
    for spec in workload.roles:
        holding = given[spec.role]
        node_class = pools.get(holding.pool)
        picks = None if node_class is None else _picks(spec, holding, node_class, exactly=exactly)
        if node_class is None or picks is None:
            return None
        roles.append(_bound(spec, holding.pool, picks, node_class))
    return replace(
        replica,
        model=workload.model,
        engine=workload.engine,
        roles=tuple(roles),
        model_cache=workload.model_cache,
    )


def _picks(
    spec: RoleSpec, holding: Holding, node_class: NodeClass, *, exactly: bool
) -> tuple[DeviceAssignment, ...] | None:
    options = matching.match(node_class, spec.requests, spec.constraints).options
    first = options[0] if options and not exactly else None
    option = next((one for one in options if one.counted == holding.shape.devices), first)
    if option is None:
        return None
    return tuple(DeviceAssignment(pick.request, pick.device, pick.count) for pick in option.picks)


def misbound(bound: BoundRole, node_class: NodeClass) -> str | None:
    """Return the first difference between a role's devices and its requests or its pool's class, None if all agree.

    A ledger counts the devices that a replica names, and a cluster allocates what its claims ask for. The two agree
    only for devices that are bound as `bind` binds them.
    Raises: InvalidSelector for a selector that does not compile.
    """
    requests = {request.name: request for request in bound.spec.requests}
    devices = {device.name: device for device in node_class.devices}
    if [one.name for one in bound.devices] != [request.name for request in bound.spec.requests]:
        asked, given = ", ".join(requests), ", ".join(one.name for one in bound.devices) or "none"
        return f"its nodeSelector has the requests {asked}, but its devices are bound to {given}"
    for one in bound.devices:
        device, request = devices.get(one.device), requests[one.name]
        if device is None:
            return f'request "{one.name}" is bound to device {one.device}, which class {node_class.name} does not have'
        if one.count != request.count:
            return f'request "{one.name}" asks for {request.count} devices, but {one.count} are bound to it'
        if matching.answer(request.selectors, device).outcome is not Outcome.MATCH:
            return f'request "{one.name}" is bound to device {one.device}, which its selectors do not match'
        assignment = DeviceAssignment(one.name, one.device, one.count)
        if one != _resolved(assignment, device, request.selectors, node_class):
            return (
                f'request "{one.name}" and class {node_class.name} describe device {one.device} differently '
                f"({_differences(one, _resolved(assignment, device, request.selectors, node_class))})"
            )
    return None


def _differences(one: ResolvedRequest, other: ResolvedRequest) -> str:
    return ", ".join(field.name for field in fields(one) if getattr(one, field.name) != getattr(other, field.name))


def runs_same(replica: Replica, workload: Workload) -> bool:
    """Return whether the replica was made from this workload; otherwise the replica is outdated."""
    return (
        replica.model == workload.model
        and replica.engine is workload.engine
        and replica.model_cache == workload.model_cache
        and tuple(bound.spec for bound in replica.roles) == workload.roles
    )


def _bound(spec: RoleSpec, pool: str, picks: Iterable[DeviceAssignment], node_class: NodeClass) -> BoundRole:
    devices = {device.name: device for device in node_class.devices}
    selectors = {request.name: request.selectors for request in spec.requests}
    return BoundRole(
        spec=spec,
        pool=pool,
        devices=tuple(
            _resolved(assignment, devices[assignment.device], selectors[assignment.request], node_class)
            for assignment in picks
        ),
    )


def _resolved(
    assignment: DeviceAssignment, device: Device, selectors: tuple[str, ...], node_class: NodeClass
) -> ResolvedRequest:
    return ResolvedRequest(
        name=assignment.request,
        device=device.name,
        driver=device.driver,
        claim=device.claim,
        count=assignment.count,
        device_class=device.device_class,
        resource_name=device.resource_name,
        selectors=(*selectors, *_pins(selectors, device, node_class)),
        memory_bytes=memory.published(device),
    )


def _pins(selectors: tuple[str, ...], device: Device, node_class: NodeClass) -> tuple[str, ...]:
    """Return the selectors that keep the claim on the device it is counted as.

    The author's own are what several kinds of one DeviceClass satisfy (slices of any size, say), and a cluster would
    take whichever it comes to first, while the ledger counts the chosen one. They come last, so that they are asked
    only of devices the others let pass. Nothing where no published value tells the kinds apart.
    """
    if device.claim is not Claim.DRA:
        return ()
    left = matching.rivals(selectors, device, node_class)
    found: list[str] = []
    for differs_from, text in _marks(device):
        rest = tuple(other for other in left if not differs_from(other))
        if len(rest) < len(left):
            found.append(text)
            left = rest
    return tuple(found)


def _marks(device: Device) -> Iterator[tuple[Callable[[Device], bool], str]]:
    """Yield what tells the device from others, as a test and in the words of a selector."""
    for name, value in device.attributes:
        if value.kind in (AttributeKind.STRING, AttributeKind.INT) and not name.startswith(f"{names.GROUP}/"):
            # JSON's escapes are CEL's, but for characters that JSON parts in two; those stay as they are.
            text = json.dumps(value.value, ensure_ascii=False)
            yield _differs(_full(device, name), value), f"{_path('attributes', device, name)} == {text}"
    for name, text in device.capacity:
        yield (
            _has_other(_full(device, name), text),
            f'{_path("capacity", device, name)}.compareTo(quantity("{text}")) == 0',
        )


# Both ask for a value of the very name that the selector reads: where a device has none, reading it is an error, and an
# error ends an allocation.


def _differs(full_name: str, value: Attribute) -> Callable[[Device], bool]:
    def differs(other: Device) -> bool:
        has = {_full(other, name): found for name, found in other.attributes}.get(full_name)
        return has is not None and has.kind is value.kind and has != value

    return differs


def _has_other(full_name: str, text: str) -> Callable[[Device], bool]:
    amount = units.quantity(text)

    def has_other(other: Device) -> bool:
        has = {_full(other, name): found for name, found in other.capacity}.get(full_name)
        return has is not None and units.quantity(has) != amount

    return has_other


def _full(device: Device, name: str) -> str:
    """Return a name with its domain; one written without belongs to the driver's."""
    return name if "/" in name else f"{device.driver}/{name}"


def _path(field: str, device: Device, name: str) -> str:
    domain, _, own = _full(device, name).rpartition("/")
    return f'device.{field}["{domain}"]["{own}"]'
