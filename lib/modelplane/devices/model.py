"""Devices of a node and requests of a pod, in the terms of Dynamic Resource Allocation (DRA).

Two devices with equal content are equal, so that an answer about the devices of a class is found once for all pools.
Source: resource.k8s.io/v1 of Kubernetes 1.36 (Device, DeviceRequest, DeviceConstraint).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from modelplane.units import Quantity

ASSUMED_MINOR = 36
"""The minor version of Kubernetes on a cluster that does not declare one, as for selectors."""


class Claim(StrEnum):
    """The mechanism that gives a device to a pod."""

    DRA = "DRA"
    SYNTHETIC = "Synthetic"
    DEVICE_PLUGIN = "DevicePlugin"


class AttributeKind(StrEnum):
    """The value kinds of a device attribute. Lists are behind an alpha feature gate."""

    STRING = "string"
    INT = "int"
    BOOL = "bool"
    VERSION = "version"
    STRINGS = "strings"
    INTS = "ints"
    BOOLS = "bools"
    VERSIONS = "versions"

    @property
    def element(self) -> AttributeKind:
        """Return the kind of each value of a list, and of a scalar its own."""
        return AttributeKind(self.removesuffix("s"))

    @property
    def is_list(self) -> bool:
        """Return whether an attribute of this kind has several values."""
        return self.endswith("s")


@dataclass(frozen=True, slots=True)
class Attribute:
    """A typed attribute value. `value` is a text for STRING and VERSION, and a tuple of values for a list."""

    kind: AttributeKind
    value: str | int | bool | tuple[str | int | bool, ...]

    def values(self) -> frozenset[Attribute]:
        """Return the values that constraints compare, each as a scalar."""
        if not isinstance(self.value, tuple):
            return frozenset((self,))
        return frozenset(Attribute(self.kind.element, one) for one in self.value)


class Mode(StrEnum):
    """The number of devices that a request wants of those that match it."""

    EXACT_COUNT = "ExactCount"
    ALL = "All"


class DeviceTaintEffect(StrEnum):
    """The effect of a device taint on pods that do not tolerate it."""

    NONE = "None"
    NO_SCHEDULE = "NoSchedule"
    NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, slots=True)
class DeviceTaint:
    """A taint of a device, published by its driver or put there by a DeviceTaintRule."""

    key: str
    effect: DeviceTaintEffect
    value: str = ""

    def __str__(self) -> str:
        """Return the taint as it is written in messages."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True)
class DeviceToleration:
    """The device taints that a request accepts: any key where `key` is empty, any effect where `effect` is None."""

    key: str = ""
    is_equal: bool = True
    """True for the operator Equal, which compares values; False for Exists, for which the key decides."""
    value: str = ""
    effect: DeviceTaintEffect | None = None

    def as_written(self) -> dict[str, str]:
        """Return the fields of a DeviceToleration of resource.k8s.io/v1."""
        fields = {"key": self.key, "value": self.value, "effect": str(self.effect or "")}
        written = {name: text for name, text in fields.items() if text}
        return {"operator": "Equal" if self.is_equal else "Exists", **written}

    def covers(self, taint: DeviceTaint) -> bool:
        """Return whether the taint is accepted."""
        if self.effect not in (None, taint.effect) or self.key not in ("", taint.key):
            return False
        return not self.is_equal or self.value == taint.value


@dataclass(frozen=True, slots=True)
class CounterSet:
    """The shared counters of each of `count` equal physical devices of a node, as sorted (counter, quantity) pairs."""

    name: str
    count: int
    counters: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """The counters that one device of a kind consumes from one counter set.

    `amounts` are the sorted (counter, quantity) pairs that it consumes at every place. `placements` are its possible
    places, each a list of counters that it consumes fully. A kind without placements fits `alike` times in one set.
    """

    counter_set: str
    amounts: tuple[tuple[str, str], ...] = ()
    placements: tuple[tuple[str, ...], ...] = ()
    alike: int = 1


