"""Whether equal nodes can carry given pods.

Exact counting, with an honest answer where counting would take too long.

A gang of n pods needs n different nodes. Whole workers need not be followed one by one: w gangs of n equal pods can
stand on nodes that carry c_1, c_2, ... of their pods if and only if every c_j <= w (deal the pods out node by node,
gang by gang, in turn). So a gang is an ordinary item with an upper bound per node, and nothing else in this module
knows about gangs.

Parts of one physical device exclude each other in ways that sums do not say: `rules` has the last word over what a
node can hold, and is asked only where it can say something else than the sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import islice, pairwise, permutations
from math import factorial, lcm
from typing import NamedTuple, TypeAlias

from modelplane.devices import partitions
from modelplane.devices.partitions import Rules, Undecided

Vector: TypeAlias = tuple[int, ...]
Histogram: TypeAlias = tuple[tuple[Vector, int], ...]

SEARCH_STEPS = 4000
"""Nodes of the search tree that may be visited before the answer is "undecided"; a few tens of milliseconds."""


ORDERS = 24
"""Orders in which pods may have come that are looked at where several dimensions decide."""


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


def pack(
    capacity: Vector, nodes: int, items: Iterable[Item], steps: int = SEARCH_STEPS, rules: Rules | None = None
) -> Packing:
    """Return whether `nodes` equal nodes of `capacity` carry all items.

    Shape: depends on the multiset of items only. Best-fit decreasing first; its "no" is final where one dimension
    decides and the sizes divide each other, elsewhere a search with `steps` decides.
    """
    wanted = sorted((item for item in items if item.pods > 0), reverse=True)
    if plainly_too_much(capacity, nodes, wanted):
        return Packing(Answer.TOO_MUCH)
    try:
        rules = _asked(rules, wanted)
        greedy = _best_fit_decreasing(capacity, nodes, wanted, rules)
        if greedy is not None:
            return Packing(Answer.FITS, greedy)
        kept = _deciding_dimensions(capacity, wanted)
        if rules is None and _greedy_is_exact(capacity, wanted, kept):
            return Packing(Answer.TOO_MUCH)
        return _Search(capacity, wanted, steps, rules).run(nodes)
    except Undecided:
        return Packing(Answer.UNDECIDED)


def _asked(rules: Rules | None, items: Sequence[Item]) -> Rules | None:
    """Return the rules where they can say something else than the sums."""
    return rules if rules is not None and rules.matter(item.vector for item in items) else None


def in_any_order(capacity: Vector, nodes: int, items: Iterable[Item], rules: Rules | None = None) -> Answer:
    """Return FITS when the items find their places in whatever order their shapes come, UNSURE when they may not.

    For items that fit when packed as well as can be. A cluster's scheduler puts each pod where it stands well at that
    moment and never moves it. Where one dimension decides and sizes divide each other and the node, that is as good as
    any plan. Where several do (devices of two kinds, or devices and memory), or sizes do not, pods of one shape can use
    up what those of another need on the same node; and full nodes beside one that is half empty are too few for a gang.
    Cost: `ORDERS` packings; all orders of up to four shapes, and of more a sample that has each of them last.
    """
    wanted = sorted((item for item in items if item.pods > 0), reverse=True)
    try:
        rules = _asked(rules, wanted)
    except Undecided:
        return Answer.UNDECIDED
    if rules is None and not any(_shares_nodes(item, capacity) for item in wanted):
        kept = _deciding_dimensions(capacity, wanted)
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
    return span(item) > 1 and _times(capacity, item.vector, 2) > 1


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
    weights = _weights(capacity)
    histogram: dict[Vector, int] = {capacity: nodes}
    for item in items:
        size = max(1, span(item))
        left = item.pods // size
        while left:
            fullest = sorted(histogram, key=lambda free: (_fullness(free, weights), free))
            taken = _one_gang(histogram, fullest, item.vector, size, rules)
            if taken is None:
                return False
            # The nodes just used are the fullest now, so the next gangs come to them too, while they have room.
            times = min(left, *(_times(profile, item.vector, left, rules) for profile in taken))
            for profile, count in taken.items():
                _move(histogram, profile, _minus(profile, item.vector, times), count)
            left -= times
    return True


def _one_gang(
    histogram: dict[Vector, int], fullest: Sequence[Vector], vector: Vector, missing: int, rules: Rules | None
) -> dict[Vector, int] | None:
    """Return the nodes, by what they have left, that take a pod of one gang each; None when they are too few."""
    taken = {}
    for profile in fullest:
        if missing and _times(profile, vector, 1, rules):
            taken[profile] = min(missing, histogram[profile])
            missing -= taken[profile]
    return None if missing else taken


def _move(histogram: dict[Vector, int], before: Vector, after: Vector, nodes: int) -> None:
    """Change what some nodes have left."""
    histogram[before] -= nodes
    if not histogram[before]:
        del histogram[before]
    histogram[after] = histogram.get(after, 0) + nodes


def fewest_nodes(capacity: Vector, item: Item) -> int:
    """Return how few nodes the item's pods can stand on when they have them for themselves."""
    most = max(1, _times(capacity, item.vector, item.per_node))
    return -(-item.pods // most)


def room(free: Histogram, vector: Vector, per_node: int, rules: Rules | None = None) -> int:
    """Return how many pods of `vector` still fit into nodes with `free`, at most `per_node` on each.

    0 where that is not decided within the search bound.
    """
    try:
        return sum(nodes * min(per_node, _times(left, vector, per_node, rules)) for left, nodes in free)
    except Undecided:
        return 0


def plainly_too_much(capacity: Vector, nodes: int, items: Sequence[Item]) -> bool:
    """Return whether sums alone show that the nodes do not carry the items; False says nothing."""
    # Asked of every pool of a fleet that is full, so there are no generators here and below, and sums come first.
    if _exceeds_bounds(capacity, nodes, items):
        return True
    for vector, pods, per_node in items:
        if pods > nodes * per_node:
            return True
        for size, have in zip(vector, capacity, strict=True):
            if size > have:
                return True
    return False


def _times(free: Vector, vector: Vector, most: int, rules: Rules | None = None) -> int:
    for have, size in zip(free, vector, strict=True):
        if size:
            most = min(most, have // size)
    return most if rules is None or most <= 0 else rules.times(free, vector, most)


def _minus(free: Vector, vector: Vector, times: int) -> Vector:
    return tuple(have - size * times for have, size in zip(free, vector, strict=True))


@lru_cache(maxsize=1024)
def _weights(capacity: Vector) -> Vector:
    """Return a whole number per dimension by which amounts become comparable shares of a node."""
    common = lcm(*(have for have in capacity if have))
    return tuple(common // have if have else 0 for have in capacity)


def _fullness(vector: Vector, weights: Vector) -> tuple[int, int]:
    """Return the largest share of a node and the sum of shares, both in units of `weights`."""
    largest = total = 0
    for size, weight in zip(vector, weights, strict=True):
        share = size * weight
        total += share
        largest = max(largest, share)
    return (largest, total)


def _best_fit_decreasing(capacity: Vector, nodes: int, items: Sequence[Item], rules: Rules | None) -> Histogram | None:
    """Return the histogram after the largest items went first into the fullest nodes, None if one found no place."""
    weights = _weights(capacity)
    histogram: dict[Vector, int] = {capacity: nodes}
    for item in sorted(items, key=lambda i: (_fullness(i.vector, weights), i), reverse=True):
        left = item.pods
        for profile in sorted(histogram, key=lambda free: (_fullness(free, weights), free)):
            most = _times(profile, item.vector, item.per_node, rules)
            if not most:
                continue
            left = _fill(histogram, profile, item.vector, most, left)
            if not left:
                break
        if left:
            return None
    return tuple(sorted(histogram.items()))


def _fill(histogram: dict[Vector, int], profile: Vector, vector: Vector, most: int, left: int) -> int:
    """Put up to `left` pods on the nodes of one profile, `most` on each; return how many pods are left over."""
    if not any(vector):
        return 0
    nodes = histogram[profile]
    filled = min(nodes, left // most)
    rest = left - filled * most if filled < nodes else 0
    left -= filled * most + rest
    for times, count in ((most, filled), (rest, 1 if rest else 0)):
        if count:
            after = _minus(profile, vector, times)
            histogram[after] = histogram.get(after, 0) + count
    remaining = nodes - filled - (1 if rest else 0)
    if remaining:
        histogram[profile] = remaining
    else:
        del histogram[profile]
    return left


def _exceeds_bounds(capacity: Vector, nodes: int, items: Sequence[Item]) -> bool:
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


def _deciding_dimensions(capacity: Vector, items: Sequence[Item]) -> tuple[int, ...]:
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


def _greedy_is_exact(capacity: Vector, items: Sequence[Item], kept: tuple[int, ...]) -> bool:
    """Return whether best-fit decreasing has the last word.

    With sizes that divide each other, putting a pod of size S anywhere takes exactly S/s of the places for smaller
    pods of size s, whichever node it is; so no arrangement is better than another. That needs one deciding dimension
    and no bound per node that binds.
    """
    if len(kept) != 1:
        return not kept
    axis = kept[0]
    sizes = sorted({item.vector[axis] for item in items if item.vector[axis]})
    if any(larger % smaller for smaller, larger in pairwise(sizes)):
        return False
    return all(not item.vector[axis] or item.per_node >= capacity[axis] // item.vector[axis] for item in items)


class _Search:
    """Exact search, node by node.

    Each next node carries at least one of the largest pods left, and as much else as it can.

    Both are no loss: some node must carry that pod, and moving pods from later nodes to this one never hurts. What
    failed is remembered by the pods that were left.
    """

    def __init__(self, capacity: Vector, items: Sequence[Item], steps: int, rules: Rules | None) -> None:
        self._capacity = capacity
        self._rules = rules
        weights = _weights(capacity)
        self._items = sorted(items, key=lambda i: (_fullness(i.vector, weights), i), reverse=True)
        self._steps = steps
        self._failed: dict[tuple[int, ...], int] = {}
        self._nodes: list[tuple[int, ...]] = []

    def run(self, nodes: int) -> Packing:
        found = self._solve(tuple(item.pods for item in self._items), nodes)
        if found is None:
            return Packing(Answer.UNDECIDED)
        if not found:
            return Packing(Answer.TOO_MUCH)
        histogram: dict[Vector, int] = {}
        for pattern in (*self._nodes, *[()] * (nodes - len(self._nodes))):
            free = self._capacity
            for item, times in zip(self._items, pattern, strict=False):
                free = _minus(free, item.vector, times)
            histogram[free] = histogram.get(free, 0) + 1
        return Packing(Answer.FITS, tuple(sorted(histogram.items())))

    def _solve(self, wanted: tuple[int, ...], nodes: int) -> bool | None:
        """Return whether `wanted` fits into `nodes` empty nodes, None when the steps ran out.

        `_nodes` holds what was found.

        A loop and not a recursion: a pool may have more nodes than Python has frames.
        """
        settled = self._settled(wanted, nodes)
        if settled is not None:
            return settled
        stack = [(wanted, self._patterns(wanted))]
        while stack:
            if self._steps <= 0:
                return None
            left, patterns = stack[-1]
            pattern = next(patterns, None)
            if pattern is None:
                stack.pop()
                self._failed[left] = max(nodes - len(stack), self._failed.get(left, -1))
                if stack:
                    self._nodes.pop()
                continue
            self._steps -= 1
            rest = tuple(pods - times for pods, times in zip(left, pattern, strict=True))
            self._nodes.append(pattern)
            settled = self._settled(rest, nodes - len(self._nodes))
            if settled:
                return True
            if settled is None:
                stack.append((rest, self._patterns(rest)))
            else:
                self._nodes.pop()
        return False

    def _settled(self, left: tuple[int, ...], nodes: int) -> bool | None:
        """Return True when nothing is left, False when `left` cannot fit into `nodes`, None when it must be tried."""
        if not any(left):
            return True
        if nodes == 0 or self._failed.get(left, -1) >= nodes or self._too_much(left, nodes):
            return False
        return None

    def _too_much(self, left: tuple[int, ...], nodes: int) -> bool:
        rest = [Item(i.vector, pods, i.per_node) for i, pods in zip(self._items, left, strict=True) if pods]
        return any(item.pods > nodes * item.per_node for item in rest) or _exceeds_bounds(self._capacity, nodes, rest)

    def _patterns(self, left: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Return the fullest loads of one node with at least one of the largest pods left."""
        first = next(index for index, pods in enumerate(left) if pods)
        zeros = (0,) * first
        item = self._items[first]
        most = _times(self._capacity, item.vector, min(item.per_node, left[first]), self._rules)
        for times in range(most, 0, -1):
            free = _minus(self._capacity, item.vector, times)
            for tail in self._tails(left, first + 1, free):
                pattern = (*zeros, times, *tail)
                if self._is_maximal(left, pattern):
                    yield pattern

    def _tails(self, left: tuple[int, ...], index: int, free: Vector) -> Iterator[tuple[int, ...]]:
        if index == len(self._items):
            yield ()
            return
        item = self._items[index]
        most = _times(free, item.vector, min(item.per_node, left[index]), self._rules)
        for times in range(most, -1, -1):
            for tail in self._tails(left, index + 1, _minus(free, item.vector, times)):
                yield (times, *tail)

    def _is_maximal(self, left: tuple[int, ...], pattern: tuple[int, ...]) -> bool:
        free = self._capacity
        for item, times in zip(self._items, pattern, strict=True):
            free = _minus(free, item.vector, times)
        return not any(
            times < min(item.per_node, pods) and _times(free, item.vector, 1, self._rules)
            for item, pods, times in zip(self._items, left, pattern, strict=True)
        )
