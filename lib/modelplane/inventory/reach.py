"""The nodes that a slice can be used from, and the newest complete generation of each pool.

The allocator reads the highest generation of a pool alone, and only where it has as many slices as its driver says. A
pool that is being updated, or that names a device twice, offers nothing.

Source: k8s.io/dynamic-resource-allocation v0.36.2 (structured/internal, pools), component-helpers (nodeaffinity).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from modelplane.inventory.model import Amounts, Node, Published, Reach, Requirement, Slice, Term
from modelplane.labels import LabelExpression, LabelOperator

_FIELD = "metadata.name"


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool in its newest complete generation. A device has the reach of its own, or that of its slice."""

    driver: str
    name: str
    devices: tuple[Published, ...]
    counter_sets: tuple[tuple[str, Amounts], ...]


@dataclass(frozen=True, slots=True)
class Read:
    """The usable pools by driver and name, a line for each that is not used, and the nodes that these belong to."""

    pools: tuple[Pool, ...]
    notes: tuple[str, ...]
    unknown: frozenset[str]


def read(slices: Sequence[Slice]) -> Read:
    """Return the pools of all slices. A node with a pool that cannot be used has devices that nobody knows now."""
    by_pool: dict[tuple[str, str], list[Slice]] = {}
    for one in slices:
        by_pool.setdefault((one.driver, one.pool), []).append(one)
    found, notes = [], []
    unknown: set[str] = set()
    for (driver, name), every in sorted(by_pool.items()):
        newest = max(one.generation for one in every)
        current = sorted((one for one in every if one.generation == newest), key=lambda one: one.name)
        old = len(every) - len(current)
        subject = f"pool {name} of {driver}"
        if old:
            notes.append(f"{subject}: {_slices(old)} of an older generation than {newest} not used")
        wrong = _fault(current)
        if wrong:
            notes.append(f"{subject}: generation {newest} {wrong}, so nothing of it is used")
            unknown.update(one.reach.node_name for one in every if one.reach.node_name)
            continue
        devices = tuple(_device(each, one) for one in current for each in one.devices)
        found.append(Pool(driver, name, devices, tuple(each for one in current for each in one.counter_sets)))
    return Read(tuple(found), tuple(notes), frozenset(unknown))


def _slices(number: int) -> str:
    return "1 slice is" if number == 1 else f"{number} slices are"


def _fault(current: Sequence[Slice]) -> str:
    wanted = sorted({one.slices_in_pool for one in current})
    if len(wanted) > 1 or wanted != [len(current)]:
        has = " or ".join(map(str, wanted))
        return f"is incomplete: {len(current)} of {has} slices are there; the driver is updating it"
    names = [each.name for one in current for each in one.devices]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        return f"names device {twice[0]} twice"
    sets = {name: dict(amounts) for one in current for name, amounts in one.counter_sets}
    for one in current:
        for each in one.devices:
            for name, amounts in each.draws:
                missing = [counter for counter, _ in amounts if counter not in sets.get(name, {})]
                if name not in sets or missing:
                    what = f"counter {missing[0]} of {name}" if name in sets else f"counter set {name}"
                    return f"has device {each.name} that consumes {what}, which is not there"
    return ""


def _device(device: Published, one: Slice) -> Published:
    return device if one.is_per_device else replace(device, reach=one.reach)


def selects(reach: Reach, node: Node) -> bool:
    """Return whether the devices can be used from the node."""
    if reach.all_nodes or reach.node_name == node.name:
        return True
    return any(_holds(term, node) for term in reach.terms)


def _holds(term: Term, node: Node) -> bool:
    if not term.labels and not term.fields:
        return False
    fields = all(one.key == _FIELD and _matches(one, node.name) for one in term.fields)
    return fields and all(_matches(one, node.labels.get(one.key)) for one in term.labels)


def _matches(one: Requirement, value: str | None) -> bool:
    if one.operator in ("Gt", "Lt"):
        numbers = [_integer(text) for text in (value or "", *one.values)]
        if len(numbers) != 2 or None in numbers:
            return False
        has, limit = numbers
        return (has or 0) > (limit or 0) if one.operator == "Gt" else (has or 0) < (limit or 0)
    try:
        operator = LabelOperator(one.operator)
    except ValueError:
        return False
    return LabelExpression(one.key, operator, one.values).matches(value)


def _integer(text: str) -> int | None:
    plain = text.removeprefix("-")
    return int(text) if plain.isascii() and plain.isdecimal() and len(plain) < 19 else None


def of_nodes(found: Sequence[Pool], nodes: Sequence[Node]) -> tuple[dict[str, list[tuple[Pool, Published]]], list[str]]:
    """Return the devices that belong to one node alone, by node, and a line for those that belong to none or several.

    A class describes the devices of one node, so what several nodes reach cannot be written in it.
    """
    known = {node.name: node for node in nodes}
    placed: dict[str, list[tuple[Pool, Published]]] = {}
    notes = []
    for pool in found:
        others: dict[str, list[str]] = {}
        for device in pool.devices:
            where = list(_reached(device.reach, known))
            if len(where) == 1 and not device.reach.all_nodes:
                placed.setdefault(where[0], []).append((pool, device))
            else:
                others.setdefault(_why(device.reach, where, known), []).append(device.name)
        for why, devices in others.items():
            some = ", ".join(devices[:3]) + (", ..." if len(devices) > 3 else "")
            notes.append(
                f"pool {pool.name} of {pool.driver}: {len(devices)} "
                f"{'device' if len(devices) == 1 else 'devices'} ({some}) left out: {why}"
            )
    return placed, notes


def _reached(reach: Reach, known: dict[str, Node]) -> Iterator[str]:
    if reach.node_name:
        if not known or reach.node_name in known:
            yield reach.node_name
        return
    yield from (name for name, node in sorted(known.items()) if selects(reach, node))


def _why(reach: Reach, where: Sequence[str], known: dict[str, Node]) -> str:
    if reach.all_nodes:
        return "every node reaches them, and a class describes the devices of one node"
    if reach.node_name:
        return f"node {reach.node_name} does not exist"
    if not known:
        return "labels of nodes decide where they are, and no Node was read"
    if where:
        return f"{len(where)} nodes share them ({', '.join(where[:3])}), and a class describes the devices of one node"
    return "their node selector selects no node"
