"""Calling a composer without a server: requirements answered from a list of documents, outcomes as plain data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from modelplane_functions import ownership
from modelplane_functions.exchange import Observed, Outcome, Requirement

Json = Any
Compose = Callable[[Observed], Outcome]


def in_free_names(compose: Compose) -> Compose:
    """Return the composer as the server runs it: a new child waits until its name is free."""
    return lambda observed: ownership.checked(observed, compose(observed))


ITERATIONS = 6
"""The calls that Crossplane makes at most until requirements are stable."""


def settle(
    compose: Compose,
    composite: Json,
    *,
    children: Mapping[str, Json] | None = None,
    store: Sequence[Json] = (),
    kinds: Collection[str] | None = None,
    minute: int | None = None,
) -> Outcome:
    """Return the outcome once every requirement is answered, as Crossplane's loop would get it.

    `kinds` are those that the control plane serves; None is a caller that does not say. `minute` is the time.
    """
    at = compose if minute is None else lambda observed: compose(replace(observed, minute=minute))
    return calls(at, composite, children=children, store=store, kinds=kinds)[-1].outcome


class Call(NamedTuple):
    """One call of a composer."""

    observed: Observed
    outcome: Outcome


def calls(
    compose: Compose,
    composite: Json,
    *,
    children: Mapping[str, Json] | None = None,
    store: Sequence[Json] = (),
    kinds: Collection[str] | None = None,
    before: Mapping[str, Requirement] | None = None,
) -> list[Call]:
    """Return all calls of one reconcile, the last with the outcome that is applied.

    `before` are the requirements of the last reconcile. Their answers are there in the first call, and stay there.
    Source: Crossplane v2.4.0 internal/xfn/required_resources.go.
    """
    seeded = {key: answer(requirement, store) for key, requirement in (before or {}).items()}
    known, served = seeded, dict[str, bool]()
    made: list[Call] = []
    for number in range(ITERATIONS):
        observed = Observed(composite, children or {}, known, served)
        made.append(Call(observed, compose(observed)))
        outcome = made[-1].outcome
        if number and _asks(outcome) == _asks(made[-2].outcome):
            return made
        answers = {key: answer(requirement, store) for key, requirement in outcome.requirements.items()}
        told = {} if kinds is None else {key: asked.kind in kinds for key, asked in outcome.kinds.items()}
        if not number and ({**seeded, **answers}, told) == (known, served):
            return made
        known, served = {**seeded, **answers}, told
    raise AssertionError("requirements did not become stable")


def _asks(outcome: Outcome) -> tuple[Json, ...]:
    return dict(outcome.requirements), dict(outcome.kinds)


def answer(requirement: Requirement, store: Sequence[Json]) -> tuple[Json, ...]:
    """Return the documents a requirement asks for, in Crossplane's order."""
    found = [document for document in store if _matches(requirement, document)]
    return tuple(sorted(found, key=lambda each: (each["metadata"].get("namespace", ""), each["metadata"]["name"])))


def _matches(requirement: Requirement, document: Json) -> bool:
    metadata = document["metadata"]
    if (document["apiVersion"], document["kind"]) != (requirement.api_version, requirement.kind):
        return False
    if requirement.namespace is not None and metadata.get("namespace") != requirement.namespace:
        return False
    if requirement.name is not None:
        return bool(metadata["name"] == requirement.name)
    labels = metadata.get("labels")
    return requirement.labels.items() <= (labels if isinstance(labels, Mapping) else {}).items()


def plain(outcome: Outcome) -> dict[str, Json]:
    """Return an outcome as plain data, in the order in which people read it."""
    return {
        "conditions": [
            {
                "type": condition.type,
                "status": condition.status.value,
                "reason": condition.reason,
                "message": condition.message,
            }
            for condition in outcome.conditions
        ],
        "events": [f"{event.severity} {event.reason}: {event.message}" for event in outcome.events],
        "ready": None if outcome.ready is None else outcome.ready.value,
        "fatal": outcome.fatal,
        "ttlSeconds": outcome.ttl_seconds,
        "status": _copied(outcome.status),
        "children": {
            key: {"ready": child.ready.value, "resource": _copied(child.resource)}
            for key, child in sorted(outcome.children.items())
        },
        "requirements": {
            key: {
                "apiVersion": requirement.api_version,
                "kind": requirement.kind,
                **({"name": requirement.name} if requirement.name is not None else {}),
                **({"labels": dict(requirement.labels)} if requirement.labels else {}),
                **({"namespace": requirement.namespace} if requirement.namespace is not None else {}),
            }
            for key, requirement in sorted(outcome.requirements.items())
        },
        **({"kinds": sorted(asked.kind for asked in outcome.kinds.values())} if outcome.kinds else {}),
    }


def _copied(value: Json) -> Json:
    """Return plain dicts and lists, so that shared objects do not become YAML aliases."""
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item) for item in value]
    return value
