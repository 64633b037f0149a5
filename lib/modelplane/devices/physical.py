"""Families of equal physical devices, with the devices that they can be partitioned into and the places of these.

A place is identified by the counters of the physical device that a device there consumes.

Source: resource.k8s.io/v1 of Kubernetes 1.36 (sharedCounters, consumesCounters).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import gcd
from typing import TypeAlias

from modelplane import units
from modelplane.devices.amounts import nano
from modelplane.devices.model import CounterSet, Device, Draw, NodeClass

Vector: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A place on a physical device. `draws` are in nano per counter, and `alike` devices can have these draws.

    `packed` are the draws as one number, see `_Fields`.
    """

    draws: Vector
    alike: int
    packed: int = 0


class _Fields:
    """The layout of counters in one number, each with a guard bit above it, so that one subtraction covers all.

    A guard bit that is cleared by a subtraction means that its counter was too small.
    """

    def __init__(self, capacity: Vector, draws: list[Vector]) -> None:
        self._units = [max(1, gcd(*column)) for column in zip(capacity, *draws, strict=True)]
        self._shifts: list[int] = []
        shift = 0
        for amount, unit in zip(capacity, self._units, strict=True):
            self._shifts.append(shift)
            shift += (amount // unit).bit_length() + 1
        self.guards = sum(
            1 << shift + (amount // unit).bit_length()
            for amount, unit, shift in zip(capacity, self._units, self._shifts, strict=True)
        )

    def packed(self, amounts: Vector) -> int:
        """Return the amounts, each at most the capacity, as one number."""
        rows = zip(amounts, self._units, self._shifts, strict=True)
        return sum((amount // unit) << shift for amount, unit, shift in rows)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """A family of `units` equal physical devices and the kinds of device that they can be partitioned into.

    `kinds` are positions in the devices of the class. `counters` are the (set, counter) pairs of one unit, `capacity`
    is in nano.
    """

    units: int
    kinds: Vector
    counters: tuple[tuple[str, str], ...]
    capacity: Vector
    places: tuple[tuple[Place, ...], ...]
    empty: int
    """An empty unit, packed, with all guard bits."""
    guards: int

    def least(self, kind: int) -> Vector:
        """Return the least amounts that a device of the kind (a position in `kinds`) consumes at any place."""
        nothing = (0,) * len(self.counters)
        columns = zip(*(place.draws for place in self.places[kind] or (Place(nothing, 0),)), strict=True)
        return tuple(min(column) for column in columns)


def families(counter_sets: tuple[CounterSet, ...], devices: tuple[Device, ...]) -> tuple[Family, ...]:
    """Return the families of a class. Counter sets that one device draws from together belong to one family.

    A kind that draws from unknown counters, or more than they have, has no place.
    """
    sets = {one.name: one for one in counter_sets}
    group = {name: name for name in sets}
    for device in devices:
        drawn = [group[draw.counter_set] for draw in device.draws if draw.counter_set in sets]
        group = {name: drawn[0] if one in drawn else one for name, one in group.items()} if drawn else group
    found = []
    for head in dict.fromkeys(group.values()):
        members = [sets[name] for name, one in group.items() if one == head]
        kinds = [i for i, device in enumerate(devices) if any(group.get(d.counter_set) == head for d in device.draws)]
        if kinds:
            found.append(_family(members, kinds, devices))
    return tuple(found)


def of(node_class: NodeClass) -> tuple[Family, ...]:
    """Return the families of a class."""
    return families(node_class.counter_sets, node_class.devices)


def _family(members: list[CounterSet], kinds: list[int], devices: tuple[Device, ...]) -> Family:
    amounts = {(one.name, counter): _nano(text) for one in members for counter, text in one.counters}
    capacity = tuple(amounts.values())
    places = [tuple(_places(devices[kind].draws, amounts)) for kind in kinds]
    fields = _Fields(capacity, [place.draws for of_kind in places for place in of_kind])
    return Family(
        units=min(one.count for one in members),
        kinds=tuple(kinds),
        counters=tuple(amounts),
        capacity=capacity,
        places=tuple(
            tuple(replace(place, packed=fields.packed(place.draws)) for place in of_kind) for of_kind in places
        ),
        empty=fields.packed(capacity) | fields.guards,
        guards=fields.guards,
    )


def _nano(text: str) -> int:
    return nano(units.quantity(text))


def _places(draws: tuple[Draw, ...], amounts: dict[tuple[str, str], int]) -> Iterator[Place]:
    """Yield the places of a kind, one per combination of a placement in each set it draws from."""
    alike = min((draw.alike for draw in draws), default=1)
    found: dict[Vector, int] = {}
    for chosen in product(*[draw.placements or ((),) for draw in draws]):
        taken: dict[tuple[str, str], int] = {}
        for draw, whole in zip(draws, chosen, strict=True):
            for counter, text in draw.amounts:
                taken[draw.counter_set, counter] = _nano(text)
            for counter in whole:
                taken[draw.counter_set, counter] = amounts.get((draw.counter_set, counter), 1)
        if all(amount <= amounts.get(counter, 0) for counter, amount in taken.items()):
            vector = tuple(taken.get(counter, 0) for counter in amounts)
            found[vector] = found.get(vector, 0) + alike
    yield from (Place(vector, count) for vector, count in found.items())
