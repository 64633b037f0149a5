"""Node of core/v1, decoded into what a pool says of its nodes.

A kubelet writes most of it, so what is absent or of another type is unknown and no error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import seen, units
from modelplane.api.fields import Field
from modelplane.errors import InvalidQuantity
from modelplane.inventory.model import Node, NodeTaint

Json: TypeAlias = Any

KIND = "Node"
_OF_KUBERNETES = ("kubernetes.io/", "requests.")


def decode(resource: Mapping[str, Json]) -> Node:
    """Return the node. Raises: InvalidInput where it has no name."""
    name = Field(resource).at("metadata", "name").text()
    labels = seen.at(resource, "metadata", "labels")
    allocatable = seen.at(resource, "status", "allocatable")
    allocatable = allocatable if isinstance(allocatable, Mapping) else {}
    ready = seen.condition(seen.at(resource, "status"), "Ready")
    return Node(
        name=name,
        labels={key: text for key, text in labels.items() if isinstance(text, str)}
        if isinstance(labels, Mapping)
        else {},
        taints=tuple(_taints(seen.at(resource, "spec", "taints"))),
        cpu_millis=_floor(allocatable.get("cpu"), power=3),
        memory_bytes=_floor(allocatable.get("memory"), power=0),
        resources=tuple(sorted(_extended(allocatable))),
        is_ready=seen.verdict(ready) is True,
        is_cordoned=seen.at(resource, "spec", "unschedulable") is True,
        kubelet_version=seen.text(seen.at(resource, "status", "nodeInfo", "kubeletVersion")),
    )


def _taints(entries: Json) -> Iterator[NodeTaint]:
    for entry in seen.objects(entries):
        key, effect = seen.text(entry.get("key")), seen.text(entry.get("effect"))
        if key and effect:
            yield NodeTaint(key, effect, seen.text(entry.get("value")))


def _extended(allocatable: Mapping[str, Json]) -> Iterator[tuple[str, int]]:
    """Yield the extended resources: names with a domain that is not Kubernetes' own."""
    for name, value in allocatable.items():
        count = _floor(value, power=0)
        if "/" in name and not name.startswith(_OF_KUBERNETES) and count is not None:
            yield name, count


def _floor(value: Json, *, power: int) -> int | None:
    """Return an amount times ten to `power`, rounded down, None if there is none that can be read."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    try:
        amount = units.quantity(str(value))
    except InvalidQuantity:
        return None
    return -units.Quantity(-amount.unscaled, amount.exponent + power).ceil()
