"""Retain, shed, fill, move: one case each, with its reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from modelplane.placement import scheduler
from modelplane.placement.model import (
    Accounting,
    CacheNeed,
    Cluster,
    Current,
    Effect,
    Fleet,
    Holding,
    LabelExpression,
    LabelOperator,
    LabelSelector,
    NodeCounts,
    PodShape,
    SpreadConstraint,
    Strategy,
    Taint,
    Toleration,
    TolerationOperator,
)
from modelplane.placement.plan import Admission, Plan, Reason, State
from modelplane.workload.model import Role
from tests.support.placements import (
    DEPLOYMENT,
    NOTHING,
    as_current,
    cluster,
    current,
    demand,
    fleet,
    gpu,
    intent,
    nic,
    node_class,
    note,
    pool,
    replica,
    role,
    synthetic,
    used,
    where,
)

DRAIN = Taint("drain", Effect.NO_EXECUTE, "true")
CORDON = Taint("cordon", Effect.NO_SCHEDULE)


def plan(of: Fleet, wants: Any = None, what: Any = None, have: Current = NOTHING) -> Plan:
    return scheduler.schedule(of, what or demand(), wants or intent(), have)


def on(result: Plan) -> list[str]:
    return [one.cluster for one in result.composed if one.holds_place]


# --- fill -------------------------------------------------------------------------------------------------------------

PRICED = node_class(cost_per_node_hour="90")
CHEAP = node_class(cost_per_node_hour="80")
DEARER = node_class(cost_per_node_hour="95")
EURO = node_class(cost_per_node_hour="1", currency="EUR")
TWO = intent(2)

FILLS: list[tuple[str, Fleet, Any, Any, list[str]]] = [
    ("spread: fewest own replicas first", fleet(cluster("a"), cluster("b")), intent(3), None, ["a", "b", "a"]),
    (
        "pack: most own replicas first, until it is full",
        fleet(cluster("a", pool(2)), cluster("b", pool(2))),
        intent(3, strategy=Strategy.PACK),
        None,
        ["a", "a", "b"],
    ),
    (
        "spread constraints come before own replicas on the cluster",
        fleet(
            cluster("a", labels={"region": "eu"}),
            cluster("b", labels={"region": "eu"}),
            cluster("c", labels={"region": "us"}),
        ),
        intent(4, spread=(SpreadConstraint("region"),)),
        None,
        ["a", "c", "b", "c"],
    ),
    (
        "a ready model cache is preferred",
        fleet(cluster("a"), cluster("b")),
        intent(cache=CacheNeed("weights", frozenset({"b"}))),
        None,
        ["b"],
    ),
    (
        "PreferNoSchedule is avoided and not forbidden",
        fleet(cluster("a", taints=(Taint("spot", Effect.PREFER_NO_SCHEDULE),)), cluster("b", pool(1))),
        intent(3, strategy=Strategy.PACK),
        None,
        ["b", "a", "a"],
    ),
    ("cheaper nodes first", fleet(cluster("a", pool(4, PRICED)), cluster("b", pool(4, CHEAP))), None, None, ["b"]),
    (
        "nodes already open cost nothing",
        fleet(cluster("a", pool(4, CHEAP)), cluster("b", pool(4, PRICED, [used(1, 4)]))),
        None,
        demand(role(4)),
        ["b"],
    ),
    (
        "a known price before an unknown one, and other currencies are unknown",
        fleet(cluster("a", pool(4, EURO)), cluster("b", pool(4, PRICED)), cluster("c", pool(4, DEARER))),
        None,
        None,
        ["b"],
    ),
    ("tightest fit", fleet(cluster("a", pool(4)), cluster("b", pool(2))), None, None, ["b"]),
    ("then the name", fleet(cluster("b"), cluster("a")), None, None, ["a"]),
    (
        "maxReplicasPerCluster",
        fleet(cluster("a"), cluster("b")),
        intent(4, max_replicas_per_cluster=1),
        None,
        ["a", "b"],
    ),
    (
        "maxSkew holds the fuller region back",
        fleet(cluster("a", labels={"region": "eu"}), cluster("b", pool(1), labels={"region": "us"})),
        intent(4, spread=(SpreadConstraint("region"),)),
        None,
        ["a", "b", "a"],
    ),
    (
        "a region that is drained does not hold the others back",
        fleet(cluster("a", labels={"region": "eu"}), cluster("b", labels={"region": "us"}, taints=(DRAIN,))),
        intent(3, spread=(SpreadConstraint("region"),)),
        None,
        ["a", "a", "a"],
    ),
    (
        "a growable pool counts up to its maximum",
        fleet(cluster("a", pool(NodeCounts(1, maximum=3)))),
        intent(5),
        None,
        ["a", "a", "a"],
    ),
    (
        "observed nodes count, not declared ones",
        fleet(cluster("a", pool(NodeCounts(4, observed=1)))),
        TWO,
        None,
        ["a"],
    ),
    ("others' pods are in the way", fleet(cluster("a", pool(2, used=[used(3, 4)]))), TWO, None, []),
    (
        "others' pods are thought of as packed",
        fleet(cluster("a", pool(2, used=[used(2, 4)]))),
        TWO,
        None,
        ["a"],
    ),
    (
        "a gang of others leaves no whole node",
        fleet(cluster("a", pool(2, used=[used(2, 4, span=2)]))),
        None,
        None,
        [],
    ),
    ("a gang needs its own nodes", fleet(cluster("a", pool(1))), None, demand(role(4, 2, 2)), []),
    ("half-node pods of one worker each share", fleet(cluster("a", pool(1))), None, demand(role(4, 2)), ["a"]),
    (
        "GPUs and NICs together",
        fleet(cluster("a", pool(2, node_class(gpu(8), nic(4)), [used(1, 4, device="nic")]))),
        intent(3),
        demand(
            role(2),
        ),
        ["a"] * 3,
    ),
    (
        "synthetic devices are never used up",
        fleet(cluster("a", pool(1, node_class(gpu(8), synthetic())))),
        intent(8),
        demand(role(1)),
        ["a"] * 8,
    ),
    (
        "Node accounting: one pod, one node",
        fleet(cluster("a", pool(2), accounting=Accounting.NODE)),
        intent(3),
        demand(role(1)),
        ["a", "a"],
    ),
    (
        "cpu counts where the class declares it",
        fleet(cluster("a", pool(1, node_class(cpu_millis=10_000)))),
        intent(3),
        demand(role(1, cpu_millis=4_000)),
        ["a", "a"],
    ),
    (
        "and not where it does not",
        fleet(cluster("a", pool(1))),
        intent(3),
        demand(role(1, cpu_millis=4_000)),
        ["a"] * 3,
    ),
    (
        "a quota bounds what is in use",
        fleet(cluster("a", pool(4, quota=(("gpu", 12),)))),
        intent(3),
        demand(role(4)),
        ["a"] * 3,
    ),
    ("and no further", fleet(cluster("a", pool(4, quota=(("gpu", 11),)))), intent(3), demand(role(4)), ["a"] * 2),
    (
        "nothing is added to an over-committed pool",
        fleet(cluster("a", pool(2, used=[used(3)])), cluster("b")),
        None,
        demand(role(1)),
        ["b"],
    ),
    (
        "a cluster that has not published its pools is not used",
        fleet(cluster("a", capacity_known=False), cluster("b")),
        None,
        None,
        ["b"],
    ),
]


@pytest.mark.parametrize(("reason", "of", "wants", "what", "want"), FILLS, ids=[row[0] for row in FILLS])
def test_fill(reason: str, of: Fleet, wants: Any, what: Any, want: list[str]) -> None:
    result = plan(of, wants, what)
    assert on(result) == want, reason
    assert all(one.state is State.NEW for one in result.composed)
    assert [one.name for one in result.composed] == [f"{DEPLOYMENT}-{n}" for n in range(len(want))]
    assert (result.shortfall is None) == (len(want) == result.wanted)


SELECTORS: list[tuple[str, dict[str, Any], Cluster, Reason | None]] = [
    ("labels match", {"selector": LabelSelector((("tier", "gold"),))}, cluster("a", labels={"tier": "gold"}), None),
    ("labels differ", {"selector": LabelSelector((("tier", "gold"),))}, cluster("a"), Reason.LABEL_MISMATCH),
    ("the name is a label", {"selector": LabelSelector((("modelplane.ai/cluster", "a"),))}, cluster("a"), None),
    (
        "NotIn holds for an absent label",
        {"selector": LabelSelector((), (LabelExpression("tier", LabelOperator.NOT_IN, ("bronze",)),))},
        cluster("a"),
        None,
    ),
    (
        "Exists does not",
        {"selector": LabelSelector((), (LabelExpression("tier", LabelOperator.EXISTS),))},
        cluster("a"),
        Reason.LABEL_MISMATCH,
    ),
    ("an untolerated taint", {}, cluster("a", taints=(CORDON,)), Reason.UNTOLERATED_TAINT),
    ("tolerated by key", {"tolerations": (Toleration("cordon"),)}, cluster("a", taints=(CORDON,)), None),
    ("another value", {"tolerations": (Toleration("drain"),)}, cluster("a", taints=(DRAIN,)), Reason.UNTOLERATED_TAINT),
    (
        "another effect",
        {"tolerations": (Toleration("drain", TolerationOperator.EXISTS, effect=Effect.NO_SCHEDULE),)},
        cluster("a", taints=(DRAIN,)),
        Reason.UNTOLERATED_TAINT,
    ),
    (
        "everything tolerated",
        {"tolerations": (Toleration(operator=TolerationOperator.EXISTS),)},
        cluster("a", taints=(DRAIN, CORDON)),
        None,
    ),
    ("not ready", {}, cluster("a", ready=False), Reason.CLUSTER_NOT_READY),
    ("no address", {}, cluster("a", address_known=False), Reason.NO_GATEWAY_ADDRESS),
    ("another backend", {"backends": ("LLMD",)}, cluster("a"), Reason.BACKEND_UNAVAILABLE),
    ("a queue that nothing renders for", {}, cluster("a", queued_by="Kueue"), Reason.BACKEND_UNAVAILABLE),
    ("a required cache", {"cache": CacheNeed("w", required=True)}, cluster("a"), Reason.CACHE_NOT_READY),
    ("no class", {}, cluster("a", pool(4, None)), Reason.NO_MATCHING_DEVICE),
    ("no nodes", {}, cluster("a", pool(0)), Reason.INSUFFICIENT_NODES),
]


@pytest.mark.parametrize(("why", "wants", "one", "want"), SELECTORS, ids=[row[0] for row in SELECTORS])
def test_eligibility(why: str, wants: dict[str, Any], one: Cluster, want: Reason | None) -> None:
    result = plan(fleet(one), intent(**wants))
    found = None if result.shortfall is None else result.shortfall.verdicts[0].reason
    assert found is want, why


def test_the_clusters_own_order_chooses_among_capable_backends() -> None:
    result = plan(fleet(cluster("a", backends=("Native", "LLMD", "KServe"))), intent(backends=("KServe", "LLMD")))
    assert result.composed[0].backend == "LLMD"


def test_roles_find_pools_by_exact_search() -> None:
    """Each pool has room for one of the two roles and not for both."""
    small = pool(1, node_class(gpu(4), name="s"), name="small")
    two = demand(role(4), role(4, kind=Role.PREFILL))
    result = plan(fleet(cluster("a", small, pool(1, used=[used(1, 4)], name="large"))), intent(1), two)
    assert {r.pool for r in result.composed[0].roles} == {"small", "large"}


def test_roles_say_nodes_pods_and_devices() -> None:
    result = plan(fleet(cluster("a", pool(8))), intent(1), demand(role(8, 6, 2), role(2, 5, kind=Role.PREFILL)))
    decode, prefill = result.composed[0].roles
    assert (decode.pods, decode.nodes, decode.nodes_per_worker) == (6, 6, 2)
    assert (prefill.pods, prefill.nodes) == (5, 2)
    assert [(d.request, d.device, d.count) for d in decode.devices] == [("gpu", "gpu", 8)]


def test_a_name_still_being_deleted_is_not_reused() -> None:
    result = plan(fleet(cluster("a")), intent(2), have=current(replica(1, "a"), taken={f"{DEPLOYMENT}-0"}))
    assert sorted(where(result)) == [f"{DEPLOYMENT}-1", f"{DEPLOYMENT}-2"]


def test_own_replicas_the_cluster_has_not_published_are_deducted() -> None:
    busy = fleet(cluster("a", pool(1)))
    assert plan(busy, intent(2), have=current(replica(0, "a"))).placed == 1
    seen = fleet(cluster("a", pool(1, used=[used(1)]), admitted=frozenset({f"ml-team/{DEPLOYMENT}-0"})))
    assert plan(seen, intent(2), have=current(replica(0, "a"))).placed == 1
    larger = fleet(cluster("a", pool(2, used=[used(1)]), admitted=frozenset({f"ml-team/{DEPLOYMENT}-0"})))
    assert plan(larger, intent(2), have=current(replica(0, "a"))).placed == 2


# --- retain and shed --------------------------------------------------------------------------------------------------

HELD = [
    ("the cluster is not ready", cluster("a", ready=False)),
    ("it has no address", cluster("a", address_known=False)),
    ("it lost its labels", cluster("a", labels={})),
    ("it was cordoned", cluster("a", taints=(CORDON,))),
    ("it offers the backend no more", cluster("a", backends=("Native",))),
    ("it got a queue that nothing renders for", cluster("a", queued_by="Kueue")),
    ("its pool shrank", cluster("a", pool(0, used=[used(1)]), admitted=frozenset({f"ml-team/{DEPLOYMENT}-0"}))),
    ("its class is gone", cluster("a", pool(1, None))),
    ("its class no longer matches", cluster("a", pool(1, node_class(gpu(2))))),
    ("its status is gone", cluster("a", capacity_known=False)),
]


@pytest.mark.parametrize(("reason", "one"), HELD, ids=[row[0] for row in HELD])
def test_retain(reason: str, one: Cluster) -> None:
    """Nothing that runs is touched, though another cluster would take it."""
    wants = intent(1, selector=LabelSelector((("modelplane.ai/cluster", "b"),)))
    result = plan(fleet(one, cluster("b")), wants, have=current(replica(0, "a", bound=True)))
    assert where(result) == {f"{DEPLOYMENT}-0": "a"}, reason
    assert not result.shed
    assert not result.composed[0].rewrite
    assert result.shortfall is None


SHEDS: list[tuple[str, Fleet, Any, list[Any], list[int]]] = [
    (
        "refused first",
        fleet(cluster("a", refused={f"ml-team/{DEPLOYMENT}-0": note()}), cluster("b")),
        intent(1),
        [replica(0, "a", ready=False), replica(1, "b", ready=False)],
        [0],
    ),
    ("then not ready", fleet(cluster("a")), intent(1), [replica(0, "a", ready=False), replica(1, "a")], [0]),
    (
        "then where it is tainted",
        fleet(cluster("a", taints=(CORDON,)), cluster("b")),
        intent(1),
        [replica(0, "a"), replica(1, "b")],
        [0],
    ),
    (
        "or over-committed",
        fleet(cluster("a", pool(1, used=[used(2)]), admitted=frozenset({f"ml-team/{DEPLOYMENT}-0"})), cluster("b")),
        intent(1),
        [replica(0, "a"), replica(1, "b")],
        [0],
    ),
    (
        "then from the most loaded cluster, the newest",
        fleet(cluster("a"), cluster("b")),
        intent(2),
        [replica(0, "a"), replica(1, "a"), replica(2, "b")],
        [1],
    ),
    (
        "and spread group",
        fleet(
            cluster("a", labels={"region": "eu"}),
            cluster("b", labels={"region": "eu"}),
            cluster("c", labels={"region": "us"}),
        ),
        intent(2, spread=(SpreadConstraint("region"),)),
        [replica(0, "a"), replica(1, "b"), replica(2, "c")],
        [1],
    ),
    (
        "the newest by creation, then by number",
        fleet(cluster("a")),
        intent(1),
        [
            replica(0, "a", created="2026-02-01"),
            replica(10, "a", created="2026-01-01"),
            replica(9, "a", created="2026-01-01"),
        ],
        [0, 10],
    ),
    ("to zero", fleet(cluster("a")), intent(0), [replica(0, "a"), replica(1, "a")], [0, 1]),
]


@pytest.mark.parametrize(("reason", "of", "wants", "have", "gone"), SHEDS, ids=[row[0] for row in SHEDS])
def test_shed(reason: str, of: Fleet, wants: Any, have: list[Any], gone: list[int]) -> None:
    result = plan(of, wants, have=current(*have))
    assert sorted(one.name for one in result.shed) == sorted(f"{DEPLOYMENT}-{n}" for n in gone), reason
    assert all(one.note for one in result.shed)


# --- refused ----------------------------------------------------------------------------------------------------------


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


def test_every_kept_replica_tells_its_roles() -> None:
    result = plan(fleet(cluster("a")), have=current(replica(0, "a")))
    (kept,) = result.composed
    assert [(r.pool, r.pods, r.nodes, r.shape) for r in kept.roles] == [("main", 1, 1, PodShape((("gpu", 8),)))]


def test_a_thousand_replicas_on_one_pool() -> None:
    result = plan(fleet(cluster("a", pool(200))), intent(1000), demand(role(2)))
    assert result.placed == 800
    down = plan(fleet(cluster("a", pool(200))), intent(0), demand(role(2)), as_current(result, ready=True))
    assert len(down.shed) == 800


def test_plans_do_not_share_state() -> None:
    of = fleet(cluster("a", pool(1)), cluster("b", pool(1)))
    assert plan(of, TWO) == plan(of, TWO)
    assert plan(replace(of, clusters=of.clusters[:1]), TWO).placed == 1
