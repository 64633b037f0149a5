"""A cluster that is to be created: what its cloud is asked to make, in the words of the API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from modelplane.errors import InvalidInput

Json: TypeAlias = Any


class Given(Protocol):
    """A part of an author's document, with its path (`api.fields.Field`)."""

    @property
    def value(self) -> Json:
        """Return the plain value, None if the document has no such part."""

    @property
    def is_set(self) -> bool:
        """Return whether the document has the part."""

    def at(self, *keys: str) -> Given:
        """Return the part below."""

    def text(self, default: str | None = None) -> str:
        """Return the text of the part. Raises: InvalidInput if there is neither a text nor a default."""

    def texts(self) -> tuple[str, ...]:
        """Return the texts of a list, none if it is absent. Raises: InvalidInput for another type."""

    def integer(self, default: int | None = None) -> int:
        """Return an integer. Raises: InvalidInput if there is neither an integer nor a default."""

    def count(self, default: int | None = None, *, least: int, most: int) -> int:
        """Return an integer within the bounds. Raises: InvalidInput for another one, and for none without a default."""

    def flag(self, *, default: bool) -> bool:
        """Return a boolean, the default if it is absent. Raises: InvalidInput for another type."""

    def wrong(self, message: str) -> InvalidInput:
        """Return an error about this part."""


@dataclass(frozen=True, slots=True)
class NodeTaint:
    """A taint of nodes. `effect` is a word of Kubernetes: NoSchedule, PreferNoSchedule or NoExecute."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """One pool of the InferenceCluster and the recipe of its class.

    `declared` is nodeCount of a pool that does not scale, None for one that does; `least` and `most` are its bounds.
    `at` is the entry of spec.nodePools, `recipe` the block of the cloud in spec.provisioning of the class. `drivers`
    are the DRA drivers of the class, empty where devices are resources of a device plugin; `devices` is the number of
    devices of one node that are claimed.
    """

    name: str
    class_name: str
    at: Given
    recipe: Given
    declared: int | None
    least: int
    most: int
    zones: tuple[str, ...] = ()
    taints: tuple[NodeTaint, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    drivers: tuple[str, ...] = ()
    devices: int = 0

    @property
    def is_fixed(self) -> bool:
        """Return whether the number of nodes is declared."""
        return self.declared is not None


@dataclass(frozen=True, slots=True)
class Site:
    """Facts that the parts of one cluster share.

    `settings` is the block of the cloud in spec.cluster, for example spec.cluster.gke. `zones` are those of all pools,
    each once, sorted. `is_kept` says that the cloud keeps everything when the InferenceCluster is deleted.
    `external_name` is the name of the cluster in the cloud where its author chooses one.
    """

    cluster: str
    settings: Given
    zones: tuple[str, ...] = ()
    is_kept: bool = False
    external_name: str = ""

    @property
    def config(self) -> str:
        """Return the name of the cloud's provider configuration."""
        return self.settings.at("providerConfigRef", "name").text("default")


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a pool as its cloud reports them.

    `observed` is None while nothing was reported. `growable` is how many more the cloud will add when pods wait.
    """

    observed: int | None = None
    growable: int = 0
