"""Launch of vLLM by the production stack's operator: the model, the port, and the flags of a VLLMRuntime."""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.errors import InvalidInput
from modelplane.render import capability, engines, pods
from modelplane.render.backends.vllmstack import flags
from modelplane.render.backends.vllmstack.flags import Fields
from modelplane.render.engines import Member
from modelplane.render.workers import launching
from modelplane.workload.model import EngineType, Model, RoleSpec

PORT = launching.PORT


@dataclass(frozen=True, slots=True)
class Started:
    """The engine of a replica: its model, what else the operator is told, and what is said of the flags."""

    model: str
    fields: Fields
    said: str


def start(model: Model | None, role: RoleSpec) -> Started:
    """Return the start of the role's engine.

    Raises: InvalidInput at the command or the flag that the author must change.
    """
    index, _ = pods.engine_container(role)
    launch = launching.launch(EngineType.VLLM, model, role, Member.ALONE)
    line = capability.command_line(launch, role)
    if line.is_opaque:
        raise InvalidInput(
            "the operator starts vllm serve and runs no other command; write vLLM's flags in args",
            path=(*pods.path_to_engine(role.role, index), "args"),
        )
    found = flags.of(line.args)
    if found.model is None:
        raise InvalidInput(
            "VLLMStack must know the model; set it to hf:// with a repository", path=("spec", "model", "uri")
        )
    return Started(found.model, found, engines.said_of(line))
