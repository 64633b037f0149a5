"""Namespaces that a cluster does not allow get nothing new there, and nothing that runs is taken from them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane_functions import deployment_sight, quotas
from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Condition, Observed, Outcome
from tests.support import cluster_world, exchange, fleet
from tests.support.cluster_world import Running

Json = Any
TEAM = "ml-team"
PROD = {"matchLabels": {"tier": "prod"}}
ROOM, LATE = ["llama-0", "llama-1", "llama-2"], ["late-0", "llama-0", "llama-1", "llama-2"]


def namespace(**labels: Json) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM, "labels": labels}}


def told(outcome: Outcome) -> Condition | None:
    return next((one for one in outcome.conditions if one.type == "NamespacesAllowed"), None)


CASES = [
    pytest.param({"names": [TEAM]}, None, "", "Allowed", id="allowed by name"),
    pytest.param({"names": ["x"]}, None, "NamespaceNotAllowed", "NamespaceNotAllowed", id="another name"),
    pytest.param({"names": []}, None, "NamespaceNotAllowed", "NamespaceNotAllowed", id="a list that was emptied"),
    pytest.param(PROD, namespace(tier="prod"), "", "Allowed", id="allowed by label"),
    pytest.param(PROD, namespace(tier="dev"), "NamespaceNotAllowed", "NamespaceNotAllowed", id="another value"),
    pytest.param(PROD, namespace(), "NamespaceNotAllowed", "NamespaceNotAllowed", id="no label"),
    pytest.param({"names": [TEAM], **PROD}, namespace(), "", "Allowed", id="a name is enough"),
    pytest.param(PROD, None, "NamespaceUnknown", "NamespaceUnknown", id="no Namespace"),
    pytest.param(PROD, namespace(tier=7), "NamespaceUnknown", "NamespaceUnknown", id="a Namespace of other types"),
]


@pytest.mark.parametrize(("allowed", "found", "answer", "condition"), CASES)
def test_a_cluster_admits_nobody_new_of_a_namespace_that_it_does_not_allow(
    allowed: Json, found: Json, answer: str, condition: str
) -> None:
    running = Running(replicas=3)
    before = running.compose()
    running.cluster["spec"]["allowedNamespaces"] = allowed
    running.others = [] if found is None else [found]
    running.add("late-0")
    outcome = running.compose()
    where = "pending" if answer == "NamespaceUnknown" else "refused"
    assert cluster_world.admitted(outcome) == (ROOM if answer else LATE)
    assert cluster_world.told(outcome, where) == ({"late-0": answer} if answer else {})
    assert before.children.keys() <= outcome.children.keys()
    said = told(outcome)
    assert said is not None
    assert said.reason == condition
    assert outcome.ready == before.ready


def test_a_list_that_is_narrowed_stops_nothing_and_is_told() -> None:
    running = Running(replicas=3)
    running.cluster["spec"]["allowedNamespaces"] = {"names": ["other"]}
    for _ in range(3):
        outcome = running.step()
        assert cluster_world.admitted(outcome) == ROOM
        assert cluster_world.pods(outcome) == 3
    said = told(outcome)
    assert said is not None
    assert (said.status, TEAM in said.message) == ("False", True)


def test_a_cluster_that_is_opened_again_says_so() -> None:
    running = Running(replicas=3)
    assert told(running.compose()) is None
    running.cluster["status"]["conditions"] = [
        {"type": "NamespacesAllowed", "status": "False", "reason": "NamespaceNotAllowed", "message": ""}
    ]
    said = told(running.compose())
    assert said is not None
    assert (said.status, said.reason) == ("True", "EveryNamespace")


@pytest.mark.parametrize(
    ("workers", "answer"),
    [
        pytest.param({"count": 2}, {f"llama-{n}": "NamespaceNotAllowed" for n in range(3)}, id="more is refused"),
        pytest.param({}, {}, id="the same is not"),
    ],
)
def test_who_is_not_allowed_any_more_may_not_grow(workers: Json, answer: Json) -> None:
    """An edit in place that takes no more is no way around the list, and it is no reason to hold an update back."""
    running = Running(replicas=3)
    running.cluster["spec"]["allowedNamespaces"] = {"names": ["other"]}
    for one in (running.deployment, *running.replicas):
        (container,) = one["spec"]["workers"]["template"]["spec"]["containers"]
        container["image"] = "vllm/vllm-openai:v0.24.0"
    running.deploy(**workers)
    outcome = running.compose()
    assert cluster_world.told(outcome, "refused") == answer
    assert cluster_world.pods(outcome) == 3


def test_a_cluster_reads_only_the_namespaces_whose_labels_decide() -> None:
    running = Running(replicas=3)

    def asked() -> set[str]:
        return {key for key, one in running.compose().requirements.items() if one.kind == "Namespace"}

    assert asked() == set()
    running.cluster["spec"]["allowedNamespaces"] = {"names": [TEAM], **PROD}
    assert asked() == set()
    running.cluster["spec"]["allowedNamespaces"] = PROD
    assert asked() == {f"namespace/{TEAM}"}


# --- the deployment's side --------------------------------------------------------------------------------------------


def proposed(allowed: Json, found: Json, children: dict[str, Json] | None = None) -> Outcome:
    """Return what a deployment decides on cluster a, which allows so, and the open cluster b."""
    first = fleet.inference_cluster("a")
    if allowed is not None:
        first["spec"]["allowedNamespaces"] = allowed
    store = [first, fleet.inference_cluster("b"), fleet.inference_class(), *([] if found is None else [found])]
    deployment = fleet.model_deployment(replicas=2)
    return exchange.settle(model_deployment.compose, deployment, children=children or {}, store=copy.deepcopy(store))


@pytest.mark.parametrize(("allowed", "found", "answer", "condition"), CASES)
def test_a_deployment_proposes_nothing_where_it_is_not_allowed(
    allowed: Json, found: Json, answer: str, condition: str
) -> None:
    outcome = proposed(allowed, found)
    clusters = {child.resource["spec"]["clusterName"] for child in outcome.children.values()}
    assert clusters == ({"b"} if answer else {"a", "b"}), condition


@pytest.mark.parametrize(("allowed", "found", "answer", "condition"), CASES)
def test_a_deployment_keeps_what_it_has_where_it_is_not_allowed_any_more(
    allowed: Json, found: Json, answer: str, condition: str
) -> None:
    before = proposed(None, None)
    children = {key: copy.deepcopy(dict(child.resource)) for key, child in before.children.items()}
    after = proposed(allowed, found, children)
    assert {key: child.resource["spec"] for key, child in after.children.items()} == {
        key: child["spec"] for key, child in children.items()
    }, (answer, condition)


def test_a_deployment_reads_its_namespace_once_a_cluster_asks_for_labels() -> None:
    first = fleet.inference_cluster("a")
    required = {
        deployment_sight.CLUSTERS: (first,),
        deployment_sight.CLASSES: (fleet.inference_class(),),
        deployment_sight.NAMESAKES: (),
        deployment_sight.RULES: (),
        quotas.QUOTAS: (),
    }
    observed = Observed(fleet.model_deployment(), {}, required)
    assert model_deployment.compose(observed).children
    first["spec"]["allowedNamespaces"] = PROD
    outcome = model_deployment.compose(observed)
    assert (outcome.children, f"namespace/{TEAM}" in outcome.requirements) == ({}, True)
