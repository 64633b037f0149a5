"""A deployment that asks for the whole fleet at once, as the measure of one that asks in two steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from modelplane import placement
from modelplane_functions import deployment_sight
from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Outcome
from tests.support import exchange

Json = Any
_UNUSABLE = re.compile(r'(InferenceClass|InferenceCluster) "([^"]+)" (?:is not usable|cannot be read): ')


@contextmanager
def at_once() -> Iterator[None]:
    """Let every deployment ask for the fleet, whatever its replicas stand on."""
    with mock.patch.object(placement, "retain", return_value=None):
        yield


def check(outcome: Outcome, composite: Json, children: dict[str, Json], store: list[Json]) -> None:
    """Raise AssertionError when an outcome is another than that of a deployment that asks for the fleet.

    One that does not ask for the fleet does not tell of classes and clusters that it has nothing to do with and that
    nobody can read.
    """
    with at_once():
        compose = exchange.in_free_names(model_deployment.compose)
        whole = exchange.settle(compose, composite, children=children, store=store)
    assert asks_for_the_fleet(whole)
    found, expected = exchange.plain(outcome), exchange.plain(whole)
    del found["requirements"], expected["requirements"]
    if not asks_for_the_fleet(outcome):
        _leave_out_others(expected["conditions"], outcome)
    keys = sorted(found | expected)
    differing = {key: (found.get(key), expected.get(key)) for key in keys if found.get(key) != expected.get(key)}
    assert not differing, f"in two steps, at once: {differing}"


def _leave_out_others(conditions: list[Json], outcome: Outcome) -> None:
    """Take out of a message what is told of objects that the outcome did not ask for."""
    asked = {(one.kind, one.name) for one in outcome.requirements.values()}
    for condition in conditions:
        parts = condition["message"].split("; ")
        about = [_UNUSABLE.match(part) for part in parts]
        kept = [part for part, found in zip(parts, about, strict=True) if not found or found.groups() in asked]
        condition["message"] = "; ".join(kept)


def asks_for_the_fleet(outcome: Outcome) -> bool:
    """Return whether the outcome was made with the whole fleet."""
    return deployment_sight.CLUSTERS in outcome.requirements
