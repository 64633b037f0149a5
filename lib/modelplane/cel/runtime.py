"""Values at run time, and the equality, order, keys and sizes CEL gives them.

bool, int, float, str, bytes and None are Python's own; a list is a Python list, a map a dict whose keys are made
by `key_of`. Everything else is a class here. Nothing mutates a value once it is visible, except a quantity:
comparing one changes its internal form, as in Kubernetes.

Source: common/types of cel-go v0.26.0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from modelplane.cel.errors import Abort, Err, no_such_overload
from modelplane.units import Quantity, Version

Value = Any

INT_MIN: Final = -(1 << 63)
INT_MAX: Final = (1 << 63) - 1
UINT_MAX: Final = (1 << 64) - 1


class Uint(int):
    """An unsigned 64-bit integer; a type of its own to CEL."""

    __slots__ = ()


class Domains(dict[str, Any]):
    """The outer map of attributes and capacity: looking up an unknown domain finds an empty map; nothing else does."""

    __slots__ = ()


class Named(dict[str, Any]):
    """A map of the device's own, its keys texts: anything else is not found in it, where other maps cannot hash it."""

    __slots__ = ()


class MutableList(list[Any]):
    """The accumulator of a comprehension: appended to in place."""

    __slots__ = ()


class MutableMap(dict[Any, Any]):
    """The accumulator of a comprehension over maps: inserted into in place."""

    __slots__ = ()


class Duration:
    """A length of time in nanoseconds."""

    __slots__ = ("nanoseconds",)

    def __init__(self, nanoseconds: int) -> None:
        self.nanoseconds = nanoseconds


class Timestamp:
    """A point in time: nanoseconds since 1970 in UTC, and the offset from UTC it was written with, in seconds."""

    __slots__ = ("nanoseconds", "offset")

    def __init__(self, nanoseconds: int, offset: int = 0) -> None:
        self.nanoseconds = nanoseconds
        self.offset = offset


class Optional:
    """A value that may be absent."""

    __slots__ = ("present", "value")

    def __init__(self, value: Value, *, present: bool = True) -> None:
        self.value = value
        self.present = present


NONE: Final = Optional(Err("optional.none() dereference"), present=False)


class TypeValue:
    """A type as a value."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class QuantityBox:
    """A quantity whose internal form may change under comparison.

    `cell` holds the value; two boxes share a cell where Kubernetes shares the decimal. `derived` marks the result
    of add or sub: a quantity on the left of `==` does not recognise it.
    """

    __slots__ = ("cell", "derived")

    def __init__(self, quantity: Quantity, *, derived: bool = False) -> None:
        self.cell = [quantity]
        self.derived = derived

    @property
    def quantity(self) -> Quantity:
        """The value in its current form."""
        return self.cell[0]

    def plus(self, other: Quantity, *, subtract: bool, shared: bool) -> QuantityBox:
        """Return the sum or difference; where it is shared, a big left side becomes the result too."""
        result = self.quantity.sub(other) if subtract else self.quantity.add(other)
        box = QuantityBox(result, derived=True)
        if shared and self.quantity.big:
            self.cell[0] = result
            box.cell = self.cell
        return box


class Opaque:
    """A value of a library: a type name, a Python value equality is decided by, and a size where it has one."""

    __slots__ = ("size", "type_name", "value")

    def __init__(self, type_name: str, value: Any, size: int | None = None) -> None:
        self.type_name = type_name
        self.value = value
        self.size = size


_TYPE_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    MutableList: "list",
    dict: "map",
    Domains: "map",
    Named: "map",
    MutableMap: "map",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    TypeValue: "type",
    QuantityBox: "kubernetes.Quantity",
    Version: "kubernetes.Semver",
    Err: "error",
}
_LISTS: Final[frozenset[type]] = frozenset({list, MutableList})
_MAPS: Final[frozenset[type]] = frozenset(tuple[type, ...]((dict, Domains, Named, MutableMap)))
_OF_DEVICE: Final[frozenset[type]] = frozenset(tuple[type, ...]((Domains, Named)))
_NUMBERS: Final = frozenset({int, Uint, float})


def type_name(value: Value) -> str:
    """Return the CEL name of the type of a value."""
    if type(value) is Opaque:
        return value.type_name
    return _TYPE_NAMES[type(value)]


def is_list(value: Value) -> bool:
    """Return whether it is a list."""
    return type(value) in _LISTS


def is_map(value: Value) -> bool:
    """Return whether it is a map."""
    return type(value) in _MAPS


def is_int(value: Value) -> bool:
    """Return whether it is an int, not a uint and not a bool."""
    return type(value) is int


def underlying(value: Value) -> Value:
    """Return the text a type stands for, and what is in an optional; any other value itself."""
    while type(value) is Optional and value.present:
        value = value.value
    return value.name if type(value) is TypeValue else value


def size_of(value: Value) -> int | None:
    """Return what `size()` counts, None for a value that has no size."""
    kind = type(value)
    if kind is str or kind is bytes or kind in _LISTS or kind in _MAPS:
        return len(value)
    if kind is Opaque:
        size: int | None = value.size
        return size
    return None


# --- keys of maps


def key_of(value: Value) -> Any:
    """Return what stands for `value` in the dict of a map: a string itself, anything else with its type.

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
    """Return what the map holds under `value`, and whether it does; numbers of all types are one key."""
    kind = type(value)
    if kind is str:
        if value in map_:
            return map_[value], True
    elif kind in _NUMBERS:
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


