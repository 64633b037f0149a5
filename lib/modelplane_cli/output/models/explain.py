"""The answer of `modelplane explain -o json`."""

from __future__ import annotations

from typing import Literal

from modelplane_cli.output.models.base import Part, RoleName
from modelplane_cli.output.models.common import Closest, Move, Place


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
