"""The judgement of an answer to one wrong input: what is lost, restarted, taken out of traffic, or given away.

It knows no composer's code: it compares what was desired before with what is desired now.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from modelplane import names
from modelplane.api import catalogue, kinds
from modelplane.api import replica as replicas
from modelplane.errors import InvalidInput
from modelplane.render import objects
from modelplane.render.manifest import Purpose
from modelplane_functions.exchange import Outcome
from tests.support.situations import Situation

Json = Any

_PODS = (Purpose.WORKLOAD, Purpose.POD_INPUT)
_OURS_TO_SAY = re.compile(r"(Attribute|Type|Key|Index|Value|Assertion|Recursion)Error|Traceback|NoneType|object at 0x")


def of(before: Situation, seen: Situation, outcome: Outcome | None, *, is_authors: bool) -> Iterator[str]:
    """Yield a line per loss between a situation at rest and the answer to `seen`, which has one wrong input.

    `is_authors`: the change is a valid edit by the owner of the object, and may have effects. A child that was itself
    edited may be put back or left.
    """
    if outcome is None:
        return
    yield from _words(outcome)
    yield from _namespaces(before, outcome, _platforms(seen) if is_authors else set())
    if is_authors:
        return
    for key in sorted(before.children.keys() - outcome.children.keys()):
        yield f"child {key} is deleted"
    for key, child in sorted(before.children.items()):
        after = outcome.children.get(key)
        if after is not None and after.resource.get("spec") != seen.children[key].get("spec"):
            yield from _changed(key, child, after.resource)
    if before.kind == "InferenceCluster":
        yield from _admissions(before, outcome)


def _changed(key: str, child: Json, after: Mapping[str, Json]) -> Iterator[str]:
    if objects.is_object(child) and objects.purpose(child) in _PODS:
        if objects.unwrap(child) != objects.unwrap(after):
            yield f"child {key} is written anew: its pods restart"
    elif child["kind"] == "HTTPRoute":
        gone = sorted(_receiving(child) - _receiving(after))
        if gone:
            yield f"child {key} no longer routes to {', '.join(gone)}"
    elif child["kind"] == "ModelReplica":
        if _runs(child) != _runs(after):
            yield f"child {key} is another replica: its pods restart"
    elif child["kind"] == "ModelEndpoint" and after["spec"].get("drain") and not child["spec"].get("drain"):
        yield f"child {key} is drained"


def _runs(replica: Mapping[str, Json]) -> Json:
    """Return what a replica runs, as it is read, without what may change at any time; as it is written where it cannot
    be read.
    """
    whole = {"apiVersion": names.API_VERSION, "kind": "ModelReplica", **replica}
    stored = catalogue.structural_kind("ModelReplica").stored(whole)
    try:
        return replace(replicas.decode(stored), priority=0)
    except InvalidInput:
        return {name: value for name, value in stored["spec"].items() if name not in ("crossplane", "priority")}


def _receiving(route: Mapping[str, Json]) -> set[str]:
    return {
        reference["name"]
        for rule in route["spec"].get("rules") or ()
        for reference in rule.get("backendRefs") or ()
        if reference.get("weight") is None or reference["weight"] > 0
    }


def _admissions(before: Situation, outcome: Outcome) -> Iterator[str]:
    admitted = set((before.composite.get("status") or {}).get("admitted") or ())
    now = set(outcome.status.get("admitted") or ())
    yield from (f"replica {key} loses its admission" for key in sorted(admitted - now))
    yield from (f"replica {key} is admitted" for key in sorted(now - admitted))


def _platforms(seen: Situation) -> set[str]:
    """Return the namespaces that cluster-scoped specs name: the platform says where its gateways are."""
    kinds_of_it = {kind for kind, known in kinds.KINDS.items() if not known.is_namespaced}
    return {found for other in seen.store if other["kind"] in kinds_of_it for found in _named(other.get("spec"))}


def _namespaces(before: Situation, outcome: Outcome, named_by_platform: set[str]) -> Iterator[str]:
    if not kinds.KINDS[before.kind].is_namespaced:
        return  # the platform names the namespaces of its gateways and Secrets
    own = {before.composite["metadata"].get("namespace"), names.SYSTEM_NAMESPACE, None, ""}
    own |= {found for child in before.children.values() for found in _named(child)} | named_by_platform
    for key, child in sorted(outcome.children.items()):
        for found in sorted({str(one) for one in _named(child.resource) if one not in own}):
            yield f"child {key} names namespace {found[:40]}"


def _named(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inside in value.items():
            if key == "namespace" and isinstance(inside, str):
                yield inside
            yield from _named(inside)
    elif isinstance(value, (list, tuple)):
        for inside in value:
            yield from _named(inside)


def _words(outcome: Outcome) -> Iterator[str]:
    said = [condition.message for condition in outcome.conditions] + [event.message for event in outcome.events]
    said.append(json.dumps(outcome.status, default=str))
    for text in said:
        found = _OURS_TO_SAY.search(text)
        if found:
            yield f"a message speaks of {found[0]}: {text[:200]}"
