"""A ModelService that gains and loses access rules and choices while it serves: in which order, and what stays."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane import names
from modelplane_functions.exchange import Ready, Truth
from tests.support import routing
from tests.support.serving import KEYS, Running

Json = Any
ACCESS: Json = {
    "cors": {"allowOrigins": ["https://app.example"]},
    "rateLimit": {"requests": 60, "unit": "Minute", "per": "Client"},
    "clients": {"allowedCIDRs": ["10.0.0.0/8"]},
    "maxRequestSize": "8Mi",
}


def running_at_places() -> Running:
    running = Running(auth=KEYS)
    running.store[0] = routing.inference_gateway(clients={"addressFrom": "Connection"})
    running.store[0]["metadata"]["labels"] = {names.LABEL_REGION: "eu"}
    for name, region in (("llama-0", "eu"), ("llama-1", "us"), ("spare-0", "us")):
        running.endpoint(name)["metadata"]["labels"][names.LABEL_REGION] = region
    return running


def test_access_is_added_to_and_taken_from_a_service_that_serves() -> None:
    running = running_at_places()
    before = running.settle()
    route = running.route
    running.service["spec"] |= ACCESS
    outcome = running.settle()
    assert outcome.ready is Ready.TRUE
    policy = running.children["security-policy"]["spec"]
    assert policy.keys() == {"targetRefs", "apiKeyAuth", "cors", "authorization"}
    for key in ACCESS:
        del running.service["spec"][key]
    assert (
        running.settle().children["security-policy"].resource["spec"]
        == before.children["security-policy"].resource["spec"]
    )
    assert running.route == route


@pytest.mark.parametrize("choice", [{"locality": {}}, {"ejection": {}}, {"slowStart": {}}])
def test_the_route_changes_only_after_what_it_refers_to_is_there(choice: Json) -> None:
    running = running_at_places()
    before = running.route
    running.service["spec"] |= choice
    first = running.compose()
    assert first.children["route"].resource["spec"] == before
    assert any(key.startswith("backend-") for key in first.children)
    running.settle()
    in_use = {ref["name"] for rule in running.route["rules"] for ref in rule["backendRefs"]}
    made = {child["metadata"]["name"] for key, child in running.children.items() if key.startswith("backend-")}
    assert in_use == made
    for key in choice:
        del running.service["spec"][key]
    running.settle()
    assert running.route == before
    assert not [key for key in running.children if key.startswith("backend-")]


def test_a_place_whose_endpoints_are_gone_loses_its_rule_and_the_others_keep_theirs() -> None:
    running = running_at_places()
    running.service["spec"]["locality"] = {}
    running.settle()
    rules = running.route["rules"]
    assert [rule["matches"][0].get("headers", [{}])[0].get("value") for rule in rules] == [None, "eu", "us"]
    assert rules[0]["backendRefs"] == rules[1]["backendRefs"], "the gateway stands in eu"
    us = rules[2]["backendRefs"][:1]
    running.endpoint("llama-0")["status"]["ready"] = False
    running.settle()
    left = running.route["rules"]
    assert [rule["matches"][0].get("headers", [{}])[0].get("value") for rule in left] == [None, "us"]
    assert left[1]["backendRefs"][0]["name"] == us[0]["name"]


def test_a_refusal_names_the_gateway_that_cannot_and_keeps_what_runs() -> None:
    running = running_at_places()
    before = running.children
    running.service["spec"]["affinity"] = {"type": "PrefixHash"}
    outcome = running.compose()
    accepted = next(each for each in outcome.conditions if each.type == "Accepted")
    assert (accepted.status, accepted.reason) == (Truth.FALSE, "NotOffered")
    assert 'InferenceGateway "default", Envoy Gateway v1.9.0 (type Envoy)' in accepted.message
    assert "kept as it is" in accepted.message
    assert outcome.children.keys() == before.keys()
