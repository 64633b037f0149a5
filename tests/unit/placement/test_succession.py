"""What counts while a replica changes in place: the larger of before and after on each node."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.placement.capacity import succession
from modelplane.placement.capacity.succession import Placed
from modelplane.placement.packing.load import Vector
from modelplane.placement.snapshot import Holding, PodShape
from modelplane.workload.model import Role


def holding(pods: int, gpu: int, nic: int = 0, role: Role = Role.DECODE) -> Holding:
    devices = tuple((name, count) for name, count in (("gpu", gpu), ("nic", nic)) if count)
    return Holding(role, "pool", pods, PodShape(devices))


def charge(one: Holding) -> Vector:
    counts = dict(one.shape.devices)
    return counts.get("gpu", 0), counts.get("nic", 0)


def loads(placed: tuple[Placed, ...]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for one, places in placed:
        for node in places:
            for axis, amount in enumerate(charge(one)):
                found.setdefault(node, [0, 0])[axis] += amount
    return found


def on(gpu: int, *places: int, nic: int = 0) -> Placed:
    return holding(len(places), gpu, nic), places


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param([on(8, 0)], [on(4, 0)], [on(8, 0)], id="a smaller pod where the larger was"),
        pytest.param([on(4, 0)], [on(8, 0)], [on(8, 0)], id="a larger pod where the smaller was"),
        pytest.param([on(4, 0, 0)], [on(8, 0)], [on(8, 0)], id="one pod for two on their node"),
        pytest.param([on(4, 0, 1)], [on(8, 0)], [on(8, 0), on(4, 1)], id="one pod for two on the node of the first"),
        pytest.param([on(8, 0)], [on(4, 0, 1)], [on(4, 1), on(8, 0)], id="two pods for one, of which one is elsewhere"),
        pytest.param([on(4, 0, 1, 2)], [on(4, 0)], [on(4, 0, 1, 2)], id="fewer pods of the same size"),
        pytest.param([on(4, 0)], [on(4, 1)], [on(4, 0, 1)], id="a pod that moves"),
        pytest.param([on(4, 0)], [on(4, 0)], [on(4, 0)], id="nothing changes"),
        pytest.param([on(4, 0, nic=1)], [on(2, 0, nic=2)], [on(2, 0, nic=2), on(4, 0, nic=1)], id="neither is larger"),
    ],
)
def test_on_each_node_the_larger_counts(before: list[Placed], after: list[Placed], expected: list[Placed]) -> None:
    assert succession.counted(before, after, charge) == tuple(expected)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(holding(1, 8), holding(1, 4), [holding(1, 8)], id="a smaller pod"),
        pytest.param(holding(4, 1), holding(2, 1), [holding(4, 1)], id="fewer pods"),
        pytest.param(holding(1, 4), holding(2, 8), [holding(2, 8)], id="more and larger pods"),
        pytest.param(holding(2, 4), holding(1, 8), [holding(1, 8), holding(2, 4)], id="fewer and larger pods"),
    ],
)
def test_where_no_nodes_are_known_the_larger_holding_counts(
    before: Holding, after: Holding, expected: list[Holding]
) -> None:
    for measure in (charge, None):
        found = succession.counted([(before, ())], [(after, ())], measure)
        assert [one for one, _ in found] == expected


def test_where_the_class_is_not_known_no_node_is_compared() -> None:
    found = succession.counted([on(8, 0)], [on(4, 0)], None)
    assert found == ((holding(1, 8), ()),)


def some(role: Role) -> st.SearchStrategy[Placed]:
    sizes = st.tuples(st.integers(0, 4), st.integers(0, 2)).filter(any)
    places = st.lists(st.integers(0, 3), min_size=1, max_size=5)
    return st.builds(lambda size, at: (holding(len(at), size[0], size[1], role), tuple(sorted(at))), sizes, places)


placed = st.tuples(some(Role.DECODE)) | st.tuples(some(Role.DECODE), some(Role.PREFILL))


@given(placed, placed)
def test_no_node_counts_less_than_before_or_after(before: tuple[Placed, ...], after: tuple[Placed, ...]) -> None:
    """And none counts more than both, nor more than the larger where one is."""
    found, had, has = (loads(one) for one in (succession.counted(before, after, charge), tuple(before), tuple(after)))
    assert found.keys() == had.keys() | has.keys()
    for node, load in found.items():
        old, new = had.get(node, [0, 0]), has.get(node, [0, 0])
        larger = [max(a, b) for a, b in zip(old, new, strict=True)]
        assert all(a >= b for a, b in zip(load, larger, strict=True))
        assert load == larger if larger in (old, new) else load == [a + b for a, b in zip(old, new, strict=True)]


@given(placed, placed)
def test_what_is_counted_already_counts_no_more_when_it_is_taken_back(
    before: tuple[Placed, ...], after: tuple[Placed, ...]
) -> None:
    """Changes to and fro do not add up."""
    first = succession.counted(before, after, charge)
    back = succession.counted(first, before, charge)
    assert loads(succession.counted(back, after, charge)) == loads(back) == loads(first)
