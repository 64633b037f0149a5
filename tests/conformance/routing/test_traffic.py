"""Real requests through a real Envoy: shares, hosts, paths, keys, failover, long streams, and a drain without a
failure.
"""

from __future__ import annotations

import http.client
import json
import math
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.routing import fleet, translation
from tests.conformance.routing.proxy import Envoy
from tests.conformance.routing.upstream import Upstream
from tests.support import certificates, live, routing

Json = Any
CHAT = "/ml-team/llama/v1/chat/completions"
A0 = routing.replica_endpoint("a-0", "a")
A1 = routing.replica_endpoint("a-1", "a", cluster="west")
B0 = routing.replica_endpoint("b-0", "b", cluster="north")
HOSTS = {
    "a-0": "gateway.east.example.com:80",
    "a-1": "gateway.west.example.com:80",
    "b-0": "gateway.north.example.com:80",
}


@dataclass
class Answer:
    code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def server(self) -> str:
        return str(json.loads(self.body).get("server"))


class World:
    """Upstreams and an Envoy in front of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.upstreams: dict[str, Upstream] = {}
        self.envoy: Envoy | None = None

    def serve(self, *names: str) -> None:
        for name in names:
            self.upstreams[name] = Upstream(name)

    def translate(self, service: Json, endpoints: list[Json], *documents: Json) -> translation.Translation:
        return translation.translate([*fleet.objects(service, endpoints), *documents], self.folder)

    def start(
        self,
        service: Json,
        endpoints: list[Json],
        *documents: Json,
        secrets: Mapping[str, Json] | None = None,
        ports: Mapping[str, int] | None = None,
    ) -> None:
        known = {HOSTS[name]: upstream.port for name, upstream in self.upstreams.items() if name in HOSTS}
        done = self.translate(service, endpoints, *documents)
        self.envoy = Envoy(done, self.folder, ports={**known, **(ports or {})}, secrets=secrets or {})

    def ask(self, body: Json = None, *, path: str = CHAT, headers: Mapping[str, str] | None = None) -> Answer:
        assert self.envoy is not None
        connection = http.client.HTTPConnection("127.0.0.1", self.envoy.port, timeout=60)
        try:
            payload = json.dumps({"model": "m", **(body or {})}).encode()
            connection.request("POST", path, payload, {"content-type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def ask_many(self, count: int, body: Json = None) -> list[Answer]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda _: self.ask(body), range(count)))

    def close(self) -> None:
        if self.envoy is not None:
            self.envoy.close()
        for upstream in self.upstreams.values():
            upstream.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    live.needs("routing", "go")
    made = World(tmp_path)
    yield made
    made.close()


def test_traffic_is_shared_as_the_weights_say(world: World) -> None:
    world.serve("a-0", "a-1", "b-0")
    service = routing.model_service(routing.group(deployment="a", weight=90), routing.group(deployment="b", weight=10))
    world.start(service, [A0, A1, B0])
    count = 2000
    answers = world.ask_many(count)
    assert {answer.code for answer in answers} == {200}
    got = Counter(answer.server for answer in answers)
    for name, share in (("a-0", 0.45), ("a-1", 0.45), ("b-0", 0.10)):
        spread = math.sqrt(count * share * (1 - share))
        assert abs(got[name] - count * share) < 5 * spread, got


def test_a_replica_is_asked_by_its_own_host_and_the_apis_own_path(world: World) -> None:
    world.serve("a-0", "a-1")
    world.start(routing.model_service(routing.group(deployment="a")), [A0, A1])
    world.ask_many(30)
    for name, upstream in world.upstreams.items():
        assert {(seen.headers["host"], seen.path) for seen in upstream.seen} == {
            (f"{name}.ml-team.modelplane.internal", "/v1/chat/completions")
        }
    assert world.ask(path="/other-team/llama/v1/models").code == 404
    assert world.ask(path="/ml-team/llama-2/v1/models").code == 404, "whole segments only"


@pytest.mark.parametrize("priority", [0, 1])
def test_a_client_that_names_another_tenants_replica_reaches_its_own_services(world: World, priority: int) -> None:
    world.serve("a-0", "b-0")
    groups = routing.group(deployment="a"), routing.group(deployment="b", priority=priority)
    world.start(routing.model_service(*groups), [A0, B0])
    other = "llama-0.other-team.modelplane.internal"
    for sent in ({"host": other}, {"host": other, "x-forwarded-host": other, "x-original-host": other}):
        for _ in range(5):
            assert world.ask(headers=sent).code == 200
    for name, upstream in world.upstreams.items():
        assert {seen.headers["host"] for seen in upstream.seen} <= {f"{name}.ml-team.modelplane.internal"}


def test_replicas_behind_one_address_are_told_apart(world: World) -> None:
    """Two replicas on one cluster: one address, two hosts."""
    world.serve("a-0")
    same = [routing.replica_endpoint(f"a-{n}", "a") for n in range(2)]
    world.start(routing.model_service(routing.group(deployment="a")), same)
    world.ask_many(40)
    asked = {seen.headers["host"] for seen in world.upstreams["a-0"].seen}
    assert asked == {"a-0.ml-team.modelplane.internal", "a-1.ml-team.modelplane.internal"}


def test_a_key_is_put_in_for_one_endpoint_only_and_replaces_the_callers_own(world: World, tmp_path: Path) -> None:
    authority = certificates.authority()
    issued = authority.issue(tmp_path / "saas", "saas")
    world.upstreams["saas"] = Upstream("saas", certificate=issued)
    world.serve("a-0")
    saas = routing.model_endpoint(
        "saas",
        "https://api.example.com/v1",
        auth={"secretRef": {"name": "saas"}},
        tls={"caCertificateRefs": [{"name": "ca"}], "sni": "localhost"},
    )
    ca = (issued / "ca.crt").read_text()
    world.start(
        routing.model_service(routing.group(deployment="a"), routing.group(endpoint="saas")),
        [A0, saas],
        fleet.secret("saas", {"credential": "Bearer sk-saas"}),
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "ca", "namespace": "ml-team"},
            "data": {"ca.crt": ca},
        },
        ports={"api.example.com:443": world.upstreams["saas"].port},
        secrets={
            "credential_injector/credential/httproutefilter/ml-team/saas-credential": {
                "genericSecret": {"secret": {"inlineString": "Bearer sk-saas"}}
            },
            "saas/ml-team-ca": {"validationContext": {"trustedCa": {"inlineString": ca}}},
        },
    )
    answers = [world.ask(headers={"authorization": "Bearer sk-caller"}) for _ in range(40)]
    assert {answer.code for answer in answers} == {200}, [answer.body for answer in answers if answer.code != 200][:1]
    assert {seen.headers.get("authorization") for seen in world.upstreams["saas"].seen} == {"Bearer sk-saas"}
    assert {seen.headers.get("authorization") for seen in world.upstreams["a-0"].seen} == {"Bearer sk-caller"}
    assert {seen.headers["host"] for seen in world.upstreams["saas"].seen} == {"api.example.com"}
    assert set(world.upstreams["saas"].asked_names) == {"localhost"}, "the server name is ours, not the caller's host"


def test_callers_need_a_key_and_it_reaches_no_endpoint(world: World) -> None:
    world.serve("a-0")
    service = routing.model_service(routing.group(deployment="a"), auth={"apiKeys": {"secretRef": {"name": "callers"}}})
    world.start(service, [A0], fleet.secret("callers", {"alice": "sk-alice"}))
    assert world.ask().code == 401
    assert world.ask(headers={"authorization": "Bearer sk-mallory"}).code == 401
    assert world.upstreams["a-0"].seen == []
    assert world.ask(headers={"authorization": "Bearer sk-alice"}).code == 200
    assert "authorization" not in world.upstreams["a-0"].seen[0].headers


FAILOVER = routing.model_service(
    routing.group(deployment="a"),
    routing.group(deployment="b", priority=1),
    retries={"attempts": 2, "on": ["connect-failure", "refused-stream", "reset-before-request", "503"]},
)


def test_the_standby_stands_by(world: World) -> None:
    world.serve("a-0", "a-1", "b-0")
    world.start(FAILOVER, [A0, A1, B0])
    answers = world.ask_many(60)
    assert {answer.server for answer in answers} == {"a-0", "a-1"}
    for name in ("a-0", "a-1"):
        asked = {seen.headers["host"] for seen in world.upstreams[name].seen}
        assert asked == {f"{name}.ml-team.modelplane.internal"}, "each by its own host in one shared cluster"


@pytest.mark.parametrize("fault", ["closed", "503"])
def test_no_request_fails_when_the_first_level_does(world: World, fault: str) -> None:
    world.serve("a-0", "b-0")
    world.start(FAILOVER, [A0, B0])
    assert world.ask().server == "a-0"
    if fault == "closed":
        world.upstreams["a-0"].close()
    else:
        world.upstreams["a-0"].fail_with = 503
    answers = world.ask_many(40)
    assert {(answer.code, answer.server) for answer in answers} == {(200, "b-0")}
    assert {seen.headers["host"] for seen in world.upstreams["b-0"].seen} == {"b-0.ml-team.modelplane.internal"}


def test_one_replica_of_a_level_fails_and_the_other_takes_over(world: World) -> None:
    world.serve("a-0", "a-1", "b-0")
    world.start(FAILOVER, [A0, A1, B0])
    world.upstreams["a-0"].close()
    answers = world.ask_many(60)
    assert {answer.code for answer in answers} == {200}
    assert "a-1" in {answer.server for answer in answers}


@pytest.mark.slow
def test_a_stream_survives_silence_longer_than_any_default_route_timeout(world: World) -> None:
    """The gateway's own default gives up after 15 s, counted over the whole answer."""
    world.serve("a-0")
    world.start(routing.model_service(routing.group(deployment="a")), [A0])
    answer = world.ask({"stream": True, "pauses": [17, 1]})
    assert answer.code == 200
    assert answer.body.count(b'data: {"server"') == 2
    assert answer.body.endswith(b"data: [DONE]\n\n")


