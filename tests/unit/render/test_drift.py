"""Drift: a change on a cluster is told once it was put back, and a field that two clients write is left alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.render import drift, objects
from modelplane.render.drift import Applied, Drift

Json = Any


def seen(
    *, source: int = 1, generation: int = 1, at: str = "10:00:00", grace: int = 60, uid: str = "u", **more: Json
) -> Json:
    """Return an Object whose provider put the object into this state; `at` is the time of its last write."""
    manifest: Json = {"kind": "Deployment", "metadata": {"name": "d"}, "spec": {"grace": 60, "list": [{"a": 1}]}}
    remote = copy.deepcopy(manifest)
    remote["spec"]["grace"] = grace
    remote["spec"]["list"][0]["default"] = True
    remote["metadata"] |= {
        "generation": generation,
        "uid": uid,
        "managedFields": [
            {"manager": "provider-kubernetes/x", "operation": "Apply", "time": f"2026-01-01T{at}Z"},
            {"manager": "kube-controller-manager", "operation": "Update", "subresource": "status"},
            {"manager": "keda", "operation": "Update", "time": "2026-01-01T10:00:00Z"},
        ],
    }
    synced = {"type": "Synced", "status": "True", "observedGeneration": source, **more}
    return {
        "metadata": {"name": "x", "generation": source},
        "spec": {"forProvider": {"manifest": manifest}},
        "status": {"atProvider": {"manifest": remote}, "conditions": [synced]},
    }


def after(*children: Json) -> Drift:
    """Return the last of several looks, each with what the one before it noted."""
    look = Drift(None)
    for child in children:
        look = drift.look(child, look.applied)
    return look


def test_the_first_look_notes_and_a_second_one_says_nothing() -> None:
    assert after(seen()) == Drift(Applied(1, 1, "u", "2026-01-01T10:00:00Z"))
    assert after(seen(), seen()) == after(seen())


def test_a_change_that_was_put_back_is_told_once() -> None:
    changed = seen(generation=3, at="10:00:05")
    assert after(seen(), changed).is_reverted
    assert not after(seen(), changed, changed).is_reverted


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(seen(source=2, generation=2, at="10:00:05"), id="we wrote it anew"),
        pytest.param(seen(uid="v", generation=7, at="10:00:05"), id="another object of the name"),
        pytest.param(seen(generation=2), id="others wrote fields of their own"),
        pytest.param(seen(generation=3, at="10:00:05", status="False"), id="it is not seen now"),
        pytest.param(seen(generation=3, at="10:00:05", observedGeneration=0), id="our change is still on its way"),
        pytest.param({"metadata": {}}, id="nothing is known"),
    ],
)
def test_nothing_is_told_of(later: Json) -> None:
    assert not after(seen(), later).is_reverted


def _fight(*times: str) -> list[Json]:
    return [seen(generation=3 + 2 * index, at=at) for index, at in enumerate(times)]


def test_three_times_within_ten_minutes_is_a_conflict() -> None:
    assert after(seen(), *_fight("10:00:10", "10:04:00", "10:10:10")).conflict
    assert not after(seen(), *_fight("10:00:10", "10:04:00", "10:10:11")).conflict
    assert not after(seen(), *_fight("10:00:10", "10:04:00")).conflict


def _yielded(**state: Json) -> Json:
    child = seen(**state)
    return {**child, **objects.yielding(child)}


def test_while_it_is_left_the_field_and_its_owner_are_told() -> None:
    found = after(seen(), _yielded(source=2, generation=9, grace=99))
    assert found.conflict == "spec.grace written by keda"
    assert not found.is_reverted


def test_it_ends_when_the_field_is_ours_again() -> None:
    assert not after(seen(), _yielded(source=2, generation=9)).conflict


def test_it_holds_while_nobody_has_written_since() -> None:
    fight = _fight("10:00:10", "10:04:00", "10:10:10")
    assert after(seen(), *fight, _yielded(source=2, generation=7)).conflict
    assert not after(seen(), *fight, _yielded(source=2, generation=9)).conflict


def test_it_holds_while_the_object_is_not_seen() -> None:
    child = _yielded(source=2)
    del child["status"]["atProvider"]
    assert after(seen(), child).conflict


@pytest.mark.parametrize(
    "noted",
    [
        pytest.param(("2026-01-01T10:00:00", "2026-01-01T10:00:01"), id="without a zone"),
        pytest.param(("2026-01-01", "2026-01-01"), id="a day"),
        pytest.param(("", ""), id="empty"),
        pytest.param(("soon", "2026-01-01T10:00:01Z"), id="no time"),
    ],
)
def test_a_noted_time_that_cannot_be_compared_is_no_fight(noted: tuple[str, str]) -> None:
    before = Applied(1, 1, "u", "2026-01-01T10:00:00Z", noted)
    found = drift.look(seen(generation=3, at="10:00:05"), before)
    assert (found.is_reverted, found.conflict) == (True, "")
    assert not drift.look(_yielded(generation=3), found.applied or before).conflict
