"""The cost of an evaluation as it runs.

Source: interpreter/runtimecost.go and ext/{lists,sets}.go of cel-go v0.26.0, pkg/cel/library/cost.go of
k8s.io/apiserver v0.36.2. The counter finds the arguments of a call on a stack of (id, value), as the original
does, because it does not charge for arguments that are missing there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kubecel.values import maps, runtime
from kubecel.values.errors import Abort
from kubecel.values.runtime import Opaque, Optional, QuantityBox, Value
from kubecel.version import Version

STRING_FACTOR: Final = 0.1
REGEX_FACTOR: Final = 0.25
LIST_BASE: Final = 10
MAP_BASE: Final = 30
LIMIT: Final = 1_000_000
COST_ONE: Final = """
    masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast
    format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub
    major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery
    serviceAccount path group resource subresource namespace name allowed reason error errored
"""
"""The functions of Kubernetes that cost 1 whatever their arguments are, as estimated and as charged."""


class Tracker:
    """Counts the cost of one evaluation and ends it at the limit."""

    __slots__ = ("_recorded", "_stack", "cost", "limit")

    def __init__(self, limit: int = LIMIT) -> None:
        self.cost = 0
        self.limit = limit
        self._stack: list[tuple[int, Value]] = []
        # How often each step is on the stack: most that are looked for are missing, and the stack can be long.
        self._recorded: dict[int, int] = {}

    def push(self, identifier: int, value: Value, cost: int = 0) -> None:
        """Record a step's value and charge its cost.

        Raises: Abort beyond the limit.
        """
        self.cost += cost
        self._stack.append((identifier, value))
        self._recorded[identifier] = self._recorded.get(identifier, 0) + 1
        if self.cost > self.limit:
            raise Abort("operation cancelled: actual cost limit exceeded")

    def drop(self, *identifiers: int) -> None:
        """Remove each step that is found, and everything recorded after it."""
        for identifier in identifiers:
            self._take(identifier)

    def drop_args(self, identifiers: Sequence[int]) -> list[Value] | None:
        """Remove the steps, last first, and return their values. At the first missing step stop and return None."""
        values: list[Value] = []
        for identifier in reversed(identifiers):
            found = self._take(identifier)
            if found is None:
                return None
            values.append(found[1])
        values.reverse()
        return values

    def _take(self, identifier: int) -> tuple[int, Value] | None:
        """Return the last record of a step, forgotten with what was recorded after it. Cost: amortised constant."""
        recorded = self._recorded
        if not recorded.get(identifier):
            return None
        while True:
            found = self._stack.pop()
            recorded[found[0]] -= 1
            if found[0] == identifier:
                return found


Charge = Callable[[str, str, list[Value], Value], int]


def charging(minor: int) -> Charge:
    """Return the charge of a call in Kubernetes 1.`minor`, by function, overload, arguments and result."""
    return _newer_cost if minor >= _NEWER else _call_cost


def _call_cost(function: str, overload: str, args: list[Value], result: Value) -> int:
    if overload in _OUTPUT:
        return _allocating(1.0, _size(result))
    tracked = _BY_OVERLOAD.get(overload)
    if tracked is not None:
        return tracked(args)
    known = _BY_FUNCTION.get(function)
    if known is not None:
        cost = known(overload, args, result)
        if cost is not None:
            return cost
    standard = _STANDARD.get(overload)
    return 1 if standard is None else standard(args)


def _newer_cost(function: str, overload: str, args: list[Value], result: Value) -> int:
    """Charge as 1.37 (cel-go v0.29.2) does where it differs: affixes by their own length, every call of matches,
    includes, and a flatten to less than no depth."""
    if overload in ("starts_with_string", "ends_with_string"):
        return _scaled(_standard_size(args[1]))
    if overload == "matches":
        return _matching(args[0], args[1])
    if function == "includes":
        return _traversal(args[0])
    if overload == "list_flatten_int" and type(args[1]) is int and args[1] < 0:
        return _allocating(1.0, _size(args[0]))
    return _call_cost(function, overload, args, result)


_NEWER: Final = 37


def _size(value: Value) -> int:
    size = runtime.size_of(value)
    return 1 if size is None else size


def _standard_size(value: Value) -> int:
    if type(value) is Optional and value.present:
        return _standard_size(value.value)
    return _size(value)


def _scaled(size: float, factor: float = STRING_FACTOR) -> int:
    return math.ceil(size * factor)


def _regex(text: Value, pattern: Value) -> int:
    return _scaled(1.0 + _size(text)) * _scaled(_size(pattern), REGEX_FACTOR)


def _matching(text: Value, pattern: Value) -> int:
    return _scaled(1.0 + _standard_size(text)) * _scaled(_standard_size(pattern), REGEX_FACTOR)


# --- by overload: lists and sets


def _allocating(factor: float, size: int) -> int:
    return int(size * factor) + 1 + LIST_BASE


def _self_compare(items: Value) -> int:
    _require(runtime.is_list(items))
    size = _size(items)
    text = size and type(items[0]) in (str, bytes)
    return _allocating(2.0 + STRING_FACTOR if text else 2.0, size * size)


def _flattened(args: list[Value]) -> int:
    _require(type(args[1]) is int)
    return _allocating(float(args[1]), _size(args[0]))


def _require(holds: bool) -> None:  # noqa: FBT001 - an assertion of the original
    """End the evaluation where counting the cost of an error makes Kubernetes panic."""
    if not holds:
        raise Abort("internal error: interface conversion: *types.Err is not what the cost of the call is counted by")


def _set_cost(factor: float) -> Callable[[list[Value]], int]:
    return lambda args: 1 + int(_size(args[0]) * _size(args[1]) * factor)


SORTED: Final = [
    "int",
    "uint",
    "double",
    "bool",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "string",
    "bytes",
]
"""The types that have an order, for which a list can be sorted."""
_OUTPUT: Final = frozenset({"list_slice", "lists_range", "list_reverse"})
_BY_OVERLOAD: Final[Mapping[str, Callable[[list[Value]], int]]] = {
    "list_flatten": lambda args: _allocating(1.0, _size(args[0])),
    "list_flatten_int": _flattened,
    "list_distinct": lambda args: _self_compare(args[0]),
    "list_sets_contains_list": _set_cost(1),
    "list_sets_intersects_list": _set_cost(1),
    "list_sets_equivalent_list": _set_cost(2),
    **{f"list_{name}_sort": lambda args: _self_compare(args[0]) for name in SORTED},
    **{f"list_{name}_sortByAssociatedKeys": lambda args: _self_compare(args[1]) for name in SORTED},
}


# --- by function: the libraries of Kubernetes

_Cost = Callable[[str, list[Value], Value], int | None]


def _traversal(value: Value) -> int:
    if type(value) is str:
        return int(len(value.encode("utf-8", "surrogatepass")) * STRING_FACTOR)
    if type(value) is bytes:
        return int(len(value) * STRING_FACTOR)
    if runtime.is_list(value):
        return sum(_traversal(item) for item in value)
    if runtime.is_map(value):
        return sum(_traversal(maps.value_of(key)) + _traversal(item) for key, item in value.items())
    return 1


def _first(factor: float) -> _Cost:
    return lambda _overload, args, _result: _scaled(_size(args[0]) * factor)


def _one(_overload: str, _args: list[Value], _result: Value) -> int:
    return 1


def _output(_overload: str, _args: list[Value], result: Value) -> int:
    return _scaled(_size(result) * 2)


def _address(overload: str, args: list[Value], _result: Value) -> int:
    return 1 if overload == "cidr_ip" else _scaled(_size(args[0]))


def _contains_address(overload: str, args: list[Value], _result: Value) -> int:
    size = _size(args[0])
    cost = _scaled(size + size)
    return cost + _scaled(_size(args[1])) if overload == "cidr_contains_ip_string" else cost


def _contains_network(overload: str, args: list[Value], _result: Value) -> int:
    size = _size(args[0])
    cost = _scaled(size + size) + _scaled(size) + 1
    return cost + _scaled(_size(args[1])) if overload == "cidr_contains_cidr_string" else cost


def _validate(_overload: str, args: list[Value], _result: Value) -> int | None:
    named = runtime.underlying(args[0])
    if type(named) is not Opaque or named.type_name != "kubernetes.NamedFormat":
        return None
    return _scaled(1.0 + _size(args[1])) * _scaled(named.value.regex_size, REGEX_FACTOR)


def _equality(_overload: str, args: list[Value], _result: Value) -> int | None:
    return 1 if type(args[0]) in (QuantityBox, Version, Opaque) else None


def _table(entries: Mapping[str, _Cost]) -> Mapping[str, _Cost]:
    return {name: cost for names, cost in entries.items() for name in names.split()}


_BY_FUNCTION: Final[Mapping[str, _Cost]] = _table({
    "isSorted sum max min indexOf lastIndexOf": lambda _o, args, _r: _traversal(args[0]),
    "url lowerAscii upperAscii substring trim": _first(1),
    "replace split ip.isCanonical": lambda _o, args, _r: _scaled(_size(args[0]) * 2),
    "join": _output,
    "find findAll": lambda _o, args, _r: _regex(args[0], args[1]),
    "cidr isIP isCIDR quantity isQuantity semver isSemver": _first(1),
    "ip": _address,
    "containsIP": _contains_address,
    "containsCIDR": _contains_network,
    "validate": _validate,
    COST_ONE: _one,
    "check": lambda _o, _a, _r: 350_000,
    "_==_": _equality,
})  # fmt: skip


# --- by overload: the standard library


def _smaller(args: list[Value]) -> int:
    return _scaled(min(_standard_size(args[0]), _standard_size(args[1])))


def _standard_first(args: list[Value]) -> int:
    return _scaled(_standard_size(args[0]))


_STANDARD: Final[Mapping[str, Callable[[list[Value]], int]]] = {
    **dict.fromkeys(
        [
            "starts_with_string",
            "ends_with_string",
            "string_to_bytes",
            "bytes_to_string",
            "strings_quote",
            "string_format",
        ],
        _standard_first,
    ),
    "in_list": lambda args: _standard_size(args[1]),
    **dict.fromkeys(
        [
            f"{name}_{kind}"
            for name in ("less", "less_equals", "greater", "greater_equals")
            for kind in ("string", "bytes")
        ],
        _smaller,
    ),
    "equals": _smaller,
    "not_equals": _smaller,
    **dict.fromkeys(
        ("add_string", "add_bytes"), lambda args: _scaled(_standard_size(args[0]) + _standard_size(args[1]))
    ),
    "matches_string": lambda args: _matching(args[0], args[1]),
    "contains_string": lambda args: _standard_first(args) * _scaled(_standard_size(args[1])),
}
