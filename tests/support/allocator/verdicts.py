"""What comes of an allocation: devices, none on this node, or the end of the pod's scheduling."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from modelplane.units import Quantity
from tests.support.allocator.claims import Toleration
from tests.support.allocator.slices import DeviceId, NodeSelector


@dataclass(frozen=True, slots=True)
class Assigned:
    """One device for one request (`request/alternative` where there were several).

    `consumed` is what is taken of a device that several may use; `shared` says that it is one.
    """

    request: str
    device: DeviceId
    shared: bool = False
    consumed: tuple[tuple[str, Quantity], ...] = ()
    admin_access: bool = False
    tolerations: tuple[Toleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimAllocation:
    """The devices of one claim in the order they were chosen; `node_selector` is None where any node can use them."""

    claim: str
    devices: tuple[Assigned, ...]
    node_selector: NodeSelector | None = None


@dataclass(frozen=True, slots=True)
class Allocation:
    """Every claim got its devices, in the order of the claims."""

    claims: tuple[ClaimAllocation, ...]


@dataclass(frozen=True, slots=True)
class Unschedulable:
    """This node cannot serve the claims; others may. `reason` names what was missing."""

    reason: str


class AbortKind(StrEnum):
    """Why the scheduling of a pod ends, whatever other nodes there are."""

    UNKNOWN_CLASS = "unknown device class"
    SELECTOR_SYNTAX = "selector does not compile"
    SELECTOR_ERROR = "selector error"
    POOL_NOT_READY = "all devices of a pool that is not ready"
    TOO_MANY_DEVICES = "too many devices"
    CONSTRAINT_OF_ALL = "all devices do not agree"
    FEATURE_OFF = "feature is off"
    NODE_SELECTOR = "node selector"
    INVALID_POOL = "pool is invalid"
    CAPACITY = "amount of capacity cannot be handled"


@dataclass(frozen=True, slots=True)
class Abort:
    """The scheduling of the pod ends here: `cause` names the object and what is wrong with it."""

    kind: AbortKind
    cause: str


Verdict: TypeAlias = Allocation | Unschedulable | Abort


class Aborted(Exception):
    """Carries an abort out of the search; never leaves the package."""

    def __init__(self, kind: AbortKind, cause: str) -> None:
        super().__init__(cause)
        self.abort = Abort(kind, cause)
