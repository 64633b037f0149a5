"""Refused, lost and moving replicas: who is succeeded, who waits, who is held; one case each."""

from __future__ import annotations

from modelplane.placement.decision import Admission, Reason, State
from modelplane.placement.snapshot import (
    Cluster,
    Holding,
    PodShape,
)
from modelplane.workload.model import Role
from tests.support.placements import (
    DEPLOYMENT,
    DRAIN,
    as_current,
    cluster,
    current,
    demand,
    fleet,
    intent,
    note,
    on,
    plan,
    pool,
    replica,
    role,
    used,
    where,
)

# --- refused ----------------------------------------------------------------------------------------------------------

TWO = intent(2)


def refusing(number: int = 0, nodes: int = 4) -> Cluster:
    return cluster("a", pool(nodes), refused={f"ml-team/{DEPLOYMENT}-{number}": note("somebody was first")})


def test_a_refused_replica_is_proposed_elsewhere_under_a_new_name() -> None:
    result = plan(fleet(refusing(), cluster("b")), have=current(replica(0, "a", ready=False)))
    assert where(result) == {f"{DEPLOYMENT}-1": "b"}
    assert [one.name for one in result.shed] == [f"{DEPLOYMENT}-0"]


def test_a_refused_replica_goes_to_another_pool_of_the_same_cluster() -> None:
    two = cluster("a", pool(4), pool(4, name="other"), refused=refusing().refused)
    result = plan(fleet(two), have=current(replica(0, "a", ready=False)))
    (placed,) = result.composed
    assert (placed.name, placed.roles[0].pool) == (f"{DEPLOYMENT}-1", "other")
    assert [one.name for one in result.shed] == [f"{DEPLOYMENT}-0"]


def test_a_refused_replica_with_nowhere_to_go_waits_where_it_is_and_counts_as_missing() -> None:
    result = plan(fleet(refusing()), have=current(replica(0, "a", ready=False)))
    (waiting,) = result.composed
    assert (waiting.name, waiting.admission, waiting.holds_place) == (f"{DEPLOYMENT}-0", Admission.REFUSED, False)
    assert not result.shed
    assert result.shortfall is not None
    assert result.shortfall.count == 1
    assert result.shortfall.verdicts[0].reason is Reason.REFUSED_BY_CLUSTER
    assert "somebody was first" in result.shortfall.message


def test_nothing_more_is_proposed_to_a_cluster_that_refuses() -> None:
    result = plan(fleet(refusing()), intent(3), have=current(replica(0, "a", ready=False)))
    assert len(result.composed) == 1


def test_a_bound_replica_is_past_refusal() -> None:
    result = plan(fleet(refusing(), cluster("b")), have=current(replica(0, "a", bound=True)))
    assert where(result) == {f"{DEPLOYMENT}-0": "a"}


# --- lost clusters ----------------------------------------------------------------------------------------------------


def test_a_missing_cluster_proves_nothing_until_the_list_was_received() -> None:
    result = plan(fleet(cluster("b"), received=False), have=current(replica(0, "a")))
    assert where(result) == {f"{DEPLOYMENT}-0": "a"}


def test_replicas_of_a_lost_cluster_get_successors_and_are_held_until_those_serve() -> None:
    have = current(replica(0, "a"), replica(1, "a"), replica(2, "b"))
    first = plan(fleet(cluster("b")), intent(3), have=have)
    assert where(first) == {f"{DEPLOYMENT}-{n}": "b" for n in (2, 3, 4)}
    assert {one.name for one in first.composed} == {f"{DEPLOYMENT}-{n}" for n in range(5)}
    assert [one.replaces for one in first.composed if one.state is State.MOVED] == [
        f"{DEPLOYMENT}-0",
        f"{DEPLOYMENT}-1",
    ]
    second = plan(fleet(cluster("b")), intent(3), have=as_current(first, have, ready=True))
    assert sorted(one.name for one in second.shed) == [f"{DEPLOYMENT}-0", f"{DEPLOYMENT}-1"]


def test_with_nowhere_to_go_they_are_held_and_missing() -> None:
    result = plan(fleet(), have=current(replica(0, "a")))
    assert [one.name for one in result.composed] == [f"{DEPLOYMENT}-0"]
    assert result.placed == 0
    assert result.shortfall is not None


# --- moves ------------------------------------------------------------------------------------------------------------


