"""Load of pods on equal nodes, and the bounds that sums give.

A gang of n pods needs n different nodes. The packing need not follow single gangs: nodes that carry c_1, c_2, ... pods
can host w gangs of n equal pods if and only if every c_j <= w (the pods are dealt out node by node, gang by gang). So a
gang is an ordinary item with an upper bound per node, and the packing knows no gangs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import lcm
from typing import NamedTuple, TypeAlias

from modelplane.devices.partitions import Rules

Vector: TypeAlias = tuple[int, ...]
Histogram: TypeAlias = tuple[tuple[Vector, int], ...]


class Answer(Enum):
    """The answer to the question if items fit.

    UNDECIDED means that the search reached its limit. UNSURE means that the items fit in some arrangement, but a
    cluster that places pods as they arrive may end in another. A caller must treat both as a no and report it.
    """

    FITS = "fits"
    TOO_MUCH = "too much"
    UNDECIDED = "undecided"
    UNSURE = "unsure"


class Item(NamedTuple):
    """A number of equal pods of size `vector`, at most `per_node` of them on one node.

    The class is a tuple because items are sorted and hashed for each look-up of a packing.
    """

    vector: Vector
    pods: int
    per_node: int


@dataclass(frozen=True, slots=True)
class Packing:
    """The answer and, if the items fit, the free capacity of the nodes as sorted (free vector, nodes) pairs."""

    answer: Answer
    free: Histogram = ()

    @property
    def fits(self) -> bool:
        """Return whether all items have a place."""
        return self.answer is Answer.FITS


def gang(vector: Vector, pods: int, nodes_per_worker: int) -> Item:
    """Return the item of `pods` pods that come in gangs of `nodes_per_worker` on different nodes."""
    return Item(vector, pods, max(1, pods // max(1, nodes_per_worker)))


def span(item: Item) -> int:
    """Return the number of pods of one gang, 0 if the pods do not form whole gangs."""
    return 0 if item.pods % item.per_node else item.pods // item.per_node


def plainly_too_much(capacity: Vector, nodes: int, items: Sequence[Item]) -> bool:
    """Return whether sums alone show that the nodes do not carry the items. False is not conclusive."""
    # Asked of every pool of a fleet that is full, so there are no generators here and below, and sums come first.
    if exceeds_bounds(capacity, nodes, items):
        return True
    for vector, pods, per_node in items:
        if pods > nodes * per_node:
            return True
        for size, have in zip(vector, capacity, strict=True):
            if size > have:
                return True
    return False


def times(free: Vector, vector: Vector, most: int, rules: Rules | None = None) -> int:
    """Return the number of pods of `vector` that a node with `free` takes, at most `most`."""
    for have, size in zip(free, vector, strict=True):
        if size:
            most = min(most, have // size)
    return most if rules is None or most <= 0 else rules.times(free, vector, most)


def minus(free: Vector, vector: Vector, times: int) -> Vector:
    """Return the free capacity of a node after `times` pods of `vector` are placed on it."""
    return tuple(have - size * times for have, size in zip(free, vector, strict=True))


def weights(capacity: Vector) -> Vector:
    """Return an integer per dimension that turns amounts into comparable shares of a node."""
    common = lcm(*(have for have in capacity if have))
    return tuple(common // have if have else 0 for have in capacity)


def fullness(vector: Vector, weights: Vector) -> tuple[int, int]:
    """Return the largest share of a node and the sum of shares, both in units of `weights`."""
    largest = total = 0
    for size, weight in zip(vector, weights, strict=True):
        share = size * weight
        total += share
        largest = max(largest, share)
    return (largest, total)


def exceeds_bounds(capacity: Vector, nodes: int, items: Sequence[Item]) -> bool:
    """Return whether a simple count shows that the items do not fit: their sum, or those that need a node each."""
    for axis, have in enumerate(capacity):
        amount = alone = 0
        for vector, pods, _ in items:
            amount += vector[axis] * pods
            if 2 * vector[axis] > have:
                alone += pods
        if amount > have * nodes or alone > nodes:
            return True
    return False


def deciding_dimensions(capacity: Vector, items: Sequence[Item]) -> tuple[int, ...]:
    """Return the dimensions that can decide.

    A dimension never runs out first if every item takes at least as large a share of another dimension.
    """
    kept: list[int] = []
    for axis in range(len(capacity)):
        rivals = [*kept, *range(axis + 1, len(capacity))]
        if capacity[axis] and not any(_covers(rival, axis, capacity, items) for rival in rivals):
            kept.append(axis)
    return tuple(kept)


def _covers(rival: int, axis: int, capacity: Vector, items: Sequence[Item]) -> bool:
    return capacity[rival] > 0 and all(
        item.vector[axis] * capacity[rival] <= item.vector[rival] * capacity[axis] for item in items
    )


def fewest_nodes(capacity: Vector, item: Item) -> int:
    """Return the smallest number of empty nodes that carry the pods of the item."""
    most = max(1, times(capacity, item.vector, item.per_node))
    return -(-item.pods // most)


def asked(rules: Rules | None, items: Sequence[Item]) -> Rules | None:
    """Return the rules if they can differ from the sums, otherwise None."""
    return rules if rules is not None and rules.matter(item.vector for item in items) else None
