"""The answer of `modelplane explain -o json`."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from modelplane_cli.output.models.base import Part, RoleName
from modelplane_cli.output.models.common import Cause, Closest, Move, Place, RouteShare
from modelplane_cli.output.models.status import Status


class PoolVerdict(Part):
    """The verdict of one pool over one role of a replica."""

    pool: str
    """Name of the pool."""
    role: RoleName
    """The role of the verdict."""
    fits: bool
    """True when the role fits on the pool."""
    reason: str | None
    """Stable code of the refusal. Null when the replica fits."""
    detail: str
    """The missing capacity or capability. Empty when the replica fits."""


class ClusterVerdict(Part):
    """The verdict of one cluster over one more replica, or over the replica in question."""

    cluster: str
    """The InferenceCluster."""
    fits: bool
    """True when the replica fits on the cluster."""
    reason: str | None
    """Stable code of the refusal. Null when the replica fits."""
    detail: str
    """The missing capacity or capability. Empty when the replica fits."""
    pools: list[PoolVerdict]
    """Verdicts of its pools. Empty when the cluster as a whole is refused."""


class AlsoFits(Part):
    """Another cluster on which the replica fits."""

    cluster: str
    """The InferenceCluster."""
    preferred: bool
    """True when it ranks above the replica's own cluster. The replica stays where it is."""
    why: str
    """The reason for its rank."""


class DoesNotFit(Part):
    """A cluster on which the replica does not fit."""

    cluster: str
    """The InferenceCluster."""
    reason: str
    """Stable code of the refusal."""
    detail: str
    """The missing capacity or capability."""


class Standing(Part):
    """The placement of one replica, with its alternatives."""

    name: str
    """Name of the ModelReplica."""
    cluster: str
    """The InferenceCluster of the replica."""
    pools: dict[RoleName, str]
    """Its pools by role."""
    admission: Literal["Pending", "Admitted", "Refused"]
    """The cluster's admission of the replica."""
    note: str
    """A note of the scheduler, often empty."""
    engine_arguments: str
    """Engine arguments that were added to the author's. Empty when there are none."""
    overrides: str
    """Fields of the workload that spec.overrides has written, with what was rendered. Empty when there are none."""
    not_ready: str
    """Reason and message of WorkloadReady while workers are known not to be ready. Empty otherwise."""
    fits: bool | None
    """True when the replica would fit there today. Null when its cluster is no longer a candidate."""
    would_also_fit: list[AlsoFits]
    """Other clusters on which it fits, the best first."""
    would_not_fit: list[DoesNotFit]
    """Other clusters on which it does not fit."""


class Blocked(Part):
    """A replica that must move but cannot."""

    replica: str
    """Name of the ModelReplica."""
    cause: str
    """The reason for the move."""
    message: str
    """The reason why it cannot move."""


class Moves(Part):
    """The smallest set of moves of other replicas after which one that is missing has a place."""

    decided: bool
    """The search came to its end; else there may be moves, or fewer of them, that were not looked at."""
    would_fit_if: str
    """The moves in words; empty where none help."""
    place: Place | None
    """The place of the missing replica after the moves. Null when no moves help."""
    steps: list[Move]
    """The moves in the order in which they can be made."""


class Ballot(Part):
    """The votes of the clusters for one backend."""

    backend: str
    """Name of the backend."""
    clusters: int
    """The number of clusters that would take it."""
    priority: int
    """The highest priority among the rules that match; 0 where none does."""
    rule: str | None
    """The rule of that priority. Null where none matches."""
    refusal: str | None
    """The reason why it cannot run the workload. Null where it can."""


class Backend(Part):
    """The backend of a deployment: the choice that stands, and how the clusters would vote now."""

    name: str | None
    """Name of the backend. Null when none can run the workload."""
    reason: str
    """Stable code of the choice."""
    why: str
    """The choice in words."""
    vote: list[Ballot]
    """The backends that were asked about."""
    failed_rules: list[str]
    """The rules that do not compile or fail, each with its error."""


