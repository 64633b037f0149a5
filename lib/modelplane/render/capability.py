"""Refusals that follow from the capabilities of a backend, with messages that name the backend."""

from __future__ import annotations

from collections.abc import Mapping

from modelplane.errors import InvalidInput
from modelplane.render import engines, pods, volume, weights
from modelplane.render.backend import Capabilities, shape_of
from modelplane.render.dialects import DIALECTS, Dialect
from modelplane.render.engines import CommandLine, Launch
from modelplane.workload import cached
from modelplane.workload.model import EngineType, Role, RoleSpec, Workload

_URI = ("spec", "model", "uri")


def check_source(can: Capabilities, workload: Workload) -> None:
    """Check that the backend and the engine can load the weights from their source. Raises: InvalidInput."""
    source = weights.source(workload.model)
    if source.scheme == cached.NODE_SCHEME and can.has_node_files:
        return
    if source.scheme and source.scheme not in can.schemes:
        known = ", ".join(f"{scheme}://" for scheme in sorted(can.schemes))
        raise InvalidInput(f"{can.name} cannot fetch {source.scheme}://; it supports {known}", path=_URI)
    if source.revision is not None and not weights.takes_revision(workload.engine):
        raise InvalidInput(f"{workload.engine} does not support a revision; remove @{source.revision}", path=_URI)


def check_cache(can: Capabilities, workload: Workload) -> None:
    """Check that the backend can mount the volume of a model cache, if one is named. Raises: InvalidInput."""
    path = ("spec", "modelCacheRef")
    if workload.model_cache is None:
        return
    if volume.SCHEME not in can.schemes:
        raise InvalidInput(
            f"{can.name} mounts no volume with weights; remove modelCacheRef, or use another backend", path=path
        )
    if workload.cache_uri and not can.has_node_files:
        raise InvalidInput(
            f"the files of ModelCache {workload.model_cache} are on the disks of nodes (storage.nodeGroup), which pods "
            f"of {can.name} do not mount; use the backend KServe, or a ModelCache without nodeGroup",
            path=path,
        )
    if volume.of(workload.model) is not None:
        raise InvalidInput(
            "model.uri already names a volume with the weights; remove modelCacheRef or model.uri", path=path
        )


def check_picker(can: Capabilities, workload: Workload) -> None:
    """Check that the backend lets the author choose how requests find a worker. Raises: InvalidInput."""
    picker = workload.endpoint_picker
    if picker is None:
        return
    path = ("spec", "endpointPicker")
    if not can.has_picker:
        raise InvalidInput(
            f"{can.name} has no endpoint picker that can be configured; remove endpointPicker", path=path
        )
    is_disaggregated = len(workload.roles) > 1
    if picker.uncached_tokens is not None and not (is_disaggregated and workload.engine is EngineType.VLLM):
        why = f"a decode worker of {workload.engine} cannot prefill" if is_disaggregated else "there is no prefill"
        raise InvalidInput(
            f"{why}, so that every request goes the same way; remove uncachedTokens", path=(*path, "uncachedTokens")
        )


def check_roles(can: Capabilities, workload: Workload) -> None:
    """Check that the backend hands the KV cache of this engine from prefill to decode. Raises: InvalidInput."""
    if len(workload.roles) == 1 or workload.engine in can.disaggregated:
        return
    if not can.disaggregated:
        raise InvalidInput(
            f"{can.name} cannot hand the KV cache from prefill to decode; remove prefill", path=Role.PREFILL.path
        )
    known = " or ".join(sorted(can.disaggregated - {EngineType.CUSTOM}))
    raise InvalidInput(
        f"{can.name} cannot hand the KV cache of {workload.engine} from prefill to decode; remove prefill, or use "
        f"{known}",
        path=Role.PREFILL.path,
    )


def check_shape(can: Capabilities, engine: EngineType, role: RoleSpec) -> None:
    """Check that the backend supports the shape of one worker of the role. Raises: InvalidInput."""
    path = (*role.role.path, "workers", "topology")
    shape, topology = shape_of(role), role.topology
    if shape not in can.shapes:
        raise InvalidInput(
            f"pipeline {topology.pipeline} and data {topology.data} cannot both be above 1 with {can.name}; "
            "set one of them to 1, or run more workers",
            path=(*path, "pipeline"),
        )
    if topology.is_gang and engine not in can.gangs:
        field = "pipeline" if topology.pipeline > 1 else "data"
        raise InvalidInput(
            f"{engine} cannot span the {topology.nodes} nodes of this topology with {can.name}; "
            f"set {field} to 1 and use tensor within one node, or use vLLM or SGLang",
            path=(*path, field),
        )
    if engine in (EngineType.TRTLLM, EngineType.LLAMACPP) and topology.data > 1:
        raise InvalidInput(
            f"{engine} does not support data parallelism; use workers.count instead", path=(*path, "data")
        )


def check_mounts(can: Capabilities, workload: Workload) -> None:
    """Check that every mount names a volume of the pod. Raises: InvalidInput."""
    for role in workload.roles:
        spec = role.template["spec"]
        own = [volume["name"] for volume in spec.get("volumes") or ()]
        for number, container in enumerate(spec["containers"]):
            for place, mount in enumerate(container.get("volumeMounts") or ()):
                if mount["name"] not in own and mount["name"] not in can.volumes:
                    there = ", ".join(f'"{name}"' for name in sorted({*own, *can.volumes}))
                    raise InvalidInput(
                        f'no volume is named "{mount["name"]}"; write it in volumes, or mount one of {there}',
                        path=(*pods.path_to_engine(role.role, number), "volumeMounts", place, "name"),
                    )


def command_line(launch: Launch, role: RoleSpec, dialects: Mapping[EngineType, Dialect] = DIALECTS) -> CommandLine:
    """Return the command line of the role's engine.

    Raises: InvalidInput, with its path from the document's root, if a flag contradicts the model or the topology.
    """
    index, container = pods.engine_container(role)
    try:
        return engines.command_line(launch, container, dialects)
    except InvalidInput as error:
        raise error.under(*pods.path_to_engine(role.role, index)) from None