def contains(container: Value, value: Value) -> Value:
    """Return whether a list holds an equal element or a map the key; lookup defaults do not count."""
    if type(container) in _LISTS:
        return any(equal_to(value, element) is True for element in container)
    if type(container) in _MAPS:
        return find(Named(container) if type(container) is Domains else container, value)[1]
    return no_such_overload()


# --- equality


Seen: TypeAlias = dict[tuple[int, int], tuple[Value, Value, Value]]
"""Pairs of lists, maps or optionals that were compared, kept alive, and what came out.

The same list can stand in many places of another (`cel.bind(a, [1], cel.bind(b, [a, a], ...))`); comparing it in each
of them would take exponential time.
"""


def equal(left: Value, right: Value) -> Value:
    """Return `left == right`: a bool, or an error for types that refuse to compare."""
    if left is None or right is None:
        return left is right
    return equal_to(left, right)


def equal_to(left: Value, right: Value, seen: Seen | None = None) -> Value:
    """Return whether `left` says it equals `right`; not symmetric."""
    kind, other = type(left), type(right)
    if kind is Err:
        return left
    if kind in _NUMBERS:
        return other in _NUMBERS and compare_numbers(left, right) == 0 and left == left and right == right  # noqa: PLR0124
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
    if type(right) not in _LISTS or len(left) != len(right):
        return False
    return all(_parts_equal(mine, theirs, seen) is not False for mine, theirs in zip(left, right, strict=True))


def _maps_equal(left: dict[Any, Any], right: Value, seen: Seen) -> bool:
    if type(right) not in _MAPS or len(left) != len(right):
        return False
    for key, mine in left.items():
        theirs, found = find(right, value_of(key))
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
    **dict.fromkeys(_LISTS, _lists_equal),
    **dict.fromkeys(_MAPS, _maps_equal),
}
_EQUALS: Final[dict[type, Callable[[Any, Value], Value]]] = {
    QuantityBox: _quantities_equal,
    Version: _versions_equal,
    Opaque: _opaques_equal,
    Duration: lambda left, right: type(right) is Duration and left.nanoseconds == right.nanoseconds,
    Timestamp: lambda left, right: type(right) is Timestamp and left.nanoseconds == right.nanoseconds,
    TypeValue: lambda left, right: type(right) is TypeValue and left.name == right.name,
}


# --- order


def compare_numbers(left: Any, right: Any) -> int:
    """Return -1, 0 or 1 for two numbers of any type, the way they are compared across types; NaN compares as equal."""
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
    """Return -1, 0 or 1, or an error for values that have no order between them."""
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
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
    """Return whether values of this type have an order at all."""
    return type(value) in _ORDERED or type(value) in _NUMBERS


def is_zero(value: Value) -> bool:
    """Return whether `optional.ofNonZeroValue` takes it for nothing."""
    kind = type(value)
    if kind is Timestamp:
        return bool(value.nanoseconds == -62135596800 * 10**9)
    if kind is Duration:
        return bool(value.nanoseconds == 0)
    if value is None:
        return True
    return (kind in _PLAIN or kind in _LISTS or kind in _MAPS) and not value


_PLAIN: Final = frozenset({bool, int, Uint, float, str, bytes})
