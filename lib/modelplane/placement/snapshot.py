"""The snapshot a placement is decided from: fleet, demand, intent and the replicas that already exist.

Everything is a value. Nothing here decides; `decision.py` holds the outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from modelplane.devices.model import Constraint, NodeClass, Request
from modelplane.workload.model import Role


class Accounting(StrEnum):
    """What a pod is charged for on its node."""

    DEVICE = "Device"
    NODE = "Node"
    """A pod takes its whole node."""


class Effect(StrEnum):
    """What a taint does to those who do not tolerate it."""

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
        """Return the taint as it is written in messages."""
        return f"{self.key}={self.value}" if self.value else self.key


class TolerationOperator(StrEnum):
    """How a toleration compares the taint's value."""

    EQUAL = "Equal"
    EXISTS = "Exists"


@dataclass(frozen=True, slots=True)
class Toleration:
    """A Kubernetes toleration: an empty key with Exists tolerates every key, effect None every effect."""

    key: str = ""
    operator: TolerationOperator = TolerationOperator.EQUAL
    value: str = ""
    effect: Effect | None = None


class LabelOperator(StrEnum):
    """How a label expression compares."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


@dataclass(frozen=True, slots=True)
class LabelExpression:
    """One matchExpressions entry. NotIn and DoesNotExist hold for a label that is absent, as in Kubernetes."""

    key: str
    operator: LabelOperator
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A Kubernetes label selector; empty selects everything. `match_labels` are (key, value) pairs."""

    match_labels: tuple[tuple[str, str], ...] = ()
    match_expressions: tuple[LabelExpression, ...] = ()


# PodShape and Allocation are tuples, not dataclasses: ledgers of a large fleet are looked up by them tens of thousands
# of times in one call, and a tuple is hashed and compared several times faster.
class PodShape(NamedTuple):
    """What one pod takes of its node: (class device name, count) pairs sorted by name, Synthetic devices left out."""

    devices: tuple[tuple[str, int], ...] = ()
    cpu_millis: int = 0
    memory_bytes: int = 0


class Allocation(NamedTuple):
    """`pods` equal pods that hold a place in a pool.

    `nodes_per_worker` above 1 says that the pods come in gangs of that size whose members stand on different nodes;
    without it a gang of half-node pods would be counted as if it could share a node.
    """

    shape: PodShape
    pods: int
    nodes_per_worker: int = 1


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """The nodes of a pool, each number with its own meaning.

    `declared` is nodeCount of the spec, `observed` what the cluster reports (None: unknown), `maximum` maxNodeCount
    of a pool that can grow (None: it cannot).
    """

    declared: int
    observed: int | None = None
    maximum: int | None = None

    @property
    def present(self) -> int:
        """Return the nodes that are there now."""
        return self.declared if self.observed is None else self.observed

    @property
    def usable(self) -> int:
        """Return the nodes a placement may count on: those present, and those a growable pool can still add."""
        return max(self.present, self.maximum or 0)


