"""Objects as a function receives them: what is left of JSON after it went through the protocol.

Every number of a protobuf Struct is a double. What may never happen here: a value that a function would see otherwise
in a real request; the tests ask the protocol itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane_functions import numbers
from modelplane_functions.memory.resources import Remembered

Json: TypeAlias = Any


def received(found: Mapping[str, Json]) -> Remembered:
    """Return an object as `wire.decode` returns it, which keeps what is read out of it."""
    plain = {name: _received(value) for name, value in found.items()}
    metadata = plain.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("managedFields", None)
    return Remembered(plain)


def _received(value: Json) -> Json:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is dict:
        return {name: _received(member) for name, member in value.items()}
    if kind is list or kind is tuple:
        return [_received(item) for item in value]
    if kind is int and -numbers.EXACT_INTEGER_MAX <= value <= numbers.EXACT_INTEGER_MAX:
        return value
    return numbers.number(float(value)) if isinstance(value, int | float) else _other(value)


def _other(value: Json) -> Json:
    """Return a value of a type that only behaves like one of JSON's (an enum of texts, a shared resource)."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): _received(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_received(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no place in JSON")
