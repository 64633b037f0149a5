"""Results of a decision: the plan for a deployment, the verdicts of a cluster, and their reasons."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum, auto
from typing import ClassVar, NamedTuple

from modelplane.placement.snapshot import Allocation, Cluster, Demand, Holding, Intent, PodShape, Pool, RoleDemand
from modelplane.workload.model import Role


class Telling(Enum):
    """The detail that a message adds to the text under which refusals are counted."""

    NOTHING = auto()
    """The text is complete."""
    DETAIL = auto()
    """The message adds the detail of the cluster that is nearest to a fit."""
    COMPARISON = auto()
    """The detail is a comparison, so the message labels it "closest" even for a single cluster."""


@dataclass(frozen=True, slots=True, eq=False)
class Reason:
    """A reason why a cluster or one of its pools cannot take a replica.

    A cluster gets the first reason that applies by `order`; a greater order means that the cluster passed more checks.
    `distance` orders clusters and pools by how far they are from a fit: a shortage is nearer than a decision that
    somebody made. `condition` is the reason of the deployment's condition; if it is empty, the condition uses `text`. A
    reason equals only itself.
    """

    text: str
    order: int
    distance: int
    telling: Telling = Telling.NOTHING
    condition: str = ""

    LABEL_MISMATCH: ClassVar[Reason]
    NAMESPACE_NOT_ALLOWED: ClassVar[Reason]
    UNTOLERATED_TAINT: ClassVar[Reason]
    CLUSTER_NOT_READY: ClassVar[Reason]
    NO_GATEWAY_ADDRESS: ClassVar[Reason]
    BACKEND_UNAVAILABLE: ClassVar[Reason]
    BACKEND_NOT_INSTALLED: ClassVar[Reason]
    CACHE_NOT_READY: ClassVar[Reason]
    REFUSED_BY_CLUSTER: ClassVar[Reason]
    REPLICA_LIMIT: ClassVar[Reason]
    SELECTOR_ERROR: ClassVar[Reason]
    NO_MATCHING_DEVICE: ClassVar[Reason]
    INSUFFICIENT_NODES: ClassVar[Reason]
    INSUFFICIENT_DEVICES: ClassVar[Reason]
    INSUFFICIENT_NODE_RESOURCES: ClassVar[Reason]
    SPREAD_CONSTRAINT: ClassVar[Reason]
    QUOTA_EXCEEDED: ClassVar[Reason]
    QUEUE_QUOTA: ClassVar[Reason]

    def __str__(self) -> str:
        """Return the text for status and conditions."""
        return self.text


# fmt: off
_CAPACITY = "InsufficientCapacity"
Reason.LABEL_MISMATCH = Reason("LabelMismatch", 10, 140, condition="NoMatchingCluster")
Reason.NAMESPACE_NOT_ALLOWED = Reason("NamespaceNotAllowed", 15, 150)
Reason.UNTOLERATED_TAINT = Reason("UntoleratedTaint", 20, 130)
Reason.CLUSTER_NOT_READY = Reason("ClusterNotReady", 30, 90)
Reason.NO_GATEWAY_ADDRESS = Reason("NoGatewayAddress", 40, 80)
Reason.BACKEND_UNAVAILABLE = Reason("BackendUnavailable", 50, 120, Telling.DETAIL)
Reason.BACKEND_NOT_INSTALLED = Reason("BackendNotInstalled", 55, 100, Telling.DETAIL)
Reason.CACHE_NOT_READY = Reason("CacheNotReady", 60, 60)
Reason.REFUSED_BY_CLUSTER = Reason("RefusedByCluster", 70, 70, Telling.DETAIL)
Reason.REPLICA_LIMIT = Reason("ReplicaLimit", 80, 10, Telling.DETAIL)
Reason.QUEUE_QUOTA = Reason("QueueQuota", 85, 12, Telling.DETAIL, _CAPACITY)
Reason.SELECTOR_ERROR = Reason("SelectorError", 90, 110, Telling.DETAIL)
Reason.NO_MATCHING_DEVICE = Reason("NoMatchingDevice", 100, 100, Telling.COMPARISON)
Reason.INSUFFICIENT_NODES = Reason("InsufficientNodes", 110, 50, Telling.DETAIL, _CAPACITY)
Reason.INSUFFICIENT_DEVICES = Reason("InsufficientDevices", 120, 40, Telling.DETAIL, _CAPACITY)
Reason.INSUFFICIENT_NODE_RESOURCES = Reason("InsufficientNodeResources", 130, 30, Telling.DETAIL, _CAPACITY)
Reason.SPREAD_CONSTRAINT = Reason("SpreadConstraint", 140, 20, Telling.DETAIL)
Reason.QUOTA_EXCEEDED = Reason("QuotaExceeded", 150, 15, Telling.DETAIL)
# fmt: on


class State(StrEnum):
    """The fate of a replica in this step."""

    RETAINED = "retained"
    NEW = "new"
    MOVED = "moved"
    """The replica is new and succeeds another one (`replaces`), which stays until this one is ready."""
    SHED = "shed"
    """The replica is deleted now."""


class Admission(StrEnum):
    """The cluster's say over a replica."""

    PENDING = "Pending"
    ADMITTED = "Admitted"
    REFUSED = "Refused"


