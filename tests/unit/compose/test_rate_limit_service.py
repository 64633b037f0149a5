"""The rate limit service of an InferenceGateway, and services whose limits it counts: what is asked before what."""

from __future__ import annotations

import re
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane_functions.compose import inference_gateway
from modelplane_functions.exchange import Observed, Outcome, Ready, Truth
from tests.support import ai, routing

Json = Any
REDIS = {"url": "redis.redis-system.svc:6379"}
KEYS = {"apiKeys": {"secretRef": {"name": "keys"}}}
GROUP = routing.group(deployment="llama")
BUDGETS = [{"namespace": routing.NAMESPACE, "tokens": 1000, "unit": "Month"}]
REFUSED = routing.condition(
    "Accepted", is_true=False, reason="Invalid", message="enable Ratelimit in the EnvoyGateway config"
)


class Running:
    """A gateway, applied until nothing changes; `knows` says whether its Envoy Gateway has a rate limit service."""

    def __init__(self, *, knows: bool = True, **spec: Json) -> None:
        self.knows = knows
        given = {"type": "EnvoyAI", "gateway": {"hostname": ai.HOSTNAME}, "rateLimit": {"redis": REDIS}, **spec}
        self.document = routing.inference_gateway(address="", **given)
        self.children: dict[str, Json] = {}

    def settle(self) -> Outcome:
        for _ in range(8):
            outcome = inference_gateway.compose(Observed(self.document, self.children))
            children = routing.observed(outcome)
            if not self.knows and "rate-limit-policy" in children:
                ancestor = {"ancestorRef": {"name": "default"}, "conditions": [REFUSED]}
                children["rate-limit-policy"]["status"] = {"ancestors": [ancestor]}
            is_at_rest = children == self.children
            self.children, self.document["status"] = children, dict(outcome.status)
            if is_at_rest:
                return outcome
        raise AssertionError("the gateway does not come to rest")

    @property
    def configuration(self) -> Json:
        return self.children["envoy-gateway"]["spec"]["forProvider"]["values"]["config"]["envoyGateway"]


def told(outcome: Outcome, kind: str = "RateLimit") -> Any:
    return next((each for each in outcome.conditions if each.type == kind), None)


def test_a_gateway_without_the_field_has_nothing_of_it() -> None:
    running = Running(rateLimit=None)
    outcome = running.settle()
    assert told(outcome) is None
    assert "rate-limit-policy" not in outcome.children
    assert "rateLimit" not in outcome.status
    assert not running.configuration.keys() & {"rateLimit", "provider"}
    assert "TokenRateLimit" not in outcome.status["features"]


def test_envoy_gateway_is_configured_and_asked() -> None:
    running = Running(
        rateLimit={
            "redis": {
                **REDIS,
                "passwordSecretRef": {"name": "redis", "key": "password"},
                "tls": {"certificateRef": {"name": "own"}, "authorityRef": {"name": "theirs"}},
            },
            "whenUnavailable": "Deny",
            "replicas": 3,
        }
    )
    outcome = running.settle()
    assert outcome.ready is Ready.TRUE
    assert (told(outcome).status, told(outcome).reason) == (Truth.TRUE, "Configured")
    assert "answered with 500" in told(outcome).message
    assert outcome.status["rateLimit"] == {"ready": True}
    assert {"TokenRateLimit", "RateLimitOverAllProxies"} <= set(outcome.status["features"])
    limit = running.configuration["rateLimit"]
    assert limit["backend"]["redis"]["tls"]["certificateRef"]["name"] == "own"
    assert (limit["failClosed"], limit["timeout"]) == (True, "250ms")
    deployment = running.configuration["provider"]["kubernetes"]["rateLimitDeployment"]
    assert deployment["replicas"] == 3
    reference = {"secretKeyRef": {"name": "redis", "key": "password"}}
    assert deployment["container"]["env"][0] == {"name": "REDIS_AUTH", "valueFrom": reference}
    assert deployment["pod"]["volumes"][0]["secret"] == {"secretName": "theirs"}
    assert running.configuration["extensionManager"], "the AI gateway is still asked"


