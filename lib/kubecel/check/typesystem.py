"""The types of the CEL checker, and the rules of assignment.

Source: the type checker of cel-go v0.26.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Type:
    """A type; `kind` is the family, `name` tells types of one family apart, `params` are element types.

    `is_open` says whether a type parameter occurs in it. In a closed type nothing can be bound or replaced.
    """

    kind: str
    name: str
    params: tuple[Type, ...] = ()
    is_open: bool = field(init=False, compare=False, repr=False)
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_open", self.kind == "param" or any(part.is_open for part in self.params))
        object.__setattr__(self, "_hash", hash((self.kind, self.name, self.params)))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        if self.kind == "param":
            return f"<{self.name}>"
        return f"{self.name}({', '.join(map(str, self.params))})" if self.params else self.name


def _simple(kind: str, name: str = "") -> Type:
    return Type(kind, name or kind)


DYN: Final = _simple("dyn")
ANY: Final = _simple("any")
NULL: Final = _simple("null", "null_type")
BOOL: Final = _simple("bool")
BYTES: Final = _simple("bytes")
DOUBLE: Final = _simple("double")
INT: Final = _simple("int")
UINT: Final = _simple("uint")
STRING: Final = _simple("string")
DURATION: Final = _simple("duration", "google.protobuf.Duration")
TIMESTAMP: Final = _simple("timestamp", "google.protobuf.Timestamp")
TYPE: Final = _simple("type")
ADDRESS: Final = _simple("opaque", "net.IP")
NETWORK: Final = _simple("opaque", "net.CIDR")
QUANTITY: Final = _simple("struct", "kubernetes.Quantity")
SEMVER: Final = _simple("struct", "kubernetes.Semver")

_DYNAMIC: Final = frozenset({"dyn", "any"})
_DYNAMIC_OR_ERROR: Final = frozenset({"dyn", "any", "error"})
_NULLABLE: Final = frozenset({"opaque", "struct", "any", "duration", "timestamp", "null"})
_CONTAINERS: Final = frozenset({"opaque", "list", "map"})
_EXACT: Final = frozenset({"bool", "bytes", "double", "int", "string", "uint", "duration", "timestamp", "struct"})


def object_type(name: str) -> Type:
    """Return the type of objects with declared fields."""
    return Type("struct", name)


def list_of(element: Type) -> Type:
    """Return the type of lists of `element`."""
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Return the type of maps from `key` to `value`."""
    return Type("map", "map", (key, value))


def optional_of(element: Type) -> Type:
    """Return the type of optional values of `element`."""
    return Type("opaque", "optional_type", (element,))


def param(name: str) -> Type:
    """Return a type parameter."""
    return Type("param", name)


def is_dynamic(type_: Type) -> bool:
    """Return whether any value is allowed."""
    return type_.kind in _DYNAMIC


def is_dynamic_or_error(type_: Type) -> bool:
    """Return whether nothing is known about the type."""
    return type_.kind in _DYNAMIC_OR_ERROR


def unwrapped(type_: Type) -> tuple[Type, bool]:
    """Return the element type of an optional and True, or the type itself and False."""
    if type_.kind == "opaque" and type_.name == "optional_type":
        return type_.params[0], True
    return type_, False


def equivalent(first: Type, second: Type) -> bool:
    """Return whether both are equal except for the names of type parameters."""
    if first.kind != second.kind or len(first.params) != len(second.params):
        return False
    if first.kind == "param":
        return True
    return first.name == second.name and all(map(equivalent, first.params, second.params))


def most_general(first: Type, second: Type) -> Type:
    """Return the more general of two types that are known to agree."""
    return first if _less_specific(first, second) else second


def _less_specific(first: Type, second: Type) -> bool:
    if is_dynamic(first) or first.kind == "param":
        return True
    if is_dynamic(second) or second.kind == "param" or first.kind != second.kind:
        return False
    if first.kind == "type":
        return True
    if first.kind in _CONTAINERS:
        same = first.name == second.name and len(first.params) == len(second.params)
        return same and all(map(_less_specific, first.params, second.params))
    return first == second


class Substitutions:
    """The types of type parameters. An assignment that fails changes nothing."""

    __slots__ = ("_bound",)

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}

    def assignable(self, first: Sequence[Type], second: Sequence[Type]) -> bool:
        """Return whether each of `first` may be assigned to its partner in `second`, and record the bindings."""
        if len(first) != len(second):
            return False
        before = self._bound
        if any(type_.is_open for type_ in first) or any(type_.is_open for type_ in second):
            self._bound = dict(before)
        if all(map(self._assignable, first, second)):
            return True
        self._bound = before
        return False

    def resolve(self, type_: Type, *, free_is_dyn: bool = False) -> Type:
        """Return the type with every bound parameter replaced. A free parameter becomes dyn on request."""
        if type_.kind == "param":
            bound = self._bound.get(type_.name)
            if bound is not None:
                return self.resolve(bound, free_is_dyn=free_is_dyn)
            return DYN if free_is_dyn else type_
        if not type_.is_open:
            return type_
        return Type(type_.kind, type_.name, tuple(self.resolve(part, free_is_dyn=free_is_dyn) for part in type_.params))

    def _assignable(self, first: Type, second: Type) -> bool:
        if second.kind == "param":
            valid, bound = self._substitutes(first, second)
            if valid or bound:
                return valid
        if first.kind == "param":
            return self._substitutes(second, first)[0]
        if first.kind in _DYNAMIC_OR_ERROR or second.kind in _DYNAMIC_OR_ERROR:
            return True
        if first.kind == "null":
            return second.kind in _NULLABLE
        if second.kind == "null":
            return first.kind in _NULLABLE
        if first.kind in _EXACT:
            return first.kind == second.kind and first.name == second.name
        if first.kind == "type":
            return second.kind == "type"
        same = first.kind == second.kind and first.name == second.name and len(first.params) == len(second.params)
        return same and first.kind in _CONTAINERS and all(map(self._assignable, first.params, second.params))

    def _substitutes(self, type_: Type, parameter: Type) -> tuple[bool, bool]:
        """Return whether `type_` may stand for `parameter`, and whether something already does."""
        if type_ == parameter:
            return True, True
        bound = self._bound.get(parameter.name)
        if bound is not None:
            if bound == type_:
                return True, True
            if not self._assignable(type_, bound):
                return False, True
            general = most_general(type_, bound)
            if self._absent(parameter, general):
                self._bound[parameter.name] = general
            return True, True
        if self._absent(parameter, type_):
            self._bound[parameter.name] = type_
            return True, False
        return False, False

    def _absent(self, parameter: Type, within: Type) -> bool:
        """Return whether `parameter` occurs nowhere in `within`."""
        if not within.is_open:
            return True
        if within == parameter:
            return False
        if within.kind == "param":
            bound = self._bound.get(within.name)
            return bound is None or self._absent(parameter, bound)
        return all(self._absent(parameter, part) for part in within.params)
