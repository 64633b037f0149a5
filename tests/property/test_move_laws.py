"""Moves that are named make room: on random fleets, judged by those who admit and by trying everything."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from modelplane import placement
from modelplane.labels import LabelSelector
from modelplane.placement import Location, Move, Party, Scene
from modelplane.placement.decision import Admission
from modelplane.placement.snapshot import (
    Accounting,
    Cluster,
    Current,
    CurrentReplica,
    Demand,
    Intent,
    Pool,
    ReplicaClaim,
    SpreadConstraint,
)
from tests.support import placements as given_
from tests.support.laws import LAW
from tests.support.races import Deployed, Race

EIGHT = given_.node_class(given_.gpu(8), name="eight")
FOUR = given_.node_class(given_.gpu(4), name="four")


@st.composite
def clusters(draw: st.DrawFn, name: str) -> Cluster:
    return Cluster(
        name,
        tuple(
            given_.pool(draw(st.sampled_from([0, 1, 1, 1, 2])), draw(st.sampled_from([EIGHT, FOUR])), name=f"p{index}")
            for index in range(draw(st.integers(1, 2)))
        ),
        labels={"region": draw(st.sampled_from(["eu", "us"])), "tier": draw(st.sampled_from(["gold", "tin"]))},
        accounting=draw(st.sampled_from([Accounting.DEVICE] * 4 + [Accounting.NODE])),
    )


@st.composite
def deployments(draw: st.DrawFn, name: str) -> Deployed:
    tier = draw(st.sampled_from(["", "", "gold", "tin"]))
    return Deployed(
        Intent(
            f"ns-{name}",
            name,
            draw(st.integers(1, 3)),
            selector=LabelSelector((("tier", tier),) if tier else ()),
            spread=draw(st.sampled_from([(), (), (SpreadConstraint("region", 1),)])),
            max_replicas_per_cluster=draw(st.sampled_from([0, 0, 1])),
            priority=draw(st.sampled_from([0, 5])),
        ),
        Demand((given_.role(draw(st.sampled_from([1, 2, 3, 4, 4, 6, 8])), draw(st.sampled_from([1, 1, 1, 2]))),)),
    )


@st.composite
def worlds(draw: st.DrawFn) -> Race:
    """Replicas that stand anywhere they may, as after a long time of coming and going; what has no place waits."""
    found = [draw(clusters(f"c{index}")) for index in range(draw(st.integers(1, 4)))]
    racing = [draw(deployments(f"d{index}")) for index in range(draw(st.integers(1, 4)))]
    # Last comes one that asks for much: of whole nodes there are none left first.
    racing.append(Deployed(Intent("ns-big", "big"), Demand((given_.role(draw(st.sampled_from([4, 8, 8]))),))))
    referee = Referee(Race({one.name: one for one in found}, racing)).with_replicas(0, [])
    everywhere = [(cluster.name, pool) for cluster in found for pool in cluster.pools if pool.node_class]
    for number, one in enumerate(racing):
        mine: list[CurrentReplica] = []
        for index in range(one.intent.replicas):
            for cluster, pool in draw(st.permutations(everywhere)):
                if not shapes(one, pool) or not referee.allows(one, mine, cluster):
                    continue
                held = given_.holding(one.demand, pool.name)
                more = given_.replica(index, cluster, *held, bound=True, name=f"{one.intent.deployment}-{index}")
                after = referee.with_replicas(number, [*mine, replace(more, name=f"{more.name}-next")])
                if f"{one.intent.namespace}/{more.name}-next" in after.race.seen[cluster].admitted:
                    mine.append(more)
                    referee = referee.with_replicas(number, mine)
                    break
    return referee.race


def scene_of(race: Race) -> Scene:
    return Scene.of(race.fleet, [Party(one.demand, one.intent, one.current) for one in race.deployments])


def lacking(race: Race) -> Iterator[Deployed]:
    for one in race.deployments:
        if placed(race, one) < one.intent.replicas:
            yield one


def placed(race: Race, one: Deployed) -> int:
    return placement.schedule(race.fleet, one.demand, one.intent, one.current).placed


# --- a referee who knows no board -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Referee:
    """A race in which one replica after the other is moved, each judged by its cluster and its deployment."""

    race: Race

    def at(self, party: str, name: str) -> tuple[int, CurrentReplica]:
        number = next(i for i, one in enumerate(self.race.deployments) if one.key == party)
        return number, next(one for one in self.race.deployments[number].current.replicas if one.name == name)

    def moved(self, move: Move) -> Referee | None:
        """The race after a move, None where the successor may not stand beside its predecessor."""
        number, old = self.at(move.party, move.replica)
        assert (old.cluster, old.holdings) == move.source
        mine = self.race.deployments[number]
        others = [one for one in mine.current.replicas if one.name != move.replica]
        if not self.allows(mine, others, move.target.cluster):
            return None
        new = replace(old, name=f"{old.name}-next", cluster=move.target.cluster, holdings=move.target.holdings)
        beside = self.with_replicas(number, [*others, new] if move.makes_way else [*others, old, new])
        if f"{mine.intent.namespace}/{new.name}" not in beside.race.seen[new.cluster].admitted:
            return None
        return self.with_replicas(number, [*others, replace(new, name=old.name)])

    def with_replicas(self, number: int, replicas: list[CurrentReplica]) -> Referee:
        deployments = list(self.race.deployments)
        deployments[number] = replace(deployments[number], current=Current(tuple(replicas)))
        seen = {}
        for name, base in self.race.base.items():
            claims = [
                ReplicaClaim(f"{one.intent.namespace}/{r.name}", r.holdings, 0, "", not r.name.endswith("-next"))
                for one in deployments
                for r in one.current.replicas
                if r.cluster == name
            ]
            account = placement.admit(base.pools, base.accounting, claims)
            assert not account.over_committed
            seen[name] = replace(
                base,
                pools=tuple(
                    replace(pool, allocations=book.allocations)
                    for pool, book in zip(base.pools, account.pools, strict=True)
                ),
                admitted=frozenset(v.key for v in account.verdicts if v.admission is Admission.ADMITTED),
            )
        return Referee(Race(self.race.base, deployments, seen))

    def allows(self, mine: Deployed, others: list[CurrentReplica], target: str) -> bool:
        """Labels, limits and spread, in the words of the deployment."""
        clusters = self.race.base
        intent = mine.intent
        if any(clusters[target].labels[key] != value for key, value in intent.selector.match_labels):
            return False
        limit = intent.max_replicas_per_cluster
        if limit and sum(one.cluster == target for one in others) >= limit:
            return False
        for constraint in intent.spread:
            counts = Counter(clusters[one.cluster].labels["region"] for one in others)
            open_ = {
                one.labels["region"]
                for one in clusters.values()
                if all(one.labels[key] == value for key, value in intent.selector.match_labels)
                and any(shapes(mine, pool) for pool in one.pools)
            }
            value = clusters[target].labels["region"]
            if counts[value] + 1 - min((counts[region] for region in open_), default=0) > constraint.max_skew:
                return False
        return True

    def options(self) -> Iterator[Move]:
        """Every move of every replica to every pool."""
        for one in self.race.deployments:
            for old in one.current.replicas:
                for cluster in self.race.base.values():
                    for pool in cluster.pools:
                        if shapes(one, pool):
                            target = given_.holding(one.demand, pool.name)
                            source = Location(old.cluster, old.holdings)
                            to = Location(cluster.name, target)
                            if to != source:
                                yield Move(one.key, old.name, source, to)

    def fewest(self, asker: str, most: int) -> int | None:
        """The fewest moves, successor first, after which the asker places more; None where `most` do not."""
        wants = next(one for one in self.race.deployments if one.key == asker)
        before = placed(self.race, wants)
        worlds: list[Referee] = [self]
        for count in range(1, most + 1):
            worlds = [after for world in worlds for move in world.options() if (after := world.moved(move)) is not None]
            for world in worlds:
                if placed(world.race, next(o for o in world.race.deployments if o.key == asker)) > before:
                    return count
        return None


def shapes(mine: Deployed, pool: Pool) -> bool:
    most = pool.node_class.devices[0].count if pool.node_class else 0
    return all(sum(request.count for request in role.requests) <= most for role in mine.demand.roles)


@LAW
@given(worlds())
def test_moves_that_are_named_make_room_one_after_the_other(race: Race) -> None:
    """Each is admitted by its cluster beside all that stands there, keeps what its deployment asks; the last helps."""
    for one in lacking(race):
        found = placement.smallest_moves(scene_of(race), one.key)
        if not found.moves or any(move.makes_way for move in found.moves):
            continue
        referee: Referee | None = Referee(race)
        for move in found.moves:
            assert referee is not None
            referee = referee.moved(move)
            assert referee is not None, (move, found)
        assert referee is not None
        assert placed(referee.race, next(o for o in referee.race.deployments if o.key == one.key)) > placed(race, one)


@LAW
@given(worlds())
def test_no_smaller_set_of_moves_helps(race: Race) -> None:
    """Against trying everything, for up to two moves."""
    for one in lacking(race):
        found = placement.smallest_moves(scene_of(race), one.key)
        fewest = Referee(race).fewest(one.key, 2)
        if fewest is not None:
            assert len(found.moves) == fewest, (fewest, found)
            assert not any(move.makes_way for move in found.moves)
        elif found.moves and not any(move.makes_way for move in found.moves):
            assert len(found.moves) > 2, found


@LAW
@given(worlds(), st.integers(0, 2**16))
def test_the_order_of_inputs_does_not_matter(race: Race, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    for one in lacking(race):
        found = placement.smallest_moves(scene_of(race), one.key)
        shuffled = [
            replace(d, current=Current(tuple(chance.sample(d.current.replicas, len(d.current.replicas)))))
            for d in chance.sample(race.deployments, len(race.deployments))
        ]
        clusters = [
            replace(c, pools=tuple(chance.sample(c.pools, len(c.pools))))
            for c in chance.sample(list(race.seen.values()), len(race.seen))
        ]
        other = Race({c.name: c for c in clusters}, shuffled)
        assert placement.smallest_moves(scene_of(other), one.key) == found
