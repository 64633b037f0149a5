"""The answer of `modelplane report -o json`, which is also the data of its page."""

from __future__ import annotations

from pydantic.json_schema import SkipJsonSchema

from modelplane_cli.output.models.base import Part, RoleName, absent
from modelplane_cli.output.models.common import Cause
from modelplane_cli.output.models.plan import Plan
from modelplane_cli.output.models.simulate import Headroom
from modelplane_cli.output.models.status import Complaint
from modelplane_cli.output.models.top import Holder


class Held(Part):
    """Pods of one role of a replica on one node, as the ledger of the cluster counts them."""

    replica: str
    """The ModelReplica as `namespace/name`. It may be gone while its pods may still run."""
    role: RoleName
    """Role of the pods."""
    node: int | None
    """Number of the node. The ledger gives the numbers; they name no Node. Null where none is recorded."""
    pods: int
    """Number of the pods."""
    devices: dict[str, int]
    """Devices of these pods together, by the device's name in the class."""
    parts: list[str]
    """The kinds of devices of which they hold parts, beside other pods."""


class PoolCost(Part):
    """Cost of the nodes of a pool, as decimal numbers in text."""

    currency: str
    """Currency of the InferenceClass."""
    per_node_hour: str
    """Cost of one node."""
    per_hour: str
    """Cost of the nodes in use."""
    per_hour_all_nodes: str
    """Cost of all existing nodes."""


class PoolPicture(Part):
    """A pool with the holdings on its nodes. `plan.pools` has its class, nodes and devices."""

    name: str
    """Name of the pool."""
    declared: bool
    """False when replicas hold the pool and the cluster does not declare it any more."""
    main: str | None
    """The kind of device that the summary of the cluster counts: the first of its class. Null without one."""
    devices_per_node: dict[str, int]
    """Devices of one node by name. Empty when the class is unknown."""
    shared: list[str]
    """The kinds of which several pods may have a part."""
    cost: PoolCost | None
    """Cost of the nodes. Null where the class names no price."""
    held: list[Held]
    """The holdings, by replica."""


class ClusterPicture(Part):
    """A cluster with its pools."""

    name: str
    """Name of the InferenceCluster."""
    region: str
    """Its label modelplane.ai/region. Empty without one."""
    labels: dict[str, str]
    """Its labels."""
    taints: list[str]
    """Its taints as KEY=VALUE:EFFECT."""
    whole_nodes: bool
    """True when a pod is charged its whole node."""
    causes: list[Cause]
    """Conditions that are not as wanted."""
    pools: list[PoolPicture]
    """Its pools in the order of the spec, then those that it does not declare any more."""


class Endpoint(Part):
    """An endpoint of a service, or a replica that would have one if it served."""

    name: str
    """Name of the ModelEndpoint."""
    replica: str | None
    """Name of its ModelReplica. Null for an endpoint outside the fleet."""
    cluster: str | None
    """The InferenceCluster. Null for an endpoint outside the fleet."""
    ready: bool
    """True when it is ready."""
    share: float
    """Share of the requests of the service, from 0 to 1."""


class Service(Part):
    """A ModelService with its endpoints. `plan.routes` has its URL and groups."""

    namespace: str
    """Namespace of the ModelService."""
    name: str
    """Name of the ModelService."""
    message: str
    """Its state in one sentence."""
    ready: bool
    """True when requests reach every group that wants them, and every endpoint is ready."""
    endpoints: list[Endpoint]
    """Its endpoints, those that are not ready first."""


class Labelled(Part):
    """The labels of a deployment."""

    namespace: str
    """Namespace of the ModelDeployment."""
    name: str
    """Name of the ModelDeployment."""
    labels: dict[str, str]
    """Its labels."""


class Frame(Part):
    """The fleet at one moment."""

    event: str
    """The event before it. Empty for the beginning, and for the later state of a comparison."""
    fits: bool
    """True when all replicas have a placement, all services have endpoints, and no decision interrupted a replica."""
    plan: Plan
    """The plan, compared with the frame before."""
    clusters: list[ClusterPicture]
    """The clusters by name."""
    holders: list[Holder]
    """The deployments by the number of devices that they hold, with their cost."""
    services: list[Service]
    """The services by namespace and name."""
    complaints: list[Complaint]
    """Objects that are not as wanted, worst first."""
    labels: list[Labelled]
    """The labels of deployments that have some."""
    stages: list[list[str]]
    """The stages after the event, in order. The sentences of one stage describe concurrent changes."""


class Report(Part):
    """The fleet, at one moment or at several."""

    rehearsed: bool
    """True when the functions were run until nothing changed. False when the statuses are those that were read."""
    comparison: bool
    """True when the first two frames are the state before and after a change of documents."""
    frames: list[Frame]
    """The moments in order."""
    headroom: Headroom | SkipJsonSchema[None] = absent()
    """The headroom. Present with `--headroom`."""
