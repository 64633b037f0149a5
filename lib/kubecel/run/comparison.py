"""Equality, order and membership of values.

Source: common/types of cel-go v0.26.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from kubecel import interruption
from kubecel.values import maps
from kubecel.values.errors import Err, no_such_overload
from kubecel.values.runtime import (
    INT_MAX,
    INT_MIN,
    LISTS,
    MAPS,
    NUMBERS,
    UINT_MAX,
    Domains,
    Duration,
    Named,
    Opaque,
    Optional,
    QuantityBox,
    Timestamp,
    TypeValue,
    Uint,
    Value,
)
from kubecel.version import Version

Seen: TypeAlias = dict[tuple[int, int], tuple[Value, Value, Value]]
"""Pairs of lists, maps or optionals that were compared, kept alive, and the results.

The same list can stand in many places of another (`cel.bind(a, [1], cel.bind(b, [a, a], ...))`); comparing it in each
of them would take exponential time.
"""


def equal(left: Value, right: Value) -> Value:
    """Return `left == right`: a bool, or an error for types that refuse to compare."""
    if left is None or right is None:
        return left is right
    return equal_to(left, right)


def equal_to(left: Value, right: Value, seen: Seen | None = None) -> Value:
    """Return whether `left` equals `right` by the type of `left`. It is not symmetric."""
    kind, other = type(left), type(right)
    if kind is Err:
        return left
    if kind in NUMBERS:
        return other in NUMBERS and compare_numbers(left, right) == 0 and left == left and right == right  # noqa: PLR0124 - a NaN is not
    compare_parts = _OF_PARTS.get(kind)
    if compare_parts is not None:
        return compare_parts(left, right, {} if seen is None else seen)
    handler = _EQUALS.get(kind)
    if handler is not None:
        return handler(left, right)
    return kind is other and left == right


def _parts_equal(left: Value, right: Value, seen: Seen) -> Value:
    if left is None or right is None:
        return left is right
    if type(left) not in _OF_PARTS:
        return equal_to(left, right)
    key = (id(left), id(right))
    known = seen.get(key)
    if known is None:
        known = seen[key] = (left, right, equal_to(left, right, seen))
    return known[2]


def _lists_equal(left: list[Any], right: Value, seen: Seen) -> bool:
    if type(right) not in LISTS or len(left) != len(right):
        return False
    return all(_parts_equal(mine, theirs, seen) is not False for mine, theirs in zip(left, right, strict=True))


def _maps_equal(left: dict[Any, Any], right: Value, seen: Seen) -> bool:
    if type(right) not in MAPS or len(left) != len(right):
        return False
    for key, mine in left.items():
        theirs, found = maps.find(right, maps.value_of(key))
        if not found or _parts_equal(mine, theirs, seen) is False:
            return False
    return True


def _optionals_equal(left: Optional, right: Value, seen: Seen) -> Value:
    if type(right) is not Optional:
        return False
    if not left.present or not right.present:
        return left.present == right.present
    if type(left.value) in _OF_PARTS:
        return _parts_equal(left.value, right.value, seen)
    return equal_to(left.value, right.value)


def _quantities_equal(left: QuantityBox, right: Value) -> Value:
    if type(right) is not QuantityBox or right.derived:
        return no_such_overload() if type(right) is not Err else right
    # Kubernetes compares copies here: what is promoted is thrown away
    return left.quantity.compare(right.quantity) == 0


def _opaques_equal(left: Opaque, right: Value) -> Value:
    if type(right) is Opaque and right.type_name == left.type_name:
        return bool(left.value == right.value)
    return right if type(right) is Err else no_such_overload()


def _versions_equal(left: Version, right: Value) -> Value:
    if type(right) is Version:
        return left.compare(right) == 0
    return right if type(right) is Err else no_such_overload()


_OF_PARTS: Final[dict[type, Callable[[Any, Value, Seen], Value]]] = {
    Optional: _optionals_equal,
    **dict.fromkeys(LISTS, _lists_equal),
    **dict.fromkeys(MAPS, _maps_equal),
}
_EQUALS: Final[dict[type, Callable[[Any, Value], Value]]] = {
    QuantityBox: _quantities_equal,
    Version: _versions_equal,
    Opaque: _opaques_equal,
    Duration: lambda left, right: type(right) is Duration and left.nanoseconds == right.nanoseconds,
    Timestamp: lambda left, right: type(right) is Timestamp and left.nanoseconds == right.nanoseconds,
    TypeValue: lambda left, right: type(right) is TypeValue and left.name == right.name,
}


def contains(container: Value, value: Value) -> Value:
    """Return whether a list holds an equal element or a map the key; lookup defaults do not count."""
    if type(container) in LISTS:
        interruption.checkpoint()  # sets ask this of each element
        return any(equal_to(value, element) is True for element in container)
    if type(container) in MAPS:
        return maps.find(Named(container) if type(container) is Domains else container, value)[1]
    return no_such_overload()


# --- order


def compare_numbers(left: Any, right: Any) -> int:
    """Return -1, 0 or 1 for two numbers of any types. NaN compares as equal."""
    if isinstance(left, float) != isinstance(right, float):
        if isinstance(left, float):
            return -compare_numbers(right, left)
        bottom, top = (0, UINT_MAX) if type(left) is Uint else (INT_MIN, INT_MAX)
        if right < bottom:
            return 1
        if right > float(top):
            return -1
        left = float(left)
    return int(left > right) - int(left < right)


def compare(left: Value, right: Value) -> int | Err:
    """Return -1, 0 or 1, or an error for values that cannot be ordered."""
    kind, other = type(left), type(right)
    if kind in NUMBERS and other in NUMBERS:
        if left != left or right != right:  # noqa: PLR0124 - how a NaN shows itself
            return Err("NaN values cannot be ordered")
        return compare_numbers(left, right)
    if kind is other and kind in _ORDERED:
        if kind is Duration or kind is Timestamp:
            left, right = left.nanoseconds, right.nanoseconds
        elif kind is str:
            left, right = left.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass")
        return int(left > right) - int(left < right)
    return right if other is Err else no_such_overload()


_ORDERED: Final = frozenset({bool, str, bytes, Duration, Timestamp})


def is_comparable(value: Value) -> bool:
    """Return whether values of this type can be ordered."""
    return type(value) in _ORDERED or type(value) in NUMBERS
