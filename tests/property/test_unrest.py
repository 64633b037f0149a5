"""The law of mutations sees every kind of input, and finds what it is for: tests of it, with composers that err."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane_functions import ownership, registry, responder
from modelplane_functions.ending_pods import Endings
from modelplane_functions.exchange import Child, Observed, Outcome
from modelplane_functions.registry import Composer
from tests.property import enumerated, mutations
from tests.support import composed, losses, situations, unrest
from tests.support.mutations import GONE, Mutation, is_accepted
from tests.support.situations import CHILD, COMPOSITE, OTHER, Input, Situation

Json = Any
_OBJECTS = "kubernetes.m.crossplane.io"
REQUIRED = {
    "InferenceCluster": {"InferenceClass", "ModelReplica", "ModelDeployment", "Namespace", "Object"},
    "LLMInference": set[str](),
    "ModelDeployment": {
        *("BackendRules", "InferenceClass", "InferenceCluster", "ModelReplica"),
        *("InferenceGateway", "ModelService", "HorizontalPodAutoscaler"),
    },
    "ModelEndpoint": {"InferenceGateway"},
    "ModelReplica": {"InferenceCluster", "Object"},
    "ModelService": {"InferenceGateway", "ModelEndpoint", "Namespace"},
}


def _inputs(role: str) -> set[tuple[str, str, str]]:
    """Return the kinds of composite and the groups and kinds of inputs that the law asks about."""
    return {
        (one.start.kind, *composed.identity(one.input.document(one.start)))
        for one in enumerated.every_field()
        if one.input.role == role
    }


def test_every_composer_is_asked() -> None:
    assert mutations.kinds() == sorted(registry.composers())
    assert {kind for kind, _, _ in _inputs(COMPOSITE)} == set(registry.composers())


def test_every_kind_that_is_composed_is_made_wrong_as_a_child() -> None:
    assert {(group, kind) for _, group, kind in _inputs(CHILD)} == composed.kinds()


def test_everything_that_is_required_is_made_wrong() -> None:
    asked = _inputs(OTHER)
    missing = {
        (kind, other) for kind, others in REQUIRED.items() for other in others if other not in _kinds(asked, kind)
    }
    assert missing == set()
    # A name is asked for before a child is created under it.
    named = {
        (one.kind, *composed.identity(child.resource))
        for one in unrest.afresh()
        for child in one.rest.children.values()
    }
    assert not {kind for kind, _, _ in named} - {kind for kind, _, _ in asked}


def _kinds(asked: set[tuple[str, str, str]], composite: str) -> set[str]:
    return {kind for asking, _, kind in asked if asking == composite}


def test_members_of_collections_are_made_wrong() -> None:
    found = {
        (one.start.kind, one.path[:2])
        for one in enumerated.every_field()
        if one.input.role == OTHER and "owned-by-collection" in str(one.input.document(one.start)["metadata"])
    }
    for kind in ("InferenceCluster", "ModelReplica"):
        assert {(kind, ("metadata", "ownerReferences")), (kind, ("metadata", "labels"))} <= found


@pytest.mark.parametrize("start", unrest.every(), ids=str)
def test_nothing_is_lost_without_a_wrong_input(start: Situation) -> None:
    assert start.rest.fatal is None
    assert list(losses.of(start, start, start.rest, is_authors=False)) == []
    for one in start.inputs:
        document = one.document(start)
        is_ours = document["apiVersion"].startswith("modelplane.ai/")
        assert not is_ours or is_accepted(document, document), "what no API server takes is nobody's edit"


def test_a_cluster_has_replicas_in_every_way_to_be_not_at_rest() -> None:
    full, with_room = unrest.clusters()
    assert {one["replica"] for one in full.rest.status["refused"]} == {f"ml-team/{one}" for one in _WAITING}
    assert {one["replica"] for one in full.rest.status["pending"]} == {"ml-team/llama-2"}
    assert {f"ml-team/{one}" for one in _WAITING} <= set(with_room.rest.status["admitted"])
    for start in (full, with_room):
        counted = {key for entry in start.rest.status["admissions"] for key in entry["replicas"]}
        assert counted - set(start.rest.status["admitted"]) == {"ml-team/llama-0", "ml-team/llama-1"}


_WAITING = ("late-0", "late-1", "phi-0")


# --- composers that err -----------------------------------------------------------------------------------------------

Erring = Callable[[Observed, Outcome], Outcome]


@pytest.fixture
def erring(monkeypatch: pytest.MonkeyPatch) -> Callable[[Situation, Erring], None]:
    """Return a function that lets the composers err, once a situation is known as it is when they do not."""
    right = responder.composed

    def err(start: Situation, how: Erring) -> None:
        assert start.rest.fatal is None
        assert start.end.fatal is None
        assert start.inputs

        def composed_wrong(composer: Composer, observed: Observed) -> Outcome:
            return how(observed, right(composer, observed))

        monkeypatch.setattr(responder, "composed", composed_wrong)

    return err


def _first(kind: str, *, waits: bool = False) -> Situation:
    found = unrest.every() if waits else situations.running()
    return next(one for one in found if one.kind == kind)


def _edit(start: Situation, path: tuple[str | int, ...], value: Json) -> mutations.Question:
    return mutations.question(start, Input(COMPOSITE), Mutation(path, "is edited", value))


_LEFT = ("spec", "retries", "attempts")


@pytest.mark.parametrize("part", ["child", "status"])
def test_what_remains_of_a_mutation_is_found(erring: Any, part: str) -> None:
    """A composer that keeps in its status what it was once told: two mutations healed it before its end was seen."""
    start = _first("ModelService")

    def keeps(observed: Observed, outcome: Outcome) -> Outcome:
        spoiled = observed.status.get("spoiled") or observed.spec["retries"]["attempts"] != 2
        if not spoiled:
            return outcome
        children = dict(outcome.children)
        if part == "child" and "traffic-policy" in children:
            made = copy.deepcopy(dict(children["traffic-policy"].resource))
            made["spec"]["spoiled"] = True
            children["traffic-policy"] = Child(made)
        return replace(outcome, children=children, status={**outcome.status, "spoiled": True})

    question = _edit(start, _LEFT, 5)
    assert question.is_authors(), "nothing may remain of an author's edit either"
    assert list(mutations.in_a_row(start, question)) == []
    erring(start, keeps)
    found = list(mutations.in_a_row(start, question))
    assert "status.spoiled is another at the end" in found
    assert ("child traffic-policy has another spec at the end" in found) is (part == "child")


def test_an_edit_of_a_child_that_is_never_put_back_is_found(erring: Any) -> None:
    start = _first("ModelService")
    wrong = Mutation(("spec", "timeout"), "is gone", GONE)
    question = mutations.question(start, Input(CHILD, "traffic-policy"), wrong)
    assert list(mutations.in_a_row(start, question)) == []

    def keeps(observed: Observed, outcome: Outcome) -> Outcome:
        there = observed.children["traffic-policy"]
        return replace(outcome, children={**outcome.children, "traffic-policy": Child({**there, "status": {}})})

    erring(start, keeps)
    assert "child traffic-policy has another spec at the end" in list(mutations.in_a_row(start, question))


def test_a_replica_that_is_admitted_without_room_is_found(erring: Any) -> None:
    start = unrest.clusters()[0]

    def admits(observed: Observed, outcome: Outcome) -> Outcome:
        refused = [one["replica"] for one in outcome.status.get("refused", ())]
        entry = {"digest": "0" * 16, "holdings": [], "replicas": dict.fromkeys(refused, "uid")}
        admissions = [*outcome.status.get("admissions", ()), entry]
        admitted = [*outcome.status.get("admitted", ()), *refused]
        return replace(outcome, status={**outcome.status, "admitted": admitted, "admissions": admissions})

    question = _edit(start, ("spec", "taints"), [])
    assert list(mutations.judged(question)) == []
    erring(start, admits)
    assert any("pool a/gpu of 1 nodes holds no 1" in line for line in mutations.judged(question))


def test_a_new_replica_without_room_is_found(erring: Any) -> None:
    start = _first("ModelDeployment")
    question = _edit(start, ("spec", "replicas"), 3)
    assert question.is_authors()
    assert list(mutations.judged(question)) == []

    def places(observed: Observed, outcome: Outcome) -> Outcome:
        key = next((key for key in outcome.children if key.startswith("replica-")), None)
        more = {f"{key}-{number}": outcome.children[key] for number in range(40)} if key else {}
        for name, child in more.items():
            made = copy.deepcopy(dict(child.resource))
            made["metadata"]["name"] = name
            more[name] = Child(made)
        return replace(outcome, children={**outcome.children, **more})

    erring(start, places)
    assert any("nodes holds no" in line for line in mutations.judged(question))


def test_the_text_of_a_refusal_is_read(erring: Any) -> None:
    start = _first("ModelService")
    question = _edit(start, _LEFT, 5)
    assert list(mutations.judged(question)) == []

    def refuses(observed: Observed, outcome: Outcome) -> Outcome:
        raise InvalidInput("'NoneType' object has no attribute 'get'", path=("spec",))

    erring(start, refuses)
    assert any("a message speaks of NoneType" in line for line in mutations.judged(question))


def test_a_refusal_that_no_condition_tells_is_found(erring: Any) -> None:
    start = _first("ModelService")
    erring(start, lambda observed, outcome: Outcome(fatal="no"))
    found = list(mutations.judged(_edit(start, _LEFT, 5)))
    assert [line for line in found if line.endswith("no condition tells of the refusal: no")]


def test_a_name_of_somebody_else_that_is_written_over_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for start in unrest.afresh():
        assert start.rest.fatal is None
        monkeypatch.setattr(ownership, "is_ours", lambda _composite, _found: True)
        outcome = situations.answered(start)
        monkeypatch.undo()
        if any(one["metadata"].get("ownerReferences", [{}])[0].get("uid") == "uid-other" for one in _read(start)):
            found = list(losses.of(start, start, outcome, is_authors=True))
            assert any("is written over an object of another owner" in line for line in found), start


def _read(start: Situation) -> list[Json]:
    return [one.document(start) for one in start.inputs if one.role == OTHER]


def test_a_deleted_replica_that_no_longer_counts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    full, with_room = unrest.clusters()
    for start in (full, with_room):
        assert start.rest.fatal is None
    monkeypatch.setattr(Endings, "may_have_pods", lambda _self, _key: False)
    assert any(
        "no longer counted" in line for line in losses.of(full, full, situations.answered(full), is_authors=False)
    )
    found = list(losses.of(full, full, situations.answered(full), is_authors=True))
    assert any("pool a/gpu of 1 nodes holds no" in line for line in found), "its place is given to another"
