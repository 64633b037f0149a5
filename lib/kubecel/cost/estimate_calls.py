"""The highest cost of one call, by function and overload.

Source: checker/cost.go and ext/{lists,sets}.go of cel-go v0.26.0, pkg/cel/library/cost.go of k8s.io/apiserver
v0.36.2.
"""

# As long as the functions are many: one table, in the order of the sources it is held against.

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from kubecel.cost.costs import COST_ONE, LIST_BASE, REGEX_FACTOR, SORTED, STRING_FACTOR
from kubecel.cost.ranges import FREE, MAX, ONE, Call, Found, Range

_FORMAT_REGEX_SIZE: Final = 128
_FORMAT_SIZE: Final = 64

_Estimate = Callable[[Call], Found | None]


def call_cost(call: Call, minor: int) -> Found:
    """Return the cost of one overload of a call with its arguments, without its target, in Kubernetes 1.`minor`."""
    if minor >= _NEWER:
        newer = _newer(call)
        if newer is not None:
            return newer
    estimate = _BY_OVERLOAD.get(call.overload)
    found = None if estimate is None else estimate(call)
    if found is None:
        estimate = _BY_FUNCTION.get(call.function)
        found = None if estimate is None else estimate(call)
    if found is not None:
        return Found(found.cost + call.argument_cost(), found.size)
    standard = _STANDARD.get(call.overload)
    found = None if standard is None else standard(call)
    return Found(ONE + call.argument_cost()) if found is None else found


def are_plain(function: str, overloads: tuple[str, ...]) -> bool:
    """Return whether a call costs one plus the cost of any operands, and the size of its result is unknown."""
    return all(_is_plain(function, overload) for overload in overloads)


def _is_plain(function: str, overload: str) -> bool:
    if function == "matches" or overload in _BY_OVERLOAD:
        return False
    estimate = _BY_FUNCTION.get(function)
    return overload not in _STANDARD if estimate is None else estimate is _one


_NEWER: Final = 37


def _newer(call: Call) -> Found | None:
    """The estimates of 1.37 (cel-go v0.29.2) that differ: the global form of matches, and includes."""
    if call.overload == "matches" and call.target is None and len(call.args) == 2:
        text = (call.args[0].known_or_unknown() + ONE).scaled(STRING_FACTOR)
        return Found(text * call.args[1].known_or_unknown().scaled(REGEX_FACTOR) + call.argument_cost())
    if call.function == "includes" and call.target is not None:
        element = call.target.element()
        cost = ONE
        if element is not None and element.type.kind in ("string", "bytes"):
            cost += element.sized().scaled(STRING_FACTOR)
        return Found(call.target.sized() * cost + call.argument_cost())
    return None


# --- by overload: lists and sets


def _allocating(factor: float, size: Range) -> Found:
    return Found(size.scaled(factor) + ONE + Range.of(LIST_BASE), size)


def _slice(call: Call) -> Found | None:
    if call.target is None or len(call.args) != 2:
        return None
    start = call.args[0].whole_number(0)
    end = call.args[1].whole_number(call.target.sized().maximum)
    return _allocating(1, Range.of((end - start) % (MAX + 1)))


def _range(call: Call) -> Found | None:
    return _allocating(1, Range.of(call.args[0].whole_number(MAX))) if call.target is None else None


def _reverse(call: Call) -> Found | None:
    return None if call.target is None else _allocating(1, call.target.sized())


def _flatten(call: Call) -> Found | None:
    if call.target is None:
        return None
    depth = call.args[0].whole_number(MAX) if call.args else 1
    return _allocating(float(depth), call.target.sized())


def _distinct(call: Call) -> Found | None:
    if call.target is None:
        return None
    size = call.target.sized()
    return _allocating(2.0, size * size)


def _sorting(kind: str) -> _Estimate:
    factor = 2.0 + STRING_FACTOR if kind in ("string", "bytes") else 2.0

    def estimate(call: Call) -> Found | None:
        keys = call.args[0] if call.args else call.target
        if call.target is None or keys is None:
            return None
        size = keys.sized()
        return _allocating(factor, size * size)

    return estimate


def _sets(factor: float) -> _Estimate:
    return lambda call: Found((call.args[0].sized() * call.args[1].sized()).scaled(factor) + ONE)


_LIST_ATTRIBUTE: Final = Range(0, 48)
_BY_OVERLOAD: Final[Mapping[str, _Estimate]] = {
    "dra_includes_dyn_dyn": lambda _call: Found(_LIST_ATTRIBUTE),
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": _range,
    "list_reverse": _reverse,
    "list_distinct": _distinct,
    **{f"list_{kind}_{verb}": _sorting(kind) for kind in SORTED for verb in ("sort", "sortByAssociatedKeys")},
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
}


