"""The answer of `modelplane free -o json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from modelplane_cli.output.models.base import Part


class FreeDevices(Part):
    """One kind of device in a group of pools."""

    group: str
    """The class, region, cluster, or cluster and pool. Empty for clusters without a region."""
    class_: str = Field(alias="class")
    """InferenceClass of the nodes."""
    device: str | None
    """Name of the device. Null when the class is unknown or publishes none."""
    total: int
    """Number of devices of the existing nodes."""
    used: int
    """Number of devices that replicas hold."""
    free: int
    """Number of devices that can still be claimed."""
    tainted: int
    """The part of `free` on clusters with a taint."""
    restricted: int
    """The part of `free` on clusters that allow only some namespaces."""
    nodes: int
    """Number of existing nodes."""
    nodes_idle: int
    """Number of nodes that carry nothing."""
    nodes_growable: int
    """Number of nodes that an autoscaler may add."""
    pools: int
    """Number of pools."""
    clusters: list[str]
    """The InferenceClusters of the pools, sorted."""


class Free(Part):
    """The free devices of a fleet."""

    by: Literal["class", "region", "cluster", "pool"]
    """The kind of group."""
    rows: list[FreeDevices]
    """The devices by group, class and name."""
