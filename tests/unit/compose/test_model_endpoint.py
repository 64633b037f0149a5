"""ModelEndpoint: readiness is the gateway's word, and a working endpoint outlives its silence."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane_functions.compose import model_endpoint
from modelplane_functions.exchange import Observed, Outcome, Ready, Truth
from tests.support import routing

Json = Any
AUTH = {"secretRef": {"name": "together"}}


def compose(document: Json, children: Json = None, *gateways: Json) -> Outcome:
    return model_endpoint.compose(Observed(document, children or {}, {model_endpoint.GATEWAYS: gateways}))


def running(**spec: Json) -> tuple[Json, dict[str, Json]]:
    """Return an endpoint that the gateway accepted, and its children."""
    document = routing.model_endpoint("saas", status={}, **spec)
    children = routing.observed(compose(document))
    document["status"] = dict(compose(document, children).status)
    return document, children


def condition(outcome: Outcome, kind: str) -> Any:
    return next(each for each in outcome.conditions if each.type == kind)


def test_a_new_endpoint_is_not_ready() -> None:
    outcome = compose(routing.model_endpoint("saas", status={}))
    assert outcome.status == {
        "backendName": "saas",
        "ready": False,
        "inForce": {"url": "https://saas.example.com", "api": ["OpenAI"]},
    }
    assert outcome.ready is Ready.FALSE
    assert condition(outcome, "Reachable").status is Truth.UNKNOWN


def test_an_accepted_endpoint_is_ready_and_says_so_once() -> None:
    document, children = running(auth=AUTH)
    assert children.keys() == {"backend", "credential"}
    outcome = compose(document, children)
    assert (outcome.ready, outcome.status["ready"], outcome.events) == (Ready.TRUE, True, ())
    document["status"] = {}
    assert [each.reason for each in compose(document, children).events] == ["EndpointReady"]


def test_a_draining_endpoint_stands_and_is_not_ready_for_routes() -> None:
    """Its Backend stays while requests under way are finished; only new ones go elsewhere."""
    document, children = running()
    document["spec"]["drain"] = True
    outcome = compose(document, children)
    assert outcome.children.keys() == children.keys()
    assert (outcome.status["ready"], outcome.ready, outcome.events) == (False, Ready.TRUE, ())


def test_a_refused_endpoint_leaves_the_routes_with_the_gateways_own_words() -> None:
    document, children = running()
    refused = routing.condition("Accepted", is_true=False, reason="Invalid", message="not enabled in the config")
    children["backend"]["status"] = {"conditions": [refused]}
    outcome = compose(document, children)
    assert (outcome.status["ready"], outcome.ready) == (False, Ready.FALSE)
    assert condition(outcome, "Reachable").message == "not enabled in the config"
    assert [each.reason for each in outcome.events] == ["EndpointRefused"]


@pytest.mark.parametrize(
    "status",
    [
        pytest.param({}, id="never looked at: no route refers to it"),
        pytest.param(
            {
                "conditions": [
                    {**routing.condition("Accepted", is_true=False, reason="Invalid"), "observedGeneration": 1}
                ]
            },
            id="refused, and mended since",
        ),
    ],
)
def test_an_endpoint_the_gateway_is_silent_about_may_be_routed_to(status: Json) -> None:
    """Source: Envoy Gateway v1.9.0 takes up the Backends that routes refer to, and reports on no other."""
    document = routing.model_endpoint("saas", status={})
    children = routing.observed(compose(document))
    children["backend"]["metadata"]["generation"] = 2
    children["backend"]["status"] = status
    outcome = compose(document, children)
    assert outcome.status["ready"] is True
    assert condition(outcome, "Reachable").status is Truth.UNKNOWN


@pytest.mark.parametrize("missing", ["status", "child"])
def test_hold_silence_about_a_working_endpoint_changes_nothing(missing: str) -> None:
    document, children = running()
    if missing == "status":
        children["backend"]["status"] = {}
    else:
        children = {}
    outcome = compose(document, children)
    assert outcome.status["ready"] is True
    # A Backend that no route refers to is never reported on, so silence is no fault; its absence is.
    assert outcome.ready is (Ready.TRUE if children else Ready.FALSE)
    assert condition(outcome, "Reachable").status is Truth.UNKNOWN
    assert "backend" in outcome.children


def test_an_endpoint_waits_for_the_filter_with_its_key() -> None:
    document = routing.model_endpoint("saas", status={}, auth=AUTH)
    children = routing.observed(compose(document))
    del children["credential"]
    assert compose(document, children).status["ready"] is False


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"url": "http://localhost"}, id="url"),
        pytest.param({"url": "https://a.example", "auth": {"secretRef": {"name": "x", "key": "apiKey"}}}, id="key"),
        pytest.param({"url": "http://10.0.0.1", "host": "x.other.modelplane.internal"}, id="host-of-others"),
    ],
)
def test_hold_a_mistake_is_an_error_before_anything_is_applied(spec: Json) -> None:
    document, children = running()
    document["spec"] = spec
    with pytest.raises(InvalidInput):
        compose(document, children)


@pytest.mark.parametrize(
    ("auth", "value"),
    [
        pytest.param(AUTH, '"Bearer <key>"', id="bearer"),
        pytest.param({**AUTH, "scheme": "Header", "header": "x-api-key"}, '"<key>"', id="header"),
    ],
)
def test_it_says_what_the_secret_must_hold(auth: Json, value: str) -> None:
    message = condition(compose(routing.model_endpoint("saas", auth=auth)), "EndpointResolved").message
    assert "Secret together" in message
    assert f"the whole header value {value} under the key credential" in message


def test_a_replica_is_asked_for_by_its_own_host() -> None:
    outcome = compose(routing.replica_endpoint("llama-0", "llama"))
    endpoint = outcome.children["backend"].resource["spec"]["endpoints"][0]
    assert endpoint["hostname"] == "llama-0.ml-team.modelplane.internal"
    assert endpoint["fqdn"] == {"hostname": "gateway.east.example.com", "port": 80}
    assert "the Host header is llama-0.ml-team.modelplane.internal" in condition(outcome, "EndpointResolved").message


AUTHORITY = "-----BEGIN CERTIFICATE-----\nMIIBdzCCAR2gAwIBAgIUQ0x5\n-----END CERTIFICATE-----\n"
GIVEN = {"caCertificates": AUTHORITY, "sni": "east.modelplane-gateways.internal"}


def test_given_authorities_stand_in_a_config_map_that_the_backend_names() -> None:
    outcome = compose(routing.model_endpoint("saas", status={}, tls=GIVEN))
    config = outcome.children["authorities"].resource
    assert config["data"] == {"ca.crt": AUTHORITY}
    tls = outcome.children["backend"].resource["spec"]["tls"]
    assert tls == {
        "caCertificateRefs": [{"group": "", "kind": "ConfigMap", "name": config["metadata"]["name"]}],
        "sni": "east.modelplane-gateways.internal",
    }


def test_a_backend_that_runs_names_authorities_once_they_are_there_and_they_leave_after_it() -> None:
    document = routing.model_endpoint("saas", "http://saas.example.com", status={})
    children = routing.observed(compose(document))
    document["status"] = dict(compose(document, children).status)
    document["spec"] |= {"url": "https://saas.example.com", "tls": GIVEN}

    first = compose(document, children)
    assert first.children["backend"].resource["spec"] == children["backend"]["spec"]
    assert first.status["inForce"]["url"] == "http://saas.example.com"
    assert (first.status["ready"], first.ready) == (True, Ready.FALSE)
    children = routing.observed(first)
    second = compose(document, children)
    assert second.children["backend"].resource["spec"]["tls"]["sni"] == GIVEN["sni"]
    assert second.status["inForce"]["url"] == "https://saas.example.com"

    children = routing.observed(second)
    del document["spec"]["tls"]
    document["spec"]["url"] = "http://saas.example.com"
    third = compose(document, children)
    assert "tls" not in third.children["backend"].resource["spec"]
    assert third.children.keys() == {"backend", "authorities"}
    assert compose(document, routing.observed(third)).children.keys() == {"backend"}


@pytest.mark.parametrize(
    "changes",
    [
        {"caCertificates": "-----BEGIN PRIVATE KEY-----\nMIIBdzCC\n-----END PRIVATE KEY-----"},
        {"caCertificates": AUTHORITY, "insecureSkipVerify": True},
        {"caCertificates": AUTHORITY, "caCertificateRefs": [{"name": "ca"}]},
    ],
)
def test_authorities_that_are_none_or_have_no_effect_are_refused_at_the_field(changes: Json) -> None:
    with pytest.raises(InvalidInput, match="caCertificates"):
        compose(routing.model_endpoint("saas", status={}, tls=changes))
