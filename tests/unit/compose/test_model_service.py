"""ModelService: what is composed, in which order, and that a route that runs outlives every broken input."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane_functions.compose import model_service
from modelplane_functions.exchange import Outcome, Ready, Truth
from tests.support import routing
from tests.support.exchange import settle
from tests.support.serving import (
    BREAKS,
    KEYS,
    Running,
    an_endpoint_of_another_model,
    an_endpoint_of_another_path,
    gateway_of_an_unknown_name,
    gateway_that_cannot_be_read,
    gateway_whose_type_needs_a_host_name,
    gateway_without_a_status,
    gateway_without_an_address,
    host_of_somebody_else,
    no_gateway,
    second_gateway,
)

Json = Any


def condition(outcome: Outcome, kind: str) -> Any:
    return next(each for each in outcome.conditions if each.type == kind)


def weights(route: Json) -> dict[str, int]:
    return {ref["name"]: ref["weight"] for ref in route["rules"][0]["backendRefs"]}


# --- what runs --------------------------------------------------------------------------------------------------------


def test_a_running_service_is_ready_and_says_where_it_is() -> None:
    running = Running()
    outcome = running.compose()
    assert outcome.ready is Ready.TRUE
    assert {each.type: each.status for each in outcome.conditions} == {
        "Accepted": Truth.TRUE,
        "EndpointsReady": Truth.TRUE,
        "RouteReady": Truth.TRUE,
    }
    assert outcome.status["url"] == "http://203.0.113.10/ml-team/llama"
    assert outcome.status["endpoints"] == {"matched": 3, "ready": 3}
    assert weights(running.route) == {"llama-0": 19, "llama-1": 19, "spare-0": 2}
    assert outcome.events == ()


def test_requirements_stay_inside_the_namespace_and_follow_the_selectors() -> None:
    running = Running()
    requirements = running.compose().requirements
    endpoints = [each for each in requirements.values() if each.kind == "ModelEndpoint"]
    assert [each.namespace for each in endpoints] == ["ml-team", "ml-team"]
    running.service["spec"]["endpoints"].reverse()
    assert running.compose().requirements == requirements


def test_an_endpoint_of_another_namespace_is_never_taken_even_when_it_is_handed_over() -> None:
    running = Running()
    stranger = routing.replica_endpoint("stranger", "llama", namespace="other")
    observed_with_stranger = [*running.store, stranger]

    def answer_without_regard_to_namespaces(observed: Any) -> Outcome:
        required = {
            key: tuple(each for each in observed_with_stranger if each["kind"] == requirement.kind)
            for key, requirement in running.compose().requirements.items()
        }
        return model_service.compose(type(observed)(observed.composite, observed.children, required))

    outcome = settle(answer_without_regard_to_namespaces, running.service, children=running.children)
    assert "stranger" not in weights(outcome.children["route"].resource["spec"])


# --- law 1: nothing that runs disappears ------------------------------------------------------------------------------


@pytest.mark.parametrize("standby", [pytest.param(False, id="own-refs"), pytest.param(True, id="shared")])
@pytest.mark.parametrize("break_", [pytest.param(each, id=each.__name__) for each in BREAKS])
def test_hold_no_broken_input_removes_what_runs(break_: Callable[[Running], None], standby: bool) -> None:  # noqa: FBT001 - a table's column
    running = Running(standby=standby, auth=KEYS)
    before = running.children
    break_(running)
    outcome = running.compose()
    assert before.keys() <= outcome.children.keys()
    assert outcome.children["route"].resource["spec"] == before["route"]["spec"]
    assert outcome.status["url"] == "http://203.0.113.10/ml-team/llama", "an address that was known stays"
    assert all("managedFields" not in each.resource["metadata"] for each in outcome.children.values())
    if break_ not in {gateway_without_an_address, gateway_without_a_status}:
        assert outcome.ready is Ready.FALSE
        assert any(each.status is Truth.FALSE and each.message for each in outcome.conditions)


@pytest.mark.parametrize("break_", [pytest.param(each, id=each.__name__) for each in BREAKS])
def test_a_repaired_input_gives_the_same_route_again(break_: Callable[[Running], None]) -> None:
    running, fresh = Running(), Running()
    break_(running)
    running.settle()
    running.service["spec"], running.store = fresh.service["spec"], fresh.store
    assert running.settle().ready is Ready.TRUE
    assert running.route == fresh.route


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"endpoints": []}, id="no-groups"),
        pytest.param({"endpoints": [{"selector": {}}]}, id="empty-selector"),
        pytest.param({"endpoints": [routing.group(deployment="x")], "retries": {"on": ["5xx"]}}, id="unsafe-retry"),
    ],
)
def test_the_authors_own_mistake_is_an_error_before_anything_is_applied(spec: Json) -> None:
    running = Running()
    running.service["spec"] = spec
    with pytest.raises(InvalidInput):
        running.compose()


def test_before_anything_was_fetched_only_requirements_are_declared() -> None:
    outcome = model_service.compose(
        type("Seen", (), {"composite": Running().service, "required": {}, "children": {}})()
    )
    assert outcome.children == {}
    assert len(outcome.requirements) == 3


# --- endpoints come and go --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "want"),
    [
        pytest.param(
            lambda r: r.endpoint("llama-1")["status"].update(ready=False),
            {"llama-0": 19, "spare-0": 1},
            id="one-is-not-ready",
        ),
        pytest.param(lambda r: r.without("llama-1"), {"llama-0": 19, "spare-0": 1}, id="one-is-gone"),
        pytest.param(
            lambda r: r.endpoint("llama-1")["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z"),
            {"llama-0": 19, "spare-0": 1},
            id="one-is-being-deleted",
        ),
        pytest.param(
            lambda r: r.endpoint("llama-1")["spec"].update(drain=True),
            {"llama-0": 19, "spare-0": 1},
            id="one-is-draining-though-its-status-is-old",
        ),
        pytest.param(lambda r: r.without("spare-0"), {"llama-0": 1, "llama-1": 1}, id="a-group-is-gone"),
        pytest.param(
            lambda r: r.service["spec"]["endpoints"][1].update(weight=0), {"llama-0": 1, "llama-1": 1}, id="drained"
        ),
    ],
)
def test_shares_follow_the_endpoints_that_are_ready(change: Callable[[Running], None], want: dict[str, int]) -> None:
    running = Running()
    change(running)
    running.settle()
    assert weights(running.route) == want


@pytest.mark.parametrize("standby", [pytest.param(False, id="own-refs"), pytest.param(True, id="shared")])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda each: each["spec"].update(auth={"secretRef": {"name": "k", "key": "typo"}}), id="auth-key"),
        pytest.param(lambda each: each["spec"].update(url="http://x.example.com/?query"), id="url"),
        pytest.param(lambda each: each["spec"].pop("url"), id="no-url"),
        pytest.param(lambda each: each.pop("status"), id="no-status"),
        pytest.param(lambda each: each.update(status="x"), id="status-of-another-type"),
        pytest.param(lambda each: each["status"].update(ready="yes"), id="ready-of-another-type"),
        pytest.param(lambda each: each["status"].pop("ready"), id="no-ready"),
        pytest.param(lambda each: each["status"].pop("backendName"), id="no-backend-name"),
    ],
)
def test_an_endpoint_that_cannot_be_read_or_is_silent_stays_in_the_route(
    change: Callable[[Json], Any],
    standby: bool,  # noqa: FBT001 - a table's column
) -> None:
    """The endpoint's own function keeps what runs; the service must not take it out of traffic."""
    running = Running(standby=standby)
    before, children = running.route, running.children
    endpoint = running.endpoint("llama-1")
    endpoint["status"]["inForce"] = dict(endpoint["spec"])
    kept = copy.deepcopy(endpoint)
    change(endpoint)
    outcome = running.settle()
    assert running.route == before
    assert running.children.keys() == children.keys()
    again = running.settle()
    assert running.route == before
    if "status" in endpoint and endpoint["spec"] != kept["spec"]:
        notes = next(each.message for each in outcome.conditions if each.type == "EndpointsReady")
        assert "llama-1: spec." in notes
        assert "the existing configuration is kept" in notes
    endpoint.update(copy.deepcopy(kept))
    running.settle()
    assert (running.route, again.fatal) == (before, None)


