"""The outcome of a decision: a plan for a deployment, verdicts of a cluster, and the reasons of both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import ClassVar, NamedTuple

from modelplane.placement.snapshot import Allocation, Cluster, Demand, Intent, PodShape
from modelplane.workload.model import Role


class Telling(Enum):
    """How much a detail adds to the words that refusals are counted under."""

    NOTHING = auto()
    """The words say all there is."""
    DETAIL = auto()
    """The detail says more; of several clusters that of the nearest is told."""
    COMPARISON = auto()
    """The detail compares, so what is told is called closest even of one cluster."""


@dataclass(frozen=True, slots=True, eq=False)
class Reason:
    """Why a cluster (or one of its pools) cannot take a replica; all that is said of a reason stands in its row.

    One per cluster, the first that applies by `order`: the greater, the nearer the cluster came to a fit. `distance`
    orders clusters and pools by how far what they lack is from a fit, what is short before what was decided by
    somebody. `condition` is the reason of the deployment's condition, empty where it is the text itself. A reason is
    equal to itself alone.
    """

    text: str
    order: int
    distance: int
    telling: Telling = Telling.NOTHING
    condition: str = ""

    LABEL_MISMATCH: ClassVar[Reason]
    UNTOLERATED_TAINT: ClassVar[Reason]
    CLUSTER_NOT_READY: ClassVar[Reason]
    NO_GATEWAY_ADDRESS: ClassVar[Reason]
    BACKEND_UNAVAILABLE: ClassVar[Reason]
    CACHE_NOT_READY: ClassVar[Reason]
    REFUSED_BY_CLUSTER: ClassVar[Reason]
    REPLICA_LIMIT: ClassVar[Reason]
    SELECTOR_ERROR: ClassVar[Reason]
    NO_MATCHING_DEVICE: ClassVar[Reason]
    INSUFFICIENT_NODES: ClassVar[Reason]
    INSUFFICIENT_DEVICES: ClassVar[Reason]
    INSUFFICIENT_NODE_RESOURCES: ClassVar[Reason]
    SPREAD_CONSTRAINT: ClassVar[Reason]

    def __str__(self) -> str:
        """Return the text that stands in status and conditions."""
        return self.text


# fmt: off
_CAPACITY = "InsufficientCapacity"
Reason.LABEL_MISMATCH = Reason("LabelMismatch", 10, 140, condition="NoMatchingCluster")
Reason.UNTOLERATED_TAINT = Reason("UntoleratedTaint", 20, 130)
Reason.CLUSTER_NOT_READY = Reason("ClusterNotReady", 30, 90)
Reason.NO_GATEWAY_ADDRESS = Reason("NoGatewayAddress", 40, 80)
Reason.BACKEND_UNAVAILABLE = Reason("BackendUnavailable", 50, 120, Telling.DETAIL)
Reason.CACHE_NOT_READY = Reason("CacheNotReady", 60, 60)
Reason.REFUSED_BY_CLUSTER = Reason("RefusedByCluster", 70, 70, Telling.DETAIL)
Reason.REPLICA_LIMIT = Reason("ReplicaLimit", 80, 10, Telling.DETAIL)
Reason.SELECTOR_ERROR = Reason("SelectorError", 90, 110, Telling.DETAIL)
Reason.NO_MATCHING_DEVICE = Reason("NoMatchingDevice", 100, 100, Telling.COMPARISON)
Reason.INSUFFICIENT_NODES = Reason("InsufficientNodes", 110, 50, Telling.DETAIL, _CAPACITY)
Reason.INSUFFICIENT_DEVICES = Reason("InsufficientDevices", 120, 40, Telling.DETAIL, _CAPACITY)
Reason.INSUFFICIENT_NODE_RESOURCES = Reason("InsufficientNodeResources", 130, 30, Telling.DETAIL, _CAPACITY)
Reason.SPREAD_CONSTRAINT = Reason("SpreadConstraint", 140, 20, Telling.DETAIL)
# fmt: on


class State(StrEnum):
    """What becomes of a replica in this step."""

    RETAINED = "retained"
    NEW = "new"
    MOVED = "moved"
    """New, and the successor of another replica (`replaces`), which stays until this one is ready."""
    SHED = "shed"
    """To be deleted now."""


class Admission(StrEnum):
    """The cluster's say over a replica."""

    PENDING = "Pending"
    ADMITTED = "Admitted"
    REFUSED = "Refused"


@dataclass(frozen=True, slots=True)
class DeviceAssignment:
    """One request of a pod bound to one device of the pool's class."""

    request: str
    device: str
    count: int


