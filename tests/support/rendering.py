"""Whole worlds from our own documents, through the real composers."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from modelplane_cli.checks import acceptance
from modelplane_cli.documents import reading
from modelplane_cli.simulator import definitions, offline
from modelplane_cli.simulator.offline import Assume, World
from modelplane_cli.simulator.store import Key, key_of
from modelplane_functions import responder
from tests.support import examples

Json = Any
Object = dict[str, Json]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = tuple(examples.fleets())


@functools.cache
def kinds() -> definitions.Definitions:
    """Return the kinds of the API, read once."""
    return definitions.builtin()


def example(name: str) -> list[Object]:
    """Return the documents of an example as they are written."""
    given = reading.read([str(ROOT / "examples" / name)])
    assert not given.problems
    return [document.data for document in given.documents]


def world(objects: Sequence[Mapping[str, Json]], assume: Assume = Assume.READY) -> World:
    """Return the settled world of documents that have no mistakes."""
    given = [reading.Document(dict(data), "test", index, _no_lines) for index, data in enumerate(objects, 1)]
    checked = acceptance.check(given, kinds(), "default")
    assert not reading.has_errors(checked.problems), [str(problem) for problem in checked.problems]
    return offline.build(checked.objects, kinds(), responder.answer, assume)


def _no_lines() -> Any:
    raise AssertionError("asked for a line of a document without text")


def again(settled: World, *, change: Any = None, without: Iterable[Key] = ()) -> World:
    """Return the world that follows from a settled one after `change(objects by key)`.

    What is left out goes as on a cluster: with all that it controls.
    """
    store = settled.store
    gone = {key for left_out in without for key in _controlled(settled, left_out)}
    objects = {key: copy.deepcopy(found) for key in store if (found := store.get(key)) is not None and key not in gone}
    if change is not None:
        change(objects)
    return world(list(objects.values()), settled.assume)


def _controlled(settled: World, key: Key) -> Iterable[Key]:
    yield key
    for child in settled.store.controlled_by(key):
        yield from _controlled(settled, child)


def ours(kind: str, name: str, namespace: str = "") -> Key:
    """Return the identity of an object of our group."""
    return Key("modelplane.ai", kind, namespace, name)


def names(settled: World, kind: str, group: str = "modelplane.ai") -> list[str]:
    """Return the names of all objects of a kind."""
    return [key.name for key in settled.store.of_kind(group, kind)]


def running(settled: World) -> dict[Key, Json]:
    """Return what serves: the spec of every replica, endpoint, route and object on a cluster."""
    kept = {"ModelReplica", "ModelEndpoint", "Object", "HTTPRoute", "Backend"}
    return {
        key: found.get("spec")
        for key in settled.store
        if key.kind in kept and (found := settled.store.get(key)) is not None
    }


def without_crossplane(spec: Json) -> Json:
    """Return a spec without what Crossplane itself keeps in it."""
    return {name: value for name, value in spec.items() if name != "crossplane"}


__all__ = [
    "EXAMPLES",
    "again",
    "example",
    "key_of",
    "kinds",
    "names",
    "ours",
    "running",
    "without_crossplane",
    "world",
]
