"""Failover between endpoints with keys, paths and TLS of their own: through two real Envoys, to servers that record
what they were sent.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.routing import relay
from modelplane_functions import registry
from tests.conformance.routing import fleet, relayed, translation
from tests.conformance.routing.relayed import World, door, key_of, service
from tests.conformance.routing.test_translation import accepted
from tests.support import certificates, live, routing
from tests.support.exchange import settle

Json = Any
EXAMPLE = Path(__file__).parents[3] / "examples" / "spillover"
EAST, WEST = "gateway.east.example.com:80", "gateway.west.example.com:80"
SAAS, OTHER = "api.example.com:80", "llm.example.org:80"
A0 = routing.replica_endpoint("a-0", "a")
A1 = routing.replica_endpoint("a-1", "a", cluster="west")
FIRST = routing.model_endpoint("saas", "http://api.example.com/openai/v1", auth={"secretRef": {"name": "saas"}})
SECOND = routing.model_endpoint(
    "other",
    "http://llm.example.org/v1",
    auth={"secretRef": {"name": "other"}, "scheme": "Header", "header": "x-api-key"},
)
OWN_FIRST = service(routing.group(deployment="a"), routing.group(endpoint="saas", priority=1))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    live.needs("routing", "go")
    made = World(tmp_path)
    yield made
    made.close()


def test_every_object_is_accepted(world: World) -> None:
    done, _ = world.translate(OWN_FIRST, [A0, A1, FIRST], key_of("saas"))
    assert list(accepted(done)) == []
    attached = {
        each["name"]: each["attachedRoutes"] for each in done.resources["Gateway", relayed.RELAY]["status"]["listeners"]
    }
    assert attached == {"ml-team": 2}


def test_own_replicas_serve_and_the_provider_stands_by(world: World) -> None:
    world.serve({"a-0": EAST, "a-1": WEST, "saas": SAAS})
    world.start(OWN_FIRST, [A0, A1, FIRST], key_of("saas"))
    got = Counter((answer.code, answer.server) for answer in world.ask_many(60))
    assert got.keys() == {(200, "a-0"), (200, "a-1")}
    assert min(got.values()) > 15
    assert world.upstreams["saas"].seen == []
    for name in ("a-0", "a-1"):
        asked = {(seen.path, seen.headers["host"]) for seen in world.upstreams[name].seen}
        assert asked == {("/v1/chat/completions", f"{name}.ml-team.modelplane.internal")}


@pytest.mark.parametrize("fault", ["closed", "429", "502", "503"])
def test_no_request_fails_when_the_own_replicas_do(world: World, fault: str) -> None:
    world.serve({"a-0": EAST, "a-1": WEST, "saas": SAAS})
    world.start(OWN_FIRST, [A0, A1, FIRST], key_of("saas"))
    assert world.ask().server in {"a-0", "a-1"}
    for name in ("a-0", "a-1"):
        if fault == "closed":
            world.upstreams[name].close()
        else:
            world.upstreams[name].fail_with = int(fault)
            world.upstreams[name].fail_headers = {"retry-after": "30"}
    answers = world.ask_many(60)
    assert {(answer.code, answer.server) for answer in answers} == {(200, "saas")}
    seen = world.upstreams["saas"].seen
    assert {(each.path, each.headers["host"]) for each in seen} == {("/openai/v1/chat/completions", "api.example.com")}
    assert world.keys("saas") == {"Bearer sk-saas"}
    assert world.keys("a-0") | world.keys("a-1") == {None}


def test_one_replica_fails_and_its_sister_takes_over_before_the_provider(world: World) -> None:
    world.serve({"a-0": EAST, "a-1": WEST, "saas": SAAS})
    world.start(OWN_FIRST, [A0, A1, FIRST], key_of("saas"))
    world.upstreams["a-0"].close()
    # Envoy leaves it out within a second. Until then the retries of a request may all find it.
    first = Counter((answer.code, answer.server) for answer in world.ask_many(60))
    assert first.keys() <= {(200, "a-1"), (200, "saas")}
    assert first[200, "saas"] < 20, first
    time.sleep(1.5)
    assert {(answer.code, answer.server) for answer in world.ask_many(60)} == {(200, "a-1")}


THIRD = routing.model_endpoint("third", "https://third.example.net/v2", auth={"secretRef": {"name": "third"}})
FOUR = {"a-0": EAST, "saas": SAAS, "other": OTHER, "third": "third.example.net:443"}


def test_each_priority_is_in_use_while_all_before_it_fail(world: World) -> None:
    """Four of them, though a rule of Envoy Gateway has two; no request fails while one is left."""
    wanted = service(
        *(
            routing.group(deployment="a"),
            routing.group(endpoint="saas", priority=1),
            routing.group(endpoint="other", priority=2),
            routing.group(endpoint="third", priority=7),
        )
    )
    third = {**THIRD, "spec": {**THIRD["spec"], "url": "http://third.example.net:443/v2"}}
    secrets = key_of("saas"), key_of("third"), fleet.secret("other", {"credential": "sk-other"})
    world.serve(FOUR)
    done, _ = world.translate(wanted, [A0, FIRST, SECOND, third], *secrets)
    assert list(accepted(done)) == []
    world.start(wanted, [A0, FIRST, SECOND, third], *secrets)
    caller = {"authorization": "Bearer sk-caller", relay.HEADER: "guess"}
    order = list(FOUR)
    for failing in range(4):
        for number, name in enumerate(order):
            world.upstreams[name].fail_with = 503 if number < failing else 0
        answers = [world.ask(headers=caller) for _ in range(20)]
        assert {(answer.code, answer.server) for answer in answers} == {(200, order[failing])}, failing
    world.upstreams["third"].fail_with = 503
    assert world.ask(headers=caller).code == 503, "nobody is left"
    for upstream in world.upstreams.values():
        upstream.fail_with = 0
    deadline = time.monotonic() + 60
    while world.ask(headers=caller).body.find(b'"a-0"') < 0:
        assert time.monotonic() < deadline, "the first is in use again once it is found well"
        time.sleep(1)
    sent = {name: upstream.seen for name, upstream in world.upstreams.items()}
    assert {name: sorted(world.keys(name), key=str) for name in order} == {
        "a-0": ["Bearer sk-caller"],
        "saas": ["Bearer sk-saas"],
        "other": ["Bearer sk-caller"],
        "third": ["Bearer sk-third"],
    }
    assert {each.headers["x-api-key"] for each in sent["other"]} == {"sk-other"}
    for record in sent.values():
        assert not any(relay.HEADER in each.headers or "x-forwarded-host" in each.headers for each in record)
    assert {each.path for each in sent["third"]} == {"/v2/v1/chat/completions"}


def test_no_key_ever_reaches_another_provider(world: World) -> None:
    """Two providers, of which each fails in turn, callers with keys of their own, and every server's record."""
    world.serve({"saas": SAAS, "other": OTHER})
    wanted = service(routing.group(endpoint="saas"), routing.group(endpoint="other", priority=1))
    world.start(wanted, [FIRST, SECOND], key_of("saas"), fleet.secret("other", {"credential": "sk-other"}))
    caller = {"authorization": "Bearer sk-caller", "x-api-key": "sk-caller", relay.HEADER: "guess"}
    for broken in ((), ("saas",), ("saas", "other"), ("other",)):
        for name, upstream in world.upstreams.items():
            upstream.fail_with = 429 if name in broken else 0
        for _ in range(20):
            world.ask(headers=caller)
    sent = {name: upstream.seen for name, upstream in world.upstreams.items()}
    assert len(sent["saas"]) >= 20
    assert len(sent["other"]) >= 20
    assert {each.headers["authorization"] for each in sent["saas"]} == {"Bearer sk-saas"}
    assert {each.headers["x-api-key"] for each in sent["other"]} == {"sk-other"}
    assert "sk-other" not in str(sent["saas"])
    assert "sk-saas" not in str(sent["other"])
    for record in sent.values():
        assert not any(relay.HEADER in each.headers or "x-forwarded-host" in each.headers for each in record)


