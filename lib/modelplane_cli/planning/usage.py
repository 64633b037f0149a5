"""The free devices of a fleet by class, region, cluster or pool, and what deployments and namespaces hold.

Units: costs are decimal amounts per hour. A replica costs the part of its nodes whose devices it holds. A part of a
device that pods share counts as a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeAlias

from modelplane import names
from modelplane.devices.model import Claim
from modelplane.placement.snapshot import Cluster, Effect
from modelplane.workload.model import BoundRole
from modelplane_cli.planning import capacity, replicas
from modelplane_cli.planning.capacity import PoolUse
from modelplane_cli.planning.replicas import DEPLOYMENT, Deployment
from modelplane_cli.simulator.store import Store

Json: TypeAlias = Any
_CENT = Decimal("0.01")
_FORBIDDING = (Effect.NO_SCHEDULE, Effect.NO_EXECUTE)


class By(StrEnum):
    """The groups of free devices."""

    CLASS = "class"
    REGION = "region"
    CLUSTER = "cluster"
    POOL = "pool"


class Whose(StrEnum):
    """The groups of what is held."""

    NAMESPACE = "namespace"
    DEPLOYMENT = "deployment"


@dataclass(slots=True)
class Free:
    """One kind of device in a group of pools. Of the `free` devices, `tainted` are on clusters with a taint, and
    `restricted` on clusters that do not allow every namespace.

    `nodes_idle` of the `nodes` carry nothing, and `growable` can be added. Without `device` the class is unknown or
    publishes none.
    """

    group: str
    class_name: str
    device: str
    total: int = 0
    used: int = 0
    free: int = 0
    tainted: int = 0
    restricted: int = 0
    nodes: int = 0
    nodes_idle: int = 0
    growable: int = 0
    pools: int = 0
    clusters: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Holder:
    """The devices that one deployment or namespace holds, counted by class and name, and their cost."""

    namespace: str
    name: str
    deployments: int = 0
    wanted: int = 0
    placed: int = 0
    pods: int = 0
    devices: dict[tuple[str, str], int] = field(default_factory=dict)
    cost: dict[str, Decimal] = field(default_factory=dict)


# --- free -------------------------------------------------------------------------------------------------------------


def free(store: Store, by: By) -> list[Free]:
    """Return the devices of all pools, idle ones included, by group, class and device."""
    found: dict[tuple[str, str, str], Free] = {}
    for cluster, uses in capacity.by_cluster(store):
        for use in uses:
            for device in use.devices or ("",):
                key = (_GROUPS[by](cluster, use), use.class_name, device)
                _add(found.setdefault(key, Free(*key)), cluster, use, device)
    return [found[key] for key in sorted(found)]


_GROUPS: dict[By, Callable[[Cluster, PoolUse], str]] = {
    By.CLASS: lambda _cluster, use: use.class_name,
    By.REGION: lambda cluster, _use: cluster.labels.get(names.LABEL_REGION, ""),
    By.CLUSTER: lambda cluster, _use: cluster.name,
    By.POOL: lambda cluster, use: f"{cluster.name}/{use.pool}",
}


def _add(row: Free, cluster: Cluster, use: PoolUse, device: str) -> None:
    counted = use.devices.get(device)
    if counted is not None:
        row.total += counted.total
        row.used += counted.used
        row.free += counted.free
        row.tainted += counted.free if any(taint.effect in _FORBIDDING for taint in cluster.taints) else 0
        row.restricted += 0 if cluster.tenants is None else counted.free
    row.nodes += use.nodes
    row.nodes_idle += max(0, use.nodes - use.nodes_used)
    row.growable += use.growable
    row.pools += 1
    row.clusters.add(use.cluster)


# --- top --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Top:
    """The holders, the largest number of devices first, and the number of all devices by class and name."""

    rows: tuple[Holder, ...]
    totals: Mapping[tuple[str, str], int]


def top(store: Store, whose: Whose) -> Top:
    """Return the holders of devices, as far as the replicas of each are admitted."""
    found: dict[tuple[str, str], Holder] = {}

    def of(one: Deployment) -> Holder:
        key = (one.namespace, one.name if whose is Whose.DEPLOYMENT else "")
        return found.setdefault(key, Holder(*key))

    for key in store.of_kind(names.GROUP, DEPLOYMENT):
        row, resource = of(Deployment(key.namespace, key.name)), store.get(key) or {}
        row.deployments += 1
        row.wanted += int((resource.get("spec") or {}).get("replicas", 1))
    uses = {use.key: use for use in capacity.pools(store)}
    for one in replicas.admitted(store):
        row = of(Deployment(one.namespace, one.deployment))
        row.placed += 1
        for role in one.roles:
            row.pods += role.spec.pods
            _hold(row, role, uses.get((one.cluster, role.pool)))
    rows = sorted(found.values(), key=lambda row: (-sum(row.devices.values()), row.namespace, row.name))
    return Top(tuple(rows), _totals(uses.values()))


def _totals(uses: Iterable[PoolUse]) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for use in uses:
        for device, counted in use.devices.items():
            key = (use.class_name, device)
            found[key] = found.get(key, 0) + counted.total
    return found


def _hold(row: Holder, role: BoundRole, use: PoolUse | None) -> None:
    nodes = Decimal(0)
    for bound in role.devices:
        if bound.claim is Claim.SYNTHETIC:
            continue
        count = bound.count * role.spec.pods
        key = (use.class_name if use is not None else "", bound.device)
        row.devices[key] = row.devices.get(key, 0) + count
        known = use.devices.get(bound.device) if use is not None else None
        if known is not None and known.per_node:
            nodes = max(nodes, Decimal(count) / known.per_node)
    if use is not None and use.cost_per_node_hour is not None:
        row.cost[use.currency] = row.cost.get(use.currency, Decimal(0)) + nodes * use.cost_per_node_hour


def price(row: Holder) -> dict[str, str]:
    """Return the cost per hour by currency, in text with two digits."""
    return {currency: str(amount.quantize(_CENT)) for currency, amount in sorted(row.cost.items())}


# --- as JSON ----------------------------------------------------------------------------------------------------------


def encode_free(rows: Sequence[Free], by: By) -> dict[str, Json]:
    """Return the free devices as JSON."""
    return {
        "by": str(by),
        "rows": [
            {
                "group": row.group,
                "class": row.class_name,
                "device": row.device or None,
                "total": row.total,
                "used": row.used,
                "free": row.free,
                "tainted": row.tainted,
                "restricted": row.restricted,
                "nodes": row.nodes,
                "nodesIdle": row.nodes_idle,
                "nodesGrowable": row.growable,
                "pools": row.pools,
                "clusters": sorted(row.clusters),
            }
            for row in rows
        ],
    }


def encode_top(found: Top, whose: Whose) -> dict[str, Json]:
    """Return the holders as JSON."""
    return {
        "by": str(whose),
        "rows": [
            {
                "namespace": row.namespace,
                "name": row.name or None,
                "deployments": row.deployments,
                "wanted": row.wanted,
                "placed": row.placed,
                "pods": row.pods,
                "devices": [
                    {"class": class_name, "device": device, "count": count}
                    for (class_name, device), count in sorted(row.devices.items())
                ],
                "cost": price(row),
            }
            for row in found.rows
        ],
    }
