"""Retain, shed, fill, move: one case each, with its reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from modelplane.labels import LabelExpression, LabelOperator, LabelSelector
from modelplane.placement.decision import Reason, State
from modelplane.placement.snapshot import (
    Accounting,
    CacheNeed,
    Cluster,
    Effect,
    Fleet,
    NodeCounts,
    PodShape,
    SpreadConstraint,
    Strategy,
    Taint,
    Toleration,
    TolerationOperator,
)
from modelplane.workload.model import Role
from modelplane.workload.tenancy import Tenants
from tests.support.placements import (
    CORDON,
    DEPLOYMENT,
    DRAIN,
    NAMESPACE,
    as_current,
    cluster,
    current,
    demand,
    fleet,
    gpu,
    intent,
    nic,
    node_class,
    on,
    plan,
    pool,
    replica,
    role,
    synthetic,
    used,
    where,
)

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
        ["b", "a", "a"],
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


NO_X = cluster("a", missing=frozenset({"x.io/v1"}))
PROD = Tenants(labels=(("tier", "prod"),))
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
    ("allowed by name", {}, cluster("a", tenants=Tenants(frozenset({NAMESPACE}))), None),
    ("another name", {}, cluster("a", tenants=Tenants(frozenset({"x"}))), Reason.NAMESPACE_NOT_ALLOWED),
    ("nobody is allowed", {}, cluster("a", tenants=Tenants()), Reason.NAMESPACE_NOT_ALLOWED),
    ("allowed by label", {"namespace_labels": (("tier", "prod"),)}, cluster("a", tenants=PROD), None),
    (
        "another value of the label",
        {"namespace_labels": (("tier", "dev"),)},
        cluster("a", tenants=PROD),
        Reason.NAMESPACE_NOT_ALLOWED,
    ),
    ("labels that are not known", {}, cluster("a", tenants=PROD), Reason.NAMESPACE_NOT_ALLOWED),
    ("not ready", {}, cluster("a", ready=False), Reason.CLUSTER_NOT_READY),
    ("no address", {}, cluster("a", address_known=False), Reason.NO_GATEWAY_ADDRESS),
    ("another backend", {"backends": ("LLMD",)}, cluster("a"), Reason.BACKEND_UNAVAILABLE),
    ("a queue that nothing renders for", {}, cluster("a", scheduler="Kueue"), Reason.BACKEND_UNAVAILABLE),
    ("what it needs is not there", {"needs": (("x.io/v1", "X 1"),)}, NO_X, Reason.BACKEND_NOT_INSTALLED),
    ("what nobody needs is not there", {"needs": (("y.io/v1", "Y 1"),)}, NO_X, None),
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
