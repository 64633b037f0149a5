"""What `modelplane plan -o json` answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from modelplane_cli.output.models.base import Part, RoleName
from modelplane_cli.output.models.common import Change, Closest


class Role(Part):
    """What one role of a replica takes."""

    role: RoleName
    """`decode` is also the only role of a unified deployment."""
    pool: str
    """Node pool of the replica's cluster."""
    nodes: int
    """Nodes of all its workers."""
    pods: int
    """Pods of all its workers."""
    devices_per_pod: dict[str, int]
    """How many devices each pod gets, by the name of the request."""


class Replica(Part):
    """One ModelReplica."""

    name: str
    """Name of the ModelReplica."""
    cluster: str
    """The InferenceCluster it is placed on."""
    admitted: bool
    """The cluster has accepted it."""
    serves: bool
    """It serves at the end."""
    state: Literal["retained", "new", "moved"]
    """Against the beginning."""
    note: str
    """What the scheduler remarks; often empty."""
    roles: list[Role]
    """What it takes, by role."""


class Reason(Part):
    """Why clusters cannot take a replica."""

    reason: str
    """Stable code of the refusal."""
    clusters: int
    """How many clusters refuse for it."""
    examples: list[str]
    """Some of these clusters."""
    detail: str
    """What is missing."""


class Unschedulable(Part):
    """Replicas that are wanted and have no place."""

    count: int
    """How many they are. 0 where all are placed and the function cannot write what it decided."""
    message: str
    """The refusal in the words of the deployment's status."""
    reasons: list[Reason]
    """The refusals by code."""
    closest: Closest | None
    """What would make one more fit; null where nothing is known to."""


class Deployment(Part):
    """One ModelDeployment."""

    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    wanted: int
    """Replicas that are wanted."""
    placed: int
    """Replicas that hold a placement."""
    backend: str | None
    """Serving technology of its replicas; null while none is selected."""
    replicas: list[Replica]
    """The replicas that hold a placement."""
    unschedulable: Unschedulable | None
    """Replicas without a place; null where all have one."""
    blocked: list[str]
    """A line for each replica that should move and cannot."""


class Devices(Part):
    """Devices of one name in a pool."""

    total: int
    """Devices of the nodes that are there."""
    used: int
    """Devices that replicas hold; more than `total` where nodes went away."""
    free: int
    """How many more can be claimed; less than the rest where devices share a physical one."""
    used_before: int
    """`used` at the beginning."""


class Pool(Part):
    """One node pool of a cluster."""

    cluster: str
    """The InferenceCluster."""
    pool: str
    """Name of the pool."""
    class_: str = Field(alias="class")
    """The InferenceClass of its nodes."""
    nodes: int
    """Nodes that are there."""
    nodes_used: int
    """Nodes that carry something."""
    nodes_growable: int
    """Nodes that an autoscaler may add."""
    devices: dict[str, Devices]
    """Devices by name; empty where the class is not known."""


class Cost(Part):
    """Cost in one currency, as decimal numbers in text."""

    per_hour: str
    """Nodes that carry something, at the end."""
    per_hour_before: str
    """The same at the beginning."""
    per_hour_all_nodes: str
    """All nodes that are there."""


class Plan(Part):
    """Where every replica is, what pools hold and cost, and what changed on the way there."""

    deployments: list[Deployment]
    """The ModelDeployments by namespace and name."""
    pools: list[Pool]
    """All node pools by cluster, in the order of each cluster's spec."""
    changes: list[Change]
    """Replicas that differ between the beginning and the end."""
    cost: dict[str, Cost]
    """By currency; empty where no class names a price."""
