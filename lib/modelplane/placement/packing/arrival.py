"""The check that pods find their places in whatever order they come.

How they can stand at best says nothing of how they do: a cluster's scheduler puts each where it stands well then, and
never moves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from modelplane.devices.partitions import Rules, Undecided
from modelplane.placement.packing import blocking, load, slices
from modelplane.placement.packing.load import Answer, Item, Vector

PLACES_MAX = 1024
"""Places of one size on a node among which those that divide it are looked for."""


def in_any_order(capacity: Vector, nodes: int, items: Iterable[Item], rules: Rules | None = None) -> Answer:
    """Return FITS when the items find their places in whatever order their pods come, UNSURE when they may not.

    For items that fit when packed as well as can be. A pod with parts of physical devices finds its place whichever
    nodes were chosen for the others, wherever their parts lie, and whatever came and went before. Whole devices are
    promised on a cluster that takes a node in use before an empty one, as rendered pods ask it to. Either one dimension
    decides, and the items fit with each size charged as one that divides the node and all larger ones: on the fullest
    nodes such pods leave whole places for one another. Or no pod can be left without a node, whichever node in use was
    chosen for each of the others.
    """
    wanted = sorted((item for item in items if item.pods > 0), reverse=True)
    try:
        rules = load.asked(rules, wanted)
        if rules is not None:
            sure = all(slices.finds_a_place(capacity, nodes, item, wanted, rules) for item in wanted)
            return Answer.FITS if sure else Answer.UNSURE
    except Undecided:
        return Answer.UNDECIDED
    kept = load.deciding_dimensions(capacity, wanted)
    node = tuple(capacity[axis] for axis in kept)
    wanted = [Item(tuple(item.vector[axis] for axis in kept), item.pods, item.per_node) for item in wanted]
    if not any(_shares_nodes(item, node) for item in wanted):
        if len(wanted) < 2 or not kept:
            return Answer.FITS
        if len(kept) == 1 and _divide(node[0], nodes, [(item.vector[0], item.pods) for item in wanted]):
            return Answer.FITS
    sure = all(blocking.finds_a_place(node, nodes, item, wanted) for item in wanted)
    return Answer.FITS if sure else Answer.UNSURE


def _divide(have: int, nodes: int, sizes: Sequence[tuple[int, int]]) -> bool:
    """Return whether pods of these sizes fit when each is charged the next size that divides all larger ones."""
    left, charge = have * nodes, have
    for size, pods in sorted(sizes, reverse=True):
        if not size:
            continue
        most = charge // size
        if most > PLACES_MAX and charge % size:
            return False
        charge //= most if not charge % size else next(times for times in range(most, 0, -1) if not charge % times)
        left -= charge * pods
    return left >= 0


def _shares_nodes(item: Item, capacity: Vector) -> bool:
    """Return whether the item is of gangs of which several can stand on the same nodes."""
    return load.span(item) > 1 and load.times(capacity, item.vector, 2) > 1
