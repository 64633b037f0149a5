"""The owner of a name: nothing is written over what is somebody else's, and the rest goes on."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane_functions import ownership
from modelplane_functions.compose import model_endpoint
from modelplane_functions.exchange import Observed, Outcome, Ready, Truth
from tests.support import routing
from tests.support.exchange import settle

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
    def checked(observed: Observed) -> Outcome:
        return ownership.checked(observed, model_endpoint.compose(observed))

    return settle(checked, document, children=children, store=store)


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