@pytest.mark.parametrize(
    ("tls", "environment"),
    [
        pytest.param({}, [{"name": "REDIS_TLS", "value": "true"}], id="authorities-of-the-image"),
        pytest.param(
            {"authorityRef": {"name": "ca"}},
            [
                {"name": "REDIS_TLS", "value": "true"},
                {"name": "REDIS_TLS_CACERT", "value": "/redis-authority/ca.crt"},
            ],
            id="authority",
        ),
    ],
)
def test_tls_without_a_certificate_of_ones_own_asks_envoy_gateway_for_no_mount_of_it(
    tls: Json, environment: Json
) -> None:
    running = Running(rateLimit={"redis": {**REDIS, "tls": tls}})
    running.settle()
    assert running.configuration["rateLimit"]["backend"]["redis"] == REDIS
    deployment = running.configuration["provider"]["kubernetes"]["rateLimitDeployment"]
    assert deployment["container"]["env"] == environment


@pytest.mark.parametrize(
    ("url", "configured"),
    [
        ("redis.redis-system.svc:6379", "redis.redis-system.svc:6379"),
        ("10.0.0.5:6379", "redis://10.0.0.5:6379"),
        ("4cache.example.com:6379", "redis://4cache.example.com:6379"),
    ],
)
def test_envoy_gateway_gets_redis_in_a_form_with_which_it_starts(url: str, configured: str) -> None:
    running = Running(rateLimit={"redis": {"url": url}})
    outcome = running.settle()
    assert running.configuration["rateLimit"]["backend"]["redis"] == {"url": configured}
    assert f"Redis at {url}" in told(outcome).message


@pytest.mark.parametrize("port", [0, 65536, 99999])
def test_a_port_that_no_redis_has_is_refused(port: int) -> None:
    document = routing.inference_gateway(rateLimit={"redis": {"url": f"redis.redis-system.svc:{port}"}})
    with pytest.raises(InvalidInput, match="HOST:PORT"):
        inference_gateway.compose(Observed(document, {}))


def test_an_envoy_gateway_without_the_service_is_told_and_nothing_else_changes() -> None:
    running = Running(knows=False, envoyGateway={"install": False}, aiGateway={"install": False})
    outcome = running.settle()
    assert outcome.ready is Ready.TRUE
    assert (told(outcome).status, told(outcome).reason) == (Truth.FALSE, "RateLimitServiceMissing")
    assert "enable Ratelimit" in told(outcome).message
    assert outcome.status["rateLimit"] == {"ready": False}
    assert "TokenRateLimit" not in outcome.status["features"]


def test_what_was_ready_stays_ready_while_the_verdict_blinks() -> None:
    running = Running()
    running.settle()
    running.children["rate-limit-policy"]["status"] = {}
    blinked = inference_gateway.compose(Observed(running.document, running.children))
    assert blinked.status["rateLimit"] == {"ready": True}
    assert told(blinked).status is Truth.UNKNOWN
    del running.children["rate-limit-policy"]
    assert inference_gateway.compose(Observed(running.document, running.children)).status["rateLimit"]["ready"] is True


def test_the_service_of_a_release_outlives_the_field() -> None:
    """Routes with limits that it counts would answer 500 without it."""
    running = Running()
    running.settle()
    before = running.configuration
    del running.document["spec"]["rateLimit"]
    outcome = running.settle()
    assert running.configuration == before
    assert told(outcome).reason == "Kept"
    assert "rateLimit" not in outcome.status


def test_budgets_are_told_apart_by_the_hosts_of_a_namespace() -> None:
    grants = {"hosts": [{"host": "chat.example.org", "namespaces": ["ml-team"]}]}
    running = Running(gateway={"hostname": ai.HOSTNAME, **grants}, rateLimit={"redis": REDIS, "namespaces": BUDGETS})
    running.settle()
    early = running.children["client-policy"]["spec"]["headers"]["earlyRequestHeaders"]
    (told_by,) = early["set"]
    assert told_by["name"] == "x-modelplane-namespace"
    hosts = "(?i)^(([^.]+[.])?ml-team[.]models[.]example[.]com|chat[.]example[.]org)(:.*)?$"
    assert told_by["value"] == f"%CEL(request.host.matches('{hosts}') ? 'ml-team' : '-')%"
    (rule,) = running.children["rate-limit-policy"]["spec"]["rateLimit"]["global"]["rules"]
    assert rule["shared"] is True
    assert rule["limit"] == {"requests": 1000, "unit": "Month"}


