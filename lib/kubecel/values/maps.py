"""Keys of maps: their form in a dict, their identity, and the values that a map holds under them.

Source: common/types of cel-go v0.26.0, and how Go hashes what they are made of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from kubecel.values.errors import Abort
from kubecel.values.runtime import (
    INT_MAX,
    INT_MIN,
    NUMBERS,
    UINT_MAX,
    Domains,
    Duration,
    Named,
    Opaque,
    Timestamp,
    TypeValue,
    Uint,
    Value,
)
from kubecel.version import Version

_OF_DEVICE: Final[frozenset[type]] = frozenset(tuple[type, ...]((Domains, Named)))


def key_of(value: Value) -> Any:
    """Return the key of `value` in the dict of a map: a string itself, anything else with its type.

    Raises: Abort for a value Kubernetes cannot hash: there the evaluation dies.
    """
    kind = type(value)
    if kind is str:
        return value
    if kind is float and math.isnan(value):
        return (kind, _Same(value, object()))  # not even the same one is found again
    if kind in (bool, int, Uint, float, type(None)):
        return (kind, value)
    named = kind is Opaque and value.type_name == "kubernetes.NamedFormat"
    if named or kind in (bytes, Version):
        name = "cel.Format" if named else {bytes: "types.Bytes", Version: "cel.Semver"}[kind]
        raise Abort(f"internal error: runtime error: hash of unhashable type {name}")
    return (kind, _Same(value, _identity(value)))


def _identity(value: Value) -> Any:
    """Return what tells the value from others as a key: Kubernetes hashes some by what they are, most by where."""
    kind = type(value)
    if kind is Duration:
        return value.nanoseconds
    if kind is Timestamp and value.offset % 3600 == 0 and -12 * 3600 <= value.offset <= 14 * 3600:
        return (value.nanoseconds, value.offset)  # such zones are one object each, others are made anew
    if kind is TypeValue:
        return value.name
    if kind is Opaque and value.type_name in ("net.IP", "net.CIDR"):
        return (value.type_name, value.value)
    return Named if kind is Named else id(value)


def value_of(key: Any) -> Value:
    """Return the value a key of a map's dict stands for."""
    if type(key) is str:
        return key
    value = key[-1]
    return value.value if type(value) is _Same else value


class _Same:
    """A key that is found by a value of the same identity; the value is kept, so that its id stays its own.

    Two maps of the device as keys of one map are not compared, that aborts: in Kubernetes such a map is another each
    time the device is asked for it, and the same under a name that was bound to it, which is not told apart here.
    """

    __slots__ = ("identity", "value")

    def __init__(self, value: Value, identity: Any) -> None:
        self.value = value
        self.identity = identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        if type(other) is not _Same or other.identity != self.identity:
            return False
        if self.identity is Named:
            raise Abort("maps of the device are not compared as keys of a map")
        return True


def find(map_: dict[Any, Any], value: Value) -> tuple[Value, bool]:
    """Return the entry of the map under `value`, and whether there is one; numbers of all types are one key."""
    kind = type(value)
    if kind is str:
        if value in map_:
            return map_[value], True
    elif kind in NUMBERS:
        for key in _numeric_keys(value):
            if key in map_:
                return map_[key], True
    elif len(map_) and type(map_) not in _OF_DEVICE:
        key = key_of(value)
        if key in map_:
            return map_[key], True
    if type(map_) is Domains:
        return {}, True
    return None, False


def _numeric_keys(value: Any) -> Iterator[Any]:
    if value == value:  # noqa: PLR0124 - a NaN is no key
        yield (type(value), value)
    if type(value) is not float:
        other = Uint if type(value) is int else int
        if 0 <= value <= INT_MAX:
            yield (other, other(value))
    elif math.isfinite(value) and value == int(value):
        whole = int(value)
        if INT_MIN <= whole <= INT_MAX:
            yield (int, whole)
        if 0 <= whole <= UINT_MAX:
            yield (Uint, Uint(whole))
