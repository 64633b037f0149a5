"""Refusals that follow from the capabilities of a backend, with messages that name the backend."""

from __future__ import annotations

from modelplane.errors import InvalidInput
from modelplane.render import engines, pods, weights
from modelplane.render.backend import Capabilities, shape_of
from modelplane.render.engines import CommandLine, Launch
from modelplane.workload.model import EngineType, RoleSpec, Workload

_URI = ("spec", "model", "uri")


def check_source(can: Capabilities, workload: Workload) -> None:
    """Check that the backend and the engine can load the weights from their source. Raises: InvalidInput."""
    source = weights.source(workload.model)
    if source.scheme and source.scheme not in can.schemes:
        known = ", ".join(f"{scheme}://" for scheme in sorted(can.schemes))
        raise InvalidInput(f"{can.name} cannot fetch {source.scheme}://; it supports {known}", path=_URI)
    if source.revision is not None and not weights.takes_revision(workload.engine):
        raise InvalidInput(f"{workload.engine} does not support a revision; remove @{source.revision}", path=_URI)


def check_picker(can: Capabilities, workload: Workload) -> None:
    """Check that the backend lets the author choose how requests find a worker. Raises: InvalidInput."""
    if workload.endpoint_picker is not None and not can.has_picker:
        raise InvalidInput(
            f"{can.name} has no endpoint picker that can be configured; remove endpointPicker",
            path=("spec", "endpointPicker"),
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


def command_line(launch: Launch, role: RoleSpec) -> CommandLine:
    """Return the command line of the role's engine.

    Raises: InvalidInput, with its path from the document's root, if a flag contradicts the model or the topology.
    """
    index, container = pods.engine_container(role)
    try:
        return engines.command_line(launch, container)
    except InvalidInput as error:
        raise error.under(*pods.path_to_engine(role.role, index)) from None
