"""Weights of a model: their source, in the form that an engine reads."""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.render.dialects import DIALECTS, Flag
from modelplane.workload.model import EngineType, Model

MOUNT = "/mnt/models"
HUGGING_FACE = "hf"


@dataclass(frozen=True, slots=True)
class Source:
    """The source of the weights: the scheme of the URI, the path that the engine loads, and a revision.

    The scheme is empty if the author's arguments name the model.
    """

    scheme: str
    path: str | None
    revision: str | None = None


def source(model: Model | None) -> Source:
    """Return the source of the weights. The engine loads a Hugging Face repository; other sources are mounted."""
    if model is None or model.uri is None:
        return Source("", None)
    scheme, _, rest = model.uri.partition("://")
    if scheme != HUGGING_FACE:
        return Source(scheme, MOUNT)
    path, _, revision = rest.partition("@")
    return Source(scheme, path, revision or None)


def path_for(engine: EngineType, weights: Source) -> str | None:
    """Return the path that the engine loads, None if only the author knows it."""
    # llama.cpp wants a file, and which one lies in the mount only the author knows.
    needs_file = engine is EngineType.LLAMACPP and weights.scheme != HUGGING_FACE
    return None if needs_file else weights.path


def takes_revision(engine: EngineType) -> bool:
    """Return whether the engine supports a revision of the model; an opaque engine is assumed to."""
    dialect = DIALECTS.get(engine)
    return dialect is None or Flag.REVISION in dialect.options
