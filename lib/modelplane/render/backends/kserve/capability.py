"""Capabilities of KServe, and refusals of workloads that it would not run as written.

A combination that cannot work is refused before any device is claimed for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render import capability, pods
from modelplane.render.backend import Capabilities, Definition, Shape, for_gangs, shape_of
from modelplane.render.backends.kserve import download, launching, scheduling
from modelplane.workload import shared_memory
from modelplane.workload.model import EngineType, RoleSpec, Workload

Json: TypeAlias = Any

CAPABILITIES = Capabilities(
    name="KServe",
    shapes=frozenset({Shape.SINGLE_NODE, Shape.PIPELINE, Shape.DATA}),
    # KServe attaches all but gs://, which the pods fetch with KServe's storage initializer.
    schemes=frozenset({"hf", "s3", "oci", "pvc", download.SCHEME}),
    # The protocols of the routing sidecar; a custom engine is taken at its author's word (vLLM's, by NIXL).
    disaggregated=frozenset(scheduling.CONNECTORS),
    # TensorRT-LLM spans nodes with MPI over ssh and llama.cpp with a list of RPC servers; neither is wired by a
    # LeaderWorkerSet.
    gangs=frozenset({EngineType.VLLM, EngineType.SGLANG, EngineType.CUSTOM}),
    has_picker=True,
    has_node_files=True,
    # Those of its presets.
    volumes=frozenset({"home", "tmp-dir", "model-cache", "tls-certs", shared_memory.VOLUME}),
)

_GANGS = Definition("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "LeaderWorkerSet 0.8", is_needed=for_gangs)
DEFINITIONS: tuple[Definition, ...] = (
    Definition("serving.kserve.io", "v1alpha2", "LLMInferenceService", "KServe 0.20", older=("v1alpha1",)),
    # KServe makes one where a worker spans nodes.
    _GANGS,
)
PATCHABLE: frozenset[str] = frozenset(
    f"spec.{pods}.{field}"
    for pods in ("template", "worker", "prefill.template", "prefill.worker")
    for field in ("dnsConfig", "hostAliases", "terminationGracePeriodSeconds")
)

_RESERVED_CONTAINERS = {
    "main": "KServe uses this name for the engine",
    scheduling.SIDECAR: "KServe uses this name for its routing sidecar",
    download.CONTAINER: "KServe uses this name for its download container",
    "modelcar": "KServe uses this name for the container of the model's image",
}
# Volumes and variables that the shipped presets define. KServe merges ours into them key by key and cannot remove a
# key, so another kind of source would stand beside the preset's and the pod would be invalid.
_PRESET_VOLUMES = ("home", "tmp-dir", "model-cache", shared_memory.VOLUME)
_PRESET_ONLY_VOLUMES = ("tls-certs", download.VOLUME, "kserve-pvc-source")
_PRESET_VARIABLES = ("HOME", "VLLM_LOGGING_LEVEL", "HF_HUB_CACHE")
_PROBES = ("startupProbe", "livenessProbe", "readinessProbe")


def check(workload: Workload) -> None:
    """Check that KServe can run the workload as it is written.

    Raises: InvalidInput with the path of the field that the author must change.
    """
    disaggregated = len(workload.roles) > 1
    engine = launching.Engine(workload.namespace, workload.engine, workload.model, disaggregated)
    capability.check_source(CAPABILITIES, workload)
    capability.check_picker(CAPABILITIES, workload)
    capability.check_roles(CAPABILITIES, workload)
    for role in workload.roles:
        capability.check_shape(CAPABILITIES, workload.engine, role)
        _check_containers(engine, role)
        if download.is_needed(workload.model):
            download.check(role)


def uses_shipped_preset(role: RoleSpec) -> bool:
    """Return whether KServe merges one of its presets with containers into the pods of the role."""
    return shape_of(role) is not Shape.PIPELINE


def _check_containers(engine: launching.Engine, role: RoleSpec) -> None:
    index, container = pods.engine_container(role)
    path = pods.path_to_engine(role.role, index)
    for number, other in enumerate(role.template["spec"]["containers"]):
        why = _RESERVED_CONTAINERS.get(other["name"])
        if why is not None:
            raise InvalidInput(f'"{other["name"]}" is reserved: {why}', path=(*path[:-1], number, "name"))
    for member in pods.members(role.topology):
        line = capability.command_line(launching.launch(engine, role, member), role)
        if not line.command and uses_shipped_preset(role):
            raise InvalidInput(
                "is required for an unknown engine, because KServe would run the start script of vLLM instead of the "
                "entry point of the image",
                path=(*path, "command"),
            )
    if uses_shipped_preset(role):
        _check_merge(role, container, path)


def _check_merge(role: RoleSpec, container: Mapping[str, Json], path: tuple[str | int, ...]) -> None:
    """Refuse what would stand beside a preset's value instead of replacing it."""
    for number, volume in enumerate(role.template["spec"].get("volumes") or ()):
        name = volume["name"]
        if name in _PRESET_ONLY_VOLUMES or (name in _PRESET_VOLUMES and "emptyDir" not in volume):
            raise InvalidInput(
                f'KServe has a volume named "{name}"; use another name',
                path=(*path[:-2], "volumes", number, "name"),
            )
    for number, variable in enumerate(container.get("env") or ()):
        if variable["name"] in _PRESET_VARIABLES and "valueFrom" in variable:
            raise InvalidInput(
                f"KServe sets {variable['name']}; a plain value replaces it, but valueFrom cannot",
                path=(*path, "env", number, "valueFrom"),
            )
    for probe in _PROBES:
        other = sorted(set(container.get(probe) or {}) & {"exec", "grpc", "tcpSocket"})
        if other:
            raise InvalidInput(
                "KServe's probe uses httpGet and cannot be removed; use httpGet and change its path, port or timing",
                path=(*path, probe, other[0]),
            )
    stop = (container.get("lifecycle") or {}).get("preStop") or {}
    for handler in sorted(set(stop) - {"exec"}):
        raise InvalidInput(
            "KServe's preStop uses exec and cannot be removed; use exec",
            path=(*path, "lifecycle", "preStop", handler),
        )
