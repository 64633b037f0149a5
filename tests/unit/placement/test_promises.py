"""Promises through edits, refusals and other names: the smallest case of each that was once broken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modelplane import placement
from modelplane.placement.decision import Plan, State, World
from modelplane.placement.diagnosis import changes
from modelplane.placement.snapshot import Cluster, Current, Demand, Fleet, Holding, Intent, PodShape, SpreadConstraint
from modelplane.workload.model import Role
from tests.support.laws import published
from tests.support.placements import (
    DEPLOYMENT,
    DRAIN,
    NAMESPACE,
    NOTHING,
    as_current,
    cluster,
    current,
    demand,
    fleet,
    gpu,
    intent,
    node_class,
    note,
    on,
    plan,
    pool,
    replica,
    role,
    used,
    where,
)

REGIONS = SpreadConstraint("region", 1)
L40 = node_class(gpu(8, "46068Mi"), name="l40-8x")
H200_4 = node_class(gpu(4), name="h200-4x")


def regions(nodes: int, *names: str) -> tuple[Cluster, ...]:
    return tuple(cluster(f"c-{name}", pool(nodes), labels={"region": name}) for name in names)


def settled(of: Fleet, wants: Intent, have: Current, what: Demand | None = None) -> tuple[Plan, Current]:
    """Reconcile until nothing changes; what is proposed is admitted and serves."""
    for _ in range(40):
        found = plan(of, wants, what, have)
        after = as_current(found, have)
        after = Current(tuple(replace(one, ready=True, bound=True) for one in after.replicas))
        if after == have:
            return found, have
        have = after
    raise AssertionError("still moving")


def per_region(of: Fleet, have: Current) -> dict[str, int]:
    counts = {one.labels["region"]: 0 for one in of.clusters}
    for one in have.replicas:
        counts[next(c.labels["region"] for c in of.clusters if c.name == one.cluster)] += 1
    return counts


def edited(have: Current) -> Current:
    return Current(tuple(replace(one, outdated=True) for one in have.replicas))


@pytest.mark.parametrize("replicas", [2, 4])
def test_a_rolling_edit_keeps_the_spread(replicas: int) -> None:
    of = fleet(*regions(8, "eu", "us"))
    wants = intent(replicas, spread=(REGIONS,))
    _, have = settled(of, wants, NOTHING)
    for _ in range(3):
        _, have = settled(of, wants, edited(have))
        assert per_region(of, have) == {"eu": replicas // 2, "us": replicas // 2}


def test_a_drain_keeps_the_spread_though_another_region_is_cheaper() -> None:
    cheap = node_class(name="cheap", cost_per_node_hour="1")
    dear = node_class(name="dear", cost_per_node_hour="9")
    of = fleet(
        cluster("a", pool(4, dear), labels={"region": "eu"}),
        cluster("b", pool(4, dear), labels={"region": "eu"}),
        cluster("c", pool(4, cheap), labels={"region": "us"}),
    )
    wants = intent(2, spread=(REGIONS,))
    _, have = settled(of, wants, NOTHING)
    left = next(one.cluster for one in have.replicas if one.cluster != "c")
    drained = Fleet(tuple(replace(c, taints=(DRAIN,)) if c.name == left else c for c in of.clusters))
    _, have = settled(drained, wants, have)
    assert {one.cluster for one in have.replicas} == {"c", "b" if left == "a" else "a"}


def test_a_successor_may_stand_beside_the_one_it_succeeds_though_the_limit_is_one() -> None:
    of = fleet(cluster("a", pool(2)))
    wants = intent(1, max_replicas_per_cluster=1)
    first = plan(of, wants, None, current(replica(0, "a", outdated=True)))
    assert [(one.state, one.replaces) for one in first.composed] == [
        (State.RETAINED, None),
        (State.MOVED, f"{DEPLOYMENT}-0"),
    ]
    _, have = settled(of, wants, as_current(first, current(replica(0, "a", outdated=True))))
    assert [one.name for one in have.replicas] == [f"{DEPLOYMENT}-1"]


def test_one_that_cannot_move_yet_does_not_hold_back_one_that_can() -> None:
    """The most urgent is drained and its region has no room; an edited one has room beside it."""
    of = fleet(
        cluster("a", pool(1), labels={"region": "eu"}, taints=(DRAIN,)),
        cluster("b", pool(0), labels={"region": "eu"}),
        cluster("c", pool(3), labels={"region": "us"}),
    )
    wants = intent(2, spread=(REGIONS,))
    have = current(replica(0, "a"), replica(1, "c", outdated=True))
    assert [one.replaces for one in plan(of, wants, None, have).composed if one.replaces] == [f"{DEPLOYMENT}-1"]


def test_a_name_that_came_again_is_not_taken_for_a_move() -> None:
    """An edit of two replicas, one of which once succeeded another of the name that its sibling has now."""
    have = current(replica(3, "b", outdated=True, replaces=f"{DEPLOYMENT}-9"), replica(9, "a", outdated=True))
    assert not plan(fleet(cluster("a"), cluster("b")), intent(2), None, have).shed


def test_a_name_that_was_succeeded_is_not_given_again() -> None:
    have = current(replica(1, "a", replaces=f"{DEPLOYMENT}-0"))
    found = plan(fleet(cluster("a")), intent(2), None, have)
    assert [one.name for one in found.composed] == [f"{DEPLOYMENT}-1", f"{DEPLOYMENT}-2"]


# --- refusals ---------------------------------------------------------------------------------------------------------


def refused(*numbers: int) -> dict[str, object]:
    return {f"{NAMESPACE}/{DEPLOYMENT}-{number}": note() for number in numbers}


def test_a_refused_replica_does_not_count_against_its_own_limit() -> None:
    of = fleet(cluster("a", pool(1), pool(1, name="other"), refused=refused(0)))
    found = plan(of, intent(1, max_replicas_per_cluster=1), None, current(replica(0, "a", ready=False)))
    (placed,) = found.composed
    assert [one.pool for one in placed.roles] == ["other"]
    assert found.shortfall is None


def test_after_a_refusal_the_other_kind_of_device_in_the_pool_is_tried() -> None:
    both = node_class(gpu(4, name="big"), gpu(4, "81559Mi", name="small"), name="both")
    of = fleet(cluster("a", pool(1, both), refused=refused(0)))
    claim = Holding(Role.DECODE, "main", 1, PodShape((("small", 4),)))
    found = plan(of, intent(1), demand(role(4)), current(replica(0, "a", claim, ready=False)))
    (placed,) = found.composed
    assert placed.roles[0].shape.devices == (("big", 4),)


def test_a_refusal_in_one_pool_leaves_the_pool_of_the_other_role_open() -> None:
    two = demand(role(8), role(8, kind=Role.PREFILL))
    of = fleet(cluster("a", pool(1, name="p"), pool(1, name="q"), pool(1, name="r"), refused=refused(0)))
    shape = PodShape((("gpu", 8),))
    claim = (Holding(Role.DECODE, "p", 1, shape), Holding(Role.PREFILL, "q", 1, shape))
    found = plan(of, intent(1), two, current(replica(0, "a", *claim, ready=False)))
    (placed,) = found.composed
    assert found.shortfall is None
    assert {one.pool for one in placed.roles} != {"p", "q"} or placed.roles[0].pool == "q"


def test_a_refused_replica_that_limits_forbid_does_not_wait() -> None:
    """Were it admitted later, the cluster would hold more than it may."""
    of = fleet(cluster("a", pool(2), refused=refused(1), admitted=frozenset({f"{NAMESPACE}/{DEPLOYMENT}-0"})))
    have = current(replica(0, "a"), replica(1, "a", ready=False))
    found = plan(of, intent(2, max_replicas_per_cluster=1), None, have)
    assert where(found) == {f"{DEPLOYMENT}-0": "a"}
    assert [one.name for one in found.shed] == [f"{DEPLOYMENT}-1"]
    assert found.shortfall is not None
    assert found.shortfall.count == 1


def test_what_would_help_is_asked_with_the_refused_claim_left_out() -> None:
    """Counted where it waits, a refused replica made a limit look like all that was missing."""
    one = Holding(Role.DECODE, "main", 1, PodShape((("gpu", 1),)))
    of = fleet(
        cluster("a", pool(1, used=[used(1)]), labels={"region": "eu"}, refused=refused(0)),
        cluster(
            "b",
            pool(1, used=[used(1, 1)]),
            labels={"region": "us"},
            admitted=frozenset({f"{NAMESPACE}/{DEPLOYMENT}-1"}),
        ),
    )
    wants = intent(2, max_replicas_per_cluster=1, spread=(REGIONS,))
    have = current(replica(0, "a", one, ready=False), replica(1, "b", one, bound=True))
    explained = placement.explain(of, demand(role(1)), wants, have)
    assert explained.closest is not None
    near = next(c for c in of.clusters if c.name == explained.closest.cluster)
    world = changes.applied(World(near, demand(role(1)), wants), explained.closest.changes)
    # With the nodes that it lacked the cluster judges anew, and takes its refusal back.
    judged = replace(world.cluster, refused={}) if world.pardoned else world.cluster
    changed = fleet(*(judged if c.name == near.name else c for c in of.clusters))
    after = placement.schedule(changed, world.demand, world.intent, have)
    assert (explained.plan.placed, after.placed) == (1, 2), explained.closest


def test_nodes_that_a_refusal_lacks_are_named_although_the_refusal_stands() -> None:
    """It said that no change was known: what the cluster had refused stayed barred on any number of nodes."""
    one = Holding(Role.DECODE, "main", 1, PodShape((("gpu", 8),)))
    of = fleet(cluster("a", pool(1, used=[used(1)]), refused=refused(0)))
    explained = placement.explain(of, demand(role(8)), intent(1), current(replica(0, "a", one, ready=False)))
    assert explained.closest is not None
    assert explained.closest.would_fit_if == "pool main had 1 more free node"


# --- who gives way ----------------------------------------------------------------------------------------------------


def test_the_least_capable_device_that_serves_comes_first() -> None:
    """Opened nodes with room do not outweigh it: the large devices are somebody else's only ones."""
    of = fleet(cluster("a", pool(4)), cluster("b", pool(4, L40)))
    assert on(plan(of, intent(1), demand(role(1)))) == ["b"]
    mixed = fleet(cluster("a", pool(4, name="a-big"), pool(4, L40, name="small")))
    assert plan(mixed, intent(1), demand(role(1))).composed[0].roles[0].pool == "small"