@dataclass(frozen=True, slots=True)
class Range:
    """The amounts of a capacity that can be taken at once: from `minimum`, in steps, to `maximum`."""

    minimum: Quantity | None = None
    maximum: Quantity | None = None
    step: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """The rule that rounds a request for a part of a capacity, and the part that is taken without a request."""

    default: Quantity | None = None
    valid_range: Range | None = None
    valid_values: tuple[Quantity, ...] = ()


@dataclass(frozen=True, slots=True)
class Device:
    """A kind of device of one node, `count` of them, all equal.

    `draws` are the counters that one device consumes. A device with draws is a part of a partitionable device, or the
    whole of one, and `count` is the number of them on a node that holds nothing else. `attributes` and `capacity` are
    sorted (name, value) pairs, which makes the device hashable. A name without a domain belongs to the domain of the
    driver. Capacity values are Kubernetes quantities as text.
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
    """Several pods share the device, each with a part of its capacity."""
    policies: tuple[tuple[str, Policy], ...] = ()
    """By the name of a capacity of a shared device, sorted."""
    draws: tuple[Draw, ...] = ()
    taints: tuple[DeviceTaint, ...] = ()
    unpublished: str = ""
    """The reason why a cluster with nodes of the class does not have the device, empty where it has it."""

    @property
    def is_shared(self) -> bool:
        """Return whether several pods share the device by claims."""
        return self.allow_multiple_allocations and self.claim is Claim.DRA

    @property
    def has_lists(self) -> bool:
        """Return whether some attribute is a list."""
        return any(value.kind.is_list for _, value in self.attributes)

    def attribute(self, name: str) -> Attribute | None:
        """Return the attribute with a qualified name, None if it is not published.

        An exact name takes precedence over a name without a domain, which belongs to the domain of the driver.
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
        """Return the domain and the identifier of a published name."""
        domain, slash, identifier = name.partition("/")
        return (domain, identifier) if slash else (self.driver, name)


@dataclass(frozen=True, slots=True)
class Request:
    """A request of one pod for `count` devices of one DeviceClass that satisfy every CEL selector.

    With mode ALL the pod gets every device that matches, and `count` is the least that it needs. `capacity` are sorted
    (name, quantity) pairs that each device needs, under the exact name that the device publishes. A request with
    `alternatives` has no selectors of its own; one alternative serves it, and `count` is the largest of theirs.
    """

    name: str
    count: int
    selectors: tuple[str, ...] = ()
    mode: Mode = Mode.EXACT_COUNT
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: tuple[tuple[str, str], ...] = ()
    alternatives: tuple[Request, ...] = ()

    def each(self) -> tuple[Request, ...]:
        """Return the requests of which one is served: the alternatives in order, or only this one."""
        return self.alternatives or (self,)


class Relation(StrEnum):
    """The relation that a constraint asks of the values of an attribute."""

    MATCH = "matchAttribute"
    DISTINCT = "distinctAttribute"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint that all devices of the named requests have the same value of an attribute.

    If `requests` is empty, it applies to all requests. With DISTINCT no two devices have the same value. A name may be
    `request/alternative`; it then applies only while that alternative serves the request.
    """

    attribute: str
    requests: tuple[str, ...] = ()
    relation: Relation = Relation.MATCH


@dataclass(frozen=True, slots=True)
class NodeClass:
    """The hardware of one node: the part of an InferenceClass that the matcher reads.

    `cpu_millis` and `memory_bytes` are the allocatable amounts of the node. If the class does not declare them they are
    None and not checked. `cost_per_node_hour` is an exact decimal text in `currency`, None if it is unknown.
    """

    name: str
    devices: tuple[Device, ...]
    cpu_millis: int | None = None
    memory_bytes: int | None = None
    cost_per_node_hour: str | None = None
    currency: str = "USD"
    counter_sets: tuple[CounterSet, ...] = ()
    kubernetes_minor: int = ASSUMED_MINOR
    lists_are_on: bool = False
    """The feature gate DRAListTypeAttributes of the cluster is on."""
    has_lists: bool = field(init=False, repr=False, compare=False)
    """Some attribute of some device is a list."""

    def __post_init__(self) -> None:
        """Look for lists once, since every pool of a fleet asks."""
        object.__setattr__(self, "has_lists", any(device.has_lists for device in self.devices))
