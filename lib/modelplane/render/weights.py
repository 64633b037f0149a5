"""Where the weights of a model come from, as an engine is told it."""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.render.dialects import DIALECTS, Flag
from modelplane.workload.model import EngineType, Model

MOUNT = "/mnt/models"
HUGGING_FACE = "hf"


@dataclass(frozen=True, slots=True)
class Source:
    """Where the weights come from: the uri's scheme (empty: the author's arguments say), what the engine loads, a
    revision.
    """

    scheme: str
    path: str | None
    revision: str | None = None


def source(model: Model | None) -> Source:
    """Return where the weights come from: a Hugging Face repository is loaded by the engine, anything else is
    mounted.
    """
    if model is None or model.uri is None:
        return Source("", None)
    scheme, _, rest = model.uri.partition("://")
    if scheme != HUGGING_FACE:
        return Source(scheme, MOUNT)
    path, _, revision = rest.partition("@")
    return Source(scheme, path, revision or None)


def path_for(engine: EngineType, weights: Source) -> str | None:
    """Return what the engine is told to load, None where only the author knows."""
    # llama.cpp wants a file, and which one lies in the mount only the author knows.
    needs_file = engine is EngineType.LLAMACPP and weights.scheme != HUGGING_FACE
    return None if needs_file else weights.path


def takes_revision(engine: EngineType) -> bool:
    """Return whether the engine can be told which revision to load; an opaque engine is the author's own business."""
    dialect = DIALECTS.get(engine)
    return dialect is None or Flag.REVISION in dialect.options
