"""The spec of a VLLMRuntime.

The operator compares what it reads back with what it writes, as Go's reflect.DeepEqual does. Where an API server writes
the same in another way, it updates for ever: so quantities are in their canonical form, and no empty list is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names, units
from modelplane.devices.model import Claim
from modelplane.errors import InvalidInput
from modelplane.render import claims, pods
from modelplane.render.backends.vllmstack import launching
from modelplane.render.backends.vllmstack.launching import Started
from modelplane.workload import shared_memory
from modelplane.workload.model import BoundRole, Replica, RoleSpec
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

DIGEST = names.ANNOTATION_CONFIGURATION
"""The annotation of the pods that changes with whatever the pods are made of."""

_REGISTRY = "docker.io"
_LIBRARY = "library"
_TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable
_RUNTIME_CLASS = "nvidia"
_AMOUNTS = ("cpu", "memory")


def spec(replica: Replica, bound: BoundRole, facts: ClusterFacts, started: Started) -> dict[str, Json]:
    """Return the spec of the VLLMRuntime.

    The operator rolls out a change of some fields and ignores that of others. So every change but one of the count
    changes an annotation of the pods.
    """
    _, container = pods.engine_container(bound.spec)
    deployment = _deployment(bound, facts, container)
    made: dict[str, Json] = {
        "model": {"modelURL": started.model, **_token(container)},
        "vllmConfig": {
            # What false writes, VLLM_USE_V1=0, is unknown to vLLM today.
            "v1": True,
            "port": launching.PORT,
            "tensorParallelSize": bound.spec.topology.tensor,
            "enableChunkedPrefill": started.fields.chunked_prefill,
            "enablePrefixCaching": started.fields.prefix_caching,
            **({"extraArgs": list(started.fields.rest)} if started.fields.rest else {}),
            **_env(container),
        },
        "deploymentConfig": deployment,
    }
    annotations = pods.pod_annotations(replica, bound, facts)
    digest = names.digest(json.dumps([made, annotations], sort_keys=True))
    deployment["replicas"] = bound.spec.workers
    deployment["podAnnotations"] = {**annotations, DIGEST: digest}
    return made


def resources(container: Mapping[str, Json], path: tuple[str | int, ...]) -> dict[str, str]:
    """Return the CPU and memory of a container, which the operator writes as requests and as limits.

    Raises: InvalidInput where the author wants the two to differ, or asks for something else.
    """
    given = container.get("resources") or {}
    found: dict[str, str] = {}
    for kind in ("requests", "limits"):
        for name, amount in sorted((given.get(kind) or {}).items()):
            place = (*path, "resources", kind, name)
            if name not in _AMOUNTS:
                raise InvalidInput("VLLMRuntime supports only cpu and memory; remove it", path=place)
            text = units.quantity(str(amount)).canonical()
            if units.quantity(found.get(name, text)) != units.quantity(text):
                raise InvalidInput(
                    f"VLLMRuntime has one amount for requests and limits; write {found[name]}, or remove it",
                    path=place,
                )
            found.setdefault(name, text)
    return found


def shared_memory_of(role: RoleSpec) -> str | None:
    """Return the size of the author's volume at /dev/shm, None where the author has none.

    Raises: InvalidInput at a volume or a mount that a VLLMRuntime has no field for.
    """
    index, container = pods.engine_container(role)
    path = pods.path_to_engine(role.role, index)
    mounts = container.get("volumeMounts") or ()
    for number, mount in enumerate(mounts):
        if mount["mountPath"].rstrip("/") != shared_memory.PATH:
            raise InvalidInput(
                "a pod of VLLMStack mounts a volume at /dev/shm only; remove the other mounts",
                path=(*path, "volumeMounts", number, "mountPath"),
            )
    mounted = {mount["name"] for mount in mounts}
    size: str | None = None
    for number, volume in enumerate(role.template["spec"].get("volumes") or ()):
        memory = volume.get("emptyDir") or {}
        limit = memory.get("sizeLimit")
        if volume["name"] not in mounted or memory.get("medium") != "Memory" or limit is None:
            raise InvalidInput(
                "a pod of VLLMStack has one volume: an emptyDir in memory with a sizeLimit, mounted at /dev/shm; "
                "remove the other volumes",
                path=(*path[:-2], "volumes", number),
            )
        size = units.quantity(str(limit)).canonical()
    return size


def is_token(variable: Mapping[str, Json]) -> bool:
    """Return whether a variable is the token of Hugging Face from a Secret, for which there is a field."""
    reference = (variable.get("valueFrom") or {}).get("secretKeyRef") or {}
    return variable["name"] == _TOKEN and bool(reference) and not reference.get("optional")


def _deployment(bound: BoundRole, facts: ClusterFacts, container: Mapping[str, Json]) -> dict[str, Json]:
    index, _ = pods.engine_container(bound.spec)
    path = pods.path_to_engine(bound.spec.role, index)
    size = shared_memory_of(bound.spec) or shared_memory.size(pods.accelerators(bound))
    return {
        "image": _image(bound, container),
        # An API server drops empty maps, which the operator would write for ever. Zero CPU is no request and no limit.
        "resources": {**resources(container, path), **_devices(bound)} or {"cpu": "0"},
        # The operator always writes it, and an API server takes no empty one.
        "runtimeClass": _RUNTIME_CLASS,
        "shmSize": size,
        # There are no devices beside those that are counted: a pod makes room before its successor starts.
        "deploymentStrategy": "Recreate",
        # Without a term the operator panics.
        "nodeSelectorTerms": [_term(pods.node_selector(bound, facts))],
        "toleration": pods.tolerations(facts.pool_taints.get(bound.pool, ())),
    }


def _term(selector: Mapping[str, str]) -> dict[str, Json]:
    wanted = [{"key": key, "operator": "In", "values": [value]} for key, value in sorted(selector.items())]
    return {"matchExpressions": wanted}


def _devices(bound: BoundRole) -> dict[str, str]:
    """Return the count of the devices and the name of their resource.

    Raises: InvalidInput where they cannot be counted: a device claimed through DRA, or two kinds of device.
    """
    limits = claims.limits(bound)
    if len(limits) > 1 or any(device.claim is Claim.DRA for device in bound.devices):
        raise InvalidInput(
            f"VLLMStack takes one kind of device, counted by a device plugin; pool {bound.pool} has others",
            path=("spec", "placement"),
        )
    return next(({"gpu": count, "gpuType": name} for name, count in limits.items()), {})


def _image(bound: BoundRole, container: Mapping[str, Json]) -> dict[str, str]:
    """Return the image as registry and name, which the operator joins with a slash."""
    host, slash, rest = str(container["image"]).partition("/")
    if slash and (host == "localhost" or "." in host or ":" in host):
        found = {"registry": host, "name": rest}
    else:
        found = {"registry": _REGISTRY, "name": f"{host}/{rest}" if slash else f"{_LIBRARY}/{host}"}
    if container.get("imagePullPolicy"):
        found["pullPolicy"] = container["imagePullPolicy"]
    for secret in bound.spec.template["spec"].get("imagePullSecrets") or ():
        found["pullSecretName"] = secret["name"]
    return found


def _token(container: Mapping[str, Json]) -> dict[str, Json]:
    for variable in container.get("env") or ():
        if is_token(variable):
            reference = variable["valueFrom"]["secretKeyRef"]
            return {"hfTokenSecret": {"hfTokenSecretName": reference["name"], "hfTokenKeyName": reference["key"]}}
    return {}


def _env(container: Mapping[str, Json]) -> dict[str, Json]:
    plain = [
        {"name": variable["name"], "value": str(variable.get("value") or "")}
        for variable in container.get("env") or ()
        if not variable.get("valueFrom")
    ]
    return {"env": plain} if plain else {}
