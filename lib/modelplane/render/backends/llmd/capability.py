"""The limits of llm-d. A combination that cannot work is refused before a device is reserved."""

from __future__ import annotations

from modelplane.errors import InvalidInput
from modelplane.render import capability, pods
from modelplane.render.backend import Capabilities, Shape
from modelplane.render.backends.llmd import launching, sidecar
from modelplane.render.workers import capability as workers
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


def check(workload: Workload) -> None:
    """Check that llm-d can run the workload as it is written.

    Raises: InvalidInput with the path of the field that the author must change.
    """
    is_disaggregated = len(workload.roles) > 1
    if is_disaggregated and workload.engine not in CAPABILITIES.disaggregated:
        raise InvalidInput(
            f"LLMD moves the KV cache between prefill and decode for vLLM and SGLang, not for {workload.engine}; "
            "remove prefill, or use one of them in both roles",
            path=Role.PREFILL.path,
        )
    workers.check(CAPABILITIES, workload)
    for role in workload.roles:
        if is_disaggregated:
            _check_containers(workload.engine, role)
        for member in pods.members(role.topology):
            launch = launching.launch(workload.engine, workload.model, role, member, is_disaggregated=is_disaggregated)
            capability.command_line(launch, role)
    _check_tokens(workload, is_disaggregated=is_disaggregated)


def _check_containers(engine: EngineType, role: RoleSpec) -> None:
    """Refuse the name of the routing sidecar, and its port in what listens beside it in a decode pod.

    A known engine is told its port, whatever its container declares.
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


def _check_tokens(workload: Workload, *, is_disaggregated: bool) -> None:
    picker = workload.endpoint_picker
    if picker is None or picker.uncached_tokens is None:
        return
    if not is_disaggregated or workload.engine is not EngineType.VLLM:
        why = f"a decode worker of {workload.engine} cannot prefill" if is_disaggregated else "there is no prefill"
        raise InvalidInput(
            f"{why}, so that every request goes the same way; remove uncachedTokens",
            path=("spec", "endpointPicker", "uncachedTokens"),
        )