def test_a_provider_behind_tls_is_asked_by_its_own_name(world: World, tmp_path: Path) -> None:
    issued = certificates.authority().issue(tmp_path / "saas", "saas")
    world.serve({"a-0": EAST})
    world.serve({"saas": "api.example.com:443"}, issued)
    saas = routing.model_endpoint(
        "saas",
        "https://api.example.com/openai/v1",
        auth={"secretRef": {"name": "saas"}},
        tls={"caCertificateRefs": [{"name": "ca"}], "sni": "localhost"},
    )
    authority = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "ca", "namespace": "ml-team"},
        "data": {"ca.crt": (issued / "ca.crt").read_text()},
    }
    world.start(OWN_FIRST, [A0, saas], key_of("saas"), authority)
    assert world.ask().server == "a-0"
    world.upstreams["a-0"].close()
    assert {(answer.code, answer.server) for answer in world.ask_many(20)} == {(200, "saas")}
    assert set(world.upstreams["saas"].asked_names) == {"localhost"}


def test_addresses_and_names_fail_over_too(world: World) -> None:
    world.serve({"a-0": "10.0.1.50:8080", "saas": SAAS})
    own = routing.replica_endpoint("a-0", "a", url="http://10.0.1.50:8080")
    world.start(OWN_FIRST, [own, FIRST], key_of("saas"))
    assert world.ask().server == "a-0"
    world.upstreams["a-0"].close()
    assert {(answer.code, answer.server) for answer in world.ask_many(20)} == {(200, "saas")}


