"""What goes through the relay, what does not, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import endpoint
from modelplane.api import gateway as gateways
from modelplane.api import service as services
from modelplane.errors import InvalidInput, Unsupported
from modelplane.render import relay as rendering
from modelplane.routing import features, plan, relay
from modelplane.routing.features import GatewayType
from modelplane.routing.model import Retries
from modelplane.routing.plan import Plan, Variant
from tests.support import routing

Json = Any
OFFERED = features.features(GatewayType.ENVOY)
BEARER = {"secretRef": {"name": "key"}}
SAAS = routing.model_endpoint("saas", "https://api.example.com/openai/v1", auth=BEARER)
OTHER = routing.model_endpoint("other", "https://llm.example.org/v1", auth={"secretRef": {"name": "other"}})
OWN = [routing.replica_endpoint(f"r-{index}", "a") for index in range(3)]
BY_ADDRESS = routing.replica_endpoint("r-9", "a", url="http://10.0.1.50:8080")


def door(*, ready: bool = True, **relay_: Json) -> Json:
    made = routing.inference_gateway(relay={"namespaces": ["ml-team"], **relay_})
    made["status"]["relay"] = {"name": "relay-default"} if ready else {}
    return made


def two(*, first: Json = None, second: Json = None, **spec: Json) -> Json:
    groups = routing.group(deployment="a", **(first or {})), routing.group(endpoint="b", **(second or {}))
    made = routing.model_service(*groups, **spec)
    made["metadata"]["uid"] = "uid-1"
    return made


STANDBY = {"second": {"priority": 1}}


def decide(document: Json, *groups: list[Json], gateway: Json | None = None) -> Plan:
    matched = [[endpoint.candidate(each) for each in group] for group in groups]
    state = gateways.state(gateway or door())
    return relay.decide(services.decode(document), matched, OFFERED, state.gateway)


def without(decided: Plan, refused: dict[str, str], document: Json | None = None) -> Plan:
    gateway = gateways.state(door()).gateway
    return relay.without(decided, refused, services.decode(document or two(**STANDBY)), gateway.relay)


@pytest.mark.parametrize(
    ("document", "second"),
    [
        pytest.param(two(), [SAAS | {"spec": {"url": "https://b.example", "auth": BEARER}}], id="weights"),
        pytest.param(two(**STANDBY), [routing.replica_endpoint("s-0", "b")], id="failover"),
    ],
)
def test_what_one_rule_can_hold_is_the_same_with_a_relay_and_without(document: Json, second: list[Json]) -> None:
    matched = [[endpoint.candidate(each) for each in group] for group in (OWN, second)]
    assert decide(document, OWN, second) == plan.decide(services.decode(document), matched, OFFERED)


def test_each_group_of_alike_endpoints_is_a_leg() -> None:
    decided = decide(two(first={"weight": 3}, **STANDBY), OWN, [SAAS, OTHER])
    assert decided.variant is Variant.RELAYED
    assert [[target.endpoint.name for target in leg.plan.targets] for leg in decided.legs] == [
        ["r-0", "r-1", "r-2"],
        ["other"],
        ["saas"],
    ]
    assert [(bundle.weight, bundle.standby) for bundle in decided.bundles] == [(3, False), (1, True), (1, True)]
    assert [leg.plan.prefix for leg in decided.legs] == ["", "", "/openai"]
    assert [leg.plan.credential and leg.plan.credential.secret for leg in decided.legs] == [None, "other", "key"]
    assert decided.credential is None
    assert all(
        each.url.host == "relay-default.envoy-gateway-system.svc" for b in decided.bundles for each in b.endpoints
    )
    assert len({leg.key for leg in decided.legs}) == 3


def test_a_leg_keeps_its_key_when_replicas_come_and_go() -> None:
    before, after = (decide(two(**STANDBY), OWN[:count], [SAAS]).legs for count in (1, 3))
    assert [leg.key for leg in before] == [leg.key for leg in after]


@pytest.mark.parametrize(
    "second",
    [
        pytest.param([SAAS], id="credential-and-path"),
        pytest.param([routing.model_endpoint("b", "https://b.example", auth=BEARER)], id="credential"),
        pytest.param([BY_ADDRESS], id="kind-of-address"),
    ],
)
def test_without_a_relay_the_cause_stays_and_says_who_can_change_it(second: list[Json]) -> None:
    with pytest.raises(Unsupported) as refused:
        decide(two(**STANDBY), OWN, second, gateway=routing.inference_gateway())
    assert refused.value.reason in {"PathPrefixConflict", "CredentialConflict", "AddressKindConflict"}
    assert 'add namespace ml-team to InferenceGateway "default" spec.relay.namespaces' in refused.value.message


@pytest.mark.parametrize(
    ("document", "gateway", "reason", "says"),
    [
        pytest.param(two(**STANDBY), door(ready=False), "RelayNotReady", "not programmed yet", id="not-ready"),
        pytest.param(
            two(**STANDBY), door(namespaces=["b"]), "PathPrefixConflict", "spec.relay.namespaces", id="others"
        ),
        pytest.param(
            two(**STANDBY, retries={"attempts": 0}), door(), "RetriesNeeded", "spec.retries.attempts", id="no-attempts"
        ),
        pytest.param(
            two(**STANDBY, retries={"on": ["429"]}), door(), "RetriesNeeded", "connect-failure", id="no-cause"
        ),
        pytest.param(
            two(first={"maxRequests": 4}), routing.inference_gateway(), "NotOffered", "needs a relay", id="limit"
        ),
    ],
)
def test_a_refusal_names_what_would_change_it(document: Json, gateway: Json, reason: str, says: str) -> None:
    with pytest.raises(Unsupported) as refused:
        decide(document, OWN, [SAAS] if reason != "NotOffered" else [], gateway=gateway)
    assert refused.value.reason == reason
    assert says in refused.value.message


def test_model_names_and_apis_that_differ_are_refused_with_a_relay_too() -> None:
    named = [routing.model_endpoint(name, f"https://{name}.example", model={"name": name}) for name in ("x", "y")]
    with pytest.raises(Unsupported) as refused:
        decide(two(**STANDBY), named[:1], named[1:])
    assert refused.value.reason == "ModelNameConflict"


@pytest.mark.parametrize(
    ("limit", "endpoints", "replicas", "want"),
    [(64, 3, 2, 96), (1, 1, 2, 1), (5, 1, 2, 3), (0, 3, 2, 0), (7, 2, 1, 14)],
)
def test_each_proxy_of_the_relay_has_its_part_of_the_limit(
    limit: int, endpoints: int, replicas: int, want: int
) -> None:
    first = {"maxRequests": limit} if limit else {}
    decided = decide(two(first=first, **STANDBY), OWN[:endpoints], [SAAS], gateway=door(replicas=replicas))
    assert decided.legs[0].plan.max_parallel == want
    assert decided.legs[1].plan.max_parallel == 0


def test_shares_among_groups_of_one_priority_are_exact() -> None:
    decided = decide(two(first={"weight": 95}, second={"weight": 5}), OWN, [SAAS])
    own, saas = (bundle.weight for bundle in decided.bundles)
    assert own * 5 == saas * 95


def test_an_endpoint_that_could_not_be_reached_is_repeated_elsewhere() -> None:
    assert relay.outer(Retries(2, ("connect-failure",), (429,))).status_codes == (429, 503)
    assert relay.outer(Retries(2, (), (429, 503))).status_codes == (429, 503)
    assert relay.inner(Retries(5), 1).attempts == 0
    assert relay.inner(Retries(5), 2).attempts == 2
    assert relay.inner(Retries(1), 2).attempts == 1


def test_a_leg_that_the_gateway_refuses_is_left_out_and_the_next_priority_is_in_use() -> None:
    decided = decide(two(**STANDBY), OWN, [SAAS])
    own, saas = decided.legs
    left = without(decided, {saas.key: "no Secret"})
    assert [bundle.key for bundle in left.bundles] == [own.key]
    assert "saas: the gateway refuses the route at the relay: no Secret" in left.notes[-1]
    assert not left.is_complete
    standby = without(decided, {own.key: "broken"})
    assert [(bundle.key, bundle.standby) for bundle in standby.bundles] == [(saas.key, False)]
    assert without(decided, {own.key: "x", saas.key: "y"}) == decided, "the last one is not taken away"
    assert without(decided, {}) == decided


def test_two_services_have_two_tokens_and_a_service_that_is_made_again_has_another() -> None:
    tokens = set()
    for uid, name in (("uid-1", "llama"), ("uid-1", "other"), ("uid-2", "llama")):
        document = two(**STANDBY)
        document["metadata"] |= {"uid": uid, "name": name}
        tokens.add(decide(document, OWN, [SAAS]).token)
    assert len(tokens) == 3
    document = two(**STANDBY)
    del document["metadata"]["uid"]
    with pytest.raises(Unsupported):
        decide(document, OWN, [SAAS])


@pytest.mark.parametrize(
    "url",
    [
        "http://relay-default.envoy-gateway-system.svc:8080",
        "http://relay-default.envoy-gateway-system.svc.cluster.local:8080/v1",
    ],
)
def test_no_endpoint_leads_to_the_relay(url: str) -> None:
    rules = gateways.state(door()).gateway.egress
    wanted = routing.model_endpoint("x", url, namespace="envoy-gateway-system")
    with pytest.raises(InvalidInput) as refused:
        endpoint.check_egress(endpoint.decode(wanted), [rules])
    assert "the fleet's own gateway" in refused.value.message


def test_no_endpoint_is_asked_by_the_host_of_a_leg() -> None:
    (leg, _) = decide(two(**STANDBY), OWN, [SAAS]).legs
    wanted = routing.model_endpoint("x", "http://alias.example.com", host=leg.host)
    with pytest.raises(InvalidInput):
        endpoint.decode(wanted)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        pytest.param({"relay": {}}, "at least one namespace", id="nobody"),
        pytest.param({"relay": {"namespaces": [f"n{i}" for i in range(65)]}}, "a Gateway allows 64", id="too-many"),
        pytest.param({"relay": {"namespaces": ["a"], "replicas": 0}}, "must be 1 or more", id="no-proxy"),
        pytest.param(
            {"relay": {"namespaces": ["a"]}, "envoyGateway": {"version": "v1.8.1"}}, "needs Envoy Gateway", id="old"
        ),
    ],
)
def test_a_relay_that_cannot_be_is_refused_at_its_field(spec: Json, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        gateways.decode(routing.inference_gateway(**spec))
    assert says in str(refused.value)
    assert "spec.relay" in str(refused.value)


def many(*priorities: int) -> tuple[Json, list[list[Json]]]:
    """Return a service with an endpoint of its own key for each priority."""
    groups = [routing.group(endpoint=f"p{index}", priority=priority) for index, priority in enumerate(priorities)]
    made = routing.model_service(*groups)
    made["metadata"]["uid"] = "uid-1"
    endpoints = [
        [routing.model_endpoint(f"p{index}", auth={"secretRef": {"name": f"k{index}"}})]
        for index in range(len(priorities))
    ]
    return made, endpoints


def ways(decided: Plan) -> list[tuple[list[str], list[str]]]:
    """Return what is in use and what stands by in each rule, the service's first, by the endpoints behind it."""
    legs = {leg.key: leg for leg in decided.legs}
    rules = [decided.bundles, *(leg.plan.bundles for leg in decided.legs if leg.is_chain)]
    return [
        (
            sorted(target.endpoint.name for b in rule if not b.standby for target in legs[b.key].plan.targets),
            sorted(target.endpoint.name for b in rule if b.standby for target in legs[b.key].plan.targets),
        )
        for rule in rules
    ]