def test_a_small_shape_does_not_open_the_only_large_node() -> None:
    of = fleet(cluster("a", pool(1, name="eight"), pool(3, H200_4, name="four")))
    found = plan(of, intent(3), demand(role(2)))
    assert {one.roles[0].pool for one in found.composed} == {"four"}
    assert plan(published(of, found), intent(1), demand(role(8)), Current()).placed == 1


def test_a_name_decides_only_between_clusters_that_are_alike() -> None:
    """Equal in every criterion, and one of the two is all that a third deployment may use."""
    gold, plain = {"tier": "gold"}, {"tier": "plain"}
    one = fleet(cluster("a", labels=gold), cluster("b", labels=plain))
    other = fleet(cluster("b", labels=gold), cluster("a", labels=plain))
    chosen = [next(c.labels["tier"] for c in of.clusters if c.name == on(plan(of))[0]) for of in (one, other)]
    assert chosen[0] == chosen[1]


# --- conditions say the cause -----------------------------------------------------------------------------------------


def test_a_blocked_move_says_the_first_cause_as_explain_does() -> None:
    """An attribute is mistyped in a deployment that runs: its devices were there all the time."""
    typo = demand(role(8, selectors=('device.attributes["gpu.nvidia.com"].architectur == "Hopper"',)))
    have = current(replica(0, "a", outdated=True, bound=True))
    of = fleet(cluster("a", pool(2), admitted=frozenset({f"{NAMESPACE}/{DEPLOYMENT}-0"})))
    explained = placement.explain(of, typo, intent(1), have)
    (blocked,) = plan(of, intent(1), typo, have).blocked
    assert "no such key" in explained.message
    assert blocked.message.endswith(explained.message)
    (kept,) = plan(of, intent(1), typo, have).composed
    assert blocked.message in kept.note