# --- by function: the libraries of Kubernetes


def _elementwise(call: Call) -> Found | None:
    if call.target is None:
        return None
    element = call.target.element()
    if element is None:
        return Found(call.target.sized().scaled(STRING_FACTOR))
    cost = ONE
    if element.type.kind in ("string", "bytes"):
        cost += element.sized().scaled(STRING_FACTOR)
    return Found(call.target.sized() * cost)


def _traversed(call: Call) -> Found | None:
    if call.target is None:
        return None
    size = call.target.sized()
    return Found(size.scaled(STRING_FACTOR), size)


def _replace(call: Call) -> Found | None:
    if call.target is None or len(call.args) < 2:
        return None
    size, old, new = call.target.sized(), call.args[0].sized(), call.args[1].sized()
    most, kept_most = _most_replaced(size.maximum, old.minimum, new.maximum)
    least, kept_least = _least_replaced(size.minimum, old.maximum, new.minimum)
    result = Range(least, most) * new + Range(kept_least, kept_most)
    return Found(size.scaled(2 * STRING_FACTOR), result)


def _most_replaced(size: int, old: int, new: int) -> tuple[int, int]:
    """Return the most replacements, and how much of the original stays beside them."""
    if old == 0:
        return min(MAX, size + 1), size
    if new <= old:
        return 0, size
    return min(MAX, math.ceil(float(size) / float(old))), 0


def _least_replaced(size: int, old: int, new: int) -> tuple[int, int]:
    if old == 0:
        return min(MAX, size + 1), size
    if old <= new:
        return 0, size
    return min(MAX, math.ceil(float(size) / float(old))), 0


def _split(call: Call) -> Found | None:
    if call.target is None:
        return None
    size = call.target.sized()
    most = size.maximum
    if len(call.args) > 1 and call.args[1].is_literal and type(call.args[1].literal) is int:
        most = call.args[1].literal % (MAX + 1)
    return Found(size.scaled(2 * STRING_FACTOR), Range(0, most))


def _join(call: Call) -> Found | None:
    if call.target is None:
        return None
    count = call.target.sized()
    element = call.target.element()
    size = FREE if element is None else count * element.sized()
    if call.args:
        separators = Range(max(0, count.minimum - 1), max(0, count.maximum - 1))
        size += call.args[0].sized() * separators
    return Found(size.scaled(STRING_FACTOR), size)


def _find(call: Call) -> Found | None:
    if call.target is None or not call.args:
        return None
    size = call.target.sized()
    cost = (size + ONE).scaled(STRING_FACTOR) * call.args[0].sized().scaled(REGEX_FACTOR)
    return Found(cost, Range(0, size.maximum))


def _parsed(factor: float, *, sized: bool = False) -> _Estimate:
    def estimate(call: Call) -> Found | None:
        if not call.args:
            return None
        size = call.args[0].sized()
        return Found(size.scaled(factor), size if sized else None)

    return estimate


def _address(call: Call) -> Found | None:
    return Found(ONE) if call.overload == "cidr_ip" else _parsed(STRING_FACTOR)(call)


_ADDRESS_BYTES: Final = Range(4, 16)


def _contains_address(call: Call) -> Found | None:
    if not call.args:
        return None
    cost = (_ADDRESS_BYTES + _ADDRESS_BYTES).scaled(STRING_FACTOR)
    if call.overload == "cidr_contains_ip_string":
        cost += call.args[0].sized().scaled(STRING_FACTOR)
    return Found(cost)


def _contains_network(call: Call) -> Found | None:
    if not call.args:
        return None
    cost = (_ADDRESS_BYTES + _ADDRESS_BYTES).scaled(STRING_FACTOR) + _ADDRESS_BYTES.scaled(STRING_FACTOR) + ONE
    if call.overload == "cidr_contains_cidr_string":
        cost += call.args[0].sized().scaled(STRING_FACTOR)
    return Found(cost)


def _validate(call: Call) -> Found | None:
    if not call.args:
        return None
    cost = call.args[0].sized().scaled(STRING_FACTOR).scaled(_FORMAT_REGEX_SIZE * REGEX_FACTOR)
    return Found(cost)


_CHEAP_EQUALITY: Final = frozenset({"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"})


