"""What LLM traffic asks of a gateway, of a real Envoy: exact shares, long prompts, many and long streams, drains."""

from __future__ import annotations

import math
import os
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.routing import access, load
from tests.conformance.routing.proxy import Envoy
from tests.conformance.routing.worlds import Door
from tests.support import live, routing

Json = Any
# Ten minutes have passed, too; a suite that waits so long each time is one that nobody runs.
STREAM_MINUTES = float(os.environ.get("MODELPLANE_STREAM_MINUTES", "0.4"))
REPLICAS = [routing.replica_endpoint(f"a-{n}", "a", cluster=c) for n, c in enumerate(("east", "west"))]
CANARY = routing.replica_endpoint("b-0", "b", cluster="north")
CLUSTERS = ("east", "west", "north")
SPLIT = (routing.group(deployment="a", weight=95), routing.group(deployment="b", weight=5))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Door]:
    live.needs("routing", "go")
    made = Door(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("spec", [pytest.param({}, id="own-clusters"), pytest.param({"ejection": {}}, id="shared")])
def test_shares_are_right_within_a_percent_of_ten_thousand(world: Door, spec: Json) -> None:
    ports = world.serve_replicas(*CLUSTERS)
    world.start(routing.model_service(*SPLIT, **spec), [*REPLICAS, CANARY], ports=ports)
    assert world.envoy is not None
    count = 10_000
    found = Counter(load.many(world.envoy.port, count))
    assert {code for code, _ in found} == {200}
    assert abs(found[200, "north"] / count - 0.05) < 0.01, found
    # Each of two equal endpoints is drawn, so that a percent of all is two standard deviations of its own count.
    for name in ("east", "west"):
        assert abs(found[200, name] - count * 0.475) < 5 * math.sqrt(count * 0.475 * 0.525), found


def test_a_prompt_of_32_k_tokens_is_answered_as_a_stream(world: Door) -> None:
    ports = world.serve_replicas("east", "west")
    groups = routing.group(deployment="a"), routing.group(deployment="b", priority=1)
    standby = routing.replica_endpoint("b-0", "b", cluster="west")
    world.start(routing.model_service(*groups), [REPLICAS[0], standby], ports=ports)
    prompt = " ".join(f"token{n % 997}" for n in range(32 * 1024))
    asked = {"prompt": prompt, "stream": True, "pauses": [0, 0.2]}
    assert world.ask(asked).body.endswith(b"data: [DONE]\n\n")
    world.upstreams["east"].fail_with = 503
    assert world.ask(asked).body.count(b'"west"') == 2, "and is sent again where the first cannot take it"
    assert {seen.body_bytes > len(prompt) for seen in world.upstreams["west"].seen} == {True}


def test_a_thousand_streams_at_once_are_all_complete(world: Door) -> None:
    ports = world.serve_replicas("east", "west")
    world.start(routing.model_service(routing.group(deployment="a")), REPLICAS, ports=ports)
    assert world.envoy is not None
    found = load.streams(world.envoy.port, 1000, [1.0] * 10)
    assert Counter(found) == {(10, True): 1000}


@pytest.mark.slow
def test_a_stream_of_minutes_is_not_cut(world: Door) -> None:
    ports = world.serve_replicas("east", "west")
    world.start(routing.model_service(routing.group(deployment="a")), REPLICAS, ports=ports)
    assert world.envoy is not None
    chunks = max(2, int(STREAM_MINUTES * 6))
    found = load.streams(world.envoy.port, 3, [10.0] * chunks)
    assert found == [(chunks, True)] * 3


# --- drains -----------------------------------------------------------------------------------------------------------


def test_a_cluster_is_drained_without_a_failed_request_or_a_cut_stream(world: Door) -> None:
    """Both replicas of it leave the route at once; what they have begun they finish."""
    ports = world.serve_replicas("east", "west")
    leaving = [routing.replica_endpoint(f"l-{n}", "a", cluster="west") for n in range(2)]
    service = routing.model_service(routing.group(deployment="a"))
    world.start(service, [REPLICAS[0], *leaving], ports=ports)
    envoy = world.envoy
    assert envoy is not None
    crowd = load.Crowd(lambda: envoy.port)
    found: list[Any] = []
    streaming = threading.Thread(target=lambda: found.extend(load.streams(envoy.port, 20, [0.5] * 10)))
    streaming.start()
    time.sleep(1)
    envoy.route(world.translate(service, [REPLICAS[0]]))
    time.sleep(2)
    asked = len(world.upstreams["west"].seen)
    time.sleep(1)
    assert len(world.upstreams["west"].seen) == asked, "no request reaches it any more"
    streaming.join(30)
    crowd.stop()
    assert crowd.failures == []
    assert len(crowd.answers) > 100
    assert found == [(10, True)] * 20


def test_a_proxy_of_the_gateway_is_drained_without_a_failed_request_or_a_cut_stream(world: Door) -> None:
    """One of two proxies stops as its shutdown manager stops it; clients take the other one as the Service gives it."""
    ports = world.serve_replicas("east", "west")
    service = routing.model_service(routing.group(deployment="a"))
    world.start(service, REPLICAS, ports=ports)
    first = world.envoy
    assert first is not None
    folder = world.folder / "second"
    folder.mkdir()
    second = Envoy(world.translate(service, REPLICAS), folder, ports=ports, secrets={})
    serving = [first]
    try:
        crowd = load.Crowd(lambda: serving[0].port)
        found: list[Any] = []
        streaming = threading.Thread(target=lambda: found.extend(load.streams(first.port, 20, [0.5] * 10)))
        streaming.start()
        time.sleep(1)
        serving[0] = second  # the Service takes it out before it stops
        before = len(crowd.answers)
        for step in ("/healthcheck/fail", "/drain_listeners?graceful&skip_exit"):
            admin = (world.folder / "admin").read_text()
            urllib.request.urlopen(urllib.request.Request(f"http://{admin}{step}", method="POST"), timeout=10).close()
        streaming.join(30)
        crowd.stop()
    finally:
        second.close()
    assert crowd.failures == []
    assert len(crowd.answers) > before + 100
    assert found == [(10, True)] * 20


def test_what_is_translated_twice_is_the_same(world: Door) -> None:
    """A gateway that starts again gives its proxies the routes that they have."""
    first, second = (world.translate(*access.CASES["locality"]) for _ in range(2))
    routes = [list(each.dumped("RoutesConfigDump", "dynamicRouteConfigs", "routeConfig")) for each in (first, second)]
    assert routes[0] == routes[1]
