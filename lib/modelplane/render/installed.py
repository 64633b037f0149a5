"""Installed backends of a cluster, seen by the API versions that it serves.

A cluster is asked for the APIService of each API version and never for the definition itself: kube-apiserver keeps one
of some 500 bytes for every version that a definition serves, where the definitions of KServe and LeaderWorkerSet have
1.4 MB, which would be in every call about the cluster. An APIService says nothing about kinds, so a backend names a
version that belongs to its kind.

May never happen here: "not installed" without a provider that reached the cluster and found nothing.

Source: Kubernetes v1.36 (pkg/controlplane/controller/crdregistration), provider-kubernetes v1.2, crossplane-runtime v2
(the messages of Synced).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from modelplane.render import objects
from modelplane.render.backend import Backend, Definition
from modelplane.render.manifest import Lifecycle, Manifest
from modelplane.workload.model import Workload
from modelplane.workload.site import Installed

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

_KEY = "serves-"
_ABSENT = "external resource does not exist"
# An object that was read and could not be compared is there: without the right to patch, the provider cannot ask for a
# dry run, and an APIService is nothing to grant that right for.
_UNREAD = ("connect failed", "observe failed: cannot get object")


def key(api_version: str) -> str:
    """Return the composition key of the observation of an API version."""
    return f"{_KEY}{_name(api_version)}"


def is_observation(key: str) -> bool:
    """Return whether a composition key is that of an observation of an API version."""
    return key.startswith(_KEY)


def versions(backends: Iterable[Backend]) -> tuple[str, ...]:
    """Return the API versions that are looked for on a cluster that offers these backends."""
    wanted = {version for backend in backends for one in backend.DEFINITIONS for version in _versions(one)}
    return tuple(sorted(wanted))


def manifests(backends: Iterable[Backend]) -> tuple[Manifest, ...]:
    """Return the observations on a cluster that offers these backends."""
    return tuple(_manifest(version) for version in versions(backends))


def serves(child: Resource | None, *, before: bool | None) -> bool | None:
    """Return whether a cluster serves the API version that an Object observes, None while that is not known.

    `before` is the answer that was published last; it holds while the cluster cannot be read.
    """
    if child is None:
        return before
    synced = objects.condition(child, "Synced")
    message = str(synced.get("message") or "")
    is_there = objects.observed(child) is not None
    if synced.get("status") == "True":
        return True if is_there else before
    if synced.get("status") != "False":
        return before
    if message.endswith(_ABSENT):
        return False
    if message.startswith(_UNREAD) or not is_there:
        return before
    return True


def of(name: str, backend: Backend, served: Mapping[str, bool | None]) -> Installed:
    """Return the state of a backend; `served` has the known API versions.

    A backend whose every definition some workloads do without is there as soon as Kubernetes is.
    """
    asked = [version for one in backend.DEFINITIONS for version in _versions(one)]
    own = next((one for one in backend.DEFINITIONS if one.is_own), None)
    known = [] if own is None else [served.get(version) for version in _versions(own)]
    is_installed = own is None or True in known or (None if None in known else False)
    return Installed(
        backend=name,
        is_installed=is_installed,
        is_served=True if own is None else served.get(own.api_version),
        versions=tuple(version for version in asked if served.get(version) is True),
        missing=tuple(one.api_version for one in backend.DEFINITIONS if served.get(one.api_version) is False),
    )


def needs(backend: Backend, workload: Workload) -> Iterator[tuple[str, str]]:
    """Yield the API versions that a cluster must serve for the workload, each with what installs it."""
    for one in backend.DEFINITIONS:
        if one.is_needed(workload):
            yield one.api_version, one.product


def _versions(definition: Definition) -> tuple[str, ...]:
    return (definition.api_version, *(f"{definition.group}/{version}" for version in definition.older))


def _name(api_version: str) -> str:
    group, _, version = api_version.partition("/")
    return f"{version}.{group}"


def _manifest(api_version: str) -> Manifest:
    resource = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": _name(api_version)},
    }
    return Manifest(key(api_version), resource, lifecycle=Lifecycle.OBSERVE)
