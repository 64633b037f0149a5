"""Two validators' findings in one form, so that they can be compared: (path, class of error or words of the rule)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

from modelplane.api import catalogue
from modelplane.structural import Cause, Severity
from tests.conformance.crd.case import dotted

Json = Any
Finding = tuple[str, str]

# Two findings of the API server name their field in the text only.
_IN_TEXT = (
    re.compile(r"^Checked value must be of type integer .* in (.*)$"),
    re.compile(r'^"(.*)" must validate (?:at least one schema \(anyOf\)|one and only one schema \(oneOf\).*)$'),
    re.compile(r'^"(.*)" must not validate the schema \(not\)$'),
)
# That rules were skipped, and that one part of allOf failed, are told beside what caused it.
_SUMMARY = re.compile(r"some validation rules were not checked|must validate all the schemas \(allOf\)")
_NOT_EVALUATED = " evaluating rule: "


def ours(document: Json, old: Json) -> set[Finding]:
    """Return what we find wrong with a document."""
    return _without_echoes(
        (dotted(problem.path), _rule(problem.message) if problem.cause is Cause.RULE else str(problem.cause))
        for problem in catalogue.structural_kind(document["kind"]).problems(document, old)
        if problem.severity is Severity.ERROR
    )


def theirs(reply: Json, kind: str) -> set[Finding]:
    """Return what the API server's code found wrong."""
    found = {(plain(path), str(Cause.UNKNOWN)) for path in reply["unknown"]}
    for error in reply["errors"]:
        if not _SUMMARY.search(error["message"]):
            says = _rule(error["message"])
            found.add((path_in_text(error) or plain(error["path"]), says if says in messages(kind) else error["type"]))
    return _without_echoes(found)


def _without_echoes(found: Iterable[Finding]) -> set[Finding]:
    """Return findings without those that only say again that a value has the wrong type."""
    kept = set(found)
    mistyped = {path for path, says in kept if says == Cause.TYPE}
    return {(path, says) for path, says in kept if path not in mistyped or says in (Cause.TYPE, Cause.UNKNOWN)}


def _rule(message: str) -> str:
    """Return the words of the rule; why it could not be evaluated is told differently by each."""
    return message.rpartition(_NOT_EVALUATED)[2]


@functools.cache
def messages(kind: str) -> frozenset[str]:
    """Return the words of all rules of a kind; they tell a rule's refusal from any other invalid value."""
    return frozenset(_messages(catalogue.derived(kind)))


def _messages(node: Json) -> list[str]:
    if isinstance(node, list):
        return [message for item in node for message in _messages(item)]
    if not isinstance(node, dict):
        return []
    own = [rule["message"].strip() for rule in node.get("x-kubernetes-validations", ()) if isinstance(rule, dict)]
    return own + [message for value in node.values() for message in _messages(value)]


def plain(path: str) -> str:
    """Return a path of the API server in dots: spec.containers[0].env -> spec.containers.0.env."""
    return re.sub(r"\[([^\]]*)\]", r".\1", path).replace('"', "").replace("<nil>", "").strip(".")


def path_in_text(error: Json) -> str:
    """Return the field an error names in its text, empty for the errors that have a path."""
    return plain(next((match[1] for pattern in _IN_TEXT if (match := pattern.match(error["message"]))), ""))
