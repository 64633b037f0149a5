"""The answer of `modelplane plan -o json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from modelplane_cli.output.models.base import Part, RoleName
from modelplane_cli.output.models.common import Change, Closest, Route


class Role(Part):
    """The holdings of one role of a replica."""

    role: RoleName
    """Name of the role. `decode` is also the only role of a unified deployment."""
    pool: str
    """Node pool of the replica's cluster."""
    nodes: int
    """Number of nodes of all its workers."""
    pods: int
    """Number of pods of all its workers."""
    devices_per_pod: dict[str, int]
    """Number of devices of each pod by name of the request."""


class Replica(Part):
    """One ModelReplica."""

    name: str
    """Name of the ModelReplica."""
    cluster: str
    """The InferenceCluster that the replica is placed on."""
    admitted: bool
    """True when the cluster has admitted the replica."""
    serves: bool
    """True when the replica serves at the end."""
    state: Literal["retained", "new", "moved"]
    """State of the placement compared to the beginning."""
    note: str
    """A note of the scheduler, often empty."""
    roles: list[Role]
    """Holdings of the replica by role."""


class Reason(Part):
    """A reason why clusters refuse a replica."""

    reason: str
    """Stable code of the refusal."""
    clusters: int
    """Number of clusters that refuse for this reason."""
    examples: list[str]
    """Some of these clusters."""
    detail: str
    """The missing capacity or capability."""


class Unschedulable(Part):
    """Desired replicas without a placement."""

    count: int
    """Number of these replicas. 0 when all are placed but the function cannot write its decision."""
    message: str
    """The refusal in the words of the deployment's status."""
    reasons: list[Reason]
    """The refusals by code."""
    closest: Closest | None
    """A change that would make one more replica fit. Null when no change is known."""


class Deployment(Part):
    """One ModelDeployment."""

    namespace: str
    """Namespace of the deployment."""
    name: str
    """Name of the deployment."""
    wanted: int
    """Desired replicas."""
    placed: int
    """Replicas that hold a placement."""
    backend: str | None
    """Backend of the replicas. Null while none is selected."""
    replicas: list[Replica]
    """The replicas that hold a placement."""
    unschedulable: Unschedulable | None
    """Replicas without a placement. Null when all have one."""
    blocked: list[str]
    """One line for each replica that must move but cannot."""


class Devices(Part):
    """Devices of one name in a pool."""

    total: int
    """Number of devices of the existing nodes."""
    used: int
    """Number of devices that replicas hold. It exceeds `total` when nodes were removed."""
    free: int
    """Number of devices that can still be claimed. It is less than the difference when devices share a physical one."""
    used_before: int
    """`used` at the beginning."""


class Pool(Part):
    """One node pool of a cluster."""

    cluster: str
    """The InferenceCluster."""
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
    devices: dict[str, Devices]
    """Devices by name. Empty when the class is unknown."""


class Cost(Part):
    """Cost in one currency, as decimal numbers in text."""

    per_hour: str
    """Cost of the nodes in use at the end."""
    per_hour_before: str
    """Cost of the nodes in use at the beginning."""
    per_hour_all_nodes: str
    """Cost of all existing nodes."""


class Summary(Part):
    """The number of replicas by what happens to them."""

    created: int
    """New replicas."""
    moved: int
    """Replicas with a successor on another cluster or pool."""
    rewritten: int
    """Replicas that are written anew in place, which restarts them."""
    removed: int
    """Replicas that are no longer desired."""
    interrupted: int
    """Moved or rewritten replicas that stop serving before a successor serves."""
    lost: int
    """Replicas that are desired and gone, without a successor."""
    not_placed: int
    """Replicas at the end that have no placement, or that must move but cannot."""


class Plan(Part):
    """The placement of every replica, the use and cost of pools, and the changes."""

    deployments: list[Deployment]
    """The ModelDeployments by namespace and name."""
    pools: list[Pool]
    """All node pools by cluster, in the order of each cluster's spec."""
    changes: list[Change]
    """Replicas that differ between the beginning and the end."""
    cost: dict[str, Cost]
    """Cost by currency. Empty when no class names a price."""
    refused: list[str]
    """Deletions of clusters that the webhook of the control plane refuses, because replicas stand on them."""
    routes: list[Route]
    """The routes of the ModelServices by namespace and name."""
    summary: Summary
    """The number of changes by kind."""
