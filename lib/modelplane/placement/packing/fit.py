"""Packing of given pods on equal nodes.

The answer is exact, or "undecided" where the search would take too long. Parts of one physical device exclude each
other in ways that sums do not show. `rules` decides then, and is evaluated only where it can differ from the sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from modelplane.devices.partitions import Rules, Undecided
from modelplane.placement.packing import load, search
from modelplane.placement.packing.load import Answer, Histogram, Item, Packing, Vector
from modelplane.placement.packing.search import Search


def pack(
    capacity: Vector, nodes: int, items: Iterable[Item], steps: int = search.STEPS_MAX, rules: Rules | None = None
) -> Packing:
    """Return the packing of all items on `nodes` equal nodes of `capacity`.

    Shape: the result depends only on the multiset of items. Best-fit decreasing runs first. Its "no" is final if one
    dimension decides and the sizes divide each other; otherwise a search of `steps` steps decides.
    """
    wanted = sorted((item for item in items if item.pods > 0), reverse=True)
    if load.plainly_too_much(capacity, nodes, wanted):
        return Packing(Answer.TOO_MUCH)
    try:
        rules = load.asked(rules, wanted)
        greedy = _best_fit_decreasing(capacity, nodes, wanted, rules)
        if greedy is not None:
            return Packing(Answer.FITS, greedy)
        kept = load.deciding_dimensions(capacity, wanted)
        if rules is None and _greedy_is_exact(capacity, wanted, kept):
            return Packing(Answer.TOO_MUCH)
        return Search(capacity, wanted, steps, rules).run(nodes)
    except Undecided:
        return Packing(Answer.UNDECIDED)


def room(free: Histogram, vector: Vector, per_node: int, rules: Rules | None = None) -> int:
    """Return the number of pods of `vector` that fit into nodes with `free`, at most `per_node` on each.

    The number is 0 if the search is undecided.
    """
    try:
        return sum(nodes * min(per_node, load.times(left, vector, per_node, rules)) for left, nodes in free)
    except Undecided:
        return 0


def _best_fit_decreasing(capacity: Vector, nodes: int, items: Sequence[Item], rules: Rules | None) -> Histogram | None:
    """Return the histogram after the largest items went first into the fullest nodes, None if one found no place."""
    weights = load.weights(capacity)
    histogram: dict[Vector, int] = {capacity: nodes}
    for item in sorted(items, key=lambda i: (load.fullness(i.vector, weights), i), reverse=True):
        left = item.pods
        for profile in sorted(histogram, key=lambda free: (load.fullness(free, weights), free)):
            most = load.times(profile, item.vector, item.per_node, rules)
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
            after = load.minus(profile, vector, times)
            histogram[after] = histogram.get(after, 0) + count
    remaining = nodes - filled - (1 if rest else 0)
    if remaining:
        histogram[profile] = remaining
    else:
        del histogram[profile]
    return left


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