def test_a_stream_arrives_piece_by_piece(world: World) -> None:
    world.serve("a-0")
    world.start(routing.model_service(routing.group(deployment="a")), [A0])
    assert world.envoy is not None
    connection = http.client.HTTPConnection("127.0.0.1", world.envoy.port, timeout=30)
    connection.request("POST", CHAT, json.dumps({"stream": True, "pauses": [0, 2]}))
    answer = connection.getresponse()
    started = time.monotonic()
    first = answer.readline()
    assert time.monotonic() - started < 1.5, "nothing gathers the answer on the way"
    assert first.startswith(b"data:")
    assert answer.read().endswith(b"data: [DONE]\n\n")
    connection.close()


@pytest.mark.parametrize("size_bytes", [pytest.param(64 * 1024, id="64KiB"), pytest.param(8 * 1024 * 1024, id="8MiB")])
def test_a_large_prompt_is_retried_too(world: World, size_bytes: int) -> None:
    """With the gateway's default buffer of 32 KiB a larger body is sent once and lost."""
    world.serve("a-0", "b-0")
    world.start(FAILOVER, [A0, B0])
    world.upstreams["a-0"].fail_with = 503
    answer = world.ask({"prompt": "x" * size_bytes})
    assert (answer.code, answer.server) == (200, "b-0")
    assert world.upstreams["b-0"].seen[0].body_bytes > size_bytes