@dataclass(frozen=True, slots=True)
class PlacedRole:
    """One role on its pool.

    `nodes` is the fewest nodes its pods stand on. `devices` is empty for a retained replica: its composed spec
    already says. `shape` is what one pod takes.
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

    `rewrite`: write the present template and these roles into it; otherwise it is composed exactly as observed. NEW
    and MOVED are always rewritten; a RETAINED one only when it is updated in place. `holds_place` False: composed,
    and not counted as placed (refused by its cluster and waiting there, or its cluster is gone). `note` says why it
    is where it is, or what it waits for.
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


@dataclass(frozen=True, slots=True)
class PoolVerdict:
    """Whether one pool can take one role, and why not. `reason` None when it fits."""

    pool: str
    role: Role
    reason: Reason | None
    detail: str = ""

    @property
    def fits(self) -> bool:
        """Return whether the role fits the pool by itself."""
        return self.reason is None


class ClusterVerdict(NamedTuple):
    """Whether one cluster can take one more replica, and the one reason why not.

    A tuple, because a refusal makes one for every cluster of the fleet.

    `pool` is the pool that comes nearest when devices are what is missing. `group` is the text counted in messages.
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
    """How many clusters gave one reason.

    `examples` are up to five of their names, `detail` the most telling of their details.
    """

    reason: Reason
    clusters: int
    examples: tuple[str, ...]
    detail: str


@dataclass(frozen=True, slots=True)
class World:
    """One cluster, the demand and the intent: what a change may touch. `pardoned`: its refusal is set aside."""

    cluster: Cluster
    demand: Demand
    intent: Intent
    pardoned: bool = False


class Change(ABC):
    """One thing that somebody could change; it is made for real, so that it can be checked and not only claimed."""

    __slots__ = ()

    @abstractmethod
    def apply(self, world: World) -> World:
        """Return the world with the change made."""

    @abstractmethod
    def describe(self, *, roles: int) -> str:
        """Return the end of "it would fit if ..."; `roles` is how many the workload has."""


@dataclass(frozen=True, slots=True)
class Closest:
    """The cluster that misses by least.

    `changes` together make one more replica fit, which has been checked by the matcher.
    """

    cluster: str
    pool: str
    misses: tuple[str, ...]
    would_fit_if: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Replicas that are wanted and hold no place. `message` reads as kube-scheduler's.

    `verdicts` has every cluster by name.
    """

    count: int
    message: str
    reasons: tuple[ReasonCount, ...]
    closest: Closest | None
    verdicts: tuple[ClusterVerdict, ...]


@dataclass(frozen=True, slots=True)
class BlockedMove:
    """A replica that should move (drained, outdated, cluster gone) and stays as it is.

    Why it should, and why it cannot yet.
    """

    replica: str
    cause: str
    message: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compose for one deployment: every current replica (kept or shed) and every new one, sorted by name."""

    replicas: tuple[PlacedReplica, ...]
    wanted: int
    shortfall: Shortfall | None = None
    blocked: tuple[BlockedMove, ...] = ()

    @property
    def composed(self) -> tuple[PlacedReplica, ...]:
        """Return the replicas to compose; what is not among them is deleted."""
        return tuple(replica for replica in self.replicas if replica.state is not State.SHED)

    @property
    def shed(self) -> tuple[PlacedReplica, ...]:
        """Return the replicas to delete."""
        return tuple(replica for replica in self.replicas if replica.state is State.SHED)

    @property
    def placed(self) -> int:
        """Return how many wanted replicas hold a place; a successor and the one it replaces count once."""
        return self.wanted - (self.shortfall.count if self.shortfall is not None else 0)


# --- the cluster's side -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AdmissionVerdict:
    """The cluster's say over one replica (`namespace/name`); PENDING while what it would be judged by is missing."""

    key: str
    admission: Admission
    reason: Reason | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class PoolAccount:
    """The ledger of one pool after admission.

    `free` is, by class device name, what no admitted replica holds on the nodes present now. `over_committed`: more was
    admitted than the pool holds today; nobody is moved for it. `problems` are inconsistencies found.
    """

    name: str
    allocations: tuple[Allocation, ...]
    free: tuple[tuple[str, int], ...]
    nodes_used: int
    over_committed: bool
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterAccount:
    """What a cluster publishes: a verdict per replica (sorted by key) and the ledger per pool (in the order given).

    `changes` has a verdict per replica that asks something else than it holds; one that is refused holds what it held.
    """

    verdicts: tuple[AdmissionVerdict, ...]
    pools: tuple[PoolAccount, ...]
    changes: tuple[AdmissionVerdict, ...] = ()

    @property
    def over_committed(self) -> bool:
        """Return whether any pool is."""
        return any(pool.over_committed for pool in self.pools)
