"""A server that remembers answers as one that was just started, whatever changed between two calls.

Values are kept with the object that they were read from, as long as everything else they were made from is the same
(`memory.resources.recall`). Each call here passes through the wire: a warm server is asked about situations that differ
in one field from one another, and every answer is compared with that of a server that keeps nothing.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from modelplane.errors import InvalidInput, Unsupported
from modelplane_functions import registry, responder, wire
from modelplane_functions.exchange import Observed, Outcome
from tests.support import exchange, memories, mutations, situations
from tests.support.situations import Situation

Json = Any
KINDS = sorted({one.kind for one in situations.running()})
SITUATIONS = 2
MUTATIONS = 20


def _sent(observed: Observed) -> Observed:
    """Return what a server decodes of the request."""
    message = fnv1.RunFunctionRequest()
    message.observed.composite.resource.update(dict(observed.composite))
    for key, child in observed.children.items():
        message.observed.resources[key].resource.update(dict(child))
    for key, found in observed.required.items():
        items = message.required_resources[key]
        items.SetInParent()
        for one in found:
            items.items.add().resource.update(dict(one))
    return wire.decode(message)


def _asked(situation: Situation) -> tuple[Outcome, bytes] | str:
    composer = registry.composers()[situation.kind]
    try:
        outcome = exchange.settle(
            lambda observed: responder.composed(composer, _sent(observed)),
            situation.composite,
            children=situation.children,
            store=situation.store,
        )
    except (InvalidInput, Unsupported) as error:
        return str(error)
    response = wire.encode(fnv1.RunFunctionRequest(), outcome)
    return outcome, response.SerializeToString(deterministic=True)


def _read(situation: Situation) -> list[int]:
    """Return the places of the other objects that its composer asks for."""
    outcome = situations.decided(situation)
    asked = () if outcome is None else outcome.requirements.values()
    return [at for at, one in enumerate(situation.store) if any(exchange.answer(need, [one]) for need in asked)]


def _changed(situation: Situation, chance: random.Random) -> Situation:
    """Return the situation with one field of one input that it reads mutated."""
    places: list[tuple[str, Any]] = [("composite", None), *(("children", key) for key in situation.children)]
    where, at = chance.choice([*places, *(("store", at) for at in _read(situation) for _ in places)])
    if where == "composite":
        return replace(situation, composite=_mutated(situation.composite, chance))
    if where == "children":
        return replace(situation, children={**situation.children, at: _mutated(situation.children[at], chance)})
    store = list(situation.store)
    store[at] = _mutated(store[at], chance)
    return replace(situation, store=tuple(store))


def _twin(situation: Situation) -> Situation:
    """Return another composite of the same spec, without children."""
    metadata = {**situation.composite["metadata"], "name": "twin", "uid": "twin"}
    return replace(situation, composite={**situation.composite, "metadata": metadata}, children={})


def _mutated(document: Json, chance: random.Random) -> Json:
    while True:
        plain = dict(document)
        made = mutations.draw(plain, chance).applied(plain)
        try:
            fnv1.Resource().resource.update(made)
        except (ValueError, TypeError, AttributeError):
            continue  # no request can hold it
        return made


def _set(kind: str, value: str, *path: str) -> Callable[[Json], Json]:
    """Return a change of the objects of a kind."""

    def changed(document: Json) -> Json:
        if document["kind"] != kind:
            return document
        made = copy.deepcopy(dict(document))
        holder = made
        for step in path[:-1]:
            holder = holder.setdefault(step, {})
        holder[path[-1]] = value
        return made

    return changed


@pytest.mark.parametrize(
    ("example", "kind", "change"),
    [
        pytest.param(
            "quickstart",
            "ModelReplica",
            _set("InferenceCluster", "elsewhere", "spec", "gateway", "name"),
            id="the route of a replica leads to another gateway",
        ),
        pytest.param(
            "canary",
            "ModelService",
            _set("InferenceGateway", "together.xyz", "spec", "gateway", "hostname"),
            id="the host of an endpoint becomes the gateway's own",
        ),
    ],
)
def test_what_was_made_is_made_again_when_another_object_changes(
    example: str, kind: str, change: Callable[[Json], Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    memories.empty(monkeypatch)
    differs = False
    for start in (one for one in situations.running() if (one.example, one.kind) == (example, kind)):
        if kind == "ModelService":
            start = replace(start, children={})  # noqa: PLW2901 - a route that runs keeps its endpoints
        before = _asked(start)
        changed = replace(start, store=tuple(map(change, start.store)))
        after = _asked(changed)
        with monkeypatch.context() as cold:
            memories.none(cold)
            assert after == _asked(changed)
        differs = differs or before != after
    assert differs


@pytest.mark.parametrize("kind", KINDS)
def test_a_warm_server_answers_as_one_that_keeps_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(kind)  # noqa: S311 - the same draws every time
    own = [one for one in situations.running() if one.kind == kind]
    asked = []
    for start in chance.sample(own, min(SITUATIONS, len(own))):
        # Every second question is the first again, of which something else may be remembered by then.
        asked += [start, _twin(start), *(one for _ in range(MUTATIONS) for one in (_changed(start, chance), start))]
    with monkeypatch.context() as warm:
        memories.empty(warm)
        remembered = [_asked(one) for one in asked]
    with monkeypatch.context() as cold:
        memories.none(cold)
        anew = [_asked(one) for one in asked]
    for situation, one, other in zip(asked, remembered, anew, strict=True):
        assert one == other, situation
