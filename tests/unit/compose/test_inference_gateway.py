"""InferenceGateway: installed in order, and never taken down because something blinked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from modelplane.errors import InvalidInput, Unsupported
from modelplane_functions.compose import inference_gateway
from modelplane_functions.exchange import Observed, Outcome, Ready
from tests.support import routing

Json = Any
INSTALLATION = {"helm-provider-config", "envoy-gateway"}
FRONT_DOOR = {"gateway-class", "envoy-proxy", "gateway", "client-policy"}


def compose(document: Json, children: Json = None) -> Outcome:
    return inference_gateway.compose(Observed(document, children or {}))


def condition(outcome: Outcome, kind: str) -> Any:
    return next(each for each in outcome.conditions if each.type == kind)


class Running:
    """A gateway with its address."""

    def __init__(self, **spec: Json) -> None:
        self.document = routing.inference_gateway(address="", **spec)
        self.children: dict[str, Json] = {}
        for _ in range(4):
            outcome = compose(self.document, self.children)
            self.children = routing.observed(outcome)
            self.document["status"] = dict(outcome.status)

    def compose(self) -> Outcome:
        return compose(self.document, self.children)


def test_nothing_of_envoy_gateways_kinds_comes_before_its_installation() -> None:
    document = routing.inference_gateway(address="")
    first = compose(document)
    assert first.children.keys() == INSTALLATION
    children = routing.observed(first)
    children["envoy-gateway"]["status"] = {"conditions": [routing.condition("Ready", is_true=False, message="pulling")]}
    waiting = compose(document, children)
    assert waiting.children.keys() == INSTALLATION
    assert "pulling" in condition(waiting, "Installed").message
    children = routing.observed(first)
    assert compose(document, children).children.keys() == INSTALLATION | FRONT_DOOR | {"usage-envoy-gateway"}


def test_a_running_gateway_is_ready_and_says_where_it_is() -> None:
    outcome = Running().compose()
    assert outcome.ready is Ready.TRUE
    assert outcome.status == {
        "type": "Envoy",
        "address": routing.GATEWAY_ADDRESS,
        "port": 80,
        "scheme": "http",
        "features": [
            "ApiKeys",
            "BackendCredentials",
            "BackendHost",
            "ClientNetworks",
            "Cors",
            "Failover",
            "Jwt",
            "Locality",
            "OutlierEjection",
            "RateLimit",
            "RateLimitPerClient",
            "RequestSize",
            "SessionAffinity",
            "SessionAffinityWithWeights",
            "SlowStart",
            "Weights",
        ],
        "gatewayRef": {"namespace": "modelplane-system", "name": "default"},
        "clientCertificate": {"mode": "Issued"},
    }
    assert outcome.events == ()


def test_backends_are_switched_on_since_they_are_off_by_default() -> None:
    values = Running().children["envoy-gateway"]["spec"]["forProvider"]["values"]
    assert values["config"]["envoyGateway"]["extensionApis"] == {"enableBackend": True}


@pytest.mark.parametrize(
    ("spec", "keys"),
    [
        pytest.param({"envoyGateway": {"install": False}}, FRONT_DOOR, id="managed-elsewhere"),
        pytest.param(
            {"envoyGateway": {"install": False}, "gateway": {"className": "eg"}},
            FRONT_DOOR - {"gateway-class"},
            id="adopted-class",
        ),
    ],
)
def test_what_is_there_already_is_adopted(spec: Json, keys: set[str]) -> None:
    running = Running(**spec)
    assert running.children.keys() == keys
    assert running.compose().ready is Ready.TRUE
    if "gateway-class" not in keys:
        assert running.children["gateway"]["spec"]["gatewayClassName"] == "eg"


def release_blinks(running: Running) -> None:
    running.children["envoy-gateway"]["status"] = {}


def release_fails(running: Running) -> None:
    running.children["envoy-gateway"]["status"] = {"conditions": [routing.condition("Ready", is_true=False)]}


def release_is_gone(running: Running) -> None:
    del running.children["envoy-gateway"]


def gateway_loses_its_address(running: Running) -> None:
    running.children["gateway"]["status"]["addresses"] = []


def gateway_loses_its_status(running: Running) -> None:
    running.children["gateway"]["status"] = {}


def type_is_changed(running: Running) -> None:
    running.document["spec"]["type"] = "EnvoyAI"


def install_is_switched_off(running: Running) -> None:
    running.document["spec"]["envoyGateway"] = {"install": False}


def test_provider_helm_acts_as_itself_for_our_own_namespace_alone() -> None:
    """An administrator's way into the cluster: cluster-wide it would serve whoever may create a Release anywhere."""
    children = compose(routing.inference_gateway(address="")).children
    config, release = children["helm-provider-config"].resource, children["envoy-gateway"].resource
    assert config["kind"] == "ProviderConfig"
    assert config["metadata"]["namespace"] == release["metadata"]["namespace"] == "modelplane-system"
    named = {"kind": config["kind"], "name": config["metadata"]["name"]}
    assert release["spec"]["providerConfigRef"] == named


