"""The laws of fleet scheduling, each by its name."""

# Seeded shuffles need no cryptography, and hypothesis hands booleans over by position.
# ruff: noqa: S311, FBT001

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import TypeAlias, TypeVar

from hypothesis import assume, given
from hypothesis import strategies as st

from modelplane.placement import admission, changes, explain, scheduler
from modelplane.placement.changes import World
from modelplane.placement.model import (
    Accounting,
    Cluster,
    Current,
    Demand,
    Effect,
    Fleet,
    Holding,
    Intent,
    PodShape,
    Pool,
    ReplicaClaim,
    Taint,
)
from modelplane.placement.plan import Admission, Plan, State
from modelplane.workload.model import Role
from tests.support import placements as given_
from tests.support.laws import (
    LAW,
    SMALL,
    WRONG,
    demands,
    fleets,
    intents,
    packs,
    packs_as_they_come,
    place,
    pools,
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
    one packs whatever comes first."""
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
                if extra and not packs_as_they_come(pool, cluster, extra):
                    comes = False
            possible = possible or fits
            sure = sure or (fits and comes)
    assert possible or plan.placed == 0
    assert plan.placed == 1 or not sure
    if possible and not plan.placed:
        assert plan.shortfall is not None
        words = ("only if those stood", "not beside each other")
        said = [verdict.detail for verdict in plan.shortfall.verdicts]
        said += [pool.detail for verdict in plan.shortfall.verdicts for pool in verdict.pools]
        assert any(word in detail for detail in said for word in words), said


@LAW
@given(fleets(3), demands(), st.integers(1, 6))
def test_nothing_more_fits_where_it_stops(fleet: Fleet, demand: Demand, wanted: int) -> None:
    """With a shortfall, explain says of no cluster that one more would fit."""
    explanation = explain.explain(fleet, demand, given_.intent(wanted), given_.NOTHING)
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


# --- admission --------------------------------------------------------------------------------------------------------


claims = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.integers(-1, 1),
        st.integers(1, 5),
        st.integers(1, 2),
        st.integers(1, 2),
        st.sampled_from(["p0", "p1", "nowhere"]),
        st.booleans(),
    ),
    max_size=7,
)


Row: TypeAlias = tuple[int, int, int, int, int, str, bool]


def claim(row: Row) -> ReplicaClaim:
    number, priority, devices, workers, span, pool, holds = row
    shape = PodShape((("gpu", devices),))
    holding = Holding(Role.DECODE, pool, workers * span, shape, span)
    return ReplicaClaim(f"ns/r{number}", (holding,), priority, f"2026-01-01T00:00:{number:02d}Z", holds)


@LAW
@given(st.tuples(pools("p0"), pools("p1")), st.sampled_from(list(Accounting)), claims, st.integers(0, 2**16))
def test_admission_never_overcommits_and_ignores_order(
    two: tuple[Pool, Pool], accounting: Accounting, rows: list[Row], seed: int
) -> None:
    asked = list({c.key: c for c in map(claim, rows)}.values())
    account = admission.admit(two, accounting, asked)
    mixed = list(asked)
    random.Random(seed).shuffle(mixed)
    assert admission.admit(two, accounting, mixed) == account
    assert [v.key for v in account.verdicts] == sorted(c.key for c in asked)
    verdicts = {v.key: v for v in account.verdicts}
    for one in asked:
        if one.holds:
            assert verdicts[one.key].admission is Admission.ADMITTED
        elif verdicts[one.key].admission is Admission.REFUSED:
            assert verdicts[one.key].reason is not None
            assert verdicts[one.key].message
    held = [c for c in asked if c.holds]
    alone = {p.name: p for p in admission.admit(two, accounting, held).pools}
    for pool, book in zip(two, account.pools, strict=True):
        if pool.node_class is None:
            continue
        cluster = given_.cluster("x", pool, accounting=accounting)
        have = {d.name: d.count for d in pool.node_class.devices}
        if any(count > have.get(name, 0) for a in book.allocations for name, count in a.shape.devices):
            assert book.problems, "what cannot be true for the class is said"
        else:
            assert book.over_committed != packs(replace(pool, allocations=book.allocations), cluster)
        if book.over_committed:
            assert alone[pool.name].allocations == book.allocations, "over-commit is never made worse"
        for name, free in book.free:
            assert 0 <= free <= pool.nodes.present * next(d.count for d in pool.node_class.devices if d.name == name)


class Interleaving:
    """Deployments of one role and two clusters whose reconciles happen in any order, from snapshots of any age."""

    def __init__(self, nodes: int, deployments: list[tuple[int, int]]) -> None:
        self.deployments = deployments
        self.base = {name: given_.cluster(name, given_.pool(nodes, SMALL)) for name in ("c0", "c1")}
        self.seen = dict(self.base)
        self.replicas = {number: Current() for number in range(len(deployments))}
        self.snapshots = dict.fromkeys(self.replicas, Fleet(tuple(self.seen.values())))

    def look(self, number: int) -> None:
        self.snapshots[number] = Fleet(tuple(self.seen.values()))

    def propose(self, number: int) -> None:
        size, count = self.deployments[number]
        intent = Intent(f"ns{number}", "d", count)
        demand = given_.demand(given_.role(size))
        plan = scheduler.schedule(self.snapshots[number], demand, intent, self.replicas[number])
        self.replicas[number] = given_.as_current(plan, self.replicas[number])

    def admit(self, name: str) -> None:
        base = self.base[name]
        account = admission.admit(base.pools, base.accounting, self._claims_on(name))
        assert not account.over_committed
        books = zip(base.pools, account.pools, strict=True)
        self.seen[name] = replace(
            base,
            pools=tuple(replace(p, allocations=book.allocations) for p, book in books),
            admitted=frozenset(v.key for v in account.verdicts if v.admission is Admission.ADMITTED),
            refused={v.key: given_.note(v.message) for v in account.verdicts if v.admission is Admission.REFUSED},
        )

    def _claims_on(self, name: str) -> list[ReplicaClaim]:
        return [
            ReplicaClaim(
                f"ns{number}/{r.name}", r.holdings, 0, r.created, f"ns{number}/{r.name}" in self.seen[name].admitted
            )
            for number, mine in self.replicas.items()
            for r in mine.replicas
            for key in [f"ns{number}/{r.name}"]
            if r.cluster == name
        ]

    def settles(self) -> bool:
        """Whether in-order reconciles come to rest."""
        before = ""
        for _ in range(12):
            for number in self.replicas:
                self.look(number)
                self.propose(number)
            for name in self.base:
                self.admit(name)
            now = repr((self.seen, self.replicas))
            if now == before:
                return True
            before = now
        return False


@LAW
@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=2, max_size=4),
    st.integers(0, 2**16),
)
def test_interleaved_reconciles_never_overcommit(nodes: int, deployments: list[tuple[int, int]], seed: int) -> None:
    """Deployments propose from snapshots of any age, clusters admit at any moment; nothing is admitted twice over."""
    chance = random.Random(seed)
    world = Interleaving(nodes, deployments)
    for _ in range(25):
        number, name = chance.randrange(len(deployments)), chance.choice(sorted(world.base))
        action = chance.choice([world.look, world.propose, world.propose, None])
        if action is None:
            world.admit(name)
        else:
            action(number)
    assert world.settles(), "proposals and refusals chase each other for ever"
    for cluster in world.seen.values():
        for pool in cluster.pools:
            assert packs(pool, cluster)
