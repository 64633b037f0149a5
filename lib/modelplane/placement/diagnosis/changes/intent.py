"""Changes of what a deployment says about where its replicas may stand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from modelplane.placement.decision import Change, World
from modelplane.placement.snapshot import Taint, Toleration, TolerationOperator


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
