"""The names, port and weights that an engine is told in its pod, whoever makes the pod."""

from __future__ import annotations

from modelplane.render import weights
from modelplane.render.engines import Launch, Member
from modelplane.workload.model import EngineType, Model, RoleSpec

PORT = 8000


def launch(engine: EngineType, model: Model | None, role: RoleSpec, member: Member) -> Launch:
    """Return the parameters of one engine process of the role."""
    source = weights.source(model)
    return Launch(
        engine=engine,
        role=role.role,
        topology=role.topology,
        member=member,
        port=PORT,
        model_path=weights.path_for(engine, source),
        revision=source.revision,
        served_names=() if model is None else (model.name,),
    )