def test_retry_after_reaches_the_client_when_nobody_is_left(world: World) -> None:
    world.serve({"a-0": EAST, "saas": SAAS})
    world.start(OWN_FIRST, [A0, FIRST], key_of("saas"))
    for upstream in world.upstreams.values():
        upstream.fail_with, upstream.fail_headers = 429, {"retry-after": "30"}
    answer = world.ask()
    assert (answer.code, answer.headers["retry-after"]) == (429, "30")


def test_requests_above_the_limit_go_to_the_provider_and_the_others_stay(world: World) -> None:
    """A full endpoint is not a failed one: it is asked again as soon as it has room."""
    world.serve({"a-0": EAST, "saas": SAAS})
    wanted = service(routing.group(deployment="a", maxRequests=3), routing.group(endpoint="saas", priority=1))
    gateway = door()
    gateway["spec"]["relay"]["replicas"] = 1
    world.start(wanted, [A0, FIRST], key_of("saas"), gateway=gateway)
    began: list[relayed.Answer] = []
    streams = [
        threading.Thread(target=lambda: began.append(world.ask({"stream": True, "pauses": [0, 3]}))) for _ in range(3)
    ]
    for stream in streams:
        stream.start()
    time.sleep(1)
    answers = world.ask_many(20)
    assert {(answer.code, answer.server) for answer in answers} == {(200, "saas")}
    for stream in streams:
        stream.join()
    assert [answer.body.count(b'"server": "a-0"') for answer in began] == [2, 2, 2]
    assert {world.ask().server for _ in range(10)} == {"a-0"}


def test_an_answer_that_has_begun_is_never_repeated(world: World) -> None:
    world.serve({"a-0": EAST, "saas": SAAS})
    world.start(OWN_FIRST, [A0, FIRST], key_of("saas"))
    connection = http.client.HTTPConnection("127.0.0.1", world.port, timeout=30)
    connection.request("POST", relayed.CHAT, json.dumps({"stream": True, "pauses": [0, 0.5], "breaks": True}))
    answer = connection.getresponse()
    assert answer.status == 200
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        answer.read()
    connection.close()
    time.sleep(1)
    assert len(world.upstreams["a-0"].seen) == 1
    assert world.upstreams["saas"].seen == []