@pytest.mark.parametrize(
    ("priorities", "found"),
    [
        pytest.param([0, 1], [(["p0"], ["p1"])], id="two"),
        pytest.param([0, 1, 2], [(["p0"], ["p1", "p2"]), (["p1"], ["p2"])], id="three"),
        pytest.param([5, 0, 5, 2], [(["p1"], ["p0", "p2", "p3"]), (["p3"], ["p0", "p2"])], id="any-order"),
        pytest.param(
            [0, 1, 2, 3],
            [(["p0"], ["p1", "p2", "p3"]), (["p1"], ["p2", "p3"]), (["p2"], ["p3"])],
            id="four",
        ),
    ],
)
def test_a_rule_has_one_priority_in_use_and_all_others_behind_its_standby(
    priorities: list[int], found: list[tuple[list[str], list[str]]]
) -> None:
    document, endpoints = many(*priorities)
    decided = decide(document, *endpoints)
    assert ways(decided) == found
    assert len({leg.key for leg in decided.legs}) == len(decided.legs)


def test_a_chain_keeps_its_key_while_endpoints_come_and_go() -> None:
    document, endpoints = many(0, 1, 2)
    whole = decide(document, *endpoints)
    (chain,) = (leg for leg in whole.legs if leg.is_chain)
    shorter = decide(document, [], *endpoints[1:])
    assert ways(shorter) == [(["p1"], ["p2"])]
    assert ways(without(whole, {whole.legs[1].key: "no Secret"}, document))[0] == (["p0"], ["p2"])
    left = without(whole, {chain.key: "no listener"}, document)
    assert ways(left)[0] == (["p0"], ["p1"])
    assert "p2: the gateway refuses the route at the relay: no listener" in left.notes[-1]
    assert chain.key in {leg.key for leg in left.legs}, "it is judged again"


