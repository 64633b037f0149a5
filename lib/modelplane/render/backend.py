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
    `has_picker` is True if requests choose a worker as spec.endpointPicker says.
    """

    name: str
    shapes: frozenset[Shape]
    schemes: frozenset[str]
    disaggregated: frozenset[EngineType]
    gangs: frozenset[EngineType]
    claims: frozenset[Claim] = frozenset(Claim)
    has_picker: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a workload that is not ready: a stable reason, and a message with a correction.

    A problem that `is_final` does not end by waiting. One that is `about_route` does not concern pods.
    """

    reason: str
    message: str
    is_final: bool = False
    about_route: bool = False


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
    """

    CAPABILITIES: Capabilities
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
