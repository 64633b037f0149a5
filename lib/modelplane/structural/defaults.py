"""Pruning and defaulting of documents: unknown fields and nulls are removed, and defaults are added.

Source: apiextensions-apiserver v0.36, in the order of its decoder. The given document is never changed; the result
shares its unchanged parts.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.structural.problem import Cause, Path, Problem
from modelplane.structural.schema import Schema

Json: TypeAlias = Any

_TYPE_META = ("apiVersion", "kind", "metadata")
# YAML 1.1, which kubectl reads, takes these unquoted words for truth values, also as keys.
_YAML_TRUTH = {"true": ("on", "yes", "y"), "false": ("off", "no", "n")}
# A document of nothing but unknown fields must not cost a comparison each.
_MOST_SUGGESTIONS = 200
_LONGEST_SUGGESTION = 64

_CLOSED = Schema()
_OPEN = Schema(preserve_unknown=True)


class Pruning:
    """A pass over a document that removes and collects the unknown fields."""

    def __init__(self) -> None:
        self.unknown: list[Problem] = []

    def root(self, document: Mapping[str, Json], schema: Schema) -> dict[str, Json]:
        """Return the document without unknown fields and nulls; type and metadata are unchanged."""
        return self._object(document, schema, (), is_resource=True)

    def _value(self, value: Json, schema: Schema | None, path: Path) -> Json:
        if schema is None:
            return value
        if isinstance(value, Mapping):
            return self._object(value, schema, path, is_resource=schema.embedded_resource)
        if isinstance(value, list):
            # Entries of a list the schema does not have (a list in the place of something else) are all unknown.
            items = schema.items or (_OPEN if schema.preserve_unknown else _CLOSED)
            return [self._value(item, items, (*path, index)) for index, item in enumerate(value)]
        return value

    def _object(self, value: Mapping[str, Json], schema: Schema, path: Path, *, is_resource: bool) -> dict[str, Json]:
        kept: dict[str, Json] = {}
        for key, member in value.items():
            below = schema.child(key)
            if is_resource and key in _TYPE_META:
                kept[key] = member
            elif below is None and not schema.preserve_unknown and schema.additional is not True:
                self._report(key, schema, path)
            elif member is not None or below is None or below.nullable or below.default is not None:
                kept[key] = self._value(member, below, (*path, key))
        return kept

    def _report(self, key: str, schema: Schema, path: Path) -> None:
        message = f'unknown field "{key}"'
        if len(self.unknown) < _MOST_SUGGESTIONS:
            message += suggestion(str(key), schema.properties)
        self.unknown.append(Problem((*path, key), message, cause=Cause.UNKNOWN))


def suggestion(key: str, known: Mapping[str, Schema]) -> str:
    """Return "; did you mean ..." for a key that is similar to a known one, else an empty text."""
    for word in _YAML_TRUTH.get(key.lower(), ()):
        if word in known:
            return f'; YAML reads the unquoted key {word} as a boolean: write "{word}" in quotes'
    if len(key) > _LONGEST_SUGGESTION:
        return ""
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(key.lower(), by_lower, n=1, cutoff=0.7)
    return f'; did you mean "{by_lower[close[0]]}"?' if close else ""


def defaulted(value: Json, schema: Schema | None) -> Json:
    """Return `value` with the defaults of `schema`. Defaults of a parent come first, so that those inside it apply."""
    if schema is None:
        return value
    if isinstance(value, Mapping):
        return defaulted_object(value, schema)
    if isinstance(value, list) and schema.items is not None:
        items = schema.items
        return [defaulted(_or_default(item, items), items) for item in value]
    return value


def defaulted_object(value: Mapping[str, Json], schema: Schema) -> dict[str, Json]:
    """Return an object with the defaults of `schema`."""
    result = dict(value)
    for key, below in schema.properties.items():
        if below.default is not None and (key not in result or (result[key] is None and not below.nullable)):
            result[key] = below.default
    for key, member in result.items():
        child = schema.child(key)
        if child is not None:
            result[key] = defaulted(_or_default(member, child), child)
    return result


def _or_default(value: Json, schema: Schema) -> Json:
    return schema.default if value is None and not schema.nullable else value
