"""Our allocations in the shape of the oracle's answers, and both reduced to what is compared."""

from __future__ import annotations

from typing import Any

from modelplane import units
from tests.support.allocator import allocation, documents
from tests.support.allocator.profiles import PROFILES
from tests.support.allocator.slices import Requirement
from tests.support.allocator.verdicts import Abort, AbortKind, Assigned, Unschedulable

Json = dict[str, Any]

_WORDS = {
    "could not retrieve device class": AbortKind.UNKNOWN_CLASS,
    "CEL compile error": AbortKind.SELECTOR_SYNTAX,
    "CEL runtime error": AbortKind.SELECTOR_ERROR,
    "is currently": AbortKind.POOL_NOT_READY,
    "exceeds the claim limit": AbortKind.TOO_MANY_DEVICES,
    "allocation max size exceeded": AbortKind.TOO_MANY_DEVICES,
    "a claim constraint would not be satisfied": AbortKind.CONSTRAINT_OF_ALL,
    "node selection": AbortKind.NODE_SELECTOR,
    "feature is disabled": AbortKind.FEATURE_OFF,
    "empty constraint": AbortKind.FEATURE_OFF,
    "DRAConsumableCapacity feature": AbortKind.FEATURE_OFF,
    " is invalid: ": AbortKind.INVALID_POOL,
    "capacity value is negative": AbortKind.CAPACITY,
    "cannot be represented in the device's range": AbortKind.CAPACITY,
}
"""Words of the allocator's errors, and what we call them."""


def answer(asked: Json) -> Json:
    """Return our answer to one problem, reduced to what is compared."""
    profile = PROFILES[f"1.{asked.get('minor', 36)}"]
    verdict = allocation.allocate(documents.inventory(asked), documents.claims(asked), profile)
    if isinstance(verdict, Abort):
        return {"result": "abort", "cause": str(verdict.kind)}
    if isinstance(verdict, Unschedulable):
        return {"result": "none", "invalid": "is invalid" in verdict.reason}
    return {
        "result": "allocated",
        "claims": [
            {
                "devices": [_device(one) for one in claim.devices],
                "nodeSelector": None
                if claim.node_selector is None
                else [
                    {"labels": _ours(term.expressions), "fields": _ours(term.fields)} for term in claim.node_selector
                ],
            }
            for claim in verdict.claims
        ],
    }


def _device(one: Assigned) -> Json:
    return {
        "request": one.request,
        "device": list(one.device),
        "shared": one.shared,
        "consumed": {name: amount.canonical() for name, amount in one.consumed},
        "admin": one.admin_access,
        "tolerations": len(one.tolerations),
        "binding": [list(one.binding_conditions), list(one.binding_failure_conditions)],
    }


def _ours(requirements: tuple[Requirement, ...]) -> list[list[Any]]:
    return [[one.key, one.operator, list(one.values)] for one in requirements]


def facts(reply: Json) -> Json:
    """Return what is compared of the oracle's answer."""
    if reply["result"] == "abort":
        return {"result": "abort", "cause": str(_cause(reply["error"]))}
    if reply["result"] == "none":
        return {"result": "none", "invalid": "invalid resource pools" in reply.get("error", "")}
    return {"result": "allocated", "claims": [_claim(one) for one in reply["claims"] or []]}


def _cause(error: str) -> AbortKind:
    for words, kind in _WORDS.items():
        if words in error:
            return kind
    raise AssertionError(f"an error of the allocator without a name here: {error}")


def _claim(one: Json) -> Json:
    selector = one.get("nodeSelector")
    return {
        "devices": [
            {
                "request": entry["request"],
                "device": [entry["driver"], entry["pool"], entry["device"]],
                "shared": "shareID" in entry,
                "consumed": {
                    name: units.quantity(text).canonical()
                    for name, text in sorted(entry.get("consumedCapacity", {}).items())
                },
                "admin": entry.get("adminAccess", False),
                "tolerations": len(entry.get("tolerations", [])),
                "binding": [entry.get("bindingConditions", []), entry.get("bindingFailureConditions", [])],
            }
            for entry in one["devices"].get("results", [])
        ],
        "nodeSelector": None
        if selector is None
        else [
            {
                "labels": _theirs(term.get("matchExpressions", [])),
                "fields": _theirs(term.get("matchFields", [])),
            }
            for term in selector["nodeSelectorTerms"]
        ],
    }


def _theirs(requirements: list[Json]) -> list[list[Any]]:
    return [[one["key"], one["operator"], one.get("values", [])] for one in requirements]