def test_an_endpoint_that_never_said_it_is_ready_receives_nothing() -> None:
    running = Running()
    running.store.append(routing.replica_endpoint("llama-2", "llama", status={}))
    running.settle()
    assert "llama-2" not in weights(running.route)


def test_what_is_in_force_is_judged_by_the_rules_of_a_spec() -> None:
    """Whoever writes a status gets no further than whoever writes a spec."""
    running = Running()
    endpoint = running.endpoint("llama-1")
    endpoint["spec"]["auth"] = {"secretRef": {"name": "k", "key": "typo"}}
    endpoint["status"]["inForce"] = {"url": "http://x.other.modelplane.internal"}
    running.settle()
    assert "llama-1" not in weights(running.route)


def test_a_partial_result_is_not_called_healthy() -> None:
    running = Running()
    running.endpoint("llama-1")["status"]["ready"] = False
    outcome = running.compose()
    assert outcome.ready is Ready.FALSE
    assert condition(outcome, "EndpointsReady").reason == "PartiallyReady"


def test_a_service_drained_on_purpose_carries_nothing() -> None:
    running = Running()
    for group in running.service["spec"]["endpoints"]:
        group["weight"] = 0
    outcome = running.compose()
    assert outcome.children == {}
    assert outcome.ready is Ready.FALSE
    assert condition(outcome, "EndpointsReady").reason == "Drained"


