"""Real requests: the model chooses the service, providers differ in path, key, model and API, namespaces never meet."""

from __future__ import annotations

import copy
import http.client
import json
import re
import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conformance.aigateway import world
from tests.conformance.aigateway.providers import COMPLETION_TOKENS, PROMPT_TOKENS, Provider
from tests.conformance.aigateway.world import World
from tests.conformance.routing import fleet
from tests.support import ai, certificates, kubeapi, live, routing

Json = Any
CHAT, MESSAGES, MODELS = "/v1/chat/completions", "/v1/messages", "/v1/models"
SERVERS = ("east", "west", "together", "claude", "other", "spare")
SAAS = ("api.together.xyz", "api.anthropic.com")
OTHER_HOST = "other.models.example.com"
KEYS = {"apiKeys": {"secretRef": {"name": "keys"}}}
# The processors read their configuration every five seconds.
LEARNS_SECONDS = 30


@dataclass
class Answer:
    """What a client gets."""

    code: int
    body: bytes

    @property
    def json(self) -> Json:
        return json.loads(self.body)

    @property
    def server(self) -> str:
        """Return the name of the server that answered, in whatever API."""
        found = self.json
        if found.get("type") == "message":
            return str(found["content"][0]["text"])
        return str(found["choices"][0]["message"]["content"])


