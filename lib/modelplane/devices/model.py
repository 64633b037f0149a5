"""What a node offers and what a pod asks for, in the terms of Dynamic Resource Allocation (DRA).

Identity is content: two pools of one class hold equal devices, so every answer about a device is found once for all of
them. Source: resource.k8s.io/v1 of Kubernetes 1.36 (Device, DeviceRequest, DeviceConstraint).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Claim(StrEnum):
    """How a device reaches a pod."""

    DRA = "DRA"
    SYNTHETIC = "Synthetic"
    DEVICE_PLUGIN = "DevicePlugin"


class AttributeKind(StrEnum):
    """The four value kinds of a device attribute (list kinds are behind an alpha gate)."""

    STRING = "string"
    INT = "int"
    BOOL = "bool"
    VERSION = "version"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One typed attribute value; `value` is the text for STRING and VERSION."""

    kind: AttributeKind
    value: str | int | bool


@dataclass(frozen=True, slots=True)
class CounterSet:
    """What each of `count` equal physical devices of a node has to share out: sorted (counter, quantity) pairs."""

    name: str
    count: int
    counters: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """What one device of a kind takes from one counter set.

    `amounts` are sorted (counter, quantity) pairs that it takes wherever it is. `placements` are the places where it
    can be, each the counters it takes whole; a kind without placements can be made `alike` times of one set.
    """

    counter_set: str
    amounts: tuple[tuple[str, str], ...] = ()
    placements: tuple[tuple[str, ...], ...] = ()
    alike: int = 1


@dataclass(frozen=True, slots=True)
class Device:
    """One kind of device of one node, `count` of them, all alike.

    `draws` are what it takes from the counter sets of its class; then it is a part of a physical device (or the
    whole of one that can be parted), and `count` says how many of it fit on a node that holds nothing else.
    `attributes` and `capacity` are sorted (name, value) pairs, so that the device is hashable and its hash is its
    content; a name without a domain belongs to the driver's domain. Capacity values are the text of a Kubernetes
    quantity.
    """

    name: str
    driver: str
    count: int
    claim: Claim = Claim.DRA
    device_class: str = ""
    resource_name: str = ""
    attributes: tuple[tuple[str, Attribute], ...] = ()
    capacity: tuple[tuple[str, str], ...] = ()
    allow_multiple_allocations: bool = False
    draws: tuple[Draw, ...] = ()

    def attribute(self, name: str) -> Attribute | None:
        """Return the attribute of a qualified name, None where it is not published.

        A name that is published as asked goes before one without a domain, which belongs to the driver's domain.
        """
        domain, slash, plain = name.partition("/")
        own = None
        for key, value in self.attributes:
            if key == name:
                return value
            if key == plain:
                own = value
        return own if slash and domain == self.driver else None

    def qualified(self, name: str) -> tuple[str, str]:
        """Return domain and identifier of a published name."""
        domain, slash, identifier = name.partition("/")
        return (domain, identifier) if slash else (self.driver, name)


@dataclass(frozen=True, slots=True)
class Request:
    """What one pod asks of one kind of device: `count` devices that satisfy every CEL selector."""

    name: str
    count: int
    selectors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Constraint:
    """All devices of the named requests (all requests when empty) share the value of one attribute."""

    match_attribute: str
    requests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeClass:
    """The hardware of one node: an InferenceClass as the matcher sees it.

    `cpu_millis` and `memory_bytes` are the node's allocatable amounts, None where the class does not declare them
    (then they are not checked). `cost_per_node_hour` is an exact decimal text in `currency`, None where unknown.
    """

    name: str
    devices: tuple[Device, ...]
    cpu_millis: int | None = None
    memory_bytes: int | None = None
    cost_per_node_hour: str | None = None
    currency: str = "USD"
    counter_sets: tuple[CounterSet, ...] = ()
