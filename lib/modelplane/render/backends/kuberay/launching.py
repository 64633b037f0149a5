"""Launch of an engine by Ray Serve LLM: its port, the path of the weights, and its flags as keyword arguments."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render import capability, pods
from modelplane.render.backends.kuberay import keywords
from modelplane.render.engines import Launch, Member
from modelplane.render.workers import launching
from modelplane.workload.model import EngineType, Model, RoleSpec

Json: TypeAlias = Any

PORT = 8000
"""The port of the Serve proxies, which every pod with a part of the application has."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine of a replica, the same for both roles."""

    type: EngineType
    model: Model
    is_disaggregated: bool


@dataclass(frozen=True, slots=True)
class Started:
    """The engine of one role: the source of its weights, its keyword arguments, and a note about the flags."""

    source: str
    keywords: dict[str, Json]
    said: str


def required(model: Model | None) -> Model:
    """Return the model.

    Raises: InvalidInput when there is none.
    """
    if model is None:
        raise InvalidInput(
            "is required with KubeRay, because Ray Serve LLM serves a model by its name; set model.name and model.uri",
            path=("spec", "model"),
        )
    return model


def start(engine: Engine, role: RoleSpec) -> Started:
    """Return the start of the role's engine.

    Raises: InvalidInput at the command or the flag that the author must change.
    """
    index, container = pods.engine_container(role)
    path = pods.path_to_engine(role.role, index)
    line = capability.command_line(_launch(engine, role), role)
    if line.is_opaque:
        raise InvalidInput(
            "KubeRay starts vLLM through Ray Serve LLM, which runs no command; remove it and write vLLM's flags "
            "in args",
            path=(*path, "command" if container.get("command") else "args"),
        )
    leads = bool(line.added) and not line.added[0].startswith("-")
    try:
        found = keywords.of(line.args)
    except InvalidInput as error:
        # The author's words stand behind the model that was put before them.
        *inner, number = error.path
        raise InvalidInput(error.message, path=(*path, *inner, int(number) - leads)) from None
    source = found.pop("model", None)
    found.pop("served_model_name", None)
    if source is None:
        raise InvalidInput(
            "KubeRay must know the weights; set it to hf:// with a repository or pvc:// with a claim",
            path=("spec", "model", "uri"),
        )
    return Started(source, found, _said(keywords.of(line.added)))


def _said(added: dict[str, Json]) -> str:
    """Return the note with the keywords that follow from model and topology."""
    found = {key: value for key, value in added.items() if key not in ("model", "served_model_name")}
    return "added " + (" ".join(f"{key}={json.dumps(value)}" for key, value in found.items()) or "no keyword")


def _launch(engine: Engine, role: RoleSpec) -> Launch:
    """Return the launch of the one process that starts an engine; Ray starts the others."""
    launch = launching.launch(engine.type, engine.model, role, Member.ALONE)
    return replace(launch, port=PORT, is_disaggregated=engine.is_disaggregated)
