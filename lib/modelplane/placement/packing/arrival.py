"""Packing of pods in any order of arrival.

A dense packing may exist that the cluster never reaches, because its scheduler places each pod when it arrives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise, permutations
from math import factorial

from modelplane.devices import partitions
from modelplane.devices.partitions import Rules, Undecided
from modelplane.placement.packing import load
from modelplane.placement.packing.load import Answer, Item, Vector

ORDERS = 24
"""Limit of the orders of arrival that are tried where several dimensions decide."""


def in_any_order(capacity: Vector, nodes: int, items: Iterable[Item], rules: Rules | None = None) -> Answer:
    """Return FITS when the items fit in any order of their shapes, UNSURE when some order may fail.

    The items must fit when they are packed densely. A cluster scheduler places each pod when it arrives and never moves
    it. That is as good as any packing if one dimension decides and the sizes divide each other and the node. Otherwise
    pods of one shape can use up what another shape needs on the same node, and a half-empty node cannot help a gang.
    Cost: `ORDERS` packings: all orders of up to four shapes; for more, a sample that has each shape last.
    """
    wanted = sorted((item for item in items if item.pods > 0), reverse=True)
    try:
        rules = load.asked(rules, wanted)
    except Undecided:
        return Answer.UNDECIDED
    if rules is None and not any(_shares_nodes(item, capacity) for item in wanted):
        kept = load.deciding_dimensions(capacity, wanted)
        if len(wanted) < 2 or not kept or (len(kept) == 1 and _leaves_no_rest(capacity[kept[0]], wanted, kept[0])):
            return Answer.FITS
    rules = None if rules is None else partitions.as_they_come(rules)
    try:
        sure = all(_all_find_places(capacity, nodes, order, rules) for order in _orders(wanted))
    except Undecided:
        return Answer.UNDECIDED
    return Answer.FITS if sure else Answer.UNSURE


def _leaves_no_rest(have: int, items: Sequence[Item], axis: int) -> bool:
    """Return whether sizes divide each other and the node, so that pods of one size leave whole places for another."""
    sizes = sorted({item.vector[axis] for item in items if item.vector[axis]})
    return not any(larger % smaller for smaller, larger in pairwise((*sizes, have)))


def _shares_nodes(item: Item, capacity: Vector) -> bool:
    """Return whether the item is of gangs of which several can stand on the same nodes."""
    return load.span(item) > 1 and load.times(capacity, item.vector, 2) > 1


def _orders(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    if factorial(len(items)) <= ORDERS:
        yield from permutations(items)
        return
    for shift in islice(range(len(items)), ORDERS // 2):
        turned = (*items[shift:], *items[:shift])
        yield turned
        yield turned[::-1]


def _all_find_places(capacity: Vector, nodes: int, items: Iterable[Item], rules: Rules | None) -> bool:
    """Return whether pods find a place when they come shape by shape and gang by gang, into the fullest nodes first."""
    weights = load.weights(capacity)
    histogram: dict[Vector, int] = {capacity: nodes}
    for item in items:
        size = max(1, load.span(item))
        left = item.pods // size
        while left:
            fullest = sorted(histogram, key=lambda free: (load.fullness(free, weights), free))
            taken = _one_gang(histogram, fullest, item.vector, size, rules)
            if taken is None:
                return False
            # The nodes just used are the fullest now, so the next gangs come to them too, while they have room.
            times = min(left, *(load.times(profile, item.vector, left, rules) for profile in taken))
            for profile, count in taken.items():
                _move(histogram, profile, load.minus(profile, item.vector, times), count)
            left -= times
    return True


def _one_gang(
    histogram: dict[Vector, int], fullest: Sequence[Vector], vector: Vector, missing: int, rules: Rules | None
) -> dict[Vector, int] | None:
    """Return the nodes, by what they have left, that take a pod of one gang each; None when they are too few."""
    taken = {}
    for profile in fullest:
        if missing and load.times(profile, vector, 1, rules):
            taken[profile] = min(missing, histogram[profile])
            missing -= taken[profile]
    return None if missing else taken


def _move(histogram: dict[Vector, int], before: Vector, after: Vector, nodes: int) -> None:
    """Change what some nodes have left."""
    histogram[before] -= nodes
    if not histogram[before]:
        del histogram[before]
    histogram[after] = histogram.get(after, 0) + nodes
