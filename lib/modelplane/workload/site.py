"""Cluster of a replica, as far as rendering may read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tracing:
    """The OTLP endpoint of traces, and the percentage of requests that are traced if the client does not decide."""

    endpoint: str
    sampling_percent: int


@dataclass(frozen=True, slots=True)
class Installed:
    """The state of one backend on a cluster, by the API versions that the cluster serves.

    `is_installed` and `is_served` are None while that is not known. A backend is served if the version of its kind that
    Modelplane writes is. `versions` are those of its definitions that the cluster serves, `missing` those that it does
    not serve; an API version in neither is unknown.
    """

    backend: str
    is_installed: bool | None = None
    is_served: bool | None = None
    versions: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quota:
    """The quota of a queue. `resource` is its name for devices, and `holder` the object with it where it is another."""

    resource: str
    holder: str = ""


@dataclass(frozen=True, slots=True)
class Observer:
    """The wish that nodes and devices of a cluster are counted. `image` is empty for the default one."""

    image: str = ""


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """The facts of a cluster that a renderer may read.

    `gateway_*` name the Gateway of the cluster; an empty listener means the first one. `pool_node_selector` and
    `pool_taints` are by pool name; taints are (key, value, effect) of the pool's nodes. `scheduler` is the cluster
    scheduler, and `queue` is its queue, empty if there is none. `priority_classes` are (least priority, class of the
    scheduler). `quota` says where its quota is read, None where it is not. `gateway_implementation` is empty if nothing
    depends on it. `has_pod_monitors` is True if the cluster serves PodMonitor. `versions` are those of components that
    differ from the pinned ones. `ingress_class` is the class of the Ingresses of VLLMStack, empty for none.
    """

    name: str
    gateway_name: str
    gateway_namespace: str
    gateway_listener: str = ""
    pool_node_selector: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    pool_taints: Mapping[str, tuple[tuple[str, str, str], ...]] = field(default_factory=dict)
    scheduler: str = "None"
    queue: str = ""
    priority_classes: tuple[tuple[int, str], ...] = ()
    quota: Quota | None = None
    gateway_implementation: str = ""
    has_pod_monitors: bool = False
    tracing: Tracing | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    ingress_class: str = ""
    observer: Observer | None = None
    """The observer of its nodes and devices, None where they are not counted."""
