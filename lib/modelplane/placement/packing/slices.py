"""Pods that hold parts of physical devices: whether others can leave them no node, wherever their parts lie.

Nothing is assumed of the order in which pods came, of the nodes that were chosen for them or of what has gone since: a
part that stays may lie at any of its places.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from modelplane.devices import partitions
from modelplane.devices.partitions import Rules
from modelplane.devices.physical import Family
from modelplane.placement.packing import blocking, covering, load
from modelplane.placement.packing.blocking import Crowd
from modelplane.placement.packing.load import Item, Vector

_ALL = Fraction(1)


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
    shares = [
        _ALL if _is_whole(size, rules) else min(_ALL, share) for size, share in zip(others.sizes, shares, strict=True)
    ]
    return covering.weigh(shares, others.counts) < wanted


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
