"""The form of a rule by what a service asks for, the rules of places, and what a gateway cannot do."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane import names
from modelplane.api import endpoint as endpoints
from modelplane.api import gateway as gateways
from modelplane.api import service as services
from modelplane.errors import Unsupported
from modelplane.routing import features, plan, wishes
from modelplane.routing.features import GatewayType
from modelplane.routing.plan import Plan, Variant
from tests.support import routing

Json = Any
A, B = routing.group(deployment="a"), routing.group(deployment="b")
KEYED: Json = {"auth": {"secretRef": {"name": "key"}}}


def placed(name: str, region: str, deployment: str = "a", **changes: Json) -> Json:
    document = routing.replica_endpoint(name, deployment, cluster=name, **changes)
    if region:
        document["metadata"]["labels"][names.LABEL_REGION] = region
    return document


def decide(document: Json, *groups: list[Json], home: str = "", version: str = "v1.9.0") -> Plan:
    matched = [[endpoints.candidate(each) for each in group] for group in groups]
    offered = features.features(GatewayType.ENVOY, version)
    return plan.decide(services.decode(document), matched, offered, {names.LABEL_REGION: home} if home else {})


PLAIN = [placed("a-0", ""), placed("a-1", "")]
OTHER = [placed("b-0", "", "b")]
MIXED = [placed("a-0", ""), placed("a-1", "", url="http://10.0.0.1")]


@pytest.mark.parametrize(
    ("spec", "groups", "want"),
    [
        pytest.param({}, (PLAIN,), Variant.PER_ENDPOINT, id="nothing-asked"),
        pytest.param({"slowStart": {}}, (PLAIN,), Variant.SHARED, id="slow-start"),
        pytest.param({"ejection": {}}, (PLAIN,), Variant.SHARED, id="ejection"),
        pytest.param({"locality": {}}, (PLAIN,), Variant.SHARED, id="locality"),
        pytest.param({"affinity": {}}, (PLAIN,), Variant.SHARED, id="sessions-of-one-group"),
        pytest.param({"affinity": {}}, (PLAIN, OTHER), Variant.PER_ENDPOINT, id="sessions-by-weight"),
        pytest.param({"affinity": {}}, (MIXED,), Variant.PER_ENDPOINT, id="sessions-of-names-and-addresses"),
    ],
)
def test_the_form_of_the_rule_follows_what_is_asked(spec: Json, groups: tuple[list[Json], ...], want: Variant) -> None:
    document = routing.model_service(*(A, B)[: len(groups)], **spec)
    assert decide(document, *groups).variant is want


def test_the_form_does_not_change_with_what_is_ready() -> None:
    document = routing.model_service(A, affinity={})
    silent = placed("a-2", "", ready=False, url="http://10.0.0.1")
    assert decide(document, [*PLAIN, silent]).variant is decide(document, [PLAIN[0], silent]).variant


@pytest.mark.parametrize(
    ("spec", "groups", "reason", "says"),
    [
        pytest.param(
            {"locality": {}},
            ((A, PLAIN), ({**B, "priority": 1}, OTHER)),
            "TooManyPriorities",
            "leave out locality",
            id="three-levels",
        ),
        pytest.param(
            {"slowStart": {}},
            ((A, [*PLAIN, routing.replica_endpoint("a-9", "a", **KEYED)]),),
            "CredentialConflict",
            "separate ModelService",
            id="credentials",
        ),
        pytest.param({"ejection": {}}, ((A, MIXED),), "AddressKindConflict", "use host names", id="addresses"),
        pytest.param(
            {"affinity": {}, "ejection": {}},
            ((A, PLAIN), (B, OTHER)),
            "AffinityIgnoresWeights",
            "one group for each priority",
            id="sessions-and-weights-in-one-cluster",
        ),
        pytest.param({"affinity": {"type": "PrefixHash"}}, ((A, PLAIN),), "NotOffered", "LLMD", id="prompts"),
        pytest.param(
            {"rateLimit": {"requests": 1, "unit": "Hour", "tokens": 9}},
            ((A, PLAIN),),
            "TokenLimitNotOffered",
            "per: Client",
            id="tokens",
        ),
        pytest.param(
            {"locality": {}},
            ((A, [placed(f"a-{n}", f"r-{n}") for n in range(16)]),),
            "TooManyPlaces",
            "fewer values",
            id="sixteen-places",
        ),
    ],
)
def test_what_the_gateway_cannot_do_is_refused_with_an_alternative(
    spec: Json, groups: tuple[tuple[Json, list[Json]], ...], reason: str, says: str
) -> None:
    document = routing.model_service(*(group for group, _ in groups), **spec)
    with pytest.raises(Unsupported) as refused:
        decide(document, *(members for _, members in groups))
    assert refused.value.reason == reason
    assert says in refused.value.message


def test_an_older_gateway_leaves_the_cluster_of_a_session_to_chance() -> None:
    document = routing.model_service(A, B, affinity={})
    with pytest.raises(Unsupported, match=r"v1\.9 or later"):
        decide(document, PLAIN, OTHER, version="v1.8.2")
    assert decide(routing.model_service(A, affinity={}), PLAIN, version="v1.8.2").variant is Variant.SHARED


# --- places -----------------------------------------------------------------------------------------------------------

PLACES = [placed("a-0", "eu"), placed("a-1", "us"), placed("a-2", "us"), placed("a-3", "")]
LOCAL = routing.model_service(A, locality={})


def test_each_place_has_a_rule_in_which_the_others_stand_by() -> None:
    decided = decide(LOCAL, PLACES)
    assert [area.place for area in decided.areas] == ["eu", "us"]
    for area in decided.areas:
        near, rest = area.bundles
        assert {each.place.get(names.LABEL_REGION) for each in near.endpoints} == {area.place}
        assert (near.standby, rest.standby) == (False, True)
        assert len(near.endpoints) + len(rest.endpoints) == 4
    assert [bundle.standby for bundle in decided.bundles] == [False], "a request of no place takes all by weight"
    assert len(decided.all_bundles) == 5


def test_the_rule_for_all_is_that_of_the_gateways_own_place() -> None:
    decided = decide(LOCAL, PLACES, home="eu")
    assert decided.bundles == decided.areas[0].bundles
    assert len(decided.all_bundles) == 4
    assert decide(LOCAL, PLACES, home="mars").bundles == decide(LOCAL, PLACES).bundles


def test_a_place_that_comes_changes_no_rule_of_another() -> None:
    before, after = decide(LOCAL, PLACES[:3]), decide(LOCAL, [*PLACES[:3], placed("b-9", "ap")])
    assert [bundle.key for bundle in before.bundles] == [bundle.key for bundle in after.bundles]
    keys = {area.place: [bundle.key for bundle in area.bundles] for area in after.areas}
    for area in before.areas:
        assert keys[area.place] == [bundle.key for bundle in area.bundles]


def test_weights_hold_inside_a_place_whatever_the_numbers_elsewhere() -> None:
    document = routing.model_service({**A, "weight": 80}, {**B, "weight": 20}, locality={})
    near = decide(document, PLACES, [placed("b-0", "us", "b")]).areas[1].bundles
    assert {bundle.weight for bundle in near if not bundle.standby} == {4, 1}


def test_it_says_where_the_endpoints_are() -> None:
    (note,) = decide(LOCAL, PLACES, home="eu").notes
    assert "eu (1), us (2), 1 without modelplane.ai/region" in note
    assert "go to eu first" in note


# --- addresses of clients ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"clients": {"allowedCIDRs": ["10.0.0.0/8"]}}, id="networks"),
        pytest.param({"affinity": {"type": "ClientAddress"}}, id="sessions"),
    ],
)
def test_nothing_is_decided_by_addresses_that_the_gateway_does_not_know(spec: Json) -> None:
    service = services.decode(routing.model_service(A, **spec))
    with pytest.raises(Unsupported, match=r"spec\.clients\.addressFrom") as refused:
        wishes.check_addresses(service, gateways.decode(routing.inference_gateway("fleet")))
    assert refused.value.reason == "ClientAddressUnknown"
    wishes.check_addresses(service, gateways.decode(routing.inference_gateway(clients={"addressFrom": "Connection"})))