@pytest.mark.parametrize("end", ["", ":80", ":", ":x", ":+80", ":1:+2"])
def test_no_port_that_envoy_ignores_makes_the_host_of_a_namespace_that_of_nobody(end: str) -> None:
    running = Running(rateLimit={"redis": REDIS, "namespaces": BUDGETS})
    running.settle()
    (told_by,) = running.children["client-policy"]["spec"]["headers"]["earlyRequestHeaders"]["set"]
    pattern = told_by["value"].partition("matches('")[2].partition("')")[0]
    assert re.search(pattern, f"Chat.ml-team.{ai.HOSTNAME.removeprefix('*.')}{end}")
    assert not re.search(pattern, f"ml-team.{ai.HOSTNAME.removeprefix('*.')}.example.org{end}")


def test_more_namespaces_than_the_expression_holds_are_refused_and_what_runs_stays() -> None:
    running = Running()
    before = running.settle()
    running.document["spec"]["rateLimit"]["namespaces"] = [
        {"namespace": f"namespace-with-a-long-name-{n:02}", "tokens": 1, "unit": "Day"} for n in range(64)
    ]
    outcome = inference_gateway.compose(Observed(running.document, running.children))
    assert told(outcome, "Accepted").reason == "TooManyBudgets"
    assert outcome.children.keys() == before.children.keys()


# --- services ---------------------------------------------------------------------------------------------------------


def service(*, ready: bool = True, gateway: Json = None, **spec: Json) -> ai.Running:
    limit = {"redis": REDIS, **(gateway or {})}
    made = ai.gateway(rateLimit=limit)
    made["status"]["rateLimit"] = {"ready": ready}
    endpoint = routing.replica_endpoint("llama-0", "llama", url="http://east.example.com", model={"name": "llama-3"})
    return ai.Running(GROUP, store=[made, endpoint], **spec)


def policy(running: ai.Running) -> Json:
    (found,) = running.of_kind("BackendTrafficPolicy")
    return found["spec"]


def test_a_limit_of_tokens_waits_for_the_service_and_the_route_stays() -> None:
    running = service(ready=False, auth=KEYS)
    running.settle()
    before = running.route
    running.service["spec"]["rateLimit"] = {"tokens": 1000, "unit": "Minute", "per": "Client"}
    outcome = running.compose()
    refused = told(outcome, "Accepted")
    assert (refused.status, refused.reason) == (Truth.FALSE, "RateLimitServiceMissing")
    assert "spec.rateLimit of the InferenceGateway" in refused.message
    assert running.route == before
    running.store[0]["status"]["rateLimit"]["ready"] = True
    assert running.settle().ready is Ready.TRUE
    assert running.route["llmRequestCosts"] == [{"metadataKey": "modelplane_tokens", "type": "TotalToken"}]
    (rule,) = policy(running)["rateLimit"]["global"]["rules"]
    assert rule["limit"] == {"requests": 1000, "unit": "Minute"}
    assert rule["cost"]["request"] == {"from": "Number", "number": 0}


def test_the_name_of_a_client_goes_on_only_where_its_tokens_are_counted() -> None:
    running = service(auth=KEYS)
    running.settle()
    removed = running.route["rules"][0]["backendRefs"][0]["headerMutation"]["remove"]
    assert removed == ["authorization", "x-modelplane-client"]
    running.service["spec"]["rateLimit"] = {"requests": 9, "unit": "Hour", "per": "Client", "countedBy": "Gateway"}
    running.settle()
    assert running.route["rules"][0]["backendRefs"][0]["headerMutation"]["remove"] == removed
    running.service["spec"]["rateLimit"] = {"tokens": 9, "unit": "Hour", "per": "Client"}
    running.settle()
    assert running.route["rules"][0]["backendRefs"][0]["headerMutation"]["remove"] == ["authorization"]


