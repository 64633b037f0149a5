"""What `modelplane explain -o json` answers."""

from __future__ import annotations

from typing import Literal

from modelplane_cli.output.models.base import Part, RoleName
from modelplane_cli.output.models.common import Closest, Move, Place


class PoolVerdict(Part):
    """What one pool says to one role of a replica."""

    pool: str
    """Name of the pool."""
    role: RoleName
    """The role it was asked for."""
    fits: bool
    """The pool can take it."""
    reason: str | None
    """Stable code of the refusal; null where it fits."""
    detail: str
    """What is missing; empty where it fits."""


class ClusterVerdict(Part):
    """What one cluster says to one more replica, or to the one that is asked about."""

    cluster: str
    """The InferenceCluster."""
    fits: bool
    """The cluster can take it."""
    reason: str | None
    """Stable code of the refusal; null where it fits."""
    detail: str
    """What is missing; empty where it fits."""
    pools: list[PoolVerdict]
    """Its pools; empty where the cluster as a whole is refused."""


class AlsoFits(Part):
    """A cluster that would take a replica as well."""

    cluster: str
    """The InferenceCluster."""
    preferred: bool
    """It comes before the one where the replica is, which stays there all the same."""
    why: str
    """Why it comes before or after that one."""


class DoesNotFit(Part):
    """A cluster that would not take a replica."""

    cluster: str
    """The InferenceCluster."""
    reason: str
    """Stable code of the refusal."""
    detail: str
    """What is missing."""


class Standing(Part):
    """Why one replica is where it is."""

    name: str
    """Name of the ModelReplica."""
    cluster: str
    """Where it is."""
    pools: dict[RoleName, str]
    """Its pools by role."""
    admission: Literal["Pending", "Admitted", "Refused"]
    """What the cluster says to it."""
    note: str
    """What the scheduler remarks; often empty."""
    engine_arguments: str
    """Arguments that the engine gets beside those its author wrote; empty where there are none."""
    fits: bool | None
    """It would be placed there again today; null where its cluster cannot be asked any more."""
    would_also_fit: list[AlsoFits]
    """Clusters that would take it, the best first."""
    would_not_fit: list[DoesNotFit]
    """Clusters that would not."""


class Blocked(Part):
    """A replica that should move and cannot."""

    replica: str
    """Name of the ModelReplica."""
    cause: str
    """Why it should move."""
    message: str
    """Why it cannot."""


class Moves(Part):
    """The smallest set of moves of other replicas after which one that is missing has a place."""

    decided: bool
    """The search came to its end; else there may be moves, or fewer of them, that were not looked at."""
    would_fit_if: str
    """The moves in words; empty where none help."""
    place: Place | None
    """Where the missing replica then goes; null where no moves help."""
    steps: list[Move]
    """The moves in the order in which they can be made."""


class Explanation(Part):
    """Why replicas are where they are, why nowhere else, and what would make one more fit."""

    kind: Literal["ModelDeployment", "ModelReplica"]
    """What was asked about."""
    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    message: str
    """The answer in one sentence."""
    placed: bool
    """Everything asked about is placed where it may be."""
    clusters: list[ClusterVerdict]
    """Every cluster by name."""
    closest: Closest | None
    """What would make one more fit; null where one fits already, or nothing is known to help."""
    otherwise: Closest | None
    """What else would make one more fit, where `closest` says moves; null where it does not."""
    moves: Moves | None
    """Moves of other replicas that would help; null where nothing is missing, or a replica was asked about."""
    no_change: str | None
    """Why nothing is said to help; null where something is, or nothing needs to."""
    replicas: list[Standing]
    """The replicas that hold a placement."""
    blocked: list[Blocked]
    """Replicas that should move and cannot."""
