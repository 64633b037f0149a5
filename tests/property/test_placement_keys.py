"""The place that is chosen is the best by the policy's own words: compared with trying everything."""

from __future__ import annotations

import itertools
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

from hypothesis import assume, given

from modelplane.devices.model import NodeClass
from modelplane.placement.capacity import dimensions, ledger
from modelplane.placement.snapshot import (
    Cluster,
    Demand,
    Effect,
    Fleet,
    Holding,
    Intent,
    PodShape,
    Pool,
    RoleDemand,
    Strategy,
)
from tests.support.laws import (
    LAW,
    WRONG,
    demands,
    fleets,
    intents,
    packs,
    place,
    promised,
)

# --- the order of candidates ------------------------------------------------------------------------------------------

POSSIBLE, SURE = 1, 2
BIG_MEMORY = 143771 << 20
"""All devices that serve in these fleets publish this."""

Key: TypeAlias = tuple[tuple[int, ...], int, bool, int, tuple[int, Decimal], int, int, int, int]
Where: TypeAlias = tuple[str, tuple[str, ...]]


class Tried:
    """Placement as the policy words it: every pool for every role on every cluster, the best key taken, and again."""

    def __init__(self, fleet: Fleet, demand: Demand, intent: Intent) -> None:
        self.fleet, self.demand, self.intent = fleet, demand, intent
        self.own = {cluster.name: 0 for cluster in fleet.clusters}
        self.held: dict[tuple[str, str], tuple[Holding, ...]] = {}
        self.is_priced = False

    def run(self, got: list[Where]) -> bool | None:
        """Whether each replica, in the order of placing, got a place of the best key, and none is missing that fits.

        None where room depends on the order of pods. Between equal keys the scheduler chooses as it likes.
        """
        self.is_priced = any(
            one.cost_per_node_hour is not None
            for cluster in self.fleet.clusters
            if Tried(self.fleet, self.demand, replace(self.intent, spread=())).eligible(cluster)
            for one in self.fitting(cluster)
        )
        for number in range(self.intent.replicas):
            keys = [key for cluster in self.fleet.clusters for key in self.keys(cluster)]
            if any(not sure for _, sure, _ in keys):
                return None
            allowed = {where: key for key, _, where in keys if not self.skewed(where[0])}
            if not allowed:
                return number == len(got)
            if number == len(got) or allowed.get(got[number]) != min(allowed.values()):
                return False
            name, pools_ = got[number]
            self.own[name] += 1
            for role, pool in zip(self.demand.roles, pools_, strict=True):
                self.held[name, pool] = (*self.held.get((name, pool), ()), holding(role, pool))
        return len(got) == self.intent.replicas

    def eligible(self, cluster: Cluster) -> bool:
        wants = self.intent
        tolerated = {t.key for t in wants.tolerations}
        hard = [t for t in cluster.taints if t.effect is not Effect.PREFER_NO_SCHEDULE and t.key not in tolerated]
        limited = 0 < wants.max_replicas_per_cluster <= self.own[cluster.name]
        needs = wants.cache is not None and wants.cache.required and cluster.name not in wants.cache.ready_clusters
        labelled = all(one.topology_key in cluster.labels for one in wants.spread)
        return not hard and cluster.ready and cluster.address_known and not limited and not needs and labelled

    def keys(self, cluster: Cluster) -> list[tuple[Key, bool, Where]]:
        if not self.eligible(cluster):
            return []
        usable = [p for p in cluster.pools if p.node_class is not None and p.node_class is not WRONG]
        found = []
        for chosen in itertools.product(sorted(usable, key=lambda p: p.name), repeat=len(self.demand.roles)):
            price: tuple[int, Decimal] = (0, Decimal(0))
            opened = devices = left = 0
            room = SURE
            for pool in sorted({p.name: p for p in chosen}.values(), key=lambda p: p.name):
                before = self.held.get((cluster.name, pool.name), ())
                roles = zip(self.demand.roles, chosen, strict=True)
                extra = (*before, *(holding(role, p.name) for role, p in roles if p is pool))
                room = min(room, room_for(pool, cluster, extra))
                if not room:
                    break
                more = max(0, opened_by(pool, cluster, extra) - opened_by(pool, cluster, before))
                opened += more
                devices += more * counted(pool)
                price = dearer(price, pool, more) if self.is_priced else price
                left += left_free(pool, extra)
            if room:
                wants = self.intent
                own = self.own[cluster.name] * (1 if wants.strategy is Strategy.SPREAD else -1)
                absent = wants.cache is not None and cluster.name not in wants.cache.ready_clusters
                disliked = sum(t.effect is Effect.PREFER_NO_SCHEDULE for t in cluster.taints)
                taken = sum(role.pods * role.requests[0].count for role in self.demand.roles) * BIG_MEMORY
                goodness = (own, absent, disliked, price, taken, devices, opened, left)
                where = (cluster.name, tuple(p.name for p in chosen))
                found.append(((self.counts(cluster), *goodness), room == SURE, where))
        return found

    def counts(self, cluster: Cluster) -> tuple[int, ...]:
        keys = enumerate(self.intent.spread)
        return tuple(self.count(index, cluster.labels[one.topology_key]) for index, one in keys)

    def count(self, index: int, value: str) -> int:
        key = self.intent.spread[index].topology_key
        return sum(self.own[c.name] for c in self.fleet.clusters if c.labels.get(key) == value)

    def skewed(self, name: str) -> bool:
        """Whether one more there is too many beside the least loaded value, of those that could serve at all."""
        cluster = next(one for one in self.fleet.clusters if one.name == name)
        values = [cluster.labels[one.topology_key] for one in self.intent.spread]
        for index, (constraint, value) in enumerate(zip(self.intent.spread, values, strict=True)):
            others = {c.labels[constraint.topology_key] for c in self.fleet.clusters if self.serves(c)}
            least = min((self.count(index, other) for other in others), default=0)
            if self.count(index, value) + 1 - least > constraint.max_skew:
                return True
        return False

    def serves(self, cluster: Cluster) -> bool:
        wants = self.intent
        unlimited = Tried(self.fleet, self.demand, replace(wants, max_replicas_per_cluster=0)).eligible(cluster)
        return unlimited and bool(self.fitting(cluster))

    def fitting(self, cluster: Cluster) -> list[NodeClass]:
        """The classes of the cluster that serve some role."""
        classes = [p.node_class for p in cluster.pools if p.node_class is not None and p.node_class != WRONG]
        return [
            one
            for one in classes
            if any(d.name == "gpu" and d.count >= r.requests[0].count for d in one.devices for r in self.demand.roles)
        ]


