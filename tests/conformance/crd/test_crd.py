"""Our definitions and our offline admission against the API server's own code."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import catalogue
from modelplane.structural import Cause
from tests.conformance.crd import case as case_form
from tests.conformance.crd import cases, documents, judgement, server

Json = Any

_STALE = "asked anew: run `python -m tests.conformance.crd.server` to record the answers (needs Go)"


@pytest.fixture(scope="module")
def answers() -> dict[str, Json]:
    return server.answers()


@pytest.mark.parametrize("kind", catalogue.kinds())
def test_api_server_accepts_derived_definition(kind: str, answers: dict[str, Json]) -> None:
    assert answers["digests"][kind] == server.digests()[kind], _STALE
    assert answers["derived"][kind]["errors"] == []


@pytest.mark.parametrize("kind", catalogue.kinds())
def test_we_derive_as_crossplane_does(kind: str, answers: dict[str, Json]) -> None:
    theirs = answers["derived"][kind]["crd"]["spec"]
    ours = server.without_descriptions(catalogue.derived(kind))["spec"]
    assert theirs["versions"] == ours["versions"]
    assert (theirs["group"], theirs["scope"]) == (ours["group"], ours["scope"])
    assert {key: theirs["names"][key] for key in ours["names"]} == ours["names"]


@pytest.mark.parametrize("case", cases.REFUSED, ids=lambda case: case.id)
def test_api_server_refuses_with_the_promised_words(case: case_form.Case, answers: dict[str, Json]) -> None:
    assert answers["digests"][case.id] == server.digests()[case.id], _STALE
    found = [
        error
        for error in answers["answers"][case.id]["errors"]
        if (judgement.plain(error["path"]) or judgement.path_in_text(error)) == case.path and _says(error, case.says)
    ]
    assert found, answers["answers"][case.id]["errors"]


def _says(error: Json, wanted: str | Cause) -> bool:
    if isinstance(wanted, Cause):
        return bool(error["type"] == wanted.value)
    return wanted in error["message"]


@pytest.mark.parametrize("case", cases.REFUSED, ids=lambda case: case.id)
def test_we_refuse_what_the_api_server_refuses(case: case_form.Case, answers: dict[str, Json]) -> None:
    ours = judgement.ours(case.document(), case.previous())
    assert ours == judgement.theirs(answers["answers"][case.id], case.kind)


@pytest.mark.parametrize("fine", cases.ACCEPTED, ids=lambda fine: fine.id)
def test_both_accept(fine: case_form.Fine, answers: dict[str, Json]) -> None:
    assert answers["answers"][fine.id]["errors"] == []
    document = documents.document(fine.kind, *fine.changes)
    old = None if fine.old is None else documents.document(fine.kind, *fine.old)
    assert judgement.ours(document, old) == judgement.theirs(answers["answers"][fine.id], fine.kind)


@pytest.mark.parametrize("name", sorted(server.questions()))
def test_same_stored_document(name: str, answers: dict[str, Json]) -> None:
    document = server.questions()[name]["document"]
    stored = catalogue.structural_kind(document["kind"]).stored(document)
    assert stored == answers["answers"][name]["defaulted"]


def test_every_rule_has_a_refused_document(answers: dict[str, Json]) -> None:
    """A rule that no document breaks is a rule nobody has seen work."""
    broken = {
        (case.kind, error["message"]) for case in cases.REFUSED for error in answers["answers"][case.id]["errors"]
    }
    unseen = {
        (kind, message)
        for kind in catalogue.kinds()
        for message in judgement.messages(kind)
        if (kind, message) not in broken
    }
    # The two roles, the shapes of the pod template and the label selector are the same text in both kinds.
    shared = {message for kind, message in broken if kind == "ModelDeployment"}
    assert {entry for entry in unseen if not (entry[0] == "ModelReplica" and entry[1] in shared)} == set()
