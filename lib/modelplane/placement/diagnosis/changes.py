"""Counterfactual changes. Each changes one thing of a snapshot and describes it in words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from modelplane.devices import nearness
from modelplane.devices.model import Device
from modelplane.placement.decision import Change, World
from modelplane.placement.diagnosis import shortage
from modelplane.placement.scheduling.board import Board
from modelplane.placement.snapshot import Pool, RoleDemand, Taint, Toleration, TolerationOperator
from modelplane.topology.shape import Topology
from modelplane.workload.model import Role
from modelplane.workload.tenancy import Tenants


def applied(world: World, changes: Iterable[Change]) -> World:
    """Return the world with the changes applied in order."""
    for change in changes:
        world = change.apply(world)
    return world


def board_of(world: World, board: Board) -> Board:
    """Return the board of the world's cluster, with all replicas that `board` has placed there."""
    return board.varied(world.cluster, world.demand, world.intent, pardoned=world.pardoned)


# --- of the cluster ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HasLabel(Change):
    """The cluster has a label."""

    key: str
    value: str

    def apply(self, world: World) -> World:
        """Return the world with the label set."""
        labels = {**world.cluster.labels, self.key: self.value}
        return replace(world, cluster=replace(world.cluster, labels=labels))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"it had the label {self.key}={self.value}"


@dataclass(frozen=True, slots=True)
class NoLabel(Change):
    """The cluster has no such label."""

    key: str

    def apply(self, world: World) -> World:
        """Return the world without the label."""
        labels = {key: value for key, value in world.cluster.labels.items() if key != self.key}
        return replace(world, cluster=replace(world.cluster, labels=labels))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"it had no label {self.key}"


@dataclass(frozen=True, slots=True)
class AllowsNamespace(Change):
    """The cluster allows the namespace of the deployment by name."""

    namespace: str

    def apply(self, world: World) -> World:
        """Return the world with the namespace allowed."""
        known = world.cluster.tenants or Tenants()
        tenants = replace(known, names=known.names | {self.namespace})
        return replace(world, cluster=replace(world.cluster, tenants=tenants))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"it allowed the namespace {self.namespace}"


@dataclass(frozen=True, slots=True)
class Ready(Change):
    """The cluster is ready."""

    def apply(self, world: World) -> World:
        """Return the world with the cluster ready."""
        return replace(world, cluster=replace(world.cluster, ready=True))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return "it were ready"


@dataclass(frozen=True, slots=True)
class HasAddress(Change):
    """The gateway of the cluster has an address."""

    def apply(self, world: World) -> World:
        """Return the world with the address known."""
        return replace(world, cluster=replace(world.cluster, address_known=True))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return "its gateway had an address"


@dataclass(frozen=True, slots=True)
class OffersBackend(Change):
    """The cluster offers one more backend."""

    backend: str

    def apply(self, world: World) -> World:
        """Return the world with the backend offered last."""
        return replace(world, cluster=replace(world.cluster, backends=(*world.cluster.backends, self.backend)))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"it offered the backend {self.backend}"


@dataclass(frozen=True, slots=True)
class Installs(Change):
    """The cluster serves the API versions that the workload's backend needs."""

    versions: tuple[str, ...]
    products: tuple[str, ...]

    def apply(self, world: World) -> World:
        """Return the world with the API versions served."""
        missing = world.cluster.missing - set(self.versions)
        return replace(world, cluster=replace(world.cluster, missing=missing))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"{' and '.join(self.products)} or later were installed there"


@dataclass(frozen=True, slots=True)
class HasCache(Change):
    """The model's cache is ready on the cluster."""

    cache: str

    def apply(self, world: World) -> World:
        """Return the world with the cache ready there."""
        if world.intent.cache is None:
            return world
        cache = replace(world.intent.cache, ready_clusters=world.intent.cache.ready_clusters | {world.cluster.name})
        return replace(world, intent=replace(world.intent, cache=cache))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"ModelCache {self.cache} were ready there"


@dataclass(frozen=True, slots=True)
class Pardoned(Change):
    """The cluster no longer refuses the replica."""

    def apply(self, world: World) -> World:
        """Return the world with the refusals ignored."""
        return replace(world, pardoned=True)

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return "it no longer refused"


# --- of the intent ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tolerated(Change):
    """The deployment tolerates a taint of the cluster, or the taint is removed."""

    taint: Taint

    def apply(self, world: World) -> World:
        """Return the world with one more toleration."""
        toleration = Toleration(self.taint.key, TolerationOperator.EQUAL, self.taint.value, self.taint.effect)
        return replace(world, intent=replace(world.intent, tolerations=(*world.intent.tolerations, toleration)))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        named = f"{self.taint.key}={self.taint.value}" if self.taint.value else self.taint.key
        return f"the taint {named}:{self.taint.effect} were tolerated or removed"


@dataclass(frozen=True, slots=True)
class ReplicaLimit(Change):
    """The deployment may have `limit` replicas on one cluster."""

    limit: int

    def apply(self, world: World) -> World:
        """Return the world with the limit."""
        return replace(world, intent=replace(world.intent, max_replicas_per_cluster=self.limit))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"maxReplicasPerCluster were {self.limit}"


@dataclass(frozen=True, slots=True)
class MaxSkew(Change):
    """A spread constraint allows a larger skew."""

    topology_key: str
    max_skew: int

    def apply(self, world: World) -> World:
        """Return the world with the wider constraint."""
        spread = tuple(
            replace(constraint, max_skew=self.max_skew) if constraint.topology_key == self.topology_key else constraint
            for constraint in world.intent.spread
        )
        return replace(world, intent=replace(world.intent, spread=spread))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"maxSkew of {self.topology_key} were {self.max_skew}"