def counted(pool: Pool) -> int:
    assert pool.node_class is not None
    return sum(d.count for d in pool.node_class.devices if d.claim.value != "Synthetic")


def holding(role: RoleDemand, pool: str) -> Holding:
    shape = PodShape((("gpu", role.requests[0].count),), role.cpu_millis)
    return Holding(role.role, pool, role.pods, shape, role.nodes_per_worker)


def room_for(pool: Pool, cluster: Cluster, extra: tuple[Holding, ...]) -> int:
    return (SURE if promised(pool, cluster, extra) else POSSIBLE) if packs(pool, cluster, extra) else 0


def opened_by(pool: Pool, cluster: Cluster, extra: tuple[Holding, ...]) -> int:
    """The nodes that carry something, as the ledger packs them (best fit decreasing): what a key means by `opened`."""
    assert pool.node_class is not None
    state = ledger.of(pool, dimensions.of(pool.node_class, cluster.accounting))
    for one in extra:
        state = ledger.with_holding(state, one)
    return state.opened


def dearer(price: tuple[int, Decimal], pool: Pool, nodes: int) -> tuple[int, Decimal]:
    assert pool.node_class is not None
    each = pool.node_class.cost_per_node_hour
    if not nodes:
        return price
    return (1, Decimal(0)) if price[0] or each is None else (0, price[1] + Decimal(each) * nodes)


def left_free(pool: Pool, extra: tuple[Holding, ...]) -> int:
    assert pool.node_class is not None
    have = counted(pool) * pool.nodes.usable
    used = (n * entry.pods for entry in (*pool.allocations, *ledger.allocations(extra)) for _, n in entry.shape.devices)
    return have - sum(used)


@LAW
@given(fleets(3), demands(), intents(3))
def test_the_place_chosen_has_the_best_key(fleet: Fleet, demand: Demand, intent: Intent) -> None:
    """Every replica stands where trying everything and comparing keys would have put it, pools included."""
    plan = place(fleet, demand, intent)
    got = [(one.cluster, tuple(role.pool for role in one.roles)) for one in plan.composed if one.holds_place]
    tried = Tried(fleet, demand, intent).run(got)
    assume(tried is not None)
    assert tried, got
