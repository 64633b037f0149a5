"""Inputs of a placement: the fleet, the demand, the intent and the replicas that already exist.

All classes are immutable values without behaviour. `decision.py` holds the results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from modelplane.devices.model import Claim, Constraint, NodeClass, Request
from modelplane.labels import EVERYTHING, LabelSelector
from modelplane.placement.queue_room import QueueRoom
from modelplane.topology.shape import Topology
from modelplane.workload.allowance import Budget
from modelplane.workload.model import Role
from modelplane.workload.tenancy import Tenants

ANY_CLAIM = frozenset(Claim)
ANY_BACKEND = "*"
"""In place of a cluster's backends: all that are rendered, in the order of the rules."""
Ways: TypeAlias = frozenset[frozenset[Claim]]
"""Of one role: each entry is what must be claimed on some matching pool, and enough there. Empty where none matches."""


class Accounting(StrEnum):
    """The unit that a pod is charged for on its node."""

    DEVICE = "Device"
    NODE = "Node"
    """A pod takes its whole node."""


class Effect(StrEnum):
    """The effect of a taint on replicas that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of an InferenceCluster."""

    key: str
    effect: Effect
    value: str = ""

    def __str__(self) -> str:
        """Return the taint in the form used by messages."""
        return f"{self.key}={self.value}" if self.value else self.key


class TolerationOperator(StrEnum):
    """The operator of a toleration."""

    EQUAL = "Equal"
    EXISTS = "Exists"


@dataclass(frozen=True, slots=True)
class Toleration:
    """A Kubernetes toleration. An empty key with Exists tolerates every key, and effect None tolerates every effect."""

    key: str = ""
    operator: TolerationOperator = TolerationOperator.EQUAL
    value: str = ""
    effect: Effect | None = None


# PodShape and Allocation are tuples, not dataclasses: ledgers of a large fleet are looked up by them tens of thousands
# of times in one call, and a tuple is hashed and compared several times faster.
class PodShape(NamedTuple):
    """The resources that one pod takes of its node.

    `devices` are (device name of the class, count) pairs sorted by name, without Synthetic devices.
    """

    devices: tuple[tuple[str, int], ...] = ()
    cpu_millis: int = 0
    memory_bytes: int = 0
    consumed: tuple[tuple[str, int], ...] = ()
    """The capacity of shared devices, in nano by `device/capacity`, sorted. One that is not named is taken whole."""

    def parts(self) -> dict[str, dict[str, int]]:
        """Return the consumed capacity by device and by `device/capacity`; a device that is held whole has none."""
        found: dict[str, dict[str, int]] = {name: {} for name, _ in self.devices}
        for key, amount in self.consumed:
            found.setdefault(key.partition("/")[0], {})[key] = amount
        return found


class Allocation(NamedTuple):
    """A number of equal pods that hold a place in a pool.

    With `nodes_per_worker` above 1 the pods form gangs of that size, whose members run on different nodes. Without it,
    half-node pods of one gang would be counted as if they could share a node.
    """

    shape: PodShape
    pods: int
    nodes_per_worker: int = 1


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """The node counts of a pool.

    `declared` is spec.nodeCount. `observed` is the number that the cluster reports, None if it is unknown. `maximum` is
    maxNodeCount, None if the pool cannot grow. `allocatable` is the number of observed nodes that take new replicas,
    None where nobody looks at nodes; what is observed never adds nodes to those that are declared.
    """

    declared: int
    observed: int | None = None
    maximum: int | None = None
    allocatable: int | None = None

    @property
    def present(self) -> int:
        """Return the number of nodes that are present and take new replicas."""
        if self.allocatable is not None:
            return min(self.allocatable, self.declared if self.maximum is None else self.maximum)
        return self.declared if self.observed is None else self.observed

    @property
    def usable(self) -> int:
        """Return the number of nodes for placements: those present and those that the pool can still add.

        A node that takes nothing new is one of those that the pool may have.
        """
        return max(self.present, (self.maximum or 0) - self.resting)

    @property
    def resting(self) -> int:
        """Return the number of observed nodes that take no new replica."""
        return 0 if self.allocatable is None else max(0, (self.observed or 0) - self.allocatable)

    @property
    def absent(self) -> int:
        """Return the number of nodes that the pool may have and that are not usable as they are observed now."""
        most = self.declared if self.maximum is None else self.maximum
        return 0 if self.allocatable is None else max(0, most - self.usable)


