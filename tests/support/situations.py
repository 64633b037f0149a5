"""Composites that run, each with all it sees: taken from the worlds of the examples.

A situation is one composite at rest: asked again, its composer changes nothing.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from modelplane.errors import InvalidInput, Unsupported
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.pipeline import ANNOTATION_KEY
from modelplane_functions import registry, responder
from modelplane_functions.exchange import Outcome
from modelplane_functions.memory.resources import Remembered
from tests.support import exchange, rendered

Json = Any
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOLDERS = (
    "quickstart",
    "canary",
    "disaggregated",
    "frontier",
    "mig",
    "simple",
    "backends/native",
    "backends/kuberay",
    "backends/llmd",
)


@dataclass(frozen=True)
class Situation:
    """A composite with its observed children by composition key, and the other objects it may ask for."""

    example: str
    composite: Json
    children: Mapping[str, Json]
    store: tuple[Json, ...]

    @property
    def kind(self) -> str:
        """Return the kind of the composite."""
        return str(self.composite["kind"])

    def __str__(self) -> str:
        """Return which composite of which example it is."""
        return f"{self.example}/{self.kind}/{self.composite['metadata']['name']}"


def received(document: Json) -> Json:
    """Return a document as the server hands it to a composer: what is read out of it is kept with it."""
    return document if isinstance(document, Remembered) else Remembered(document)


def decided(situation: Situation) -> Outcome | None:
    """Return what its composer decides; None for a refusal, which Crossplane takes as: nothing changes."""
    composite = received(situation.composite)
    compose = functools.partial(responder.composed, registry.composers()[situation.kind])
    try:
        outcome = exchange.settle(compose, composite, children=situation.children, store=situation.store)
    except (InvalidInput, Unsupported):
        return None
    return None if outcome.fatal is not None else outcome


def after(situation: Situation, outcome: Outcome | None) -> Situation:
    """Return the situation once an outcome is applied: desired children are observed, all others are gone."""
    if outcome is None:
        return situation
    children = {}
    for key, child in outcome.children.items():
        before = situation.children.get(key) or {}
        made = copy.deepcopy(dict(child.resource))
        made["metadata"] = {**copy.deepcopy(before.get("metadata") or {}), **made["metadata"]}
        if "status" in before:
            made["status"] = copy.deepcopy(before["status"])
        children[key] = made
    status = copy.deepcopy(dict(outcome.status))
    told = situation.composite.get("status")
    kept = told.get("conditions") if isinstance(told, dict) else None
    composite = {**situation.composite, "status": {**status, **({"conditions": kept} if kept else {})}}
    return replace(situation, composite=composite, children=children)


@functools.cache
def running() -> tuple[Situation, ...]:
    """Return every composite of the examples at rest."""
    found = []
    for folder in FOLDERS:
        world = rendered.folder(EXAMPLES / folder)
        found += [_situation(folder, world, key) for key in world.composites()]
    return tuple(found)


def _situation(folder: str, world: World, key: Any) -> Situation:
    composite = world.store.get(key)
    assert composite is not None
    children = {}
    for child in world.children(key):
        resource = world.store.get(child) or {}
        name = (resource.get("metadata", {}).get("annotations") or {}).get(ANNOTATION_KEY)
        if name:
            children[name] = received(copy.deepcopy(resource))
    others = tuple(
        received(copy.deepcopy(one)) for one in world.objects() if one["apiVersion"].startswith("modelplane.ai/")
    )
    return Situation(folder, received(copy.deepcopy(composite)), children, others)
