"""Problems of values against a schema: types, bounds, enums, patterns, required fields and list types.

Source: the validation of kube-openapi and the list-type checks of apiextensions-apiserver v0.36. The messages differ.
"""

from __future__ import annotations

import base64
import binascii
import functools
import ipaddress
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from kubecel import interruption
from modelplane.structural import patterns
from modelplane.structural.problem import Cause, Path, Problem
from modelplane.structural.schema import Schema

Json: TypeAlias = Any

_TYPE_WORDS = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
}
_INTEGER_FORMATS = {"int32": 31, "int64": 63}
_SHOWN = 60


def problems(value: Json, schema: Schema, path: Path) -> Iterator[Problem]:
    """Yield the problems of `value`, in the order of the document. Cost: linear in the value."""
    if value is None and schema.nullable:
        return
    if not _has_type(value, schema):
        yield Problem(path, f"must be {_type_words(schema)}, not {_kind_of(value)}", cause=Cause.TYPE)
        return
    if schema.enum and value not in schema.enum:
        allowed = ", ".join(json.dumps(entry, ensure_ascii=False) for entry in schema.enum)
        yield Problem(path, f"must be one of {allowed}, not {shown(value)}", cause=Cause.NOT_SUPPORTED)
    if isinstance(value, str):
        yield from _text(value, schema, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _number(value, schema, path)
    elif isinstance(value, list):
        yield from _list(value, schema, path)
    elif isinstance(value, Mapping):
        yield from _object(value, schema, path)
    yield from _branches(value, schema, path)


def shown(value: Json) -> str:
    """Return a value as text for a message; a long one is truncated."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _has_type(value: Json, schema: Schema) -> bool:
    if schema.int_or_string:
        return isinstance(value, str) or _is_integer(value)
    check = _CHECKS.get(schema.type)
    return check is None or check(value)


def _is_integer(value: Json) -> bool:
    """Return whether JSON calls the number whole; 3.0 is, as in the API server."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


_CHECKS: dict[str, Callable[[Json], bool]] = {
    "object": lambda v: isinstance(v, Mapping),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "integer": _is_integer,
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v),
    "boolean": lambda v: isinstance(v, bool),
}


def _type_words(schema: Schema) -> str:
    return "an integer or a string" if schema.int_or_string else _TYPE_WORDS.get(schema.type, schema.type)


