"""The data between the function server and a composer: plain Python data, no protobuf.

Shape: every resource is plain JSON (dict, list, str, int, float, bool, None) with integral numbers as `int`. A
composer is a pure function `compose(observed: Observed) -> Outcome`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]


# Condition types that Crossplane keeps for itself; it ignores them in a function's answer.
CROSSPLANE_CONDITIONS = frozenset({"Healthy", "Ready", "Responsive", "Synced", "UpToDate"})


class Ready(StrEnum):
    """The readiness that a composer sets on a child or on the composite."""

    TRUE = "True"
    FALSE = "False"


class Truth(StrEnum):
    """Status of a condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Severity(StrEnum):
    """Severity of an event on the composite."""

    NORMAL = "Normal"
    WARNING = "Warning"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of the composite. `reason` is CamelCase. `message` says what would change the status."""

    type: str
    status: Truth
    reason: str
    message: str = ""

    def __post_init__(self) -> None:
        """Refuse a condition that Crossplane would silently drop."""
        if self.type in CROSSPLANE_CONDITIONS:
            raise ValueError(f"condition type {self.type} belongs to Crossplane and is ignored when a function sets it")
        if not self.reason:
            raise ValueError(f"condition {self.type} has no reason")


@dataclass(frozen=True, slots=True)
class Event:
    """An event on the composite. A composer emits it on a transition, never on every call."""

    severity: Severity
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """A request for other objects: the one with `name`, or all with `labels` (all of the kind when empty).

    `namespace` None means a cluster-scoped object, or a list over all namespaces.
    """

    api_version: str
    kind: str
    name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A question whether the control plane serves a kind.

    Crossplane applies nothing more of a composite once it meets a child of a kind that is not served.
    """

    api_version: str
    kind: str


@dataclass(frozen=True, slots=True)
class Observed:
    """A decoded RunFunctionRequest.

    `children` are the observed composed resources by composition key. `required` holds the fetched objects by key of
    the requirement. An empty tuple means that no object matched. A missing key means that nothing was fetched yet.
    `served` holds the answers to the questions for kinds; a missing key means that there is no answer.
    """

    composite: Resource
    children: Mapping[str, Resource] = field(default_factory=dict)
    required: Mapping[str, tuple[Resource, ...]] = field(default_factory=dict)
    served: Mapping[str, bool] = field(default_factory=dict)
    minute: int | None = None
    """The time of the request in whole minutes since 1970, None for a caller without a clock."""

    @property
    def name(self) -> str:
        """Return the composite's name."""
        return str(self.composite["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Return the composite's namespace, empty for a cluster-scoped one."""
        return str(self.composite["metadata"].get("namespace", ""))

    @property
    def spec(self) -> Resource:
        """Return the composite's spec."""
        return _mapping(self.composite.get("spec"))

    @property
    def status(self) -> Resource:
        """Return the composite's status before this call, empty at first."""
        return _mapping(self.composite.get("status"))


def _mapping(value: Json) -> Resource:
    """Return the value when it is an object, otherwise an empty one."""
    return value if isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Child:
    """A desired composed resource: the metadata and spec that we own, and its readiness."""

    resource: Resource
    ready: Ready = Ready.FALSE


@dataclass(frozen=True, slots=True)
class Outcome:
    """The decision of a composer.

    Crossplane deletes an observed child that is absent from `children`. `ready` None derives readiness from the
    children. Crossplane calls a composite without children ready, so a composer that waits sets FALSE. `status`
    replaces the previous status, and omitted fields are removed. `fatal` stops Crossplane before it applies or deletes
    anything. The conditions are still written then, and the status is not. An answer to one of `kinds` is not waited
    for: a caller that cannot say gets the same decision as before.
    """

    requirements: Mapping[str, Requirement] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    children: Mapping[str, Child] = field(default_factory=dict)
    status: Resource = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    events: tuple[Event, ...] = ()
    ready: Ready | None = None
    fatal: str | None = None
    ttl_seconds: int = 60
