"""Launch of an engine by KServe: names, ports and the path of the weights.

KServe fixes port 8000 of the Service. In a disaggregated service a routing sidecar listens on it in decode pods, and
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
    """The engine of a replica, the same for all its pods."""

    namespace: str
    type: EngineType
    model: Model | None
    is_disaggregated: bool


def port(engine: Engine, role: Role) -> int:
    """Return the port on which the engine listens."""
    behind_sidecar = engine.is_disaggregated and role is Role.DECODE
    return DECODE_BEHIND_SIDECAR_PORT if behind_sidecar else SERVICE_PORT


def launch(engine: Engine, role: RoleSpec, member: Member) -> Launch:
    """Return the launch of one engine process of the role."""
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
    """Return the name of the model and the alias for KServe's model-based routing; none without a model."""
    if engine.model is None:
        return ()
    return engine.model.name, f"publishers/{engine.namespace}/models/{engine.model.name}"