def _kind_of(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {json.dumps(value)}" + "; put it in quotes if a string is meant"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the string {shown(value)}"
    return "a list" if isinstance(value, list) else "an object"


def _text(value: str, schema: Schema, path: Path) -> Iterator[Problem]:
    """Yield the first problem of a text, as the API server does; the next one is seldom news."""
    bounds = schema.bounds
    if bounds.max_length is not None and len(value) > bounds.max_length:
        yield Problem(
            path, f"must be at most {bounds.max_length} characters long, not {len(value)}", cause=Cause.TOO_LONG
        )
    elif bounds.min_length is not None and len(value) < bounds.min_length:
        yield Problem(path, _too_short(value, bounds.min_length))
    elif bounds.pattern is not None and not _pattern(bounds.pattern).search(value):
        yield Problem(path, f"{shown(value)} {patterns.instead(value, bounds.pattern)}")
    check = _FORMATS.get(schema.format)
    if check is not None and not check(value):
        # A value of another format counts as one of another type, which keeps rules from running.
        yield Problem(path, f"{shown(value)} must be a valid {schema.format}", cause=Cause.TYPE)


def _too_short(value: str, least: int) -> str:
    return "must not be empty" if least == 1 else f"must be at least {least} characters long, not {len(value)}"


def _pattern(pattern: str) -> Any:
    """Return the compiled pattern, in the dialect and with the guarantees (linear time) of the API server's engine.

    Cost: the engine keeps the last 128 patterns itself.
    """
    import re2  # noqa: PLC0415 - a C++ library; documents without patterned strings do not load it

    return re2.compile(pattern)


def _number(value: float, schema: Schema, path: Path) -> Iterator[Problem]:
    bounds = schema.bounds
    low, high = bounds.minimum, bounds.maximum
    if low is not None and (value < low or (bounds.exclusive_minimum and value == low)):
        yield Problem(path, f"must be {'more than' if bounds.exclusive_minimum else 'at least'} {low}, not {value}")
    if high is not None and (value > high or (bounds.exclusive_maximum and value == high)):
        yield Problem(path, f"must be {'less than' if bounds.exclusive_maximum else 'at most'} {high}, not {value}")
    if bounds.multiple_of and value % bounds.multiple_of:
        yield Problem(path, f"must be a multiple of {bounds.multiple_of}, not {value}")
    bits = _INTEGER_FORMATS.get(schema.format)
    if bits is not None and not -(2**bits) <= value < 2**bits:
        yield Problem(path, f"{value} is too large for an integer of {bits + 1} bits")


def _list(value: list[Json], schema: Schema, path: Path) -> Iterator[Problem]:
    bounds = schema.bounds
    if bounds.max_items is not None and len(value) > bounds.max_items:
        yield Problem(path, f"must have at most {bounds.max_items} entries, not {len(value)}", cause=Cause.TOO_MANY)
    if bounds.min_items is not None and len(value) < bounds.min_items:
        yield Problem(path, f"must have at least {bounds.min_items} {_entries(bounds.min_items)}, not {len(value)}")
    if schema.items is not None:
        for index, item in enumerate(interruption.steps(value)):
            yield from problems(item, schema.items, (*path, index))
    yield from _duplicates(value, schema, path)


def _entries(count: int) -> str:
    return "entry" if count == 1 else "entries"


def _duplicates(value: list[Json], schema: Schema, path: Path) -> Iterator[Problem]:
    """Yield a problem where an entry appears for the second time."""
    if schema.list_type not in ("map", "set"):
        return
    if schema.list_type == "map" and any(item is not None and not isinstance(item, Mapping) for item in value):
        return  # they have the wrong type, which is told already, and no keys
    seen: Counter[str] = Counter()
    for index, item in enumerate(value):
        identity = _identity(item, schema)
        seen[identity] += 1
        if seen[identity] == 2:
            message = f"duplicate entry: {_named(item, schema)} is in the list already"
            yield Problem((*path, index), message, cause=Cause.DUPLICATE)


def _identity(item: Json, schema: Schema) -> str:
    if schema.list_type == "set" or not isinstance(item, Mapping):
        return json.dumps(item, sort_keys=True, default=str)
    return json.dumps([item.get(key) for key in schema.list_keys], sort_keys=True, default=str)


def _named(item: Json, schema: Schema) -> str:
    if schema.list_type == "set" or not isinstance(item, Mapping):
        return shown(item)
    return ", ".join(f"{key} {shown(item.get(key))}" for key in schema.list_keys)


def _object(value: Mapping[str, Json], schema: Schema, path: Path) -> Iterator[Problem]:
    interruption.checkpoint()
    bounds = schema.bounds
    if bounds.max_properties is not None and len(value) > bounds.max_properties:
        yield Problem(
            path, f"must have at most {bounds.max_properties} entries, not {len(value)}", cause=Cause.TOO_MANY
        )
    if bounds.min_properties is not None and len(value) < bounds.min_properties:
        yield Problem(
            path, f"must have at least {bounds.min_properties} {_entries(bounds.min_properties)}, not {len(value)}"
        )
    for key in schema.required:
        if key not in value:
            yield Problem((*path, key), "is required", cause=Cause.REQUIRED)
    for key, member in value.items():
        below = schema.child(key)
        if below is not None:
            yield from problems(member, below, (*path, key))


def _branches(value: Json, schema: Schema, path: Path) -> Iterator[Problem]:
    for part in schema.all_of:
        yield from problems(value, part, path)
    if schema.any_of:
        failures = _failures(value, schema.any_of, path)
        if len(failures) == len(schema.any_of):
            yield Problem(
                path, "must fit at least one of the alternatives of the schema (anyOf)", cause=_worst(failures)
            )
    if schema.one_of:
        failures = _failures(value, schema.one_of, path)
        fitting = len(schema.one_of) - len(failures)
        if fitting != 1:
            message = f"must fit exactly one of the alternatives of the schema (oneOf), not {fitting}"
            yield Problem(path, message, cause=Cause.INVALID if fitting else _worst(failures))
    if schema.not_ is not None and not _failures(value, (schema.not_,), path):
        yield Problem(path, "must not have the form that the schema excludes (not)")


def _failures(value: Json, parts: tuple[Schema, ...], path: Path) -> tuple[Problem, ...]:
    """Return the first problem of each alternative that the value does not fit."""
    first = (next(problems(value, part, path), None) for part in parts)
    return tuple(problem for problem in first if problem is not None)


def _worst(failures: tuple[Problem, ...]) -> Cause:
    """Return TYPE when no alternative has the right type: then rules are not run either."""
    return Cause.TYPE if all(problem.cause is Cause.TYPE for problem in failures) else Cause.INVALID


# --- formats: those the API server checks and that stand in schemas we meet -----------------------------------------

_DATE_TIME = re.compile(r"^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$")
_UUID = re.compile(r"^(?i:[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})$")


def _is_date_time(text: str) -> bool:
    if not _DATE_TIME.match(text):
        return False
    try:
        datetime.fromisoformat(text.upper().replace("Z", "+00:00")[:19])
    except ValueError:
        return False
    return True


def _is_address(text: str, *, version: int) -> bool:
    try:
        return ipaddress.ip_address(text).version == version
    except ValueError:
        return False


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except binascii.Error:
        return False


_FORMATS: dict[str, Callable[[str], bool]] = {
    "date-time": _is_date_time,
    "ipv4": functools.partial(_is_address, version=4),
    "ipv6": functools.partial(_is_address, version=6),
    "cidr": _is_network,
    "uuid": lambda text: _UUID.match(text) is not None,
    "byte": _is_base64,
}