def test_the_budget_of_a_namespace_enters_its_services_and_leaves_them() -> None:
    running = service(gateway={"namespaces": BUDGETS})
    running.settle()
    assert policy(running)["mergeType"] == "StrategicMerge"
    assert running.route["llmRequestCosts"]
    running.store[0]["spec"]["rateLimit"]["namespaces"] = [{**BUDGETS[0], "namespace": "other"}]
    running.settle()
    assert "mergeType" not in policy(running)
    assert "llmRequestCosts" not in running.route


def test_a_service_that_is_refused_or_has_no_endpoint_escapes_no_budget() -> None:
    """Its route is kept, and its author could keep it so for as long as he likes."""
    running = service()
    running.settle()
    before = policy(running), running.route
    running.store[0]["spec"]["rateLimit"]["namespaces"] = BUDGETS
    running.service["spec"]["cors"] = {"allowOrigins": ["https://app.example"]}
    outcome = running.settle()
    assert told(outcome, "Accepted").reason == "NotOffered"
    counted = policy(running), running.route
    assert counted[0] == before[0] | {"mergeType": "StrategicMerge"}
    assert counted[1]["llmRequestCosts"]
    assert counted[1]["rules"] == before[1]["rules"]
    running.store[0]["status"]["rateLimit"] = {}
    running.settle()
    assert (policy(running), running.route) == counted

    running = service()
    running.settle()
    running.store[0]["spec"]["rateLimit"]["namespaces"] = BUDGETS
    running.store[1]["status"]["ready"] = False
    outcome = running.settle()
    assert told(outcome, "EndpointsReady").reason == "NoReadyEndpoints"
    assert (policy(running), running.route) == counted


def test_the_name_of_a_client_is_taken_from_a_token_once() -> None:
    jwt = {"issuer": "https://i.example", "jwksUri": "https://i.example/keys"}
    running = service(auth={"jwt": jwt}, rateLimit={"tokens": 9, "unit": "Hour", "per": "Client"})
    running.settle()
    (found,) = running.of_kind("SecurityPolicy")
    claims = found["spec"]["jwt"]["providers"][0]["claimToHeaders"]
    assert claims == [{"claim": "sub", "header": "x-modelplane-client"}]


@pytest.mark.parametrize("spec", [{}, {"rateLimit": {"tokens": 9, "unit": "Hour"}}], ids=["budget", "limit"])
def test_a_status_that_says_nothing_takes_no_limit_away(spec: Json) -> None:
    running = service(gateway={"namespaces": BUDGETS}, **spec)
    running.settle()
    before = policy(running), running.route
    del running.store[0]["status"]["rateLimit"]
    assert running.settle().ready is Ready.TRUE
    assert (policy(running), running.route) == before


def test_type_envoy_counts_requests_together_and_refuses_tokens() -> None:
    from tests.support.serving import Running as Envoy  # noqa: PLC0415 - the other type has a world of its own

    running = Envoy(auth=KEYS)
    running.store[0] = routing.inference_gateway(rateLimit={"redis": REDIS})
    running.store[0]["status"]["rateLimit"] = {"ready": True}
    running.service["spec"]["rateLimit"] = {"requests": 9, "unit": "Hour", "per": "Client", "countedBy": "Gateway"}
    assert running.settle().ready is Ready.TRUE
    limit = running.children["traffic-policy"]["spec"]["rateLimit"]
    assert limit["global"]["rules"][0]["limit"] == {"requests": 9, "unit": "Hour"}
    running.service["spec"]["rateLimit"] = {"tokens": 9, "unit": "Hour"}
    assert told(running.compose(), "Accepted").reason == "TokenLimitNotOffered"


def test_an_envoy_gateway_that_counts_otherwise_is_refused_at_the_field() -> None:
    """v1.8 has no unit Week, and calls the rate limit service for the shared limits of all listeners at each."""
    document = routing.inference_gateway(rateLimit={"redis": REDIS}, envoyGateway={"version": "v1.8.1"})
    with pytest.raises(InvalidInput, match=r"spec.rateLimit: needs Envoy Gateway v1.9.0 or later"):
        inference_gateway.compose(Observed(document, {}))


def test_budgets_on_type_envoy_are_refused_at_the_field() -> None:
    document = routing.inference_gateway(rateLimit={"redis": REDIS, "namespaces": BUDGETS})
    with pytest.raises(InvalidInput, match="does not count"):
        inference_gateway.compose(Observed(document, {}))
