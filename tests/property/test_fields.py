"""The law of mutations asked of every field: the short run takes each away, `hatch run laws` asks a part in every way.

`python -m tests.property.mutations --all` asks every field in every way.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from modelplane.render.backends.kuberay import launching
from tests.property import enumerated, long, mutations
from tests.support import any_backend, fields, shapes, situations, unrest
from tests.support.any_backend import State
from tests.support.fields import Field
from tests.support.mutations import GONE, Mutation, is_accepted

_PARTS = 60
"""One part is asked in every way by `hatch run laws`, in about a minute; its seed says which."""
_SHARES = 8


def _gone(one: Field) -> bool:
    """Return whether the short run takes the field away: those of plain replicas, and all fields of other composers.

    Of what is not at rest, those of what only it has: members of collections, and objects whose names are in use.
    """
    if one.samples or one.start.state == State.NEW:
        return False
    if one.start.shape not in ("plain", ""):
        return one.start.state not in set(State) and one.input.role == situations.OTHER
    return one.input.role != situations.CHILD or one.start.kind != "ModelReplica"


@pytest.mark.parametrize("kind", mutations.kinds())
def test_every_field_that_is_gone_takes_nothing_away(kind: str) -> None:
    wanted = [one for one in enumerated.every_field() if one.start.kind == kind and _gone(one)]
    assert len(wanted) >= 25
    lost = [
        line
        for one in wanted
        for _, lines in enumerated.ask(one, [Mutation(one.path, "is gone", GONE)])
        for line in lines
    ]
    assert lost == []


@pytest.mark.skipif(long.SEED not in os.environ, reason="the seed of `hatch run laws` says which part is asked")
@pytest.mark.parametrize("share", range(_SHARES))
def test_a_part_of_all_fields_is_asked_in_every_way(share: int) -> None:
    part = int(os.environ[long.SEED]) % _PARTS
    wanted = enumerated.every_field()[part::_PARTS][share::_SHARES]
    assert [line for one in wanted for _, lines in enumerated.ask(one, enumerated.ways(one)) for line in lines] == []


def test_the_enumeration_finds_what_once_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test of the test: spec.model gone of a RayService that its cluster admits by name ended the function."""

    def broken(model: object) -> object:
        if model is None:
            raise ValueError("a model without a name was not refused")
        return model

    monkeypatch.setattr(launching, "required", broken)
    found = {
        start.state: lines
        for one in enumerated.every_field()
        if (start := one.start).kind == "ModelReplica" and one.path == ("spec", "model") and not one.samples
        if start.composite["spec"]["backend"] == "KubeRay" and start.shape == "plain"
        for _, lines in enumerated.ask(one, [Mutation(one.path, "is gone", GONE)])
    }
    assert set(found) == set(State)
    assert all("a bug: ValueError at " in line for line in found[State.BY_NAME])
    assert found[State.BY_NAME]
    assert found[State.BY_RECORD] == [], "a record of the admitted spec holds what was edited"


def test_every_backend_is_asked_in_every_state_and_every_kind_by_every_role() -> None:
    replicas = (one.start for one in fields.every() if one.start.kind == "ModelReplica")
    asked = {
        (start.composite["spec"]["backend"], start.state)
        for start in replicas
        if start.state and start.example != "afresh"
    }
    assert asked == {(backend, state) for backend in any_backend.NAMES for state in (*State, unrest.NOT_READY)}
    assert {one.start.kind for one in fields.every()} == set(mutations.kinds())
    assert {one.input.role for one in fields.every()} == {situations.COMPOSITE, situations.CHILD, situations.OTHER}


def test_a_replica_is_at_rest_in_every_state() -> None:
    for start in shapes.situations():
        outcome = situations.decided(start)
        assert outcome is not None, start
        if start.state != State.NEW:
            assert outcome.children.keys() == start.children.keys(), start
            assert start.composite["status"]["phase"] == "Running", start
        (cluster,) = start.store
        assert is_accepted(cluster, cluster), "what no API server takes is nobody's edit, and the law would blame it"


def test_an_edit_of_what_a_record_admitted_changes_no_child() -> None:
    """A test of the states: admission by name follows the edit, admission by record holds what runs."""
    for backend in any_backend.NAMES:
        for state, is_held in ((State.BY_RECORD, True), (State.BY_NAME, False)):
            start = any_backend.situation(any_backend.plain(backend)[0], state)
            container = ("spec", "workers", "template", "spec", "containers", 0)
            edited = Mutation((*container, "imagePullPolicy"), "is added", "Always").applied(start.composite)
            outcome = situations.decided(replace(start, composite=situations.received(edited)))
            if outcome is None:
                continue
            said = {one.type: one.reason for one in outcome.conditions}
            assert (said["Admitted"] == "WaitingForAdmission") is is_held, (backend, state, said)