@pytest.mark.slow
def test_requests_come_back_when_the_own_replicas_are_healthy(world: World) -> None:
    world.serve({"a-0": EAST, "saas": SAAS})
    world.start(OWN_FIRST, [A0, FIRST], key_of("saas"))
    world.upstreams["a-0"].fail_with = 503
    assert {answer.server for answer in world.ask_many(20)} == {"saas"}
    asked = len(world.upstreams["a-0"].seen)
    assert {answer.server for answer in world.ask_many(20)} == {"saas"}
    assert len(world.upstreams["a-0"].seen) == asked, "it is left out, and costs no request an attempt"
    world.upstreams["a-0"].fail_with = 0
    deadline = time.monotonic() + 60
    codes = set()
    while time.monotonic() < deadline:
        answer = world.ask()
        codes.add(answer.code)
        if answer.server == "a-0":
            break
        time.sleep(0.5)
    assert codes == {200}
    assert {world.ask().server for _ in range(10)} == {"a-0"}


def test_a_large_prompt_fails_over_too(world: World) -> None:
    world.serve({"a-0": EAST, "saas": SAAS})
    world.start(OWN_FIRST, [A0, FIRST], key_of("saas"))
    world.upstreams["a-0"].fail_with = 503
    size_bytes = 8 * 1024 * 1024
    answer = world.ask({"prompt": "x" * size_bytes})
    assert (answer.code, answer.server) == (200, "saas")
    assert world.upstreams["saas"].seen[0].body_bytes > size_bytes


def test_shares_hold_between_endpoints_of_different_paths(world: World) -> None:
    world.serve({"a-0": EAST, "saas": SAAS})
    wanted = service(routing.group(deployment="a", weight=90), routing.group(endpoint="saas", weight=10))
    world.start(wanted, [A0, FIRST], key_of("saas"))
    count = 1000
    got = Counter(answer.server for answer in world.ask_many(count))
    assert abs(got["saas"] - 0.1 * count) < 5 * (count * 0.09) ** 0.5, got
    assert world.keys("a-0") == {None}


# --- nobody else ------------------------------------------------------------------------------------------------------


def _legs() -> list[Json]:
    documents = fleet.objects(OWN_FIRST, [A0, FIRST], gateway=door())
    legs = [each for each in documents if each["kind"] == "HTTPRoute" and each["metadata"]["name"] != "llama"]
    assert len(legs) == 2
    return legs


def test_the_relay_answers_nobody_who_does_not_know_the_services_token(world: World) -> None:
    world.serve({"a-0": EAST, "saas": SAAS})
    world.start(OWN_FIRST, [A0, FIRST], key_of("saas"))
    for leg in _legs():
        (host,) = leg["spec"]["hostnames"]
        for token in (None, "", "guess", "f" * 64):
            headers = {"host": host} | ({relay.HEADER: token} if token is not None else {})
            assert world.ask(path="/v1/chat/completions", headers=headers, port=world.relay_port).code == 404
            # At the public listener the host of a leg is that of nobody.
            assert world.ask(path="/v1/chat/completions", headers=headers).code == 404
    assert world.ask(path="/v1/chat/completions", port=world.relay_port).code == 404
    assert all(upstream.seen == [] for upstream in world.upstreams.values())


def test_a_route_and_a_backend_of_another_namespace_reach_no_leg(world: World) -> None:
    """Written by hand by somebody whom RBAC lets: a route on the fleet's gateway to the relay, under a leg's host."""
    world.serve({"a-0": EAST, "saas": SAAS})
    (host,) = _legs()[-1]["spec"]["hostnames"]
    name, _, port = relayed.HOP.partition(":")
    evil = {"namespace": "evil", "name": "evil"}
    backend = {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "Backend",
        "metadata": evil,
        "spec": {"type": "Endpoints", "endpoints": [{"fqdn": {"hostname": name, "port": int(port)}}]},
    }
    route = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": evil,
        "spec": {
            "parentRefs": [{"namespace": "modelplane-system", "name": "default"}],
            "rules": [
                {
                    "matches": [{"path": {"type": "PathPrefix", "value": "/evil"}}],
                    "filters": [
                        {
                            "type": "URLRewrite",
                            "urlRewrite": {
                                "hostname": host,
                                "path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"},
                            },
                        },
                        {
                            "type": "RequestHeaderModifier",
                            "requestHeaderModifier": {"set": [{"name": relay.HEADER, "value": "0" * 64}]},
                        },
                    ],
                    "backendRefs": [{"group": "gateway.envoyproxy.io", "kind": "Backend", "name": "evil"}],
                }
            ],
        },
    }
    world.start(OWN_FIRST, [A0, FIRST], key_of("saas"), route, backend)
    assert world.ask().code == 200
    assert world.ask(path="/evil/v1/chat/completions").code == 404
    assert world.upstreams["saas"].seen == []


