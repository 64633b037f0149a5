"""The laws of fleet scheduling, each by its name."""

# Seeded shuffles need no cryptography, and hypothesis hands booleans over by position.
# ruff: noqa: S311, FBT001

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import TypeVar

from hypothesis import assume, given
from hypothesis import strategies as st

from modelplane import placement
from modelplane.placement.decision import Plan, State, World
from modelplane.placement.diagnosis import changes
from modelplane.placement.diagnosis.shortage import SOME_ARRANGEMENTS
from modelplane.placement.snapshot import (
    Cluster,
    Current,
    Demand,
    Effect,
    Fleet,
    Holding,
    Intent,
    PodShape,
    Taint,
)
from tests.support import placements as given_
from tests.support.laws import (
    LAW,
    WRONG,
    demands,
    fleets,
    intents,
    packs,
    place,
    promised,
    published,
)

T = TypeVar("T")


@LAW
@given(fleets(3), demands(), intents(3))
def test_never_overcommit(fleet: Fleet, demand: Demand, intent: Intent) -> None:
    plan = place(fleet, demand, intent)
    for cluster in fleet.clusters:
        for pool in cluster.pools:
            extra = tuple(
                h
                for one in plan.composed
                if one.cluster == cluster.name
                for h in given_.holdings(one)
                if h.pool == pool.name
            )
            if extra:
                assert pool.node_class is not None
                assert packs(pool, cluster, extra), (cluster.name, pool.name, extra)


@LAW
@given(fleets(), demands(), intents(), st.integers(0, 2**16))
def test_deterministic_under_any_order_of_inputs(fleet: Fleet, demand: Demand, intent: Intent, seed: int) -> None:
    shuffle = random.Random(seed)
    plan = place(fleet, demand, intent)
    current = given_.as_current(plan, ready=True)
    again = place(published(fleet, plan), demand, replace(intent, replicas=2), current)

    def mixed(items: tuple[T, ...]) -> tuple[T, ...]:
        listed = list(items)
        shuffle.shuffle(listed)
        return tuple(listed)

    def stirred(what: Fleet) -> Fleet:
        return Fleet(
            mixed(
                tuple(
                    replace(
                        c,
                        pools=mixed(tuple(replace(p, allocations=mixed(p.allocations)) for p in c.pools)),
                        taints=mixed(c.taints),
                        labels=dict(reversed(list(c.labels.items()))),
                    )
                    for c in what.clusters
                )
            )
        )

    assert place(stirred(fleet), demand, intent) == plan
    other = place(
        stirred(published(fleet, plan)), demand, replace(intent, replicas=2), Current(mixed(current.replicas))
    )
    assert other == again


@LAW
@given(fleets(), demands(), intents(), st.booleans(), st.booleans())
def test_stable_placing_again_changes_nothing(
    fleet: Fleet, demand: Demand, intent: Intent, ready: bool, admitted: bool
) -> None:
    plan = place(fleet, demand, intent)
    current = given_.as_current(plan, ready=ready)
    again = place(published(fleet, plan) if admitted else fleet, demand, intent, current)
    assert given_.where(again) == given_.where(plan)
    assert not again.shed
    assert all(one.state is State.RETAINED and not one.rewrite for one in again.composed)
    assert again.placed == plan.placed


@LAW
@given(fleets(), demands(), intents(), st.integers(0, 2**16))
def test_retain_first_whatever_blinks(fleet: Fleet, demand: Demand, intent: Intent, seed: int) -> None:
    """A cluster that is not ready, has no address, lost its labels, status or class keeps what it runs."""
    chance = random.Random(seed)
    plan = place(fleet, demand, intent)
    current = given_.as_current(plan, ready=True)

    def blinked(cluster: Cluster) -> Cluster:
        keep = chance.random() < 0.3
        gone = tuple(
            replace(p, node_class=None if chance.random() < 0.3 else p.node_class, allocations=())
            for p in cluster.pools
        )
        return (
            cluster
            if keep
            else replace(
                cluster, ready=False, address_known=False, labels={}, pools=gone, capacity_known=False, backends=()
            )
        )

    again = place(Fleet(tuple(blinked(c) for c in fleet.clusters)), demand, intent, current)
    assert not again.shed
    assert given_.where(again).items() >= given_.where(plan).items()
    unlisted = place(Fleet((), received=False), demand, intent, current)
    assert given_.where(unlisted) == given_.where(plan)


