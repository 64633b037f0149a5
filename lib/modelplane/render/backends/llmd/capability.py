"""The limits of llm-d. Combinations that cannot work are refused before any device is reserved."""

from __future__ import annotations

from modelplane.errors import InvalidInput
from modelplane.render import capability, pods
from modelplane.render.backend import Capabilities, Definition, Shape
from modelplane.render.backends.llmd import launching, rights, sidecar
from modelplane.render.workers import capability as workers
from modelplane.render.workers import requirements
from modelplane.workload.model import EngineType, Role, RoleSpec, Workload

CAPABILITIES = Capabilities(
    name="LLMD",
    shapes=frozenset(Shape),
    schemes=workers.SCHEMES,
    # What the routing sidecar has a protocol for; a custom engine is taken at its author's word (vLLM's, by NIXL).
    disaggregated=frozenset(sidecar.CONNECTORS),
    gangs=workers.GANGS,
    has_picker=True,
)


def _has_picker(workload: Workload) -> bool:
    """Return whether the replica has several workers, so that a pool is in front of them."""
    return sum(role.workers for role in workload.roles) > 1


_POOLS = Definition(rights.POOLS, "v1", "InferencePool", "the inference extension 1.5", is_needed=_has_picker)
DEFINITIONS: tuple[Definition, ...] = (_POOLS, requirements.LEADER_WORKER_SETS)
PATCHABLE: frozenset[str] = requirements.PATCHABLE


def check(workload: Workload) -> None:
    """Check that llm-d can run the workload as it is written.

    Raises: InvalidInput with the path of the field that the author must change.
    """
    is_disaggregated = len(workload.roles) > 1
    capability.check_roles(CAPABILITIES, workload)
    workers.check(CAPABILITIES, workload)
    for role in workload.roles:
        if is_disaggregated:
            _check_containers(workload.engine, role)
        for member in pods.members(role.topology):
            launch = launching.launch(workload.engine, workload.model, role, member, is_disaggregated=is_disaggregated)
            capability.command_line(launch, role)


def _check_containers(engine: EngineType, role: RoleSpec) -> None:
    """Refuse the name of the routing sidecar, and its port in other containers of a decode pod.

    A known engine gets its port as an argument, whatever its container declares.
    """
    index, _ = pods.engine_container(role)
    path = pods.path_to_engine(role.role, index)[:-1]
    for number, container in enumerate(role.template["spec"]["containers"]):
        if container["name"] == sidecar.NAME:
            raise InvalidInput(f'"{sidecar.NAME}" is reserved: LLMD uses this name', path=(*path, number, "name"))
        if role.role is not Role.DECODE or (container["name"] == pods.ENGINE and engine is not EngineType.CUSTOM):
            continue
        for place, entry in enumerate(container.get("ports") or ()):
            if entry["containerPort"] == launching.PORT:
                raise InvalidInput(
                    f"the routing sidecar of a decode pod listens on {launching.PORT}, the engine on "
                    f"{launching.BEHIND_SIDECAR_PORT}; remove the port or use another",
                    path=(*path, number, "ports", place, "containerPort"),
                )