@dataclass(frozen=True, slots=True)
class DeviceAssignment:
    """One request of a pod, or the alternative of it that is served, bound to one device of the pool's class."""

    request: str
    device: str
    count: int
    alternative: str = ""


@dataclass(frozen=True, slots=True)
class PlacedRole:
    """One role on its pool.

    `nodes` is the smallest number of nodes for its pods. `devices` is empty for a retained replica, whose composed spec
    has them already. `shape` is what one pod takes.
    """

    role: Role
    pool: str
    pods: int
    nodes: int
    nodes_per_worker: int
    shape: PodShape
    devices: tuple[DeviceAssignment, ...] = ()


@dataclass(frozen=True, slots=True)
class PlacedReplica:
    """One replica of the plan, to be composed unless `state` is SHED.

    With `rewrite` the current template and these roles are written into the replica; without it the replica is composed
    as observed. NEW and MOVED replicas are always rewritten, a RETAINED one only when it is updated in place. A replica
    without `holds_place` is composed but does not count as placed: its cluster refused it and it waits there, or its
    cluster is gone. `note` says why the replica is where it is, or what it waits for.
    """

    name: str
    cluster: str
    backend: str
    state: State
    roles: tuple[PlacedRole, ...]
    admission: Admission = Admission.PENDING
    holds_place: bool = True
    rewrite: bool = False
    replaces: str | None = None
    note: str = ""
    makes_room: bool = False
    """It succeeds `replaces` so that a replica that waits for that place has room."""
    asks: bool = False
    """It is proposed where it has no room, so that others may make some."""


@dataclass(frozen=True, slots=True)
class PoolVerdict:
    """The verdict of one pool on one role. `reason` is None if the role fits."""

    pool: str
    role: Role
    reason: Reason | None
    detail: str = ""

    @property
    def fits(self) -> bool:
        """Return whether the role fits the pool by itself."""
        return self.reason is None


class ClusterVerdict(NamedTuple):
    """The verdict of one cluster on one more replica. `reason` is None if the replica fits.

    `pool` is the pool that is nearest to a fit when devices are missing. `group` is the text under which messages count
    the cluster. The class is a tuple because a refusal creates one for every cluster of the fleet.
    """

    cluster: str
    reason: Reason | None
    detail: str = ""
    group: str = ""
    pool: str = ""
    pools: Sequence[PoolVerdict] = ()

    @property
    def fits(self) -> bool:
        """Return whether one more replica fits."""
        return self.reason is None


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """The number of clusters that gave one reason.

    `examples` are up to five of their names. `detail` is that of the cluster nearest to a fit.
    """

    reason: Reason
    clusters: int
    examples: tuple[str, ...]
    detail: str


@dataclass(frozen=True, slots=True)
class World:
    """The objects that a change may modify: one cluster, the demand and the intent.

    With `pardoned` the refusals of the cluster are ignored.
    """

    cluster: Cluster
    demand: Demand
    intent: Intent
    pardoned: bool = False

    def with_pool(self, name: str, changed: Callable[[Pool], Pool]) -> World:
        """Return the world with one pool of the cluster changed."""
        pools = tuple(changed(pool) if pool.name == name else pool for pool in self.cluster.pools)
        return replace(self, cluster=replace(self.cluster, pools=pools))

    def role(self, role: Role) -> RoleDemand:
        """Return the demand of a role that the workload has."""
        return next(one for one in self.demand.roles if one.role is role)

    def with_role(self, changed: RoleDemand) -> World:
        """Return the world with another demand of the role that `changed` names."""
        roles = tuple(changed if one.role is changed.role else one for one in self.demand.roles)
        return replace(self, demand=replace(self.demand, roles=roles))


