"""Conditions of a composite as Crossplane writes them.

Source: Crossplane v2.4 reconciler and crossplane-runtime's condition helpers. There is no clock here, so a condition
that changes did so at the epoch, which nobody mistakes for a measurement; one that stays keeps its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

Json: TypeAlias = Any
Condition: TypeAlias = dict[str, Json]

NO_TIME = "1970-01-01T00:00:00Z"
"""lastTransitionTime is required by the schema; offline nothing has a time."""

SYSTEM = frozenset({"Ready", "Synced", "Healthy", "UpToDate", "Responsive"})
"""Types a function may not set; Crossplane drops them in silence."""

_SHOWN_NAMES = 3


def condition(kind: str, status: str, reason: str, message: str = "") -> Condition:
    """Return one condition; an empty message is left out."""
    made = {"type": kind, "status": status, "reason": reason, "lastTransitionTime": NO_TIME}
    if message:
        made["message"] = message
    return made


def merged(before: Iterable[Mapping[str, Json]], new: Iterable[Condition]) -> list[Condition]:
    """Return `before` with `new` put in by type, sorted by type."""
    by_type: dict[str, Condition] = {str(entry.get("type")): dict(entry) for entry in before}
    for entry in new:
        old = by_type.get(entry["type"])
        if old is None or any(old.get(part) != entry.get(part) for part in ("status", "reason", "message")):
            by_type[entry["type"]] = entry
    return [by_type[kind] for kind in sorted(by_type)]


def find(resource: Mapping[str, Json], kind: str) -> Mapping[str, Json] | None:
    """Return a resource's condition of a type, None where it has none."""
    status = resource.get("status")
    entries = status.get("conditions") if isinstance(status, Mapping) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and entry.get("type") == kind:
            return entry
    return None


def synced() -> Condition:
    """Return the condition of a reconcile that succeeded."""
    return condition("Synced", "True", "ReconcileSuccess")


def not_synced(why: str) -> Condition:
    """Return the condition of a reconcile that failed."""
    return condition("Synced", "False", "ReconcileError", why)


def ready(unready: Sequence[str], *, own: bool | None) -> Condition:
    """Return Ready: the function's own word if it gave one, else whether every composed resource is ready."""
    if own is True or (own is None and not unready):
        return condition("Ready", "True", "Available")
    if own is False:
        return condition("Ready", "False", "Creating")
    return condition("Ready", "False", "Creating", f"Unready resources: {_some(sorted(unready))}")


def after_fatal(before: Iterable[Mapping[str, Json]], returned: Iterable[Condition]) -> list[Condition]:
    """Return the custom conditions that a fatal function did not return, with status Unknown."""
    seen = {entry["type"] for entry in returned}
    return [
        condition(
            str(entry.get("type")),
            "Unknown",
            "FatalError",
            "A fatal error occurred before the status of this condition could be determined.",
        )
        for entry in before
        if entry.get("type") not in SYSTEM and entry.get("type") not in seen
    ]


def _some(names: Sequence[str]) -> str:
    if len(names) > _SHOWN_NAMES:
        return f"{', '.join(names[:_SHOWN_NAMES])}, and {len(names) - _SHOWN_NAMES} more"
    if len(names) == _SHOWN_NAMES:
        return f"{', '.join(names[:-1])}, and {names[-1]}"
    return ", ".join(names)
