"""A relayed service: what appears and goes in which order, and what holds while inputs break."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane.render import relay as rendering
from modelplane_functions.exchange import Outcome, Ready, Truth
from tests.support import routing
from tests.support.relayed_world import OWN, SAAS, World

Json = Any


def condition(outcome: Outcome, kind: str) -> Any:
    return next(each for each in outcome.conditions if each.type == kind)


def test_a_service_at_rest_is_ready() -> None:
    world = World()
    outcome = world.settled()
    assert outcome.ready is Ready.TRUE
    assert {each.status for each in outcome.conditions} == {Truth.TRUE}
    assert len(world.asked) == 2


def test_the_rule_appears_when_the_relay_has_accepted_its_legs() -> None:
    world = World()
    first = world.step()
    assert "route" not in first.children
    assert condition(first, "RouteReady").reason == "WaitingForRelay"
    assert {rendering.leg_of(key) for key in first.children} - {""}
    for child in world.children.values():
        if child["kind"] == "HTTPRoute":
            child["status"] = {}
    assert "route" not in world.step().children, "nobody has judged the legs yet"
    assert "route" in world.step().children


def test_only_requests_with_the_token_pass_and_no_endpoint_gets_it() -> None:
    world = World()
    world.settled()
    rule = world.children["route"]["spec"]["rules"][0]
    (given,) = (
        each["requestHeaderModifier"]["set"][0] for each in rule["filters"] if each["type"] == "RequestHeaderModifier"
    )
    legs = [child for key, child in world.children.items() if rendering.leg_of(key) and child["kind"] == "HTTPRoute"]
    assert len(legs) == 2
    for leg in legs:
        assert [ref["name"] for ref in leg["spec"]["parentRefs"]] == ["relay-default"]
        for behind in leg["spec"]["rules"]:
            assert [match["headers"] for match in behind["matches"]] == [
                [{"type": "Exact", "name": given["name"], "value": given["value"]}]
            ]
            assert any(
                given["name"] in each.get("requestHeaderModifier", {}).get("remove", ()) for each in behind["filters"]
            )


def _no_gateway(world: World) -> None:
    world.gateway = routing.inference_gateway("another", address="")
    world.service["spec"]["gatewayRef"] = {"name": "default"}


def _no_relay_status(world: World) -> None:
    del world.gateway["status"]["relay"]


def _no_relay(world: World) -> None:
    del world.gateway["spec"]["relay"]


def _another_namespace(world: World) -> None:
    world.gateway["spec"]["relay"]["namespaces"] = ["other"]


def _no_endpoints(world: World) -> None:
    world.endpoints = []


def _silent_endpoints(world: World) -> None:
    for each in world.endpoints:
        each["status"] = {}


def _unreadable_endpoint(world: World) -> None:
    world.endpoints[1]["spec"]["auth"] = {"secretRef": {"name": "saas", "key": "other"}}
    world.endpoints[1]["status"]["inForce"] = SAAS["spec"]


def _no_retries(world: World) -> None:
    world.service["spec"]["retries"] = {"attempts": 0}


def _no_child_status(world: World) -> None:
    for child in world.children.values():
        child["status"] = {}


BREAKS = [
    _no_gateway,
    _no_relay_status,
    _no_relay,
    _another_namespace,
    _no_endpoints,
    _silent_endpoints,
    _unreadable_endpoint,
    _no_retries,
    _no_child_status,
]


@pytest.mark.parametrize("break_", BREAKS)
def test_hold_no_broken_input_removes_or_changes_what_runs(break_: Callable[[World], None]) -> None:
    world = World()
    world.settled()
    before = {key: child["spec"] for key, child in world.children.items()}
    service, gateway = copy.deepcopy(world.service), copy.deepcopy(world.gateway)
    endpoints = copy.deepcopy(world.endpoints)
    break_(world)
    for _ in range(3):
        outcome = world.step()
        assert {key: child["spec"] for key, child in world.children.items()} == before
    assert break_ is _no_child_status or any(each.status is not Truth.TRUE for each in outcome.conditions)
    world.service, world.gateway, world.endpoints = service, gateway, endpoints
    assert world.settled().ready is Ready.TRUE
    assert {key: child["spec"] for key, child in world.children.items()} == before


def test_a_leg_that_is_refused_leaves_the_rule_and_comes_back() -> None:
    world = World()
    world.settled()
    whole = world.asked
    key = world.saas_route
    told = {"parents": [{"parentRef": dict(world.children[key]["spec"]["parentRefs"][0]), "conditions": []}]}
    told["parents"][0]["conditions"] = [routing.condition("Accepted", is_true=False, message="secret does not exist")]
    for _ in range(3):
        world.children[key]["status"] = told
        outcome = world.step()
    assert len(world.asked) == 1
    assert key in world.children, "the leg stays, so that the gateway can accept it"
    ready = condition(outcome, "EndpointsReady")
    assert (ready.status, ready.reason) == (Truth.FALSE, "PartiallyReady")
    assert "secret does not exist" in ready.message
    assert condition(outcome, "RouteReady").status is Truth.TRUE
    assert {each["endpoint"]: each["weight"] for each in outcome.status["backends"]} == {"a-0": 1, "saas": 0}
    assert world.settled().ready is Ready.TRUE
    assert world.asked == whole


def test_from_one_rule_to_the_relay_and_back_no_step_leaves_the_rule_without_its_objects() -> None:
    """Every Backend that the route of a step refers to exists in that step, and so does the leg behind it."""
    world = World()
    world.endpoints = [world.endpoints[0]]
    world.settled()
    assert not any(rendering.leg_of(key) for key in world.children)
    for endpoints in ([OWN, SAAS], [OWN], [OWN, SAAS], [SAAS], [OWN, SAAS]):
        world.endpoints = [copy.deepcopy(each) for each in endpoints]
        for _ in range(8):
            running = world.asked
            world.step()
            present = {c["metadata"]["name"]: key for key, c in world.children.items() if c["kind"] == "Backend"}
            endpoints_own = {each["status"]["backendName"] for each in (OWN, SAAS)}
            for name in {*running, *world.asked} - endpoints_own:
                assert name in present
                leg = present[name].removeprefix("backend-")
                is_hop = "relay-default" in str(world.children[present[name]]["spec"])
                assert not is_hop or f"{rendering.prefix(leg)}route" in world.children
        outcome = world.settled()
        assert condition(outcome, "RouteReady").status is Truth.TRUE
        assert outcome.ready is (Ready.TRUE if len(endpoints) == 2 else Ready.FALSE)
    assert len({rendering.leg_of(key) for key in world.children} - {""}) == 2


def test_another_secret_is_another_leg_and_the_old_one_goes_last() -> None:
    world = World()
    world.settled()
    old = world.saas_route
    world.endpoints[1]["spec"]["auth"]["secretRef"]["name"] = "newer"
    world.step()
    assert old in world.children
    outcome = world.settled()
    assert outcome.ready is Ready.TRUE
    assert old not in world.children
    assert "newer" in str(world.children)
