"""Backend: the interface between a replica and a serving technology.

A backend is a package under `render.backends` with the functions of `Backend`. Backends do not know each other and read
only their arguments. A backend owns the wiring of a gang, its limits, the meaning of its status, and the status that is
assumed without a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from modelplane.devices.model import Claim
from modelplane.render.manifest import NOTHING, Manifest
from modelplane.workload import shared_memory
from modelplane.workload.model import EngineType, Replica, Role, RoleSpec, Workload
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any


class Shape(StrEnum):
    """The shape of one worker: the way in which its pods work together."""

    SINGLE_NODE = "single node"
    PIPELINE = "pipeline over nodes"
    DATA = "data parallel over nodes"
    PIPELINE_AND_DATA = "pipeline and data parallel at once"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The capabilities of a backend.

    `schemes` are those of model.uri. `disaggregated` and `gangs` are the engines that it can wire that way.
    `claims` are the ways in which its pods can claim devices.
    `has_picker` is True if requests choose a worker as spec.endpointPicker says. `has_node_files` is True if its pods
    can mount files that KServe keeps on the disks of nodes. `volumes` are those that it gives to every pod of an
    engine, whatever the template says.
    """

    name: str
    shapes: frozenset[Shape]
    schemes: frozenset[str]
    disaggregated: frozenset[EngineType]
    gangs: frozenset[EngineType]
    claims: frozenset[Claim] = frozenset(Claim)
    has_picker: bool = False
    has_node_files: bool = False
    volumes: frozenset[str] = frozenset({shared_memory.VOLUME, "model-cache"})


def always(workload: Workload) -> bool:
    """Return True: every workload needs it."""
    return True


def for_gangs(workload: Workload) -> bool:
    """Return whether a worker of the workload spans nodes."""
    return any(role.topology.is_gang for role in workload.roles)


@dataclass(frozen=True, slots=True)
class Definition:
    """Definition of custom resources that must be served on a cluster before a workload is rendered there.

    `group` and `version` are those of the rendered objects, `kind` is one of them. `product` is the name of what
    installs the definition, with the oldest version that does. `older` are versions of the group that earlier releases
    serve, of which the rendered objects are not; they are looked for so that an old installation is told from none.
    `is_needed` says whether a workload needs the definition.
    """

    group: str
    version: str
    kind: str
    product: str
    older: tuple[str, ...] = ()
    is_needed: Callable[[Workload], bool] = always

    @property
    def api_version(self) -> str:
        """Return group and version as objects name them."""
        return f"{self.group}/{self.version}"

    @property
    def is_own(self) -> bool:
        """Return whether every workload of the backend needs it."""
        return self.is_needed is always


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a workload that is not ready: a stable reason, and a message with a correction.

    A problem that `is_final` does not end by waiting. One that is `about_route` does not concern pods. One that
    `is_count` says that pods are not ready and not why, so that an error of a pod is told in its place. One that
    `is_queued` is what the workload waits for in a queue of its cluster, which is no failure.
    """

    reason: str
    message: str
    is_final: bool = False
    about_route: bool = False
    is_count: bool = False
    is_queued: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """The observed state of a rendered replica.

    `workers` has the ready workers of each observed role. `is_ready` is True if the serving technology reports the
    current workload as ready. `is_routed` is True if the cluster's gateway has accepted the current route, None if it
    has not reported on it. Requests are answered without a ready worker of a `spare` role.
    """

    workers: Mapping[Role, int]
    is_ready: bool
    is_routed: bool | None
    problems: tuple[Problem, ...] = ()
    spare: frozenset[Role] = frozenset()


IsThere: TypeAlias = Callable[[str, str, str, str], bool]
"""A function of (group, kind, namespace, name): True if such an object is rendered to the same cluster."""


class Backend(Protocol):
    """The interface of a backend.

    `KINDS` are the group and kind of the objects that its controllers report on. `SHAPES` has the OpenAPI schema, by
    kind, of the parts that `observe` and `assume` read. `CAPABILITIES` is what selection reads before any check.
    `DEFINITIONS` are the definitions of custom resources without which a cluster cannot run a workload, that of the
    backend's own kind first; empty where Kubernetes itself has every kind. `PATCHABLE` are the fields of the objects of
    purpose WORKLOAD that spec.overrides may write, as dotted paths such as `spec.suspend`, or with their kind as
    `Deployment.spec.minReadySeconds` where the backend has several; a path covers what is below it, and never passes
    through a list.
    """

    # To the author of a backend: name here every definition that its objects need (a missing one keeps replicas from a
    # cluster, reason BackendNotInstalled), and only fields of pods and workloads by which Modelplane neither counts
    # devices nor selects pods.
    CAPABILITIES: Capabilities
    DEFINITIONS: tuple[Definition, ...]
    PATCHABLE: frozenset[str]
    KINDS: frozenset[tuple[str, str]]
    SHAPES: Mapping[str, Json]

    def check(self, workload: Workload) -> None:
        """Check that the workload can be rendered. Raises: InvalidInput or Unsupported if it never can."""

    def render(
        self, replica: Replica, facts: ClusterFacts, standing: Mapping[str, str] = NOTHING
    ) -> tuple[Manifest, ...]:
        """Return every object of the replica on its cluster.

        `standing` has the names of existing objects, by key. A name that an earlier version gave is kept.
        """

    def observe(self, replica: Replica, objects: Mapping[str, Mapping[str, Json] | None]) -> Observation:
        """Return the observation of the replica from its objects, by the keys of `render`; None is not observed."""

    def assume(self, resource: Mapping[str, Json], gateway: str, is_there: IsThere) -> dict[str, Json]:
        """Return the status of a healthy object of `KINDS`; `gateway` is the address of its cluster."""


def shape_of(role: RoleSpec) -> Shape:
    """Return the shape of one worker of the role."""
    topology = role.topology
    if topology.pipeline > 1:
        return Shape.PIPELINE_AND_DATA if topology.data > 1 else Shape.PIPELINE
    return Shape.DATA if topology.is_gang else Shape.SINGLE_NODE
