"""Verdicts: `Accepted` alone is never enough, and what is said about an older generation is not known."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import gateway_status
from tests.support.routing import condition

Json = Any
PARENT = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": "modelplane-system", "name": "default"}


def route(*conditions: Json, parent: Json = PARENT, generation: int = 1) -> Json:
    return {
        "metadata": {"generation": generation},
        "status": {"parents": [{"parentRef": parent, "conditions": list(conditions)}]},
    }


GOOD = (condition("Accepted"), condition("ResolvedRefs"))


@pytest.mark.parametrize(
    ("resource", "is_good", "says"),
    [
        pytest.param(None, None, "does not exist yet", id="no-route"),
        pytest.param({"metadata": {}}, None, "has not reported", id="no-status"),
        pytest.param(route(*GOOD), True, "has accepted the route", id="good"),
        pytest.param(route(condition("Accepted")), None, "ResolvedRefs", id="accepted-alone"),
        pytest.param(
            route(condition("Accepted"), condition("ResolvedRefs", is_true=False, message="path modifier")),
            False,
            "path modifier",
            id="refused-backend-of-an-accepted-route",
        ),
        pytest.param(
            route(*GOOD, condition("BackendsAvailable", is_true=False, message="no endpoints")),
            False,
            "no endpoints",
            id="backends-gone",
        ),
        pytest.param(route(*GOOD, condition("RouteRulesOverlap", message="other route")), False, "other", id="overlap"),
        pytest.param(route(*GOOD, condition("PartiallyInvalid", message="half")), False, "half", id="partial"),
        pytest.param(route(*GOOD, parent={**PARENT, "name": "other"}), None, "has not reported", id="other-gateway"),
        pytest.param(
            route(*({**each, "observedGeneration": 1} for each in GOOD), generation=2),
            None,
            "has not processed",
            id="stale",
        ),
        pytest.param(
            route(*({**each, "observedGeneration": 2} for each in GOOD), generation=2), True, "accepted", id="fresh"
        ),
    ],
)
def test_routes(
    resource: Json,
    is_good: bool | None,  # noqa: FBT001 - a table's column
    says: str,
) -> None:
    verdict = gateway_status.route(resource, gateway_namespace="modelplane-system", gateway_name="default")
    assert verdict.is_good is is_good
    assert says in verdict.message
    assert verdict.reason


@pytest.mark.parametrize(
    ("status", "is_good"),
    [
        pytest.param({}, None, id="nobody-spoke"),
        pytest.param({"ancestors": [{"conditions": [condition("Accepted")]}]}, True, id="accepted"),
        pytest.param(
            {"ancestors": [{"conditions": [condition("Accepted")]}, {"conditions": []}]}, None, id="one-is-silent"
        ),
        pytest.param(
            {"ancestors": [{"conditions": []}, {"conditions": [condition("Accepted", is_true=False)]}]},
            False,
            id="one-refuses",
        ),
        pytest.param(
            {"ancestors": [{"conditions": [condition("Merged")]}, {"conditions": [condition("Accepted")]}]},
            True,
            id="merged-with-the-policy-of-the-gateway",
        ),
        pytest.param({"ancestors": [{"conditions": [condition("Merged")]}]}, None, id="merged-and-not-judged"),
    ],
)
def test_policies(
    status: Json,
    is_good: bool | None,  # noqa: FBT001 - a table's column
) -> None:
    resource = {"metadata": {}, "status": status}
    assert gateway_status.policy(resource, "SecurityPolicy").is_good is is_good


def test_a_gateway_has_the_first_address_that_is_one() -> None:
    status = {"addresses": [{"value": ""}, {"value": "203.0.113.1"}], "conditions": [condition("Programmed")]}
    found = gateway_status.gateway({"metadata": {}, "status": status})
    assert (found.address, found.verdict.is_good) == ("203.0.113.1", True)
    assert gateway_status.gateway(None).address == ""
