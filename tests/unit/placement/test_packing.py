"""Packing agrees with exhaustive search, and says so when it has not decided."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelplane.placement.packing import arrival, fit, load
from modelplane.placement.packing.load import Answer, Item


def exhaustive(capacity: tuple[int, ...], nodes: int, items: list[Item]) -> bool:
    """The answer by putting every single pod everywhere: nothing of the module's reasoning about gangs is used."""
    pods: list[tuple[tuple[int, ...], int, int]] = []
    for index, item in enumerate(items):
        size = item.pods // item.per_node if item.pods % item.per_node == 0 else 1
        pods += [(item.vector, index, worker) for worker in range(item.pods // size) for _ in range(size)]

    @cache
    def place(position: int, state: tuple[tuple[tuple[int, ...], frozenset[tuple[int, int]]], ...]) -> bool:
        if position == len(pods):
            return True
        vector, index, worker = pods[position]
        for chosen in sorted(set(state), key=repr):
            free, members = chosen
            if (index, worker) in members or any(v > f for v, f in zip(vector, free, strict=True)):
                continue
            rest = list(state)
            rest.remove(chosen)
            rest.append((tuple(f - v for v, f in zip(vector, free, strict=True)), members | {(index, worker)}))
            if place(position + 1, tuple(sorted(rest, key=repr))):
                return True
        return False

    # A worker's pods on one node are what a gang forbids; single pods are workers of their own.
    return place(0, tuple((capacity, frozenset()) for _ in range(nodes)))


@pytest.mark.parametrize(
    ("reason", "capacity", "nodes", "items", "want"),
    [
        ("nothing fits nowhere", (8,), 0, [Item((1,), 1, 1)], Answer.TOO_MUCH),
        ("nothing wanted fits anywhere", (8,), 0, [], Answer.FITS),
        ("whole nodes", (8,), 2, [Item((8,), 2, 2)], Answer.FITS),
        ("one node short", (8,), 2, [Item((8,), 3, 3)], Answer.TOO_MUCH),
        ("a pod larger than a node", (8,), 9, [Item((9,), 1, 1)], Answer.TOO_MUCH),
        ("devices enough in sum and not on one node", (8,), 2, [Item((6,), 2, 2), Item((4,), 1, 1)], Answer.TOO_MUCH),
        ("greedy takes 5+3 and is right", (8,), 1, [Item((5,), 1, 1), Item((3,), 1, 1)], Answer.FITS),
        # Best-fit decreasing puts 4+3 on one node and is left with a 2; only 4+2+2 and 3+3+2 works.
        ("greedy fails, search finds it", (8,), 2, [Item((4,), 1, 1), Item((3,), 2, 2), Item((2,), 3, 3)], Answer.FITS),
        ("a gang of half-node pods does not share a node", (8,), 1, [load.gang((4,), 2, 2)], Answer.TOO_MUCH),
        ("a gang of half-node pods on two nodes", (8,), 2, [load.gang((4,), 2, 2)], Answer.FITS),
        ("two such gangs share the two nodes", (8,), 2, [load.gang((4,), 4, 2)], Answer.FITS),
        (
            "a gang's halves leave no whole node",
            (8,),
            2,
            [load.gang((4,), 2, 2), Item((8,), 1, 1)],
            Answer.TOO_MUCH,
        ),
        ("a gang of nothing still needs its nodes", (8,), 2, [load.gang((0,), 3, 3)], Answer.TOO_MUCH),
        ("GPUs fit, memory does not", (8, 100), 2, [Item((1, 60), 4, 4)], Answer.TOO_MUCH),
        ("two kinds of device", (8, 4), 2, [Item((8, 4), 1, 1), Item((4, 2), 2, 2)], Answer.FITS),
        ("pods of no size", (8,), 1, [Item((0,), 500, 500)], Answer.FITS),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_answers(reason: str, capacity: tuple[int, ...], nodes: int, items: list[Item], want: Answer) -> None:
    assert fit.pack(capacity, nodes, items).answer is want, reason


ITEMS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 3), st.integers(1, 2)), max_size=3)


@settings(max_examples=150, deadline=None)
@given(nodes=st.integers(0, 3), capacity=st.integers(1, 8), drawn=ITEMS)
def test_agrees_with_exhaustive_search_in_one_dimension(
    nodes: int, capacity: int, drawn: list[tuple[int, int, int]]
) -> None:
    items = [load.gang((size,), workers * span, span) for size, workers, span in drawn]
    got = fit.pack((capacity,), nodes, items)
    assert got.answer is not Answer.UNDECIDED
    assert got.fits == exhaustive((capacity,), nodes, items)


PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 3), st.integers(1, 2)), max_size=3)


@settings(max_examples=150, deadline=None)
@given(nodes=st.integers(0, 3), capacity=st.tuples(st.integers(1, 6), st.integers(1, 6)), drawn=PAIRS)
def test_agrees_with_exhaustive_search_in_two_dimensions(
    nodes: int, capacity: tuple[int, int], drawn: list[tuple[int, int, int, int]]
) -> None:
    items = [load.gang((one, two), workers * span, span) for one, two, workers, span in drawn]
    got = fit.pack(capacity, nodes, items)
    assert got.answer is not Answer.UNDECIDED
    assert got.fits == exhaustive(capacity, nodes, items)


