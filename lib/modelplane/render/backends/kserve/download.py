"""Weights that KServe's storage initializer can fetch, and its controller does not ask it for: gs://.

KServe answers "unsupported schema" to such a URI of an LLMInferenceService. Its storage initializer knows the scheme,
so the pods have it as a container of their own, with the names and the mount that KServe's would have.

Source: KServe v0.20.0 (llmisvc/workload_storage.go, pkg/utils/storage.go, python/storage).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render import pods, weights
from modelplane.workload.model import Model, RoleSpec

Json: TypeAlias = Any

SCHEME = "gs"
CONTAINER, VOLUME = "storage-initializer", "kserve-provision-location"
_IMAGE = "kserve/storage-initializer:v0.20.0"
# What KServe's release gives its own.
_RESOURCES = {"requests": {"cpu": "100m", "memory": "100Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
# How the engine's container says who it is to a store; the credentials are the author's to give.
_CREDENTIALS = ("env", "envFrom", "volumeMounts")


def is_needed(model: Model | None) -> bool:
    """Return whether the pods fetch the weights themselves."""
    return weights.source(model).scheme == SCHEME


def add(spec: dict[str, Json], uri: str, role: RoleSpec, engine_name: str) -> None:
    """Add the download to a pod: it runs before the engine, with the engine's own variables and mounts."""
    _, given = pods.engine_container(role)
    mount = {"name": VOLUME, "mountPath": weights.MOUNT}
    container = {
        "name": CONTAINER,
        "image": _IMAGE,
        "args": [uri, weights.MOUNT],
        **{key: list(given[key]) for key in _CREDENTIALS if given.get(key)},
        "resources": _RESOURCES,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "runAsNonRoot": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    container["volumeMounts"] = [*container.get("volumeMounts", ()), mount]
    spec["initContainers"] = [*spec.get("initContainers", ()), container]
    spec["volumes"] = [*spec["volumes"], {"name": VOLUME, "emptyDir": {}}]
    engine = next(one for one in spec["containers"] if one["name"] == engine_name)
    engine["volumeMounts"] = [*engine["volumeMounts"], {**mount, "readOnly": True}]


def check(role: RoleSpec) -> None:
    """Check that nothing of the author stands where the weights go. Raises: InvalidInput."""
    index, container = pods.engine_container(role)
    path = pods.path_to_engine(role.role, index)
    for number, volume in enumerate(role.template["spec"].get("volumes") or ()):
        _refuse(volume, "name", VOLUME, (*path[:-2], "volumes", number))
    for number, mount in enumerate(container.get("volumeMounts") or ()):
        found = {**mount, "mountPath": mount["mountPath"].rstrip("/")}
        _refuse(found, "mountPath", weights.MOUNT, (*path, "volumeMounts", number))


def _refuse(entry: Mapping[str, Json], key: str, taken: str, path: tuple[str | int, ...]) -> None:
    if entry[key] == taken:
        raise InvalidInput(f'"{taken}" is where the weights of model.uri go; use another', path=(*path, key))
