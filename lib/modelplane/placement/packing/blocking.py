"""Pods that are in the way of another: whether they can leave it no node, however they came to stand.

A cluster never moves a pod. So a pod finds a place whatever has happened when the others cannot stand so that each node
lacks room for it. How many nodes they can take from it is bounded from above (`covering`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from kubecel import interruption
from modelplane.placement.packing import covering, load
from modelplane.placement.packing.load import Item, Vector

STEPS_MAX = 5_000
"""Loads of a node that are looked at for one pod; beyond them the bound is a plainer one."""


class Crowd(NamedTuple):
    """The pods beside one pod: their sizes, how many of each there are, and how many of each a node can carry."""

    sizes: tuple[Vector, ...]
    counts: Vector
    per_node: Vector


def beside(item: Item, items: Sequence[Item]) -> Crowd:
    """Return the pods beside a pod of `item` that its own gang does not keep it apart from."""
    left = [(one, one.pods - (max(1, load.span(one)) if one is item else 0)) for one in items]
    rows = [(one.vector, pods, one.per_node) for one, pods in left if pods and (any(one.vector) or load.span(one) > 1)]
    return Crowd(tuple(r[0] for r in rows), tuple(r[1] for r in rows), tuple(r[2] for r in rows))


def nodes_wanted(item: Item, nodes: int) -> int:
    """Return how many nodes others have to take from a pod, until nothing but its own gang's nodes is left."""
    return nodes - max(0, load.span(item) - 1)


def finds_a_place(capacity: Vector, nodes: int, item: Item, items: Sequence[Item]) -> bool:
    """Return whether a pod of `item` finds a place when the others came in any order, each to a node that is in use
    already where one has room for it, whichever that is.

    Then a pod opens an empty node for want of room on all that are in use. Take the last node that was opened by a pod
    other than those that are as large as ours in everything: all nodes before it have no room for that pod, and every
    later one carries a pod as large as ours. A gang may open a node though there is room elsewhere.
    """
    interruption.checkpoint()
    others = beside(item, items)
    wanted = nodes_wanted(item, nodes)
    if sum(others.counts) < wanted:
        return True
    if _plain_bound(capacity, item.vector, others) < wanted:
        return True
    gangs = {one.vector for one in items if load.span(one) > 1}
    modest = {one.vector for one in items if not _has_room(one.vector, item.vector)} - gangs

    def is_in_the_way(counts: Sequence[int], free: Vector) -> bool:
        if _has_room(free, item.vector):
            return False
        if not modest or any(number and size not in modest for number, size in zip(counts, others.sizes, strict=False)):
            return True
        return any(not _has_room(free, size) for size in modest)

    usual = loads(capacity, others, is_in_the_way)
    last = loads(capacity, others, lambda _, free: not _has_room(free, item.vector))
    if usual is None or last is None:
        return False
    rows = [(*one, 0) for one in usual] + [(*one, 1) for one in last]
    counts = (*others.counts, 1)
    return covering.weigh(covering.weights(rows, counts), counts) < wanted


def _has_room(free: Vector, size: Vector) -> bool:
    return all(want <= have for want, have in zip(size, free, strict=True))


def _plain_bound(capacity: Vector, vector: Vector, others: Crowd) -> Fraction:
    """Return how many nodes the others take at most by the sums, in the dimension where each weighs most."""
    shares = [heaviest_share(capacity, vector, size) for size in others.sizes]
    return covering.weigh(shares, others.counts)


def heaviest_share(capacity: Vector, vector: Vector, size: Vector) -> Fraction:
    """Return the largest share that a pod of `size` has in what must be taken of a node before `vector` has no room."""
    rows = zip(capacity, vector, size, strict=True)
    shares = (Fraction(min(takes, have - wants + 1), have - wants + 1) for have, wants, takes in rows if wants)
    return max(shares, default=Fraction(0))


def loads(
    capacity: Vector, others: Crowd, is_in_the_way: Callable[[Sequence[int], Vector], bool]
) -> list[Vector] | None:
    """Return the smallest loads of a node that are in the way, None when there are too many to look at."""
    found: list[Vector] = []
    for steps, one in enumerate(_tried(capacity, others, is_in_the_way)):
        interruption.checkpoint()
        if steps >= STEPS_MAX:
            return None
        if one is not None:
            found.append(one)
    return smallest(found)


def _tried(
    capacity: Vector, others: Crowd, is_in_the_way: Callable[[Sequence[int], Vector], bool]
) -> Iterator[Vector | None]:
    """Yield every load that is in the way first when more is put on, and None for each other load that is passed."""
    kinds = len(others.sizes)
    stack: list[tuple[tuple[int, ...], Vector]] = [((), capacity)]
    while stack:
        counts, free = stack.pop()
        size, most = others.sizes[len(counts)], min(others.counts[len(counts)], others.per_node[len(counts)])
        for number in range(load.times(free, size, most) + 1):
            left = load.minus(free, size, number)
            more = (*counts, number)
            if is_in_the_way(more, left):
                yield (*more, *[0] * (kinds - len(more)))
                break
            yield None
            if len(more) < kinds:
                stack.append((more, left))


def smallest(loads: Sequence[Vector]) -> list[Vector]:
    """Return the loads of which no other is a part."""
    kept: list[Vector] = []
    for one in sorted(set(loads), key=lambda counts: (sum(counts), counts)):
        interruption.checkpoint()
        if not any(all(map(operator.le, other, one)) for other in kept):
            kept.append(one)
    return kept
