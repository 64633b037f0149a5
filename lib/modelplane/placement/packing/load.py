"""What pods take of equal nodes, and what sums say about it.

A gang of n pods needs n different nodes. Whole workers need not be followed one by one: w gangs of n equal pods can
stand on nodes that carry c_1, c_2, ... of their pods if and only if every c_j <= w (deal the pods out node by node,
gang by gang, in turn). So a gang is an ordinary item with an upper bound per node, and nothing that packs knows about
gangs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import lcm
from typing import NamedTuple, TypeAlias

from modelplane.devices.partitions import Rules

Vector: TypeAlias = tuple[int, ...]
Histogram: TypeAlias = tuple[tuple[Vector, int], ...]


class Answer(Enum):
    """Whether the items fit.

    UNDECIDED: the search was cut off. UNSURE: they fit in some arrangement, and a cluster that packs as pods come may
    end in another. A caller must treat both as a no and say so.
    """

    FITS = "fits"
    TOO_MUCH = "too much"
    UNDECIDED = "undecided"
    UNSURE = "unsure"


class Item(NamedTuple):
    """`pods` equal pods of size `vector`, at most `per_node` of them on one node.

    A tuple, because items are sorted and hashed wherever a packing is looked up.
    """

    vector: Vector
    pods: int
    per_node: int


@dataclass(frozen=True, slots=True)
class Packing:
    """The answer and, when it fits, the nodes by what they have left: sorted (free vector, nodes) pairs."""

    answer: Answer
    free: Histogram = ()

    @property
    def fits(self) -> bool:
        """Return whether everything has a place."""
        return self.answer is Answer.FITS


def gang(vector: Vector, pods: int, nodes_per_worker: int) -> Item:
    """Return the item of `pods` pods that come in gangs of `nodes_per_worker` on different nodes."""
    return Item(vector, pods, max(1, pods // max(1, nodes_per_worker)))


def span(item: Item) -> int:
    """Return the pods of one gang, 0 where they do not make whole gangs."""
    return 0 if item.pods % item.per_node else item.pods // item.per_node


def plainly_too_much(capacity: Vector, nodes: int, items: Sequence[Item]) -> bool:
    """Return whether sums alone show that the nodes do not carry the items; False says nothing."""
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
    """Return how many pods of `vector` a node with `free` takes, at most `most`."""
    for have, size in zip(free, vector, strict=True):
        if size:
            most = min(most, have // size)
    return most if rules is None or most <= 0 else rules.times(free, vector, most)


def minus(free: Vector, vector: Vector, times: int) -> Vector:
    """Return what a node has left once so many pods of `vector` stand on it."""
    return tuple(have - size * times for have, size in zip(free, vector, strict=True))


@lru_cache(maxsize=1024)
def weights(capacity: Vector) -> Vector:
    """Return a whole number per dimension by which amounts become comparable shares of a node."""
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
    """Return whether a simple count already shows that the items do not fit.

    Their sum, or those of which a node takes only one.
    """
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

    One whose every share is at most the share in a kept one can never be the first to run out.
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
    """Return how few nodes the item's pods can stand on when they have them for themselves."""
    most = max(1, times(capacity, item.vector, item.per_node))
    return -(-item.pods // most)


def asked(rules: Rules | None, items: Sequence[Item]) -> Rules | None:
    """Return the rules where they can say something else than the sums."""
    return rules if rules is not None and rules.matter(item.vector for item in items) else None
