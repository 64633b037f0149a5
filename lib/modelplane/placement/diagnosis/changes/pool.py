"""Changes of a pool of a cluster: more nodes, or other hardware."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

from modelplane.devices import nearness
from modelplane.devices.model import Device
from modelplane.placement.decision import Change, World
from modelplane.placement.snapshot import NodeCounts, Pool
from modelplane.workload.model import Role


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
        return replace(world.with_pool(self.pool, self._grown), pardoned=True)

    def _grown(self, pool: Pool) -> Pool:
        usable = pool.nodes.usable + self.count
        return replace(pool, nodes=NodeCounts(declared=usable, observed=usable))

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
        return world.with_pool(self.pool, lambda pool: self._swapped(world, pool))

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
        for request in world.role(self.role).requests:
            near = nearness.nearest(request.selectors, device) if request.name == self.request else None
            if near is not None:
                return near.device
        return device

    def wanted(self) -> str:
        """Return the difference of the device, in words."""
        return self.wants