@dataclass(frozen=True, slots=True)
class Pool:
    """A homogeneous node pool. `node_class` is None when its InferenceClass does not exist.

    `allocations` are the counts per shape of all admitted replicas, as the cluster published them.
    """

    name: str
    class_name: str
    node_class: NodeClass | None
    nodes: NodeCounts
    allocations: tuple[Allocation, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusalNote:
    """The reason that a cluster published for refusing a replica."""

    reason: str
    message: str = ""


def devices_of(holdings: Iterable[Holding]) -> int:
    """Return the number of devices that pods hold."""
    return sum(one.pods * sum(count for _, count in one.shape.devices) for one in holdings)


@dataclass(frozen=True, slots=True)
class Cluster:
    """An InferenceCluster, read from its spec and status.

    `backends` are in order of preference. `capacity_known` is False until the cluster's function has published its
    pools. `admitted` and the keys of `refused` are `namespace/name` of replicas. `labels` does not list the implied
    label `modelplane.ai/cluster`. An `ambiguous` cluster shares its name with another: it gets no new replica and loses
    none. `unreadable` is the error of a cluster that could not be read, which is then ambiguous too. `scheduler` is the
    cluster scheduler; "None" means kube-scheduler alone.
    """

    name: str
    pools: tuple[Pool, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    ready: bool = True
    address_known: bool = True
    capacity_known: bool = True
    backends: tuple[str, ...] = ("KServe",)
    accounting: Accounting = Accounting.DEVICE
    admitted: frozenset[str] = frozenset()
    refused: Mapping[str, RefusalNote] = field(default_factory=dict)
    ambiguous: bool = False
    scheduler: str = "None"
    unreadable: str = ""
    asked: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Admitted replicas (`namespace/name`) that it asks to leave so that another has room, and the pools for that."""
    missing: frozenset[str] = frozenset()
    """API versions that it is known not to serve, as objects name them."""
    tenants: Tenants | None = None
    """The namespaces that may place new replicas there, None for all."""
    queue: QueueRoom | None = None
    """The quota of its queue, None where none is read."""
    recovering: frozenset[str] = frozenset()
    """The replicas (`namespace/name`) whose turn it is to be moved because the cluster keeps them down."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """All InferenceClusters. `received` is False until the list has arrived; until then no replica is moved.

    A fleet that is not `is_whole` has only the clusters of the replicas, and nothing is said of shares of it.
    """

    clusters: tuple[Cluster, ...] = ()
    received: bool = True
    is_whole: bool = True


# --- demand and intent ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoleDemand:
    """The demand of one role of one replica: `pods` equal pods, in gangs of `nodes_per_worker` on different nodes.

    `requests` and `constraints` are those of one pod. `cpu_millis` and `memory_bytes` are sums over its containers.
    """

    role: Role
    pods: int
    nodes_per_worker: int
    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...] = ()
    cpu_millis: int = 0
    memory_bytes: int = 0
    splits: tuple[Topology, ...] = ()
    """Topologies with as many devices over more nodes that the engine takes too, the one of fewest nodes first."""


@dataclass(frozen=True, slots=True)
class Demand:
    """The demand of one replica: one role, or two roles on the same cluster, possibly in different pools.

    `claims` are the ways in which the backend can claim devices.
    """

    roles: tuple[RoleDemand, ...]
    claims: frozenset[Claim] = ANY_CLAIM


class Strategy(StrEnum):
    """The strategy over clusters: spread replicas over many, or pack them on few. Pods of a pool are always packed."""

    SPREAD = "Spread"
    PACK = "Pack"


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """A limit for new placements: replica counts of two values of a cluster label differ by at most `max_skew`."""

    topology_key: str
    max_skew: int = 1


@dataclass(frozen=True, slots=True)
class CacheNeed:
    """A ModelCache and the clusters where it is ready. If it is `required`, a cluster without it is refused.

    `told` has the reasons of clusters where it is not ready, as far as they are known.
    """

    name: str
    ready_clusters: frozenset[str] = frozenset()
    required: bool = False
    told: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Intent:
    """The placement that the author of a deployment wants: number of replicas, selectors and limits.

    `backends` are those that can serve the workload: the one named in the deployment or recorded in its status, else
    every capable one. The cluster's order of preference chooses among them. `schedulers` are the supported cluster
    schedulers, each with the reason why it cannot place the pods; an empty reason means that it can. A
    `max_replicas_per_cluster` of 0 means no limit.
    """

    namespace: str
    deployment: str
    replicas: int = 1
    selector: LabelSelector = EVERYTHING
    tolerations: tuple[Toleration, ...] = ()
    strategy: Strategy = Strategy.SPREAD
    spread: tuple[SpreadConstraint, ...] = ()
    max_replicas_per_cluster: int = 0
    priority: int = 0
    backends: tuple[str, ...] = ("KServe",)
    schedulers: tuple[tuple[str, str], ...] = (("None", ""),)
    cache: CacheNeed | None = None
    needs: tuple[tuple[str, str], ...] = ()
    """API versions that a cluster must serve for the workload, each with the name of what installs it."""
    rebalance: bool = False
    """Replicas that serve may be moved so that another replica has room."""
    recovery: int | None = None
    """The minutes after which a replica that its cluster keeps down is moved, None for never."""
    namespace_labels: tuple[tuple[str, str], ...] | None = None
    """The labels of the namespace, None where they are not known."""
    budgets: tuple[Budget, ...] = ()
    """The quotas of the namespace."""


# --- what exists ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Holding:
    """The resources that one role of one replica takes of one pool."""

    role: Role
    pool: str
    pods: int
    shape: PodShape
    nodes_per_worker: int = 1


def within(wanted: tuple[Holding, ...], held: tuple[Holding, ...]) -> bool:
    """Return whether `wanted` takes no more than `held` of any resource, role by role on the same pool."""
    known = {(one.role, one.pool, one.nodes_per_worker): one for one in held}
    return all(
        (had := known.get((one.role, one.pool, one.nodes_per_worker))) is not None
        and one.pods <= had.pods
        and _no_larger(one.shape, had.shape)
        for one in wanted
    )


def _no_larger(shape: PodShape, than: PodShape) -> bool:
    held, parts, held_parts = dict(than.devices), shape.parts(), than.parts()
    return (
        all(
            count <= held.get(name, 0) and _no_larger_part(parts[name], count, held_parts[name], held[name])
            for name, count in shape.devices
        )
        and shape.cpu_millis <= than.cpu_millis
        and shape.memory_bytes <= than.memory_bytes
    )


def _no_larger_part(part: Mapping[str, int], count: int, than: Mapping[str, int], held: int) -> bool:
    """Return whether each of `count` devices gives no more than each of the `held` devices did.

    A capacity that is not named is taken whole, and no part of it is larger.
    """
    return all(key in part and part[key] * held <= amount * count for key, amount in than.items())


@dataclass(frozen=True, slots=True)
class CurrentReplica:
    """An existing replica of the deployment: its ModelReplica is observed and not being deleted.

    `created` is its creationTimestamp as text. `ready` refers to the current spec; a status that is older than the last
    rewrite is not ready. A `bound` replica has been rendered, so a refusal no longer removes it. An `outdated` replica
    would restart if it were written from the current template. `replaces` is the name of the replica it succeeds, from
    the annotation `names.ANNOTATION_REPLACES`; it tells a move from a surplus. The admission is read from the cluster.
    `backend` is empty where somebody else wrote it. Of a `doubted` replica it is not known what it runs: no move of it
    begins, and none that has begun is undone or ends.
    """

    name: str
    cluster: str
    backend: str
    holdings: tuple[Holding, ...]
    created: str = ""
    ready: bool = False
    bound: bool = False
    outdated: bool = False
    doubted: bool = False
    replaces: str | None = None
    makes_room: bool = False
    """It succeeds a replica that leaves so that another one has room."""
    asks: bool = False
    """It was proposed where it had no room, so that others may make some."""
    down: bool = False
    """Its cluster keeps it down."""
    failing: str = ""
    """The cause, once it was down for as long as its deployment waits for it; empty otherwise."""


@dataclass(frozen=True, slots=True)
class Current:
    """The replicas of the deployment, and the names of objects that are still being deleted."""

    replicas: tuple[CurrentReplica, ...] = ()
    taken_names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The inputs of one decision."""

    fleet: Fleet
    demand: Demand
    intent: Intent
    current: Current


@dataclass(frozen=True, slots=True)
class ReplicaClaim:
    """The claim of one ModelReplica on the cluster that it names; `key` is `namespace/name`.

    A replica that `holds` was admitted before or is bound; it stays whatever happens to the pool. `wants` is what it
    asks for in place of its holdings, None if it asks for nothing else. `nodes` are those that its cluster recorded for
    each of its holdings, by numbers that mean nothing to anybody else; empty where none are recorded.
    """

    key: str
    holdings: tuple[Holding, ...]
    priority: int = 0
    created: str = ""
    holds: bool = False
    wants: tuple[Holding, ...] | None = None
    leaves: str = ""
    """The deployment that offers to move it elsewhere, empty where it stays."""
    nodes: tuple[tuple[int, ...], ...] = ()
    lingers: bool = False
    """Pods of its holdings may still run once it has what it wants, so the larger of both counts."""
    gated: bool = False
    """A quota decides about it too: it is judged, and takes nothing."""
    recovers: bool = False
    """Its deployment offers to move it because the cluster keeps it down."""
