"""Every form of route that we compose is accepted by Envoy Gateway's own translator, and means what we say it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.routing import access, fleet, translation
from tests.conformance.routing.translation import Translation
from tests.support import live, routing

Json = Any

A0 = routing.replica_endpoint("a-0", "a")
A1 = routing.replica_endpoint("a-1", "a", cluster="west")
B0 = routing.replica_endpoint("b-0", "b", cluster="north")
BY_ADDRESS = routing.replica_endpoint("a-9", "a", url="http://10.0.1.50:8080")
BY_IPV6 = routing.replica_endpoint("a-6", "a", url="http://[2001:db8::1:2:3]:8000")
SAAS = routing.model_endpoint("saas", "https://api.example.com/v1", auth={"secretRef": {"name": "saas"}})
KEYED = [
    routing.model_endpoint(f"k-{n}", f"https://k-{n}.example.com", auth={"secretRef": {"name": "saas"}})
    for n in range(2)
]
OWN = routing.model_endpoint("own", "http://203.0.113.77:8000")
SIX = routing.model_endpoint("six", "http://[2001:db8::7]:8000")
HEALTH: dict[str, Json] = {"healthCheck": {"path": "/health", "interval": "2s", "timeout": "1s"}}
SECRETS = [
    fleet.secret("saas", {"credential": "Bearer sk-saas"}),
    fleet.secret("callers", {"alice": "sk-alice"}),
]


def group(deployment: str, **fields: Json) -> Json:
    return routing.group(deployment=deployment, **fields)


def one(name: str, **fields: Json) -> Json:
    return routing.group(endpoint=name, **fields)


JWT = {"jwt": {"issuer": "https://issuer.example.com", "jwksUri": "https://issuer.example.com/keys"}}
CASES: dict[str, tuple[Json, list[Json]]] = {
    "one-replica": (routing.model_service(group("a")), [A0]),
    "two-replicas": (routing.model_service(group("a")), [A0, A1]),
    "canary": (routing.model_service(group("a", weight=95), group("b", weight=5)), [A0, A1, B0]),
    "with-saas": (routing.model_service(group("a", weight=95), one("saas", weight=5)), [A0, A1, SAAS]),
    "names-and-addresses": (routing.model_service(group("a")), [A0, BY_ADDRESS, BY_IPV6]),
    "addresses-without-a-host": (routing.model_service(one("own"), one("six")), [OWN, SIX]),
    "failover-without-a-host": (routing.model_service(one("own"), one("six", priority=1)), [OWN, SIX]),
    "failover": (routing.model_service(group("a"), group("b", priority=1)), [A0, A1, B0]),
    "failover-with-health": (
        routing.model_service(group("a"), group("b", priority=1)),
        [routing.replica_endpoint("a-0", "a", **HEALTH), routing.replica_endpoint("b-0", "b", **HEALTH)],
    ),
    "failover-by-address": (
        routing.model_service(group("a"), one("a-6", priority=1)),
        [BY_ADDRESS, routing.model_endpoint("a-6", "http://[2001:db8::1:2:3]:8000", host="a-6.example.com")],
    ),
    "failover-with-one-key": (routing.model_service(one("k-0"), one("k-1", priority=1)), KEYED),
    "twenty-replicas": (
        routing.model_service(group("a")),
        [routing.replica_endpoint(f"a-{n}", "a", cluster=f"c-{n}") for n in range(20)],
    ),
    "api-keys": (routing.model_service(group("a"), auth={"apiKeys": {"secretRef": {"name": "callers"}}}), [A0]),
    "jwt": (routing.model_service(group("a"), one("saas"), auth=JWT), [A0, SAAS]),
    "rate-limit": (routing.model_service(group("a"), rateLimit={"requests": 7, "unit": "Minute"}), [A0]),
    "prefix": (routing.model_service(one("p")), [routing.model_endpoint("p", "https://p.example.com/openai/v1")]),
    **access.CASES,
    "no-retries": (routing.model_service(group("a"), retries={"attempts": 0}), [A0]),
}


def accepted(done: Translation) -> Iterator[tuple[str, str]]:
    """Yield every condition that is not as it should be, with the object it is about."""
    for (kind, name), resource in done.resources.items():
        status = resource.get("status") or {}
        holders = [*(status.get("parents") or ()), *(status.get("ancestors") or ())]
        holders += [*(status.get("listeners") or ()), status]
        for holder in holders:
            for condition in holder.get("conditions") or ():
                good = (
                    "False" if condition["type"] in {"PartiallyInvalid", "Conflicted", "RouteRulesOverlap"} else "True"
                )
                if condition["status"] != good:
                    yield f"{kind}/{name}", f"{condition['type']}: {condition['message']}"


@pytest.fixture(scope="module")
def translated(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Translation]:
    live.needs("routing", "go")
    folder = tmp_path_factory.mktemp("translation")
    return {
        name: translation.translate([*fleet.objects(service, endpoints, gateway=access.DOOR), *SECRETS], folder)
        for name, (service, endpoints) in CASES.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_every_object_is_accepted(translated: Mapping[str, Translation], name: str) -> None:
    done = translated[name]
    assert list(accepted(done)) == []
    assert ("HTTPRoute", "llama") in done.resources
    assert done.resources["HTTPRoute", "llama"]["status"]["parents"]


def action(done: Translation) -> Json:
    """Return what the service's one route does."""
    for config in done.dumped("RoutesConfigDump", "dynamicRouteConfigs", "routeConfig"):
        for host in config["virtualHosts"]:
            for route in host["routes"]:
                if "route" in route:
                    return route["route"]
    raise AssertionError("no route")


