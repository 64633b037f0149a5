"""What passes between the shell and a composer: plain Python data, no protobuf.

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
    """Readiness that a composer gives to a child or to the composite; never left to chance."""

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
    """One condition of the composite. `reason` is CamelCase; `message` says what would change it."""

    type: str
    status: Truth
    reason: str
    message: str = ""

    def __post_init__(self) -> None:
        """Refuse what Crossplane would drop without a word."""
        if self.type in CROSSPLANE_CONDITIONS:
            raise ValueError(f"condition type {self.type} belongs to Crossplane and is ignored when a function sets it")
        if not self.reason:
            raise ValueError(f"condition {self.type} has no reason")


@dataclass(frozen=True, slots=True)
class Event:
    """One event on the composite; emitted on transitions only, never on every call."""

    severity: Severity
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """Other objects a composer must see: one by `name`, or all that carry `labels` (all of the kind when empty).

    `namespace` None means cluster scoped by name, or a list over all namespaces.
    """

    api_version: str
    kind: str
    name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """One decoded RunFunctionRequest.

    `children` are the observed composed resources by composition key. `required` holds the answers to requirements: a
    key that is present was fetched (an empty tuple: nothing is there); an absent key was not fetched yet.
    """

    composite: Resource
    children: Mapping[str, Resource] = field(default_factory=dict)
    required: Mapping[str, tuple[Resource, ...]] = field(default_factory=dict)

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
        """Return the status the composite had before this call, empty at first."""
        return _mapping(self.composite.get("status"))


def _mapping(value: Json) -> Resource:
    """Return an object, empty where there is none or where something else stands in its place."""
    return value if isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Child:
    """One desired composed resource: metadata and spec that we own, and whether its observed state makes it ready."""

    resource: Resource
    ready: Ready = Ready.FALSE


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a composer decided.

    A child that is observed and absent from `children` is deleted. `ready` None leaves it to the children (Crossplane
    calls a composite with zero children ready, so give FALSE whenever more is to come). `status` is written in full:
    what it leaves out is removed. `fatal` stops before anything is applied or deleted; conditions are still written,
    status is not.
    """

    requirements: Mapping[str, Requirement] = field(default_factory=dict)
    children: Mapping[str, Child] = field(default_factory=dict)
    status: Resource = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    events: tuple[Event, ...] = ()
    ready: Ready | None = None
    fatal: str | None = None
    ttl_seconds: int = 60
