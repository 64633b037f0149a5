"""BackendRules: their own validation, what they decide for a deployment, and that they take nothing away."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import names
from modelplane.render.backends import kserve, native, selection
from modelplane_functions.compose import backend_rules, model_deployment
from modelplane_functions.exchange import Observed, Outcome, Ready, Truth
from tests.support import fleet
from tests.unit.compose.test_model_deployment import fetched

Json = Any


def rules(*entries: Json, name: str = "fleet") -> Json:
    return {
        "apiVersion": names.API_VERSION,
        "kind": "BackendRules",
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {"rules": list(entries)},
    }


def prefer(backend: str, when: str = "true", priority: int = 10, name: str = "ours") -> Json:
    return {"name": name, "backend": backend, "priority": priority, "when": when}


def test_rules_that_compile_are_accepted() -> None:
    given = rules(prefer("Native"), prefer("KServe", "has(spec.prefill) && spec.replicas > 1", name="split"))
    outcome = backend_rules.compose(Observed(given))
    (condition,) = outcome.conditions
    assert (condition.status, condition.message) == (Truth.TRUE, "2 rules compile")
    assert (outcome.status, outcome.ready, outcome.fatal) == ({"rules": 2, "invalid": []}, Ready.TRUE, None)


@pytest.mark.parametrize(
    ("when", "says"),
    [
        pytest.param("spec.engine ==", "line 1, column 15: ", id="half"),
        pytest.param("spec.replicas > 1 &&\n  other == 2", "line 2, column 3: undeclared", id="name"),
        pytest.param("spec.nope()", "line 1, column 10: ", id="function"),
        pytest.param("1 + 1", "must evaluate to bool", id="a number"),
    ],
)
def test_a_rule_that_does_not_compile_is_named_with_its_place(when: str, says: str) -> None:
    outcome = backend_rules.compose(Observed(rules(prefer("Native", when, name="wrong"), prefer("KServe"))))
    (condition,) = outcome.conditions
    assert (condition.status, condition.reason) == (Truth.FALSE, "InvalidRule")
    assert condition.message.startswith("rule wrong: it does not compile: ")
    assert says in condition.message
    assert [one["name"] for one in outcome.status["invalid"]] == ["wrong"]
    assert outcome.fatal is None


@pytest.mark.parametrize("spec", [{}, {"rules": 3}, {"rules": [7]}, {"rules": [{"name": "x"}]}, {"rules": [{}, None]}])
def test_rules_that_cannot_be_read_are_reported(spec: Json) -> None:
    outcome = backend_rules.compose(Observed({**rules(), "spec": spec}))
    assert outcome.ready is (Ready.FALSE if spec else Ready.TRUE)
    assert outcome.fatal is None


class Served:
    """One deployment on one cluster that offers every backend."""

    def __init__(self, *given: Json) -> None:
        self.deployment = fleet.model_deployment(replicas=1)
        self.cluster = fleet.inference_cluster("a")
        self.cluster["spec"]["backends"] = ["*"]
        self.rules = list(given)
        self.children: dict[str, Json] = {}

    def compose(self) -> Outcome:
        observed = fetched(self.deployment, [self.cluster], [fleet.inference_class()], self.children, tuple(self.rules))
        return model_deployment.compose(observed)

    def settle(self) -> Outcome:
        for _ in range(3):
            outcome = self.compose()
            self.children = {
                key: fleet.serving(copy.deepcopy(dict(child.resource)), self.cluster)
                if child.resource["kind"] == "ModelReplica"
                else fleet.ready(copy.deepcopy(dict(child.resource)))
                for key, child in outcome.children.items()
            }
            self.deployment["status"] = dict(outcome.status)
        return outcome


def said(outcome: Outcome) -> str:
    return next(one.message for one in outcome.conditions if one.type == "BackendSelected")


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        pytest.param((), "KServe", id="none: the name"),
        pytest.param((rules(prefer("Native")),), "Native", id="preferred"),
        pytest.param((rules(prefer("Native", "spec.engine.type == 'sglang'")),), "KServe", id="for another engine"),
        pytest.param((rules(prefer("Native", "spec.engine.type == 'vllm'")),), "Native", id="for this engine"),
        pytest.param(
            (rules(prefer("Native")), rules(prefer("KServe", priority=11), name="other")), "KServe", id="two objects"
        ),
        pytest.param((rules(prefer("Dynamo", priority=99), prefer("Native")),), "Native", id="one not rendered"),
        pytest.param((rules(prefer("KServe", "oops(", 90), prefer("Native", name="b")),), "Native", id="one is wrong"),
    ],
)
def test_rules_decide_for_a_cluster_that_offers_all(
    given: tuple[Json, ...], chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of these two no shipped rule speaks, whatever else is rendered.
    monkeypatch.setattr(selection, "BACKENDS", {"KServe": kserve, "Native": native})
    served = Served(*given)
    assert served.compose().status["backend"] == chosen


def test_a_wrong_rule_is_reported_where_it_would_have_counted() -> None:
    message = said(Served(rules(prefer("KServe", "oops("))).compose())
    assert "rule ours of BackendRules fleet counts as no match: it does not compile: line 1, column 6" in message
    unread = rules(prefer("Native"))
    unread["spec"]["rules"][0]["priority"] = "high"
    assert "a rule of BackendRules fleet cannot be read: spec.rules[0].priority" in said(Served(unread).compose())


BREAKS: list[Any] = [
    pytest.param(lambda r: r.clear(), id="vanished"),
    pytest.param(lambda r: r[0]["spec"]["rules"].clear(), id="emptied"),
    pytest.param(lambda r: r[0]["spec"]["rules"][0].update(when="oops("), id="does not compile"),
    pytest.param(lambda r: r[0]["spec"]["rules"][0].update(when="spec.no.such == 1"), id="fails"),
    pytest.param(lambda r: r[0]["spec"]["rules"][0].update(backend="KServe"), id="prefers another"),
    pytest.param(lambda r: r[0].update(spec=None), id="no spec"),
    pytest.param(lambda r: r[0].update(spec={"rules": "all"}), id="of another type"),
    pytest.param(lambda r: r[0]["spec"]["rules"][0].update(priority=None), id="no priority"),
]


@pytest.mark.parametrize("damage", BREAKS)
def test_rules_that_break_or_vanish_take_nothing_away(damage: Callable[[list[Json]], None]) -> None:
    served = Served(rules(prefer("Native")))
    served.settle()
    before = {key: child["spec"] for key, child in served.children.items()}
    assert {child["spec"]["backend"] for child in served.children.values() if "backend" in child["spec"]} == {"Native"}
    damage(served.rules)
    outcome = served.compose()
    assert {key: child.resource["spec"] for key, child in outcome.children.items()} == before
    assert outcome.status["backend"] == "Native"
    assert "is kept" in said(outcome)


def test_naming_another_backend_is_a_move_and_the_successor_comes_first() -> None:
    served = Served(rules(prefer("Native")))
    served.settle()
    served.deployment["spec"]["backend"] = "KServe"
    backends = [
        child.resource["spec"]["backend"]
        for child in served.compose().children.values()
        if child.resource["kind"] == "ModelReplica"
    ]
    assert sorted(backends) == ["KServe", "Native"]