class Explanation(Part):
    """The placements of replicas, their alternatives, and a change that would make one more replica fit."""

    kind: Literal["ModelDeployment", "ModelReplica"]
    """Kind of the object in question."""
    namespace: str
    """Namespace of that object."""
    name: str
    """Name of that object."""
    message: str
    """The answer in one sentence."""
    placed: bool
    """True when all replicas in question hold a valid placement."""
    backend: Backend | None
    """The choice of the backend. Null where it was not decided."""
    scaling: str
    """The message of the condition ScalerReady, after its reason where it is not True. Empty without spec.scaling."""
    clusters: list[ClusterVerdict]
    """The verdicts of all clusters, sorted by name."""
    closest: Closest | None
    """A change that would make one more replica fit. Null when one fits already, or when no change is known."""
    otherwise: Closest | None
    """Another change that would make one more fit, when `closest` is moves. Otherwise null."""
    moves: Moves | None
    """Moves of other replicas that would help; null where nothing is missing, or a replica was asked about."""
    no_change: str | None
    """The reason why no change is known. Null when one is known or none is needed."""
    replicas: list[Standing]
    """The replicas that hold a placement."""
    blocked: list[Blocked]
    """Replicas that must move but cannot."""


class ServedEndpoint(Part):
    """An endpoint among those of a service."""

    name: str
    """Name of the ModelEndpoint."""
    cluster: str | None
    """The InferenceCluster of its replica. Null outside the fleet."""
    replica: str | None
    """Name of its ModelReplica. Null for an endpoint that people wrote."""
    ready: bool
    """True when it receives requests."""
    share: float
    """Its share of the requests of the service, from 0 to 1."""
    causes: list[Cause]
    """Conditions of its cluster, its replica and itself that are not as wanted, the deepest first. Empty when ready."""


class ServiceExplanation(Part):
    """The route and the endpoints of a service."""

    kind: Literal["ModelService"]
    """Kind of the object in question."""
    namespace: str
    """Namespace of that object."""
    name: str
    """Name of that object."""
    message: str
    """The answer in one sentence."""
    as_wanted: bool
    """True when requests reach every group that wants them and every endpoint is ready."""
    url: str | None
    """URL of the service. Null while it has none."""
    rules: list[str]
    """Access to it and the choice of an endpoint beyond weights, a sentence each."""
    groups: list[RouteShare]
    """The groups of endpoints in the order of the spec."""
    endpoints: list[ServedEndpoint]
    """The endpoints that the service selects, those that are not ready first."""
    causes: list[Cause]
    """Conditions of the service, and of the deployments that it selects, that are not as wanted."""


class Selection(Part):
    """A service that selects an endpoint."""

    name: str
    """Name of the ModelService."""
    share: float
    """The share of its requests that the endpoint receives, from 0 to 1."""


class EndpointExplanation(Part):
    """The state of an endpoint, and the services that select it."""

    kind: Literal["ModelEndpoint"]
    """Kind of the object in question."""
    namespace: str
    """Namespace of that object."""
    name: str
    """Name of that object."""
    message: str
    """The answer in one sentence."""
    as_wanted: bool
    """True when it is ready."""
    url: str | None
    """URL that it leads to."""
    cluster: str | None
    """The InferenceCluster of its replica. Null outside the fleet."""
    replica: str | None
    """Name of its ModelReplica. Null for an endpoint that people wrote."""
    ready: bool
    """True when it can receive requests."""
    services: list[Selection]
    """The services that select it, by name."""
    causes: list[Cause]
    """Conditions of its cluster, its replica and itself that are not as wanted, the deepest first."""


class PoolDevices(Part):
    """Devices of one name in a pool."""

    total: int
    """Number of devices of the existing nodes."""
    used: int
    """Number of devices that replicas hold. It exceeds `total` when nodes were removed."""
    free: int
    """Number of devices that can still be claimed."""


class PoolState(Part):
    """One node pool of a cluster."""

    pool: str
    """Name of the pool."""
    class_: str = Field(alias="class")
    """InferenceClass of its nodes."""
    nodes: int
    """Number of existing nodes."""
    nodes_used: int
    """Number of nodes in use."""
    nodes_growable: int
    """Number of nodes that an autoscaler may add."""
    devices: dict[str, PoolDevices]
    """Devices by name. Empty when the class is unknown."""


class ObservedDevices(Part):
    """Devices of one name that are observed in a pool."""

    observed: int
    """Number of devices that are there."""
    allocatable: int
    """Number of devices on nodes that take new pods, without tainted ones."""


