"""The cluster a replica runs on, as far as rendering may know it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What a renderer may know of the cluster it renders for.

    `gateway_*` name the cluster's own Gateway (its listener empty: the first). `pool_node_selector` and `pool_taints`
    are by pool name; taints are (key, value, effect) of the pool's nodes. `scheduler` and `queue` are what places pods
    there and the queue it admits them through (empty: none).
    """

    name: str
    gateway_name: str
    gateway_namespace: str
    gateway_listener: str = ""
    pool_node_selector: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    pool_taints: Mapping[str, tuple[tuple[str, str, str], ...]] = field(default_factory=dict)
    scheduler: str = "None"
    queue: str = ""