@pytest.mark.parametrize("attempts", [1, 2, 3, 10])
def test_a_request_that_everybody_refuses_is_not_multiplied_by_each_chain(attempts: int) -> None:
    document, endpoints = many(*range(16))
    document["spec"]["retries"] = {"attempts": attempts, "on": ["503"]}
    service = services.decode(document)
    gateway = gateways.state(door()).gateway
    decided = decide(document, *endpoints)
    legs = {leg.key: leg for leg in decided.legs}
    retries = {
        key: made["traffic-policy"].resource["spec"].get("retry", {"numRetries": 0})["numRetries"]
        for key, made in rendering.leg_manifests(service, gateway, decided).items()
    }

    def asked(bundles: Any, tries: int) -> int:
        """Envoy goes through the priorities of a rule, and then begins anew."""
        levels = [[b for b in bundles if b.standby is standby] for standby in (False, True)]
        return sum(one(levels[turn % 2][0].key) for turn in range(tries + 1))

    def one(key: str) -> int:
        return asked(legs[key].plan.bundles, retries[key]) if legs[key].is_chain else 1

    assert asked(decided.bundles, attempts) <= (attempts + 1) * 2 * 16


def test_three_priorities_without_a_relay_are_refused_with_the_way_to_have_them() -> None:
    document, _ = many(0, 1, 2)
    alike = [[routing.model_endpoint(f"p{index}")] for index in range(3)]
    with pytest.raises(Unsupported) as refused:
        decide(document, *alike, gateway=routing.inference_gateway())
    assert refused.value.reason == "TooManyPriorities"
    assert "spec.relay.namespaces" in refused.value.message
    assert len(decide(document, *alike).legs) == 4
