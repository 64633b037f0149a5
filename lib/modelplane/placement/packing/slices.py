"""Pods that hold parts of physical devices: whether others can leave them no node, wherever their parts lie.

Nothing is assumed of the order in which pods came, of the nodes that were chosen for them or of what has gone since: a
part that stays may lie at any of its places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from modelplane.devices import partitions
from modelplane.devices.partitions import Rules, Shared
from modelplane.devices.physical import Family
from modelplane.placement.packing import blocking, covering, load
from modelplane.placement.packing.blocking import Crowd
from modelplane.placement.packing.load import Item, Vector

_ALL = Fraction(1)
Prices: TypeAlias = Callable[[Shared, Vector, Crowd], list[Fraction]]


def finds_a_place(capacity: Vector, nodes: int, item: Item, items: Sequence[Item], rules: Rules) -> bool:
    """Return whether a pod of `item` finds a place however the others stand and wherever their parts lie.

    A node is in the way by its physical devices, or by what else it counts. Each other pod is given the largest share
    that it can have in either, so that a node that is in the way carries shares of at least one. Raises: Undecided.
    """
    others, wanted = blocking.beside(item, items), blocking.nodes_wanted(item, nodes)
    if sum(others.counts) < wanted:
        return True
    if _is_whole(item.vector, rules):
        return False
    plain = [axis for axis in load.deciding_dimensions(capacity, items) if not rules.decide(axis)]
    rows = [_only(plain, size) for size in others.sizes]
    shares = [blocking.heaviest_share(_only(plain, capacity), _only(plain, item.vector), row) for row in rows]
    for family, axes in zip(rules.families, rules.axes, strict=True):
        more = _shares(family, axes, item.vector, others)
        shares = [max(two) for two in zip(shares, more, strict=True)]
    # The plain prices are found at once, and where many small parts are held they are usually enough.
    return any(
        _weight(item.vector, others, rules, shares, prices) < wanted
        for prices in ((_plain_prices, _unit_prices) if rules.shared else (_plain_prices,))
    )


def _weight(vector: Vector, others: Crowd, rules: Rules, shares: list[Fraction], prices: Prices) -> Fraction:
    """Return the nodes that the others can have in the way at most, by their other `shares` and by shared devices."""
    for kind in rules.shared:
        more = _shares_of_shared(kind, vector, others, prices)
        shares = [max(two) for two in zip(shares, more, strict=True)]
    shares = [
        _ALL if _is_whole(size, rules) else min(_ALL, share) for size, share in zip(others.sizes, shares, strict=True)
    ]
    return covering.weigh(shares, others.counts)


def _is_whole(vector: Vector, rules: Rules) -> bool:
    """Return whether a pod is charged a whole node, whatever is on it."""
    return vector[: len(rules.node)] == rules.node


def _only(axes: Sequence[int], vector: Vector) -> Vector:
    return tuple(vector[axis] for axis in axes)


def _shares(family: Family, axes: Vector, vector: Vector, others: Crowd) -> list[Fraction]:
    """Return the share of each other pod in what must lie in the way on a node before it has no room for `vector`.

    Where a unit can take `each` devices of what is wanted it takes them, so a node without room has fewer than enough
    such units. Raises: Undecided.
    """
    wanted = tuple(kind for kind, axis in enumerate(axes) if vector[axis])
    if not wanted:
        return [Fraction(0)] * len(others.sizes)
    number = sum(vector[axis] for axis in axes)
    each = -(-number // family.units)
    if each > 1 and len(wanted) > 1:
        return [_ALL] * len(others.sizes)
    units = family.units - -(-number // each) + 1
    totals = [sum(size[axis] * count for size, count in zip(others.sizes, others.counts, strict=True)) for axis in axes]
    kinds = tuple(kind for kind, total in enumerate(totals) if total)
    loads = partitions.in_the_way(family, kinds, wanted, each)
    prices = covering.weights(loads, tuple(totals[kind] for kind in kinds))
    taken = [tuple(size[axes[kind]] for kind in kinds) for size in others.sizes]
    return [covering.weigh(prices, one) / units for one in taken]


def _shares_of_shared(kind: Shared, vector: Vector, others: Crowd, prices: Prices) -> list[Fraction]:
    """Return the share of each other pod in what must lie in the way on a node whose devices are shared.

    The allocations of a pod are on different devices. So a node has no room when fewer devices have room than a pod
    wants, and another pod is in the way on each of those that lack it once at most.
    """
    number = vector[kind.axis]
    units = kind.units - number + 1
    if not number:
        return [Fraction(0)] * len(others.sizes)
    found = prices(kind, kind.each(vector), others)
    return [price * min(size[kind.axis], units) / units for price, size in zip(found, others.sizes, strict=True)]


def _plain_prices(kind: Shared, wanted: Vector, others: Crowd) -> list[Fraction]:
    """Return what `_unit_prices` does by the sums, in the dimension where each allocation weighs most."""
    return [
        blocking.heaviest_share(kind.capacity, wanted, kind.each(size)) if size[kind.axis] else Fraction(0)
        for size in others.sizes
    ]


def _unit_prices(kind: Shared, wanted: Vector, others: Crowd) -> list[Fraction]:
    """Return the share of one allocation of each other pod in what leaves a shared device no room for `wanted`."""
    rows = [(index, size, pods) for index, (size, pods) in enumerate(zip(others.sizes, others.counts, strict=True))]
    rows = [row for row in rows if row[1][kind.axis]]
    sizes = tuple(kind.each(size) for _, size, _ in rows)
    counts = tuple(pods * size[kind.axis] for _, size, pods in rows)
    if not sizes:
        return [Fraction(0)] * len(others.sizes)

    def is_in_the_way(_: Sequence[int], free: Vector) -> bool:
        return any(want > have for want, have in zip(wanted, free, strict=True))

    loads = blocking.loads(kind.capacity, Crowd(sizes, counts, counts), is_in_the_way)
    if loads is None:
        return _plain_prices(kind, wanted, others)
    found = [Fraction(0)] * len(others.sizes)
    for (index, _, _), price in zip(rows, covering.weights(loads, counts), strict=True):
        found[index] = price
    return found
