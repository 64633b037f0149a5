"""The judgement of a change of release: what differs between two worlds, and what of it people would notice."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from modelplane_cli.simulator.store import Key, Object

Json = Any
ABSENT: Final = "(absent)"
_INDEX: Final = re.compile(r"\[\d+\]")


class Difference(NamedTuple):
    """A difference of one field. `path` is without indexes of lists."""

    key: Key
    path: str
    before: Json
    after: Json

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.key}: {self.path}: {str(self.before)[:200]} -> {str(self.after)[:200]}"


class Meant(NamedTuple):
    """A difference that a release makes on purpose; `path` is a pattern. None of them restarts a pod."""

    kind: str
    path: str
    why: str


def differences(before: Mapping[Key, Object], after: Mapping[Key, Object]) -> list[Difference]:
    """Return all differences of two worlds. An object that only one of them has is a difference with an empty path."""
    found: list[Difference] = []
    for key in sorted({*before, *after}):
        if key not in before or key not in after:
            found.append(Difference(key, "", *("there" if key in one else ABSENT for one in (before, after))))
            continue
        found += (Difference(key, _INDEX.sub("[]", path), *pair) for path, *pair in _walk(before[key], after[key], ""))
    return found


def _walk(before: Json, after: Json, path: str) -> Iterator[tuple[str, Json, Json]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            below = f"{path}.{name}" if path else name
            yield from _walk(before.get(name, ABSENT), after.get(name, ABSENT), below)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _walk(one, other, f"{path}[{index}]")
    elif before != after:
        yield path, before, after


def unmeant(found: list[Difference], meant: tuple[Meant, ...]) -> list[str]:
    """Return the differences that nobody meant, as lines."""
    return [
        str(one)
        for one in found
        if not any(one.key.kind == row.kind and fnmatch.fnmatchcase(one.path, row.path) for row in meant)
    ]


def noticed(found: list[Difference]) -> list[str]:
    """Return what people notice: a replica, an endpoint, a route or an Object that came or went, or has another spec.

    An Object carries what runs on a cluster, to the last field.
    """
    kinds = {"ModelReplica", "ModelEndpoint", "Object", "HTTPRoute", "Backend"}
    return [str(one) for one in found if one.key.kind in kinds and one.path.split(".")[0] in {"", "spec"}]
