"""ModelService on a gateway of type EnvoyAI: what is composed, in which order, and what holds."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane_functions.exchange import Outcome, Ready, Truth
from tests.support import ai, routing

Json = Any
KEYS = {"apiKeys": {"secretRef": {"name": "keys"}}}


def condition(outcome: Outcome, kind: str) -> Any:
    return next(each for each in outcome.conditions if each.type == kind)


def test_a_running_service_says_its_url_and_the_model_that_clients_write() -> None:
    running = ai.Running()
    outcome = running.compose()
    assert outcome.ready is Ready.TRUE, [f"{each.type}: {each.message}" for each in outcome.conditions]
    assert (outcome.status["url"], outcome.status["model"]) == (f"http://{ai.HOST}", "llama")
    assert running.route["hostnames"] == [ai.HOST]
    (match,) = running.route["rules"][0]["matches"]
    assert match == {"headers": [{"type": "Exact", "name": "x-ai-eg-model", "value": "llama"}]}


def test_replicas_are_one_provider_and_each_key_is_another_with_its_own_path_and_model() -> None:
    running = ai.Running()
    replicas, together = running.route["rules"][0]["backendRefs"]
    assert (replicas["weight"], replicas["priority"], replicas["modelNameOverride"]) == (1, 0, "llama-3")
    assert (together["priority"], together["modelNameOverride"]) == (1, "together-model")
    backends = {each["metadata"]["name"]: each["spec"] for each in running.of_kind("Backend")}
    assert [each["hostname"] for each in backends[replicas["name"]]["endpoints"]] == [
        "llama-0.ml-team.modelplane.internal",
        "llama-1.ml-team.modelplane.internal",
    ]
    (policy,) = running.of_kind("BackendSecurityPolicy")
    assert policy["spec"]["apiKey"] == {"secretRef": {"name": "together-key"}}
    assert policy["spec"]["targetRefs"][0]["name"] == together["name"]
    assert {each["spec"]["schema"]["prefix"] for each in running.of_kind("AIServiceBackend")} == {"/v1"}


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        pytest.param("", "APIKey", id="bearer"),
        pytest.param("X-Api-Key", "AnthropicAPIKey", id="x-api-key"),
        pytest.param("api-key", "AzureAPIKey", id="api-key"),
    ],
)
def test_a_key_goes_into_the_header_that_its_provider_reads(header: str, kind: str) -> None:
    store = [ai.gateway(), ai.provider("one", header=header)]
    running = ai.Running(routing.group(endpoint="one"), store=store)
    (policy,) = running.of_kind("BackendSecurityPolicy")
    assert policy["spec"]["type"] == kind


def test_nothing_is_routed_before_its_key_and_its_policy_exist() -> None:
    running = ai.Running(auth=KEYS)
    running.children, running.made = {}, []
    first = running.compose()
    assert "ai-route" not in first.children
    assert any(key.startswith("ai-credential-") for key in first.children)
    assert condition(first, "RouteReady").reason == "WaitingForPolicy"
    running.settle()
    assert "ai-route" in running.children


def test_a_service_that_checks_its_callers_has_a_host_to_itself() -> None:
    running = ai.Running(auth=KEYS)
    assert running.route["hostnames"] == [f"llama.{ai.HOST}"]
    (policy,) = running.of_kind("SecurityPolicy")
    assert policy["spec"]["targetRefs"][0]["name"] == "llama.ai"
    assert policy["spec"]["apiKeyAuth"]["forwardClientIDHeader"] == "x-modelplane-client"
    removed = running.route["rules"][0]["backendRefs"][0]["headerMutation"]["remove"]
    assert removed == ["authorization", "x-modelplane-client"], "a retry would restore them"


def test_the_new_host_is_not_open_before_its_policy_exists() -> None:
    running = ai.Running()
    before = running.route
    running.service["spec"]["auth"] = KEYS
    assert running.compose().children["ai-route"].resource["spec"] == before
    running.settle()
    assert running.route["hostnames"] == [f"llama.{ai.HOST}"]


# --- refusals ---------------------------------------------------------------------------------------------------------


def no_hostname(running: ai.Running) -> None:
    running.named("default")["spec"]["gateway"] = {}


def another_header(running: ai.Running) -> None:
    auth = {"secretRef": {"name": "k"}, "scheme": "Header", "header": "x-goog-api-key"}
    running.named("together")["spec"]["auth"] = auth


def an_address_beside_names(running: ai.Running) -> None:
    running.named("together")["spec"]["url"] = "http://93.184.216.34"


def a_host_of_its_own_choice(running: ai.Running) -> None:
    running.service["spec"]["host"] = f"other.{ai.HOST}"


def a_granted_host_with_keys(running: ai.Running) -> None:
    running.named("default")["spec"]["gateway"]["hosts"] = [{"host": "chat.example.com", "namespaces": ["ml-team"]}]
    running.service["spec"] |= {"host": "chat.example.com", "auth": KEYS}


def a_host_of_two_namespaces(running: ai.Running) -> None:
    hosts = [{"host": "chat.example.com", "namespaces": ["ml-team", "other"]}]
    running.named("default")["spec"]["gateway"]["hosts"] = hosts
    running.service["spec"]["host"] = "chat.example.com"


def the_host_of_another_namespace(running: ai.Running) -> None:
    host = "other.models.example.com"
    running.named("default")["spec"]["gateway"]["hosts"] = [{"host": host, "namespaces": ["ml-team"]}]
    running.service["spec"]["host"] = host


def no_gateway(running: ai.Running) -> None:
    running.without("default")


def nothing_is_ready(running: ai.Running) -> None:
    for name in ("llama-0", "llama-1", "together"):
        running.named(name)["status"]["ready"] = False


def nothing_matches(running: ai.Running) -> None:
    running.without("llama-0", "llama-1", "together")


def endpoints_cannot_be_read(running: ai.Running) -> None:
    for name in ("llama-0", "llama-1", "together"):
        running.named(name)["spec"]["url"] = "nonsense"


def endpoints_lose_their_status(running: ai.Running) -> None:
    for name in ("llama-0", "llama-1", "together"):
        del running.named(name)["status"]


def the_type_of_the_gateway_is_changed(running: ai.Running) -> None:
    running.named("default")["spec"]["type"] = "Envoy"


Break = Callable[[ai.Running], None]
REFUSED = [
    pytest.param(no_hostname, "HostnameRequired", "*.models.example.com", id="no-hostname"),
    pytest.param(another_header, "CredentialNotOffered", "type Envoy", id="header"),
    pytest.param(an_address_beside_names, "AddressKindConflict", "together", id="address"),
    pytest.param(a_host_of_its_own_choice, "HostNotAllowed", ai.HOST, id="host"),
    pytest.param(a_granted_host_with_keys, "HostNotAllowed", f"llama.{ai.HOST}", id="host-with-keys"),
    pytest.param(a_host_of_two_namespaces, "HostNotAllowed", "this namespace alone", id="shared-host"),
    pytest.param(the_host_of_another_namespace, "HostNotAllowed", ai.HOST, id="host-of-another-namespace"),
]


@pytest.mark.parametrize(("break_", "reason", "says"), REFUSED)
def test_a_refusal_names_the_gateway_and_the_alternative(
    break_: Callable[[ai.Running], None], reason: str, says: str
) -> None:
    running = ai.Running()
    break_(running)
    accepted = condition(running.compose(), "Accepted")
    assert (accepted.status, accepted.reason) == (Truth.FALSE, reason)
    assert says in accepted.message
    assert "kept as it is" in accepted.message


@pytest.mark.parametrize(
    "spec",
    [
        {"affinity": {}},
        {"cors": {"allowOrigins": ["https://app.example"]}},
        {"ejection": {}},
        {"endpoints": [routing.group(deployment="llama", maxRequests=4)]},
        {"locality": {}},
        {"maxRequestSize": "8Mi"},
        {"auth": KEYS, "rateLimit": {"requests": 5, "unit": "Minute", "per": "Client"}},
        {"slowStart": {}},
    ],
    ids="-".join,
)
def test_a_wish_that_only_the_other_type_fulfils_is_refused_with_the_name_of_the_gateway(spec: Json) -> None:
    running = ai.Running()
    running.service["spec"] |= copy.deepcopy(spec)
    accepted = condition(running.compose(), "Accepted")
    assert (accepted.status, accepted.reason) == (Truth.FALSE, "NotOffered")
    said = 'InferenceGateway "default", Envoy AI Gateway with Envoy Gateway v1.9.0 (type EnvoyAI): '
    assert accepted.message.startswith(said)
    assert "which this gateway does not offer" in accepted.message


def test_no_relay_is_asked_for_by_a_service_that_could_use_one() -> None:
    running = ai.Running()
    running.named("default")["spec"]["relay"] = {"namespaces": [routing.NAMESPACE]}
    running.named("default")["status"]["relay"] = {"name": "relay-default"}
    before = set(running.children)
    running.settle()
    assert set(running.children) == before


BREAKS: list[Break] = [
    no_hostname,
    another_header,
    an_address_beside_names,
    a_host_of_its_own_choice,
    a_granted_host_with_keys,
    a_host_of_two_namespaces,
    the_host_of_another_namespace,
    no_gateway,
    nothing_is_ready,
    nothing_matches,
    endpoints_cannot_be_read,
    endpoints_lose_their_status,
    the_type_of_the_gateway_is_changed,
]


@pytest.mark.parametrize("break_", [pytest.param(each, id=each.__name__) for each in BREAKS])
def test_hold_no_broken_input_removes_what_runs(break_: Callable[[ai.Running], None]) -> None:
    running = ai.Running()
    before = copy.deepcopy(running.children)
    break_(running)
    for _ in range(4):
        running.step()
        assert before.keys() <= running.children.keys()
        assert running.route == before["ai-route"]["spec"]


@pytest.mark.parametrize("break_", [pytest.param(each, id=each.__name__) for each in BREAKS])
def test_a_repaired_input_gives_the_same_route_again(break_: Callable[[ai.Running], None]) -> None:
    running, fresh = ai.Running(), ai.Running()
    break_(running)
    running.settle()
    running.service["spec"], running.store = fresh.service["spec"], fresh.store
    assert running.settle().ready is Ready.TRUE
    assert running.route == fresh.route


def test_a_provider_that_is_not_ready_for_a_while_keeps_its_place_without_a_weight() -> None:
    """The AI gateway names providers by place; its processors learn of another place later than Envoy does."""
    running = ai.Running()
    before = running.route["rules"][0]["backendRefs"]
    for name in ("llama-0", "llama-1"):
        running.named(name)["status"]["ready"] = False
    running.settle()
    first, second = running.route["rules"][0]["backendRefs"]
    assert (first["name"], first["weight"]) == (before[0]["name"], 0)
    assert (second["name"], second["weight"]) == (before[1]["name"], 1)


def test_replicas_that_come_and_go_change_no_route() -> None:
    running = ai.Running(routing.group(deployment="llama", weight=95), routing.group(endpoint="together", weight=5))
    before = running.route
    running.store.append(routing.replica_endpoint("llama-2", "llama", cluster="north", model={"name": "llama-3"}))
    running.settle()
    assert running.route == before
    assert [each["weight"] for each in running.route["rules"][0]["backendRefs"]] == [19, 1]
    assert max(len(each["spec"]["endpoints"]) for each in running.of_kind("Backend")) == 3
    running.without("llama-0", "llama-1")
    running.settle()
    assert running.route == before


def test_a_new_provider_takes_the_last_place() -> None:
    running = ai.Running()
    before = [each["name"] for each in running.route["rules"][0]["backendRefs"]]
    running.store.append(ai.provider("first"))
    running.service["spec"]["endpoints"].insert(0, routing.group(endpoint="first"))
    running.settle()
    assert [each["name"] for each in running.route["rules"][0]["backendRefs"]][:2] == before


def test_a_group_that_is_drained_keeps_its_place() -> None:
    running = ai.Running()
    running.service["spec"]["endpoints"][0]["weight"] = 0
    running.settle()
    assert [each["weight"] for each in running.route["rules"][0]["backendRefs"]] == [0, 1]


# --- sequences --------------------------------------------------------------------------------------------------------


def test_a_provider_that_changes_is_made_before_the_route_and_removed_after_the_generated_one() -> None:
    running = ai.Running()
    old = running.route["rules"][0]["backendRefs"][1]["name"]
    running.named("together")["spec"]["auth"]["secretRef"]["name"] = "rotated"
    before = running.route
    running.step()
    assert running.route == before, "its new provider does not exist yet"
    made = running.made
    running.step()
    new = running.route["rules"][0]["backendRefs"][1]["name"]
    assert new != old
    running.made = made
    names = {child.resource["metadata"]["name"] for child in running.compose().children.values()}
    assert {old, new} <= names, "the HTTPRoute that the AI gateway made refers to the old one still"
    running.settle()
    assert old not in {each["metadata"]["name"] for each in running.children.values()}


def test_a_route_is_ready_only_once_the_generated_one_says_the_same() -> None:
    running = ai.Running()
    made = copy.deepcopy(running.made)
    running.made = []
    assert "not made the HTTPRoute" in condition(running.compose(), "RouteReady").message
    running.made = made
    running.made[0]["spec"]["rules"][0]["backendRefs"][0]["weight"] = 7
    found = condition(running.compose(), "RouteReady")
    assert (found.status, found.reason) == (Truth.UNKNOWN, "Waiting")


def test_what_the_ai_gateway_refuses_is_told() -> None:
    running = ai.Running()
    refusal = routing.condition("NotAccepted", is_true=False, message="AIServiceBackend x not found")
    running.children["ai-route"]["status"] = {"conditions": [refusal]}
    found = condition(running.compose(), "RouteReady")
    assert (found.status, found.message) == (Truth.FALSE, "AIServiceBackend x not found")


def test_a_service_moves_between_gateways_of_two_types_and_keeps_its_route_until_the_new_one_serves() -> None:
    running = ai.Running(
        routing.group(deployment="llama"),
        store=[
            routing.inference_gateway("paths"),
            ai.gateway("models"),
            routing.replica_endpoint("llama-0", "llama"),
        ],
        gatewayRef={"name": "paths"},
        auth=KEYS,
    )
    assert {"route", "security-policy"} <= running.children.keys()
    running.service["spec"]["gatewayRef"]["name"] = "models"
    for _ in range(8):
        outcome = running.compose()
        is_new_good = condition(outcome, "RouteReady").status is Truth.TRUE and "ai-route" in running.children
        assert is_new_good or "route" in outcome.children
        if "route" in running.children:
            assert "security-policy" in outcome.children, "a route without its policy is open"
        if running.step() is not None:
            break
    assert "ai-route" in running.children
    assert {"route", "security-policy", "traffic-policy"}.isdisjoint(running.children)
    running.service["spec"]["gatewayRef"]["name"] = "paths"
    running.settle()
    assert "route" in running.children
    assert not any(key.startswith("ai-") for key in running.children)


def test_a_relayed_service_moves_and_its_legs_go_after_the_rule_that_asks_for_them() -> None:
    paths = routing.inference_gateway("paths", relay={"namespaces": [routing.NAMESPACE]})
    paths["status"]["relay"] = {"name": "relay-paths"}
    running = ai.Running(
        store=[
            paths,
            ai.gateway("models"),
            routing.replica_endpoint("llama-0", "llama"),
            routing.model_endpoint("together", auth={"secretRef": {"name": "together-key"}}),
        ],
        gatewayRef={"name": "paths"},
    )
    legs = {key for key in running.children if key.startswith("leg-")}
    assert legs
    assert "circle-filter" in running.children
    for name, gone in (("models", "route"), ("paths", "ai-route")):
        running.service["spec"]["gatewayRef"]["name"] = name
        for _ in range(12):
            outcome = running.compose()
            is_new_good = condition(outcome, "RouteReady").status is Truth.TRUE
            assert is_new_good or gone in outcome.children
            if "route" in outcome.children:
                assert legs | {"circle-filter"} <= outcome.children.keys(), "the rule asks for them"
            if running.step() is not None:
                break
        assert gone not in running.children
    assert legs <= running.children.keys()


def test_authorities_that_endpoints_give_are_there_before_the_route_and_leave_after_the_backends() -> None:
    running = ai.Running()
    certificate = "-----BEGIN CERTIFICATE-----\nMIIBdzCCAR2gAwIBAgIUQ0x{}\n-----END CERTIFICATE-----\n"
    before = running.route
    replicas = [running.named(name) for name in ("llama-0", "llama-1")]
    for number, endpoint in enumerate(replicas):
        endpoint["spec"]["url"] = endpoint["spec"]["url"].replace("http://", "https://")
        endpoint["spec"]["tls"] = {"caCertificates": certificate.format(number), "sni": "east.internal"}
    first = running.compose()
    assert first.children["ai-route"].resource["spec"] == before, "held until what it refers to is there"
    (key,) = (each for each in first.children if each.startswith("authorities-"))
    given = first.children[key].resource
    assert given["data"]["ca.crt"].count("BEGIN") == 2, "one bundle for one name, with the authorities of all"
    backend = first.children[key.replace("authorities", "backend", 1)].resource
    assert [ref["name"] for ref in backend["spec"]["tls"]["caCertificateRefs"]] == [given["metadata"]["name"]]
    assert running.settle().ready is Ready.TRUE
    assert key in running.children
    places = running.route["rules"][0]["backendRefs"]

    replicas[0]["spec"]["tls"]["caCertificates"] = certificate.format(7)
    running.settle()
    assert running.route["rules"][0]["backendRefs"] == places, "other authorities change no provider"
    assert "Q0x7" in running.children[key]["data"]["ca.crt"]

    for endpoint in replicas:
        endpoint["spec"]["url"] = endpoint["spec"]["url"].replace("https://", "http://")
        del endpoint["spec"]["tls"]
    assert key in running.compose().children, "the Backend that the route still uses trusts them"
    running.settle()
    assert key not in running.children


def test_apis_are_translated_where_the_gateway_can_and_a_note_says_where_it_cannot() -> None:
    claude = ai.provider("claude", header="x-api-key", api=["Anthropic"])
    running = ai.Running(
        routing.group(deployment="llama"),
        routing.group(endpoint="claude", priority=1),
        store=[ai.gateway(), routing.replica_endpoint("llama-0", "llama", model={"name": "m"}), claude],
    )
    schemas = [each["spec"]["schema"]["name"] for each in running.of_kind("AIServiceBackend")]
    assert sorted(schemas) == ["Anthropic", "OpenAI"]
    assert "claude has only the Anthropic API" in condition(running.compose(), "EndpointsReady").message


def test_more_than_two_priorities_are_kept() -> None:
    groups = [routing.group(endpoint=name, priority=level) for level, name in enumerate(("a", "b", "c"))]
    running = ai.Running(*groups, store=[ai.gateway(), *(ai.provider(name) for name in ("a", "b", "c"))])
    assert [each["priority"] for each in running.route["rules"][0]["backendRefs"]] == [0, 1, 2]


def test_replicas_with_addresses_stand_beside_no_provider_without_a_weight() -> None:
    """With both kinds of address Envoy Gateway splits the cluster, and the AI gateway treats none."""
    groups = [routing.group(endpoint="together"), routing.group(deployment="llama", weight=0)]
    store = [ai.gateway(), ai.provider("together"), routing.replica_endpoint("llama-1", "llama", url="http://10.0.0.1")]
    running = ai.Running(*groups, store=store)
    running.service["spec"]["endpoints"] = [{**groups[0], "weight": 0}, {**groups[1], "weight": 1}]
    running.settle()
    (only,) = running.route["rules"][0]["backendRefs"]
    assert only["weight"] == 1


def test_replicas_with_addresses_are_one_provider() -> None:
    store = [ai.gateway(), *(routing.replica_endpoint(f"llama-{n}", "llama", url=f"http://10.0.0.{n}") for n in (1, 2))]
    running = ai.Running(routing.group(deployment="llama"), store=store)
    (backend,) = running.of_kind("Backend")
    assert [each["ip"]["address"] for each in backend["spec"]["endpoints"]] == ["10.0.0.1", "10.0.0.2"]


def test_the_status_says_the_model_on_an_ai_gateway_alone() -> None:
    assert ai.Running().compose().status["model"] == "llama"
    store = [routing.inference_gateway(), routing.replica_endpoint("llama-0", "llama")]
    plain = ai.Running(routing.group(deployment="llama"), store=store)
    assert "model" not in plain.compose().status