class Fleet:
    """The world with servers behind it."""

    def __init__(self, made: World) -> None:
        self.world = made
        self.servers = {name: Provider(name) for name in SERVERS}

    def url(self, name: str, prefix: str = "") -> str:
        return f"http://{name}.example.com:{self.servers[name].port}{prefix}"

    def ask(
        self,
        model: str = "llama",
        *,
        path: str = CHAT,
        host: str = ai.HOST,
        headers: Mapping[str, str] | None = None,
        **body: Json,
    ) -> Answer:
        message = {"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}], **body}
        method, payload = ("GET", None) if path == MODELS else ("POST", json.dumps(message))
        connection = http.client.HTTPConnection("127.0.0.1", self.world.port, timeout=30)
        try:
            given = {"content-type": "application/json", "host": host, **(headers or {})}
            connection.request(method, path, payload, given)
            answer = connection.getresponse()
            return Answer(answer.status, answer.read())
        finally:
            connection.close()

    def learned(self, model: str = "llama", *, code: int = 200, **asked: Json) -> Answer:
        """Ask until this is answered: what was composed has reached Envoy and the processor."""
        last: list[Answer] = []

        def is_answered() -> bool:
            last[:] = [self.ask(model, **asked)]
            self.world.keep()
            return last[0].code == code

        kubeapi.until(is_answered, seconds=LEARNS_SECONDS, what=f"{code} for {model}, last {last}")
        return last[0]

    def seen(self, name: str) -> Any:
        """Return the last request that a server got."""
        return self.servers[name].seen[-1]

    def total(self) -> int:
        return sum(len(server.seen) for server in self.servers.values())


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    live.needs("aigateway", "go")
    with world.started(tmp_path_factory.mktemp("ai")) as plane:
        made = Fleet(World(plane))
        made.world.install()
        made.world.put(
            fleet.secret("together-key", {"apiKey": "sk-together", "credential": "Bearer sk-together"}),
            fleet.secret("claude-key", {"apiKey": "sk-claude"}),
            fleet.secret("keys", {"alice": "alices-key"}),
            routing.replica_endpoint("llama-0", "llama", url=made.url("east"), model={"name": "llama-3"}),
            routing.replica_endpoint("llama-1", "llama", url=made.url("west"), model={"name": "llama-3"}),
            ai.provider("together", url=made.url("together", "/openai")),
            ai.provider("claude", url=made.url("claude"), header="x-api-key", api=["Anthropic"]),
            routing.model_endpoint("theirs", made.url("other"), namespace="other"),
        )
        made.world.serve(
            routing.model_service(routing.group(deployment="llama"), routing.group(endpoint="together", priority=1))
        )
        made.world.serve(routing.model_service(routing.group(endpoint="theirs"), namespace="other"))
        made.world.open([*(f"{name}.example.com" for name in SERVERS), *SAAS])
        made.learned()
        made.learned(host=OTHER_HOST)
        yield made
        for server in made.servers.values():
            server.close()


@pytest.fixture(autouse=True)
def in_order(running: Fleet) -> Iterator[None]:
    yield
    for server in running.servers.values():
        server.fail_with = 0


def test_the_model_chooses_the_service_and_replicas_are_asked_by_their_own_host(running: Fleet) -> None:
    answered = Counter(running.ask().server for _ in range(20))
    assert set(answered) == {"east", "west"}
    request = running.seen("east")
    assert request.path == CHAT
    assert request.headers["host"] == "llama-0.ml-team.modelplane.internal"
    assert running.ask().json["model"] == "llama-3", "the name that the replicas serve"


def test_an_unknown_model_or_path_reaches_nobody(running: Fleet) -> None:
    before = running.total()
    assert running.ask("unknown").code == 404
    assert running.ask(path="/metrics").code == 404
    assert running.ask(host="stranger.example.com").code == 404
    assert running.total() == before


def test_models_lists_those_of_the_namespace_alone(running: Fleet) -> None:
    running.world.serve(routing.model_service(routing.group(endpoint="together"), name="big"))
    running.learned("big")
    listed = {each["id"]: each["owned_by"] for each in running.ask(path=MODELS).json["data"]}
    assert listed == {"llama": "ml-team", "big": "ml-team"}
    (theirs,) = running.ask(path=MODELS, host=OTHER_HOST).json["data"]
    assert (theirs["id"], theirs["owned_by"]) == ("llama", "other")


def test_the_same_model_name_of_two_namespaces_is_two_services(running: Fleet) -> None:
    assert running.ask(host=OTHER_HOST).server == "other"
    assert running.ask().server in {"east", "west"}


@pytest.mark.parametrize("header", ["x-ai-eg-model", "X-AI-EG-Model"])
def test_a_header_of_the_client_chooses_nothing(running: Fleet, header: str) -> None:
    assert running.ask("llama", headers={header: "big"}).server in {"east", "west"}
    assert running.ask("unknown", headers={header: "llama"}).code == 404
    assert running.ask("big", host=OTHER_HOST, headers={header: "llama"}).code == 404


def test_a_standby_is_asked_under_its_own_path_with_its_own_key_and_model(running: Fleet) -> None:
    for name in ("east", "west"):
        running.servers[name].fail_with = 503
    answer = running.ask(headers={"authorization": "Bearer of-the-client"})
    assert (answer.code, answer.server, answer.json["model"]) == (200, "together", "together-model")
    request = running.seen("together")
    assert request.path == "/openai/v1/chat/completions"
    assert request.headers["host"] == "together.example.com"
    assert request.headers["authorization"] == "Bearer sk-together"


def test_a_key_is_sent_to_its_own_provider_alone(running: Fleet) -> None:
    assert running.ask("big").server == "together"
    assert running.ask().server in {"east", "west"}
    for name in ("east", "west", "other"):
        assert not any("sk-" in value for request in running.servers[name].seen for value in request.headers.values())


def test_streams_pass_as_they_come(running: Fleet) -> None:
    begun = time.monotonic()
    answer = running.ask(stream=True, pauses=[0.2, 0.2, 0.2])
    assert answer.code == 200
    assert answer.body.count(b"data: ") == 4
    assert time.monotonic() - begun > 0.5


def test_a_client_of_one_api_is_answered_by_endpoints_of_the_other(running: Fleet) -> None:
    answer = running.ask(path=MESSAGES)
    assert (answer.code, answer.json["type"], answer.server in {"east", "west"}) == (200, "message", True)
    request = running.seen(answer.server)
    assert request.path == CHAT


def test_the_anthropic_api_fails_over_to_a_provider_that_has_it(running: Fleet) -> None:
    running.world.serve(
        routing.model_service(
            routing.group(deployment="llama"), routing.group(endpoint="claude", priority=1), name="helper"
        )
    )
    running.learned("helper", path=MESSAGES)
    for name in ("east", "west"):
        running.servers[name].fail_with = 503
    answer = running.learned("helper", path=MESSAGES)
    assert (answer.server, answer.json["model"]) == ("claude", "claude-model")
    request = running.seen("claude")
    assert (request.path, request.headers["x-api-key"]) == (MESSAGES, "sk-claude")


def test_weights_are_kept_across_providers(running: Fleet) -> None:
    running.world.put(routing.model_endpoint("spare", running.url("spare")))
    running.world.serve(
        routing.model_service(
            routing.group(endpoint="together", weight=90), routing.group(endpoint="spare", weight=10), name="split"
        )
    )
    running.learned("split")
    answered = Counter(running.ask("split").server for _ in range(300))
    assert 8 <= answered["spare"] <= 60, answered


@pytest.fixture(scope="module")
def saas(running: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Provider]]:
    """The providers of the example, with TLS, by their host."""
    issued = certificates.authority().issue(tmp_path_factory.mktemp("saas"), "saas")
    ca = {"metadata": {"name": "ca", "namespace": "team-a"}, "data": {"ca.crt": (issued / "ca.crt").read_text()}}
    running.world.put({"apiVersion": "v1", "kind": "ConfigMap", **ca})
    servers = {host: Provider(host, certificate=issued) for host in SAAS}
    yield servers
    for server in servers.values():
        server.close()


