"""The law that cost grows linearly in distinct classes, clusters and replicas, counted in calls and not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from modelplane import placement
from modelplane.placement.decision import ClusterAccount
from modelplane.placement.snapshot import Accounting, Demand, Fleet, Holding, PodShape, ReplicaClaim
from modelplane.workload.model import Role
from tests.support import placements as given

TENFOLD_MAX = 12
"""Ten times as much may cost this many times the calls: the rest is the logarithm of a queue."""


def calls(act: Callable[[], object]) -> int:
    """Return how many Python functions run; the same for the same input, on any machine, however busy."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def fleet(clusters: int, classes: int) -> Fleet:
    """Clusters of two pools; there are `classes` of the second, none equal to one of another fleet."""
    kinds = [
        given.node_class(given.gpu(8, f"{140_000 + 3_000 + number}Mi", tag=f"{clusters}-{classes}"), name=f"k{number}")
        for number in range(classes)
    ]
    return given.fleet(
        *(
            given.cluster(
                f"c{number:05d}",
                given.pool(4, given.L4, name="a"),
                given.pool(4, kinds[number % classes], [given.used(number % 3, 8)], name="b"),
            )
            for number in range(clusters)
        )
    )


FITTING = given.demand(given.role(8, 1, 1, (given.WANTS_140,)))
REFUSED = given.demand(given.role(8, 5, 5, (given.WANTS_140,)))
ROWS = [
    pytest.param((60, 5, 1), (600, 5, 1), FITTING, id="tenfold-clusters"),
    pytest.param((60, 5, 10), (600, 5, 10), FITTING, id="tenfold-clusters-for-ten-replicas"),
    pytest.param((600, 6, 1), (600, 60, 1), FITTING, id="tenfold-classes"),
    pytest.param((200, 5, 10), (200, 5, 100), FITTING, id="tenfold-replicas"),
    pytest.param((60, 5, 1), (600, 5, 1), REFUSED, id="tenfold-clusters-that-all-refuse"),
    pytest.param((600, 6, 1), (600, 60, 1), REFUSED, id="tenfold-classes-that-all-refuse"),
]


@pytest.mark.parametrize(("small", "large", "demand"), ROWS)
def test_cost_grows_linearly_in_distinct_classes_and_clusters(
    small: tuple[int, int, int], large: tuple[int, int, int], demand: Demand
) -> None:
    def cost(clusters: int, classes: int, replicas: int) -> int:
        of = fleet(clusters, classes)
        return calls(lambda: placement.schedule(of, demand, given.intent(replicas), given.NOTHING))

    cost(7, 7, 1)  # what is done once per process, such as compiling the selector
    assert cost(*large) <= TENFOLD_MAX * cost(*small)


def test_explaining_a_refusal_grows_linearly() -> None:
    def cost(clusters: int) -> int:
        of = fleet(clusters, 5)
        return calls(lambda: placement.explain(of, REFUSED, given.intent(1), given.NOTHING))

    cost(7)
    assert cost(600) <= TENFOLD_MAX * cost(60)


def test_equal_pools_are_decided_once() -> None:
    """A hundred clusters that look alike cost far less than a hundred times one."""
    alike = given.fleet(*(given.cluster(f"c{number:03d}", given.pool(4)) for number in range(100)))
    one = given.fleet(given.cluster("c000", given.pool(4, given.node_class(name="other"))))

    def cost(of: Fleet) -> int:
        return calls(lambda: placement.schedule(of, FITTING, given.intent(1), given.NOTHING))

    cost(one)
    assert cost(alike) < 50 * cost(one)


def test_offers_of_many_deployments_are_tried_a_bounded_number_of_times() -> None:
    """Fifty deployments whose offers help nobody cost no more than five do (once it was twelve times as much)."""
    few, many = calls(lambda: offered(5)), calls(lambda: offered(50))
    assert many < 2 * few


def offered(deployments: int) -> ClusterAccount:
    """Return the account of a full cluster on which two wait for whole nodes and all others are offered."""
    held = [
        claimed(f"ns/r{number:03d}", pods=1, devices=5, holds=True, leaves=f"d{number % deployments}")
        for number in range(400)
    ]
    waiting = [claimed(f"ns/w{number}", pods=8, devices=8, holds=False, leaves="") for number in range(2)]
    where = given.pool(400, given.node_class(given.gpu(8)))
    return placement.admit((where,), Accounting.DEVICE, [*held, *waiting])


def claimed(key: str, *, pods: int, devices: int, holds: bool, leaves: str) -> ReplicaClaim:
    holding = Holding(Role.DECODE, "main", pods, PodShape((("gpu", devices),)))
    return ReplicaClaim(key, (holding,), created=key, holds=holds, leaves=leaves)
