"""Limits that all proxies count together: tokens, budgets and requests, with the real rate limit service and Redis."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from modelplane.render import limits
from modelplane.routing.limits import Limiter as Wanted
from modelplane.routing.limits import Redis
from modelplane_functions.exchange import Truth
from tests.conformance.aigateway import limiter, world
from tests.conformance.aigateway.limiter import Limiter
from tests.conformance.aigateway.providers import COMPLETION_TOKENS, PROMPT_TOKENS
from tests.conformance.aigateway.proxy import Proxy
from tests.conformance.aigateway.test_traffic import CHAT, KEYS, SERVERS, Fleet
from tests.conformance.aigateway.world import World
from tests.conformance.routing import fleet
from tests.e2e import envoy_gateway
from tests.support import ai, installation, kubeapi, live, routing

Json = Any
TOKENS = PROMPT_TOKENS + COMPLETION_TOKENS
CLIENTS = ("alice", "bob", "carol", "batch")
GROUP = routing.group(deployment="llama")
BUDGET = 5 * TOKENS
_LEARNS_SECONDS = 40


@dataclass(frozen=True)
class Answer:
    """What a client gets."""

    code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def left(self) -> int:
        """Return what is left of the limit that is nearest, as the gateway says; -1 if it says nothing."""
        return int(self.headers.get("x-ratelimit-remaining", -1))


class Limited(Fleet):
    """The world with a rate limit service, two proxies, and servers behind them."""

    def __init__(self, made: World, service: Limiter) -> None:
        super().__init__(made)
        self.limiter = service
        self.proxies: list[Proxy] = []

    def call(self, model: str, host: str, *, client: str = "", **body: Json) -> Answer:
        """Ask with the key of a client."""
        message = {"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}], **body}
        given = {"content-type": "application/json", "host": host}
        if client:
            given["authorization"] = f"Bearer {client}s-key"
        connection = http.client.HTTPConnection("127.0.0.1", self.world.port, timeout=30)
        try:
            connection.request("POST", CHAT, json.dumps(message), given)
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, headers, answer.read())
        finally:
            connection.close()

    def serve(self, name: str, **spec: Json) -> str:
        """Compose a service and return its host."""
        outcome = self.world.serve(routing.model_service(GROUP, name=name, **spec))
        return str(outcome.status["url"]).partition("://")[2].partition(":")[0]

    @staticmethod
    def told(proxy: Proxy, name: str) -> int:
        """Return what a proxy counts of the answers of the rate limit service."""
        pattern = rf"^envoy_cluster_ai_rule_0_ratelimit_{name}\{{.*\}} ([0-9]+)$"
        return sum(map(int, re.findall(pattern, proxy.statistics(), re.MULTILINE)))

    def known(self, model: str, host: str, *, client: str = "") -> None:
        """Ask until both proxies answer: one that does not know the model yet answers 404, its processor 500."""

        def is_known() -> bool:
            self.world.keep()
            return [self.call(model, host, client=client).code for _ in range(12)] == [200] * 12

        kubeapi.until(is_known, seconds=_LEARNS_SECONDS, what=f"{model} to be answered by both proxies")

    def counts(self, model: str, host: str, *, client: str = "") -> None:
        """Ask until both proxies count tokens: what an answer cost is missing in what is left."""
        seen = [self.call(model, host, client=client).left]

        def is_counted() -> bool:
            self.world.keep()
            before = self.call(model, host, client=client).left
            answers = [self.call(model, host, client=client).left for _ in range(6)]
            seen[:] = [before, *answers]
            return 0 <= answers[-1] <= before - 5 * TOKENS

        kubeapi.until(is_counted, seconds=_LEARNS_SECONDS, what=f"tokens of {model} to be counted, last {seen}")


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    live.needs("aigateway", "go", limiter.REDIS)
    with world.started(tmp_path_factory.mktemp("limits")) as plane:
        service = Limiter(plane)
        installation.namespace(plane, envoy_gateway.NAMESPACE)
        service.own()
        made = Limited(World(plane), service)
        made.world.gateway["spec"]["rateLimit"] = {
            "redis": {"url": service.url},
            "namespaces": [
                {"namespace": "other", "tokens": 1_000_000, "unit": "Month"},
                {"namespace": "team-a", "tokens": BUDGET, "unit": "Month"},
            ],
        }
        settings = limits.settings(Wanted(Redis(service.url)))
        made.world.install(**settings)
        service.start()
        made.world.put(
            fleet.secret("keys", {name: f"{name}s-key" for name in CLIENTS}),
            fleet.secret("keys", {name: f"{name}s-key" for name in CLIENTS}, namespace="team-a"),
            routing.replica_endpoint("llama-0", "llama", url=made.url("east"), model={"name": "llama-3"}),
            routing.replica_endpoint("llama-1", "llama", url=made.url("west"), namespace="team-a"),
            routing.replica_endpoint("llama-2", "llama", url=made.url("other"), namespace="other"),
        )
        made.world.serve(routing.model_service(GROUP, name="plain"))
        names = [*(f"{name}.example.com" for name in SERVERS), limiter.HOST]
        made.world.open(names)
        assert made.world.proxy is not None
        made.proxies = [made.world.proxy, made.world.open_another(names)]
        made.learned("plain")
        yield made
        for server in made.servers.values():
            server.close()


@pytest.fixture(autouse=True)
def within_an_hour() -> None:
    """Do not begin in the last minute of an hour, in which counts begin anew."""
    if (rest := 3600 - time.time() % 3600) < 60:
        time.sleep(rest)


def test_the_gateway_says_that_limits_are_counted(limited: Limited) -> None:
    outcome = limited.world.compose(limited.world.gateway)
    (told,) = (each for each in outcome.conditions if each.type == "RateLimit")
    assert (told.status, told.reason) == (Truth.TRUE, "Configured")
    assert outcome.status["rateLimit"] == {"ready": True}
    assert {"TokenRateLimit", "RateLimitOverAllProxies"} <= set(outcome.status["features"])


def test_the_request_after_the_one_that_reached_the_limit_is_refused_for_its_client_alone(limited: Limited) -> None:
    budgets = [{"tokens": 400, "unit": "Day"}]
    other = {"names": ["batch"], "budgets": [{"tokens": 1_000_000, "unit": "Day"}]}
    host = limited.serve("metered", auth=KEYS, rateLimit={"per": "Client", "budgets": budgets, "clients": [other]})
    limited.counts("metered", host, client="carol")
    codes = [limited.call("metered", host, client="alice").code for _ in range(34)]
    # The count is written after the answer, so that the next request may be a moment too early.
    time.sleep(1)
    refused = limited.call("metered", host, client="alice")
    assert codes[:33] == [200] * 33, "32 answers use 384 tokens"
    assert refused.code == 429
    assert refused.headers["x-ratelimit-limit"].startswith("400, 400;w=86400")
    assert refused.left == 0
    assert (refused.body, "retry-after" in refused.headers) == (b"", False), "as the page says"
    assert 0 < int(refused.headers["x-ratelimit-reset"]) <= 86400
    assert limited.call("metered", host, client="bob").left == 400
    answer = limited.call("metered", host, client="batch")
    assert (answer.code, answer.headers["x-ratelimit-limit"][:7]) == (200, "1000000")
    assert limited.seen("east").headers["x-modelplane-client"] == "batch", "the count needs it when the answer ends"


def test_two_proxies_have_one_count(limited: Limited) -> None:
    asks = {"names": ["carol"], "requests": 100_000}
    limit = {"per": "Client", "requests": 20, "unit": "Hour", "countedBy": "Gateway", "clients": [asks]}
    host = limited.serve("counted", auth=KEYS, rateLimit=limit)
    limited.known("counted", host, client="carol")
    codes = [limited.call("counted", host, client="alice").code for _ in range(30)]
    assert codes == [200] * 20 + [429] * 10
    for proxy in limited.proxies:
        assert limited.told(proxy, "ok") > 0, "both have asked"
    assert limited.call("counted", host, client="bob").code == 200
    assert "x-modelplane-client" not in limited.seen("east").headers


def test_a_stream_uses_what_it_says_at_its_end(limited: Limited) -> None:
    host = limited.serve("streamed", rateLimit={"tokens": 100_000, "unit": "Hour"})
    limited.counts("streamed", host)
    time.sleep(1)
    before = limited.call("streamed", host).left
    answer = limited.call("streamed", host, stream=True, pauses=[0.1, 0.1])
    assert answer.code == 200
    time.sleep(1)
    assert limited.call("streamed", host).left == before - 2 * TOKENS


def test_a_budget_is_used_by_all_services_of_its_namespace_and_no_other(limited: Limited) -> None:
    """One has a host of its own and a limit that each proxy counts; a host in capitals is the same host."""
    own = {"rateLimit": {"requests": 100_000, "unit": "Hour"}}
    guarded = limited.serve("guarded", namespace="team-a", auth=KEYS, **own)
    shared = limited.serve("open", namespace="team-a")
    theirs = limited.serve("open", namespace="other")
    limited.counts("open", theirs)
    limited.known("open", theirs)
    limited.known("plain", ai.HOST)
    codes = []

    def is_used() -> bool:
        limited.world.keep()
        codes.extend(
            [
                limited.call("guarded", guarded, client="alice").code,
                limited.call("open", shared.upper()).code,
            ]
        )
        time.sleep(0.3)
        return codes[-2:] == [429, 429]

    kubeapi.until(is_used, seconds=_LEARNS_SECONDS, what=f"the budget to be used, last {codes}")
    for port in (str(limited.world.port), "", "x", "+80"):
        # Envoy ignores what follows the colon when it looks for a route.
        assert limited.call("open", f"{shared}:{port}").code == 429
    assert limited.call("open", theirs).code == 200
    assert limited.call("plain", ai.HOST).code == 200
    assert limited.call("open", f"{shared}.").code in {404, 429}
    assert limited.seen("west").headers["x-modelplane-namespace"] == "team-a"
    assert limited.seen("east").headers["x-modelplane-namespace"] == "-"


def test_a_client_cannot_say_that_it_is_another_or_of_another_namespace(limited: Limited) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", limited.world.port, timeout=30)
    body = json.dumps({"model": "open", "messages": [{"role": "user", "content": "x"}]})
    given = {"host": "team-a.models.example.com", "x-modelplane-namespace": "other", "x-modelplane-client": "mallory"}
    connection.request("POST", CHAT, body, {"content-type": "application/json", **given})
    assert connection.getresponse().status == 429
    connection.close()


def test_while_redis_is_away_requests_pass_and_then_they_are_counted_again(limited: Limited) -> None:
    many = {"requests": 1000, "unit": "Hour", "countedBy": "Gateway"}
    host = limited.serve("patient", rateLimit=many)
    limited.known("patient", host)
    # What was counted stays: the limit is reached by what was used before.
    limited.serve("patient", rateLimit={**many, "requests": 3})

    def answers(code: int) -> None:
        kubeapi.until(
            lambda: limited.call("patient", host).code == code, seconds=_LEARNS_SECONDS, what=f"{code} of patient"
        )

    answers(429)
    assert limited.limiter.redis is not None
    limited.limiter.redis.stop()
    answers(200)
    assert [limited.call("patient", host).code for _ in range(6)] == [200] * 6
    limited.limiter.start_redis()
    # Redis has forgotten what was counted.
    assert limited.call("patient", host).code == 200
    answers(429)


def test_the_proxies_count_what_was_refused_and_what_nobody_could_count(limited: Limited) -> None:
    for name in ("over_limit", "ok", "error", "failure_mode_allowed"):
        assert sum(limited.told(proxy, name) for proxy in limited.proxies) > 0, name


def test_no_key_of_a_client_is_in_redis_or_a_log(limited: Limited) -> None:
    folder = limited.world.plane.folder
    logs = [path for path in folder.glob("*.log") if "kube-apiserver" not in path.name and "etcd" not in path.name]
    assert len(logs) > 5
    for path in logs:
        assert "s-key" not in path.read_text(errors="replace"), path.name