@settings(max_examples=200, deadline=None)
@given(
    nodes=st.integers(1, 6),
    drawn=st.lists(st.tuples(st.integers(1, 8), st.integers(1, 5), st.integers(1, 3)), max_size=4),
    order=st.randoms(use_true_random=False),
)
def test_order_of_items_does_not_matter_and_the_histogram_adds_up(
    nodes: int, drawn: list[tuple[int, int, int]], order: random.Random
) -> None:
    items = [load.gang((size,), workers * span, span) for size, workers, span in drawn]
    got = fit.pack((8,), nodes, items)
    shuffled = list(items)
    order.shuffle(shuffled)
    assert fit.pack((8,), nodes, shuffled) == got
    if got.fits:
        used = sum(item.vector[0] * item.pods for item in items)
        assert sum(free[0] * count for free, count in got.free) == 8 * nodes - used
        assert sum(count for _, count in got.free) == nodes


def test_a_search_that_is_cut_off_says_so() -> None:
    # 5+3, 5+3, 5+3, 5+2 leave two 2s; no count shows it, only the search.
    items = [Item((2,), 3, 3), Item((3,), 3, 3), Item((5,), 4, 4)]
    assert fit.pack((9,), 4, items).answer is Answer.TOO_MUCH
    assert fit.pack((9,), 4, items, steps=8).answer is Answer.UNDECIDED


def test_many_nodes_do_not_exhaust_the_stack() -> None:
    items = [Item((5,), 2000, 2000), Item((3,), 2001, 2001)]
    assert fit.pack((8,), 2000, items).answer is Answer.TOO_MUCH
    assert fit.pack((8,), 3000, [Item((4,), 3000, 3000), Item((3,), 3000, 3000)]).fits


@pytest.mark.parametrize(
    ("reason", "capacity", "nodes", "items", "want"),
    [
        ("nothing", (8, 4), 2, [], Answer.FITS),
        ("one shape alone packs itself", (8, 4), 2, [Item((1, 2), 4, 4)], Answer.FITS),
        ("sizes that leave a rest", (3,), 2, [Item((1,), 2, 2), Item((2,), 2, 2)], Answer.UNSURE),
        ("the same where they leave none", (4,), 2, [Item((1,), 2, 2), Item((2,), 3, 3)], Answer.FITS),
        ("devices decide, whatever comes first", (8, 64), 2, [Item((2, 4), 4, 4), Item((1, 8), 8, 8)], Answer.FITS),
        # Seen with the real scheduler: the first four take all devices of one node, whose other devices then lie idle.
        ("two kinds of device", (8, 4), 2, [Item((2, 0), 4, 4), Item((1, 2), 4, 4)], Answer.UNSURE),
        ("the same with one node more", (8, 4), 3, [Item((2, 0), 4, 4), Item((1, 2), 4, 4)], Answer.FITS),
        ("devices and memory", (8, 512), 2, [Item((1, 100), 8, 8), Item((1, 24), 4, 4)], Answer.FITS),
        # The single pods fill one node of two; a gang wants two with room.
        ("a gang", (8,), 2, [load.gang((4,), 2, 2), Item((1,), 8, 8)], Answer.UNSURE),
        ("a gang and one node more", (8,), 3, [load.gang((4,), 2, 2), Item((1,), 8, 8)], Answer.FITS),
        # Two gangs fill two nodes, and the third finds one.
        ("three gangs on three nodes", (8,), 3, [load.gang((4,), 6, 2)], Answer.UNSURE),
        ("three gangs on four nodes", (8,), 4, [load.gang((4,), 6, 2)], Answer.FITS),
        ("three and two on eight", (8,), 2, [Item((3,), 2, 2), Item((2,), 4, 4)], Answer.FITS),
        # 3+2+2, 2+2+2 and the other 3 has no node; by sums 3+3+2, 2+2+2+2.
        ("three and two, one more", (8,), 2, [Item((3,), 2, 2), Item((2,), 5, 5)], Answer.UNSURE),
        # The third gang finds one node beside two pods that filled up another.
        ("two gangs and two pods", (8,), 3, [load.gang((4,), 4, 2), Item((1,), 2, 2)], Answer.UNSURE),
        ("sizes that divide each other", (8,), 2, [Item((4,), 2, 2), Item((1,), 8, 8)], Answer.FITS),
        (
            "a size that divides nothing is charged as the next",
            (8,),
            2,
            [Item((5,), 1, 1), Item((2,), 4, 4)],
            Answer.FITS,
        ),
        ("a gang of whole nodes", (8,), 3, [load.gang((8,), 2, 2), Item((1,), 8, 8)], Answer.FITS),
        ("cpu and memory", (64, 512), 2, [Item((4, 100), 8, 8), Item((16, 24), 4, 4)], Answer.UNSURE),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_in_any_order(reason: str, capacity: tuple[int, ...], nodes: int, items: list[Item], want: Answer) -> None:
    assert fit.pack(capacity, nodes, items).fits, "only what packs is asked about"
    assert arrival.in_any_order(capacity, nodes, items) is want, reason
