"""The spec of a composite held to its own definition, before a composer reads it.

On a control plane the API server has done so. What reaches a function past it (an object that an older, laxer
definition accepted, or one written while validation was off) must not be computed with: a number beyond its bounds
costs memory, a field of another type looks like one that was taken away, and what was rendered from it goes.
"""

from __future__ import annotations

from modelplane.api import catalogue
from modelplane.errors import InvalidInput
from modelplane.structural import Cause, Problem, Severity
from modelplane_functions.exchange import Observed
from modelplane_functions.remembered import recall


def check(observed: Observed) -> None:
    """Return when the API server would take the composite's spec. Cost: linear in the spec, about a millisecond.

    Raises: InvalidInput with the field that it would refuse. A field that is unknown is no reason: it is not read.
    """
    kind = str(observed.composite.get("kind"))
    if kind not in catalogue.kinds():
        return
    for message, path in recall(observed.composite, "admissible", lambda: _problems(observed, kind)):
        raise InvalidInput(message, path=path)


def _problems(observed: Observed, kind: str) -> tuple[tuple[str, tuple[str | int, ...]], ...]:
    composite = observed.composite
    document = {
        "apiVersion": composite.get("apiVersion"),
        "kind": kind,
        "metadata": {key: value for key, value in composite["metadata"].items() if key in ("name", "namespace")},
        "spec": composite.get("spec"),
    }
    return tuple(
        (problem.message, problem.path)
        for problem in catalogue.structural_kind(kind).problems(document)
        if problem.severity is Severity.ERROR
        and problem.cause is not Cause.UNKNOWN
        and problem.path[:1] == ("spec",)
        and not _is_of_what_was_rendered(kind, problem)
    )


def _is_of_what_was_rendered(kind: str, problem: Problem) -> bool:
    """Return whether the problem is a rule about a replica's template, which says what may be rendered anew.

    The composer asks the same before it renders, keeps what stands, and goes on to report on it. A refusal here would
    leave the status of a replica that runs as it was, once a rule is stricter than its template.
    """
    return kind == "ModelReplica" and problem.cause is Cause.RULE and "template" in problem.path
