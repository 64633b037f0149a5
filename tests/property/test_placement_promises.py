"""Laws of what lasts: through edits, drains, losses and scalings, after refusals, whatever things are called."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from modelplane import placement
from modelplane.placement import Explanation
from modelplane.placement.decision import Plan, State, World
from modelplane.placement.diagnosis import changes
from modelplane.placement.snapshot import (
    Allocation,
    Cluster,
    Current,
    Demand,
    Effect,
    Fleet,
    Intent,
    Pool,
    RoleDemand,
    SpreadConstraint,
    Strategy,
    Taint,
)
from modelplane.topology.shape import Topology
from modelplane.workload.model import Role
from tests.support import placements as given_
from tests.support.laws import BIG, LAW, MIXED, SMALL, allocations, place
from tests.support.races import Deployed, Race

DRAIN = Taint("maintenance", Effect.NO_EXECUTE)
PLAIN = given_.node_class(given_.gpu(8), name="plain")
HALF = given_.node_class(given_.gpu(4), name="half")
OLD = given_.node_class(given_.gpu(8, "81559Mi"), name="old")


# --- moves keep what was promised -------------------------------------------------------------------------------------


@st.composite
def regional(draw: st.DrawFn) -> Fleet:
    """Clusters of two or three regions, some of them short of room."""
    found = []
    for number in range(draw(st.integers(2, 6))):
        nodes = draw(st.sampled_from([0, 1, 2, 2, 4, 6]))
        one = given_.pool(nodes, draw(st.sampled_from([BIG, SMALL, PLAIN])), draw(allocations), name="p")
        found.append(Cluster(f"c{number}", (one,), labels={"region": draw(st.sampled_from(["eu", "us", "ap"]))}))
    return Fleet(tuple(found))


@st.composite
def constrained(draw: st.DrawFn) -> Intent:
    return given_.intent(
        draw(st.integers(1, 6)),
        strategy=draw(st.sampled_from(list(Strategy))),
        spread=draw(st.sampled_from([(SpreadConstraint("region", 1),), (SpreadConstraint("region", 2),), ()])),
        max_replicas_per_cluster=draw(st.sampled_from([0, 0, 1, 2, 3])),
    )


events = st.lists(
    st.tuples(st.sampled_from(["edit", "edit", "drain", "lose", "scale"]), st.integers(0, 7)), min_size=1, max_size=5
)


class Deployment:
    """One deployment through a sequence of events; what it proposes is admitted and comes up a step later."""

    def __init__(self, fleet: Fleet, demand: Demand, intent: Intent) -> None:
        self.fleet, self.demand, self.intent = fleet, demand, intent
        self.current = given_.NOTHING

    def published(self) -> Fleet:
        """The fleet with what this deployment has on it."""
        return Fleet(tuple(self._published(cluster) for cluster in self.fleet.clusters))

    def _published(self, cluster: Cluster) -> Cluster:
        mine = [one for one in self.current.replicas if one.cluster == cluster.name]
        pools = []
        for pool in cluster.pools:
            held = tuple(h for one in mine for h in one.holdings if h.pool == pool.name)
            more = tuple(Allocation(h.shape, h.pods, h.nodes_per_worker) for h in held)
            pools.append(replace(pool, allocations=(*pool.allocations, *more)))
        keys = frozenset(f"{given_.NAMESPACE}/{one.name}" for one in mine)
        return replace(cluster, pools=tuple(pools), admitted=keys)

    def settle(self) -> None:
        for _ in range(80):
            plan = place(self.published(), self.demand, self.intent, self.current)
            self.keeps_spread(plan)
            after = given_.as_current(plan, self.current)
            known = {one.name for one in self.current.replicas}
            after = Current(tuple(replace(one, ready=one.name in known, bound=True) for one in after.replicas))
            if after == self.current:
                return
            self.current = after
        raise AssertionError("still moving")

    def keeps_spread(self, plan: Plan) -> None:
        """Law: what is put down keeps the constraint, counted without those that have a successor."""
        leaving = {one.replaces for one in plan.composed}
        staying = [one for one in plan.composed if one.holds_place and one.name not in leaving]
        new = [one for one in staying if one.state in (State.NEW, State.MOVED)]
        limit = self.intent.max_replicas_per_cluster
        for one in new:
            assert not limit or sum(other.cluster == one.cluster for other in staying) <= limit
        for constraint in self.intent.spread:
            counts = self.counts([one.cluster for one in staying])
            for one in new:
                region = self.region(one.cluster)
                assert region is not None
                assert counts[region] - min(counts[other] for other in self.countable()) <= constraint.max_skew

    def region(self, name: str) -> str | None:
        return next((one.labels["region"] for one in self.fleet.clusters if one.name == name), None)

    def counts(self, places: Iterable[str]) -> dict[str, int]:
        found = {cluster.labels["region"]: 0 for cluster in self.fleet.clusters}
        for name in places:
            region = self.region(name)
            if region is not None:
                found[region] += 1
        return found

    def countable(self) -> set[str]:
        return {c.labels["region"] for c in self.fleet.clusters if not c.taints and self.serves(c)}

    def serves(self, cluster: Cluster) -> bool:
        node_class = cluster.pools[0].node_class
        assert node_class is not None
        return node_class.devices[0].count >= self.demand.roles[0].requests[0].count

    def happens(self, event: str, number: int) -> None:
        clusters = self.fleet.clusters
        if event == "edit":
            self.current = Current(tuple(replace(one, outdated=True) for one in self.current.replicas))
        elif event == "scale":
            self.intent = replace(self.intent, replicas=number)
        elif clusters:
            hit = clusters[number % len(clusters)]
            rest = tuple(one for one in clusters if one is not hit)
            self.fleet = Fleet((*rest, replace(hit, taints=(DRAIN,))) if event == "drain" else rest)

    # --- what could be ------------------------------------------------------------------------------------------------

    def could_hold(self) -> bool:
        """Whether a placement of all replicas exists that holds limits and spread: places are counted, not placed."""
        room = {cluster.name: self.room(cluster) for cluster in self.fleet.clusters if not cluster.taints}
        wanted = self.intent.replicas
        if not self.intent.spread:
            return sum(room.values()) >= wanted
        regions = dict.fromkeys(self.countable(), 0)
        for name, most in room.items():
            region = self.region(name)
            if region in regions:
                regions[region] += most
        skew = self.intent.spread[0].max_skew
        return any(
            all(most >= least for most in regions.values())
            and least * len(regions) <= wanted <= sum(min(most, least + skew) for most in regions.values())
            for least in range(wanted + 1)
        )

    def room(self, cluster: Cluster) -> int:
        alone = replace(self.intent, replicas=8, spread=(), max_replicas_per_cluster=0)
        most = place(Fleet((cluster,)), self.demand, alone).placed
        limit = self.intent.max_replicas_per_cluster
        return min(most, limit) if limit else most

    def holds(self) -> bool:
        """Whether limits and spread hold at rest, and nothing is missing."""
        places = [one.cluster for one in self.current.replicas]
        limit = self.intent.max_replicas_per_cluster
        if len(places) < self.intent.replicas or (limit and any(places.count(name) > limit for name in places)):
            return False
        if not self.intent.spread:
            return True
        counts = self.counts(places)
        countable = self.countable()
        most = max((counts[region] for region in countable), default=0)
        return most - min((counts[region] for region in countable), default=0) <= self.intent.spread[0].max_skew


@LAW
@given(regional(), st.integers(1, 8), st.integers(1, 2), constrained(), events)
def test_moves_end_where_fresh_placing_could_have(
    fleet: Fleet, devices: int, pods: int, intent: Intent, happened: list[tuple[str, int]]
) -> None:
    """After any sequence of edits, drains, losses and scalings skew and limits hold wherever a placement holds them."""
    demand = given_.demand(given_.role(devices, pods))
    deployment = Deployment(fleet, demand, intent)
    deployment.settle()
    could = deployment.could_hold()
    assert deployment.holds() or not could
    for event, number in happened:
        deployment.happens(event, number)
        deployment.settle()
        # What could not be held in between may have left traces that only a rebalancing takes away.
        could = could and deployment.could_hold()
        assert deployment.holds() or not could, (event, number, deployment.current)


# --- a refusal is the beginning of another try ------------------------------------------------------------------------


@st.composite
def slots(draw: st.DrawFn) -> list[Cluster]:
    """Clusters of nodes of four and eight, with one kind of device or another."""
    found = []
    for number in range(draw(st.integers(1, 4))):
        pools = [
            given_.pool(draw(st.integers(0, 2)), draw(st.sampled_from([PLAIN, HALF, MIXED, OLD])), name=f"p{index}")
            for index in range(draw(st.integers(1, 3)))
        ]
        found.append(Cluster(f"c{number}", tuple(pools), labels={"tier": draw(st.sampled_from(["a", "b"]))}))
    return found


@st.composite
def rivals(draw: st.DrawFn, sizes: tuple[int, ...]) -> list[Deployed]:
    """Deployments of one or two roles that all want pods of one of the sizes."""
    found = []
    for number in range(draw(st.integers(2, 5))):
        kinds = draw(st.sampled_from([(Role.DECODE,), (Role.DECODE,), (Role.DECODE, Role.PREFILL)]))
        roles = [_role(draw(st.sampled_from(sizes)), draw(st.integers(1, 2)), kind) for kind in kinds]
        intent = Intent(
            f"ns{number}",
            f"d{number}",
            draw(st.integers(1, 3)),
            strategy=draw(st.sampled_from(list(Strategy))),
            priority=draw(st.sampled_from([0, 0, 5, 10])),
            max_replicas_per_cluster=0,
        )
        found.append(Deployed(intent, Demand(tuple(roles))))
    return found


def _role(devices: int, workers: int, kind: Role) -> RoleDemand:
    """Workers of one pod, which could also have fewer devices on more nodes."""
    splits = [Topology(size, devices // size) for size in (8, 4, 2) if size < devices and devices % size == 0]
    return given_.role(devices, workers, kind=kind, splits=tuple(splits))


def bound(deployments: Iterable[Deployed]) -> int:
    """The rounds after which a race has ended: in each, every contended cluster admits one at least."""
    return sum(one.intent.replicas for one in deployments) + 2


@LAW
@given(slots(), rivals((4,)), st.booleans())
def test_all_are_placed_in_bounded_rounds_where_there_is_room(
    clusters: list[Cluster],
    racing: list[Deployed],
    on_one: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    """As many places of one size as are wanted and not one more, a round per replica at most: nothing waits for ever.

    Two roles of a replica stand on one cluster, so where there are such all pools are of one cluster.
    """
    racing = [_of_single_pods(one, limited=on_one, roles=2 if on_one else 1) for one in racing]
    if on_one:
        pools = [pool for cluster in clusters for pool in cluster.pools]
        clusters = [Cluster("c", tuple(replace(pool, name=f"p{index}") for index, pool in enumerate(pools)))]
    wanted = sum(one.intent.replicas * len(one.demand.roles) for one in racing)
    first = clusters[0]
    missing = max(0, wanted - sum(map(places, clusters)))
    clusters[0] = replace(first, pools=(*first.pools, given_.pool(missing, HALF, name="more")))
    race = Race({cluster.name: cluster for cluster in clusters}, racing)
    race.settle(bound(racing))
    assert race.placed() == {one.key: one.intent.replicas for one in racing}


def _of_single_pods(one: Deployed, *, limited: bool, roles: int) -> Deployed:
    """The deployment with one pod a role, and as many replicas allowed on a cluster as it has."""
    most = one.intent.replicas if limited else 0
    kept = tuple(replace(role, pods=1) for role in one.demand.roles[:roles])
    return replace(one, intent=replace(one.intent, max_replicas_per_cluster=most), demand=Demand(kept))


def places(cluster: Cluster) -> int:
    """The places for pods of four devices."""
    classes = [(pool.nodes.usable, pool.node_class) for pool in cluster.pools]
    return sum(nodes * (one.devices[0].count // 4) for nodes, one in classes if one is not None)


@LAW
@given(slots(), rivals((1, 2, 3, 4, 8)))
def test_a_race_ends_and_what_is_missing_fits_nowhere(clusters: list[Cluster], racing: list[Deployed]) -> None:
    race = Race({cluster.name: cluster for cluster in clusters}, racing)
    race.settle(bound(racing))
    placed = race.placed()
    for one in race.deployments:
        explained = placement.explain(race.fleet, one.demand, one.intent, one.current)
        assert explained.plan.placed == placed[one.key]
        if explained.plan.shortfall is not None:
            assert not any(verdict.fits for verdict in explained.verdicts)
            assert all(verdict.reason is not None and verdict.detail for verdict in explained.verdicts)


# --- names decide nothing ---------------------------------------------------------------------------------------------


def renamed(clusters: Iterable[Cluster]) -> list[Cluster]:
    """The clusters with the names of all, and of the pools of each, reversed; the order in the list too."""
    found = list(clusters)
    other = [one.name for one in reversed(found)]
    return [replace(one, name=name, pools=_renamed(one.pools)) for one, name in zip(found, other, strict=True)][::-1]


def _renamed(pools: tuple[Pool, ...]) -> tuple[Pool, ...]:
    other = [pool.name for pool in reversed(pools)]
    return tuple(replace(pool, name=name) for pool, name in zip(pools, other, strict=True))[::-1]


def tier(intent: Intent, number: int) -> Intent:
    labels = (("tier", "ab"[number % 2]),) if number % 3 else ()
    return replace(intent, selector=replace(intent.selector, match_labels=labels))


@LAW
@given(slots(), rivals((1, 2, 3, 4, 8)), st.booleans(), st.integers(0, 2**16))
def test_names_decide_neither_who_is_placed_nor_how_many(
    clusters: list[Cluster],
    racing: list[Deployed],
    together: bool,  # noqa: FBT001 - drawn by hypothesis
    seed: int,
) -> None:
    """With all names reversed each deployment has as many replicas, one after the other and all at once."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    racing = [replace(one, intent=tier(one.intent, chance.randrange(6))) for one in racing]
    reversed_names = [one.intent.deployment for one in reversed(racing)]
    other = [
        replace(one, intent=replace(one.intent, deployment=name, namespace=name))
        for one, name in zip(racing, reversed_names, strict=True)
    ]
    counts = []
    for of, wants in ((list(clusters), racing), (renamed(clusters), other)):
        race = Race({cluster.name: cluster for cluster in of}, list(wants))
        if together:
            race.settle(bound(wants))
        else:
            for number in range(len(wants)):
                race.round += 1
                race.propose(race.fleet, number)
                for name in race.base:
                    race.admit(name)
        placed = race.placed()
        counts.append([placed[one.key] for one in wants])
    assert counts[0] == counts[1]


