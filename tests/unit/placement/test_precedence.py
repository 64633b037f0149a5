"""What comes before what: each case is decided by one rule alone, and would come out otherwise without it.

In every case the cluster or replica that is wanted would lose by all that comes after the rule, the name included.
"""

from __future__ import annotations

from typing import Any

import pytest

from modelplane import placement
from modelplane.placement.scheduling import filters
from modelplane.placement.snapshot import (
    CacheNeed,
    Cluster,
    Effect,
    Fleet,
    SpreadConstraint,
    Strategy,
    Taint,
    Toleration,
    TolerationOperator,
)
from tests.support.placements import (
    DEPLOYMENT,
    L4,
    NOTHING,
    WANTS_140,
    cluster,
    current,
    demand,
    fleet,
    intent,
    node_class,
    note,
    pool,
    replica,
    role,
    where,
)

SPOT = Taint("spot", Effect.PREFER_NO_SCHEDULE)
OLD = Taint("old", Effect.PREFER_NO_SCHEDULE)
DRAIN = Taint("drain", Effect.NO_EXECUTE, "true")
DEAR, CHEAP = node_class(cost_per_node_hour="90"), node_class(cost_per_node_hour="80")
CACHED = CacheNeed("weights", frozenset({"b"}))

FIRST: list[tuple[str, Fleet, Any, str]] = [
    (
        "a cluster that is disliked comes after one that is not",
        fleet(cluster("a", taints=(SPOT,)), cluster("b")),
        {},
        "b",
    ),
    (
        "one dislike comes before two",
        fleet(cluster("a", taints=(SPOT, OLD)), cluster("b", taints=(SPOT,))),
        {},
        "b",
    ),
    (
        "a dislike that is tolerated is none",
        fleet(cluster("a", taints=(SPOT,)), cluster("b", pool(5))),
        {"tolerations": (Toleration("spot", TolerationOperator.EXISTS),)},
        "a",
    ),
    (
        "a dislike weighs more than the price",
        fleet(cluster("a", pool(4, CHEAP), taints=(SPOT,)), cluster("b", pool(4, DEAR))),
        {},
        "b",
    ),
    (
        "a model cache that is ready weighs more than a dislike",
        fleet(cluster("a"), cluster("b", taints=(SPOT,))),
        {"cache": CACHED},
        "b",
    ),
    (
        "a model cache that is not required keeps nobody away",
        fleet(cluster("a")),
        {"cache": CacheNeed("weights", frozenset())},
        "a",
    ),
    (
        "the price weighs more than the tighter fit",
        fleet(cluster("a", pool(1, DEAR)), cluster("b", pool(4, CHEAP))),
        {},
        "b",
    ),
]


@pytest.mark.parametrize(("reason", "of", "wants", "first"), FIRST, ids=[row[0] for row in FIRST])
@pytest.mark.parametrize("strategy", list(Strategy))
def test_first(reason: str, of: Fleet, wants: dict[str, Any], first: str, strategy: Strategy) -> None:
    result = placement.schedule(of, demand(), intent(1, strategy=strategy, **wants), NOTHING)
    assert where(result) == {f"{DEPLOYMENT}-0": first}, reason


@pytest.mark.parametrize(
    ("strategy", "second"), [(Strategy.SPREAD, "b"), (Strategy.PACK, "a")], ids=["Spread away", "Pack together"]
)
def test_own_replicas_weigh_more_than_a_dislike(strategy: Strategy, second: str) -> None:
    disliked = {"a": (), "b": (SPOT,)} if strategy is Strategy.SPREAD else {"a": (SPOT,), "b": ()}
    of = fleet(*(cluster(name, taints=taints) for name, taints in disliked.items()))
    result = placement.schedule(of, demand(), intent(2, strategy=strategy), current(replica(0, "a")))
    assert where(result)[f"{DEPLOYMENT}-1"] == second


def test_a_region_without_such_devices_holds_nobody_back() -> None:
    """Neither when replicas are placed nor when it is explained what one more would meet."""
    of = fleet(cluster("a", labels={"region": "eu"}), cluster("b", pool(4, L4), labels={"region": "us"}))
    wants = intent(2, spread=(SpreadConstraint("region"),))
    found = placement.explain(of, demand(role(8, selectors=(WANTS_140,))), wants, NOTHING)
    assert set(where(found.plan).values()) == {"a"}
    assert [verdict.cluster for verdict in found.verdicts if verdict.fits] == ["a"]


def test_of_clusters_of_one_name_what_any_admitted_stays_and_no_refusal_counts() -> None:
    zero, one = (f"ml-team/{DEPLOYMENT}-{number}" for number in (0, 1))
    twins = (
        cluster("a", admitted=frozenset({zero}), refused={one: note()}),
        cluster("a", admitted=frozenset({one}), refused={zero: note()}),
    )
    for order in (twins, twins[::-1]):
        found: Cluster = filters.by_name(order)["a"]
        assert found.ambiguous
        assert found.admitted == {zero, one}
        assert found.refused == {}


def test_a_replica_of_a_lost_cluster_is_held_until_another_serves_and_not_only_exists() -> None:
    for ready, held in ((False, {"0", "1"}), (True, {"1"})):
        have = current(replica(0, "gone"), replica(1, "a", ready=ready))
        result = placement.schedule(fleet(cluster("a")), demand(), intent(1), have)
        assert {one.name.rpartition("-")[2] for one in result.composed} == held


def test_of_two_successors_the_one_that_serves_counts() -> None:
    have = current(
        replica(0, "a"),
        replica(1, "b", ready=False, replaces=f"{DEPLOYMENT}-0"),
        replica(2, "b", replaces=f"{DEPLOYMENT}-0"),
    )
    result = placement.schedule(fleet(cluster("a", taints=(DRAIN,)), cluster("b")), demand(), intent(1), have)
    assert where(result) == {f"{DEPLOYMENT}-2": "b"}
    assert {one.name: one.note for one in result.shed}[f"{DEPLOYMENT}-0"] == f"its successor {DEPLOYMENT}-2 is ready"


def test_what_is_outdated_is_shed_before_what_is_newer() -> None:
    have = current(replica(0, "a", outdated=True), replica(1, "a"))
    result = placement.schedule(fleet(cluster("a")), demand(), intent(1), have)
    assert [one.name for one in result.shed] == [f"{DEPLOYMENT}-0"]


@pytest.mark.parametrize(("strategy", "gone"), [(Strategy.SPREAD, 1), (Strategy.PACK, 2)], ids=["Spread", "Pack"])
def test_each_strategy_undoes_its_own_filling(strategy: Strategy, gone: int) -> None:
    have = current(replica(0, "a"), replica(1, "a"), replica(2, "b"))
    result = placement.schedule(fleet(cluster("a"), cluster("b")), demand(), intent(2, strategy=strategy), have)
    assert [one.name for one in result.shed] == [f"{DEPLOYMENT}-{gone}"]


def test_a_replica_that_moves_away_counts_where_its_successor_is() -> None:
    have = current(
        replica(0, "c", outdated=True),
        replica(1, "a", ready=False, replaces=f"{DEPLOYMENT}-0"),
        replica(2, "b"),
    )
    result = placement.schedule(fleet(*(cluster(name) for name in "abc")), demand(), intent(3), have)
    assert where(result)[f"{DEPLOYMENT}-3"] == "c"