@dataclass(frozen=True, slots=True)
class Pool:
    """One homogeneous node pool. `node_class` None.

    Its InferenceClass is not there, so nothing can be said about its devices.

    `allocations` are what the cluster published: counts per shape of all admitted replicas.
    """

    name: str
    class_name: str
    node_class: NodeClass | None
    nodes: NodeCounts
    allocations: tuple[Allocation, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusalNote:
    """Why a cluster refused a replica, as it published it."""

    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Cluster:
    """One InferenceCluster as its spec and status say.

    `backends` in order of preference. `capacity_known` False: its function has not published pools yet. `admitted`
    and the keys of `refused` are `namespace/name` of replicas. The label `modelplane.ai/cluster` with the cluster's
    name is understood without being listed in `labels`. `ambiguous`: the snapshot had several of this name, so nothing
    new goes there and nothing is moved away. `unreadable` says why nothing is known of it but its name, and then it is
    ambiguous too; empty of one that was read. `scheduler` names what places pods there; "None" is kube-scheduler alone.
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


@dataclass(frozen=True, slots=True)
class Fleet:
    """All clusters. `received` False.

    The list has not really arrived, so a missing cluster proves nothing and nobody is moved.
    """

    clusters: tuple[Cluster, ...] = ()
    received: bool = True


# --- demand and intent ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoleDemand:
    """What one role of one replica needs: `pods` equal pods, in gangs of `nodes_per_worker` on different nodes.

    `requests` and `constraints` are of ONE pod; `cpu_millis` and `memory_bytes` are the sums over its containers.
    """

    role: Role
    pods: int
    nodes_per_worker: int
    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...] = ()
    cpu_millis: int = 0
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Demand:
    """What one replica needs: one role, or two on the same cluster whose pools may differ."""

    roles: tuple[RoleDemand, ...]


class Strategy(StrEnum):
    """Over clusters: few replicas on many, or many on few. Inside a pool pods are always packed."""

    SPREAD = "Spread"
    PACK = "Pack"


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """Replica counts of any two values of a cluster label differ by at most `max_skew`; a rule for new placements."""

    topology_key: str
    max_skew: int = 1


@dataclass(frozen=True, slots=True)
class CacheNeed:
    """A ModelCache: the clusters where it is ready, and whether a cluster without it is refused or only less liked."""

    name: str
    ready_clusters: frozenset[str] = frozenset()
    required: bool = False


@dataclass(frozen=True, slots=True)
class Intent:
    """Where the author of a deployment wants replicas, and how many.

    `backends` are those that can serve this workload: the one named on the deployment or sticky in its status, else
    every capable one; a cluster's own order of preference chooses among them. `schedulers` are the cluster schedulers
    that are offered, each with why it cannot place this workload's pods (empty: it can). `max_replicas_per_cluster` 0
    is no limit.
    """

    namespace: str
    deployment: str
    replicas: int = 1
    selector: LabelSelector = LabelSelector()
    tolerations: tuple[Toleration, ...] = ()
    strategy: Strategy = Strategy.SPREAD
    spread: tuple[SpreadConstraint, ...] = ()
    max_replicas_per_cluster: int = 0
    priority: int = 0
    backends: tuple[str, ...] = ("KServe",)
    schedulers: tuple[tuple[str, str], ...] = (("None", ""),)
    cache: CacheNeed | None = None


# --- what exists ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Holding:
    """What one role of one replica takes of one pool."""

    role: Role
    pool: str
    pods: int
    shape: PodShape
    nodes_per_worker: int = 1


@dataclass(frozen=True, slots=True)
class CurrentReplica:
    """One replica of this deployment that exists (its ModelReplica is observed and not being deleted).

    `created` is its creationTimestamp as text (RFC 3339 sorts as text). `ready` speaks of the replica as it is written
    now: a status that is older than the last rewrite is not ready. `bound`: its workload has been rendered, so a
    refusal can no longer unmake it. `outdated`: it would be written differently today in a way that restarts it.
    `replaces` is the name of the replica it succeeds, kept on the object under `names.ANNOTATION_REPLACES`; without it
    a move cannot be told from a surplus. Whether the cluster admitted or refused it is read from the cluster in the
    fleet, never told twice.
    """

    name: str
    cluster: str
    backend: str
    holdings: tuple[Holding, ...]
    created: str = ""
    ready: bool = False
    bound: bool = False
    outdated: bool = False
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class Current:
    """The deployment's own replicas, and further names that are taken (objects still being deleted)."""

    replicas: tuple[CurrentReplica, ...] = ()
    taken_names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The four inputs of one decision."""

    fleet: Fleet
    demand: Demand
    intent: Intent
    current: Current


@dataclass(frozen=True, slots=True)
class ReplicaClaim:
    """What one ModelReplica asks of the cluster it names; `key` is `namespace/name`.

    `holds`: the cluster admitted it before, or it is bound; such a replica stays whatever happens to the pool.
    `wants` is what it asks in place of what it holds, None where it asks nothing else.
    """

    key: str
    holdings: tuple[Holding, ...]
    priority: int = 0
    created: str = ""
    holds: bool = False
    wants: tuple[Holding, ...] | None = None
