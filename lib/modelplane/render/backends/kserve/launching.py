"""What an engine is told when KServe runs it: names, ports and where the weights are.

The Service's port 8000 is fixed by KServe. In a disaggregated service a routing sidecar takes it on decode pods, and
the engine listens on 8001.
"""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.render.dialects import DIALECTS, Flag
from modelplane.render.engines import Launch, Member
from modelplane.workload.model import EngineType, Model, Role, RoleSpec

SERVICE_PORT = 8000
DECODE_BEHIND_SIDECAR_PORT = 8001
MODEL_MOUNT = "/mnt/models"
HUGGING_FACE = "hf"


@dataclass(frozen=True, slots=True)
class Source:
    """Where the weights come from: the uri's scheme (empty: the author's arguments say), what the engine loads, a
    revision.
    """

    scheme: str
    path: str | None
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """What all pods of a replica share."""

    namespace: str
    type: EngineType
    model: Model | None
    is_disaggregated: bool


def source(model: Model | None) -> Source:
    """Return where the weights come from: a Hugging Face repository is loaded by the engine, anything else is
    mounted.
    """
    if model is None or model.uri is None:
        return Source("", None)
    scheme, _, rest = model.uri.partition("://")
    if scheme != HUGGING_FACE:
        return Source(scheme, MODEL_MOUNT)
    path, _, revision = rest.partition("@")
    return Source(scheme, path, revision or None)


def port(engine: Engine, role: Role) -> int:
    """Return the port on which the engine itself must answer."""
    behind_sidecar = engine.is_disaggregated and role is Role.DECODE
    return DECODE_BEHIND_SIDECAR_PORT if behind_sidecar else SERVICE_PORT


def launch(engine: Engine, role: RoleSpec, member: Member) -> Launch:
    """Return what one engine process of the role is told."""
    weights = source(engine.model)
    # llama.cpp wants a file, and which one lies in the mount only the author knows.
    needs_file = engine.type is EngineType.LLAMACPP and weights.scheme != HUGGING_FACE
    return Launch(
        engine=engine.type,
        role=role.role,
        topology=role.topology,
        member=member,
        port=port(engine, role.role),
        model_path=None if needs_file else weights.path,
        revision=weights.revision,
        served_names=served_names(engine),
        is_disaggregated=engine.is_disaggregated,
    )


def served_names(engine: Engine) -> tuple[str, ...]:
    """Return the model's name and the alias that KServe's own model-based routing asks for; none without a model."""
    if engine.model is None:
        return ()
    return engine.model.name, f"publishers/{engine.namespace}/models/{engine.model.name}"


def takes_revision(engine: EngineType) -> bool:
    """Return whether the engine can be told which revision to load; an opaque engine is the author's own business."""
    dialect = DIALECTS.get(engine)
    return dialect is None or Flag.REVISION in dialect.options
