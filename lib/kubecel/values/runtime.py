"""Values at run time, their types and sizes.

bool, int, float, str, bytes and None are Python's own; a list is a Python list, a map a dict whose keys are made
by `maps.key_of`. Everything else is a class here. Nothing mutates a value once it is visible, except a quantity:
comparing one changes its internal form, as in Kubernetes.

Source: common/types of cel-go v0.26.0.
"""

from __future__ import annotations

from typing import Any, Final

from kubecel.quantity import Quantity
from kubecel.values.errors import Err
from kubecel.version import Version

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
LISTS: Final[frozenset[type]] = frozenset({list, MutableList})
MAPS: Final[frozenset[type]] = frozenset(tuple[type, ...]((dict, Domains, Named, MutableMap)))
NUMBERS: Final = frozenset({int, Uint, float})


def type_name(value: Value) -> str:
    """Return the CEL name of the type of a value."""
    if type(value) is Opaque:
        return value.type_name
    return _TYPE_NAMES[type(value)]


def is_list(value: Value) -> bool:
    """Return whether it is a list."""
    return type(value) in LISTS


def is_map(value: Value) -> bool:
    """Return whether it is a map."""
    return type(value) in MAPS


def underlying(value: Value) -> Value:
    """Return the text a type stands for, and what is in an optional; any other value itself."""
    while type(value) is Optional and value.present:
        value = value.value
    return value.name if type(value) is TypeValue else value


def size_of(value: Value) -> int | None:
    """Return the number that `size()` counts, None for a value that has no size."""
    kind = type(value)
    if kind is str or kind is bytes or kind in LISTS or kind in MAPS:
        return len(value)
    if kind is Opaque:
        size: int | None = value.size
        return size
    return None


def is_zero(value: Value) -> bool:
    """Return whether `optional.ofNonZeroValue` takes it for nothing."""
    kind = type(value)
    if kind is Timestamp:
        return bool(value.nanoseconds == -62135596800 * 10**9)
    if kind is Duration:
        return bool(value.nanoseconds == 0)
    if value is None:
        return True
    return (kind in _PLAIN or kind in LISTS or kind in MAPS) and not value


_PLAIN: Final = frozenset({bool, int, Uint, float, str, bytes})
