"""The limits of a VLLMRuntime. A combination that cannot work is refused before a device is reserved.

A VLLMRuntime has fields of its own and no pod template, so what it has no field for is refused with its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.devices.model import Claim
from modelplane.errors import InvalidInput
from modelplane.render import capability, pods, weights
from modelplane.render.backend import Capabilities, Definition, Shape
from modelplane.render.backends.vllmstack import launching, runtime
from modelplane.workload import engines as images
from modelplane.workload import shared_memory
from modelplane.workload.model import EngineType, RoleSpec, Workload

Json: TypeAlias = Any
Path: TypeAlias = tuple[str | int, ...]

CAPABILITIES = Capabilities(
    name="VLLMStack",
    shapes=frozenset({Shape.SINGLE_NODE}),
    # vLLM fetches hf:// by itself. The operator makes a volume of its own, and mounts no other.
    schemes=frozenset({weights.HUGGING_FACE}),
    disaggregated=frozenset(),
    gangs=frozenset(),
    claims=frozenset({Claim.DEVICE_PLUGIN, Claim.SYNTHETIC}),
    volumes=frozenset({shared_memory.VOLUME}),
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        "production-stack.vllm.ai", "v1alpha1", "VLLMRuntime", "the operator of the vLLM production stack 0.1.12"
    ),
)
# The operator compares it, so that a patch of it reaches the pods; those of other fields would not.
PATCHABLE: frozenset[str] = frozenset({"spec.deploymentConfig.runtimeClass"})

_NO_FIELD = "VLLMRuntime has no field for it; remove it, or use another backend"
_OF_A_POD = frozenset({"containers", "imagePullSecrets", "volumes"})
_OF_A_CONTAINER = frozenset(
    {"name", "image", "imagePullPolicy", "args", "command", "env", "resources", "ports", "volumeMounts"}
)
# The operator reads the first five back from the pods and compares them with lmCacheConfig. Where they differ, it
# updates for ever. It writes the last one itself.
_RESERVED_VARIABLES = frozenset(
    {
        *("LMCACHE_USE_EXPERIMENTAL", "LMCACHE_MAX_LOCAL_CPU_SIZE", "LMCACHE_MAX_LOCAL_DISK_SIZE"),
        *("LMCACHE_REMOTE_URL", "LMCACHE_REMOTE_SERDE", "VLLM_USE_V1"),
    }
)


def check(workload: Workload) -> None:
    """Check that a VLLMRuntime can run the workload as it is written.

    Raises: InvalidInput with the path of the field that the author must change.
    """
    if workload.engine is not EngineType.VLLM:
        raise InvalidInput(
            f"VLLMStack starts vLLM and cannot start {workload.engine}; use vllm", path=("spec", "engine", "type")
        )
    capability.check_roles(CAPABILITIES, workload)
    capability.check_source(CAPABILITIES, workload)
    capability.check_picker(CAPABILITIES, workload)
    for role in workload.roles:
        _check_topology(role)
        _check_devices(role)
        _check_pod(role)
        launching.start(workload.model, role)


def _check_topology(role: RoleSpec) -> None:
    topology, path = role.topology, (*role.role.path, "workers", "topology")
    for field, value in (("pipeline", topology.pipeline), ("data", topology.data)):
        if value > 1:
            raise InvalidInput(
                f"a worker of VLLMStack is one pod with one engine; set {field} to 1, and use tensor within one node "
                "or more workers",
                path=(*path, field),
            )
    if topology.expert:
        raise InvalidInput("VLLMStack has no expert parallelism; set expert to false", path=(*path, "expert"))


def _check_devices(role: RoleSpec) -> None:
    if len(role.requests) > 1:
        raise InvalidInput(
            "a VLLMRuntime counts one kind of device; keep one request",
            path=(*role.role.path, "nodeSelector", "devices"),
        )


def _check_pod(role: RoleSpec) -> None:
    index, container = pods.engine_container(role)
    path = pods.path_to_engine(role.role, index)
    spec = role.template["spec"]
    _refuse_others(spec, _OF_A_POD, path[:-2])
    if len(spec["containers"]) > 1:
        other = next(number for number, one in enumerate(spec["containers"]) if one["name"] != pods.ENGINE)
        raise InvalidInput(
            "a pod of VLLMStack runs the engine only; remove the other containers", path=(*path[:-1], other)
        )
    if len(spec.get("imagePullSecrets") or ()) > 1:
        raise InvalidInput(
            "VLLMRuntime supports one Secret for images; keep one", path=(*path[:-2], "imagePullSecrets", 1)
        )
    _refuse_others(container, _OF_A_CONTAINER, path)
    _check_container(container, path)
    runtime.shared_memory_of(role)


def _refuse_others(given: Mapping[str, Json], known: frozenset[str], path: Path) -> None:
    for key in sorted(given.keys() - known):
        if given[key]:
            raise InvalidInput(_NO_FIELD, path=(*path, key))


def _check_container(container: Mapping[str, Json], path: Path) -> None:
    if images.lacks_virtual_environment(container["image"]):
        raise InvalidInput(
            f"the operator starts /opt/venv/bin/vllm, which {container['image']} does not have; use "
            "lmcache/vllm-openai, or an image that is made from it",
            path=(*path, "image"),
        )
    if container.get("command"):
        raise InvalidInput(
            "the operator starts vllm serve and runs no other command; remove it", path=(*path, "command")
        )
    for number, port in enumerate(container.get("ports") or ()):
        if port["containerPort"] != launching.PORT:
            raise InvalidInput(
                f"a pod of VLLMStack has port {launching.PORT} only; remove the other ports",
                path=(*path, "ports", number, "containerPort"),
            )
    _check_variables(container, path)
    runtime.resources(container, path)


def _check_variables(container: Mapping[str, Json], path: Path) -> None:
    for number, variable in enumerate(container.get("env") or ()):
        place = (*path, "env", number)
        if variable["name"] in _RESERVED_VARIABLES:
            raise InvalidInput(f"{variable['name']} is set by the operator; remove it", path=(*place, "name"))
        if variable.get("valueFrom") and not runtime.is_token(variable):
            raise InvalidInput(
                "VLLMRuntime supports plain values, and HF_TOKEN from a Secret that is not optional; write value",
                path=(*place, "valueFrom"),
            )
