"""Parts of several commands' answers: changes of replicas, and the closest miss."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from modelplane_cli.output.models.base import Part, absent


class Place(Part):
    """The placement of a replica."""

    cluster: str
    """The InferenceCluster."""
    pools: list[str]
    """Its node pools of that cluster, sorted."""


class Change(Part):
    """The change of one replica between the beginning and the end."""

    change: Literal["created", "moved", "rewritten", "removed", "lost"]
    """`rewritten` restarts a replica in place. `removed` is no longer desired. `lost` is desired and gone."""
    namespace: str
    """Namespace of the deployment."""
    deployment: str
    """Name of the ModelDeployment."""
    replica: str
    """Name of the ModelReplica, the earlier one if there are two."""
    successor: str | None
    """The successor of the replica. Null without one."""
    from_: Place | None = Field(alias="from")
    """Earlier placement. Null for a new replica."""
    to: Place | None
    """Placement of the replica or its successor. Null when neither exists."""
    interrupted: bool
    """True when it stopped serving before its successor served."""
    why: str
    """The reason for the change."""


class Counts(Part):
    """Endpoints of a service."""

    matched: int
    """Endpoints that a selector matches."""
    ready: int
    """Those that are ready."""


class ClusterShare(Part):
    """The part of a cluster in a group of endpoints."""

    cluster: str | None
    """The InferenceCluster. Null for endpoints outside the fleet."""
    share: float
    """Share of the requests of the service, from 0 to 1."""
    share_before: float
    """`share` at the beginning."""
    ready: int
    """Ready endpoints."""
    ready_before: int
    """`ready` at the beginning."""


class RouteShare(Part):
    """A group of endpoints with one selector."""

    selector: str
    """The selector, as `kubectl -l` takes it."""
    weight: int | None
    """Weight of the group. Null for a group that is removed."""
    priority: int
    """Priority of the group. 0 comes first."""
    share: float
    """Share of the requests of the service, from 0 to 1."""
    share_before: float
    """`share` at the beginning."""
    ready: int
    """Ready endpoints."""
    ready_before: int
    """`ready` at the beginning."""
    clusters: list[ClusterShare]
    """The clusters of its endpoints."""


class Route(Part):
    """The route of one ModelService."""

    namespace: str
    """Namespace of the ModelService."""
    name: str
    """Name of the ModelService."""
    change: Literal["created", "changed", "removed", "retained"]
    """The difference between the beginning and the end."""
    url: str | None
    """The URL. Null without one."""
    url_before: str | None
    """`url` at the beginning."""
    endpoints: Counts
    """Its endpoints."""
    endpoints_before: Counts
    """`endpoints` at the beginning."""
    groups: list[RouteShare]
    """The groups in their order, then those that are removed."""
    message: str
    """The reason that requests do not reach every group that wants them. Empty if they do."""


class Target(Part):
    """The document that an operation changes."""

    kind: str
    """Kind of the object."""
    namespace: str | SkipJsonSchema[None] = absent()
    """Namespace of the object. Missing for cluster-scoped kinds."""
    name: str
    """Name of the object."""


class Operation(Part):
    """One operation of a JSON Patch (RFC 6902) with the document it goes into."""

    document: Target
    """The document to change."""
    op: Literal["add", "replace", "remove"]
    """The operation."""
    path: str
    """The field, as a JSON Pointer (RFC 6901)."""
    value: Any = absent()
    """The value to write. Missing when the operation is `remove`."""


class Closest(Part):
    """The cluster and pool that come closest to a fit, and the change that would make the replica fit there."""

    cluster: str
    """The InferenceCluster."""
    pool: str
    """Node pool of the cluster. Empty when the cluster as a whole does not fit."""
    misses: list[str]
    """The missing capacities or capabilities."""
    would_fit_if: str
    """Description of the change. It was verified by another run of the matcher."""
    change: list[Operation]
    """The same change as operations on the documents that were given, in order."""
    not_in_documents: list[str]
    """Changes that no given document can make."""


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
    """The place that it leaves."""
    to: Place
    """The place of its successor, which has room there while the replica still runs."""
    makes_way: bool
    """It is deleted before its successor has a place, so that it is interrupted."""


class Cause(Part):
    """A condition that is not as wanted."""

    kind: str
    """Kind of the object with the condition."""
    namespace: str
    """Namespace of that object. Empty for one without."""
    name: str
    """Name of that object."""
    condition: str
    """Type of the condition."""
    status: Literal["True", "False", "Unknown"]
    """Status of the condition."""
    reason: str
    """Stable code of the reason."""
    message: str
    """The reason in words."""
    since: str | None
    """Time at which the status changed, from the API server. Null where none was given."""
