"""Changes of a cluster: labels, tenants, readiness, what it offers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from modelplane.placement.decision import Change, World
from modelplane.workload.tenancy import Tenants


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
