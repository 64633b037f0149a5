"""The relay of an InferenceGateway: its listeners, who reaches it, and when it goes."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.render import relay_gateway
from modelplane_functions.compose import inference_gateway
from modelplane_functions.exchange import Outcome, Ready, Truth
from tests.support import routing
from tests.support.exchange import settle

Json = Any


def run(document: Json, children: dict[str, Json] | None = None) -> tuple[Outcome, dict[str, Json]]:
    """Return the outcome at rest, and the children then."""
    held = dict(children or {})
    for _ in range(6):
        outcome = settle(inference_gateway.compose, document, children=held)
        document["status"] = {**outcome.status}
        applied = routing.observed(outcome)
        for key, child in applied.items():
            if key in held and child["kind"] == "Gateway" and "listeners" in held[key]["status"]:
                child["status"] = held[key]["status"]
        if applied == held:
            return outcome, held
        held = applied
    raise AssertionError("it does not come to rest")


def relay_condition(outcome: Outcome) -> Any:
    return next((each for each in outcome.conditions if each.type == "Relay"), None)


def listeners(children: dict[str, Json]) -> list[str]:
    return [each["name"] for each in children[relay_gateway.GATEWAY_KEY]["spec"]["listeners"]]


def attached(children: dict[str, Json], **routes: int) -> None:
    told = [{"name": name.replace("_", "-"), "attachedRoutes": count} for name, count in routes.items()]
    children[relay_gateway.GATEWAY_KEY]["status"]["listeners"] = told


def test_a_gateway_without_a_relay_composes_nothing_of_it() -> None:
    outcome, children = run(routing.inference_gateway())
    assert not set(relay_gateway.KEYS) & set(children)
    assert relay_condition(outcome) is None
    assert "relay" not in outcome.status


def test_each_namespace_has_a_listener_of_its_own_for_its_own_hosts() -> None:
    outcome, children = run(routing.inference_gateway(relay={"namespaces": ["b", "a"]}))
    assert outcome.ready is Ready.TRUE
    for each in children[relay_gateway.GATEWAY_KEY]["spec"]["listeners"]:
        assert each["hostname"] == f"*.{each['name']}.relay.modelplane.internal"
        selector = each["allowedRoutes"]["namespaces"]["selector"]["matchLabels"]
        assert selector == {"kubernetes.io/metadata.name": each["name"]}
    assert listeners(children) == ["a", "b"]
    assert outcome.status["relay"] == {"name": "relay-default", "host": "relay-default.envoy-gateway-system.svc"}
    assert "FailoverWithCredentialsPerEndpoint" in outcome.status["features"]


def test_only_the_proxies_of_the_fleet_reach_it_and_it_is_no_load_balancer() -> None:
    _, children = run(routing.inference_gateway(relay={"namespaces": ["a"]}))
    ingress = children[relay_gateway.INGRESS_KEY]["spec"]
    assert ingress["policyTypes"] == ["Ingress"]
    fleet, itself = ingress["ingress"][0]["from"]
    assert itself["podSelector"] == ingress["podSelector"], "a chain asks the relay for the next priority"
    assert fleet["podSelector"]["matchLabels"]["gateway.envoyproxy.io/owning-gateway-name"] == "default"
    assert ingress["podSelector"]["matchLabels"]["gateway.envoyproxy.io/owning-gateway-name"] == "relay-default"
    service = children[relay_gateway.PROXY_KEY]["spec"]["provider"]["kubernetes"]["envoyService"]
    assert service == {"type": "ClusterIP", "name": "relay-default"}
    assert relay_gateway.EGRESS_KEY not in children


def test_the_rules_for_destinations_hold_at_the_relay_too() -> None:
    endpoints = {"deniedCIDRs": ["10.96.0.0/12"], "networkPolicy": {"enabled": True, "namespace": "eg"}}
    _, children = run(routing.inference_gateway(relay={"namespaces": ["a"]}, endpoints=endpoints))
    egress = children[relay_gateway.EGRESS_KEY]
    assert egress["metadata"]["namespace"] == children[relay_gateway.INGRESS_KEY]["metadata"]["namespace"] == "eg"
    assert egress["spec"]["egress"] == children["proxy-policy"]["spec"]["egress"]
    assert egress["spec"]["podSelector"] == children[relay_gateway.INGRESS_KEY]["spec"]["podSelector"]


@pytest.mark.parametrize("status", ["attached", "unknown"])
def test_a_namespace_that_is_taken_off_the_list_keeps_its_listener_while_routes_may_be_there(status: str) -> None:
    document = routing.inference_gateway(relay={"namespaces": ["a", "b"]})
    _, children = run(document)
    if status == "attached":
        attached(children, a=1, b=2)
    document["spec"]["relay"]["namespaces"] = ["a"]
    outcome, children = run(document, children)
    assert listeners(children) == ["a", "b"]
    assert "those of b still have routes there" in relay_condition(outcome).message
    attached(children, a=1, b=0)
    _, children = run(document, children)
    assert listeners(children) == ["a"]


def test_a_relay_that_is_taken_out_of_the_spec_stays_while_routes_are_there() -> None:
    document = routing.inference_gateway(relay={"namespaces": ["a"]})
    _, children = run(document)
    attached(children, a=1)
    before = {key: children[key]["spec"] for key in children}
    del document["spec"]["relay"]
    outcome, children = run(document, children)
    assert {key: children[key]["spec"] for key in children} == before
    assert relay_condition(outcome).reason == "InUse"
    assert outcome.ready is Ready.TRUE
    attached(children, a=0)
    outcome, children = run(document, children)
    assert not set(relay_gateway.KEYS) & set(children)


def test_a_relay_that_was_programmed_stays_usable_while_its_status_blinks() -> None:
    document = routing.inference_gateway(relay={"namespaces": ["a"]})
    _, children = run(document)
    children[relay_gateway.GATEWAY_KEY]["status"] = {}
    outcome = settle(inference_gateway.compose, document, children=children)
    assert outcome.status["relay"]["name"] == "relay-default"
    assert relay_condition(outcome).status is Truth.UNKNOWN