def test_the_example_serves_as_it_says(running: Fleet, saas: Mapping[str, Provider]) -> None:
    """As it is written, but for the ports and the authority of its providers, and with servers for its replicas."""
    namespace = "team-a"
    for document in world.EXAMPLE["ModelEndpoint"]:
        endpoint = copy.deepcopy(document)
        host = next(host for host in saas if host in endpoint["spec"]["url"])
        endpoint["spec"]["url"] = endpoint["spec"]["url"].replace(host, f"{host}:{saas[host].port}")
        endpoint["spec"]["tls"] = {"caCertificateRefs": [{"name": "ca"}], "sni": "localhost"}
        name = endpoint["metadata"]["name"]
        running.world.put({**endpoint, "status": {"ready": True, "backendName": name}})
    (deployment,) = world.EXAMPLE["ModelDeployment"]
    model = {"name": deployment["spec"]["model"]["name"]}
    running.world.put(
        *(
            routing.replica_endpoint(f"qwen-{n}", "qwen", url=running.url(name), namespace=namespace, model=model)
            for n, name in enumerate(("east", "west"))
        ),
        fleet.secret("together-key", {"apiKey": "sk-together"}, namespace=namespace),
        fleet.secret("anthropic-key", {"apiKey": "sk-anthropic"}, namespace=namespace),
        fleet.secret("client-keys", {"bob": "bobs-key"}, namespace=namespace),
    )
    qwen, claude = (running.world.serve(document).status for document in world.EXAMPLE["ModelService"])
    host = f"{namespace}.models.example.com"
    assert (_host(qwen["url"]), qwen["model"]) == (host, "qwen")
    assert running.learned("qwen", host=host).json["model"] == model["name"]
    for name in ("east", "west"):
        running.servers[name].fail_with = 503
    answer = running.learned("qwen", host=host)
    assert answer.server == "api.together.xyz"
    asked = saas["api.together.xyz"].seen[-1]
    assert (asked.path, asked.headers["authorization"]) == (CHAT, "Bearer sk-together")
    key = {"authorization": "Bearer bobs-key"}
    own = _host(claude["url"])
    assert running.learned("claude", host=own, path=MESSAGES, headers=key).server == "api.anthropic.com"
    assert saas["api.anthropic.com"].seen[-1].headers["x-api-key"] == "sk-anthropic"
    assert running.ask("claude", host=own, path=MESSAGES).code == 401
    assert running.ask("claude", host=host, path=MESSAGES, headers=key).code == 404


# --- callers ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(running: Fleet) -> str:
    """Return the host of a service that checks its callers; it has a provider without a key and one with."""
    document = routing.model_service(
        routing.group(deployment="llama"), routing.group(endpoint="together", priority=1), name="guarded", auth=KEYS
    )
    outcome = running.world.serve(document)
    host = _host(outcome.status["url"])
    assert host == f"guarded.{ai.HOST}"
    running.learned("guarded", host=host, headers={"authorization": "Bearer alices-key"})
    return host


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="none"),
        pytest.param({"authorization": "Bearer wrong"}, id="wrong"),
        pytest.param({"x-ai-eg-model": "guarded"}, id="model-header"),
        pytest.param({"x-modelplane-client": "alice"}, id="client-header"),
    ],
)
def test_a_caller_without_a_key_reaches_nobody(running: Fleet, guarded: str, headers: Mapping[str, str]) -> None:
    before = running.total()
    assert running.ask("guarded", host=guarded, headers=headers).code == 401
    assert running.ask("llama", host=guarded, headers=headers).code == 401
    assert running.ask(path=MODELS, host=guarded, headers=headers).code == 401
    assert running.ask("guarded", headers=headers).code == 404, "the host of the namespace does not know it"
    assert running.total() == before


def test_a_callers_key_reaches_no_endpoint_on_the_first_attempt_or_the_second(running: Fleet, guarded: str) -> None:
    key = {"authorization": "Bearer alices-key"}
    first = running.ask("guarded", host=guarded, headers=key).server
    assert "authorization" not in running.seen(first).headers
    assert "x-modelplane-client" not in running.seen(first).headers
    for name in ("east", "west"):
        running.servers[name].fail_with = 503
    assert running.ask("guarded", host=guarded, headers=key).server == "together"
    assert running.seen("together").headers["authorization"] == "Bearer sk-together"


