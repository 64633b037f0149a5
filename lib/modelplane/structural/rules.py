"""Problems found by the CEL rules of a schema (x-kubernetes-validations).

Source: the CEL validation of apiextensions-apiserver v0.36. Rules run on every value that is present. Rules that
mention oldSelf run only where the old value can be correlated. optionalOldSelf is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from kubecel.errors import KubecelError
from modelplane.structural.problem import Cause, Path, Problem
from modelplane.structural.schema import Schema

Json: TypeAlias = Any


def problems(value: Json, schema: Schema, path: Path, old: Json = None) -> Iterator[Problem]:
    """Yield a problem for each rule that fails, the outermost first."""
    if value is None or not schema.has_rules:
        return
    for rule in schema.rules:
        if rule.is_transition and old is None:
            continue
        message = _failure(rule.expression, rule.message, _seen(value, schema), _seen(old, schema))
        if message is not None:
            yield Problem((*path, *rule.field_path), message, cause=Cause.RULE)
    if isinstance(value, Mapping):
        yield from _members(value, schema, path, old)
    elif isinstance(value, list) and schema.items is not None and schema.items.has_rules:
        earlier = _by_keys(old, schema)
        for index, item in enumerate(value):
            yield from problems(item, schema.items, (*path, index), earlier.get(_keys(item, schema)))


def _members(value: Mapping[str, Json], schema: Schema, path: Path, old: Json) -> Iterator[Problem]:
    comparable = old if isinstance(old, Mapping) and not schema.atomic_map else {}
    for key, member in value.items():
        below = schema.child(key)
        if below is not None:
            yield from problems(member, below, (*path, key), comparable.get(key))


def _failure(expression: str, message: str, value: Json, old: Json) -> str | None:
    """Return the message of a rule that fails, None when it holds."""
    from kubecel import rules  # noqa: PLC0415 - a large engine, needed only once a rule runs

    try:
        holds = rules.compile(expression).evaluate(value, old=old)
    except KubecelError as error:
        return f"{error} evaluating rule: {message}"
    return None if holds else message


def _by_keys(old: Json, schema: Schema) -> dict[tuple[str, ...], Json]:
    if schema.list_type != "map" or not isinstance(old, list):
        return {}
    return {_keys(item, schema): item for item in old}


def _keys(item: Json, schema: Schema) -> tuple[str, ...]:
    if not isinstance(item, Mapping):
        return ()
    return tuple(repr(item.get(key)) for key in schema.list_keys)


def _seen(value: Json, schema: Schema | None) -> Json:
    """Return the value as rules see it: doubles where the schema says number, whatever the document wrote."""
    if schema is None or not schema.converts or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: _seen(member, schema.child(key)) for key, member in value.items()}
    if isinstance(value, list):
        return [_seen(item, schema.items) for item in value]
    return float(value) if schema.type == "number" else value
