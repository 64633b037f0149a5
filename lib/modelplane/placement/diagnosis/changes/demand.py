"""Changes of what a role asks of a node: selectors, topology, cpu and memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from modelplane.placement.decision import World
from modelplane.placement.diagnosis import shortage
from modelplane.placement.diagnosis.changes.pool import RoleChange
from modelplane.topology.shape import Topology


@dataclass(frozen=True, slots=True)
class OtherSelectors(RoleChange):
    """A request has other selectors, as many as before."""

    request: str
    selectors: tuple[str, ...]

    def apply(self, world: World) -> World:
        """Return the world with the selectors in the request."""
        requests = tuple(
            replace(request, selectors=self.selectors) if request.name == self.request else request
            for request in world.role(self.role).requests
        )
        return world.with_role(replace(world.role(self.role), requests=requests))

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
        role = world.role(self.role)
        first, *others = role.requests
        changed = replace(
            role,
            pods=role.pods // role.nodes_per_worker * self.topology.nodes,
            nodes_per_worker=self.topology.nodes,
            requests=(replace(first, count=self.topology.devices_per_node), *others),
            splits=(),
        )
        return world.with_role(changed)

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
        return world.with_role(replace(world.role(self.role), cpu_millis=self.millis))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"a pod of {self.role} asked for at most cpu {shortage.cpu(self.millis)}"


@dataclass(frozen=True, slots=True)
class LowerMemory(RoleChange):
    """A pod asks for less memory."""

    memory_bytes: int

    def apply(self, world: World) -> World:
        """Return the world with the lower request."""
        return world.with_role(replace(world.role(self.role), memory_bytes=self.memory_bytes))

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"a pod of {self.role} asked for at most memory {shortage.amount(self.memory_bytes)}"
