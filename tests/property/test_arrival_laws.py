"""Laws of what is promised: it finds its places however pods come, wherever they are put, and whatever has gone."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelplane.devices import physical
from modelplane.devices.model import NodeClass
from modelplane.placement.capacity import dimensions, ledger
from modelplane.placement.packing import arrival, fit, load
from modelplane.placement.packing.load import Answer
from modelplane.placement.snapshot import Accounting, Holding, NodeCounts, PodShape, Pool
from modelplane.workload.model import Role
from tests.property.test_partition_laws import node_classes
from tests.support import arrivals, laws, mig
from tests.support.arrivals import Freedom

Rows = list[tuple[tuple[int, ...], int, int]]

one_dimension = st.lists(
    st.tuples(st.integers(1, 6).map(lambda size: (size,)), st.integers(1, 3), st.sampled_from([1, 1, 2])), max_size=3
)
two_dimensions = st.lists(
    st.tuples(st.tuples(st.integers(0, 4), st.integers(0, 3)), st.integers(1, 3), st.sampled_from([1, 1, 2])),
    max_size=3,
)


def promised(capacity: tuple[int, ...], nodes: int, rows: Rows) -> bool:
    items = [load.gang(size, workers * span, span) for size, workers, span in rows]
    return fit.pack(capacity, nodes, items).fits and arrival.in_any_order(capacity, nodes, items) is Answer.FITS


def pods(rows: Rows) -> list[arrivals.Pod]:
    return arrivals.pods((size, workers * span, span) for size, workers, span in rows)


@given(st.integers(1, 3), st.tuples(st.integers(2, 8)), one_dimension)
@settings(max_examples=laws.in_proportion(200), deadline=None)
def test_one_kind_of_device_finds_its_places_on_the_fullest_nodes(
    nodes: int, capacity: tuple[int, ...], rows: Rows
) -> None:
    if promised(capacity, nodes, rows):
        assert not arrivals.strands(capacity, nodes, pods(rows), Freedom.FULLEST)


@given(st.integers(1, 3), st.tuples(st.integers(2, 6), st.integers(2, 4)), two_dimensions)
@settings(max_examples=laws.in_proportion(200), deadline=None)
def test_two_kinds_find_their_places_on_whatever_nodes_in_use(
    nodes: int, capacity: tuple[int, ...], rows: Rows
) -> None:
    items = [load.gang(size, workers * span, span) for size, workers, span in rows]
    if len(load.deciding_dimensions(capacity, items)) > 1 and promised(capacity, nodes, rows):
        assert not arrivals.strands(capacity, nodes, pods(rows), Freedom.IN_USE)


beside_gangs = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(0, 4))


@given(st.integers(1, 4), st.integers(2, 6), beside_gangs)
@settings(max_examples=laws.in_proportion(200), deadline=None)
def test_gangs_of_less_than_a_node_find_nodes_beside_whatever_came(
    nodes: int, have: int, drawn: tuple[int, int, int, int]
) -> None:
    size, gangs, single, singles = drawn
    rows: Rows = [((size,), gangs, 2), ((single,), singles, 1)]
    if 2 * size <= have and promised((have,), nodes, rows):
        assert not arrivals.strands((have,), nodes, pods(rows), Freedom.IN_USE)


class Parted:
    """Nodes of parted devices where parts lie at any of their places, whoever chose them."""

    def __init__(self, node_class: NodeClass, nodes: int, chance: Random) -> None:
        (self.family,) = physical.of(node_class)
        self.units = [self.family.empty] * (self.family.units * nodes)
        self.used: Counter[tuple[int, int, int]] = Counter()
        self.chance = chance

    def put(self, kind: int) -> tuple[int, int, int] | None:
        """Return where a device of the kind was put, None where it had no place."""
        guards = self.family.guards
        places = [
            (unit, kind, number)
            for unit, free in enumerate(self.units)
            for number, place in enumerate(self.family.places[kind])
            if self.used[unit, kind, number] < place.alike and (free - place.packed) & guards == guards
        ]
        if not places:
            return None
        where = self.chance.choice(places)
        self._use(where, 1)
        return where

    def take(self, where: tuple[int, int, int]) -> None:
        self._use(where, -1)

    def _use(self, where: tuple[int, int, int], times: int) -> None:
        unit, kind, number = where
        self.units[unit] -= times * self.family.places[kind][number].packed
        self.used[where] += times


def churned(node_class: NodeClass, nodes: int, chance: Random, kinds: list[int], *, steps: int) -> int:
    """Return how many of the promised found a place; admission decides step by step, and pods go by chance."""
    pool = Pool("pool", "class", node_class, NodeCounts(nodes))
    state = ledger.of(pool, dimensions.of(node_class, Accounting.DEVICE))
    there, found = Parted(node_class, nodes, chance), 0
    have: list[tuple[int, tuple[int, int, int]]] = []
    for _ in range(steps):
        if have and chance.random() < 0.35:
            kind, where = have.pop(chance.randrange(len(have)))
            there.take(where)
            gone = Holding(Role.DECODE, pool.name, 1, PodShape(((node_class.devices[kind].name, 1),)))
            state = ledger.released(state, [gone])
            continue
        kind = chance.choice(kinds)
        shape = PodShape(((node_class.devices[kind].name, 1),))
        after = state.plus(shape, 1, 1)
        if ledger.fits_more(state, shape, after) is Answer.FITS:
            state, place = after, there.put(kind)
            assert place is not None, (node_class.devices[kind].name, state.items)
            have.append((kind, place))
            found += 1
    return found


@given(node_classes(), st.integers(1, 2), st.randoms(use_true_random=False))
@settings(max_examples=laws.in_proportion(150), deadline=None)
def test_promised_parts_find_a_place_whatever_came_and_went(node_class: NodeClass, nodes: int, chance: Random) -> None:
    churned(node_class, nodes, chance, list(range(len(node_class.devices))), steps=30)


@pytest.mark.parametrize("product", mig.PRODUCTS)
@pytest.mark.parametrize("seed", range(4))
def test_promised_mig_slices_find_a_place_whatever_came_and_went(product: str, seed: int) -> None:
    chance = Random(f"{product} {seed}")  # noqa: S311  chance, not secrecy
    node_class = mig.node_class(product, gpus=chance.randint(1, 4))
    kinds = chance.sample(range(len(node_class.devices)), chance.randint(2, 4))
    assert churned(node_class, chance.randint(1, 2), chance, kinds, steps=60) > 1