def assignment(done: Translation, cluster: str) -> Json:
    """Return the addresses of a cluster of Envoy, wherever they are told."""
    (found,) = (
        each
        for each in (
            *done.dumped("EndpointsConfigDump", "dynamicEndpointConfigs", "endpointConfig"),
            *(
                one["loadAssignment"]
                for one in done.dumped("ClustersConfigDump", "dynamicActiveClusters", "cluster")
                if "loadAssignment" in one
            ),
        )
        if each["clusterName"] == cluster
    )
    return found


@pytest.mark.parametrize(
    ("name", "want"),
    [
        pytest.param(
            "canary",
            {
                "a-0.ml-team.modelplane.internal": 19,
                "a-1.ml-team.modelplane.internal": 19,
                "b-0.ml-team.modelplane.internal": 2,
            },
            id="canary",
        ),
        pytest.param(
            "with-saas",
            {
                "a-0.ml-team.modelplane.internal": 19,
                "a-1.ml-team.modelplane.internal": 19,
                "api.example.com": 2,
            },
            id="with-saas",
        ),
    ],
)
def test_weights_and_hosts_arrive(translated: Mapping[str, Translation], name: str, want: Json) -> None:
    clusters = action(translated[name])["weightedClusters"]["clusters"]
    assert {each["hostRewriteLiteral"]: each["weight"] for each in clusters} == want


@pytest.mark.parametrize("name", CASES)
def test_a_clients_own_host_is_never_sent_on(translated: Mapping[str, Translation], name: str) -> None:
    """Behind an address stand the replicas of many tenants, and the Host chooses among them."""
    done = translated[name]
    taken = action(done)
    if taken.get("autoHostRewrite"):
        places = assignment(done, taken["cluster"])["endpoints"]
        hosts = [each["endpoint"]["hostname"] for place in places for each in place["lbEndpoints"]]
    else:
        chosen = taken.get("weightedClusters", {}).get("clusters") or [taken]
        hosts = [each["hostRewriteLiteral"] for each in chosen]
    assert hosts
    assert all(host.endswith((".ml-team.modelplane.internal", ".example.com")) for host in hosts), hosts


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("failover")] + ["twenty-replicas"])
def test_a_shared_rule_stays_one_cluster_that_sets_the_host_of_the_endpoint_it_chose(
    translated: Mapping[str, Translation], name: str
) -> None:
    done = translated[name]
    taken = action(done)
    assert "cluster" in taken, "several clusters would ignore health and priority"
    assert taken["autoHostRewrite"] is True
    places = assignment(done, taken["cluster"])["endpoints"]
    hosts = [each["endpoint"].get("hostname") for place in places for each in place["lbEndpoints"]]
    assert all(hosts), "each endpoint has the host that it is asked for"
    levels = {place.get("priority", 0) for place in places}
    assert levels == ({0, 1} if name.startswith("failover") else {0})


