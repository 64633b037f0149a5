"""The owner of a name: nothing is written over what is somebody else's, and the rest goes on."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane_functions import ownership
from modelplane_functions.compose import model_endpoint
from modelplane_functions.exchange import Outcome, Ready, Truth
from tests.support import routing
from tests.support.exchange import in_free_names, settle

Json = Any
OURS = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "ModelEndpoint",
    "name": "saas",
    "uid": "u1",
    "controller": True,
}
KEY = {"secretRef": {"name": "k"}}


def _endpoint(**status: Json) -> Json:
    document = routing.model_endpoint("saas", status=status, auth=KEY)
    document["metadata"]["uid"] = "u1"
    return document


def _backend(*owners: Json, **metadata: Json) -> Json:
    found = {"name": "saas", "namespace": "ml-team", **metadata}
    if owners:
        found["ownerReferences"] = list(owners)
    return {"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "Backend", "metadata": found, "spec": {}}


def _compose(document: Json, *store: Json, children: Json = None) -> Outcome:
    return settle(in_free_names(model_endpoint.compose), document, children=children, store=store)


def _condition(outcome: Outcome) -> Any:
    return next((each for each in outcome.conditions if each.type == ownership.CONDITION), None)


@pytest.mark.parametrize(
    ("found", "says"),
    [
        pytest.param(_backend(), "has no controller", id="by hand"),
        pytest.param(
            _backend({**OURS, "kind": "ModelService", "name": "chat", "uid": "u2"}), "ModelService chat", id="another"
        ),
        pytest.param(_backend({**OURS, "uid": "u0"}), "ModelEndpoint saas", id="an earlier one of the same name"),
        pytest.param(_backend({**OURS, "controller": False}), "has no controller", id="an owner that is no controller"),
        pytest.param(
            _backend(labels={ownership.LABEL_COMPOSITE: "other"}), "has no controller", id="another's, restored"
        ),
    ],
)
def test_nothing_is_written_over_somebody_elses_object(found: Json, says: str) -> None:
    outcome = _compose(_endpoint(), found)
    assert outcome.children.keys() == {"credential"}, "what is free is made"
    assert (_condition(outcome).status, _condition(outcome).reason) == (Truth.FALSE, "NameTaken")
    assert (
        f"Backend ml-team/saas exists and {'belongs to ' if 'Model' in says else ''}{says}"
        in _condition(outcome).message
    )
    assert outcome.ready is Ready.FALSE


@pytest.mark.parametrize(
    "store",
    [
        pytest.param([], id="free"),
        pytest.param([_backend(OURS)], id="ours, and not seen yet"),
        pytest.param([_backend(labels={ownership.LABEL_COMPOSITE: "saas"})], id="ours, restored without owners"),
        pytest.param([_backend(namespace="other")], id="of another namespace"),
    ],
)
def test_what_is_free_or_ours_is_written(store: list[Json]) -> None:
    outcome = _compose(_endpoint(), *store)
    assert outcome.children.keys() == {"backend", "credential"}
    assert _condition(outcome) is None


def test_the_next_of_a_name_waits_until_the_last_one_is_gone() -> None:
    """What is written to an object that is being deleted goes with it, or is refused and stops everything else."""
    going = _backend(OURS, deletionTimestamp="2026-01-01T00:00:00Z")
    outcome = _compose(_endpoint(), going)
    assert outcome.children.keys() == {"credential"}
    assert (_condition(outcome).status, _condition(outcome).reason) == (Truth.FALSE, "NameNotYetFree")
    assert _condition(outcome).message == (
        "Backend ml-team/saas is being deleted; the next object of the name is created when it is gone"
    )
    told = {"conditions": [{"type": ownership.CONDITION, "status": "False", "reason": "NameNotYetFree"}]}
    outcome = _compose(_endpoint(**told))
    assert _condition(outcome).status is Truth.TRUE
    assert outcome.children.keys() == {"backend", "credential"}


def test_an_object_of_another_owner_is_told_before_one_that_is_going() -> None:
    going = _backend(OURS, deletionTimestamp="2026-01-01T00:00:00Z")
    by_hand = {**_backend(name="saas-credential"), "kind": "HTTPRouteFilter"}
    outcome = _compose(_endpoint(), going, by_hand)
    assert outcome.children.keys() == set()
    assert _condition(outcome).reason == "NameTaken"
    assert "is being deleted" not in _condition(outcome).message


def test_what_stands_is_not_asked_for_again() -> None:
    """Crossplane shows a composite no object that another controls."""
    children = routing.observed(_compose(_endpoint()))
    asked = _compose(_endpoint(), children=children).requirements
    assert {requirement.kind for requirement in asked.values()} <= {"InferenceGateway"}


def test_a_name_that_was_given_back_is_told() -> None:
    told = {"conditions": [{"type": ownership.CONDITION, "status": "False", "reason": "NameTaken"}]}
    outcome = _compose(_endpoint(**told))
    assert _condition(outcome).status is Truth.TRUE
    assert outcome.children.keys() == {"backend", "credential"}
