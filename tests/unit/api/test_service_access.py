"""Access and choice of endpoints of a ModelService as it is read where no API server has refused anything."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import gateway as gateways
from modelplane.api import service as services
from modelplane.errors import InvalidInput
from modelplane.routing.access import AddressSource
from modelplane.routing.balancing import Affinity, AffinityType, Balancing, Ejection, Locality
from modelplane.routing.model import Service
from tests.support import routing

Json = Any
KEYS = {"apiKeys": {"secretRef": {"name": "k"}, "header": "x-api-key"}}
JWT = {"jwt": {"issuer": "https://i.example", "jwksUri": "https://i.example/k"}}
LIMIT = {"requests": 1, "unit": "Hour"}


def decoded(**spec: Json) -> Service:
    return services.decode(routing.model_service(routing.group(deployment="a"), **spec))


def test_nothing_is_chosen_for_a_service_that_asks_for_nothing() -> None:
    service = decoded()
    assert (service.balancing, service.clients, service.cors, service.max_request_size) == (Balancing(), None, None, "")


def test_a_field_without_a_value_has_a_default_that_helps() -> None:
    service = decoded(locality={}, affinity={}, ejection={})
    assert service.balancing == Balancing(Affinity(), Locality(), "", Ejection())
    assert decoded(slowStart={}).balancing.slow_start == "60s"
    assert decoded(affinity={"type": "ClientAddress"}).balancing.affinity == Affinity(AffinityType.CLIENT_ADDRESS)


@pytest.mark.parametrize(
    ("spec", "at", "says"),
    [
        pytest.param({"rateLimit": {**LIMIT, "per": "Client"}}, "spec.rateLimit.per", "needs spec.auth", id="who"),
        pytest.param({"rateLimit": {**LIMIT, "tokens": 0}}, "spec.rateLimit.tokens", "at least 1", id="no-tokens"),
        pytest.param({"clients": {}}, "spec.clients", "must have a network", id="no-network"),
        pytest.param(
            {"clients": {"allowedCIDRs": ["10.0.0.1/8"]}},
            "spec.clients.allowedCIDRs[0]",
            "write 10.0.0.0/8",
            id="host-bits",
        ),
        pytest.param(
            {"clients": {"allowedCIDRs": ["all"]}}, "spec.clients.allowedCIDRs[0]", "not a network", id="word"
        ),
        pytest.param(
            {"clients": {"allowedCIDRs": ["10.1.0.0/16"], "deniedCIDRs": ["10.0.0.0/8"]}},
            "spec.clients",
            "can never call",
            id="inside",
        ),
        pytest.param(
            {"clients": {"allowedCIDRs": ["10.0.0.0/24"], "deniedCIDRs": ["10.0.0.0/25", "10.0.0.128/25"]}},
            "spec.clients",
            "can never call",
            id="two-halves",
        ),
        pytest.param(
            {"clients": {"deniedCIDRs": ["0.0.0.0/1", "128.0.0.0/1"]}}, "spec.clients", "every address", id="nobody"
        ),
        pytest.param({"cors": {}}, "spec.cors.allowOrigins", "at least one", id="no-origin"),
        pytest.param(
            {"cors": {"allowOrigins": ["a.example"]}}, "spec.cors.allowOrigins[0]", "not an origin", id="origin"
        ),
        pytest.param(
            {"cors": {"allowOrigins": ["*"], "allowCredentials": True}},
            "spec.cors.allowCredentials",
            "write the origins",
            id="cookies",
        ),
        pytest.param(
            {"cors": {"allowOrigins": ["*"], "allowMethods": ["get"]}},
            "spec.cors.allowMethods[0]",
            "method",
            id="method",
        ),
        pytest.param({"maxRequestSize": "0Mi"}, "spec.maxRequestSize", "from 1Ki to 256Mi", id="size-0"),
        pytest.param({"maxRequestSize": "1Gi"}, "spec.maxRequestSize", "from 1Ki to 256Mi", id="size-large"),
        pytest.param(
            {"locality": {"topologyKey": "zone"}}, "spec.locality.topologyKey", "must be modelplane.ai/region", id="key"
        ),
        pytest.param(
            {"locality": {"header": "x-envoy-a"}}, "spec.locality.header", "of your own", id="locality-header"
        ),
        pytest.param({"affinity": {"header": "a b"}}, "spec.affinity.header", "not a header name", id="no-header"),
        pytest.param(
            {"affinity": {"header": "X-Api-Key"}, "auth": KEYS}, "spec.affinity.header", "removes", id="by-key"
        ),
        pytest.param(
            {"affinity": {"header": "authorization"}, "auth": JWT}, "spec.affinity.header", "removes", id="by-token"
        ),
        pytest.param({"affinity": {"type": "Cookie"}}, "spec.affinity.type", "not one of", id="type"),
        pytest.param({"affinity": {}, "slowStart": {}}, "spec.slowStart", "no effect with affinity", id="both"),
        pytest.param({"slowStart": {"window": "0h0m"}}, "spec.slowStart.window", "longer than 0s", id="window"),
        pytest.param({"ejection": {"interval": "0s"}}, "spec.ejection.interval", "longer than 0s", id="interval"),
        pytest.param(
            {"ejection": {"maxEjectionPercent": 101}}, "spec.ejection.maxEjectionPercent", "at most 100", id="percent"
        ),
    ],
)
def test_what_is_wrong_is_refused_at_its_field(spec: Json, at: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        decoded(**spec)
    assert at in str(refused.value)
    assert says in str(refused.value)


def test_a_denied_network_inside_an_allowed_one_is_an_exception_and_the_families_are_apart() -> None:
    networks = {"allowedCIDRs": ["10.0.0.0/8", "2001:db8::/32"], "deniedCIDRs": ["10.9.0.0/16", "2001:db8:1::/48"]}
    clients = decoded(clients=networks).clients
    assert clients is not None
    assert [str(each) for each in clients.denied] == ["10.9.0.0/16", "2001:db8:1::/48"]
    assert decoded(clients={"allowedCIDRs": ["10.0.0.0/8"], "deniedCIDRs": ["2000::/3"]}).clients is not None


@pytest.mark.parametrize(
    ("named", "want"),
    [
        pytest.param(None, ("Authorization", "Content-Type", "x-api-key"), id="default"),
        pytest.param(["X-API-KEY"], ("X-API-KEY",), id="named"),
        pytest.param(["*"], ("*",), id="all"),
    ],
)
def test_a_page_may_always_send_the_header_of_its_key(named: list[str] | None, want: tuple[str, ...]) -> None:
    cors = decoded(auth=KEYS, cors={"allowOrigins": ["*"], **({"allowHeaders": named} if named else {})}).cors
    assert cors is not None
    assert cors.headers == want


def test_a_gateway_says_from_where_it_knows_addresses() -> None:
    assert gateways.decode(routing.inference_gateway()).client_addresses is None
    door = gateways.decode(routing.inference_gateway(clients={"addressFrom": "XForwardedFor", "trustedHops": 2}))
    assert door.client_addresses is not None
    assert (door.client_addresses.source, door.client_addresses.trusted_hops) == (AddressSource.X_FORWARDED_FOR, 2)
    with pytest.raises(InvalidInput, match="counts proxies"):
        gateways.decode(routing.inference_gateway(clients={"addressFrom": "Connection", "trustedHops": 2}))