def test_tokens_are_counted_by_service_and_client(running: Fleet, guarded: str) -> None:
    running.ask("guarded", host=guarded, headers={"authorization": "Bearer alices-key"})
    running.ask(headers={"x-modelplane-client": "mallory", "x-modelplane-service": "other/llama"})
    proxy = running.world.proxy
    assert proxy is not None

    def found(service: str, client: str) -> dict[str, float]:
        lines = [
            line
            for line in proxy.tokens().splitlines()
            if line.startswith("gen_ai_client_token_usage_sum")
            and f'modelplane_service="{service}"' in line
            and (f'modelplane_client="{client}"' in line if client else "modelplane_client" not in line)
        ]
        return {re.search(r'gen_ai_token_type="(\w+)"', line)[1]: float(line.split()[-1]) for line in lines}  # type: ignore[index]

    alice = found("ml-team/guarded", "alice")
    assert alice["input"] % PROMPT_TOKENS == 0 < alice["input"]
    assert alice["output"] % COMPLETION_TOKENS == 0 < alice["output"]
    assert found("ml-team/llama", "")
    assert "mallory" not in proxy.tokens()


# --- what breaks, and for whom ----------------------------------------------------------------------------------------


def test_a_missing_secret_breaks_its_own_provider_alone(running: Fleet) -> None:
    running.world.put(ai.provider("keyless", url=running.url("spare")))
    running.world.serve(routing.model_service(routing.group(endpoint="keyless"), name="keyless"))
    before = len(running.servers["spare"].seen)
    running.learned("keyless", code=500)
    assert len(running.servers["spare"].seen) == before, "nothing is sent without the key"
    assert running.ask().code == 200
    running.world.put(fleet.secret("keyless-key", {"apiKey": "sk-late"}))
    running.learned("keyless")
    assert running.seen("spare").headers["authorization"] == "Bearer sk-late"


def test_an_envoy_gateway_without_a_rate_limit_service_says_so_and_serves_on(running: Fleet) -> None:
    """A route with a limit that nobody counts would answer 500."""
    gateway = running.world.gateway
    gateway["spec"]["rateLimit"] = {"redis": {"url": "redis.example.com:6379"}}
    running.world.put(gateway)

    def refused() -> bool:
        outcome = running.world.compose(gateway, steps=1)
        return any((each.type, each.reason) == ("RateLimit", "RateLimitServiceMissing") for each in outcome.conditions)

    try:
        kubeapi.until(refused, seconds=LEARNS_SECONDS, what="the gateway to say that it cannot count")
        document = routing.model_service(routing.group(deployment="llama"), rateLimit={"tokens": 9, "unit": "Hour"})
        running.world.put(document)
        outcome = running.world.compose(document, steps=1)
        (accepted,) = (each for each in outcome.conditions if each.type == "Accepted")
        assert accepted.reason == "RateLimitServiceMissing"
        assert [running.ask().code for _ in range(5)] == [200] * 5
    finally:
        del gateway["spec"]["rateLimit"]
        running.world.put(gateway)
        running.world.compose(gateway)
        running.world.serve(
            routing.model_service(routing.group(deployment="llama"), routing.group(endpoint="together", priority=1))
        )


def test_a_group_that_is_drained_and_comes_back_loses_no_request(running: Fleet) -> None:
    """Its provider keeps its place, by which the processors know providers."""
    document = routing.model_service(
        routing.group(deployment="llama"), routing.group(endpoint="together"), name="drained"
    )
    running.world.serve(document)
    running.learned("drained")
    for weight in (0, 1):
        document["spec"]["endpoints"][0]["weight"] = weight
        running.world.serve(document)
        end = time.monotonic() + 6
        while time.monotonic() < end:
            assert running.ask("drained").code == 200
            running.world.keep()
    assert {running.ask("drained").server for _ in range(30)} == {"east", "west", "together"}


def test_a_standby_alone_serves_while_the_first_level_is_empty(running: Fleet) -> None:
    document = routing.model_service(
        routing.group(deployment="llama", weight=0), routing.group(endpoint="together", priority=7), name="standby"
    )
    running.world.serve(document)
    assert running.learned("standby").server == "together"


def test_replicas_with_addresses_are_told_apart_by_their_host(running: Fleet) -> None:
    address = _own_address()
    if not address:
        pytest.skip("this machine has no address besides loopback ones, which Envoy Gateway refuses")
    servers = [Provider(f"address-{n}", address=address) for n in (0, 1)]
    running.world.put(
        *(
            routing.replica_endpoint(f"addressed-{n}", "addressed", url=f"http://{address}:{server.port}")
            for n, server in enumerate(servers)
        )
    )
    running.world.serve(routing.model_service(routing.group(deployment="addressed"), name="addressed"))
    running.learned("addressed")
    assert {running.ask("addressed").server for _ in range(30)} == {"address-0", "address-1"}
    for n, server in enumerate(servers):
        assert server.seen[-1].headers["host"] == f"addressed-{n}.ml-team.modelplane.internal"
        server.close()


def _host(url: str) -> str:
    return re.sub(r"^http://|:\d+$", "", url)


def _own_address() -> str:
    """Return an address of this machine that is not its loopback, empty if it has none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        return str(one.getsockname()[0])
