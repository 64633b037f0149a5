"""What drivers publish about their devices: resource slices, in the terms the allocator reads.

Source: resource.k8s.io/v1 of Kubernetes 1.36 (ResourceSlice). Names of attributes and capacity may lack a domain, as
published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from modelplane.devices.model import Device, Policy
from modelplane.units import Quantity


class DeviceId(NamedTuple):
    """What tells a device from every other one of a cluster."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return "/".join(self)


@dataclass(frozen=True, slots=True)
class Node:
    """A node as slices select it."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on a label or field of a node; `operator` as in Kubernetes (In, NotIn, Exists, ...)."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """Conditions that hold together; a term without any selects no node."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


NodeSelector: TypeAlias = tuple[Term, ...]
"""Terms of which one has to hold."""


@dataclass(frozen=True, slots=True)
class Reach:
    """From which nodes a slice or a device can be used: one node, all of them, or those selected."""

    node_name: str = ""
    all_nodes: bool = False
    selector: NodeSelector | None = None

    @property
    def is_set(self) -> bool:
        """Whether anything was said."""
        return bool(self.node_name) or self.all_nodes or self.selector is not None


@dataclass(frozen=True, slots=True)
class Taint:
    """What keeps requests that do not tolerate it from a device; effects other than NoSchedule, NoExecute do not."""

    key: str
    effect: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Counters:
    """Amounts by counter name: what a set of a pool offers, or what one device draws from it."""

    set_name: str
    amounts: tuple[tuple[str, Quantity], ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """One device of a slice.

    `kind` is what selectors see of it. Its own name is left empty there, so that equal devices share every answer.
    `reach` counts only in a slice that selects nodes per device.
    """

    name: str
    kind: Device
    policies: tuple[tuple[str, Policy], ...] = ()
    draws: tuple[Counters, ...] = ()
    taints: tuple[Taint, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    binds_to_node: bool = False
    reach: Reach = Reach()

    @property
    def needs_binding(self) -> bool:
        """Whether a pod waits for the device after it was allocated."""
        return bool(self.binding_conditions)


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a pool: devices, or the counter sets its devices draw from.

    `slices_in_pool` is how many slices the driver says the pool has in this generation.
    """

    name: str
    driver: str
    pool: str
    offers: tuple[Offer, ...] = ()
    counter_sets: tuple[Counters, ...] = ()
    generation: int = 0
    slices_in_pool: int = 1
    reach: Reach = Reach()
    per_device_reach: bool | None = None

    @property
    def pool_id(self) -> tuple[str, str]:
        """The pool it belongs to."""
        return (self.driver, self.pool)
