"""The seam between a replica and a serving technology: what each says of itself and of what it observes.

A backend is a package under `render.backends` that offers what `Backend` lists; backends know nothing of each other.
None of them may read anything but its arguments. It owns the wiring of a gang, its own limits, how its status reads,
and what is assumed of it where no cluster is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from modelplane.render.manifest import NOTHING, Manifest
from modelplane.workload.model import EngineType, Replica, Role, RoleSpec, Workload
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any


class Shape(StrEnum):
    """How the pods of one worker are put together."""

    SINGLE_NODE = "single node"
    PIPELINE = "pipeline over nodes"
    DATA = "data parallel over nodes"
    PIPELINE_AND_DATA = "pipeline and data parallel at once"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend can render; `schemes` are those of model.uri, `disaggregated` and `gangs` the engines it can
    wire so.
    """

    name: str
    shapes: frozenset[Shape]
    schemes: frozenset[str]
    disaggregated: frozenset[EngineType]
    gangs: frozenset[EngineType]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a workload is not ready: a stable reason, and a message that says what would change it.

    `is_final` says that waiting does not help, `about_route` that pods are not concerned.
    """

    reason: str
    message: str
    is_final: bool = False
    about_route: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """What is seen of a rendered replica.

    `workers` holds the ready workers of each role that something is seen of. `is_ready`: the technology calls the
    workload ready as it was last rendered. `is_routed`: the cluster's gateway has taken its route, None where nothing
    is said of the route as it is.
    """

    workers: Mapping[Role, int]
    is_ready: bool
    is_routed: bool | None
    problems: tuple[Problem, ...] = ()


IsThere: TypeAlias = Callable[[str, str, str, str], bool]
"""(group, kind, namespace, name) -> whether such an object is rendered to the same cluster."""


class Backend(Protocol):
    """The offer of a backend.

    `KINDS` are group and kind of the objects that its own controllers report on. `SHAPES` is, by kind, the OpenAPI
    schema of the parts of them that `observe` and `assume` read.
    """

    KINDS: frozenset[tuple[str, str]]
    SHAPES: Mapping[str, Json]

    def check(self, workload: Workload) -> None:
        """Return when the workload can be rendered. Raises: InvalidInput or Unsupported where it never can."""

    def render(
        self, replica: Replica, facts: ClusterFacts, standing: Mapping[str, str] = NOTHING
    ) -> tuple[Manifest, ...]:
        """Return every object of the replica on its cluster.

        `standing` holds the names of those that are there, by key: one that an earlier version gave is kept.
        """

    def observe(self, replica: Replica, objects: Mapping[str, Mapping[str, Json] | None]) -> Observation:
        """Return what the objects, by the keys of `render`, say of the replica; None: not seen."""

    def assume(self, resource: Mapping[str, Json], gateway: str, is_there: IsThere) -> dict[str, Json]:
        """Return the status of an object of `KINDS` if all goes well; `gateway` is its cluster's address."""


def shape_of(role: RoleSpec) -> Shape:
    """Return how one worker of the role is put together."""
    topology = role.topology
    if topology.pipeline > 1:
        return Shape.PIPELINE_AND_DATA if topology.data > 1 else Shape.PIPELINE
    return Shape.DATA if topology.is_gang else Shape.SINGLE_NODE