# --- of a pool --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PoolChange(Change):
    """A change that was found for one pool."""

    pool: str


@dataclass(frozen=True, slots=True)
class MoreNodes(PoolChange):
    """The pool has `count` more free nodes."""

    count: int

    def apply(self, world: World) -> World:
        """Return the world with the nodes added. The cluster judges anew what it refused for want of them."""
        return replace(_with_pool(world, self.pool, self._grown), pardoned=True)

    def _grown(self, pool: Pool) -> Pool:
        usable = pool.nodes.usable + self.count
        return replace(pool, nodes=replace(pool.nodes, declared=usable, observed=usable, maximum=None))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"pool {self.pool} had {self.count} more free node{'s' if self.count != 1 else ''}"


@dataclass(frozen=True, slots=True)
class RoleChange(PoolChange):
    """A change that concerns one role of the workload."""

    role: Role


@dataclass(frozen=True, slots=True)
class OtherHardware(RoleChange):
    """The nodes of the pool have another class, which differs in one device."""

    device: str

    def apply(self, world: World) -> World:
        """Return the world with the device changed on all nodes of the pool."""
        return _with_pool(world, self.pool, lambda pool: self._swapped(world, pool))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"pool {self.pool} had nodes of another class, whose {self.device} has {self.wanted()}"

    @abstractmethod
    def changed(self, world: World, device: Device) -> Device:
        """Return the device of the other class."""

    @abstractmethod
    def wanted(self) -> str:
        """Return the difference of the device, in words."""

    def _swapped(self, world: World, pool: Pool) -> Pool:
        if pool.node_class is None:
            return pool
        devices = tuple(
            self.changed(world, device) if device.name == self.device else device for device in pool.node_class.devices
        )
        return replace(pool, node_class=replace(pool.node_class, devices=devices))


@dataclass(frozen=True, slots=True)
class MorePerNode(OtherHardware):
    """A node has more of a device."""

    count: int

    def changed(self, world: World, device: Device) -> Device:
        """Return the device with the larger count."""
        return replace(device, count=self.count)

    def wanted(self) -> str:
        """Return the difference of the device, in words."""
        return f"count {self.count}"


@dataclass(frozen=True, slots=True)
class OtherDevice(OtherHardware):
    """The device is one that a request accepts; `wants` is the difference in words."""

    request: str
    wants: str

    def changed(self, world: World, device: Device) -> Device:
        """Return the nearest device that the request accepts."""
        for request in _role(world, self.role).requests:
            near = nearness.nearest(request.selectors, device) if request.name == self.request else None
            if near is not None:
                return near.device
        return device

    def wanted(self) -> str:
        """Return the difference of the device, in words."""
        return self.wants


# --- of the demand ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OtherSelectors(RoleChange):
    """A request has other selectors, as many as before."""

    request: str
    selectors: tuple[str, ...]

    def apply(self, world: World) -> World:
        """Return the world with the selectors in the request."""
        requests = tuple(
            replace(request, selectors=self.selectors) if request.name == self.request else request
            for request in _role(world, self.role).requests
        )
        return _with_role(world, replace(_role(world, self.role), requests=requests))

    def describe(self, *, roles: int) -> str:
        """Return the change in words, with the role of the request where the workload has two."""
        of_role = f" of {self.role}" if roles > 1 else ""
        return f'request "{self.request}"{of_role} asked for {" and ".join(self.selectors)}'


@dataclass(frozen=True, slots=True)
class OtherTopology(RoleChange):
    """A worker has as many devices on more nodes, with fewer on each."""

    topology: Topology

    def apply(self, world: World) -> World:
        """Return the world with workers of the topology, as many as before."""
        role = _role(world, self.role)
        first, *others = role.requests
        changed = replace(
            role,
            pods=role.pods // role.nodes_per_worker * self.topology.nodes,
            nodes_per_worker=self.topology.nodes,
            requests=(replace(first, count=self.topology.devices_per_node), *others),
            splits=(),
        )
        return _with_role(world, changed)

    def describe(self, *, roles: int) -> str:
        """Return the change in words, with the role where the workload has two."""
        of_role = f" of {self.role}" if roles > 1 else ""
        sizes = f"tensor: {self.topology.tensor}, pipeline: {self.topology.pipeline}"
        return f"the topology{of_role} were {sizes}, which takes several nodes"


@dataclass(frozen=True, slots=True)
class LowerCpu(RoleChange):
    """A pod asks for less cpu."""

    millis: int

    def apply(self, world: World) -> World:
        """Return the world with the lower request."""
        return _with_role(world, replace(_role(world, self.role), cpu_millis=self.millis))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"a pod of {self.role} asked for at most cpu {shortage.cpu(self.millis)}"


@dataclass(frozen=True, slots=True)
class LowerMemory(RoleChange):
    """A pod asks for less memory."""

    memory_bytes: int

    def apply(self, world: World) -> World:
        """Return the world with the lower request."""
        return _with_role(world, replace(_role(world, self.role), memory_bytes=self.memory_bytes))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"a pod of {self.role} asked for at most memory {shortage.amount(self.memory_bytes)}"


def _with_pool(world: World, name: str, changed: Callable[[Pool], Pool]) -> World:
    pools = tuple(changed(pool) if pool.name == name else pool for pool in world.cluster.pools)
    return replace(world, cluster=replace(world.cluster, pools=pools))


def _role(world: World, role: Role) -> RoleDemand:
    return next(one for one in world.demand.roles if one.role is role)


def _with_role(world: World, changed: RoleDemand) -> World:
    roles = tuple(changed if one.role is changed.role else one for one in world.demand.roles)
    return replace(world, demand=replace(world.demand, roles=roles))
