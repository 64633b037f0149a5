"""What an engine is told when KServe runs it: names, ports and where the weights are.

The Service's port 8000 is fixed by KServe. In a disaggregated service a routing sidecar takes it on decode pods, and
the engine listens on 8001.
"""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.render import weights
from modelplane.render.engines import Launch, Member
from modelplane.workload.model import EngineType, Model, Role, RoleSpec

SERVICE_PORT = 8000
DECODE_BEHIND_SIDECAR_PORT = 8001


@dataclass(frozen=True, slots=True)
class Engine:
    """What all pods of a replica share."""

    namespace: str
    type: EngineType
    model: Model | None
    is_disaggregated: bool


def port(engine: Engine, role: Role) -> int:
    """Return the port on which the engine itself must answer."""
    behind_sidecar = engine.is_disaggregated and role is Role.DECODE
    return DECODE_BEHIND_SIDECAR_PORT if behind_sidecar else SERVICE_PORT


def launch(engine: Engine, role: RoleSpec, member: Member) -> Launch:
    """Return what one engine process of the role is told."""
    source = weights.source(engine.model)
    return Launch(
        engine=engine.type,
        role=role.role,
        topology=role.topology,
        member=member,
        port=port(engine, role.role),
        model_path=weights.path_for(engine.type, source),
        revision=source.revision,
        served_names=served_names(engine),
        is_disaggregated=engine.is_disaggregated,
    )


def served_names(engine: Engine) -> tuple[str, ...]:
    """Return the model's name and the alias that KServe's own model-based routing asks for; none without a model."""
    if engine.model is None:
        return ()
    return engine.model.name, f"publishers/{engine.namespace}/models/{engine.model.name}"