def _equality(call: Call) -> Found | None:
    if len(call.args) != 2 or call.args[0].type != call.args[1].type:
        return None
    name = call.args[0].type.name
    if name in _CHEAP_EQUALITY:
        return Found(ONE)
    if name == "kubernetes.NamedFormat":
        return Found(Range(1, _FORMAT_SIZE).scaled(STRING_FACTOR))
    if name == "kubernetes.URL":
        size = call.args[1].size
        return Found(Range(1, 1 if size is None else size.maximum).scaled(STRING_FACTOR))
    return None


def _one(_call: Call) -> Found:
    return Found(ONE)


def _table(entries: Mapping[str, _Estimate]) -> Mapping[str, _Estimate]:
    return {name: estimate for names, estimate in entries.items() for name in names.split()}


_BY_FUNCTION: Final[Mapping[str, _Estimate]] = _table({
    "isSorted sum max min indexOf lastIndexOf": _elementwise,
    "url": lambda call: _parsed(STRING_FACTOR, sized=True)(call) if len(call.args) == 1 else None,
    "lowerAscii upperAscii substring trim": _traversed,
    "replace": _replace,
    "split": _split,
    "join": _join,
    "find findAll": _find,
    "cidr isIP isCIDR quantity isQuantity semver isSemver": _parsed(STRING_FACTOR),
    "ip": _address,
    "ip.isCanonical": _parsed(2 * STRING_FACTOR),
    "containsIP": _contains_address,
    "containsCIDR": _contains_network,
    "validate": _validate,
    COST_ONE: _one,
    "check": lambda _call: Found(Range.of(350_000)),
    "_==_": _equality,
})  # fmt: skip


# --- by overload: the standard library; these include the cost of the arguments


def _format(call: Call) -> Found | None:
    if call.target is None:
        return None
    return Found(call.target.known_or_unknown().scaled(STRING_FACTOR) + call.argument_cost())


def _converted(grow: Callable[[Range], Range]) -> _Estimate:
    def estimate(call: Call) -> Found | None:
        if len(call.args) != 1:
            return None
        size = call.args[0].known_or_unknown()
        return Found(size.scaled(STRING_FACTOR) + call.argument_cost(), grow(size))

    return estimate


def _affix(call: Call) -> Found | None:
    return Found(call.args[0].known_or_unknown().scaled(STRING_FACTOR) + call.argument_cost())


def _in_list(call: Call) -> Found | None:
    return Found(call.args[1].known_or_unknown().scaled(1) + call.argument_cost())


def _matches(call: Call) -> Found | None:
    if call.target is None or len(call.args) != 1:
        return None
    text = (call.target.known_or_unknown() + ONE).scaled(STRING_FACTOR)
    return Found(text * call.args[0].known_or_unknown().scaled(REGEX_FACTOR) + call.argument_cost())


def _contains(call: Call) -> Found | None:
    if call.target is None or len(call.args) != 1:
        return None
    text = call.target.known_or_unknown().scaled(STRING_FACTOR)
    return Found(text * call.args[0].known_or_unknown().scaled(STRING_FACTOR) + call.argument_cost())


def _conditional(call: Call) -> Found:
    size = call.args[1].known_or_unknown().union(call.args[2].known_or_unknown())
    return Found(call.costs[0] + call.costs[1].union(call.costs[2]), size)


def _concatenated(call: Call) -> Found:
    size = call.args[0].known_or_unknown() + call.args[1].known_or_unknown()
    cost = ONE if call.overload == "add_list" else size.scaled(STRING_FACTOR)
    return Found(cost + call.argument_cost(), size)


def _compared(call: Call) -> Found:
    most = min(call.args[0].known_or_unknown().maximum, call.args[1].known_or_unknown().maximum)
    return Found(Range(1 if most > 0 else 0, most).scaled(STRING_FACTOR) + call.argument_cost())


def _wrapped(value: int) -> int:
    return value % (MAX + 1)


_STANDARD: Final[Mapping[str, _Estimate]] = {
    "string_format": _format,
    "string_to_bytes": _converted(lambda size: Range(size.minimum, _wrapped(size.maximum * 4))),
    "bytes_to_string": _converted(lambda size: Range(size.minimum // 4, size.maximum)),
    "strings_quote": _converted(lambda size: Range(_wrapped(size.minimum + 2), _wrapped(size.maximum * 2 + 2))),
    "starts_with_string": _affix,
    "ends_with_string": _affix,
    "in_list": _in_list,
    "matches_string": _matches,
    "contains_string": _contains,
    "conditional": _conditional,
    "add_string": _concatenated,
    "add_bytes": _concatenated,
    "add_list": _concatenated,
    "equals": _compared,
    "not_equals": _compared,
    **{
        f"{name}_{kind}": _compared
        for name in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
}
