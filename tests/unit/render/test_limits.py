"""Rules of the limits that all proxies count together: whom each meets, and under which place it is counted."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import service_access
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.render import limits
from modelplane.routing.balancing import Balancing, Locality
from modelplane.routing.model import ApiKeys, Jwt, Service
from modelplane.routing.url import AddressKind, Place

Json = Any
KEYS = ApiKeys("keys")
JWT = Jwt("https://i.example", "https://i.example/keys", Place(AddressKind.FQDN, "i.example"))
CLIENT = "x-modelplane-client"


def rules(spec: Json, proof: ApiKeys | Jwt | None = KEYS) -> list[Json]:
    limit = service_access.rate_limit(Field(spec), proof)
    assert limit is not None
    assert limit.is_shared
    return list(limits.rate_limit(limit, Service("ml-team", "llama", (), auth=proof))["global"]["rules"])


def shape(rule: Json) -> tuple[str, int, str]:
    return "tokens" if "cost" in rule else "requests", rule["limit"]["requests"], rule["limit"]["unit"]


def headers(rule: Json) -> list[Json]:
    (selector,) = rule["clientSelectors"]
    return list(selector["headers"])


def test_the_longest_time_comes_first_and_requests_last() -> None:
    budgets = [{"tokens": 3, "unit": "Day"}, {"tokens": 4, "unit": "Year"}, {"tokens": 5, "unit": "Week"}]
    made = rules({"requests": 1, "tokens": 2, "unit": "Minute", "budgets": budgets})
    assert [shape(each) for each in made] == [
        ("tokens", 4, "Year"),
        ("tokens", 5, "Week"),
        ("tokens", 3, "Day"),
        ("tokens", 2, "Minute"),
        ("requests", 1, "Minute"),
    ]
    assert all(each["clientSelectors"][0]["methods"] == [{"value": "POST"}] for each in made[:-1])
    assert "clientSelectors" not in made[-1], "so that the two are never counted under one name"


def test_a_client_with_a_limit_of_its_own_has_no_other() -> None:
    spec = {
        "per": "Client",
        "requests": 1,
        "unit": "Hour",
        "clients": [{"names": ["b.tch", "eval"], "requests": 100}, {"names": ["nightly"], "tokens": 7}],
    }
    every, batch, nightly = rules(spec)
    others = "^(b\\.tch|eval|nightly)$"
    assert headers(every) == [
        {"type": "RegularExpression", "name": CLIENT, "value": others, "invert": True},
        {"type": "Distinct", "name": CLIENT},
    ]
    assert headers(batch)[0] == {"type": "RegularExpression", "name": CLIENT, "value": "^(b\\.tch|eval)$"}
    assert (shape(batch), shape(nightly)) == (("requests", 100, "Hour"), ("tokens", 7, "Hour"))


def test_tokens_without_a_subject_share_one_count_and_keys_always_have_a_name() -> None:
    spec = {"per": "Client", "tokens": 1, "unit": "Hour"}
    assert len(rules(spec)) == 1
    _, nobody = rules(spec, JWT)
    assert headers(nobody) == [{"type": "RegularExpression", "name": CLIENT, "value": ".*", "invert": True}]


def test_the_places_of_a_service_have_one_count() -> None:
    limit = service_access.rate_limit(Field({"requests": 1, "unit": "Hour", "countedBy": "Gateway"}), None)
    assert limit is not None
    service = Service("ml-team", "llama", (), balancing=Balancing(locality=Locality()))
    (rule,) = limits.rate_limit(limit, service)["global"]["rules"]
    assert rule["shared"] is True


def test_another_client_at_the_end_moves_no_count() -> None:
    first = {"names": ["a"], "tokens": 1}
    spec = {"per": "Client", "requests": 1, "unit": "Hour", "clients": [first]}
    before = rules(spec)
    after = rules({**spec, "clients": [first, {"names": ["b"], "tokens": 1}]})
    assert after[1] == before[1]
    assert [shape(each) for each in after[:2]] == [shape(each) for each in before]


@pytest.mark.parametrize(
    ("spec", "field", "says"),
    [
        pytest.param({}, "", "must have a limit", id="nothing"),
        pytest.param({"unit": "Hour"}, "", "must have a limit", id="unit-alone"),
        pytest.param({"tokens": 1}, "unit", "is required", id="no-unit"),
        pytest.param({"tokens": 1, "unit": "Day"}, "unit", "must be one of", id="long-unit"),
        pytest.param({"budgets": [{"tokens": 1, "unit": "Hour"}]}, "budgets[0].unit", "must be one of", id="short"),
        pytest.param({"budgets": [{"tokens": 1, "unit": "Day"}] * 2}, "budgets", "one budget", id="twice"),
        pytest.param({"budgets": [{"tokens": 2**32, "unit": "Day"}]}, "budgets[0].tokens", "at most", id="too-many"),
        pytest.param(
            {"requests": 1, "unit": "Hour", "clients": [{"names": ["a"], "requests": 1}]},
            "clients",
            "write per: Client",
            id="clients-of-all",
        ),
        pytest.param(
            {"requests": 1, "unit": "Hour", "per": "Client", "clients": [{"names": ["a"]}]},
            "clients[0]",
            "must have a limit",
            id="client-without-limit",
        ),
        pytest.param(
            {"requests": 1, "unit": "Hour", "per": "Client", "clients": [{"names": ["a b"], "requests": 1}]},
            "clients[0].names[0]",
            "no name of a client",
            id="no-name",
        ),
        pytest.param(
            {"requests": 1, "unit": "Hour", "per": "Client", "clients": [{"names": ["a"], "requests": 1}] * 2},
            "clients",
            "name a twice",
            id="named-twice",
        ),
        pytest.param(
            {
                "requests": 1,
                "unit": "Hour",
                "per": "Client",
                "clients": [{"names": [f"{n}{'x' * 250}" for n in range(5)], "requests": 1}],
            },
            "clients",
            "fewer clients",
            id="long-names",
        ),
    ],
)
def test_wrong_limits_are_refused_at_their_field(spec: Json, field: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        service_access.rate_limit(Field(spec), KEYS)
    text = str(refused.value)
    assert says in text
    assert field in text