def test_a_replica_is_drained_without_a_failed_request_or_a_cut_stream(world: World) -> None:
    world.serve("a-0", "a-1")
    service = routing.model_service(routing.group(deployment="a"))
    world.start(service, [A0, A1])
    assert world.envoy is not None
    streams, codes = [], []
    stop = threading.Event()

    def stream() -> None:
        streams.append(world.ask({"stream": True, "pauses": [0.5] * 8}))

    def keep_asking() -> None:
        while not stop.is_set():
            codes.append(world.ask().code)

    workers = [threading.Thread(target=stream) for _ in range(12)] + [
        threading.Thread(target=keep_asking) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    time.sleep(1)
    world.envoy.route(world.translate(service, [A0]))
    time.sleep(2)
    drained_at = len(world.upstreams["a-1"].seen)
    time.sleep(2)
    assert len(world.upstreams["a-1"].seen) == drained_at, "requests still reach a drained replica"
    stop.set()
    for worker in workers:
        worker.join(30)
    assert len(codes) > 50
    assert set(codes) == {200}
    assert [answer.body.count(b'data: {"server"') for answer in streams] == [8] * 12
    assert {json.loads(answer.body.split(b"\n")[0][6:])["server"] for answer in streams} == {"a-0", "a-1"}


def test_a_rate_limit_answers_429(world: World) -> None:
    world.serve("a-0")
    service = routing.model_service(routing.group(deployment="a"), rateLimit={"requests": 3, "unit": "Hour"})
    world.start(service, [A0])
    assert [world.ask().code for _ in range(5)] == [200, 200, 200, 429, 429]


@pytest.mark.parametrize("path", ["", "/openai"])
def test_a_host_of_its_own_takes_the_place_of_the_path(world: World, path: str) -> None:
    """Whether or not the endpoint has a path: what replaces the path "/" keeps a "/" behind it."""
    world.serve("a-0")
    door = routing.inference_gateway(gateway={"hostname": "models.example"})
    service = routing.model_service(routing.group(endpoint="a-0"), host="chat.ml-team.models.example")
    endpoint = routing.model_endpoint("a-0", f"http://gateway.east.example.com{path}/v1")
    documents = fleet.objects(service, [endpoint], gateway=door)
    done = translation.translate(documents, world.folder)
    world.envoy = Envoy(done, world.folder, ports={HOSTS["a-0"]: world.upstreams["a-0"].port}, secrets={})
    own = world.ask(path="/v1/chat/completions", headers={"host": "chat.ml-team.models.example"})
    assert (own.code, own.server) == (200, "a-0")
    assert world.upstreams["a-0"].seen[0].path == f"{path}/v1/chat/completions"
    assert world.ask(path="/v1/chat/completions", headers={"host": "chat.other.models.example"}).code == 404
