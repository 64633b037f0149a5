"""Devices that consume shared counters, as a class writes them: one entry for equal physical devices, with placements.

A driver publishes one device for each place where a part can lie. A class has one entry for all of them: the counters
that the part consumes everywhere, and for each place those that it consumes entirely there. What has another form
cannot be written, and is left out with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

from modelplane import units
from modelplane.devices.model import CounterSet, Device, Draw
from modelplane.inventory.attributes import Settled
from modelplane.inventory.model import Amounts

Drawn: TypeAlias = tuple[tuple[int, Amounts], ...]
"""The draws of one device, by the number of the set in its unit, sorted."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A physical device: the counters of its sets, and its devices with their draws, sorted."""

    sets: tuple[Amounts, ...]
    parts: tuple[tuple[Device, Drawn], ...]


def units_of(devices: Sequence[Settled], counter_sets: Mapping[tuple[str, str], Amounts]) -> list[tuple[str, Unit]]:
    """Return the physical devices of a node with their drivers. `counter_sets` are those of its pools, by both names.

    Sets that one device draws from together belong to one physical device.
    """
    group = {key: key for one in devices for key in _keys(one)}
    for one in devices:
        heads = [group[key] for key in _keys(one)]
        group = {key: heads[0] if head in heads else head for key, head in group.items()} if len(heads) > 1 else group
    found = []
    for head in dict.fromkeys(group.values()):
        members = [key for key, one in group.items() if one == head]
        # The order of sets in a unit must be the same in all equal units: by content, then by name.
        members.sort(key=lambda key: (counter_sets[key], key))
        place = {key: number for number, key in enumerate(members)}
        mine = [one for one in devices if any(key in place for key in _keys(one))]
        parts = [
            (
                one.kind,
                tuple(sorted((place[one.pool, name], _canonical(amounts)) for name, amounts in one.origin.draws)),
            )
            for one in mine
        ]
        sets = tuple(_canonical(counter_sets[key]) for key in members)
        found.append((mine[0].kind.driver, Unit(sets, tuple(sorted(parts, key=repr)))))
    return found


def _keys(one: Settled) -> list[tuple[str, str]]:
    return [(one.pool, name) for name, _ in one.origin.draws]


def _canonical(amounts: Amounts) -> Amounts:
    return tuple((name, units.quantity(text).canonical()) for name, text in amounts)


def written(
    found: Iterable[tuple[str, Unit]],
) -> tuple[tuple[CounterSet, ...], tuple[Device, ...], list[str]]:
    """Return the counter sets and the devices of a class, and a line for each kind that cannot be written."""
    counted = Counter(found)
    order = sorted(counted, key=lambda one: (one[0], repr(one[1])))
    sets: list[CounterSet] = []
    devices: list[Device] = []
    notes: list[str] = []
    for driver, unit in order:
        base = driver.partition(".")[0]
        taken = {one.name for one in sets}
        names = _free(base, len(unit.sets), taken)
        made = []
        by_kind: dict[Device, list[Drawn]] = {}
        for kind, drawn in unit.parts:
            by_kind.setdefault(kind, []).append(drawn)
        for kind, drawn_each in by_kind.items():
            said = _inexpressible(kind, drawn_each, unit.sets)
            draws = None if said else _draws(drawn_each, unit.sets, names)
            if draws is None:
                why = said or "its places do not consume whole counters"
                notes.append(f"{driver}: {_called(kind)} that consumes counters left out: {why}")
            else:
                made.append(replace(kind, count=draws[0].alike, draws=draws))
        used = {draw.counter_set for device in made for draw in device.draws}
        sets += [
            CounterSet(name, counted[driver, unit], amounts)
            for name, amounts in zip(names, unit.sets, strict=True)
            if name in used
        ]
        devices += made
    return tuple(sets), tuple(devices), notes


def _free(base: str, number: int, taken: set[str]) -> list[str]:
    names: list[str] = []
    at = 1
    while len(names) < number:
        name = base if at == 1 else f"{base}-{at}"
        if name not in taken:
            names.append(name)
        at += 1
    return names


def _inexpressible(kind: Device, drawn: Sequence[Drawn], sets: Sequence[Amounts]) -> str:
    if kind.allow_multiple_allocations:
        return "pods share it too, and a class has one of the two"
    for number, amounts in (pair for one in drawn for pair in one):
        has = dict(sets[number])
        for name, text in amounts:
            if units.quantity(text) > units.quantity(has[name]):
                return f"it consumes {text} of counter {name}, which has {has[name]}, so nobody ever gets it"
    return ""


def _called(kind: Device) -> str:
    named = [str(value.value) for name, value in kind.attributes if name in ("profile", "computePartition", "type")]
    return f"device {named[0]}" if named else "a device"


def _draws(drawn: Sequence[Drawn], sets: Sequence[Amounts], names: Sequence[str]) -> tuple[Draw, ...] | None:
    """Return the draws of a kind of which one physical device offers `drawn`, None if a class cannot write them."""
    numbers = sorted({number for one in drawn for number, _ in one})
    if any([number for number, _ in one] != numbers for one in drawn):
        return None
    split = []
    for position, number in enumerate(numbers):
        one = _split([dict(each[position][1]) for each in drawn], dict(sets[number]))
        if one is None:
            return None
        split.append(one)
    # Each combination of places must be there, equally often: a class lists the places of each set by themselves.
    per_set = [sorted(set(places)) for _, places in split]
    counts = Counter(zip(*(places for _, places in split), strict=True))
    alike = len(drawn) // max(1, len(counts))
    if set(counts) != set(product(*per_set)) or set(counts.values()) != {alike}:
        return None
    return tuple(
        _draw(names[number], base, places, alike, dict(sets[number]))
        for number, (base, _), places in zip(numbers, split, per_set, strict=True)
    )


def _split(
    amounts: Sequence[dict[str, str]], whole: dict[str, str]
) -> tuple[dict[str, str], list[tuple[str, ...]]] | None:
    """Return the amounts that are consumed at every place, and of each device the counters it consumes entirely."""
    base = {name: text for name, text in amounts[0].items() if all(one.get(name) == text for one in amounts)}
    places = []
    for one in amounts:
        rest = {name: text for name, text in one.items() if name not in base and units.quantity(text).sign != 0}
        if any(text != whole.get(name) for name, text in rest.items()):
            return None
        places.append(tuple(sorted(rest)))
    if any(places) and not all(places):
        return None  # a place that consumes nothing of its own cannot be written beside others
    return base, places


def _draw(name: str, base: dict[str, str], places: list[tuple[str, ...]], alike: int, whole: dict[str, str]) -> Draw:
    placements = tuple(places) if places != [()] else ()
    if not placements and base == whole:
        return Draw(name, tuple(sorted(whole.items())), (), alike)
    return Draw(name, tuple(sorted(base.items())), placements, alike)