class ObservedPool(Part):
    """The nodes of a pool as they are observed on the cluster."""

    pool: str
    """Name of the pool."""
    declared: int
    """Number of nodes that the spec declares."""
    observed: int
    """Number of nodes that are there."""
    ready: int
    """Number of nodes that are ready."""
    cordoned: int
    """Number of nodes that are ready and cordoned."""
    allocatable: int
    """Number of nodes that take new replicas."""
    growable: int | None
    """Number of nodes that the cloud will add. Null where no cloud says it."""
    devices: dict[str, ObservedDevices]
    """Devices by name."""


class QueueQuota(Part):
    """The quota of a cluster's queue in devices. It is an upper bound and no free device."""

    name: str
    """Name of the object that has the quota."""
    limit: int | None
    """Most devices that the queue may hold. Null without a limit."""
    held: int
    """Number of devices that admitted replicas hold."""
    left: int | None
    """Number of devices that the quota leaves. Null without a limit."""


class Tenant(Part):
    """A replica on a cluster."""

    namespace: str
    """Namespace of the ModelReplica."""
    name: str
    """Name of the ModelReplica."""
    admission: Literal["Pending", "Admitted", "Refused"]
    """The cluster's admission of the replica."""
    reason: str
    """Stable code of the cluster's answer. Empty for an admitted replica."""
    message: str
    """The cluster's answer in words. Empty for an admitted replica."""
    cause: Cause | None
    """The first condition of the replica that is not as wanted. Null when there is none."""


class ClusterExplanation(Part):
    """The conditions, pools and replicas of a cluster."""

    kind: Literal["InferenceCluster"]
    """Kind of the object in question."""
    namespace: str
    """Empty, because clusters have no namespace."""
    name: str
    """Name of that object."""
    message: str
    """The answer in one sentence."""
    as_wanted: bool
    """True when the cluster is ready and runs every replica that names it."""
    taints: list[str]
    """Its taints as `key=value:effect`."""
    capacity: str
    """The message of its ledger: the pools that are counted, and the replicas that end or change."""
    pools: list[PoolState]
    """Its pools in the order of the spec. Empty when its spec cannot be read."""
    observed: list[ObservedPool]
    """Its pools whose nodes are observed. Empty without `spec.observe`."""
    queue: QueueQuota | None
    """The quota of its queue. Null where none is read."""
    replicas: list[Tenant]
    """Its replicas, those that are not as wanted first."""
    causes: list[Cause]
    """Conditions of the cluster that are not as wanted."""


class CachedFiles(Part):
    """The files of a cache on one cluster."""

    cluster: str
    """The InferenceCluster."""
    phase: Literal["Pending", "Staging", "Ready", "Failed", "Retained"]
    """Progress there. Retained files are complete and not wanted any more."""
    claim: str | None
    """Name of the PersistentVolumeClaim there. Null while there is none."""
    current: bool
    """True when the files are those of the source as it is now."""
    reason: str
    """Stable code of the reason why they are not complete. Empty where none is told."""
    message: str
    """The same in words."""
    causes: list[Cause]
    """Conditions of the cluster and of the copy there that are not as wanted, the deepest first."""


class CacheExplanation(Part):
    """The clusters that hold the files of a cache, or should."""

    kind: Literal["ModelCache"]
    """Kind of the object in question."""
    namespace: str
    """Namespace of that object."""
    name: str
    """Name of that object."""
    message: str
    """The answer in one sentence."""
    as_wanted: bool
    """True when every cluster that should hold the files does."""
    source: str | None
    """The source as one URI. Null while it is not known."""
    used_by: list[str]
    """The ModelDeployments of its namespace that use it, by name."""
    clusters: list[CachedFiles]
    """One entry for each cluster and source, those that are not complete first."""
    causes: list[Cause]
    """Conditions of the cache that are not as wanted."""


Answer: TypeAlias = (
    Annotated[
        Explanation | ServiceExplanation | EndpointExplanation | ClusterExplanation | CacheExplanation,
        Field(discriminator="kind"),
    ]
    | Status
)
"""The answer about one object, whose `kind` says which; without a name, that of `modelplane status`."""