# --- Secrets ----------------------------------------------------------------------------------------------------------


def _judged(world: World, wanted: Json, endpoints: list[Json], *documents: Json) -> tuple[Json, Json]:
    """Return the service's objects and outcome once the real translator has judged what was composed."""
    gateway = door()
    compose = registry.composer(wanted["apiVersion"], wanted["kind"]).load()
    children: dict[str, Json] = {}
    for _ in range(6):
        outcome = settle(compose, wanted, children=children, store=[gateway, *endpoints])
        applied = routing.observed(outcome)
        if applied.keys() == children.keys() and all(applied[k]["spec"] == children[k]["spec"] for k in applied):
            return children, outcome
        base = fleet.objects(OWN_FIRST, endpoints, gateway=gateway)
        mine = [{k: v for k, v in child.items() if k != "status"} for child in applied.values()]
        named = {(each["kind"], each["metadata"]["name"]) for each in mine}
        others = [each for each in base if (each["kind"], each["metadata"]["name"]) not in named]
        plain = [
            {**each, "metadata": {k: each["metadata"][k] for k in ("name", "namespace", "labels")}} for each in mine
        ]
        done = translation.translate([*others, *plain, *documents], world.folder)
        for child in applied.values():
            told = done.resources.get((child["kind"], child["metadata"]["name"]), {}).get("status")
            if told:
                child["status"] = told
        children = applied
    raise AssertionError("the composer does not come to rest")


@pytest.mark.parametrize(
    ("secret", "says"),
    [
        pytest.param(None, "secret ml-team/saas does not exist", id="missing"),
        pytest.param({"credential": ""}, "not found in secret ml-team/saas", id="empty"),
        pytest.param({"other": "x"}, "not found in secret ml-team/saas", id="another-key"),
    ],
)
def test_a_provider_without_its_secret_is_left_out_and_the_others_serve(world: World, secret: Json, says: str) -> None:
    given = [] if secret is None else [fleet.secret("saas", secret)]
    children, outcome = _judged(world, OWN_FIRST, [A0, FIRST], *given)
    (ready,) = (each for each in outcome.conditions if each.type == "EndpointsReady")
    assert ready.reason == "PartiallyReady"
    assert "saas: the gateway refuses the route at the relay" in ready.message
    assert says in ready.message
    assert len(children["route"]["spec"]["rules"][0]["backendRefs"]) == 1
    world.serve({"a-0": EAST, "saas": SAAS})
    own = [{k: v for k, v in each.items() if k != "status"} for each in children.values()]
    bare = [{**each, "metadata": {k: each["metadata"][k] for k in ("name", "namespace", "labels")}} for each in own]
    front = [
        each
        for each in fleet.objects(OWN_FIRST, [A0, FIRST], gateway=door())
        if each["metadata"].get("namespace") != "ml-team"
    ]
    documents = [*front, *bare, *given]
    done = translation.translate(documents, world.folder)
    world.run(done, documents)
    assert {(answer.code, answer.server) for answer in world.ask_many(20)} == {(200, "a-0")}
    repaired, outcome = _judged(world, OWN_FIRST, [A0, FIRST], key_of("saas"))
    assert len(repaired["route"]["spec"]["rules"][0]["backendRefs"]) == 2
    assert not [each.message for each in outcome.conditions if each.status.value != "True"]


# --- circles ----------------------------------------------------------------------------------------------------------