# --- order: what a route refers to stands before it, and goes after it ------------------------------------------------


def test_a_route_changes_only_when_the_backends_it_moves_to_stand() -> None:
    running = Running()
    before = running.route
    running.service["spec"]["endpoints"][1]["priority"] = 1
    outcome = running.compose()
    assert outcome.children["route"].resource["spec"] == before
    assert sum(key.startswith("backend-") for key in outcome.children) == 2
    assert outcome.ready is Ready.FALSE
    running.children = routing.observed(outcome)
    for key in running.children:
        if key.startswith("backend-"):
            refused = routing.condition("Accepted", is_true=False, reason="Invalid")
            running.children[key]["status"] = {"conditions": [refused]}
    assert running.compose().children["route"].resource["spec"] == before, "not to what the gateway refused"
    for key in running.children:
        if key.startswith("backend-"):
            running.children[key]["status"] = {}
    moved = running.compose().children["route"].resource["spec"]
    assert moved != before, "the gateway looks at a Backend only once a route refers to it"
    running.settle()
    assert set(weights(running.route)) == {
        child["metadata"]["name"] for key, child in running.children.items() if key.startswith("backend-")
    }


def test_backends_go_only_after_the_route_that_used_them() -> None:
    running = Running(standby=True)
    shared = {key for key in running.children if key.startswith("backend-") or key == "rule-filter"}
    assert len(shared) == 3
    running.service["spec"]["endpoints"][1]["priority"] = 0
    outcome = running.compose()
    assert shared <= outcome.children.keys()
    assert set(weights(outcome.children["route"].resource["spec"])) == {"llama-0", "llama-1", "spare-0"}
    running.settle()
    assert not shared & running.children.keys()


def test_a_protected_service_is_never_open_for_a_moment() -> None:
    fresh = Running.__new__(Running)
    fresh.service = routing.model_service(routing.group(deployment="llama"), auth=KEYS)
    fresh.store = [routing.inference_gateway(), routing.replica_endpoint("llama-0", "llama")]
    fresh.children = {}
    first = fresh.compose()
    assert "security-policy" in first.children
    assert "route" not in first.children
    fresh.settle()
    assert "route" in fresh.children


# --- readiness is earned ----------------------------------------------------------------------------------------------


def unresolved(running: Running) -> None:
    parents = running.children["route"]["status"]["parents"]
    parents[0]["conditions"][1] = routing.condition("ResolvedRefs", is_true=False, message="path modifier")


def policy_refused(running: Running) -> None:
    ancestors = running.children["traffic-policy"]["status"]["ancestors"]
    ancestors[0]["conditions"] = [
        routing.condition("Accepted", is_true=False, reason="Conflicted", message="older one")
    ]


def nobody_spoke(running: Running) -> None:
    running.children["route"]["status"] = {}


@pytest.mark.parametrize(
    ("change", "status", "says"),
    [
        pytest.param(unresolved, Truth.FALSE, "path modifier", id="accepted-but-not-resolved"),
        pytest.param(policy_refused, Truth.FALSE, "older one", id="policy-refused"),
        pytest.param(nobody_spoke, Truth.UNKNOWN, "has not reported", id="no-status"),
    ],
)
def test_route_ready_needs_every_part(change: Callable[[Running], None], status: Truth, says: str) -> None:
    running = Running()
    change(running)
    outcome = running.compose()
    found = condition(outcome, "RouteReady")
    assert (found.status, outcome.ready) == (status, Ready.FALSE)
    assert says in found.message
    assert len(outcome.events) == 1, "it was ready before"


