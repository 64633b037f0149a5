"""What pods ask for by resource claims, and what the cluster's allocator has handed out already.

Source: resource.k8s.io/v1 of Kubernetes 1.36 (ResourceClaim, DeviceClass). Configuration of devices is left out: it
decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from modelplane.units import Quantity
from tests.support.allocator.slices import DeviceId, Taint

DEVICES_MAX = 32
"""Devices that one claim can hold."""


class Mode(StrEnum):
    """How many devices a request means."""

    EXACT_COUNT = "ExactCount"
    ALL = "All"


@dataclass(frozen=True, slots=True)
class Toleration:
    """Which taints of a device a request puts up with; an empty effect or key means any."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: Taint) -> bool:
        """Return whether the taint is put up with."""
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        return self.operator == "Exists" or (self.operator in ("", "Equal") and self.value == taint.value)


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """Devices of one class: `count` of them, or all there are.

    `capacity` holds amounts by the literal name the device gives them; None where the request says nothing.
    """

    name: str
    device_class: str
    count: int = 1
    mode: Mode = Mode.EXACT_COUNT
    selectors: tuple[str, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    capacity: tuple[tuple[str, Quantity], ...] | None = None
    admin_access: bool | None = None


@dataclass(frozen=True, slots=True)
class FirstAvailable:
    """The first of several requests that can be served."""

    name: str
    alternatives: tuple[DeviceRequest, ...]


ClaimRequest: TypeAlias = DeviceRequest | FirstAvailable


class Relation(StrEnum):
    """What a constraint demands of the values of an attribute."""

    MATCH = "matchAttribute"
    DISTINCT = "distinctAttribute"


@dataclass(frozen=True, slots=True)
class ClaimConstraint:
    """How the devices of the named requests (all when empty) relate in one attribute, named with its domain."""

    relation: Relation
    attribute: str
    requests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """One resource claim of a pod."""

    name: str
    requests: tuple[ClaimRequest, ...]
    constraints: tuple[ClaimConstraint, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """What a request names: selectors that go before its own."""

    name: str
    selectors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """One claim's part of a device that several may use, with the amounts it took."""

    device: DeviceId
    consumed: tuple[tuple[str, Quantity], ...] = ()


@dataclass(frozen=True, slots=True)
class Allocated:
    """What other claims hold: devices for themselves, and parts of shared ones."""

    devices: frozenset[DeviceId] = frozenset()
    shared: tuple[Use, ...] = ()
