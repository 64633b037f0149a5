"""Access to what is observed of an object, which may be anything: a status, and whatever a workload cluster says.

Its author is another controller, so there is nobody to tell of a mistake in it: what is absent, half written or of
another type says nothing, and is neither an error nor a no.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any
Object: TypeAlias = Mapping[str, Json]


def at(value: Json, *keys: str) -> Json:
    """Return the value under `keys`, None where a step on the way is missing or no object."""
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def objects(value: Json) -> tuple[Object, ...]:
    """Return the objects of a list; what else it holds is left out, and anything else has none."""
    if not isinstance(value, list | tuple):
        return ()
    return tuple(entry for entry in value if isinstance(entry, Mapping))


def text(value: Json) -> str:
    """Return a string, empty for anything else."""
    return value if isinstance(value, str) else ""


def count(value: Json) -> int | None:
    """Return a number of things, None for anything that is none."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and value >= 0 else None


def conditions(holder: Json) -> dict[str, Object]:
    """Return the conditions of a status, or of one parent of a route, by their type."""
    return {text(entry.get("type")): entry for entry in objects(at(holder, "conditions"))}


def verdict(condition: Object | None) -> bool | None:
    """Return what a condition says: yes, no, or None where it says neither."""
    status = at(condition, "status")
    return {"True": True, "False": False}.get(status) if isinstance(status, str) else None
