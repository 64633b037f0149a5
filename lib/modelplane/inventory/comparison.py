"""An InferenceClass beside what drivers publish: whether it describes a node, and where it lies.

A class promises what a selector can ask: it may leave attributes out, but what it declares must be what the devices
publish. Placement believes the class, and the cluster its slices; where they differ, a replica is placed that never
gets its devices, or is refused although it would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod

from modelplane import units
from modelplane.devices import deviations
from modelplane.devices.deviations import Deviation
from modelplane.devices.model import Claim, CounterSet, Device, Draw, NodeClass


@dataclass(frozen=True, slots=True)
class Lie:
    """A declaration of a class that devices of a node do not keep.

    `field` is the attribute, the capacity or `count`. `published` is empty where no device publishes the field.
    `example` is the name of the first such device, and `devices` their number.
    """

    device: str
    field: str
    declared: str
    published: str
    example: str = ""
    devices: int = 0

    def __str__(self) -> str:
        """Return the lie as one sentence without its class."""
        if self.field == "count":
            return f"device {self.device}: count is {self.declared}, and the node publishes {self.published}"
        others = f" and {self.devices - 1} more" if self.devices > 1 else ""
        verb = ("publish", "do not") if self.devices > 1 else ("publishes", "does not")
        says = f"{verb[0]} {self.published}" if self.published else f"{verb[1]} publish it"
        return f"device {self.device}: {self.field} is declared as {self.declared}, and {self.example}{others} {says}"


def lies(node_class: NodeClass, published: Sequence[Device]) -> tuple[Lie, ...]:
    """Return the declarations of a class that the devices of one node do not keep; none if it is true.

    `published` are all devices that DRA drivers publish for the node, each with its own name, as decoded by
    `api.resource_slice` (newest complete generation). Devices of plugins and synthetic ones are in no slice and are not
    compared. Attributes that the class leaves out are no lies, nor are devices that it does not list.

    Each published device is held to the declared kind of its driver that it equals most, in its product first.
    Capacities are compared as quantities: 1Gi is 1024Mi. The answer is sorted by device and field.
    Cost: declared kinds x published devices.
    """
    declared = [one for one in node_class.devices if one.claim is Claim.DRA]
    members: dict[str, list[Device]] = {one.name: [] for one in declared}
    for device in published:
        candidates = [one for one in declared if one.driver == device.driver]
        if candidates:
            best = min(
                candidates,
                key=lambda one: (*deviations.distance(_between(one, device)), -len(one.attributes), one.name),
            )
            members[best.name].append(device)
    found: list[Lie] = []
    for one in declared:
        expected = _number(one, node_class)
        if expected > len(members[one.name]):
            found.append(Lie(one.name, "count", str(expected), str(len(members[one.name]))))
        told = [
            (field, says, has, device.name)
            for device in members[one.name]
            for field, says, has in _between(one, device)
        ]
        told.sort(key=lambda each: each[:3])
        for (field, says, has), each in groupby(told, key=lambda each: each[:3]):
            names = [name for *_, name in each]
            found.append(Lie(one.name, field, says, has, names[0], len(names)))
    return tuple(sorted(found, key=lambda each: (each.device, each.field, each.published)))


def _number(device: Device, node_class: NodeClass) -> int:
    """Return the number of devices that a driver publishes for a kind: of parts, one for each place."""
    if not device.draws:
        return device.count
    units_of = {one.name: one.count for one in node_class.counter_sets}
    places = prod(len(draw.placements) or 1 for draw in device.draws)
    return units_of.get(device.draws[0].counter_set, 1) * places * device.draws[0].alike


def _between(declared: Device, published: Device) -> tuple[Deviation, ...]:
    return deviations.of(declared, published.attributes, published.capacity)


def describes(node_class: NodeClass, found: NodeClass) -> bool:
    """Return whether a class says of a node what was found there, perhaps with fewer attributes.

    Both have the same kinds of devices, in number, claim, counters, taints and sharing. The class declares no CPU or
    memory above what was found.
    """
    if _above(node_class.cpu_millis, found.cpu_millis) or _above(node_class.memory_bytes, found.memory_bytes):
        return False
    left = [_unnamed(one, found) for one in found.devices]
    for declared in node_class.devices:
        same = next((one for one in left if _same(_unnamed(declared, node_class), one)), None)
        if same is None:
            return False
        left.remove(same)
    return not left


def _above(declared: int | None, found: int | None) -> bool:
    return declared is not None and found is not None and declared > found


def _unnamed(device: Device, of: NodeClass) -> Device:
    """Return the device with its draws in one form: sets named by their content, what all places consume apart."""
    sets = {one.name: one for one in of.counter_sets}
    return replace(device, draws=tuple(_canonical(draw, sets[draw.counter_set]) for draw in device.draws))


def _canonical(draw: Draw, of: CounterSet) -> Draw:
    has = {name: _amount(text) for name, text in of.counters}
    everywhere = set(draw.placements[0]).intersection(*draw.placements) if draw.placements else set()
    amounts = {name: _amount(text) for name, text in draw.amounts} | {name: has[name] for name in everywhere}
    places = sorted(tuple(name for name in place if name not in everywhere) for place in draw.placements)
    return Draw(
        repr((of.count, sorted(has.items()))), tuple(sorted(amounts.items())), tuple(filter(None, places)), draw.alike
    )


def _amount(text: str) -> str:
    amount = units.quantity(text)
    return f"{amount.unscaled}e{amount.exponent}" if amount.exponent < 0 else str(amount.unscaled * 10**amount.exponent)


def _same(declared: Device, found: Device) -> bool:
    plain = (
        declared.driver == found.driver
        and declared.count == found.count
        and declared.claim is found.claim
        and declared.device_class == found.device_class
        and declared.resource_name == found.resource_name
        and declared.is_shared == found.is_shared
        and declared.policies == found.policies
        and declared.draws == found.draws
        and set(declared.taints) == set(found.taints)
    )
    return plain and not _between(declared, found)


def is_meant(node_class: NodeClass, found: NodeClass, told: Sequence[Lie]) -> bool:
    """Return whether a class was probably written for such nodes: as many devices of its drivers, no other product."""
    counted = _by_driver(node_class)
    there = _by_driver(found)
    if not counted or any(there.get(driver) != count for driver, count in counted.items()):
        return False
    return not any(one.field == "count" or deviations.is_telling(one.field) for one in told)


def _by_driver(node_class: NodeClass) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in node_class.devices:
        if one.claim is Claim.DRA:
            found[one.driver] = found.get(one.driver, 0) + one.count
    return found
