"""Reasons, messages and counterfactuals, word for word."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane import placement
from modelplane.labels import LabelSelector
from modelplane.placement.decision import Change, Reason
from modelplane.placement.diagnosis import changes
from modelplane.placement.snapshot import (
    Accounting,
    CacheNeed,
    Effect,
    Fleet,
    SpreadConstraint,
    Taint,
)
from modelplane.topology.shape import Topology
from modelplane.workload.model import Role
from tests.support.placements import (
    L4,
    NOTHING,
    WANTS_140,
    cluster,
    current,
    demand,
    fleet,
    gpu,
    intent,
    node_class,
    pool,
    replica,
    role,
    used,
)

DRAIN = Taint("drain", Effect.NO_SCHEDULE, "true")
BIG = demand(role(8, 2, 2, (WANTS_140,)))


def told(of: Fleet, wants: Any = None, what: Any = None) -> Any:
    plan = placement.schedule(of, what or demand(role(8, selectors=(WANTS_140,))), wants or intent(), NOTHING)
    assert plan.shortfall is not None
    return plan.shortfall


def test_the_message_reads_as_kube_schedulers() -> None:
    many = fleet(
        *[cluster(f"drained-{n:02d}", taints=(DRAIN,)) for n in range(8)],
        *[cluster(f"l4-{n}", pool(4, L4)) for n in range(3)],
        cluster("full-0", pool(2, used=[used(1)])),
        cluster("full-1", pool(2, used=[used(2)])),
    )
    assert told(many, what=BIG).message == (
        "0/13 clusters fit: 8 untolerated taint {drain=true}, "
        '3 no device matches request "gpu" (closest: l4-0/main has memory 23034Mi, wants >= 140Gi), '
        "2 not enough devices (closest: full-0/main: want 2 nodes x 8 gpu, has 1 node x 8 gpu free)"
    )


def test_an_empty_fleet_says_so() -> None:
    assert told(fleet()).message == "0/0 clusters fit: no InferenceCluster exists"


def test_examples_are_bounded() -> None:
    (entry,) = told(fleet(*[cluster(f"c{n}", taints=(DRAIN,)) for n in range(9)])).reasons
    assert (entry.reason, entry.clusters, entry.examples) == (
        Reason.UNTOLERATED_TAINT,
        9,
        ("c0", "c1", "c2", "c3", "c4"),
    )


CLOSEST: list[tuple[str, Fleet, Any, Any, str, str, list[type[Change]]]] = [
    (
        "a taint",
        fleet(cluster("a", taints=(DRAIN,))),
        None,
        None,
        "a",
        "the taint drain=true:NoSchedule were tolerated or removed",
        [changes.Tolerated],
    ),
    (
        "a label",
        fleet(cluster("a")),
        intent(selector=LabelSelector((("tier", "gold"),))),
        None,
        "a",
        "it had the label tier=gold",
        [changes.HasLabel],
    ),
    ("readiness", fleet(cluster("a", ready=False)), None, None, "a", "it were ready", [changes.Ready]),
    (
        "an address",
        fleet(cluster("a", address_known=False)),
        None,
        None,
        "a",
        "its gateway had an address",
        [changes.HasAddress],
    ),
    (
        "a backend",
        fleet(cluster("a")),
        intent(backends=("LLMD",)),
        None,
        "a",
        "it offered the backend LLMD",
        [changes.OffersBackend],
    ),
    (
        "an installation",
        fleet(cluster("a", missing=frozenset({"x.io/v1", "y.io/v1"}))),
        intent(needs=(("x.io/v1", "X 1"), ("z.io/v1", "Z 1"), ("y.io/v1", "Y 2"))),
        None,
        "a",
        "X 1 and Y 2 or later were installed there",
        [changes.Installs],
    ),
    (
        "a cache",
        fleet(cluster("a")),
        intent(cache=CacheNeed("w", required=True)),
        None,
        "a",
        "ModelCache w were ready there",
        [changes.HasCache],
    ),
    ("one node", fleet(cluster("a", pool(1))), None, BIG, "a", "pool main had 1 more free node", [changes.MoreNodes]),
    (
        "nodes beside what others hold",
        fleet(cluster("a", pool(4, used=[used(3)]))),
        None,
        BIG,
        "a",
        "pool main had 1 more free node",
        [changes.MoreNodes],
    ),
    (
        "the fewest nodes of all clusters",
        fleet(cluster("a", pool(0)), cluster("b", pool(1))),
        None,
        BIG,
        "b",
        "pool main had 1 more free node",
        [changes.MoreNodes],
    ),
    (
        "an over-committed pool",
        fleet(cluster("a", pool(1, used=[used(3)]))),
        None,
        None,
        "a",
        "pool main had 3 more free nodes",
        [changes.MoreNodes],
    ),
    (
        "whole nodes",
        fleet(cluster("a", pool(2, used=[used(2, 1)]), accounting=Accounting.NODE)),
        None,
        None,
        "a",
        "pool main had 1 more free node",
        [changes.MoreNodes],
    ),
    (
        "less asked of a device",
        fleet(cluster("a", pool(4, L4))),
        None,
        None,
        "a",
        f'request "gpu" asked for {WANTS_140.replace("140Gi", "23034Mi")}',
        [changes.OtherSelectors],
    ),
    (
        "a larger node",
        fleet(cluster("a")),
        None,
        demand(role(16)),
        "a",
        "pool main had nodes of another class, whose gpu has count 16",
        [changes.MorePerNode],
    ),
    (
        "fewer devices on more nodes",
        fleet(cluster("a")),
        None,
        demand(role(16, splits=(Topology(8, 2), Topology(4, 4)))),
        "a",
        "the topology were tensor: 8, pipeline: 2, which takes several nodes",
        [changes.OtherTopology],
    ),
    (
        "fewer devices on nodes that are free",
        fleet(cluster("a", pool(1), pool(4, node_class(gpu(4), name="h200-4x"), name="small"))),
        None,
        demand(role(16, splits=(Topology(8, 2), Topology(4, 4)))),
        "a",
        "the topology were tensor: 4, pipeline: 4, which takes several nodes",
        [changes.OtherTopology],
    ),
    (
        "fewer devices on more nodes, of which too few are free",
        fleet(cluster("a", pool(2, used=[used(1)]))),
        None,
        demand(role(16, splits=(Topology(8, 2),))),
        "a",
        "the topology were tensor: 8, pipeline: 2, which takes several nodes and pool main had 1 more free node",
        [changes.OtherTopology, changes.MoreNodes],
    ),
    (
        "a larger node, where no topology is small enough",
        fleet(cluster("a", pool(4, node_class(gpu(2))))),
        None,
        demand(role(16, splits=(Topology(8, 2), Topology(4, 4)))),
        "a",
        "pool main had nodes of another class, whose gpu has count 16",
        [changes.MorePerNode],
    ),
    (
        "the topology of one role",
        fleet(cluster("a", pool(5))),
        None,
        demand(role(8), role(32, kind=Role.PREFILL, splits=(Topology(16, 2), Topology(8, 4)))),
        "a",
        "the topology of prefill were tensor: 8, pipeline: 4, which takes several nodes",
        [changes.OtherTopology],
    ),
    (
        "a smaller pod: cpu",
        fleet(cluster("a", pool(1, node_class(gpu(), cpu_millis=8_000)))),
        None,
        demand(role(cpu_millis=9_500)),
        "a",
        "a pod of decode asked for at most cpu 8",
        [changes.LowerCpu],
    ),
    (
        "a smaller pod: memory",
        fleet(cluster("a", pool(1, node_class(gpu(), memory_bytes=2**34)))),
        None,
        demand(role(memory_bytes=2**35)),
        "a",
        "a pod of decode asked for at most memory 16Gi",
        [changes.LowerMemory],
    ),
    (
        "a limit",
        fleet(cluster("a")),
        intent(2, max_replicas_per_cluster=1),
        None,
        "a",
        "maxReplicasPerCluster were 2",
        [changes.ReplicaLimit],
    ),
    (
        "a skew",
        fleet(cluster("a", labels={"region": "eu"}), cluster("b", pool(0), labels={"region": "us"})),
        intent(2, spread=(SpreadConstraint("region"),)),
        None,
        "a",
        "maxSkew of region were 2",
        [changes.MaxSkew],
    ),
    (
        "two things at once",
        fleet(cluster("a", pool(1), taints=(DRAIN,))),
        None,
        BIG,
        "a",
        "the taint drain=true:NoSchedule were tolerated or removed and pool main had 1 more free node",
        [changes.Tolerated, changes.MoreNodes],
    ),
    (
        "one change rather than two",
        fleet(cluster("a", pool(1), taints=(DRAIN,)), cluster("b", taints=(DRAIN,))),
        None,
        BIG,
        "b",
        "the taint drain=true:NoSchedule were tolerated or removed",
        [changes.Tolerated],
    ),
]


@pytest.mark.parametrize("case", CLOSEST, ids=[row[0] for row in CLOSEST])
def test_closest(case: Any) -> None:
    reason, of, wants, what, where, text, kinds = case
    closest = told(of, wants, what).closest
    assert closest is not None, reason
    assert (closest.cluster, closest.would_fit_if) == (where, text)
    assert [type(change) for change in closest.changes] == kinds
    assert len(closest.misses) == len(kinds)


def test_nothing_is_claimed_where_nothing_is_known_to_help() -> None:
    assert told(fleet(cluster("a", pool(4, None)))).closest is None
    assert told(fleet(cluster("a", capacity_known=False))).closest is None
    assert told(fleet()).closest is None


def test_roles_are_named_when_there_are_two() -> None:
    two = demand(role(8), role(8, kind=Role.PREFILL))
    (verdict,) = told(fleet(cluster("a", pool(1))), what=two).verdicts
    assert verdict.reason is Reason.INSUFFICIENT_DEVICES
    assert verdict.detail == "decode and prefill each fit alone but not together"
    (verdict,) = told(
        fleet(cluster("a", pool(1, L4))), what=demand(role(8), role(8, selectors=(WANTS_140,), kind=Role.PREFILL))
    ).verdicts
    assert verdict.detail == 'prefill: no device matches request "gpu"'
    assert [(p.role, p.fits) for p in verdict.pools] == [(Role.DECODE, True), (Role.PREFILL, False)]


def test_an_explanation_is_of_the_plan() -> None:
    found = placement.explain(fleet(cluster("a"), cluster("b", taints=(DRAIN,))), demand(), intent(2), NOTHING)
    assert found.plan.placed == 2
    assert found.message == "1/2 clusters fit: 1 untolerated taint {drain=true}"
    assert [verdict.fits for verdict in found.verdicts] == [True, False]
    assert found.closest is None


def test_a_blocked_move_says_what_it_waits_for() -> None:
    drained = fleet(cluster("a", taints=(Taint("gone", Effect.NO_EXECUTE),)))
    plan = placement.schedule(drained, demand(), intent(), current(replica(0, "a")))
    (blocked,) = plan.blocked
    assert blocked.cause == "cluster a has the taint gone:NoExecute"
    assert blocked.message.startswith("no cluster takes a successor")