def test_a_drained_replica_is_succeeded_before_it_goes_one_at_a_time() -> None:
    drained = fleet(cluster("a", taints=(DRAIN,)), cluster("b"))
    have = current(replica(0, "a"), replica(1, "a"))
    first = plan(drained, TWO, have=have)
    (new,) = [one for one in first.composed if one.state is State.MOVED]
    assert (new.cluster, new.replaces) == ("b", f"{DEPLOYMENT}-0")
    assert not first.shed
    assert first.placed == 2
    waiting = as_current(first, have)
    assert [one.name for one in plan(drained, TWO, have=waiting).composed] == [one.name for one in first.composed]
    third = plan(drained, TWO, have=as_current(first, have, ready=True))
    assert [one.name for one in third.shed] == [f"{DEPLOYMENT}-0"]
    assert [one.replaces for one in third.composed if one.state is State.MOVED] == [f"{DEPLOYMENT}-1"]


def test_a_drained_replica_with_nowhere_to_go_stays_and_says_so() -> None:
    result = plan(fleet(cluster("a", taints=(DRAIN,))), have=current(replica(0, "a")))
    assert where(result) == {f"{DEPLOYMENT}-0": "a"}
    assert [blocked.replica for blocked in result.blocked] == [f"{DEPLOYMENT}-0"]
    assert "drain=true" in result.blocked[0].cause


def test_an_outdated_replica_is_succeeded_where_there_is_room() -> None:
    result = plan(fleet(cluster("a")), have=current(replica(0, "a", outdated=True)))
    assert [(one.name, one.state, one.rewrite) for one in result.composed] == [
        (f"{DEPLOYMENT}-0", State.RETAINED, False),
        (f"{DEPLOYMENT}-1", State.MOVED, True),
    ]


# --- another backend --------------------------------------------------------------------------------------------------

NATIVE = intent(1, backends=("Native",))


def offering(*backends: str, nodes: int = 4) -> Cluster:
    return cluster("a", pool(nodes), backends=backends)


def test_a_replica_of_another_backend_is_succeeded_first() -> None:
    have = current(replica(0, "a"))
    first = plan(fleet(offering("KServe", "Native")), NATIVE, have=have)
    assert [(one.name, one.backend, one.state) for one in first.composed] == [
        (f"{DEPLOYMENT}-0", "KServe", State.RETAINED),
        (f"{DEPLOYMENT}-1", "Native", State.MOVED),
    ]
    waiting = plan(fleet(offering("KServe", "Native")), NATIVE, have=as_current(first, have))
    assert sorted(where(waiting)) == [f"{DEPLOYMENT}-0", f"{DEPLOYMENT}-1"]
    done = plan(fleet(offering("KServe", "Native")), NATIVE, have=as_current(first, have, ready=True))
    assert [(one.name, one.backend) for one in done.composed] == [(f"{DEPLOYMENT}-1", "Native")]


def test_it_stays_while_no_cluster_offers_the_other_backend() -> None:
    for nodes in (1, 4):
        result = plan(fleet(offering("KServe", nodes=nodes)), NATIVE, have=current(replica(0, "a")))
        assert [(one.name, one.backend) for one in result.composed] == [(f"{DEPLOYMENT}-0", "KServe")]
        assert not result.shed
        assert [blocked.replica for blocked in result.blocked] == [f"{DEPLOYMENT}-0"]
        assert "it runs with KServe, the deployment needs Native" in result.blocked[0].cause


def test_its_backend_is_never_written_in_place() -> None:
    full = fleet(offering("KServe", "Native", nodes=1))
    result = plan(full, NATIVE, have=current(replica(0, "a", outdated=True)))
    assert not any(one.rewrite for one in result.composed)
    assert [one.name for one in result.shed] == [f"{DEPLOYMENT}-0"], "for want of room it goes first"
    after = plan(full, NATIVE, have=as_current(result))
    assert [(one.backend, one.state) for one in after.composed] == [("Native", State.NEW)]


