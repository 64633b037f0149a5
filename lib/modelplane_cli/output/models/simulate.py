"""The answer of `modelplane simulate -o json`."""

from __future__ import annotations

from pydantic.json_schema import SkipJsonSchema

from modelplane_cli.output.models.base import Part, absent
from modelplane_cli.output.models.common import Change, Move, Place, Route
from modelplane_cli.output.models.plan import Plan


class Unplaced(Part):
    """Replicas of one deployment without a placement."""

    namespace: str
    """Namespace of the ModelDeployment."""
    name: str
    """Name of the ModelDeployment."""
    count: int
    """Number of replicas without a placement."""
    replicas: list[str]
    """Names of those that had a placement, or that must move but cannot."""
    message: str
    """The reason."""


class Step(Part):
    """An event and its effects."""

    event: str
    """Description of the event."""
    fits: bool
    """True when all replicas have a placement, all services have endpoints, and no decision interrupted a replica."""
    moved: list[Change]
    """The changes that are moves."""
    lost: list[Change]
    """The changes that interrupt."""
    unplaced: list[Unplaced]
    """Deployments with replicas without a placement."""
    changes: list[Change]
    """All changes of the step."""
    stages: list[list[str]]
    """The stages of the step, in order. The sentences of one stage describe concurrent changes."""
    routes: list[Route]
    """The routes that change, and those without endpoints."""


class Loss(Part):
    """A set of clusters that can be lost."""

    clusters: list[str]
    """The InferenceClusters."""
    devices: int
    """Number of devices that are lost with them."""


class SingleLoss(Part):
    """The loss of one cluster."""

    cluster: str
    """The InferenceCluster."""
    devices: int
    """Number of devices that are lost with it."""
    fits: bool
    """True when all replicas find another placement."""
    unplaced: list[Unplaced]
    """Deployments whose replicas do not."""


class WideLoss(Loss):
    """A set of groups of clusters that can be lost at once."""

    groups: list[str]
    """The groups."""


class HeadroomRow(Part):
    """The loss of one group of clusters, whole or in part."""

    group: str
    """Value of the label, or name of the InferenceClass."""
    clusters: list[str]
    """The InferenceClusters with that label, or with a pool of that class."""
    devices: int
    """Number of devices of all of them."""
    fits: bool
    """True when all replicas find another placement after the loss of the whole group."""
    unplaced: list[Unplaced]
    """Deployments whose replicas do not."""
    any_clusters: int
    """Number of clusters of the group of which any combination can be lost."""
    largest: Loss | None
    """The largest set inside the group that was found. Null when no cluster of it can be lost."""
    complete: bool
    """True when the search inside the group was complete. Otherwise a larger loss may fit."""


class HeadroomBy(Part):
    """The headroom by groups of clusters."""

    by: str
    """Key of the label by which the clusters are grouped, or `class`."""
    rows: list[HeadroomRow]
    """The groups. A cluster with pools of several classes is in a group of each."""
    ungrouped: list[str]
    """The InferenceClusters without that label, or without a pool; they are in no group."""
    any_groups: int
    """Number of groups of which any combination can be lost."""
    largest: WideLoss | None
    """The largest set of whole groups that was found. Null when no group can be lost."""
    complete: bool
    """True when the search over groups was complete. Otherwise a larger loss may fit."""


class Headroom(Part):
    """The largest loss that still fits."""

    any_clusters: int
    """Number of clusters of which any combination can be lost."""
    largest: Loss | None
    """The largest set that was found. Null when no cluster can be lost."""
    singles: list[SingleLoss]
    """The effect of the loss of each single cluster."""
    tried: int
    """Number of losses that were evaluated."""
    rehearsed: int
    """Number of losses that were simulated. The effect of the others follows from these."""
    complete: bool
    """True when the search was complete. Otherwise a larger loss may fit."""
    groups: HeadroomBy | SkipJsonSchema[None] = absent()
    """The headroom by groups of clusters. Present with `--by`."""


class Round(Part):
    """The moves made for one deployment, and what then has a place."""

    namespace: str
    """Namespace of the ModelDeployment that was short of a place."""
    name: str
    """Name of the ModelDeployment."""
    moves: list[Move]
    """The moves in order; empty where earlier ones left room."""
    then_fits: list[Place]
    """The places of its replicas after the moves."""


class Remainder(Part):
    """Replicas of one deployment for which no moves make room."""

    namespace: str
    """Namespace of the ModelDeployment."""
    name: str
    """Name of the ModelDeployment."""
    count: int
    """The number of replicas without a place, or that cannot leave theirs."""
    decided: bool
    """The search came to its end; else there may be moves that were not looked at."""


class Defragmentation(Part):
    """The moves that give what is missing a place."""

    fits: bool
    """Everything then has a place, and no move interrupts a replica."""
    rounds: list[Round]
    """The rounds in order, the most urgent deployment first."""
    left: list[Remainder]
    """The deployments that moves do not help."""


class Simulation(Part):
    """The effects of events on a fleet, in steps."""

    steps: list[Step]
    """The events in the given order."""
    after: Plan
    """The plan from the beginning to the end."""
    headroom: Headroom | SkipJsonSchema[None] = absent()
    """The headroom. Present with `--headroom`."""
    defragment: Defragmentation | SkipJsonSchema[None] = absent()
    """The moves. Present with `--defragment`."""
