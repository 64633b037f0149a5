"""The contents and the cost of the pools of a fleet, from the ledgers that their clusters published.

Units: costs are decimal amounts per hour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from modelplane import names
from modelplane.api import inference_class, inference_cluster
from modelplane.devices.model import Claim, NodeClass
from modelplane.errors import InvalidInput
from modelplane.placement.capacity import dimensions, ledger
from modelplane.placement.capacity.ledger import Ledger
from modelplane.placement.snapshot import Accounting, Cluster, Pool
from modelplane_cli.simulator.store import Key, Store


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """Devices of one kind in a pool; `used` above `total` means that more was admitted than there is now.

    `free` is how many more of it can be claimed. It is less than what nothing holds where devices share a physical one.
    """

    total: int
    used: int
    free: int
    per_node: int


@dataclass(frozen=True, slots=True)
class PoolUse:
    """One pool. `nodes` are there now, `growable` can be added, `nodes_used` carry something.

    `cost_per_node_hour` is None where the class names no price; `devices` is empty where the class is not known.
    """

    cluster: str
    pool: str
    class_name: str
    nodes: int
    growable: int
    nodes_used: int
    devices: Mapping[str, DeviceUse]
    cost_per_node_hour: Decimal | None = None
    currency: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Return cluster and pool."""
        return (self.cluster, self.pool)


def pools(store: Store) -> tuple[PoolUse, ...]:
    """Return every pool of the store's clusters by cluster, in the order of each spec."""
    return tuple(use for _, uses in by_cluster(store) for use in uses)


def by_cluster(store: Store) -> Iterator[tuple[Cluster, tuple[PoolUse, ...]]]:
    """Yield every cluster that can be read with its pools, by name. Each cluster and class is decoded once."""
    for cluster in clusters(store, _classes(store)):
        yield cluster, tuple(_use(cluster, pool) for pool in cluster.pools)


def of(store: Store, name: str) -> tuple[Cluster, tuple[PoolUse, ...]] | None:
    """Return one cluster with its pools, None when it cannot be read."""
    try:
        resource = store.get(Key(names.GROUP, inference_cluster.KIND, "", name)) or {}
        cluster = inference_cluster.decode(resource, _classes(store))
    except InvalidInput:
        return None
    return cluster, tuple(_use(cluster, pool) for pool in cluster.pools)


def clusters(store: Store, classes: Mapping[str, NodeClass] | None = None) -> Iterator[Cluster]:
    """Yield the clusters that can be read, by name; their own conditions say what is wrong with the others."""
    known = _classes(store) if classes is None else classes
    for key in store.of_kind(names.GROUP, inference_cluster.KIND):
        try:
            yield inference_cluster.decode(store.get(key) or {}, known)
        except InvalidInput:
            continue


def _classes(store: Store) -> Mapping[str, NodeClass]:
    return store.standing("classes", ((names.GROUP, inference_class.KIND),), lambda: _decoded(store))


def _decoded(store: Store) -> Mapping[str, NodeClass]:
    found = {}
    for key in store.of_kind(names.GROUP, inference_class.KIND):
        try:
            found[key.name] = inference_class.decode(store.get(key) or {})
        except InvalidInput:
            continue
    return found


def _use(cluster: Cluster, pool: Pool) -> PoolUse:
    node_class = pool.node_class
    present = pool.nodes.present
    growable = pool.nodes.usable - present
    if node_class is None:
        return PoolUse(cluster.name, pool.name, pool.class_name, present, growable, 0, {})
    state = ledger.of(pool, dimensions.of(node_class, cluster.accounting))
    price = node_class.cost_per_node_hour
    return PoolUse(
        cluster=cluster.name,
        pool=pool.name,
        class_name=pool.class_name,
        nodes=present,
        growable=growable,
        nodes_used=state.opened,
        devices=dict(_devices(cluster, node_class, present, state)),
        cost_per_node_hour=None if price is None else Decimal(price),
        currency=node_class.currency,
    )


def _devices(cluster: Cluster, node_class: NodeClass, present: int, state: Ledger) -> Iterator[tuple[str, DeviceUse]]:
    used = dict(zip(state.dimensions.names, state.used, strict=True))
    for device in node_class.devices:
        if device.claim is Claim.SYNTHETIC:
            continue
        # Several pods may have a part of one device.
        taken = min(used[device.name], device.count * present) if device.is_shared else used[device.name]
        if cluster.accounting is Accounting.NODE:
            taken = max(taken, device.count * state.opened)
        yield (
            device.name,
            DeviceUse(device.count * present, taken, state.free(device.name, state.nodes - present), device.count),
        )
