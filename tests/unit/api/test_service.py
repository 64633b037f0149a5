"""ModelService and InferenceGateway: reading them."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import gateway, service
from modelplane.errors import InvalidInput, Unsupported
from modelplane.labels import LabelExpression, LabelOperator, LabelSelector
from modelplane.routing.features import GatewayType
from modelplane.routing.limits import Amounts, RateLimit
from modelplane.routing.model import ApiKeys, Jwt, Retries, Timeouts
from modelplane.routing.url import AddressKind, Place
from tests.support import routing

Json = Any
GROUP = routing.group(deployment="llama")


def test_defaults_do_not_cut_streams_and_retry_nothing_twice() -> None:
    plain = service.decode(routing.model_service(GROUP))
    assert plain.timeouts == Timeouts("0s", "3600s")
    assert plain.retries == Retries(2, ("connect-failure",), (503,))
    assert (plain.groups[0].weight, plain.groups[0].priority) == (1, 0)
    assert (plain.path, plain.auth, plain.rate_limit) == ("/ml-team/llama", None, None)


def test_a_host_takes_the_place_of_the_path() -> None:
    assert service.decode(routing.model_service(GROUP, host="x.example")).path == "/"


def test_all_fields() -> None:
    wanted = service.decode(
        routing.model_service(
            GROUP,
            timeouts={"request": "10m", "idle": "60s"},
            retries={"attempts": 1, "on": ["503", "reset-before-request", "429"]},
            rateLimit={"requests": 5, "unit": "Minute"},
            auth={"jwt": {"issuer": "https://i", "jwksUri": "https://i.example/keys?p=1", "audiences": ["b", "a"]}},
        )
    )
    assert wanted.timeouts == Timeouts("10m", "60s")
    assert wanted.retries == Retries(1, ("reset-before-request",), (429, 503))
    assert wanted.rate_limit == RateLimit(Amounts("Minute", 5))
    assert wanted.auth == Jwt(
        "https://i", "https://i.example/keys?p=1", Place(AddressKind.FQDN, "i.example"), ("a", "b")
    )
    keys = service.decode(routing.model_service(GROUP, auth={"apiKeys": {"secretRef": {"name": "k"}}}))
    assert keys.auth == ApiKeys("k", "Authorization")


LABELS = {"tier": "gold", "region": "eu"}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        pytest.param({"matchLabels": {"tier": "gold"}}, True, id="label"),
        pytest.param({"matchLabels": {"tier": "gold", "x": "y"}}, False, id="all-labels"),
        pytest.param({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold"]}]}, True, id="in"),
        pytest.param(
            {"matchExpressions": [{"key": "no", "operator": "In", "values": ["gold"]}]}, False, id="in-absent"
        ),
        pytest.param({"matchExpressions": [{"key": "no", "operator": "NotIn", "values": ["x"]}]}, True, id="not-in"),
        pytest.param({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["gold"]}]}, False, id="out"),
        pytest.param({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}, True, id="exists"),
        pytest.param({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}, False, id="absent"),
        pytest.param(
            {"matchLabels": {"region": "eu"}, "matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
            False,
            id="both-must-hold",
        ),
    ],
)
def test_selectors_mean_what_they_mean_to_kubernetes(selector: Json, matches: bool) -> None:  # noqa: FBT001 - a table's column
    wanted = service.decode(routing.model_service({"selector": selector}))
    assert wanted.groups[0].selector.matches(LABELS) is matches


def test_equal_selectors_have_equal_text_whatever_their_order() -> None:
    one = LabelSelector(
        (("a", "1"), ("b", "2")),
        (LabelExpression("c", LabelOperator.IN, ("x", "y")), LabelExpression("d", LabelOperator.EXISTS)),
    )
    document = {
        "matchExpressions": [{"key": "d", "operator": "Exists"}, {"key": "c", "operator": "In", "values": ["y", "x"]}],
        "matchLabels": {"b": "2", "a": "1"},
    }
    decoded = service.decode(routing.model_service({"selector": document})).groups[0].selector
    assert decoded == one
    assert decoded.text() == "a=1,b=2,c in (x,y),d"


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        pytest.param({"endpoints": []}, "spec.endpoints", id="no-groups"),
        pytest.param({"endpoints": [{}]}, "spec.endpoints[0].selector", id="no-selector"),
        pytest.param({"endpoints": [{"selector": {"matchLabels": {}}}]}, "spec.endpoints[0].selector", id="empty"),
        pytest.param({"endpoints": [{**GROUP, "weight": -1}]}, "spec.endpoints[0].weight", id="weight"),
        pytest.param({"endpoints": [{**GROUP, "weight": "5"}]}, "spec.endpoints[0].weight", id="weight-text"),
        pytest.param({"endpoints": [{**GROUP, "priority": -1}]}, "spec.endpoints[0].priority", id="priority"),
        pytest.param({"retries": {"on": ["5xx"]}}, "spec.retries.on[0]", id="runs-a-generation-twice"),
        pytest.param({"retries": {"on": ["reset"]}}, "spec.retries.on[0]", id="cut-answer"),
        pytest.param({"retries": {"on": ["200"]}}, "spec.retries.on[0]", id="no-error"),
        pytest.param({"retries": {"attempts": -1}}, "spec.retries.attempts", id="attempts"),
        pytest.param({"rateLimit": {"requests": 0, "unit": "Second"}}, "spec.rateLimit.requests", id="no-requests"),
        pytest.param({"rateLimit": {"requests": 1, "unit": "Day"}}, "spec.rateLimit.unit", id="unit"),
        pytest.param({"auth": {}}, "spec.auth", id="no-auth"),
        pytest.param({"auth": {"apiKeys": {}, "jwt": {}}}, "spec.auth", id="both"),
        pytest.param({"auth": {"apiKeys": {}}}, "spec.auth.apiKeys.secretRef.name", id="no-secret"),
        pytest.param({"auth": {"jwt": {"issuer": "x"}}}, "spec.auth.jwt.jwksUri", id="no-keys"),
    ],
)
def test_a_mistake_is_refused_at_its_field(spec: Json, path: str) -> None:
    document = routing.model_service(GROUP)
    document["spec"].update(spec)
    with pytest.raises(InvalidInput) as caught:
        service.decode(document)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_gateway_by_default() -> None:
    plain = gateway.decode(routing.inference_gateway())
    assert (plain.type, plain.install, plain.version) == (GatewayType.ENVOY, True, "v1.9.0")
    assert (plain.gateway_namespace, plain.gateway_name, plain.port, plain.is_tls) == (
        "modelplane-system",
        "default",
        80,
        False,
    )


def test_tls_moves_the_port() -> None:
    tls = {"certificateRefs": [{"name": "c"}]}
    assert gateway.decode(routing.inference_gateway(gateway={"hostname": "m.example", "tls": tls})).port == 443
    assert gateway.decode(routing.inference_gateway(gateway={"tls": tls, "port": 8443})).port == 8443


def test_routes_attach_to_the_gateway_that_stands() -> None:
    document = routing.inference_gateway(gateway={"name": "new"})
    document["status"]["gatewayRef"] = {"namespace": "old-ns", "name": "old"}
    standing = gateway.state(document).gateway
    assert (standing.gateway_namespace, standing.gateway_name) == ("old-ns", "old")


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        pytest.param({"type": "Traefik"}, "spec.type", id="type"),
        pytest.param({"envoyGateway": {"version": "latest"}}, "spec.envoyGateway.version", id="version"),
        pytest.param({"gateway": {"port": 0}}, "spec.gateway.port", id="port"),
        pytest.param({"gateway": {"tls": {}}}, "spec.gateway.tls.certificateRefs", id="no-certificates"),
        pytest.param({"gateway": {"hosts": [{"namespaces": []}]}}, "spec.gateway.hosts[0].host", id="grant"),
    ],
)
def test_a_mistake_in_a_gateway_is_refused_at_its_field(spec: Json, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        gateway.decode(routing.inference_gateway(**spec))
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("version", ["v1.7.9", "v0.9.0", "v1.0.0-rc.1"])
def test_an_envoy_gateway_that_cannot_tell_replicas_apart_is_refused(version: str) -> None:
    with pytest.raises(Unsupported, match=r"use v1\.8 or later"):
        gateway.decode(routing.inference_gateway(envoyGateway={"version": version}))
