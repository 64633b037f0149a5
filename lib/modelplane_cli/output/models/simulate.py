"""What `modelplane simulate -o json` answers."""

from __future__ import annotations

from pydantic.json_schema import SkipJsonSchema

from modelplane_cli.output.models.base import Part, absent
from modelplane_cli.output.models.common import Change, Move, Place
from modelplane_cli.output.models.plan import Plan


class Unplaced(Part):
    """Replicas of one deployment that have no place."""

    namespace: str
    """Namespace of the ModelDeployment."""
    name: str
    """Its name."""
    count: int
    """How many have no place."""
    replicas: list[str]
    """Names of those that had one, or should move and cannot."""
    message: str
    """Why."""


class Step(Part):
    """One thing that happens, and what follows from it."""

    event: str
    """What happens, in words."""
    fits: bool
    """Everything wanted has a place, and nobody's decision interrupted anything."""
    moved: list[Change]
    """The changes that are moves."""
    lost: list[Change]
    """The changes that interrupt."""
    unplaced: list[Unplaced]
    """Deployments with replicas that have no place."""
    changes: list[Change]
    """All changes of the step."""
    stages: list[list[str]]
    """What happens one after the other, a sentence each; within a stage at once."""


class Loss(Part):
    """A set of clusters that can be lost."""

    clusters: list[str]
    """The InferenceClusters."""
    devices: int
    """Devices that are lost with them."""


class SingleLoss(Part):
    """The loss of one cluster."""

    cluster: str
    """The InferenceCluster."""
    devices: int
    """Devices that are lost with it."""
    fits: bool
    """Everything finds another place."""
    unplaced: list[Unplaced]
    """What does not."""


class Headroom(Part):
    """The largest loss that still fits."""

    any_clusters: int
    """As many clusters can be lost, whichever they are."""
    largest: Loss | None
    """The largest set that was found; null where no cluster can be lost."""
    singles: list[SingleLoss]
    """The loss of each cluster by itself."""
    tried: int
    """Losses that were judged."""
    rehearsed: int
    """Those of them that were rehearsed; what the others lead to follows."""
    complete: bool
    """The search ended by itself; else the largest loss may be larger."""


class Round(Part):
    """The moves made for one deployment, and what then has a place."""

    namespace: str
    """Namespace of the ModelDeployment that was short of a place."""
    name: str
    """Its name."""
    moves: list[Move]
    """The moves in order; empty where earlier ones left room."""
    then_fits: list[Place]
    """Where its replicas then go."""


class Remainder(Part):
    """Replicas of one deployment for which no moves make room."""

    namespace: str
    """Namespace of the ModelDeployment."""
    name: str
    """Its name."""
    count: int
    """How many are without a place, or cannot leave theirs."""
    decided: bool
    """The search came to its end; else there may be moves that were not looked at."""


class Defragmentation(Part):
    """The moves that give what is missing a place."""

    fits: bool
    """Everything then has a place, and no move interrupts a replica."""
    rounds: list[Round]
    """The rounds in order, the most urgent deployment first."""
    left: list[Remainder]
    """What moves do not help."""


class Simulation(Part):
    """What would happen, in steps."""

    steps: list[Step]
    """The happenings in the order given."""
    after: Plan
    """The plan from the beginning to the end."""
    headroom: Headroom | SkipJsonSchema[None] = absent()
    """With `--headroom` alone."""
    defragment: Defragmentation | SkipJsonSchema[None] = absent()
    """With `--defragment` alone."""
