"""One field of one input made wrong: where, how, and what an API server would say of it.

The inputs of a composer are its composite, its observed children and whatever its requirements are answered from. A
mutation is drawn from a `random.Random`, so that a seed repeats it.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
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
SERVERS = frozenset({("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"), ("metadata",)})


def draw(document: Json, chance: random.Random, earlier: Sequence[Json] = ()) -> Mutation:
    """Return a mutation of a random field of the document."""
    found = [path for path in paths(document) if path not in SERVERS]
    while True:
        path = chance.choice(found)
        number = chance.randrange(len(_WAYS) + 1)
        if number < len(_WAYS):
            how, make = _WAYS[number]
            drawn = [Mutation(path, how, value) for value in make(at(document, path))]
        else:
            drawn = list(stale(document, path, earlier))
        if drawn:
            return chance.choice(drawn)


def every(document: Json, path: Path, earlier: Sequence[Json] = ()) -> Iterator[Mutation]:
    """Yield each mutation of one field: each variant of each way, and what the field was in earlier versions."""
    value = at(document, path)
    for how, make in _WAYS:
        yield from (Mutation(path, how, one) for one in make(value))
    yield from stale(document, path, earlier)


def stale(document: Json, path: Path, earlier: Sequence[Json]) -> Iterator[Mutation]:
    """Yield what a field was in earlier versions of its object, each value once; where it was not, it is gone."""
    seen = [at(document, path)]
    for version in earlier:
        was = _at_or_gone(version, path)
        if was is not GONE and was not in seen:
            seen.append(was)
            yield Mutation(path, "is stale", was)


def added(path: Path, samples: Sequence[Json]) -> Iterator[Mutation]:
    """Yield each mutation of a field that the document lacks: a sample of it, what it is not, and wrong samples.

    Inside a sample each field is made wrong in one variant of each way, in a large one in two ways.
    """
    for sample in samples:
        yield Mutation(path, "is added", sample)
    yield from (Mutation(path, "is added wrong", one) for one in (*_OTHERS, -1, *_huge(""), *_foreign("")))
    fullest = samples[-1]
    below = list(paths(fullest))
    for inside in below:
        for how, make in _WAYS if len(below) <= _LARGE else (_WAYS[0], _WAYS[3]):
            for value in list(make(at(fullest, inside)))[:1]:
                made = Mutation(inside, how, value).applied(fullest)
                yield Mutation(path, f"is added, {'.'.join(map(str, inside))} {how}", made)


_LARGE = 40


def at(document: Json, path: Path) -> Json:
    """Return the value of a field."""
    for step in path:
        document = document[step]
    return document


def _at_or_gone(document: Json, path: Path) -> Json:
    try:
        return at(document, path)
    except (KeyError, IndexError, TypeError):
        return GONE


def _emptied(value: Json) -> Sequence[Json]:
    empty: Json = (
        {} if isinstance(value, Mapping) else [] if isinstance(value, list) else "" if isinstance(value, str) else 0
    )
    return [] if type(empty) is type(value) and empty == value else [empty]


def _swapped(value: Json) -> Sequence[Json]:
    if isinstance(value, bool):
        return [not value, *_OTHERS[:3], *_OTHERS[4:]]
    return [other for other in _OTHERS if type(other) is not type(value)]


_OTHERS: tuple[Json, ...] = ("text", 7, 1.5, True, [], {}, ["text"], {"text": "text"}, [{}], [None])


def _doubled(value: Json) -> Sequence[Json]:
    if isinstance(value, list):
        return [[*value, *value]] if value else []
    if isinstance(value, Mapping):
        return [{**value, **{f"{key}-{key}": inside for key, inside in value.items()}}] if value else []
    if isinstance(value, bool) or not value:
        return []
    return [value + value]


def _huge(value: Json) -> Sequence[Json]:
    if isinstance(value, str):
        flag, equals, _ = value.partition("=")
        return [f"{flag}={one}" if equals else one for one in _LONG]
    if isinstance(value, list):
        return [(value or ["x"]) * (3000 // (len(value) or 1))]
    if isinstance(value, Mapping):
        return [{str(number): "x" for number in range(3000)}]
    return [2**53 - 1, 10**18, 1e300]


_LONG = ("x" * 70_000, "9" * 400, "9" * 5000, "9" * 400 + "k", "1e99999", "-1e99999Gi", "v1." + "9" * 5000 + ".0")


def _foreign(value: Json) -> Sequence[Json]:
    if isinstance(value, Mapping):
        return [{**value, "namespace": "intruder"}] if "namespace" in value else []
    if not isinstance(value, str):
        return []
    return ["intruder", "intruder/intruder", "../intruder", "-", "\u0000", "\U0001f47e", "{{ .X }}", "$(X)", "1", "-1"]


def _negative(value: Json) -> Sequence[Json]:
    return [-1, 0] if isinstance(value, (int, float)) and not isinstance(value, bool) else [-1]


_WAYS: tuple[tuple[str, Callable[[Json], Sequence[Json]]], ...] = (
    ("is gone", lambda _value: [GONE]),
    ("is null", lambda value: [None] if value is not None else []),
    ("is empty", _emptied),
    ("is of another type", _swapped),
    ("is doubled", _doubled),
    ("is huge", _huge),
    ("is foreign", _foreign),
    ("is negative", _negative),
)


def is_typed(document: Json) -> bool:
    """Return whether an API server can read the metadata of a document, of which it stores only what fits its types."""
    metadata = document["metadata"]
    annotations, owners = metadata.get("annotations"), metadata.get("ownerReferences")
    if annotations is not None and not (
        isinstance(annotations, dict) and all(isinstance(value, str) for value in annotations.values())
    ):
        return False
    return owners is None or (isinstance(owners, list) and all(map(_is_owner, owners)))


def _is_owner(reference: Json) -> bool:
    if not isinstance(reference, dict):
        return False
    told = all(reference.get(key) and isinstance(reference[key], str) for key in ("apiVersion", "kind", "name", "uid"))
    flags = [reference.get(key) for key in ("controller", "blockOwnerDeletion")]
    return told and all(flag is None or isinstance(flag, bool) for flag in flags)


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