@LAW
@given(fleets(), demands(), intents(2), st.integers(1, 4), st.booleans())
def test_scale_up_then_down_returns_to_the_same_set(
    fleet: Fleet, demand: Demand, intent: Intent, more: int, admitted: bool
) -> None:
    before = place(fleet, demand, intent)
    first = given_.as_current(before, ready=True)
    seen = published(fleet, before) if admitted else fleet
    up = place(seen, demand, replace(intent, replicas=intent.replicas + more), first)
    second = given_.as_current(up, first, ready=True)
    down = place(published(fleet, up) if admitted else fleet, demand, intent, second)
    assert given_.where(down) == given_.where(before)


@LAW
@given(fleets(), demands(), intents())
def test_every_refusal_has_a_reason(fleet: Fleet, demand: Demand, intent: Intent) -> None:
    plan = place(fleet, demand, intent)
    assert plan.placed == len(given_.where(plan))
    if plan.shortfall is None:
        assert plan.placed == intent.replicas
        return
    assert plan.shortfall.count == intent.replicas - plan.placed > 0
    assert [verdict.cluster for verdict in plan.shortfall.verdicts] == sorted(c.name for c in fleet.clusters)
    for verdict in plan.shortfall.verdicts:
        assert verdict.reason is not None, verdict
        assert verdict.detail, verdict
        assert verdict.group, verdict
        for pool in verdict.pools:
            assert pool.fits or pool.detail
    assert sum(entry.clusters for entry in plan.shortfall.reasons) == len(fleet.clusters)
    assert plan.shortfall.message.startswith(f"0/{len(fleet.clusters)} clusters fit")


@LAW
@given(fleets(), demands(), intents())
def test_a_counterfactual_applied_makes_it_fit(fleet: Fleet, demand: Demand, intent: Intent) -> None:
    plan = place(fleet, demand, intent)
    assume(plan.shortfall is not None and plan.shortfall.closest is not None)
    assert plan.shortfall is not None
    closest = plan.shortfall.closest
    assert closest is not None
    assert closest.would_fit_if
    # two roles may miss nodes of one pool; the change for the second says what both need
    assert len(closest.misses) >= len(closest.changes) > 0
    there = next(c for c in fleet.clusters if c.name == closest.cluster)
    world = changes.applied(World(there, demand, intent), closest.changes)
    others = tuple(c for c in fleet.clusters if c.name != closest.cluster)
    current = given_.as_current(plan, ready=True)
    after = place(Fleet((*others, world.cluster)), world.demand, world.intent, current)
    assert after.placed > plan.placed


@LAW
@given(fleets(2), demands())
def test_agrees_with_brute_force_on_small_fleets(fleet: Fleet, demand: Demand) -> None:
    """One replica is placed only if some assignment of roles to pools packs, tried in every way; and it is placed if
    the ledger promises one."""
    plan = place(fleet, demand, given_.intent(1))
    possible = sure = False
    for cluster in fleet.clusters:
        if cluster.taints and any(t.effect is not Effect.PREFER_NO_SCHEDULE for t in cluster.taints):
            continue
        if not (cluster.ready and cluster.address_known):
            continue
        usable = [p for p in cluster.pools if p.node_class is not None and p.node_class is not WRONG]
        for chosen in itertools.product(usable, repeat=len(demand.roles)):
            fits = comes = True
            for pool in usable:
                extra = tuple(
                    Holding(
                        r.role,
                        p.name,
                        r.pods,
                        PodShape((("gpu", r.requests[0].count),), r.cpu_millis),
                        r.nodes_per_worker,
                    )
                    for r, p in zip(demand.roles, chosen, strict=True)
                    if p is pool
                )
                if extra and not packs(pool, cluster, extra):
                    fits = False
                if extra and not promised(pool, cluster, extra):
                    comes = False
            possible = possible or fits
            sure = sure or (fits and comes)
    assert possible or plan.placed == 0
    assert plan.placed == 1 or not sure
    if possible and not plan.placed:
        assert plan.shortfall is not None
        words = (SOME_ARRANGEMENTS, "fit alone but not together")
        said = [verdict.detail for verdict in plan.shortfall.verdicts]
        said += [pool.detail for verdict in plan.shortfall.verdicts for pool in verdict.pools]
        assert any(word in detail for detail in said for word in words), said


