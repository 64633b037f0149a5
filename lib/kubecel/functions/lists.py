"""Lists, sets, maps and optional values.

Source: ext/{lists,sets,comprehensions}.go and cel/library.go of cel-go v0.26.0, pkg/cel/library/lists.go of
k8s.io/apiserver v0.36.2.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

from kubecel.functions import arithmetic, strings
from kubecel.run import comparison
from kubecel.values import maps, runtime
from kubecel.values.errors import Abort, Err, bounded, no_such_overload
from kubecel.values.runtime import NONE, Duration, MutableMap, Optional, Uint, Value

_INCLUDES_LIMIT: Final = 48
_ZEROS: Final[Mapping[type, Value]] = {int: 0, Uint: Uint(0), float: 0.0, Duration: Duration(0)}


def _on_list(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return a guard: the first argument is a list."""

    def guarded(items: Value, *args: Value) -> Value:
        return function(items, *args) if runtime.is_list(items) else no_such_overload()

    return guarded


@_on_list
def _is_sorted(items: list[Value]) -> Value:
    previous: Value = None
    for index, item in enumerate(items):
        if not comparison.is_comparable(item):
            return no_such_overload()
        if index and comparison.compare(previous, item) == 1:
            return False
        previous = item
    return True


@_on_list
def _sum(items: list[Value]) -> Value:
    if not items:
        return 0
    total = _ZEROS.get(type(items[0]))
    if total is None:
        return no_such_overload()
    for item in items:
        total = arithmetic.add(total, item)
        if isinstance(total, Err):
            return no_such_overload() if type(item) is not Duration else total
    return total


def _extreme(name: str, preferred: int) -> Callable[..., Value]:
    @_on_list
    def extreme(items: list[Value]) -> Value:
        if not items:
            return Err(f"{name} called on empty list")
        if not all(comparison.is_comparable(item) for item in items):
            return no_such_overload()
        best = items[0]
        for item in items[1:]:
            if comparison.compare(best, item) == preferred:
                best = item
        return best

    return extreme


def _index_of(*, last: bool) -> Callable[..., Value]:
    in_string = strings.FUNCTIONS["lastIndexOf" if last else "indexOf"]

    def index_of(items: Value, *args: Value) -> Value:
        if not runtime.is_list(items):
            return in_string(items, *args)
        if len(args) > 1:
            return no_such_overload()
        order = reversed(range(len(items))) if last else range(len(items))
        return next((index for index in order if comparison.equal_to(items[index], args[0]) is True), -1)

    return index_of