@pytest.mark.parametrize(
    ("break_", "reason", "says"),
    [
        pytest.param(no_gateway, "GatewayNotFound", "platform team", id="none"),
        pytest.param(second_gateway, "AmbiguousGateway", "spec.gatewayRef.name", id="several"),
        pytest.param(gateway_of_an_unknown_name, "GatewayNotFound", '"absent"', id="named"),
        pytest.param(gateway_that_cannot_be_read, "GatewayInvalid", "spec.envoyGateway.version", id="invalid"),
        pytest.param(gateway_whose_type_needs_a_host_name, "HostnameRequired", "use type Envoy", id="type"),
        pytest.param(host_of_somebody_else, "HostNotAllowed", "spec.gateway.hosts", id="host"),
        pytest.param(an_endpoint_of_another_path, "PathPrefixConflict", "/other: new", id="path"),
        pytest.param(an_endpoint_of_another_model, "ModelNameConflict", "a: llama-0", id="model"),
    ],
)
def test_a_refusal_names_its_cause_and_what_would_change_it(
    break_: Callable[[Running], None], reason: str, says: str
) -> None:
    running = Running()
    break_(running)
    outcome = running.compose()
    accepted = condition(outcome, "Accepted")
    assert (accepted.status, accepted.reason) == (Truth.FALSE, reason)
    assert says in accepted.message
    assert "kept as it is" in accepted.message
    assert outcome.fatal is None


@pytest.mark.parametrize(
    ("gateways", "named", "chosen"),
    [
        pytest.param(["only"], "", "only", id="the-only-one"),
        pytest.param(["default", "other"], "", "default", id="the-one-named-default"),
        pytest.param(["default", "other"], "other", "other", id="the-one-asked-for"),
    ],
)
def test_which_gateway(gateways: list[str], named: str, chosen: str) -> None:
    running = Running()
    running.without("default")
    running.store += [routing.inference_gateway(name) for name in gateways]
    if named:
        running.service["spec"]["gatewayRef"] = {"name": named}
    assert running.settle().status["gateway"] == chosen
    assert running.route["parentRefs"][0]["name"] == chosen


def test_spending_somebody_elses_key_without_asking_who_calls_is_said_aloud() -> None:
    running = Running()
    running.endpoint("spare-0")["spec"]["auth"] = {"secretRef": {"name": "key"}}
    assert condition(running.settle(), "Accepted").reason == "OpenToAll"
    running.service["spec"]["auth"] = KEYS
    assert condition(running.settle(), "Accepted").reason == "Accepted"


# --- authorities of a shared rule -------------------------------------------------------------------------------------


def test_a_shared_rule_moves_to_tls_once_its_authorities_are_there_and_they_leave_after_its_backends() -> None:
    running = Running(standby=True)
    certificate = "-----BEGIN CERTIFICATE-----\nMIIBdzCCAR2gAwIBAgIUQ0x{}\n-----END CERTIFICATE-----\n"
    before = running.route
    for number, endpoint in enumerate(each for each in running.store if each["kind"] == "ModelEndpoint"):
        endpoint["spec"]["url"] = endpoint["spec"]["url"].replace("http://", "https://")
        endpoint["spec"]["tls"] = {
            "caCertificates": certificate.format(number),
            "sni": "east.modelplane-gateways.internal",
        }
    first = running.compose()
    assert first.children["route"].resource["spec"] == before, "held until what it refers to is there"
    new = {key for key in first.children if key.startswith("authorities-")}
    assert new
    assert {key.replace("authorities", "backend", 1) for key in new} <= first.children.keys()
    texts = [str(first.children[key].resource["data"]["ca.crt"]) for key in new]
    assert sum(text.count("BEGIN") for text in texts) == 3, "one bundle for one name, with the authorities of all"
    last = running.settle()
    assert last.ready is Ready.TRUE
    assert new == {key for key in last.children if key.startswith("authorities-")}

    for endpoint in (each for each in running.store if each["kind"] == "ModelEndpoint"):
        endpoint["spec"]["url"] = endpoint["spec"]["url"].replace("https://", "http://")
        del endpoint["spec"]["tls"]
    back = running.compose()
    assert new <= back.children.keys(), "the Backends that the route still uses trust them"
    last = running.settle()
    assert not any(key.startswith("authorities-") for key in last.children)
