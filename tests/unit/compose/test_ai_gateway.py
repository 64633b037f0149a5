"""InferenceGateway of type EnvoyAI: two installations in an order that never stops proxies, and a type that stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from modelplane.errors import InvalidInput, Unsupported
from modelplane.routing import access
from modelplane_functions.compose import inference_gateway
from modelplane_functions.exchange import Observed, Outcome, Ready, Truth
from tests.support import ai, routing

Json = Any
FRONT_DOOR = {"gateway-class", "envoy-proxy", "gateway", "client-policy"}
HOSTNAME = {"hostname": ai.HOSTNAME}


def compose(document: Json, children: Json = None) -> Outcome:
    return inference_gateway.compose(Observed(document, children or {}))


def condition(outcome: Outcome, kind: str) -> Any:
    return next(each for each in outcome.conditions if each.type == kind)


class Running:
    """A gateway, applied until nothing changes."""

    def __init__(self, **spec: Json) -> None:
        self.document = routing.inference_gateway(address="", **{"type": "EnvoyAI", "gateway": HOSTNAME, **spec})
        self.children: dict[str, Json] = {}
        self.steps: list[set[str]] = []
        self.settle()

    def settle(self) -> Outcome:
        for _ in range(8):
            outcome = self.compose()
            children = routing.observed(outcome)
            self.steps.append(set(children) - set(self.children))
            is_at_rest = children == self.children
            self.children, self.document["status"] = children, dict(outcome.status)
            if is_at_rest:
                return outcome
        raise AssertionError("the gateway does not come to rest")

    def compose(self) -> Outcome:
        return compose(self.document, self.children)

    @property
    def hooks(self) -> Json:
        values = self.children["envoy-gateway"]["spec"]["forProvider"]["values"]
        return values["config"]["envoyGateway"].get("extensionManager")


def test_the_charts_come_in_the_order_in_which_they_need_each_other() -> None:
    running = Running()
    assert running.steps[:3] == [
        {"helm-provider-config", "envoy-gateway", "ai-gateway-crds"},
        {"ai-gateway"},
        {*FRONT_DOOR, "usage-envoy-gateway", "usage-ai-gateway"},
    ]
    assert running.compose().ready is Ready.TRUE
    assert running.hooks["service"]["fqdn"]["port"] == 1063


def test_a_running_gateway_says_its_type_and_what_it_offers() -> None:
    running = Running()
    outcome = running.compose()
    assert outcome.status["type"] == "EnvoyAI"
    assert {"ModelNameRouting", "FailoverWithCredentialsPerEndpoint"} <= set(outcome.status["features"])
    assert "Envoy AI Gateway v1.0.0" in condition(outcome, "Accepted").message
    assert "ai-gateway-helm v1.0.0" in condition(outcome, "Installed").message


def test_headers_by_which_the_gateway_speaks_to_itself_are_taken_from_clients() -> None:
    removed = Running().children["client-policy"]["spec"]["headers"]["earlyRequestHeaders"]["remove"]
    assert {"x-ai-eg-model", "x-modelplane-client"} <= set(removed)
    assert set(access.INTERNAL_HEADERS) <= set(removed), "as on a gateway of type Envoy"


def test_a_relay_is_refused_and_what_runs_stays() -> None:
    relay = {"namespaces": [routing.NAMESPACE]}
    accepted = condition(compose(routing.inference_gateway(type="EnvoyAI", gateway=HOSTNAME, relay=relay)), "Accepted")
    assert (accepted.status, accepted.reason) == (Truth.FALSE, "RelayNotOffered")
    assert "remove spec.relay" in accepted.message
    running = Running()
    running.document["spec"]["relay"] = relay
    assert running.compose().children.keys() == running.children.keys()


def test_a_gateway_beside_which_the_ai_gateway_is_installed_gets_its_hooks_only_once_that_is_there() -> None:
    """Envoy Gateway sends nothing to its proxies while the hooks lead nowhere."""
    running = Running(type="Envoy", gateway={})
    assert not running.hooks
    running.document["spec"]["aiGateway"] = {"install": True}
    for _ in range(2):
        children = routing.observed(running.compose())
        if "ai-gateway" in children and "ai-gateway" not in running.children:
            children["ai-gateway"]["status"] = {"conditions": [routing.condition("Ready", is_true=False)]}
        running.children = children
    assert not running.hooks
    assert condition(running.compose(), "Installed").status is Truth.FALSE
    running.settle()
    assert running.hooks
    assert running.document["status"]["type"] == "Envoy"


def ai_gateway_blinks(running: Running) -> None:
    running.children["ai-gateway"]["status"] = {}


def definitions_fail(running: Running) -> None:
    running.children["ai-gateway-crds"]["status"] = {"conditions": [routing.condition("Ready", is_true=False)]}


def ai_gateway_is_left_to_others(running: Running) -> None:
    running.document["spec"]["aiGateway"] = {"install": False}


def all_is_left_to_others(running: Running) -> None:
    running.document["spec"] |= {"aiGateway": {"install": False}, "envoyGateway": {"install": False}}


def type_is_changed(running: Running) -> None:
    running.document["spec"]["type"] = "Envoy"


def annotation_is_removed(running: Running) -> None:
    del running.children["gateway"]["metadata"]["annotations"]


def host_name_is_removed(running: Running) -> None:
    running.document["spec"]["gateway"] = {}


@pytest.mark.parametrize(
    "break_",
    [
        pytest.param(each, id=each.__name__)
        for each in (
            ai_gateway_blinks,
            definitions_fail,
            ai_gateway_is_left_to_others,
            all_is_left_to_others,
            type_is_changed,
            host_name_is_removed,
            annotation_is_removed,
        )
    ],
)
def test_hold_nothing_that_runs_disappears(break_: Callable[[Running], None]) -> None:
    running = Running()
    before, hooks = set(running.children), running.hooks
    break_(running)
    for _ in range(3):
        outcome = running.compose()
        assert before <= outcome.children.keys()
        values = outcome.children["envoy-gateway"].resource["spec"]["forProvider"]["values"]
        assert values["config"]["envoyGateway"]["extensionManager"] == hooks
        assert outcome.status["type"] == "EnvoyAI"


@pytest.mark.parametrize(("before", "after"), [("Envoy", "EnvoyAI"), ("EnvoyAI", "Envoy")])
def test_the_type_of_a_gateway_that_runs_cannot_be_changed(before: str, after: str) -> None:
    running = Running(type=before)
    running.document["spec"]["type"] = after
    accepted = condition(running.compose(), "Accepted")
    assert (accepted.status, accepted.reason) == (Truth.FALSE, "TypeChanged")
    assert f"write type: {before} again" in accepted.message
    assert "spec.gatewayRef" in accepted.message
    running.document["spec"]["type"] = before
    assert running.compose().ready is Ready.TRUE


def test_an_annotation_that_somebody_removed_is_written_again() -> None:
    running = Running()
    annotation_is_removed(running)
    assert running.settle().ready is Ready.TRUE
    assert running.children["gateway"]["metadata"]["annotations"]["modelplane.ai/gateway-type"] == "EnvoyAI"


def test_a_type_may_change_before_there_is_a_gateway() -> None:
    document = routing.inference_gateway(address="", type="EnvoyAI", gateway=HOSTNAME)
    children = routing.observed(compose(document))
    document["spec"]["type"] = "Envoy"
    release = compose(document, children).children["envoy-gateway"].resource
    assert "extensionManager" not in release["spec"]["forProvider"]["values"]["config"]["envoyGateway"]


def test_without_a_host_name_nothing_is_composed_and_the_reason_is_told() -> None:
    accepted = condition(compose(routing.inference_gateway(type="EnvoyAI")), "Accepted")
    assert (accepted.status, accepted.reason) == (Truth.FALSE, "HostnameRequired")
    assert "*.models.example.com" in accepted.message


@pytest.mark.parametrize(
    ("spec", "keys"),
    [
        pytest.param({"aiGateway": {"install": False}}, {"helm-provider-config", "envoy-gateway"}, id="ai-gateway"),
        pytest.param(
            {"envoyGateway": {"install": False}},
            {"helm-provider-config", "ai-gateway-crds", "ai-gateway", "usage-ai-gateway"},
            id="envoy-gateway",
        ),
        pytest.param({"envoyGateway": {"install": False}, "aiGateway": {"install": False}}, set(), id="both"),
    ],
)
def test_what_is_there_already_is_adopted(spec: Json, keys: set[str]) -> None:
    running = Running(**spec)
    assert keys | FRONT_DOOR <= running.children.keys() <= keys | FRONT_DOOR | {"usage-envoy-gateway"}
    assert running.compose().ready is Ready.TRUE


@pytest.mark.parametrize(("version", "error"), [("latest", InvalidInput), ("v0.5.0", Unsupported)])
def test_a_version_without_the_kinds_is_refused(version: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        compose(routing.inference_gateway(type="EnvoyAI", gateway=HOSTNAME, aiGateway={"version": version}))


def test_a_gateway_of_an_earlier_release_is_of_type_envoy() -> None:
    running = Running(type="Envoy", gateway={})
    del running.document["status"]["type"]
    assert running.compose().status["type"] == "Envoy"
    assert "annotations" not in running.compose().children["gateway"].resource["metadata"]
