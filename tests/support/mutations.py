"""One field of one input made wrong: where, how, and what an API server would say of it.

The inputs of a composer are its composite, its observed children and whatever its requirements are answered from. A
mutation is drawn from a `random.Random`, so that a seed repeats it.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from modelplane import names
from modelplane.api import catalogue
from modelplane.structural import Cause

Json = Any
Path = tuple[str | int, ...]

GONE = object()
"""The value of a field that is taken away."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A field of one input, and the value it gets."""

    path: Path
    how: str
    value: Json

    def applied(self, document: Json) -> Json:
        """Return the document with the mutation, the original untouched; what is beside the path is shared."""
        made = holder = copy.copy(document)
        for step in self.path[:-1]:
            holder[step] = holder = copy.copy(holder[step])
        if self.value is GONE:
            del holder[self.path[-1]]
        else:
            holder[self.path[-1]] = copy.deepcopy(self.value)
        return made

    def __str__(self) -> str:
        """Return where and how."""
        return f"{'.'.join(map(str, self.path))} {self.how}"


def paths(value: Json, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every field and item below `value`, in an order that depends on nothing else."""
    entries = (
        sorted(value.items()) if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inside in entries:
        own = (*path, key)
        yield own
        yield from paths(inside, own)


# The server writes these, and no client can make them wrong.
_SERVERS = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"), ("metadata",)}


def draw(document: Json, chance: random.Random) -> Mutation:
    """Return a mutation of a random field of the document."""
    found = [path for path in paths(document) if path not in _SERVERS]
    path = chance.choice(found)
    value = document
    for step in path:
        value = value[step]
    how, make = chance.choice(_WAYS)
    return Mutation(path, how, make(value, chance))


def _swapped(value: Json, chance: random.Random) -> Json:
    others = [
        other for other in ("text", 7, 1.5, True, [], {}, ["text"], {"text": "text"}) if type(other) is not type(value)
    ]
    return chance.choice(others)


def _emptied(value: Json, _chance: random.Random) -> Json:
    return (
        {} if isinstance(value, Mapping) else [] if isinstance(value, list) else "" if isinstance(value, str) else None
    )


def _doubled(value: Json, _chance: random.Random) -> Json:
    if isinstance(value, list):
        return [*value, *value]
    if isinstance(value, Mapping):
        return {**value, **{f"{key}-{key}": inside for key, inside in value.items()}}
    if isinstance(value, str):
        return value + value
    return value * 2 if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _huge(value: Json, chance: random.Random) -> Json:
    if isinstance(value, str):
        return chance.choice(["x" * 70_000, "9" * 400, "1e99999", "-1e99999Gi"])
    if isinstance(value, (list, Mapping)):
        return [value] * 3000 if isinstance(value, list) else {str(number): "x" for number in range(3000)}
    return chance.choice([2**53 - 1, 10**18, 1e300])


def _foreign(value: Json, chance: random.Random) -> Json:
    if isinstance(value, Mapping) and "namespace" in value:
        return {**value, "namespace": "intruder"}
    return chance.choice(["intruder", "intruder/intruder", "../intruder", "-", "\u0000", "\U0001f47e", "{{ .X }}"])


_WAYS: tuple[tuple[str, Callable[[Json, random.Random], Json]], ...] = (
    ("is gone", lambda _value, _chance: GONE),
    ("is null", lambda _value, _chance: None),
    ("is empty", _emptied),
    ("is of another type", _swapped),
    ("is doubled", _doubled),
    ("is huge", _huge),
    ("is foreign", _foreign),
    ("is negative", lambda _value, _chance: -1),
)


def is_accepted(before: Json, after: Json) -> bool:
    """Return whether an API server takes the edit of an object of ours; of foreign kinds nobody here knows.

    A field that it does not know it leaves out, and takes the rest.
    """
    if before.get("apiVersion") != names.API_VERSION:
        return False
    try:
        found = catalogue.structural_kind(before["kind"]).problems(after, before)
    except Exception:  # a checker that fails on what no server could hold has not accepted it
        return False
    return all(problem.cause is Cause.UNKNOWN for problem in found)
