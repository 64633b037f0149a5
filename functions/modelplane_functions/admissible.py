"""Validation of a spec against its definition, before a composer reads it: the composite's, and another object's.

The API server validates every write. An object that an older definition accepted, or that was written while validation
was off, can still reach a function. A composer must not compute with it. A number out of bounds costs memory. A field
of the wrong type looks like a removed field, and what was rendered from that field would be deleted.
"""

from __future__ import annotations

from typing import TypeAlias

from modelplane.api import catalogue
from modelplane.errors import InvalidInput
from modelplane.structural import Cause, Problem, Severity
from modelplane_functions.exchange import Json, Observed, Resource
from modelplane_functions.memory.resources import recall_of

_Problem: TypeAlias = tuple[str, tuple[str | int, ...]]


def check(observed: Observed) -> None:
    """Return when the API server would accept the composite's spec. Nothing reads an unknown field, so it is ignored.

    Cost: linear in the spec, about a millisecond; nothing while the spec is as it was.
    Raises: InvalidInput with the field that the API server would refuse.
    """
    kind = str(observed.composite.get("kind"))
    if kind not in catalogue.kinds():
        return
    spec, metadata = observed.composite.get("spec"), observed.composite["metadata"]
    about = {"apiVersion": observed.composite.get("apiVersion"), "kind": kind}
    named = {key: value for key, value in metadata.items() if key in ("name", "namespace")}
    judged = recall_of(
        spec,
        "admissible",
        repr((about, named)),  # of any type, since nobody has looked at them yet
        lambda: _problems(kind, {**about, "metadata": named, "spec": spec}),
    )
    for message, path in judged:
        raise InvalidInput(message, path=path)


def check_other(kind: str, resource: Resource) -> None:
    """Return when the API server would accept the spec of an object of ours that is not the composite.

    A composer that follows a field of it changes what runs. A value that its definition refuses has no author.
    Cost: linear in the spec, some milliseconds; callers keep the verdict.
    Raises: InvalidInput with the field that the API server would refuse.
    """
    for message, path in _problems(kind, dict(resource)):
        raise InvalidInput(message, path=path)


def _problems(kind: str, document: dict[str, Json]) -> tuple[_Problem, ...]:
    return tuple(
        (problem.message, problem.path)
        for problem in catalogue.structural_kind(kind).problems(document)
        if problem.severity is Severity.ERROR
        and problem.cause is not Cause.UNKNOWN
        and problem.path[:1] == ("spec",)
        and not _is_about_rendered_template(kind, problem)
    )


def _is_about_rendered_template(kind: str, problem: Problem) -> bool:
    """Return whether the problem is a rule about a replica's template.

    The composer checks the template itself before it renders. It keeps the existing objects when the check fails, and
    it still reports their status. A refusal here would freeze the status of a running replica when a rule becomes
    stricter than its template.
    """
    return kind == "ModelReplica" and problem.cause is Cause.RULE and "template" in problem.path
