"""Part of a serving stack: one Helm release, what it needs, and how it is seen to work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from modelplane import names
from modelplane.workload.stack import Stack

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]
Values: TypeAlias = Callable[[Stack], Mapping[str, Json]]

AVAILABLE = "Available"
ATTEMPTS, ATTEMPTS_WITH_WEBHOOK = 5, 10
"""The attempts of provider-helm at an installation or an upgrade. Without such a limit it never tries a second time."""


def no_values(stack: Stack) -> Mapping[str, Json]:
    """Return no values: the chart's own will do."""
    return {}


@dataclass(frozen=True, slots=True)
class Sign:
    """An object of a cluster that shows that something is there. It works if its `condition` is True, if it has one."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    condition: str = ""

    @property
    def resource(self) -> Resource:
        """Return the manifest."""
        metadata = {"name": self.name, **({"namespace": self.namespace} if self.namespace else {})}
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata}

    @property
    def words(self) -> str:
        """Return the object as messages name it."""
        return f"{self.kind} {names.qualified(self.namespace, self.name) if self.namespace else self.name}"


def api(version: str, group: str) -> Sign:
    """Return the APIService of a version of a group, which kube-apiserver keeps while it serves the definition.

    The definitions themselves are up to 1.4 MB, and would be in every call.
    """
    return Sign("apiregistration.k8s.io/v1", "APIService", f"{version}.{group}", condition=AVAILABLE)


def deployment(namespace: str, name: str) -> Sign:
    """Return a Deployment that is available."""
    return Sign("apps/v1", "Deployment", name, namespace, AVAILABLE)


def device_class(name: str) -> Sign:
    """Return a DeviceClass."""
    return Sign("resource.k8s.io/v1", "DeviceClass", name)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart at the pinned version. A version is always set: an unset one would be the newest at the first look."""

    repository: str
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Part:
    """One Helm release.

    `release` is its name on the cluster, of at most 53 characters. `after` are the keys of parts that work before it is
    installed; one that comes `after_all` waits for all others. `proof` shows that it works, which its release does not:
    that one only says that Helm has applied. Where `wait` is False Helm waits for hooks alone, which is right for
    whatever runs on GPU nodes, because a pool may have none. `owns_definitions` if the chart's definitions are
    templates, so that an uninstallation would delete every instance. `namespace_labels` and `is_critical` concern its
    namespace; one that `owns_namespace` has it to itself.
    """

    key: str
    chart: Chart
    release: str
    namespace: str
    wave: int
    proof: Sign
    values: Values = no_values
    after: tuple[str, ...] = ()
    after_all: bool = False
    wait: bool = True
    wait_minutes: int = 5
    attempts: int = ATTEMPTS
    owns_definitions: bool = False
    owns_namespace: bool = False
    is_critical: bool = False
    namespace_labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unit:
    """A component, or one variant of it.

    It is there where one of the `looks` is found. `blockers` are what must not be there when it is installed, each with
    what to do. `has_gateway` if the cluster's Gateway belongs to it. Without `parts` nothing is installed for it.
    """

    component: str
    variant: str = ""
    parts: tuple[Part, ...] = ()
    looks: tuple[Sign, ...] = ()
    blockers: tuple[tuple[Sign, str], ...] = ()
    has_gateway: bool = False
    required: bool = True

    @property
    def name(self) -> str:
        """Return the name in reports: component, or component/variant."""
        return f"{self.component}/{self.variant}" if self.variant else self.component