@pytest.mark.parametrize("name", CASES)
def test_no_stream_is_cut_by_a_default(translated: Mapping[str, Translation], name: str) -> None:
    taken = action(translated[name])
    assert (taken["timeout"], taken["idleTimeout"]) == ("0s", "3600s")
    for cluster in translated[name].dumped("ClustersConfigDump", "dynamicActiveClusters", "cluster"):
        if cluster["name"].startswith("httproute/"):
            assert cluster["perConnectionBufferLimitBytes"] == 32 * 1024 * 1024
            assert cluster["circuitBreakers"]["thresholds"][0]["maxRequests"] == 65536


@pytest.mark.parametrize("name", CASES)
def test_no_request_is_hedged(translated: Mapping[str, Translation], name: str) -> None:
    said = [key for config in translated[name].configs for key in keys(config)]
    assert "routes" in said
    assert not [key for key in said if "hedge" in key.lower()]


@pytest.mark.parametrize("locality", [None, {}], ids=["one-rule", "a-rule-for-each-place"])
def test_what_all_proxies_count_is_counted_once_for_all_rules_of_a_route(tmp_path: Path, locality: Json) -> None:
    live.needs("routing", "go")
    door = routing.inference_gateway(rateLimit={"redis": {"url": "redis.example.com:6379"}})
    door["status"]["rateLimit"] = {"ready": True}
    limit = {
        "per": "Client",
        "requests": 7,
        "unit": "Minute",
        "countedBy": "Gateway",
        "clients": [{"names": ["b.tch"], "requests": 70}],
    }
    spec: dict[str, Json] = {"auth": {"apiKeys": {"secretRef": {"name": "callers"}}}, "rateLimit": limit}
    if locality is not None:
        spec["locality"] = locality
    service = routing.model_service(access.A, **spec)
    done = translation.translate([*fleet.objects(service, [*access.EU, *access.US], gateway=door), *SECRETS], tmp_path)
    assert list(accepted(done)) == []
    domains = [
        (name, each["domain"], len(each["rateLimits"]))
        for config in done.configs
        for name, each in per_route(config)
        if name.startswith("envoy.filters.http.ratelimit")
    ]
    assert len(domains) == (1 if locality is None else 3)
    assert len(set(domains)) == 1
    assert domains[0][2] == 2, "one for every client, and one for those with another limit"


def per_route(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the settings of filters that routes have, by the name of the filter."""
    if isinstance(value, dict):
        yield from (value.get("typedPerFilterConfig") or {}).items()
        for each in value.values():
            yield from per_route(each)
    elif isinstance(value, list):
        for each in value:
            yield from per_route(each)


def keys(value: Json) -> Iterator[str]:
    """Yield every key of a configuration."""
    if isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from keys(each)
    elif isinstance(value, list):
        for each in value:
            yield from keys(each)


def test_a_path_rewrite_inside_a_backend_ref_is_what_the_translator_refuses(tmp_path: Path) -> None:
    """The reason for our rule. If this fails, the gateway has learnt it and the table of features can grow."""
    live.needs("routing", "go")
    documents = fleet.objects(*CASES["two-replicas"])
    route = next(document for document in documents if document["kind"] == "HTTPRoute")
    rewrite = {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/other"}}
    route["spec"]["rules"][0]["backendRefs"][0]["filters"] = [{"type": "URLRewrite", "urlRewrite": rewrite}]
    done = translation.translate(documents, tmp_path)
    assert any("path modifier is not supported" in problem for _, problem in accepted(done))
    parents = done.resources["HTTPRoute", "llama"]["status"]["parents"]
    assert {each["type"]: each["status"] for each in parents[0]["conditions"]}["Accepted"] == "True"
