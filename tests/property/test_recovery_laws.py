"""Replicas that their clusters keep down: on random fleets with random failures, who moves, when, and who never."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.placement.decision import State
from modelplane.placement.snapshot import Current, CurrentReplica, NodeCounts, ReplicaClaim
from modelplane_functions import cluster_recovery
from modelplane_functions.exchange import Observed
from tests.support import placements as given_
from tests.support.laws import LAW
from tests.support.races import Deployed, Race

pytestmark = pytest.mark.slow
NAMESPACE = given_.NAMESPACE


@dataclass
class Failing(Race):
    """A race in which some replicas are kept down by their clusters, and the clusters say whose turn it is."""

    down: set[str] = field(default_factory=set)
    """Keys of replicas that are down for long enough."""

    def turn(self, name: str) -> list[str]:
        """Return whose turn it is on a cluster, as its function decides it."""
        claims = [
            ReplicaClaim(f"{NAMESPACE}/{one.name}", one.holdings, 0, one.created, holds=True, recovers=True)
            for mine, plan in zip(self.deployments, self.plans, strict=True)
            for one in mine.current.replicas
            if one.cluster == name and one.name in plan
        ]
        before = sorted(self.seen[name].recovering)
        observed = Observed({"metadata": {"name": name}, "status": {"recovering": before}})
        return list(cluster_recovery.encode(observed, claims).get("recovering", []))

    def run_round(self) -> None:
        self.round += 1
        fleet = self.fleet
        made = [self.propose(fleet, number) for number in range(len(self.deployments))]
        self.plans = [plan.recovers for plan in made]
        turns = {name: self.turn(name) for name in self.base}
        for name in self.base:
            self.admit(name)
            self.seen[name] = replace(self.seen[name], recovering=frozenset(turns[name]))
        self.deployments = [self._bound(mine) for mine in self.deployments]

    plans: list[tuple[str, ...]] = field(default_factory=list)

    def _bound(self, mine: Deployed) -> Deployed:
        found = super()._bound(mine)
        return replace(found, current=Current(tuple(self._judged_one(one) for one in found.current.replicas)))

    def _judged_one(self, one: CurrentReplica) -> CurrentReplica:
        is_down = one.name in self.down
        return replace(
            one,
            down=is_down,
            failing="it does not serve (NodeLost)" if is_down else "",
            ready=one.ready and not is_down,
        )

    def moves(self) -> list[tuple[str, str]]:
        """Return (deployment, cluster of the one that leaves) of each move that is under way."""
        return [
            (mine.key, there[one.replaces].cluster)
            for mine in self.deployments
            for there in [{each.name: each for each in mine.current.replicas}]
            for one in mine.current.replicas
            if one.replaces in there
        ]


@st.composite
def races(draw: st.DrawFn) -> Failing:
    """Six to nine clusters of four nodes, and deployments that have settled on them."""
    clusters = draw(st.integers(6, 9))
    names = [f"c{number}" for number in range(clusters)]
    base = {name: given_.cluster(name, given_.pool(NodeCounts(4, 4, allocatable=4))) for name in names}
    deployments = [
        Deployed(replace(given_.intent(draw(st.integers(1, 4))), deployment=f"d{number}"), given_.demand())
        for number in range(draw(st.integers(1, 4)))
    ]
    race = Failing(base, deployments)
    race.settle(8)
    return race


def _standing(race: Failing) -> list[tuple[str, str, str]]:
    return [(mine.key, one.name, one.cluster) for mine in race.deployments for one in mine.current.replicas]


def _lose(race: Failing, name: str, nodes: int) -> None:
    """Let nodes of a cluster take nothing, and keep as many of its replicas down."""
    pool = race.base[name].pools[0]
    counts = NodeCounts(4, 4, allocatable=4 - nodes)
    race.base[name] = replace(race.base[name], pools=(replace(pool, nodes=counts),))
    race.seen[name] = replace(race.seen[name], pools=tuple(replace(one, nodes=counts) for one in race.seen[name].pools))
    there = [replica for _, replica, cluster in _standing(race) if cluster == name]
    race.down |= set(sorted(there)[:nodes])
    race.deployments = [race._bound(mine) for mine in race.deployments]


@LAW
@given(races(), st.data())
def test_who_is_kept_down_moves_one_at_a_time_and_nobody_serves_less(race: Failing, data: st.DataObject) -> None:
    broken = data.draw(st.sampled_from(sorted(race.base)))
    _lose(race, broken, data.draw(st.integers(1, 2)))
    others = {replica for _, replica, cluster in _standing(race) if cluster != broken}
    serving = Counter(m.key for m in race.deployments for one in m.current.replicas if one.ready)
    for _ in range(40):
        state = repr((race.seen, [one.current for one in race.deployments]))
        race.run_round()
        moves = race.moves()
        assert max(Counter(key for key, _ in moves).values(), default=0) <= 1
        assert max(Counter(cluster for _, cluster in moves).values(), default=0) <= 1
        now = Counter(m.key for m in race.deployments for one in m.current.replicas if one.ready)
        assert all(now[key] >= count for key, count in serving.items())
        assert others <= {replica for _, replica, _ in _standing(race)}, "only who is down leaves"
        if repr((race.seen, [one.current for one in race.deployments])) == state:
            break
    else:
        raise AssertionError("still moving")
    for mine in race.deployments:
        down = [one for one in mine.current.replicas if one.name in race.down]
        assert not down or len(down) * 3 >= mine.intent.replicas > 1, "there is room everywhere"
        assert len(mine.current.replicas) == mine.intent.replicas


@LAW
@given(races(), st.data())
def test_clusters_that_blink_undo_no_move_and_move_nobody_else(race: Failing, data: st.DataObject) -> None:
    broken = data.draw(st.sampled_from(sorted(race.base)))
    _lose(race, broken, data.draw(st.integers(1, 2)))
    others = {replica for _, replica, cluster in _standing(race) if cluster != broken}
    serving = Counter(m.key for m in race.deployments for one in m.current.replicas if one.ready)
    blinks = data.draw(st.lists(st.sets(st.sampled_from(sorted(race.base)), max_size=2), min_size=4, max_size=12))
    begun: set[tuple[str, str]] = set()
    for unready in (*blinks, set(), set(), set()):
        for name in race.base:
            race.base[name] = replace(race.base[name], ready=name not in unready)
            race.seen[name] = replace(race.seen[name], ready=name not in unready)
        race.run_round()
        moves = race.moves()
        assert max(Counter(key for key, _ in moves).values(), default=0) <= 1
        now = Counter(m.key for m in race.deployments for one in m.current.replicas if one.ready)
        assert all(now[key] >= count for key, count in serving.items())
        there = {replica for _, replica, _ in _standing(race)}
        assert others <= there, "only who is down leaves"
        assert {new for _, new in begun} <= there, "a successor stays"
        begun |= {
            (one.replaces, one.name) for m in race.deployments for one in m.current.replicas if one.replaces is not None
        }


@LAW
@given(races(), st.data())
def test_an_outage_of_a_third_of_the_clusters_moves_no_replica(race: Failing, data: st.DataObject) -> None:
    is_reached = data.draw(st.booleans())
    count = -(-len(race.base) // 3)
    names = data.draw(st.permutations(sorted(race.base)))[:count]
    for name in names:
        _lose(race, name, 4)
        if not is_reached:
            race.base[name] = replace(race.base[name], ready=False)
            race.seen[name] = replace(race.seen[name], ready=False)
    before = _standing(race)
    for _ in range(4):
        race.run_round()
        assert _standing(race) == before
    for mine in race.deployments:
        plan = race.propose(race.fleet, race.deployments.index(mine))
        down = [one.name for one in mine.current.replicas if one.name in race.down]
        told = {one.replica: one.message for one in plan.blocked}
        assert not is_reached or told.keys() == set(down)
        assert all("no replica is moved for failures" in message for message in told.values())


@LAW
@given(races(), st.integers(1, 3), st.data())
def test_a_replica_that_recovers_keeps_its_place_and_its_successor_goes(
    race: Failing, rounds: int, data: st.DataObject
) -> None:
    before = _standing(race)
    broken = data.draw(st.sampled_from(sorted({cluster for _, _, cluster in before})))
    _lose(race, broken, 1)
    for _ in range(rounds):
        race.run_round()
        # Nothing new comes up meanwhile.
        known = {name for _, name, _ in before}
        race.deployments = [
            replace(
                m, current=Current(tuple(replace(r, ready=r.ready and r.name in known) for r in m.current.replicas))
            )
            for m in race.deployments
        ]
    race.down.clear()
    race.deployments = [
        replace(
            m,
            current=Current(
                tuple(
                    replace(r, down=False, failing="", ready=r.name in {name for _, name, _ in before})
                    for r in m.current.replicas
                )
            ),
        )
        for m in race.deployments
    ]
    race.settle(12)
    assert _standing(race) == before


def _one(**more: Any) -> CurrentReplica:
    return given_.replica(0, "a", ready=False, down=True, failing="it does not serve (NodeLost)", **more)


def _fleet(**of_a: Any) -> Any:
    others = [given_.cluster(name) for name in "bcde"]
    return given_.fleet(given_.cluster("a", **of_a), *others)


def test_nothing_moves_before_its_turn_and_the_offer_is_made() -> None:
    have = given_.current(_one())
    waits = given_.plan(_fleet(), have=have)
    assert (given_.on(waits), waits.recovers) == (["a"], ("llama-0",))
    moves = given_.plan(_fleet(recovering=frozenset({f"{NAMESPACE}/llama-0"})), have=have)
    assert {one.name: (one.cluster, one.state) for one in moves.replicas} == {
        "llama-0": ("a", State.RETAINED), "llama-1": ("b", State.MOVED),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("of_a", "replica"),
    [
        pytest.param({"ready": False}, {}, id="not reached"),
        pytest.param({}, {"failing": ""}, id="not long enough"),
        pytest.param({}, {"doubted": True}, id="doubted"),
    ],
)
def test_what_is_no_cause_moves_nothing(of_a: Any, replica: Any) -> None:
    turn = frozenset({f"{NAMESPACE}/llama-0"})
    plan = given_.plan(_fleet(recovering=turn, **of_a), have=given_.current(replace(_one(), **replica)))
    assert (given_.on(plan), plan.recovers) == (["a"], ())


@pytest.mark.parametrize(
    ("of_a", "replica"),
    [
        pytest.param({"ready": False}, {}, id="the cluster blinks"),
        pytest.param({}, {"failing": ""}, id="the clock is set back"),
        pytest.param({"ready": False}, {"failing": ""}, id="both"),
    ],
)
def test_a_move_that_has_begun_is_not_undone_before_the_replica_serves(of_a: Any, replica: Any) -> None:
    old = replace(_one(), **replica)
    new = given_.replica(1, "b", ready=False, replaces="llama-0")
    plan = given_.plan(_fleet(**of_a), have=given_.current(old, new))
    assert {one.name: one.state for one in plan.replicas} == {"llama-0": State.RETAINED, "llama-1": State.RETAINED}
    assert plan.recovers == ("llama-0",)
    done = given_.plan(_fleet(**of_a), have=given_.current(old, replace(new, ready=True)))
    assert {one.name: one.state for one in done.replicas} == {"llama-0": State.SHED, "llama-1": State.RETAINED}
    unwished = given_.plan(_fleet(**of_a), have=given_.current(replace(old, down=False, failing=""), new))
    assert {one.name: one.state for one in unwished.replicas} == {"llama-0": State.RETAINED, "llama-1": State.SHED}


def test_it_stays_where_no_other_cluster_has_room() -> None:
    alone = given_.fleet(
        given_.cluster("a", recovering=frozenset({f"{NAMESPACE}/llama-0"})),
        *(given_.cluster(n, given_.pool(0)) for n in "bcd"),
    )
    plan = given_.plan(alone, have=given_.current(_one()))
    assert given_.on(plan) == ["a"]
    assert plan.recovers == ()
    assert [one.message for one in plan.blocked] == ["no other cluster has room for a successor"]
