"""Fleets, demands and intents drawn at random, and what the laws of scheduling compare placements with."""

# Seeded shuffles need no cryptography, and hypothesis hands booleans over by position.

from __future__ import annotations

import itertools
import os
from dataclasses import replace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from modelplane import placement
from modelplane.placement.capacity import dimensions, ledger
from modelplane.placement.decision import Plan
from modelplane.placement.packing.load import Answer
from modelplane.placement.snapshot import (
    Accounting,
    CacheNeed,
    Cluster,
    Current,
    Demand,
    Effect,
    Fleet,
    Holding,
    Intent,
    NodeCounts,
    Pool,
    RoleDemand,
    SpreadConstraint,
    Strategy,
    Taint,
    Toleration,
)
from modelplane.workload.model import Role
from tests.support import placements as given_

# Fleets per law; the long run is `hatch run laws`, see tests/property/long.py.
_SHORT = 80
EXAMPLES = int(os.environ.get("MODELPLANE_EXAMPLES", str(_SHORT)))
LAW = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def in_proportion(cases: int) -> int:
    """The number of cases of a law that needs another number than most, raised in the long run as all are."""
    return max(1, cases * EXAMPLES // _SHORT)


# One device, two devices with cpu, a device that never matches, no class: enough to make every reason happen.
BIG = given_.node_class(given_.gpu(8), name="big", cost_per_node_hour="10")
SMALL = given_.node_class(given_.gpu(4), name="small", cost_per_node_hour="3")
MIXED = given_.node_class(given_.gpu(4), given_.nic(2), given_.synthetic(), name="mixed", cpu_millis=16_000)
WRONG = given_.L4
SELECTOR = (given_.WANTS_140,)

taints = st.sampled_from(
    [
        *[()] * 8,
        (Taint("drain", Effect.NO_EXECUTE, "true"),),
        (Taint("cordon", Effect.NO_SCHEDULE),),
        (Taint("spot", Effect.PREFER_NO_SCHEDULE),),
    ]
)
classes = st.sampled_from([BIG, BIG, SMALL, SMALL, MIXED, MIXED, WRONG, None])
allocations = st.lists(
    st.tuples(st.integers(1, 2), st.integers(1, 4), st.integers(1, 2)).map(
        lambda row: given_.used(row[0] * row[2], row[1], row[2])
    ),
    max_size=2,
)


@st.composite
def pools(draw: st.DrawFn, name: str) -> Pool:
    nodes = NodeCounts(draw(st.sampled_from([0, 1, 2, 2, 3])), None, draw(st.sampled_from([None, None, 4])))
    return given_.pool(nodes, draw(classes), draw(allocations), name=name)


@st.composite
def clusters(draw: st.DrawFn, name: str) -> Cluster:
    return Cluster(
        name=name,
        pools=tuple(draw(pools(f"p{number}")) for number in range(draw(st.integers(1, 2)))),
        labels=draw(st.sampled_from([{"region": "eu"}, {"region": "us"}, {"region": "us", "tier": "gold"}, {}])),
        taints=draw(taints),
        ready=draw(st.sampled_from([*[True] * 9, False])),
        address_known=draw(st.sampled_from([*[True] * 9, False])),
        accounting=draw(st.sampled_from([Accounting.DEVICE, Accounting.DEVICE, Accounting.NODE])),
    )


@st.composite
def fleets(draw: st.DrawFn, most: int = 4, *, hospitable: bool = False) -> Fleet:
    """Any clusters, half of the time with one that takes nearly everything, so that laws are not about empty plans."""
    found = [draw(clusters(f"c{number}")) for number in range(draw(st.integers(0, most)))]
    if hospitable or draw(st.booleans()):
        good = given_.pool(draw(st.integers(2, 3)), BIG, draw(allocations), name="p0")
        found.append(Cluster("good", (good,), labels={"region": "eu"}))
    return Fleet(tuple(found))


@st.composite
def demands(draw: st.DrawFn) -> Demand:
    def one(kind: Role) -> RoleDemand:
        span = draw(st.integers(1, 2))
        return given_.role(
            draw(st.sampled_from([1, 2, 2, 3, 4, 8])),
            span * draw(st.integers(1, 2)),
            span,
            SELECTOR,
            kind,
            cpu_millis=draw(st.sampled_from([0, 0, 0, 6_000, 20_000])),
        )

    kinds = draw(st.sampled_from([(Role.DECODE,), (Role.DECODE,), (Role.DECODE, Role.PREFILL)]))
    return Demand(tuple(one(kind) for kind in kinds))


@st.composite
def intents(draw: st.DrawFn, most: int = 4) -> Intent:
    return Intent(
        namespace=given_.NAMESPACE,
        deployment=given_.DEPLOYMENT,
        replicas=draw(st.sampled_from([0, *range(1, most + 1), most])),
        tolerations=draw(st.sampled_from([(), (Toleration("drain", value="true"),)])),
        strategy=draw(st.sampled_from(list(Strategy))),
        spread=draw(st.sampled_from([(), (), (SpreadConstraint("region", 1),), (SpreadConstraint("region", 2),)])),
        max_replicas_per_cluster=draw(st.sampled_from([0, 0, 1, 2])),
        cache=draw(
            st.sampled_from(
                [None, None, None, CacheNeed("c", frozenset({"c0"})), CacheNeed("c", frozenset({"c1"}), required=True)]
            )
        ),
    )


def place(fleet: Fleet, demand: Demand, intent: Intent, current: Current = given_.NOTHING) -> Plan:
    return placement.schedule(fleet, demand, intent, current)


def published(fleet: Fleet, plan: Plan) -> Fleet:
    """The fleet after every cluster admitted what the plan proposes to it; others' pods stay."""
    return Fleet(tuple(_published(cluster, plan) for cluster in fleet.clusters))


def _published(cluster: Cluster, plan: Plan) -> Cluster:
    mine = [one for one in plan.composed if one.cluster == cluster.name]
    pools_ = []
    for pool in cluster.pools:
        held = [h for one in mine for h in given_.holdings(one) if h.pool == pool.name]
        pools_.append(replace(pool, allocations=(*pool.allocations, *ledger.allocations(held))))
    keys = frozenset(f"{given_.NAMESPACE}/{one.name}" for one in mine)
    return replace(cluster, pools=tuple(pools_), admitted=keys)


def packs(pool: Pool, cluster: Cluster, extra: tuple[Holding, ...] = ()) -> bool:
    """Whether the pool's nodes carry all allocations, pod by pod in every way: nothing of the ledger is used."""
    assert pool.node_class is not None
    counted = {d.name: d.count for d in pool.node_class.devices if d.claim.value != "Synthetic"}
    whole = cluster.accounting is Accounting.NODE
    pods: list[tuple[tuple[int, ...], tuple[int, int]]] = []
    groups = itertools.count()
    for entry in (*pool.allocations, *ledger.allocations(extra)):
        have = dict(entry.shape.devices)
        size = (*(have.get(name, 0) for name in counted), entry.shape.cpu_millis if pool.node_class.cpu_millis else 0)
        for worker in range(entry.pods):
            if worker % entry.nodes_per_worker == 0:
                group = next(groups)
            pods.append((size, (group, 0)))
    node = (*counted.values(), pool.node_class.cpu_millis or 0)
    pods.sort(reverse=True)

    def put(index: int, state: tuple[tuple[tuple[int, ...], frozenset[int]], ...]) -> bool:
        if index == len(pods):
            return True
        size, (group, _) = pods[index]
        tried = set()
        for position, (free, members) in enumerate(state):
            full = whole and members
            if (
                (free, members) in tried
                or group in members
                or full
                or any(s > f for s, f in zip(size, free, strict=True))
            ):
                continue
            tried.add((free, members))
            after = (tuple(f - s for s, f in zip(size, free, strict=True)), members | {group})
            if put(index + 1, (*state[:position], after, *state[position + 1 :])):
                return True
        return False

    return put(0, tuple((node, frozenset()) for _ in range(pool.nodes.usable)))


def promised(pool: Pool, cluster: Cluster, extra: tuple[Holding, ...] = ()) -> bool:
    """Whether the ledger promises all allocations their places; `test_arrival_laws` says what that is worth."""
    assert pool.node_class is not None
    state = ledger.of(pool, dimensions.of(pool.node_class, cluster.accounting))
    for one in extra:
        state = ledger.with_holding(state, one)
    return ledger.fits(state) is Answer.FITS
