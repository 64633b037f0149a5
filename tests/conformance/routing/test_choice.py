"""Where a request goes beyond weights, asked of a real Envoy: place, session, ejection; and never twice."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.routing import access, fleet, translation
from tests.conformance.routing.test_traffic import CHAT
from tests.conformance.routing.worlds import Door, session
from tests.support import live, routing

Json = Any
SAFE = {"attempts": 2, "on": ["connect-failure", "refused-stream", "reset-before-request", "503"]}
PLACES = [*access.EU, *access.US]
CLUSTERS = ("eu-0", "eu-1", "us-0")
EJECTED_SECONDS = 2
"""Envoy tells its load balancers of an ejection up to a second later."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Door]:
    live.needs("routing", "go")
    made = Door(tmp_path)
    yield made
    made.close()


def region(name: str) -> Mapping[str, str]:
    return {"x-client-region": name}


def servers(world: Door, count: int, headers: Mapping[str, str]) -> Counter[str]:
    answers = [world.ask(headers=headers) for _ in range(count)]
    assert {answer.code for answer in answers} == {200}
    return Counter(answer.server for answer in answers)


# --- places -----------------------------------------------------------------------------------------------------------


def test_a_client_is_served_at_its_place_and_elsewhere_while_that_is_down(world: Door) -> None:
    ports = world.serve_replicas(*CLUSTERS)
    world.start(routing.model_service(access.A, locality={}, retries=SAFE), PLACES, ports=ports)
    assert set(servers(world, 40, region("eu"))) == {"eu-0", "eu-1"}
    assert set(servers(world, 20, region("us"))) == {"us-0"}
    assert set(servers(world, 90, {})) == set(CLUSTERS), "a client that names none is served by all"
    assert set(servers(world, 90, region("mars"))) == set(CLUSTERS)
    two = [world.raw(CHAT, [("x-client-region", "us"), ("x-client-region", "eu")]) for _ in range(30)]
    assert {answer.code for answer in two} == {200}, "two places are none"
    for name in ("eu-0", "eu-1"):
        world.upstreams[name].close()
    assert set(servers(world, 40, region("eu"))) == {"us-0"}, "no request fails"
    assert {seen.headers["host"] for seen in world.upstreams["us-0"].seen} == {"us-0.ml-team.modelplane.internal"}


def test_the_gateways_own_place_counts_for_a_client_that_names_none(world: Door) -> None:
    door = routing.inference_gateway()
    door["metadata"]["labels"] = {"modelplane.ai/region": "us"}
    world.door = door
    ports = world.serve_replicas(*CLUSTERS)
    world.start(routing.model_service(access.A, locality={}, retries=SAFE), PLACES, ports=ports)
    assert set(servers(world, 20, {})) == {"us-0"}
    assert set(servers(world, 20, region("eu"))) == {"eu-0", "eu-1"}
    world.upstreams["us-0"].close()
    assert set(servers(world, 20, {})) == {"eu-0", "eu-1"}


def test_weights_hold_inside_a_place(world: Door) -> None:
    canary = access.at(routing.replica_endpoint("b-0", "b", cluster="eu-c"), "eu")
    ports = world.serve_replicas(*CLUSTERS, "eu-c")
    groups = routing.group(deployment="a", weight=80), routing.group(deployment="b", weight=20)
    world.start(routing.model_service(*groups, locality={}), [*PLACES, canary], ports=ports)
    found = servers(world, 2000, region("eu"))
    assert found["us-0"] == 0
    assert abs(found["eu-c"] / 2000 - 0.2) < 0.01, found


# --- sessions ---------------------------------------------------------------------------------------------------------


def homes(world: Door, names: int) -> dict[str, str]:
    """Return the endpoint of each session, which must be the same for each of its requests."""
    found = {}
    for number in range(names):
        name = f"session-{number}"
        (found[name],) = servers(world, 2, session(name))
    return found