@_on_list
def _slice(items: list[Value], start: Value, end: Value) -> Value:
    if type(start) is not int or type(end) is not int:
        return no_such_overload()
    if start < 0 or end < 0:
        return Err(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        return Err(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(items) < end:
        return Err(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


@_on_list
def _flatten(items: list[Value], depth: Value = 1) -> Value:
    if type(depth) is not int:
        return no_such_overload()
    if depth < 0:
        return Err("level must be non-negative")
    result: list[Value] = []
    _flatten_into(result, items, depth, 0)
    return result


def _flatten_into(result: list[Value], items: list[Value], depth: int, seen: int) -> int:
    """Return how many elements were seen, `seen` of them before."""
    seen = bounded(seen + len(items))
    for item in items:
        if runtime.is_list(item) and depth:
            seen = _flatten_into(result, item, depth - 1, seen)
        else:
            result.append(item)
    return seen


@_on_list
def _sort(items: list[Value]) -> Value:
    return _sort_by(items, items)


@_on_list
def _sort_by(items: list[Value], keys: Value) -> Value:
    if not runtime.is_list(keys):
        return no_such_overload()
    if len(items) != len(keys):
        return Err(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got"
            f" {len(items)} and {len(keys)} elements respectively"
        )
    if not items:
        return items
    if not comparison.is_comparable(keys[0]):
        return Err("list elements must be comparable")
    if len(keys) > 1 and any(type(key) is not type(keys[0]) for key in keys):
        return Err("list elements must have the same type")

    def order(left: int, right: int) -> int:
        found = comparison.compare(keys[left], keys[right])
        return 0 if isinstance(found, Err) else found

    return [items[index] for index in sorted(range(len(items)), key=functools.cmp_to_key(order))]


def _affordable(steps: int) -> None:
    """Refuse a call that costs more than any expression may, before it runs; the counter would refuse it afterwards.

    Raises: Abort.
    """
    if steps > _STEPS_MAX:
        raise Abort("operation cancelled: actual cost limit exceeded")


_STEPS_MAX: Final = 1_000_000


@_on_list
def _distinct(items: list[Value]) -> Value:
    _affordable(len(items) ** 2)
    unique: list[Value] = []
    for item in items:
        if not any(comparison.equal_to(item, other) is True for other in unique):
            unique.append(item)
    return unique


def _range(count: Value) -> Value:
    if type(count) is not int:
        return no_such_overload()
    if count > runtime.INT_MAX >> 40:
        # the original would run out of memory; the cost limit is far below
        raise Abort("operation cancelled: actual cost limit exceeded")
    return list(range(count))


# --- sets


def _contains_all(items: Value, wanted: Value) -> Value:
    if not (runtime.is_list(items) and runtime.is_list(wanted)):
        return no_such_overload()
    _affordable(len(items) * len(wanted))
    return all(comparison.contains(items, item) for item in wanted)


def _equivalent(left: Value, right: Value) -> Value:
    forth = _contains_all(left, right)
    return _contains_all(right, left) if forth is True else forth


def _intersects(left: Value, right: Value) -> Value:
    if not (runtime.is_list(left) and runtime.is_list(right)):
        return no_such_overload()
    _affordable(len(left) * len(right))
    return any(comparison.contains(right, item) for item in left)


# --- maps


def _insert(map_: Value, *entry: Value) -> Value:
    if not runtime.is_map(map_):
        return no_such_overload()
    if len(entry) == 1:
        if not runtime.is_map(entry[0]):
            return no_such_overload()
        pairs = [(maps.value_of(key), value) for key, value in entry[0].items()]
    else:
        pairs = [(entry[0], entry[1])]
    result = map_ if type(map_) is MutableMap else MutableMap(map_)
    for key, value in pairs:
        if maps.find(result, key)[1]:
            return Err(f"insert failed: key {key} already exists")
        result[maps.key_of(key)] = value
    return result


# --- optional values


def _of_optional(read: Callable[[Optional], Value]) -> Callable[[Value], Value]:
    return lambda value: read(value) if type(value) is Optional else no_such_overload()


@_on_list
def _unwrap(items: list[Value]) -> Value:
    for item in items:
        if type(item) is not Optional:
            return Err(f"value {item} is not optional")
    return [item.value for item in items if item.present]


def _includes(target: Value, value: Value) -> Value:
    if not runtime.is_list(target):
        return comparison.equal_to(target, value) is True
    for index, item in enumerate(target):
        if index >= _INCLUDES_LIMIT:
            return Err(f"'includes' function cannot be applied to lists longer than {_INCLUDES_LIMIT} values")
        if comparison.equal_to(item, value) is True:
            return True
    return False


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "isSorted": _is_sorted,
    "sum": _sum,
    "min": _extreme("min", 1),
    "max": _extreme("max", -1),
    "indexOf": _index_of(last=False),
    "lastIndexOf": _index_of(last=True),
    "slice": _slice,
    "flatten": _flatten,
    "sort": _sort,
    "@sortByAssociatedKeys": _sort_by,
    "distinct": _distinct,
    "reverse": _on_list(lambda items: items[::-1]),
    "lists.range": _range,
    "first": _on_list(lambda items: Optional(items[0]) if items else NONE),
    "last": _on_list(lambda items: Optional(items[-1]) if items else NONE),
    "sets.contains": _contains_all,
    "sets.equivalent": _equivalent,
    "sets.intersects": _intersects,
    "cel.@mapInsert": _insert,
    "optional.of": Optional,
    "optional.ofNonZeroValue": lambda value: NONE if runtime.is_zero(value) else Optional(value),
    "optional.none": lambda: NONE,
    "optional.unwrap": _unwrap,
    "unwrapOpt": _unwrap,
    "value": _of_optional(lambda optional: optional.value),
    "hasValue": _of_optional(lambda optional: optional.present),
    "includes": _includes,
}
