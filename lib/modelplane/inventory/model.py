"""Nodes, ResourceSlices and DeviceClasses of a cluster, as far as its hardware is read from them.

Source: resource.k8s.io/v1 of Kubernetes 1.36 (ResourceSlice, DeviceClass), core/v1 (Node).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from modelplane.devices.model import Device

Amounts: TypeAlias = tuple[tuple[str, str], ...]
"""Sorted (counter, quantity) pairs."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A condition on a label of a node, or on a field of it; `operator` is that of Kubernetes (In, NotIn, Exists)."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """Conditions that hold together. A term without any selects no node."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Reach:
    """The nodes from which devices can be used: one node, all nodes, or those that a term selects."""

    node_name: str = ""
    all_nodes: bool = False
    terms: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """A device as its driver publishes it.

    `kind` is its content: one device without a name and without draws. `draws` are the counters that it consumes, by
    counter set of its pool. `reach` counts only in a slice that selects nodes for each device.
    """

    name: str
    kind: Device
    draws: tuple[tuple[str, Amounts], ...] = ()
    reach: Reach = Reach()


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of the pool of a driver: devices, or the counter sets that they draw from.

    `slices_in_pool` is the number of slices that the pool has in this generation, as its driver says.
    """

    name: str
    driver: str
    pool: str
    generation: int = 0
    slices_in_pool: int = 1
    reach: Reach = Reach()
    is_per_device: bool = False
    devices: tuple[Published, ...] = ()
    counter_sets: tuple[tuple[str, Amounts], ...] = ()


@dataclass(frozen=True, slots=True)
class NodeTaint:
    """A taint of a node."""

    key: str
    effect: str
    value: str = ""

    def __str__(self) -> str:
        """Return the taint as kubectl writes it."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True)
class Node:
    """A node. `cpu_millis` and `memory_bytes` are what pods can use of it, and `resources` its extended resources."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[NodeTaint, ...] = ()
    cpu_millis: int | None = None
    memory_bytes: int | None = None
    resources: tuple[tuple[str, int], ...] = ()
    is_ready: bool = True
    is_cordoned: bool = False
    kubelet_version: str = ""


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """A DeviceClass: selectors that all hold for its devices. `has_config` tells that it also configures them."""

    name: str
    selectors: tuple[str, ...] = ()
    has_config: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """All that was read of a cluster."""

    slices: tuple[Slice, ...] = ()
    nodes: tuple[Node, ...] = ()
    device_classes: tuple[DeviceClass, ...] = ()