@pytest.mark.parametrize("kind", ["Header", "ClientAddress"])
def test_a_session_stays_where_it_is_and_moves_when_its_endpoint_dies(world: Door, kind: str) -> None:
    world.door = routing.inference_gateway(clients={"addressFrom": "XForwardedFor"})
    ports = world.serve_replicas(*CLUSTERS)
    world.start(routing.model_service(access.A, affinity={"type": kind}, retries=SAFE), PLACES, ports=ports)

    def home(number: int) -> str:
        sent = session(f"s-{number}") if kind == "Header" else {"x-forwarded-for": f"192.0.2.{number}"}
        (found,) = servers(world, 2, sent)
        return found

    before = [home(number) for number in range(90)]
    assert all(before.count(name) > 10 for name in CLUSTERS), Counter(before)
    world.upstreams["eu-0"].close()
    for number in range(90):
        world.ask(headers=session(f"s-{number}") if kind == "Header" else {"x-forwarded-for": f"192.0.2.{number}"})
    time.sleep(EJECTED_SECONDS)
    after = [home(number) for number in range(90)]
    for was, now in zip(before, after, strict=True):
        assert now == was if was != "eu-0" else now in {"eu-1", "us-0"}, "the others stay"


def test_few_sessions_move_when_a_replica_is_added(world: Door, tmp_path: Path) -> None:
    every = (*CLUSTERS, "us-1")
    ports = world.serve_replicas(*every)
    service = routing.model_service(access.A, affinity={})
    world.start(service, PLACES, ports=ports)
    before = homes(world, 200)
    assert world.envoy is not None
    world.envoy.close()
    world.start(service, [*PLACES, routing.replica_endpoint("us-1", "a", cluster="us-1")], ports=ports)
    after = homes(world, 200)
    moved = [name for name, home in before.items() if after[name] != home]
    assert all(after[name] == "us-1" for name in moved) or len(moved) < 70
    assert 20 < len(moved) < 80, f"about a quarter of 200: {len(moved)}"


def test_sessions_are_divided_by_weight_over_several_groups(world: Door) -> None:
    ports = world.serve_replicas("east", "west", "north")
    endpoints = [routing.replica_endpoint(f"a-{n}", "a", cluster=c) for n, c in enumerate(("east", "west"))]
    endpoints.append(routing.replica_endpoint("b-0", "b", cluster="north"))
    groups = routing.group(deployment="a", weight=80), routing.group(deployment="b", weight=20)
    world.start(routing.model_service(*groups, affinity={}), endpoints, ports=ports)
    found = Counter(homes(world, 1000).values())
    for name, share in (("east", 0.4), ("west", 0.4), ("north", 0.2)):
        assert abs(found[name] / 1000 - share) < 0.05, found


def test_a_request_without_a_session_goes_anywhere(world: Door) -> None:
    ports = world.serve_replicas(*CLUSTERS)
    world.start(routing.model_service(access.A, affinity={}), PLACES, ports=ports)
    assert set(servers(world, 60, {})) == set(CLUSTERS)


# --- ejection ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "is_left_out"), [(500, True), (429, False)])
def test_an_endpoint_that_fails_is_left_out_and_a_full_one_is_not(world: Door, code: int, is_left_out: bool) -> None:  # noqa: FBT001 - a table's column
    ports = world.serve_replicas(*CLUSTERS)
    world.start(routing.model_service(access.A, ejection={}, retries={"attempts": 0}), PLACES, ports=ports)
    world.upstreams["eu-0"].fail_with = code
    for _ in range(60):
        world.ask()
    time.sleep(EJECTED_SECONDS)
    asked = len(world.upstreams["eu-0"].seen)
    answers = [world.ask().code for _ in range(60)]
    more = len(world.upstreams["eu-0"].seen) - asked
    assert (more == 0) is is_left_out
    assert answers.count(code) == more
    assert asked >= 3


# --- never twice ------------------------------------------------------------------------------------------------------


def test_a_slow_answer_is_asked_for_once(world: Door) -> None:
    ports = world.serve_replicas(*CLUSTERS)
    world.start(routing.model_service(access.A, ejection={}, retries=SAFE), PLACES, ports=ports)
    workers = [threading.Thread(target=world.ask, args=({"stream": True, "pauses": [3]},)) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert sum(len(upstream.seen) for upstream in world.upstreams.values()) == 6


def test_a_new_endpoint_warms_up(tmp_path: Path) -> None:
    live.needs("routing", "go")
    done = translation.translate(fleet.objects(*access.CASES["slow-start"], gateway=access.DOOR), tmp_path)
    (policy,) = [
        cluster["loadBalancingPolicy"]["policies"][0]["typedExtensionConfig"]["typedConfig"]
        for cluster in done.dumped("ClustersConfigDump", "dynamicActiveClusters", "cluster")
        if cluster["name"].startswith("httproute/")
    ]
    assert policy["slowStartConfig"] == {"slowStartWindow": "60s"}