# --- what is said to help helps ---------------------------------------------------------------------------------------


def changed(race: Race, number: int, explained: Explanation) -> tuple[Race, Deployed]:
    """The race with the closest miss's changes made for real to the cluster and to the deployment."""
    one = race.deployments[number]
    closest = explained.closest
    assert closest is not None
    world = changes.applied(World(race.seen[closest.cluster], one.demand, one.intent), closest.changes)
    refused = {} if world.pardoned else world.cluster.refused
    seen = {**race.seen, closest.cluster: replace(world.cluster, refused=refused)}
    return replace(race, seen=seen), replace(one, demand=world.demand, intent=world.intent)


@LAW
@given(slots(), rivals((1, 2, 3, 4, 8, 12, 16)), st.integers(0, 3), st.integers(0, 2), st.integers(0, 2**16))
def test_the_change_that_is_named_places_more(
    clusters: list[Cluster], racing: list[Deployed], rounds: int, limit: int, seed: int
) -> None:
    """With several missing, with refusals in the way, in the midst of a race: applied, it places one more at least.

    It speaks of the fleet once the plan is carried out: what is only proposed might go elsewhere in the changed one.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    spread = (SpreadConstraint("tier", 1),) if chance.random() < 0.5 else ()
    racing = [
        replace(
            one, intent=replace(tier(one.intent, chance.randrange(6)), max_replicas_per_cluster=limit, spread=spread)
        )
        for one in racing
    ]
    race = Race({cluster.name: cluster for cluster in clusters}, racing)
    for _ in range(rounds):
        race.run_round()
    for number, one in enumerate(race.deployments):
        explained = placement.explain(race.fleet, one.demand, one.intent, one.current)
        short = explained.plan.shortfall
        assert all(verdict.fits or (verdict.reason and verdict.detail) for verdict in explained.verdicts)
        proposed = any(replica.state in (State.NEW, State.MOVED) for replica in explained.plan.composed)
        if short is None or explained.closest is None or proposed:
            continue
        other, wants = changed(race, number, explained)
        after = placement.schedule(other.fleet, wants.demand, wants.intent, wants.current)
        assert after.placed > explained.plan.placed, (explained.closest, after)
