"""Parts that the answers of several commands share: changes of replicas, and the closest miss."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from modelplane_cli.output.models.base import Part, absent


class Place(Part):
    """Where a replica is."""

    cluster: str
    """The InferenceCluster."""
    pools: list[str]
    """Its node pools of that cluster, sorted."""


class Change(Part):
    """One replica's change, from the beginning to the end."""

    change: Literal["created", "moved", "rewritten", "removed", "lost"]
    """`rewritten` restarts a replica where it is; `removed` was not wanted any more; `lost` is wanted and gone."""
    namespace: str
    """Namespace of the deployment."""
    deployment: str
    """Name of the ModelDeployment."""
    replica: str
    """Name of the ModelReplica: as it was, or as it is when it is new."""
    successor: str | None
    """The replica that takes its place; null where none does."""
    from_: Place | None = Field(alias="from")
    """Where it was; null when it is new."""
    to: Place | None
    """Where it, or its successor, is; null when nothing stands in its stead."""
    interrupted: bool
    """For a while it served no longer and its successor did not yet serve."""
    why: str
    """The cause in words."""


class Target(Part):
    """The document that an operation changes."""

    kind: str
    """Kind of the object."""
    namespace: str | SkipJsonSchema[None] = absent()
    """Its namespace; missing for kinds of the whole fleet."""
    name: str
    """Its name."""


class Operation(Part):
    """One operation of a JSON Patch (RFC 6902) with the document it goes into."""

    document: Target
    """The document to change."""
    op: Literal["add", "replace", "remove"]
    """The operation."""
    path: str
    """The field, as a JSON Pointer (RFC 6901)."""
    value: Any = absent()
    """The value to write; missing where the operation is `remove`."""


class Closest(Part):
    """The cluster and pool that miss by least, and what would make the replica fit there."""

    cluster: str
    """The InferenceCluster."""
    pool: str
    """Its node pool; empty where the cluster as a whole does not fit."""
    misses: list[str]
    """What is missing there."""
    would_fit_if: str
    """A change in words; it was made and judged again."""
    change: list[Operation]
    """The same change as operations on the documents that were given, in order."""
    not_in_documents: list[str]
    """What has to change beside the documents."""


class Move(Part):
    """One replica that is moved so that another has room."""

    step: int
    """Its turn: the moves are made one after the other."""
    namespace: str
    """Namespace of its deployment."""
    deployment: str
    """Name of the ModelDeployment."""
    replica: str
    """Name of the ModelReplica."""
    from_: Place = Field(alias="from")
    """Where it is."""
    to: Place
    """Where its successor goes, which has room there while the replica still stands."""
    makes_way: bool
    """It goes before its successor has a place, so that it is interrupted."""
