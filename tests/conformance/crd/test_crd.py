"""Our definitions and our offline admission against the API server's own code."""

from __future__ import annotations

import re
from typing import Any

import pytest

from modelplane.api import catalogue
from modelplane.api.structural import Cause, Kind, Problem, Severity
from tests.conformance.crd import case as case_form
from tests.conformance.crd import cases, documents, server

Json = Any

_STALE = "asked anew: run `python -m tests.conformance.crd.server` to record the answers (needs Go)"
# Two findings of the API server name their field in the text only; beside a wrong type there they say the same thing
# again.
_IN_TEXT = (
    re.compile(r"^Checked value must be of type integer .* in (.*)$"),
    re.compile(r'^"(.*)" must validate at least one schema \(anyOf\)$'),
)
_SKIPPED = "some validation rules were not checked"


@pytest.fixture(scope="module")
def answers() -> dict[str, Json]:
    return server.answers()


@pytest.fixture(scope="module")
def rules() -> dict[str, frozenset[str]]:
    """The messages of all rules by kind; they tell a rule's refusal from any other invalid value."""
    return {kind: frozenset(_messages(catalogue.derived(kind))) for kind in catalogue.kinds()}


def _messages(node: Json) -> list[str]:
    if isinstance(node, list):
        return [message for item in node for message in _messages(item)]
    if not isinstance(node, dict):
        return []
    own = [rule["message"].strip() for rule in node.get("x-kubernetes-validations", ()) if isinstance(rule, dict)]
    return own + [message for value in node.values() for message in _messages(value)]


def _plain(path: str) -> str:
    """Return a path of the API server in dots: spec.containers[0].env -> spec.containers.0.env."""
    return re.sub(r"\[([^\]]*)\]", r".\1", path).replace('"', "").replace("<nil>", "").strip(".")


def _theirs(reply: Json, messages: frozenset[str]) -> set[tuple[str, str]]:
    found = {(_plain(path), str(Cause.UNKNOWN)) for path in reply["unknown"]}
    mistyped = {_plain(error["path"]) for error in reply["errors"] if error["type"] == Cause.TYPE}
    for error in reply["errors"]:
        text, named = error["message"], _path_in(error)
        if text.startswith(_SKIPPED) or named in mistyped:
            continue
        found.add((named or _plain(error["path"]), text if text in messages else error["type"]))
    return found


def _ours(problems: tuple[Problem, ...]) -> set[tuple[str, str]]:
    return {
        (case_form.dotted(problem.path), problem.message if problem.cause is Cause.RULE else str(problem.cause))
        for problem in problems
        if problem.severity is Severity.ERROR
    }


def _kind(document: Json) -> Kind:
    return catalogue.structural_kind(document["kind"])


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
        if (_plain(error["path"]) or _path_in(error)) == case.path and _says(error, case.says)
    ]
    assert found, answers["answers"][case.id]["errors"]


def _path_in(error: Json) -> str:
    named = next((match[1] for pattern in _IN_TEXT if (match := pattern.match(error["message"]))), "")
    return _plain(named)


def _says(error: Json, wanted: str | Cause) -> bool:
    if isinstance(wanted, Cause):
        return bool(error["type"] == wanted.value)
    return wanted in error["message"]


@pytest.mark.parametrize("case", cases.REFUSED, ids=lambda case: case.id)
def test_we_refuse_what_the_api_server_refuses(
    case: case_form.Case, answers: dict[str, Json], rules: dict[str, frozenset[str]]
) -> None:
    ours = _kind(case.document()).problems(case.document(), case.previous())
    assert _ours(ours) == _theirs(answers["answers"][case.id], rules[case.kind])


@pytest.mark.parametrize("fine", cases.ACCEPTED, ids=lambda fine: fine.id)
def test_both_accept(fine: cases.Fine, answers: dict[str, Json], rules: dict[str, frozenset[str]]) -> None:
    assert answers["answers"][fine.id]["errors"] == []
    document = documents.document(fine.kind, *fine.changes)
    old = None if fine.old is None else documents.document(fine.kind, *fine.old)
    assert _ours(_kind(document).problems(document, old)) == _theirs(answers["answers"][fine.id], rules[fine.kind])


@pytest.mark.parametrize("name", sorted(server.questions()))
def test_same_stored_document(name: str, answers: dict[str, Json]) -> None:
    document = server.questions()[name]["document"]
    assert _kind(document).stored(document) == answers["answers"][name]["defaulted"]


def test_every_rule_has_a_refused_document(rules: dict[str, frozenset[str]], answers: dict[str, Json]) -> None:
    """A rule that no document breaks is a rule nobody has seen work."""
    broken = {
        (case.kind, error["message"]) for case in cases.REFUSED for error in answers["answers"][case.id]["errors"]
    }
    unseen = {(kind, message) for kind, known in rules.items() for message in known if (kind, message) not in broken}
    # The two roles, the shapes of the pod template and the label selector are the same text in both kinds.
    shared = {message for kind, message in broken if kind == "ModelDeployment"}
    assert {entry for entry in unseen if not (entry[0] == "ModelReplica" and entry[1] in shared)} == set()