def test_without_room_it_is_rewritten_in_place_one_at_a_time() -> None:
    full = fleet(cluster("a", pool(2)))
    have = current(replica(0, "a", outdated=True), replica(1, "a", outdated=True))
    first = plan(full, TWO, have=have)
    assert [(one.name, one.rewrite) for one in first.composed] == [
        (f"{DEPLOYMENT}-0", True),
        (f"{DEPLOYMENT}-1", False),
    ]
    assert not first.shed
    second = plan(full, TWO, have=as_current(first, have))
    assert not any(one.rewrite for one in second.composed), "the first must serve again before the second is touched"
    assert second.blocked
    third = plan(full, TWO, have=as_current(first, have, ready=True))
    assert [one.name for one in third.composed if one.rewrite] == [f"{DEPLOYMENT}-1"]


def test_a_replica_that_does_not_serve_is_rewritten_first() -> None:
    have = current(replica(0, "a", outdated=True), replica(1, "a", outdated=True, ready=False))
    result = plan(fleet(cluster("a", pool(2))), TWO, have=have)
    assert [one.name for one in result.composed if one.rewrite] == [f"{DEPLOYMENT}-1"]


def test_one_that_grows_has_to_go_first() -> None:
    """Growing in place could take what another is being admitted to; a new replica is admitted like any other."""
    half = Holding(Role.DECODE, "main", 1, PodShape((("gpu", 4),)))
    have = current(replica(0, "a", half, outdated=True))
    full = fleet(cluster("a", pool(1)))
    first = plan(full, have=have)
    assert [one.name for one in first.shed] == [f"{DEPLOYMENT}-0"]
    assert first.shortfall is not None, "the successor is proposed once the place is free"
    assert plan(full, have=have) == first, "as long as it is still there it is still to go"
    second = plan(full, have=as_current(first, have))
    assert on(second) == ["a"]


def test_nobody_else_makes_way_while_a_place_is_being_freed() -> None:
    """Its object is still being deleted, its pods still counted: another one stopped now would be two."""
    halves = [Holding(Role.DECODE, "main", 1, PodShape((("gpu", 4),))) for _ in range(2)]
    busy = fleet(cluster("a", pool(1, used=[used(1, 4)])), cluster("b", pool(1)))
    have = current(replica(1, "b", halves[1], outdated=True), taken={f"{DEPLOYMENT}-0"})
    result = plan(busy, intent(2), have=have)
    assert not result.shed
    assert [blocked.replica for blocked in result.blocked] == [f"{DEPLOYMENT}-1"]


def test_an_edit_that_fits_nowhere_holds_what_runs() -> None:
    result = plan(
        fleet(cluster("a", pool(1))), what=demand(role(8, 4, 4)), have=current(replica(0, "a", outdated=True))
    )
    assert where(result) == {f"{DEPLOYMENT}-0": "a"}
    assert not result.composed[0].rewrite
    assert result.blocked


def test_a_second_edit_before_the_successor_serves_starts_over_with_it() -> None:
    have = current(
        replica(0, "a", outdated=True), replica(1, "a", ready=False, outdated=True, replaces=f"{DEPLOYMENT}-0")
    )
    result = plan(fleet(cluster("a")), have=have)
    assert [one.name for one in result.shed] == [f"{DEPLOYMENT}-1"]
    assert where(result)[f"{DEPLOYMENT}-0"] == "a"


def test_a_drain_called_off_sheds_the_successor_and_not_what_serves() -> None:
    have = current(replica(0, "a"), replica(1, "b", ready=False, replaces=f"{DEPLOYMENT}-0"))
    result = plan(fleet(cluster("a"), cluster("b")), have=have)
    assert [one.name for one in result.shed] == [f"{DEPLOYMENT}-1"]


def test_a_pool_that_is_gone_moves_its_replica_within_the_cluster() -> None:
    elsewhere = Holding(Role.DECODE, "gone", 1, PodShape((("gpu", 8),)))
    result = plan(fleet(cluster("a", pool(1))), have=current(replica(0, "a", elsewhere)))
    (new,) = [one for one in result.composed if one.state is State.MOVED]
    assert new.roles[0].pool == "main"
    assert not result.shed


def test_scaling_down_in_the_middle_of_a_move_never_goes_below_what_is_wanted() -> None:
    have = current(
        replica(0, "a", outdated=True),
        replica(1, "a", outdated=True),
        replica(2, "a", ready=False, replaces=f"{DEPLOYMENT}-0"),
    )
    result = plan(fleet(cluster("a")), intent(1), have=have)
    names = {one.name for one in result.composed if one.state is State.RETAINED}
    assert names & {f"{DEPLOYMENT}-0", f"{DEPLOYMENT}-1"}
    assert len(names) == 1