def test_the_cluster_wide_way_of_an_earlier_release_goes_unless_the_installation_is_kept_as_it_is() -> None:
    running = Running()
    former = {"kind": "ClusterProviderConfig", "metadata": {"name": "default-control-plane"}}
    running.children["provider-config"] = {"apiVersion": "helm.m.crossplane.io/v1beta1", **former}
    assert "provider-config" not in running.compose().children
    install_is_switched_off(running)
    assert {"provider-config", "envoy-gateway"} <= running.compose().children.keys()


@pytest.mark.parametrize(
    ("break_", "is_ready"),
    [
        pytest.param(release_blinks, False, id="release-blinks"),
        pytest.param(release_fails, False, id="release-fails"),
        pytest.param(release_is_gone, False, id="release-is-gone"),
        pytest.param(gateway_loses_its_address, True, id="address-blinks"),
        pytest.param(gateway_loses_its_status, False, id="status-is-gone"),
        pytest.param(type_is_changed, False, id="type-is-changed"),
        pytest.param(install_is_switched_off, True, id="install-is-switched-off"),
    ],
)
def test_hold_nothing_that_runs_disappears(break_: Callable[[Running], None], is_ready: bool) -> None:  # noqa: FBT001 - a table's column
    running = Running()
    before = set(running.children)
    break_(running)
    outcome = running.compose()
    assert before <= outcome.children.keys() | ({"envoy-gateway"} if break_ is release_is_gone else set())
    assert outcome.status["address"] == routing.GATEWAY_ADDRESS
    assert (outcome.ready is Ready.TRUE) is is_ready


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        pytest.param({"envoyGateway": {"version": "latest"}}, InvalidInput, id="no-version"),
        pytest.param({"envoyGateway": {"version": "v1.7.0"}}, Unsupported, id="too-old"),
        pytest.param({"gateway": {"tls": {}}}, InvalidInput, id="tls-without-certificates"),
    ],
)
def test_hold_a_mistake_is_an_error_before_anything_is_applied(spec: Json, error: type[Exception]) -> None:
    running = Running()
    running.document["spec"].update(spec)
    with pytest.raises(error):
        running.compose()


def test_a_gateway_keeps_its_name_since_crossplane_does_not_rename() -> None:
    running = Running()
    running.document["spec"]["gateway"] = {"name": "renamed"}
    assert running.compose().status["gatewayRef"] == {"namespace": "modelplane-system", "name": "default"}


def test_envoy_gateway_is_uninstalled_only_after_its_gateway() -> None:
    usage = Running(gateway={"namespace": "edge"}).children["usage-envoy-gateway"]
    assert usage["metadata"]["namespace"] == "edge", "a Usage finds its user in its own namespace"
    assert usage["spec"]["of"]["resourceRef"] == {"name": "default-envoy-gateway", "namespace": "modelplane-system"}
    assert usage["spec"]["by"]["kind"] == "Gateway"
