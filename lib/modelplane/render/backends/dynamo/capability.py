"""The limits of Dynamo. What its operator or its webhook would not take is refused before any device is reserved.

Source: internal/webhook/validation, internal/runtimeversion and internal/dra of the operator 1.6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.devices.model import Mode
from modelplane.errors import InvalidInput
from modelplane.render import capability, pods, volume, weights
from modelplane.render.backend import Capabilities, Definition, Shape
from modelplane.render.backends.dynamo import dialects, launching, naming
from modelplane.render.workers import requirements
from modelplane.workload import engines as images
from modelplane.workload.model import EngineType, RoleSpec, Workload

Json: TypeAlias = Any

CAPABILITIES = Capabilities(
    name="Dynamo",
    shapes=frozenset({Shape.SINGLE_NODE, Shape.PIPELINE, Shape.DATA}),
    # The worker fetches hf:// by itself and a claim is mounted.
    schemes=frozenset({weights.HUGGING_FACE, volume.SCHEME}),
    # TensorRT-LLM needs a file for the transfer of the KV cache, and over nodes MPI with keys for ssh.
    disaggregated=frozenset({EngineType.VLLM, EngineType.SGLANG}),
    gangs=frozenset({EngineType.VLLM, EngineType.SGLANG}),
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition("nvidia.com", "v1beta1", "DynamoGraphDeployment", "Dynamo's operator 1.4", older=("v1alpha1",)),
    requirements.LEADER_WORKER_SETS,
)
PATCHABLE: frozenset[str] = frozenset()
"""An override writes no field: those of a graph reach every pod, and a template holds what an author may write."""

MAIN = "main"
# A plain word, because domains of controllers are refused in templates.
VERSION_ANNOTATION = "dynamo-runtime-version"
"""The annotation of a template with the version of Dynamo in its image, where the tag does not tell."""
_WAIT_VOLUME = "wait-leader-script"
_RESERVED_VARIABLES = frozenset(
    {
        *("DYN_NAMESPACE", "DYN_NAMESPACE_PREFIX", "DYN_NAMESPACE_WORKER_SUFFIX", "DYN_COMPONENT", "DYN_ENDPOINT"),
        *("DYN_DISCOVERY_BACKEND", "DYN_PARENT_DGD_K8S_NAME", "DYN_PARENT_DGD_K8S_NAMESPACE", "DYN_SYSTEM_ENABLED"),
        *("DYN_SYSTEM_PORT", "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", "DYN_HTTP_PORT", "DYNAMO_PORT"),
        *("DYN_VLLM_DISAGGREGATION_MODE", "DYN_TRTLLM_DISAGGREGATION_MODE", "DYN_VLLM_HEADLESS", "DYN_CONNECTOR"),
        *("POD_NAME", "POD_NAMESPACE", "POD_UID"),
    }
)
_HANDLERS = ("httpGet", "tcpSocket", "exec", "grpc")
_NUMBER = r"(?:0|[1-9][0-9]*)"
_PART = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_TAG = re.compile(
    rf"[vV]?{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PART}(?:\.{_PART})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?\Z"
)
_VERSION = re.compile(r"(?:0|[1-9][0-9]{0,3})(?:\.(?:0|[1-9][0-9]{0,3})){2}\Z")


def check(workload: Workload) -> None:
    """Check that a graph can run the workload as it is written.

    Raises: InvalidInput with the path of the field that the author must change.
    """
    if workload.engine not in dialects.DIALECTS:
        raise InvalidInput(
            f"Dynamo has no worker for {workload.engine}; use vllm, sglang or trtllm", path=("spec", "engine", "type")
        )
    if len(workload.namespace) > naming.NAMESPACE_MAX:
        raise InvalidInput(
            f"Dynamo labels pods with namespace and graph in 63 characters, so the namespace may have "
            f"{naming.NAMESPACE_MAX} and not {len(workload.namespace)}",
            path=("metadata", "namespace"),
        )
    capability.check_source(CAPABILITIES, workload)
    capability.check_picker(CAPABILITIES, workload)
    is_apart = len(workload.roles) > 1
    capability.check_roles(CAPABILITIES, workload)
    for role in workload.roles:
        _check_role(workload, role, is_apart=is_apart)


def version_of(role: RoleSpec) -> str | None:
    """Return the version of Dynamo that the template declares, None where the tag of the image tells it."""
    annotations = (role.template.get("metadata") or {}).get("annotations") or {}
    found = annotations.get(VERSION_ANNOTATION)
    return None if found is None else str(found)


def _check_role(workload: Workload, role: RoleSpec, *, is_apart: bool) -> None:
    capability.check_shape(CAPABILITIES, workload.engine, role)
    index, container = pods.engine_container(role)
    path = pods.path_to_engine(role.role, index)
    _check_image(role, str(container["image"]), path)
    _check_names(role, path)
    _check_probes(container, path)
    for number, variable in enumerate(container.get("env") or ()):
        if variable["name"] in _RESERVED_VARIABLES:
            raise InvalidInput(f"{variable['name']} is set by Dynamo; remove it", path=(*path, "env", number, "name"))
    volume.check(workload, role)
    _check_devices(workload, role)
    launching.line(launching.Engine(workload.engine, workload.model, is_apart), role)


def _check_image(role: RoleSpec, image: str, path: tuple[str | int, ...]) -> None:
    if images.lacks_dynamo(image):
        raise InvalidInput(
            f"{image} does not contain Dynamo; use vllm-runtime, sglang-runtime or tensorrtllm-runtime of "
            "nvcr.io/nvidia/ai-dynamo, or an image that is made from one",
            path=(*path, "image"),
        )
    declared = version_of(role)
    if declared is not None and _VERSION.match(declared) is None:
        raise InvalidInput(
            f"{declared!r} is not a version of Dynamo; write for example 1.6.1",
            path=(*path[:-3], "metadata", "annotations", VERSION_ANNOTATION),
        )
    if declared is None and not _tells_version(image):
        raise InvalidInput(
            f"Dynamo reads its version from the tag of the image, and {image} has none like 1.6.1; use such a tag, or "
            f"declare the version in the annotation {VERSION_ANNOTATION} of the template",
            path=(*path, "image"),
        )


def _tells_version(image: str) -> bool:
    """Return whether the tag of an image is a semantic version, as the operator reads it."""
    last = image.partition("@")[0].rpartition("/")[2]
    return _TAG.match(last.partition(":")[2]) is not None


def _check_names(role: RoleSpec, path: tuple[str | int, ...]) -> None:
    for number, other in enumerate(role.template["spec"]["containers"]):
        if other["name"] == MAIN:
            raise InvalidInput(
                f'"{MAIN}" is reserved: Dynamo uses this name for the engine', path=(*path[:-1], number, "name")
            )
    for number, one in enumerate(role.template["spec"].get("volumes") or ()):
        if one["name"] == _WAIT_VOLUME and role.topology.is_gang:
            raise InvalidInput(
                f'Dynamo has a volume named "{_WAIT_VOLUME}"; use another name',
                path=(*path[:-2], "volumes", number, "name"),
            )


def _check_probes(container: Mapping[str, Json], path: tuple[str | int, ...]) -> None:
    """Refuse probes of the engine, which has no HTTP server of its own; a startup probe is taken for its times."""
    for probe in ("livenessProbe", "readinessProbe"):
        if container.get(probe):
            raise InvalidInput("Dynamo probes a port of its own on the worker; remove it", path=(*path, probe))
    for handler in _HANDLERS:
        if handler in (container.get("startupProbe") or {}):
            raise InvalidInput(
                "only the time that a startup probe allows is used with Dynamo; remove the handler",
                path=(*path, "startupProbe", handler),
            )


def _check_devices(workload: Workload, role: RoleSpec) -> None:
    """Refuse requests whose number the operator cannot count, or counts otherwise than the topology."""
    where = (*role.role.path, "nodeSelector", "devices")
    for number, request in enumerate(role.requests):
        if any(one.mode is Mode.ALL for one in request.each()):
            raise InvalidInput(
                "Dynamo counts the devices of a worker, and All has no number; use ExactCount",
                path=(*where, number, "allocationMode"),
            )
    needed = role.topology.devices_per_node
    if workload.engine is EngineType.VLLM and role.topology.is_gang and role.requests[:1]:
        asked = role.requests[0].count
        if asked != needed:
            raise InvalidInput(
                f"Dynamo spreads vllm over nodes by the devices of each, {asked} here, and the topology has {needed} "
                f"per node; ask for {needed}",
                path=(*where, 0, "count"),
            )
