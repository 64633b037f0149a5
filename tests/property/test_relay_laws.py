"""Laws of a relayed service over any sequence of changes: no request without a way, no key on another's way."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from modelplane.render import relay as rendering
from tests.support import routing
from tests.support.relayed_world import World

Json = Any
ENDPOINTS = {
    "a-0": routing.replica_endpoint("a-0", "a"),
    "a-1": routing.replica_endpoint("a-1", "a", url="http://10.0.1.50:8080"),
    "saas": routing.model_endpoint("saas", "https://api.example.com/openai/v1", auth={"secretRef": {"name": "key-1"}}),
    **{
        name: routing.model_endpoint(
            name, f"https://{name}.example.org", labels={"pool": "rented"}, auth={"secretRef": {"name": f"key-{name}"}}
        )
        for name in ("other", "third")
    },
}
GROUPS = [
    routing.group(deployment="a", maxRequests=8),
    routing.group(endpoint="saas", priority=1),
    {"selector": {"matchLabels": {"pool": "rented"}}, "priority": 1, "weight": 3},
]
HOSTS = {
    each["spec"].get("host") or each["spec"]["url"].split("/")[2]: (each["spec"].get("auth") or {}).get("secretRef")
    for each in ENDPOINTS.values()
}


def _toggle(name: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        present = [each for each in world.endpoints if each["metadata"]["name"] == name]
        if present:
            world.endpoints.remove(present[0])
        else:
            world.endpoints.append(copy.deepcopy(ENDPOINTS[name]))

    return change


def _unready(name: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        for each in world.endpoints:
            if each["metadata"]["name"] == name:
                each["status"]["ready"] = not each["status"]["ready"]

    return change


def _refuse_a_leg(world: World) -> None:
    for key, child in sorted(world.children.items()):
        if rendering.leg_of(key) and child["kind"] == "HTTPRoute":
            for parent in child["status"].get("parents", ()):
                parent["conditions"] = [routing.condition("Accepted", is_true=False, message="no secret")]
            return


def _blink(world: World) -> None:
    for child in world.children.values():
        child["status"] = {}


def _relay(world: World) -> None:
    world.gateway["status"]["relay"] = {} if world.gateway["status"].get("relay") else {"name": "relay-default"}


def _no_gateway(world: World) -> None:
    world.gateway["metadata"]["name"] = "other" if world.gateway["metadata"]["name"] == "default" else "default"
    world.service["spec"]["gatewayRef"] = {"name": "default"}


def _move(world: World) -> None:
    for each in world.endpoints:
        if each["metadata"]["name"] == "saas":
            path = "/v2" if "openai" in each["spec"]["url"] else "/openai"
            each["spec"]["url"] = f"https://api.example.com{path}"


def _nothing(_: World) -> None:
    """Let a step pass."""


CHANGES: dict[str, Callable[[World], None]] = {
    **{f"toggle {name}": _toggle(name) for name in ENDPOINTS},
    **{f"unready {name}": _unready(name) for name in ENDPOINTS},
    "refuse a leg": _refuse_a_leg,
    "blink": _blink,
    "relay": _relay,
    "gateway": _no_gateway,
    "move": _move,
    "nothing": _nothing,
}


def fresh(priorities: list[int]) -> World:
    world = World()
    world.service["spec"]["endpoints"] = [
        {**copy.deepcopy(group), "priority": priority} for group, priority in zip(GROUPS, priorities, strict=True)
    ]
    world.endpoints = [copy.deepcopy(each) for each in ENDPOINTS.values()]
    return world


def check(world: World) -> None:
    backends = {c["metadata"]["name"]: (key, c) for key, c in world.children.items() if c["kind"] == "Backend"}
    filters = {c["metadata"]["name"]: c for c in world.children.values() if c["kind"] == "HTTPRouteFilter"}
    own = {each["status"]["backendName"] for each in ENDPOINTS.values()}
    for key, route in ((key, c) for key, c in world.children.items() if c["kind"] == "HTTPRoute"):
        rule = route["spec"]["rules"][0]
        for ref in rule["backendRefs"]:
            if ref["name"] in own:
                continue
            assert ref["name"] in backends, "a route refers to what is there"
            at, backend = backends[ref["name"]]
            if "relay-default" in str(backend["spec"]):
                leg = rendering.asked_for(at)
                assert f"{rendering.prefix(leg)}route" in world.children, "a rule asks for legs that are there"
                assert not rendering.leg_of(at) or rendering.leg_of(at) == rendering.leg_of(key), "a chain has its own"
        used = [each["extensionRef"]["name"] for each in rule["filters"] if "extensionRef" in each]
        assert set(used) <= set(filters)
        secrets = {
            filters[name]["spec"]["credentialInjection"]["credential"]["valueRef"]["name"]
            for name in used
            if "credentialInjection" in filters[name]["spec"]
        }
        for ref in rule["backendRefs"] if rendering.leg_of(key) else ():
            if "relay-default" in str(backends[ref["name"]][1]["spec"]):
                assert secrets == set(), "a chain has no key"
                continue
            for endpoint in backends[ref["name"]][1]["spec"]["endpoints"]:
                wanted = HOSTS[endpoint["hostname"]]
                assert secrets == ({wanted["name"]} if wanted else set()), "a key goes to its own endpoint"


@given(
    st.lists(st.lists(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=3), max_size=12),
    st.sampled_from([[0, 1, 1], [0, 1, 2], [4, 2, 9], [1, 0, 0]]),
)
def test_no_sequence_of_changes_breaks_a_way_or_moves_a_key(steps: list[list[str]], priorities: list[int]) -> None:
    world = fresh(priorities)
    world.settled()
    for changes in steps:
        served = "route" in world.children
        for change in changes:
            CHANGES[change](world)
        world.step()
        assert not served or "route" in world.children, "what runs stays"
        check(world)
    calm = fresh(priorities)
    world.endpoints, world.gateway = calm.endpoints, calm.gateway
    world.settled()
    calm.settled()
    world.service["spec"].pop("gatewayRef", None)
    assert {key: child["spec"] for key, child in world.children.items()} == {
        key: child["spec"] for key, child in calm.children.items()
    }
