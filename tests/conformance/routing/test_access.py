"""Who may call, from where, how often and how much, asked of a real Envoy; and what clients should not try."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.routing import access, fleet, proxy, translation
from tests.conformance.routing.test_traffic import CHAT
from tests.conformance.routing.worlds import KEY, Door, conditions, key
from tests.support import live, routing

Json = Any
A0 = routing.replica_endpoint("a-0", "a")
A = routing.group(deployment="a")
ALICE = fleet.secret("callers", {"alice": "sk-alice"})
BOTH = fleet.secret("callers", {"alice": "sk-alice", "bob": "sk-bob"})
CHAT_OF_HOST = "/v1/chat/completions"
PER_CLIENT = {"requests": 3, "unit": "Hour", "per": "Client"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Door]:
    live.needs("routing", "go")
    made = Door(tmp_path)
    yield made
    made.close()


def start(world: Door, *secrets: Json, **spec: Json) -> Json:
    world.serve("a-0")
    service = routing.model_service(A, **spec)
    world.start(service, [A0], *secrets)
    return service


# --- limits -----------------------------------------------------------------------------------------------------------


def test_each_key_has_a_limit_of_its_own_and_its_name_reaches_no_endpoint(world: Door) -> None:
    start(world, BOTH, auth=access.KEYS, rateLimit=PER_CLIENT)
    assert [world.ask(headers=KEY).code for _ in range(5)] == [200, 200, 200, 429, 429]
    assert [world.ask(headers=key("sk-bob")).code for _ in range(4)] == [200, 200, 200, 429]
    for seen in world.upstreams["a-0"].seen:
        assert not {"x-modelplane-client", "authorization"} & seen.headers.keys()


def test_nobody_takes_another_name_to_pass_a_limit(world: Door) -> None:
    start(world, BOTH, auth=access.KEYS, rateLimit=PER_CLIENT)
    forged = [("x-modelplane-client", f"name-{n}") for n in range(6)]
    codes = [world.raw(CHAT, [*KEY.items(), each, each]).code for each in forged]
    assert codes == [200, 200, 200, 429, 429, 429]


def test_a_request_that_is_too_large_is_refused_before_an_endpoint_sees_it(world: Door) -> None:
    start(world, maxRequestSize="64Ki")
    assert world.ask({"prompt": "x" * 60 * 1024}).code == 200
    assert world.ask({"prompt": "x" * 70 * 1024}).code == 413
    assert len(world.upstreams["a-0"].seen) == 1


def test_without_a_limit_a_request_of_any_size_passes(world: Door) -> None:
    start(world)
    assert world.ask({"prompt": "x" * 40 * 1024 * 1024}).code == 200, "larger than any buffer"


# --- keys -------------------------------------------------------------------------------------------------------------


def test_keys_rotate_without_a_refused_request(world: Door) -> None:
    """The second is added, clients change over, the first is removed."""
    service = start(world, ALICE, auth=access.KEYS)
    rotating = fleet.secret("callers", {"alice": "sk-alice", "alice-2": "sk-new"})
    rotated = fleet.secret("callers", {"alice-2": "sk-new"})
    assert world.envoy is not None
    asking, codes, stop = ["sk-alice"], [], threading.Event()

    def keep_asking() -> None:
        while not stop.is_set():
            codes.append(world.ask(headers=key(asking[0])).code)

    worker = threading.Thread(target=keep_asking)
    worker.start()
    for secret, used in ((rotating, "sk-new"), (rotated, "sk-new")):
        world.envoy.route(world.translate(service, [A0], secret))
        until(lambda: world.ask(headers=key("sk-new")).code == 200)
        asking[0] = used
    until(lambda: world.ask(headers=KEY).code == 401)
    stop.set()
    worker.join(30)
    assert set(codes) == {200}
    assert len(codes) > 20


@pytest.mark.parametrize(
    ("secrets", "accepted", "code"),
    [
        pytest.param([], ("False", "secret ml-team/callers does not exist"), 500, id="missing"),
        pytest.param([fleet.secret("callers", {})], ("True", ""), 401, id="empty"),
        pytest.param([fleet.secret("callers", {"a": "k", "b": "k"})], ("False", "duplicated API key"), 500, id="twice"),
    ],
)
def test_a_secret_that_is_wrong_lets_nobody_in_and_the_gateway_says_so(
    world: Door, secrets: list[Json], accepted: tuple[str, str], code: int
) -> None:
    service = start(world, *secrets, auth=access.KEYS)
    status, message = conditions(world.translate(service, [A0], *secrets), "SecurityPolicy", "llama")["Accepted"]
    assert (status, accepted[1] in message) == (accepted[0], True), message
    for sent in ({}, KEY, key("k"), key("")):
        assert world.ask(headers=sent).code == code
    assert world.upstreams["a-0"].seen == []


def test_a_key_stands_in_no_log_and_no_metric(world: Door) -> None:
    start(world, BOTH, auth=access.KEYS, rateLimit=PER_CLIENT)
    for sent in ("sk-alice", "sk-bob", "sk-mallory"):
        world.ask(headers=key(sent))
    answer = world.ask(headers=key("sk-mallory"))
    assert "sk-" not in answer.body.decode() + str(answer.headers)
    said = world.told()
    assert "sk-" not in said
    assert "alice" not in said, "nor who calls"


# --- networks ---------------------------------------------------------------------------------------------------------

NETWORKS = {"allowedCIDRs": ["10.0.0.0/8", "2001:db8::/32"], "deniedCIDRs": ["10.9.0.0/16"]}


@pytest.mark.parametrize(
    ("forwarded", "code"),
    [
        pytest.param("10.1.2.3", 200, id="allowed"),
        pytest.param("2001:db8::7", 200, id="allowed-ipv6"),
        pytest.param("10.9.2.3", 403, id="denied-inside-allowed"),
        pytest.param("192.0.2.1", 403, id="elsewhere"),
        pytest.param("10.1.2.3, 192.0.2.1", 403, id="what-the-client-wrote-itself-is-not-believed"),
        pytest.param("192.0.2.1, 10.1.2.3", 200, id="the-last-is-what-our-proxy-wrote"),
        pytest.param("", 403, id="none"),
        pytest.param("not-an-address", 403, id="nonsense"),
    ],
)
def test_networks_behind_a_proxy(world: Door, forwarded: str, code: int) -> None:
    world.door = routing.inference_gateway(clients={"addressFrom": "XForwardedFor"})
    start(world, clients=NETWORKS)
    assert world.ask(headers={"x-forwarded-for": forwarded} if forwarded else {}).code == code


@pytest.mark.parametrize(("network", "code"), [("127.0.0.0/8", 200), ("10.0.0.0/8", 403)])
def test_networks_of_connections_and_a_header_changes_nothing(world: Door, network: str, code: int) -> None:
    start(world, clients={"allowedCIDRs": [network]})
    for forged in ("10.1.2.3", "192.0.2.1", "127.0.0.1"):
        assert world.ask(headers={"x-forwarded-for": forged, "x-real-ip": forged}).code == code


# --- pages ------------------------------------------------------------------------------------------------------------

PREFLIGHT = [("access-control-request-method", "POST"), ("access-control-request-headers", "authorization")]


def test_a_browser_asks_without_a_key_and_calls_with_one(world: Door) -> None:
    start(world, ALICE, auth=access.KEYS, cors={"allowOrigins": ["https://app.example", "https://*.dev.example"]})
    for origin in ("https://app.example", "https://a.dev.example"):
        asked = world.raw(CHAT, [("origin", origin), *PREFLIGHT], method="OPTIONS", body=b"")
        assert asked.code == 200
        assert asked.headers["access-control-allow-origin"] == origin
        assert "authorization" in asked.headers["access-control-allow-headers"].lower()
        assert world.ask(headers={"origin": origin}).code == 401
        called = world.ask(headers={"origin": origin, **KEY})
        assert (called.code, called.headers["access-control-allow-origin"]) == (200, origin)
    stranger = world.raw(CHAT, [("origin", "https://evil.example"), *PREFLIGHT], method="OPTIONS", body=b"")
    assert "access-control-allow-origin" not in stranger.headers, "so its browser sends nothing"
    assert len(world.upstreams["a-0"].seen) == 2


# --- tricks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/ml-team/llama/../../other/llama/v1/models",
        "/ml-team/llama/..%2f..%2fother/llama/v1/models",
        "/ml-team/llama/%2e%2e/%2e%2e/other/llama/v1/models",
        "/ml-team/llama\\..\\..\\other\\llama",
        "//other//llama/v1/models",
        "/other/llama/../../ml-team/nobody/v1/models",
        "/ML-TEAM/llama/v1/models",
    ],
)
def test_a_path_leads_out_of_no_service(world: Door, path: str) -> None:
    start(world)
    answer = world.raw(path, [])
    assert answer.code in {400, 404, 307}, "refused, unknown, or sent to the plain form of the same path"
    assert world.upstreams["a-0"].seen == []


def test_a_path_that_comes_back_is_the_plain_one_for_everybody(world: Door) -> None:
    """A path that leads in is judged as what it is, by the key and by the endpoint alike."""
    start(world, ALICE, auth=access.KEYS)
    path = "/other/../ml-team/./llama//v1/models"
    assert world.raw(path, []).code == 401
    assert world.raw(path, list(KEY.items())).code == 200
    assert [seen.path for seen in world.upstreams["a-0"].seen] == ["/v1/models"]


def test_headers_that_steer_inside_a_cluster_reach_none(world: Door) -> None:
    start(world)
    tricks = [
        ("x-gateway-destination-endpoint", "10.0.0.1:80"),
        ("x-prefiller-host-port", "169.254.169.254:80"),
        ("X-Prefiller-Url", "http://10.0.0.1"),
        ("x-modelplane-client", "alice"),
        ("x-data-parallel-host-port", "10.0.0.1:80"),
    ]
    assert world.raw(CHAT, [*tricks, *tricks]).code == 200
    (seen,) = world.upstreams["a-0"].seen
    assert not {name.lower() for name, _ in tricks} & seen.headers.keys()


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param([("x_prefiller_host_port", "10.0.0.1:80")], id="underscores"),
        pytest.param([("transfer-encoding", "chunked")], id="two-lengths"),
    ],
)
def test_a_request_that_can_be_read_in_two_ways_is_refused(world: Door, headers: list[tuple[str, str]]) -> None:
    start(world)
    assert world.raw(CHAT, headers).code == 400
    assert world.upstreams["a-0"].seen == []


def test_of_two_hosts_none_reaches_an_endpoint(world: Door) -> None:
    start(world)
    world.raw(CHAT, [("host", "a-1.other.modelplane.internal"), ("host", "a.example")])
    assert {seen.headers["host"] for seen in world.upstreams["a-0"].seen} <= {"a-0.ml-team.modelplane.internal"}


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param([("authorization", "Bearer sk-mallory"), *KEY.items()], id="wrong-first"),
        pytest.param([*KEY.items(), ("authorization", "Bearer sk-mallory")], id="right-first"),
    ],
)
def test_of_two_keys_none_reaches_an_endpoint(world: Door, sent: list[tuple[str, str]]) -> None:
    start(world, ALICE, auth=access.KEYS)
    world.raw(CHAT, sent)
    assert all("authorization" not in seen.headers for seen in world.upstreams["a-0"].seen)


def test_a_client_cannot_ask_envoy_to_send_its_request_twice(world: Door) -> None:
    start(world, retries={"attempts": 0})
    world.upstreams["a-0"].fail_with = 500
    asked = [
        ("x-envoy-retry-on", "5xx"),
        ("x-envoy-max-retries", "3"),
        ("x-envoy-hedge-on-per-try-timeout", "true"),
        ("x-envoy-upstream-rq-per-try-timeout-ms", "1"),
    ]
    assert world.raw(CHAT, asked).code == 500
    assert len(world.upstreams["a-0"].seen) == 1


# --- two services of one host -----------------------------------------------------------------------------------------


def test_two_services_of_one_host_are_both_told(tmp_path: Path) -> None:
    live.needs("routing", "go")
    door = routing.inference_gateway(gateway={"hostname": "models.example"})
    one, two = (routing.model_service(A, name=name, host="chat.ml-team.models.example") for name in ("one", "two"))
    documents = fleet.objects(one, [A0], gateway=door)
    documents += [each for each in fleet.objects(two, [A0], gateway=door) if each["metadata"]["name"] == "two"]
    done = translation.translate(documents, tmp_path)
    for name, other in (("one", "two"), ("two", "one")):
        status, message = conditions(done, "HTTPRoute", name)["RouteRulesOverlap"]
        assert (status, other in message) == ("True", True), message


def test_of_two_namespaces_with_a_host_one_route_answers_all_requests(world: Door) -> None:
    """What an upgrade finds: no request reaches the second route, so it may go.

    Envoy Gateway v1.9.0 sorts routes by age, namespace and name (internal/gatewayapi/resource/resource.go), as the
    record of a host does. This translator drops the age of what it reads, so the namespace decides here.
    """
    host = "chat.example.com"
    made: dict[str, list[Json]] = {}
    for name, namespace in (("east", "ml-team"), ("west", "other")):
        world.door = routing.inference_gateway(gateway={"hosts": [{"host": host, "namespaces": [namespace]}]})
        endpoint = routing.replica_endpoint(f"{name}-0", name, cluster=name, namespace=namespace)
        service = routing.model_service(routing.group(deployment=name), name=name, namespace=namespace, host=host)
        made[namespace] = fleet.objects(service, [endpoint], gateway=world.door)
    theirs = [one for one in made["ml-team"] if one["metadata"].get("namespace") == "ml-team"]
    ports = world.serve_replicas("east", "west")
    done = translation.translate([*made["other"], *theirs], world.folder)
    world.envoy = proxy.Envoy(done, world.folder, ports=ports, secrets={})
    for asked in (host, "CHAT.Example.com", f"{host}:80"):
        assert world.raw(CHAT_OF_HOST, [("host", asked)]).code == 200, asked
    assert world.raw(CHAT_OF_HOST, [("host", f"{host}.")]).code == 404, "another name to Envoy"
    seen = {name: len(upstream.seen) for name, upstream in world.upstreams.items()}
    assert seen == {"east": 3, "west": 0}


def until(is_so: Any) -> None:
    for _ in range(200):
        if is_so():
            return
        threading.Event().wait(0.05)
    raise AssertionError("it never came to be so")
