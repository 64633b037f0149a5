"""Fields that a document lacks, by the definition of its kind, with a value that the definition may take."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from modelplane.api import catalogue
from tests.support.mutations import Path

Json = Any
_TEXTS = {"date-time": "2026-01-01T00:00:00Z", "int-or-string": "1"}


def absent(document: Json) -> Iterator[tuple[Path, Json]]:
    """Yield the path and the schema of each field that a document of ours lacks; nothing for other kinds."""
    if document["apiVersion"].startswith("modelplane.ai/"):
        schema = _schema(document["kind"])
        for part in ("spec", "status"):
            if part in document and part in schema["properties"]:
                yield from _absent(document[part], schema["properties"][part], (part,))


def of(schema: Json) -> tuple[Json, ...]:
    """Return two values: one with what is required and no more, and one with all that there is."""
    least, most = _sample(schema, full=False), _sample(schema, full=True)
    return (least,) if least == most else (least, most)


@functools.cache
def _schema(kind: str) -> Json:
    return catalogue.derived(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def _absent(value: Json, schema: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    if isinstance(value, Mapping):
        for name, inside in sorted(schema.get("properties", {}).items()):
            if name == "crossplane":
                continue  # Crossplane's own, which no composer reads
            if name in value:
                yield from _absent(value[name], inside, (*path, name))
            else:
                yield (*path, name), inside
        every = schema.get("additionalProperties")
        if isinstance(every, Mapping):
            for name in sorted(value):
                yield from _absent(value[name], every, (*path, name))
    elif isinstance(value, list) and "items" in schema:
        for number, inside in enumerate(value):
            yield from _absent(inside, schema["items"], (*path, number))


def _sample(schema: Json, *, full: bool) -> Json:
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return _object(schema, full=full)
    if kind == "array":
        return [_sample(schema["items"], full=full)]
    if kind == "boolean":
        return True
    if kind in ("integer", "number") or schema.get("x-kubernetes-int-or-string"):
        return max(schema.get("minimum", 1), 1)
    return _TEXTS.get(schema.get("format", ""), "text")


def _object(schema: Json, *, full: bool) -> Json:
    properties = schema.get("properties", {})
    wanted = properties if full else schema.get("required", ())
    made = {name: _sample(properties[name], full=full) for name in sorted(wanted)}
    every = schema.get("additionalProperties")
    return {**made, **({"text": _sample(every, full=full)} if isinstance(every, Mapping) else {})}
