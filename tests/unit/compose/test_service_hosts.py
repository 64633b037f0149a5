"""One namespace holds a host: what the others are told, and what no record takes away."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import host_world, routing
from tests.support.host_world import HOSTS, HostWorld

Json = Any
HOST = HOSTS[0]


@pytest.fixture
def world() -> HostWorld:
    """Return a world in which red holds the host and its route answers."""
    made = HostWorld(1, host_world.shared_gateway())
    made.write("red", "secret-name", HOST)
    made.settle()
    assert made.holders == {HOST: "red"}
    return made


def behind(world: HostWorld) -> str:
    """Add a route of green with the host, as an earlier version would have made it, and return its service."""
    key = world.write("green", "chat", HOST)
    entries = world.gateway["status"].pop("hosts", [])
    world.gateway["spec"] = {"type": "Envoy", "gateway": {"hosts": [{"host": HOST, "namespaces": ["green"]}]}}
    world.reconcile(key, fresh=True)
    world.gateway["spec"] = host_world.shared_gateway()["spec"]
    world.gateway["status"]["hosts"] = entries
    world.remember()
    assert "route" in world.children[key]
    return key


def route_of(world: HostWorld, matches: Json) -> Json:
    """Return an accepted route of red that no service made, older than all services; its rule has these matches."""
    parent = world.gateway["status"]["gatewayRef"]
    rule = {} if matches is None else {"matches": matches}
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "by-hand", "namespace": "red", "uid": "uid-by-hand", "creationTimestamp": world.now()},
        "spec": {"parentRefs": [parent], "hostnames": [HOST], "rules": [rule]},
        "status": {"parents": [{"parentRef": parent, "conditions": [routing.condition("Accepted")]}]},
    }


def test_a_service_is_told_the_namespace_and_no_service_of_it(world: HostWorld) -> None:
    key = world.write("green", "chat", HOST)
    world.settle()
    reason, message = world.reason(key)
    assert reason == "HostHeld"
    assert "namespace red" in message
    assert "secret-name" not in message
    assert world.children[key] == {}
    assert "code.example.com" in message, "a host that it may have"


def test_a_namespace_that_may_not_use_the_host_learns_nothing(world: HostWorld) -> None:
    world.gateway["spec"]["gateway"]["hosts"][0]["namespaces"] = ["red", "blue"]
    key = world.write("green", "chat", HOST)
    world.settle()
    reason, message = world.reason(key)
    assert reason == "HostNotAllowed"
    assert "red" not in message


def test_a_service_waits_until_the_gateway_has_decided() -> None:
    world = HostWorld(1, host_world.shared_gateway())
    key = world.write("green", "chat", HOST)
    world.reconcile(key, fresh=True)
    assert world.reason(key)[0] == "WaitingForHost"
    assert world.children[key] == {}
    assert world.services[key]["status"]["gateway"] == "default", "the gateway knows by it who asks"
    world.settle()
    assert (world.holders, world.reason(key)[0]) == ({HOST: "green"}, "Accepted")


def test_a_host_of_one_namespace_has_no_record_and_asks_for_no_object() -> None:
    hosts = [{"host": HOST, "namespaces": ["green"]}]
    world = HostWorld(1, host_world.shared_gateway(hosts=hosts))
    key = world.write("green", "chat", HOST)
    world.settle()
    assert world.reason(key)[0] == "Accepted"
    assert "hosts" not in world.gateway["status"]
    assert {one.kind for one in world.asked["InferenceGateway//default"].values()} == set()


def test_a_route_that_answers_nobody_is_given_up_before_what_it_refers_to(world: HostWorld) -> None:
    key = behind(world)
    kept = set(world.children[key])
    world.reconcile(key, fresh=True)
    assert set(world.children[key]) == kept - {"route"}
    world.reconcile(key, fresh=True)
    assert world.children[key] == {}


def test_no_record_with_one_wrong_field_takes_a_route_that_answers(world: HostWorld) -> None:
    key = "red/secret-name"
    before = world.children[key]["route"]["spec"]
    good = world.gateway["status"]["hosts"]
    for field, value in [("namespace", "green"), ("route", "uid-foreign"), ("host", "other"), ("namespace", 7)]:
        world.gateway["status"]["hosts"] = [{**good[0], field: value}]
        world.reconcile(key, fresh=True)
        world.reconcile(key, fresh=True)
        assert world.children[key]["route"]["spec"] == before, (field, value)


def test_a_route_is_kept_while_that_of_the_holder_does_not_answer(world: HostWorld) -> None:
    key = behind(world)
    del world.gateway["status"]["hosts"][0]["route"]
    world.reconcile(key, fresh=True)
    assert world.reason(key)[0] == "HostHeld"
    assert "route" in world.children[key]


SOME = [
    pytest.param([{"path": {"type": "PathPrefix", "value": "/docs"}}], id="a-path"),
    pytest.param([{"path": {"type": "Exact", "value": "/"}}], id="the-root-alone"),
    pytest.param([{"headers": [{"name": "x-version", "value": "2"}]}], id="a-header"),
]


@pytest.mark.parametrize("matches", SOME)
def test_a_route_with_a_part_of_the_host_takes_nothing_from_a_service_that_answers_beside_it(matches: Json) -> None:
    """A gateway of before has such routes: of administrators, and of services by path where its own name is granted."""
    world = HostWorld(1, host_world.shared_gateway())
    world.orphans.append(route_of(world, matches))
    key = behind(world)
    before = world.children[key]
    for _ in range(3):
        world.reconcile_gateway(fresh=True)
        world.reconcile(key, fresh=True)
    assert world.reason(key)[0] == "Accepted"
    assert world.holders == {HOST: "green"}
    assert world.children[key]["route"]["spec"] == before["route"]["spec"]


@pytest.mark.parametrize("matches", [None, [], [{}], [{"path": {"value": "/"}}]])
def test_a_route_by_hand_with_the_whole_host_holds_it(matches: Json) -> None:
    world = HostWorld(1, host_world.shared_gateway())
    world.orphans.append(route_of(world, matches))
    key = behind(world)
    world.reconcile_gateway(fresh=True)
    world.reconcile(key, fresh=True)
    assert (world.holders, world.reason(key)[0]) == ({HOST: "red"}, "HostHeld")


def test_services_by_path_hold_no_host_though_their_routes_name_it() -> None:
    gateway = {"hostname": HOST, "hosts": [{"host": HOST, "namespaces": ["red", "green"]}]}
    world = HostWorld(1, routing.inference_gateway(address="", gateway=gateway))
    path = world.write("red", "chat", "")
    key = world.write("green", "chat", HOST)
    world.settle()
    assert (world.reason(path)[0], world.reason(key)[0]) == ("Accepted", "Accepted")
    assert world.holders == {HOST: "green"}


@pytest.mark.parametrize("gone", ["ModelService", "HTTPRoute"])
def test_a_list_that_comes_back_empty_gives_the_host_to_nobody(world: HostWorld, gone: str) -> None:
    world.write("green", "chat", HOST)
    world.settle()
    world.reconcile_gateway(without=gone)
    world.settle()
    assert world.holders == {HOST: "red"}


def test_a_namespace_keeps_a_host_that_it_may_not_use_any_more(world: HostWorld) -> None:
    world.gateway["spec"]["gateway"]["hosts"][0]["namespaces"] = ["green"]
    key = world.write("green", "chat", HOST)
    world.settle()
    assert (world.holders, world.reason(key)[0]) == ({HOST: "red"}, "HostHeld")
    world.delete("red/secret-name")
    world.settle()
    assert (world.gateway["status"].get("hosts"), world.reason(key)[0]) == (None, "Accepted")
    assert "route" in world.children[key]


def test_a_host_that_nobody_and_then_others_are_granted_stays_with_the_route_that_answers(world: HostWorld) -> None:
    grants = world.gateway["spec"]["gateway"]
    grants["hosts"] = []
    world.settle()
    assert world.holders == {HOST: "red"}
    grants["hosts"] = [{"host": HOST, "namespaces": ["green", "blue"]}]
    key = world.write("green", "chat", HOST)
    world.settle()
    assert (world.holders, world.reason(key)[0]) == ({HOST: "red"}, "HostHeld")
    assert world.children[key] == {}
    grants["hosts"] = []
    world.delete("red/secret-name")
    world.settle()
    assert world.holders == {}


def test_a_namespace_that_the_gateway_does_not_allow_is_given_nothing(world: HostWorld) -> None:
    world.gateway["spec"]["allowedNamespaces"] = {"names": ["blue"]}
    world.write("green", "chat", HOSTS[1])
    blue = world.write("blue", "chat", HOSTS[1])
    world.settle()
    assert world.holders == {HOST: "red", HOSTS[1]: "blue"}, "red has a route, green has none"
    assert world.reason(blue)[0] == "Accepted"


def test_a_service_of_another_gateway_asks_for_nothing(world: HostWorld) -> None:
    key = world.write("green", "chat", HOSTS[1])
    world.services[key]["spec"]["gatewayRef"] = {"name": "other"}
    world.settle()
    assert HOSTS[1] not in world.holders


@pytest.mark.parametrize(
    ("hostname", "host", "owner"),
    [
        pytest.param("*.models.example", "chat.red.models.example", "red", id="in-the-domain-of-another"),
        pytest.param("models.example", "chat.red.models.example", "red", id="without-a-wildcard"),
        pytest.param("*.models.example", "red.models.example", "red", id="the-name-of-a-namespace"),
        pytest.param("models.example", "red.models.example", None, id="no-name-of-a-namespace"),
    ],
)
def test_a_grant_takes_no_host_from_the_owner_of_its_domain(hostname: str, host: str, owner: str | None) -> None:
    gateway = {"hostname": hostname, "hosts": [{"host": host, "namespaces": ["green"]}]}
    world = HostWorld(1, routing.inference_gateway(address="", gateway=gateway))
    own = "" if host == "red.models.example" else host
    if owner:
        world.write(owner, "chat", own)
        world.settle()
    key = world.write("green", "chat", host)
    world.settle()
    # A service without a host is asked for under the name of its namespace, and green may not take that from it.
    assert world.reason(key)[0] == ("HostHeld" if owner else "Accepted")


def test_the_events_of_a_host_that_changes_hands(world: HostWorld) -> None:
    world.write("green", "chat", HOST)
    world.settle()
    world.delete("red/secret-name")
    world.collect()
    said = []
    for _ in range(4):
        world.reconcile_gateway(fresh=True)
        said += [event.reason for event in world.outcomes["gateway"].events]
    assert said == ["HostHeld"]
    assert world.holders == {HOST: "green"}
