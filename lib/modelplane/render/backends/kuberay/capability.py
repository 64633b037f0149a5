"""The limits of KubeRay with Ray Serve LLM. Combinations that cannot work are refused before any device is reserved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render import capability, pods, volume, weights
from modelplane.render.backend import Capabilities, Definition, Shape
from modelplane.render.backends.kuberay import cluster, launching
from modelplane.workload import engines as images
from modelplane.workload.model import EngineType, Model, RoleSpec, Workload

Json: TypeAlias = Any

CAPABILITIES = Capabilities(
    name="KubeRay",
    shapes=frozenset({Shape.SINGLE_NODE, Shape.PIPELINE, Shape.DATA}),
    # vLLM fetches hf:// by itself and a claim is mounted.
    schemes=frozenset({weights.HUGGING_FACE, volume.SCHEME}),
    # Ray Serve LLM starts one engine, and hands over the KV cache between two of it.
    disaggregated=frozenset({EngineType.VLLM}),
    gangs=frozenset({EngineType.VLLM}),
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition("ray.io", "v1", "RayService", "the KubeRay operator 1.6", older=("v1alpha1",)),
)
# KubeRay applies no change of pods to a Ray cluster that runs, and what it does apply decides how requests are served.
PATCHABLE: frozenset[str] = frozenset()

_RESERVED_CONTAINERS = {
    "wait-gcs-ready": "KubeRay gives this name to the container that waits for the head",
}
# The operator tells Ray's pods about each other by these, and keeps what stands there already.
_RESERVED_VARIABLES = frozenset(
    {
        *("FQ_RAY_IP", "RAY_IP", "RAY_PORT", "RAY_ADDRESS", "RAY_CLUSTER_NAME", "RAY_CLUSTER_NAMESPACE"),
        *("RAY_CLOUD_INSTANCE_ID", "RAY_NODE_TYPE_NAME", "KUBERAY_GEN_RAY_START_CMD", "RAY_REDIS_ADDRESS"),
        *("REDIS_PASSWORD", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_enable_autoscaler_v2"),
    }
)
_HANDLERS = ("httpGet", "tcpSocket", "exec", "grpc")


def check(workload: Workload) -> None:
    """Check that a RayService can run the workload.

    Raises: InvalidInput with the path of the field that the author must change.
    """
    if workload.engine is not EngineType.VLLM:
        raise InvalidInput(
            f"KubeRay starts vLLM through Ray Serve LLM and cannot start {workload.engine}; use vllm",
            path=("spec", "engine", "type"),
        )
    capability.check_source(CAPABILITIES, workload)
    capability.check_picker(CAPABILITIES, workload)
    model = launching.required(workload.model)
    for role in workload.roles:
        _check_role(workload, model, role)
    _check_versions(workload.roles)


def _check_role(workload: Workload, model: Model, role: RoleSpec) -> None:
    capability.check_shape(CAPABILITIES, workload.engine, role)
    index, container = pods.engine_container(role)
    path = pods.path_to_engine(role.role, index)
    if images.lacks_ray(container["image"]):
        raise InvalidInput(
            f"{container['image']} does not contain Ray Serve, which starts the engine with KubeRay; use "
            "rayproject/ray-llm, or an image that is made from it",
            path=(*path, "image"),
        )
    _check_containers(role, path)
    _check_probes(container, path)
    for number, variable in enumerate(container.get("env") or ()):
        if variable["name"] in _RESERVED_VARIABLES:
            raise InvalidInput(f"{variable['name']} is set by KubeRay; remove it", path=(*path, "env", number, "name"))
    volume.check(workload, role)
    launching.start(launching.Engine(workload.engine, model, len(workload.roles) > 1), role)


def _check_containers(role: RoleSpec, path: tuple[str | int, ...]) -> None:
    for number, other in enumerate(role.template["spec"]["containers"]):
        why = _RESERVED_CONTAINERS.get(other["name"])
        if why is not None:
            raise InvalidInput(f'"{other["name"]}" is reserved: {why}', path=(*path[:-1], number, "name"))


def _check_probes(container: Mapping[str, Json], path: tuple[str | int, ...]) -> None:
    """Refuse probes of the engine: KubeRay probes Ray and its proxy, and the engine has no port of its own.

    Only the time that a startup probe allows is used.
    """
    for probe in ("livenessProbe", "readinessProbe"):
        if container.get(probe):
            raise InvalidInput("KubeRay probes Ray and its proxy instead of the engine; remove it", path=(*path, probe))
    for handler in _HANDLERS:
        if handler in (container.get("startupProbe") or {}):
            raise InvalidInput(
                "only the time that a startup probe allows is used with KubeRay; remove the handler",
                path=(*path, "startupProbe", handler),
            )


def _check_versions(roles: tuple[RoleSpec, ...]) -> None:
    """Refuse images with different versions of Ray, whose pods would not join one cluster."""
    found = {role.role: cluster.ray_version(pods.engine_container(role)[1]["image"]) for role in roles}
    known = {version for version in found.values() if version is not None}
    if len(known) > 1:
        index, _ = pods.engine_container(roles[-1])
        listed = " and ".join(f"Ray {version} in {role}" for role, version in found.items())
        raise InvalidInput(
            f"the pods of one Ray cluster run one version of Ray: {listed}; use one image",
            path=(*pods.path_to_engine(roles[-1].role, index), "image"),
        )
