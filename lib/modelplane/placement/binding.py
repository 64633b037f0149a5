"""Binding of a placed workload to devices: the replica that is composed from a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace

from modelplane.devices import matching, memory, outcomes, pins, sharing, versions
from modelplane.devices.model import Claim, Device, Mode, NodeClass, Request
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
        cache_key=workload.cache_key,
        cache_uri=workload.cache_uri,
        endpoint_picker=workload.endpoint_picker,
        overrides=workload.overrides_of(placed.backend),
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
    return replace(said(replica, workload), roles=tuple(roles))


def said(replica: Replica, workload: Workload) -> Replica:
    """Return the replica as `workload` says, bound to nothing."""
    return replace(
        replica,
        model=workload.model,
        engine=workload.engine,
        roles=tuple([BoundRole(spec, "", ()) for spec in workload.roles]),
        model_cache=workload.model_cache,
        cache_key=workload.cache_key,
        cache_uri=workload.cache_uri,
        endpoint_picker=workload.endpoint_picker,
        overrides=workload.overrides_of(replica.backend),
    )


def _picks(
    spec: RoleSpec, holding: Holding, node_class: NodeClass, *, exactly: bool
) -> tuple[DeviceAssignment, ...] | None:
    options = matching.match(node_class, spec.requests, spec.constraints).options
    first = options[0] if options and not exactly else None
    shape = holding.shape
    option = next((one for one in options if one.takes == (shape.devices, shape.consumed)), first)
    if option is None:
        return None
    return tuple(DeviceAssignment(pick.request, pick.device, pick.count, pick.alternative) for pick in option.picks)


def misbound(bound: BoundRole, node_class: NodeClass) -> str | None:
    """Return the first difference between a role's devices and its requests or its pool's class, None if all agree.

    A ledger counts the devices that a replica names, and a cluster allocates what its claims ask for. The two agree
    only for devices that are bound as `bind` binds them.
    Raises: InvalidSelector for a selector that does not compile.
    """
    asked = [request.name for request in bound.spec.requests]
    if list(dict.fromkeys(one.name for one in bound.devices)) != asked:
        given = ", ".join(one.name for one in bound.devices) or "none"
        return f"its nodeSelector has the requests {', '.join(asked)}, but its devices are bound to {given}"
    said = (
        _misbound(request, tuple(one for one in bound.devices if one.name == request.name), node_class)
        for request in bound.spec.requests
    )
    return next((one for one in said if one is not None), _shared_twice(bound, node_class))


def _shared_twice(bound: BoundRole, node_class: NodeClass) -> str | None:
    """Return that two requests of one pod take parts of one kind of device, None if none do."""
    shared = {device.name for device in node_class.devices if device.is_shared}
    named = [one.device for one in bound.devices if one.device in shared]
    twice = next((name for name in named if named.count(name) > 1), None)
    return None if twice is None else f"several of its requests are bound to device {twice}, which pods share"


def _misbound(request: Request, given: tuple[ResolvedRequest, ...], node_class: NodeClass) -> str | None:
    """Return the first mistake in the devices that one request is bound to, None if there is none."""
    served = next((one for one in request.each() if one.name == given[0].alternative or not request.alternatives), None)
    alternatives = {one.alternative for one in given}
    if served is None or alternatives != {served.name if request.alternatives else ""}:
        return f'request "{request.name}" has no alternative {", ".join(sorted(alternatives)) or "of no name"}'
    old = versions.lacking(served, node_class)
    if old:
        return f'request "{request.name}": {old}'
    devices = {device.name: device for device in node_class.devices}
    for one in given:
        device = devices.get(one.device)
        if device is None:
            return f'request "{one.name}" is bound to device {one.device}, which class {node_class.name} does not have'
        if outcomes.of(served, device) is not Outcome.MATCH:
            away = outcomes.kept_away(served, device)
            why = f"and {away}" if away and outcomes.answer(served.selectors, device).outcome is Outcome.MATCH else ""
            why = why or "which its selectors do not match"
            return f'request "{one.name}" is bound to device {one.device}, {why}'
    wrong = _miscounted(served, given, node_class)
    if wrong is not None:
        return f'request "{request.name}" {wrong}'
    for one in given:
        assignment = DeviceAssignment(one.name, one.device, one.count, one.alternative)
        right = _resolved(assignment, devices[one.device], served, node_class)
        if one != right:
            return (
                f'request "{one.name}" and class {node_class.name} describe device {one.device} differently '
                f"({_differences(one, right)})"
            )
    return None


def _miscounted(served: Request, given: tuple[ResolvedRequest, ...], node_class: NodeClass) -> str | None:
    """Return the mistake in the kinds that serve a request or in the number of each, None if there is none."""
    counts = {one.device: one.count for one in given}
    if len(counts) < len(given) or len({(one.claim, one.device_class, one.resource_name) for one in given}) > 1:
        return "names a device twice, or devices of several DeviceClasses"
    kinds = {device.name: device for device in node_class.devices}
    if served.mode is Mode.ALL:
        group = kinds[given[0].device].device_class
        alike = (kind for kind in kinds.values() if kind.claim is Claim.DRA and kind.device_class == group)
        every = {kind.name: kind.count for kind in alike if outcomes.is_meant(served, kind)}
        return None if counts == every else "asks for all devices that match, and others are bound to it"
    if sum(counts.values()) != served.count:
        return f"asks for {served.count} devices, but {sum(counts.values())} are bound to it"
    if len(given) > 1 and not all(pins.tell_apart(served.selectors, kinds[name], node_class) for name in counts):
        return "is bound to several kinds of device that no published value tells apart"
    return None


def _differences(one: ResolvedRequest, other: ResolvedRequest) -> str:
    return ", ".join(field.name for field in fields(one) if getattr(one, field.name) != getattr(other, field.name))


def runs_same(replica: Replica, workload: Workload) -> bool:
    """Return whether the replica was made from this workload; otherwise the replica is outdated.

    The key of a cache counts where both know one: a replica without one fetches its model itself and goes on doing so.
    """
    return (
        replica.model == workload.model
        and replica.engine is workload.engine
        and replica.model_cache == workload.model_cache
        and (not replica.cache_key or replica.cache_key == (workload.cache_key or replica.cache_key))
        and replica.endpoint_picker == workload.endpoint_picker
        and replica.overrides == workload.overrides_of(replica.backend)
        and tuple(bound.spec for bound in replica.roles) == workload.roles
    )


def _bound(spec: RoleSpec, pool: str, picks: Iterable[DeviceAssignment], node_class: NodeClass) -> BoundRole:
    devices = {device.name: device for device in node_class.devices}
    served = {(request.name, ""): request for request in spec.requests}
    served |= {(request.name, one.name): one for request in spec.requests for one in request.alternatives}
    return BoundRole(
        spec=spec,
        pool=pool,
        devices=tuple(
            _resolved(one, devices[one.device], served[one.request, one.alternative], node_class) for one in picks
        ),
    )


def _resolved(assignment: DeviceAssignment, device: Device, served: Request, node_class: NodeClass) -> ResolvedRequest:
    # All that match are wanted, and all are counted: nothing is to be kept off.
    pinned = () if served.mode is Mode.ALL else pins.of(served.selectors, device, node_class)
    return ResolvedRequest(
        name=assignment.request,
        device=device.name,
        driver=device.driver,
        claim=device.claim,
        count=assignment.count,
        device_class=device.device_class,
        resource_name=device.resource_name,
        selectors=(*served.selectors, *pinned),
        memory_bytes=memory.published(device),
        alternative=assignment.alternative,
        consumes=sharing.written(sharing.share(served, device) or ()) if device.is_shared else (),
    )
