"""ModelReplica: drift on its cluster is told, and an object that another controller fights for is no longer updated."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane_functions.exchange import Outcome
from tests.support import replica_world as world

Json = Any
YIELDS = ["Observe", "Create", "Delete"]


class Fought:
    """A replica that runs, whose workload others change."""

    def __init__(self) -> None:
        self.document = world.composite()
        self.outcome = world.compose(self.document, world.cluster())
        self.children = world.applied(self.outcome)
        self.state(1, "10:00:00")
        self.step()

    def state(self, generation: int, at: str, **spec: Json) -> None:
        """Let the workload be in this state on the cluster."""
        for child in self.children.values():
            child["metadata"].setdefault("generation", 1)
            child["status"]["conditions"] = [
                {"type": "Synced", "status": "True", "observedGeneration": child["metadata"]["generation"]},
                {"type": "Ready", "status": "True"},
            ]
        remote = self.children["workload"]["status"]["atProvider"]["manifest"]
        entry = {"manager": "provider-kubernetes/x", "time": f"2026-01-01T{at}Z"}
        remote["metadata"] |= {"generation": generation, "uid": "u", "managedFields": [entry, {"manager": "keda"}]}
        remote["spec"] = {**self.children["workload"]["spec"]["forProvider"]["manifest"]["spec"], **spec}

    def step(self) -> Outcome:
        """Return the answer, and let its status and its specs be written."""
        self.outcome = world.compose(self.document, world.cluster(), children=copy.deepcopy(self.children))
        said = [{"type": one.type, "status": str(one.status)} for one in self.outcome.conditions]
        self.document["status"] = {**self.outcome.status, "conditions": said}
        for key, one in self.outcome.children.items():
            if self.children[key]["spec"] != one.resource["spec"]:
                self.children[key]["spec"] = copy.deepcopy(one.resource["spec"])
                self.children[key]["metadata"]["generation"] += 1
        return self.outcome

    @property
    def policies(self) -> Json:
        return self.outcome.children["workload"].resource["spec"].get("managementPolicies")

    @property
    def conflict(self) -> tuple[str, str]:
        found = [one for one in self.outcome.conditions if one.type == "FieldConflict"]
        return (str(found[0].status), found[0].message) if found else ("", "")


def _told(outcome: Outcome) -> list[str]:
    return [one.message for one in outcome.events if one.reason == "DriftReverted"]


def test_drift_is_told_once_and_nothing_else_changes() -> None:
    fought = Fought()
    before = {key: one.resource for key, one in fought.outcome.children.items()}
    fought.state(3, "10:01:00")
    (said,) = _told(fought.step())
    assert said == "workload was changed on the cluster by another client; the rendered fields are put back"
    assert {key: one.resource for key, one in fought.outcome.children.items()} == before
    assert not _told(fought.step())
    assert fought.conflict == ("", "")


def test_a_fight_is_left_told_and_taken_up_again() -> None:
    fought = Fought()
    for generation, at in ((3, "10:01:00"), (5, "10:02:00"), (7, "10:03:00")):
        fought.state(generation, at)
        fought.step()
    assert fought.policies == YIELDS
    fought.state(8, "10:03:00", replicas=5)
    fought.step()
    assert (fought.policies, fought.conflict[0]) == (YIELDS, "True")
    assert "workload: spec.replicas written by keda" in fought.conflict[1]
    fought.state(9, "10:03:00")
    fought.step()
    assert (fought.policies, fought.conflict[0]) == (None, "False")
    fought.state(11, "10:20:00")
    fought.step()
    assert fought.policies is None


def test_a_settled_replica_answers_the_same_again() -> None:
    fought = Fought()
    first = fought.step()
    second = fought.step()
    assert (first.status, first.conditions, first.events) == (second.status, second.conditions, second.events)


ENTRY = {"object": "workload", "source": 1, "generation": 1, "uid": "u", "time": "2026-01-01T10:00:00Z"}


@pytest.mark.parametrize(
    "applied",
    [
        pytest.param(None, id="missing"),
        pytest.param([], id="emptied"),
        pytest.param(7, id="a number"),
        pytest.param({"workload": ENTRY}, id="an object"),
        pytest.param([7, "x", None, [ENTRY]], id="entries of other types"),
        pytest.param([{**ENTRY, "source": "1"}], id="a generation that is a text"),
        pytest.param([{**ENTRY, "uid": 7, "time": []}], id="texts that are none"),
        pytest.param([{**ENTRY, "reverts": "2026"}], id="reverts that are a text"),
        pytest.param([{**ENTRY, "reverts": [7, None]}], id="times that are none"),
        pytest.param([{**ENTRY, "reverts": ["2026-01-01T10:00:00", "2026-01-01T10:00:01"]}], id="times without a zone"),
        pytest.param([{**ENTRY, "generation": 99, "time": "2027-01-01T10:00:00Z"}], id="of a later state"),
        pytest.param([{**ENTRY, "uid": "of an earlier object"}], id="of an earlier object"),
        pytest.param([{**ENTRY, "object": "else"}], id="of no object"),
        pytest.param([ENTRY, ENTRY], id="twice"),
    ],
)
def test_hold_whatever_was_noted_of_applied_objects_no_object_changes(applied: Json) -> None:
    fought = Fought()
    before = {key: one.resource for key, one in fought.outcome.children.items()}
    fought.state(3, "10:01:00")
    fought.document["status"]["applied"] = applied
    fought.step()
    assert {key: one.resource for key, one in fought.outcome.children.items()} == before
    assert (fought.policies, fought.conflict) == (None, ("", ""))
    assert next(one for one in fought.outcome.status["applied"] if one["object"] == "workload")["generation"] == 3
