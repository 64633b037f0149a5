"""Access to observed objects, which may have any content: a status, or an object of a workload cluster.

Another controller writes them, so an error cannot be reported to an author. A value that is absent, incomplete or of
another type is unknown; it is neither an error nor a no.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any
Object: TypeAlias = Mapping[str, Json]


def at(value: Json, *keys: str) -> Json:
    """Return the value at the path `keys`, None if a step is missing or is not an object."""
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def objects(value: Json) -> tuple[Object, ...]:
    """Return the objects of a list, without its other items; none for another type."""
    if not isinstance(value, list | tuple):
        return ()
    return tuple(entry for entry in value if isinstance(entry, Mapping))


def text(value: Json) -> str:
    """Return a string, an empty one for another type."""
    return value if isinstance(value, str) else ""


def count(value: Json) -> int | None:
    """Return a non-negative integer, None for any other value."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and value >= 0 else None


def conditions(holder: Json) -> dict[str, Object]:
    """Return the conditions of a status, or of one parent of a route, by their type."""
    return {text(entry.get("type")): entry for entry in objects(at(holder, "conditions"))}


def condition(holder: Json, kind: str) -> Object:
    """Return the condition of that type, empty if there is none; of several the last, as in `conditions`."""
    told = at(holder, "conditions")
    if isinstance(told, list | tuple):
        for entry in reversed(told):
            if isinstance(entry, Mapping) and entry.get("type") == kind:
                return entry
    return {}


def verdict(condition: Object | None) -> bool | None:
    """Return the status of a condition: True, False, or None if it is unknown."""
    status = at(condition, "status")
    return {"True": True, "False": False}.get(status) if isinstance(status, str) else None