class Change(ABC):
    """A change that somebody could make. It is applied to a `World`, so that its effect is checked and not assumed."""

    __slots__ = ()

    @abstractmethod
    def apply(self, world: World) -> World:
        """Return the world with the change made."""

    @abstractmethod
    def describe(self, *, roles: int) -> str:
        """Return the end of "it would fit if ..."; `roles` is the number of roles of the workload."""


@dataclass(frozen=True, slots=True)
class Closest:
    """The cluster that is nearest to a fit.

    `changes` together make one more replica fit; the matcher has confirmed it.
    """

    cluster: str
    pool: str
    misses: tuple[str, ...]
    would_fit_if: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """The replicas that are wanted and hold no place.

    `message` has the form of kube-scheduler's. `verdicts` has every cluster by name.
    """

    count: int
    message: str
    reasons: tuple[ReasonCount, ...]
    closest: Closest | None
    verdicts: tuple[ClusterVerdict, ...]


@dataclass(frozen=True, slots=True)
class BlockedMove:
    """A replica that should move and stays as it is.

    `cause` says why it should move (drained, outdated, pool gone), `message` why it cannot yet.
    """

    replica: str
    cause: str
    message: str
    is_held: bool = False
    """The message is complete: what clusters say of a successor is not what blocks it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan for one deployment: every current replica (kept or shed) and every new one, sorted by name."""

    replicas: tuple[PlacedReplica, ...]
    wanted: int
    shortfall: Shortfall | None = None
    blocked: tuple[BlockedMove, ...] = ()
    offered: tuple[str, ...] = ()
    """Replicas that may leave their clusters so that others have room: successors have places elsewhere."""
    recovers: tuple[str, ...] = ()
    """The replica that is kept down and may move when its cluster says so: a successor has a place elsewhere."""

    @property
    def composed(self) -> tuple[PlacedReplica, ...]:
        """Return the replicas to compose; all others are deleted."""
        return tuple(replica for replica in self.replicas if replica.state is not State.SHED)

    @property
    def shed(self) -> tuple[PlacedReplica, ...]:
        """Return the replicas to delete."""
        return tuple(replica for replica in self.replicas if replica.state is State.SHED)

    @property
    def placed(self) -> int:
        """Return the number of wanted replicas that hold a place; a successor and its predecessor count once."""
        return self.wanted - (self.shortfall.count if self.shortfall is not None else 0)


# --- the cluster's side -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AdmissionVerdict:
    """The cluster's admission of one replica; `key` is `namespace/name`. It is PENDING while an input is missing.

    One that `fits` is pending because a quota decides about it too.
    """

    key: str
    admission: Admission
    reason: Reason | None = None
    message: str = ""
    fits: bool = False


@dataclass(frozen=True, slots=True)
class PoolAccount:
    """The ledger of one pool after admission.

    `free` is, by device name of the class, what no admitted replica holds on the nodes that are present. A pool is
    `over_committed` when more is admitted than it can hold; no replica is moved for that. `problems` are errors.
    """

    name: str
    allocations: tuple[Allocation, ...]
    free: tuple[tuple[str, int], ...]
    nodes_used: int
    over_committed: bool
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterAccount:
    """The account that a cluster publishes: verdicts sorted by key, and pools in the given order.

    `changes` has a verdict per replica that asks for something other than it holds. A refused one keeps what it holds.
    `nodes` are, by replica, the nodes that each of its holdings was admitted to: to be given back with its claim.
    """

    verdicts: tuple[AdmissionVerdict, ...]
    pools: tuple[PoolAccount, ...]
    changes: tuple[AdmissionVerdict, ...] = ()
    asked: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The replica that is asked to leave so that a refused one has room, and the pools that this one needs."""
    nodes: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    counted: Mapping[str, tuple[Holding, ...]] = field(default_factory=dict)
    """The holdings that count for a replica with an admitted change while its pods from before may run, if larger."""

    @property
    def over_committed(self) -> bool:
        """Return whether any pool is over-committed."""
        return any(pool.over_committed for pool in self.pools)
