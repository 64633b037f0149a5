"""Serving stack of a cluster: the components that it should have, and by whom each is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Mode(StrEnum):
    """The way in which a cluster gets a component."""

    MANAGED = "Managed"
    """The component is installed, upgraded and uninstalled here."""
    EXTERNAL = "External"
    """The component is somebody else's: it is looked for and never written."""
    DISABLED = "Disabled"
    """The cluster has no use for the component; what was installed is uninstalled."""


class Phase(StrEnum):
    """The phase of a component on its cluster."""

    PENDING = "Pending"
    INSTALLING = "Installing"
    READY = "Ready"
    FAILED = "Failed"
    EXTERNAL = "External"
    DISABLED = "Disabled"


@dataclass(frozen=True, slots=True)
class Component:
    """A component that a cluster needs, or that its author speaks of.

    Without a `mode` it is External where it is found on the cluster and Managed otherwise. `version` is empty for the
    pinned one. `variants` are its kinds: the drivers of `dra`, the scheduler of `queue`.
    """

    name: str
    mode: Mode | None = None
    version: str = ""
    variants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """The provider configuration of one provider."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Lifeline:
    """A managed resource of the cloud without which nothing can be uninstalled from the cluster."""

    api_version: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Report:
    """The reported state of a component. `mode` is None while it is not decided, and `version` empty if unknown.

    A component that is not `required` holds up nothing: no model waits for it.
    """

    name: str
    mode: Mode | None
    phase: Phase
    version: str = ""
    reason: str = ""
    message: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class Stack:
    """The serving stack of one cluster.

    `kubernetes` and `helm` reach the cluster. The Gateway has a listener without TLS where `gateway_plaintext`, and one
    that asks its clients for a certificate where its own is in the Secret `gateway_certificate`. `driver_root` is the
    folder of the NVIDIA driver on its nodes. `limits_critical_pods` is True where pods of a critical priority need a
    ResourceQuota (GKE). An `is_abandoned` stack is left on its cluster as it is. `modes` are the modes that were
    decided before, by the name of their report. `lifelines` stay until everything is uninstalled.
    """

    name: str
    cluster: str
    kubernetes: Reference
    helm: Reference
    components: tuple[Component, ...] = ()
    gateway_name: str = "modelplane"
    gateway_namespace: str = "modelplane-system"
    gateway_listener: str = "http"
    gateway_plaintext: bool = True
    gateway_certificate: str = ""
    driver_root: str = "/"
    limits_critical_pods: bool = False
    is_abandoned: bool = False
    modes: Mapping[str, Mode] = field(default_factory=dict)
    upgrading: str = ""
    lifelines: tuple[Lifeline, ...] = ()