@LAW
@given(fleets(3), demands(), st.integers(1, 6))
def test_nothing_more_fits_where_it_stops(fleet: Fleet, demand: Demand, wanted: int) -> None:
    """With a shortfall, explain says of no cluster that one more would fit."""
    explanation = placement.explain(fleet, demand, given_.intent(wanted), given_.NOTHING)
    assert (explanation.plan.shortfall is None) or not any(verdict.fits for verdict in explanation.verdicts)


@LAW
@given(fleets(), demands(), intents(), st.integers(0, 2**16))
def test_a_ready_replica_is_never_shed_while_an_unready_one_remains(
    fleet: Fleet, demand: Demand, intent: Intent, seed: int
) -> None:
    chance = random.Random(seed)
    plan = place(fleet, demand, replace(intent, replicas=4))
    replicas = tuple(replace(r, ready=chance.random() < 0.5) for r in given_.as_current(plan).replicas)
    again = place(published(fleet, plan), demand, intent, Current(replicas))
    ready = {r.name for r in replicas if r.ready}
    if any(one.name in ready for one in again.shed):
        assert all(one.name in ready or one.state is not State.RETAINED for one in again.composed)


# --- moves ------------------------------------------------------------------------------------------------------------


def rolled(fleet: Fleet, demand: Demand, intent: Intent, current: Current) -> tuple[list[Plan], Current]:
    """Reconcile with every new replica coming up one step later, until nothing changes."""
    plans: list[Plan] = []
    for _ in range(60):
        plan = place(fleet, demand, intent, current)
        plans.append(plan)
        after = given_.as_current(plan, current, ready=False)
        after = Current(tuple(replace(r, ready=True, created=r.created or "x") for r in after.replicas))
        if after == current:
            return plans, current
        current = after
    raise AssertionError("no fixed point")


@LAW
@given(fleets(), demands(), intents())
def test_an_edit_rolls_one_by_one_and_settles(fleet: Fleet, demand: Demand, intent: Intent) -> None:
    start = place(fleet, demand, intent)
    old = Current(tuple(replace(r, ready=True, outdated=True) for r in given_.as_current(start).replicas))
    plans, final = rolled(fleet, demand, intent, old)
    for plan in plans:
        held = [one for one in plan.composed if one.holds_place]
        assert len(held) <= intent.replicas + 1
        assert sum(one.rewrite and (one.replaces is not None or one.state is State.RETAINED) for one in held) <= 1
        assert len(held) >= start.placed - 1, "one is down at most"
    assert sum(r.outdated for r in final.replicas) == len(plans[-1].blocked)
    assert plans[-1].placed >= start.placed


@LAW
@given(fleets(hospitable=True), demands(), intents(3))
def test_a_drain_hurts_nobody(fleet: Fleet, demand: Demand, intent: Intent) -> None:
    """Draining a cluster never leaves fewer replicas than before, and moves all that find room elsewhere."""
    start = place(fleet, demand, intent)
    assume(start.placed > 0)
    drained = start.composed[0].cluster
    taint = Taint("maintenance", Effect.NO_EXECUTE)
    after = Fleet(tuple(replace(c, taints=(taint,)) if c.name == drained else c for c in fleet.clusters))
    plans, final = rolled(after, demand, intent, given_.as_current(start, ready=True))
    for plan in plans:
        assert plan.placed >= start.placed
    left = [r for r in final.replicas if r.cluster == drained]
    assert {r.name for r in left} == {blocked.replica for blocked in plans[-1].blocked}
