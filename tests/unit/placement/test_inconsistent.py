"""Snapshots that cannot be true: a safe answer and a reason, the same in whatever order they are told, no exception."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from modelplane import placement
from modelplane.placement.decision import Admission, Plan, Reason, State
from modelplane.placement.snapshot import (
    Accounting,
    Allocation,
    Cluster,
    Current,
    CurrentReplica,
    Effect,
    Fleet,
    Holding,
    NodeCounts,
    PodShape,
    Pool,
    ReplicaClaim,
    Taint,
)
from modelplane.workload.model import Role
from tests.support.placements import (
    L4,
    cluster,
    current,
    demand,
    fleet,
    intent,
    note,
    pool,
    replica,
    used,
    where,
)

HUGE = 10**15


def held(pool_name: str = "main", pods: int = 1, devices: int = 8, device: str = "gpu", span: int = 1) -> Holding:
    return Holding(Role.DECODE, pool_name, pods, PodShape(((device, devices),)), span)


def plan(of: Fleet, have: Current, replicas: int = 1) -> Plan:
    """Return the plan, after it was seen to be the same whatever the order."""
    result = placement.explain(of, demand(), intent(replicas), have).plan
    backwards = Fleet(of.clusters[::-1], of.received)
    assert placement.schedule(backwards, demand(), intent(replicas), Current(have.replicas[::-1])) == result
    return result


# --- what exists ------------------------------------------------------------------------------------------------------

HELD = [
    ("on a pool its cluster does not have", replica(0, "a", held("other"), bound=True)),
    ("of a device the class does not have", replica(0, "a", held(device="tpu"), bound=True)),
    ("of more devices than a node has", replica(0, "a", held(devices=HUGE), bound=True)),
    ("of no pods", replica(0, "a", held(pods=0), bound=True)),
    ("of a negative number of pods", replica(0, "a", held(pods=-3), bound=True)),
    ("of more pods than there are nodes anywhere", replica(0, "a", held(pods=HUGE), bound=True)),
    ("of a gang of no nodes", replica(0, "a", held(span=0), bound=True)),
    ("of a gang of a negative number of nodes", replica(0, "a", held(span=-2), bound=True)),
    ("of no role at all", replace(replica(0, "a", bound=True), holdings=())),
    ("that says it replaces itself", replica(0, "a", bound=True, replaces="llama-0")),
    ("that replaces one that never was", replica(0, "a", bound=True, replaces="llama-77")),
    ("of a backend nobody knows", replace(replica(0, "a", bound=True), backend="")),
]


@pytest.mark.parametrize(("reason", "one"), HELD, ids=[row[0] for row in HELD])
def test_a_strange_replica_is_kept(reason: str, one: CurrentReplica) -> None:
    have = Current((one,))
    result = plan(fleet(cluster("a"), cluster("b")), have)
    assert where(result)["llama-0"] == "a", reason
    assert not result.shed


@pytest.mark.parametrize(("reason", "one"), HELD, ids=[row[0] for row in HELD])
def test_a_strange_claim_that_holds_stays_admitted_and_counts_for_nobody_else(reason: str, one: CurrentReplica) -> None:
    holdings = one.holdings
    claims = [ReplicaClaim("ns/held", holdings, holds=True), ReplicaClaim("ns/new", (held(),))]
    account = placement.admit((pool(1),), Accounting.DEVICE, claims)
    assert account == placement.admit((pool(1),), Accounting.DEVICE, claims[::-1])
    assert {verdict.key: verdict.admission for verdict in account.verdicts}["ns/held"] is Admission.ADMITTED, reason


CYCLES = {
    "two replace each other": {0: 1, 1: 0},
    "three in a ring": {0: 1, 1: 2, 2: 0},
    "a chain that ends in itself": {0: 0, 1: 0, 2: 1},
    "two replace one": {1: 0, 2: 0},
}


@pytest.mark.parametrize("replaces", CYCLES.values(), ids=CYCLES)
def test_moves_that_go_in_circles_end(replaces: Mapping[int, int]) -> None:
    """As many as are wanted keep serving at every step, and it comes to rest."""

    def of(n: int) -> str | None:
        return f"llama-{replaces[n]}" if n in replaces else None

    have = current(*(replica(n, "a", bound=True, replaces=of(n)) for n in range(3)))
    for wanted in (3, 2, 1):
        left = have
        for _ in range(6):
            result = plan(fleet(cluster("a"), cluster("b")), left, wanted)
            kept = {one.name for one in result.composed}
            assert len(kept) >= wanted
            assert all(one.note for one in result.shed)
            after = Current(tuple(one for one in left.replicas if one.name in kept))
            if after == left:
                break
            left = after
        assert after == left, "it comes to rest"
        assert len(left.replicas) >= wanted


# --- what is published ------------------------------------------------------------------------------------------------

FULL = [
    ("allocations far beyond capacity", pool(1, used=[used(HUGE)])),
    ("an allocation larger than a node", pool(1, used=[used(1, HUGE)])),
    ("an allocation of an unknown device", pool(1, used=[used(1, 8, device="tpu")])),
    ("no nodes", pool(0)),
    ("a negative number of nodes", pool(-5)),
    ("fewer nodes than none are seen", pool(NodeCounts(1, -1))),
    ("a negative maximum", pool(NodeCounts(0, 0, -4))),
    ("negative counts beside real ones", pool(1, used=[used(1), used(-1)])),
    ("a gang of no nodes", pool(1, used=[used(1, span=0)])),
]


@pytest.mark.parametrize(("reason", "one"), FULL, ids=[row[0] for row in FULL])
def test_what_cannot_be_true_never_makes_room(reason: str, one: Pool) -> None:
    result = plan(fleet(cluster("a", one)), Current())
    assert result.placed == 0, reason
    assert result.shortfall is not None
    (verdict,) = result.shortfall.verdicts
    assert verdict.reason in {Reason.INSUFFICIENT_DEVICES, Reason.INSUFFICIENT_NODES}
    assert verdict.detail
    account = placement.admit((one,), Accounting.DEVICE, [ReplicaClaim("ns/new", (held(),))])
    assert all(count >= 0 for published in account.pools for _, count in published.free)


def test_a_negative_allocation_frees_nothing() -> None:
    """Nine pods that never were do not stand for the one that does."""
    result = plan(fleet(cluster("a", pool(2, used=[used(2), used(-9), used(-9, 4)]))), Current())
    assert result.placed == 0


def test_absurd_sizes_are_counted_and_not_enumerated() -> None:
    result = plan(fleet(cluster("a", pool(HUGE, used=[used(HUGE - 1, 8)]))), Current(), 2)
    assert result.placed == 1


@pytest.mark.parametrize("wanted", [0, -1, -HUGE])
def test_nobody_is_wanted(wanted: int) -> None:
    result = plan(fleet(cluster("a")), current(replica(0, "a")), wanted)
    assert [one.state for one in result.replicas] == [State.SHED]
    assert result.placed <= 0


# --- two of one name --------------------------------------------------------------------------------------------------

TWINS = [
    ("one is empty and one is full", cluster("a", pool(4)), cluster("a", pool(4, used=[used(4)]))),
    ("one has other pools", cluster("a", pool(4)), cluster("a", pool(4, L4, name="small"))),
    ("one is drained", cluster("a"), cluster("a", taints=(Taint("off", Effect.NO_EXECUTE),))),
    ("one refuses the replica", cluster("a"), cluster("a", refused={"ml-team/llama-0": note()})),
    ("one has admitted it", cluster("a"), cluster("a", admitted=frozenset({"ml-team/llama-0", "ml-team/x-0"}))),
    ("they are alike", cluster("a"), cluster("a")),
]


@pytest.mark.parametrize(("reason", "one", "other"), TWINS, ids=[row[0] for row in TWINS])
def test_two_clusters_of_one_name_get_nothing_new_and_keep_what_they_have(
    reason: str, one: Cluster, other: Cluster
) -> None:
    of = fleet(one, other)
    kept = plan(of, current(replica(0, "a", bound=True)))
    assert where(kept) == {"llama-0": "a"}, reason
    fresh = plan(of, Current())
    assert fresh.placed == 0
    assert fresh.shortfall is not None
    (verdict,) = fresh.shortfall.verdicts
    assert verdict.reason is Reason.CLUSTER_NOT_READY
    assert "two InferenceClusters have this name" in verdict.detail


def test_two_replicas_of_one_name_count_once() -> None:
    result = plan(fleet(cluster("a"), cluster("b")), current(replica(0, "a"), replica(0, "b")))
    assert [one.name for one in result.replicas] == ["llama-0"]


def test_two_claims_of_one_key_count_once() -> None:
    claims = [ReplicaClaim("ns/x", (held(),), created="2"), ReplicaClaim("ns/x", (held(pods=2),), created="1")]
    account = placement.admit((pool(1),), Accounting.DEVICE, claims)
    assert account == placement.admit((pool(1),), Accounting.DEVICE, claims[::-1])
    assert len(account.verdicts) == 1


def test_two_pools_of_one_name_never_hold_more_than_one_of_them_could() -> None:
    twins = (pool(1), pool(1, used=[Allocation(PodShape((("gpu", 8),)), 1)]))
    result = plan(fleet(cluster("a", *twins)), Current(), 5)
    assert result.placed <= 1