def test_an_endpoint_whose_name_leads_back_to_the_gateway_ends_at_the_gateway(world: World) -> None:
    """No text shows it: the name belongs to somebody else and resolves to the gateway's address."""
    world.serve({"saas": SAAS})
    alias = routing.model_endpoint(
        "alias", "http://alias.example.net/ml-team/llama", auth={"secretRef": {"name": "saas"}}
    )
    wanted = service(routing.group(endpoint="alias"), routing.group(endpoint="saas", priority=1))
    with socket.create_server(("127.0.0.1", 0)) as door_in:
        world.ports["alias.example.net:80"] = door_in.getsockname()[1]
        world.start(wanted, [alias, FIRST], key_of("saas"))
        threading.Thread(target=_forward, args=(door_in, world.port), daemon=True).start()
        answers = [world.ask() for _ in range(10)]
    assert {answer.code for answer in answers} <= {200, 508}
    assert answers[-1].server == "saas", "the relay leaves out an endpoint that answers 508"


def _forward(accepting: socket.socket, port: int) -> None:
    with contextlib.suppress(OSError):
        while True:
            taken, _ = accepting.accept()
            given = socket.create_connection(("127.0.0.1", port))
            for source, target in ((taken, given), (given, taken)):
                threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(65536):
            target.sendall(chunk)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


# --- the example ------------------------------------------------------------------------------------------------------


def test_the_example_spills_over_with_its_own_keys(world: World, tmp_path: Path) -> None:
    """The documents of examples/spillover: callers with keys, own replicas with a limit, and a provider behind TLS."""
    read = (one for path in sorted(EXAMPLE.glob("*.yaml")) for one in yaml.safe_load_all(path.read_text()))
    found = {one["kind"]: one for one in read}
    wanted, saas, gateway = found["ModelService"], found["ModelEndpoint"], found["InferenceGateway"]
    issued = certificates.authority().issue(tmp_path / "saas", "saas")
    # What differs from the files: who signed the provider's certificate, and the status that composers give.
    saas["spec"]["tls"] = {"caCertificateRefs": [{"name": "ca"}], "sni": "localhost"}
    saas["status"] = {"backendName": saas["metadata"]["name"], "ready": True}
    wanted["metadata"]["uid"] = "6a1c1d0e-0d0c-4a52-8a6e-0a8c5f3f9b10"
    wanted["spec"]["endpoints"][0]["maxRequests"] = 2
    gateway["spec"]["relay"]["replicas"] = 1
    gateway["status"] = {"address": "203.0.113.10", "relay": {"name": relayed.RELAY}}
    authority = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "ca", "namespace": "ml-team"},
        "data": {"ca.crt": (issued / "ca.crt").read_text()},
    }
    own = routing.replica_endpoint("gpt-oss-0", "gpt-oss", model={"name": "openai/gpt-oss-120b"})
    world.serve({"gpt-oss-0": EAST})
    world.serve({"together": "api.together.xyz:443"}, issued)
    callers = fleet.secret("gpt-oss-callers", {"alice": "sk-alice"})
    world.start(wanted, [own, saas], key_of("together"), callers, authority, gateway=gateway)
    url, alice = "/ml-team/gpt-oss/v1/chat/completions", {"authorization": "Bearer sk-alice"}
    assert world.ask(path=url).code == 401
    assert {world.ask(path=url, headers=alice).server for _ in range(10)} == {"gpt-oss-0"}
    slow = {"stream": True, "pauses": [0, 2]}
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(world.ask, slow, path=url, headers=alice) for _ in range(2)]
        time.sleep(1)
        assert {world.ask(path=url, headers=alice).server for _ in range(5)} == {"together"}
        assert [each.result().code for each in running] == [200, 200]
    assert world.ask(path=url, headers=alice).server == "gpt-oss-0"
    world.upstreams["gpt-oss-0"].close()
    assert {world.ask(path=url, headers=alice).server for _ in range(5)} == {"together"}
    assert world.keys("together") == {"Bearer sk-together"}
    assert world.keys("gpt-oss-0") == {None}
