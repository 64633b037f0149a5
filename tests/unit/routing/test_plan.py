"""What one rule can hold: which form it takes, and what is refused with which reason."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import endpoint, service
from modelplane.errors import Unsupported
from modelplane.routing import features, plan
from modelplane.routing.features import GatewayType
from modelplane.routing.plan import Plan, Variant
from tests.support import routing

Json = Any
OFFERED = features.features(GatewayType.ENVOY)


def decide(document: Json, *groups: list[Json]) -> Plan:
    matched = [[endpoint.candidate(each) for each in group] for group in groups]
    return plan.decide(service.decode(document), matched, OFFERED)


def two(*, first: Json = None, second: Json = None) -> Json:
    return routing.model_service(
        routing.group(deployment="a", **(first or {})), routing.group(deployment="b", **(second or {}))
    )


def many(count: int, **changes: Json) -> list[Json]:
    return [routing.replica_endpoint(f"r-{index:02}", "a", **changes) for index in range(count)]


BEARER = {"secretRef": {"name": "key"}}
SAAS = routing.model_endpoint("saas", "https://api.example.com/v1", auth=BEARER)
REPLICA = routing.replica_endpoint("r-0", "a")
STANDBY = {"second": {"priority": 1}}


def test_replicas_and_a_service_outside_the_fleet_share_one_rule_with_hosts_and_keys_of_their_own() -> None:
    decided = decide(two(first={"weight": 95}, second={"weight": 5}), many(2), [SAAS])
    assert decided.variant is Variant.PER_ENDPOINT
    assert [(target.endpoint.name, target.weight) for target in decided.targets] == [
        ("r-00", 19),
        ("r-01", 19),
        ("saas", 2),
    ]
    assert decided.is_complete
    assert decided.notes == ()


def test_priorities_put_all_endpoints_into_one_cluster() -> None:
    decided = decide(two(**STANDBY), many(2), [routing.replica_endpoint("s-0", "b")])
    assert decided.variant is Variant.SHARED
    assert [(len(bundle.endpoints), bundle.standby) for bundle in decided.bundles] == [(2, False), (1, True)]


def test_a_standby_serves_when_the_first_level_has_nobody() -> None:
    decided = decide(two(**STANDBY), [], [routing.replica_endpoint("s-0", "b")])
    assert [bundle.standby for bundle in decided.bundles] == [False]
    assert not decided.is_complete


def test_weights_hold_inside_each_priority() -> None:
    document = routing.model_service(
        routing.group(deployment="a", weight=3),
        routing.group(deployment="b", weight=1),
        routing.group(deployment="c", weight=7, priority=4),
    )
    decided = decide(document, many(2), [SAAS | {"spec": {"url": "https://b.example"}}], [REPLICA])
    assert [bundle.weight for bundle in decided.bundles] == [6, 2, 1]


def test_more_endpoints_than_a_rule_has_places_share_one_backend() -> None:
    document = routing.model_service(routing.group(deployment="a"))
    assert decide(document, many(16)).variant is Variant.PER_ENDPOINT
    decided = decide(document, many(17))
    assert decided.variant is Variant.SHARED
    assert [len(bundle.endpoints) for bundle in decided.bundles] == [17]


def test_one_backend_has_one_way_to_check_certificates() -> None:
    secure = [routing.model_endpoint(f"s-{index}", f"https://s-{index}.example.com") for index in range(2)]
    decided = decide(two(**STANDBY), secure, [REPLICA])
    assert [bundle.tls and bundle.tls.sni for bundle in decided.bundles] == ["s-0.example.com", "s-1.example.com", None]
    assert len({bundle.key for bundle in decided.bundles}) == 3


def test_an_endpoint_of_two_groups_belongs_to_the_first() -> None:
    decided = decide(two(first={"weight": 1}, second={"weight": 9}), [REPLICA], [REPLICA, SAAS])
    assert [(target.endpoint.name, target.group) for target in decided.targets] == [("r-0", 0), ("saas", 1)]
    assert decided.matched == 2


@pytest.mark.parametrize(
    ("groups", "says", "is_complete"),
    [
        pytest.param(([REPLICA], []), "it matches no endpoint", False, id="nothing-matches"),
        pytest.param(
            ([REPLICA], [SAAS | {"status": {}}]), "none of its 1 endpoints is ready", False, id="nothing-ready"
        ),
        pytest.param(
            ([REPLICA], [routing.model_endpoint("x", "http://localhost")]), "one label", False, id="cannot-be-read"
        ),
    ],
)
def test_a_group_without_ready_endpoints_gives_its_share_and_says_so(
    groups: tuple[list[Json], list[Json]],
    says: str,
    is_complete: bool,  # noqa: FBT001 - a table's column
) -> None:
    decided = decide(two(first={"weight": 1}, second={"weight": 9}), *groups)
    assert [target.endpoint.name for target in decided.targets] == ["r-0"]
    assert "its share goes to the others" in " ".join(decided.notes)
    assert says in " ".join(decided.notes)
    assert decided.is_complete is is_complete


def test_a_drained_group_is_left_out_and_is_no_fault() -> None:
    decided = decide(two(second={"weight": 0}), [REPLICA], [SAAS])
    assert [target.endpoint.name for target in decided.targets] == ["r-0"]
    assert decided.is_complete
    assert "drained" in " ".join(decided.notes)


def other(name: str = "other", url: str = "https://other.example.com", **spec: Json) -> list[Json]:
    return [routing.model_endpoint(name, url, **spec)]


@pytest.mark.parametrize(
    ("document", "groups", "reason", "says"),
    [
        pytest.param(
            two(),
            ([REPLICA], other(url="https://o.example/openai/v1")),
            "PathPrefixConflict",
            "/openai: other",
            id="path",
        ),
        pytest.param(
            two(),
            (other("a", model={"name": "x"}), other("b", model={"name": "y"})),
            "ModelNameConflict",
            "x: a; y: b",
            id="model-names",
        ),
        pytest.param(two(), ([REPLICA], other(api=["Anthropic"])), "NoCommonApi", "Anthropic: other", id="apis"),
        pytest.param(two(**STANDBY), ([REPLICA], [SAAS]), "CredentialConflict", "Secret key: saas", id="keys"),
        pytest.param(
            two(**STANDBY),
            ([REPLICA], other(url="http://203.0.113.1", host="h.example")),
            "AddressKindConflict",
            "IP: other",
            id="address-kinds",
        ),
        pytest.param(
            routing.model_service(*(routing.group(deployment=f"d{n}", priority=n) for n in range(3))),
            ([REPLICA], [], []),
            "TooManyPriorities",
            "0, 1, 2",
            id="three-levels",
        ),
        pytest.param(
            routing.model_service(routing.group(deployment="a")),
            ([*many(16), *other(auth=BEARER)],),
            "CredentialConflict",
            "more than 16 endpoints",
            id="seventeen-with-different-keys",
        ),
        pytest.param(
            routing.model_service(routing.group(deployment="a")),
            (many(300),),
            "TooManyEndpoints",
            "16 Backends of 256 endpoints",
            id="more-than-a-backend-holds",
        ),
        pytest.param(
            routing.model_service(routing.group(deployment="a")),
            ([routing.model_endpoint(f"s-{index:02}") for index in range(17)],),
            "TooManyEndpoints",
            "17 Backends",
            id="more-certificates-than-a-rule-holds",
        ),
    ],
)
def test_what_the_gateway_cannot_express_is_refused_with_the_endpoints_that_differ(
    document: Json, groups: tuple[list[Json], ...], reason: str, says: str
) -> None:
    with pytest.raises(Unsupported) as caught:
        decide(document, *groups)
    assert caught.value.reason == reason
    assert says in caught.value.message


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"auth": {"apiKeys": {"secretRef": {"name": "k"}}}}, id="auth"),
        pytest.param({"rateLimit": {"requests": 1, "unit": "Second"}}, id="rate-limit"),
    ],
)
def test_a_wish_outside_the_table_is_refused(spec: Json) -> None:
    wanted = service.decode(routing.model_service(routing.group(deployment="a"), **spec))
    with pytest.raises(Unsupported) as caught:
        plan.decide(wanted, [[endpoint.candidate(REPLICA)]], frozenset())
    assert caught.value.reason == "NotOffered"


def test_an_endpoint_that_is_not_ready_counts_when_conflicts_are_looked_for() -> None:
    """Otherwise the service would be accepted now and refused the moment the endpoint becomes ready."""
    late = routing.model_endpoint("late", "https://late.example/openai", ready=False)
    with pytest.raises(Unsupported, match="differ in path"):
        decide(two(), [REPLICA], [late])


def test_drained_endpoints_conflict_with_nobody() -> None:
    assert decide(two(second={"weight": 0}), [REPLICA], other(url="https://o.example/openai")).is_complete


@pytest.mark.parametrize(
    ("healths", "has_check"),
    [
        pytest.param([{"path": "/health"}, {"path": "/health"}], True, id="alike"),
        pytest.param([{"path": "/health"}, {"path": "/ready"}], False, id="different"),
        pytest.param([{"path": "/health"}, None], False, id="only-some"),
        pytest.param([None, None], False, id="none"),
    ],
)
def test_one_active_check_stands_for_a_rule_or_none_does(healths: list[Json], has_check: bool) -> None:  # noqa: FBT001 - a table's column
    documents = [
        routing.model_endpoint(f"e{index}", **({"healthCheck": health} if health else {}))
        for index, health in enumerate(healths)
    ]
    decided = decide(two(**STANDBY), documents[:1], documents[1:])
    assert (decided.health is not None) is has_check
    assert any("these differ: healthCheck: e0" in note for note in decided.notes) is (any(healths) and not has_check)
    weighted = decide(two(), documents[:1], documents[1:])
    assert any("is a standby" in note for note in weighted.notes) is any(healths)
