"""The verdicts whether the model of a workload fits the devices that it is given, or may be given.

Nothing is decided by them: a verdict warns its reader, and never keeps a replica from a place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from modelplane.devices import matching, memory
from modelplane.devices.model import Device, NodeClass
from modelplane.errors import InvalidInput
from modelplane.render import starting
from modelplane.sizing import verdict
from modelplane.sizing.verdict import Start, Verdict
from modelplane.workload.model import BoundRole, Replica, Role, RoleSpec, Workload


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a role. `devices` are the devices of a class that it is about, empty for a bound replica."""

    role: Role
    start: Start
    verdict: Verdict
    devices: tuple[Device, ...] = ()


def of_replica(replica: Replica) -> Iterator[Judged]:
    """Yield the verdict on each role of a bound replica whose model is known. A patched workload has none."""
    if replica.overrides:
        return
    for bound in replica.roles:
        start = starting.of(replica.engine, replica.model, bound.spec)
        found = None if start is None else _on_devices(start, bound)
        if start is not None and found is not None:
            yield Judged(bound.spec.role, start, found)


def of_class(workload: Workload, node_class: NodeClass) -> Iterator[Judged]:
    """Yield the verdict on each role that nodes of the class can serve, on those of its devices that suit it best."""
    if workload.overrides:
        return
    devices = {device.name: device for device in node_class.devices}
    for spec in workload.roles:
        start = starting.of(workload.engine, workload.model, spec)
        if start is None:
            continue
        try:
            options = matching.match(node_class, spec.requests, spec.constraints).options
        except InvalidInput:
            return  # a selector that does not compile is refused elsewhere
        found = [
            Judged(spec.role, start, one, given)
            for option in options
            for given in [tuple(devices[pick.device] for pick in option.picks if pick.request == spec.requests[0].name)]
            if (one := _on_kinds(start, spec, given)) is not None
        ]
        if found:
            yield min(found, key=_order)


def _on_kinds(start: Start, spec: RoleSpec, given: tuple[Device, ...]) -> Verdict | None:
    sizes = [memory.published(one) or 0 for one in given]
    is_shared = any(one.is_shared for one in given)
    return verdict.judge(start, spec.topology, min(sizes, default=0) or None, is_shared=is_shared)


def _on_devices(start: Start, bound: BoundRole) -> Verdict | None:
    given = [one for one in bound.devices if one.name == bound.spec.requests[0].name]
    sizes = [one.memory_bytes for one in given if one.memory_bytes is not None]
    least = min(sizes) if sizes and len(sizes) == len(given) else None
    return verdict.judge(start, bound.spec.topology, least, is_shared=any(one.consumes for one in given))


def _order(one: Judged) -> tuple[int, int]:
    """Return the sort key: what fits, then what may, then the nearest miss."""
    return ({True: 0, None: 1, False: 2}[one.verdict.holds], one.verdict.missing)
