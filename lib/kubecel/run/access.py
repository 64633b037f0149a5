"""Access of a running program to variables, fields, elements and accumulators.

Source: interpreter/{attributes,interpretable}.go of cel-go v0.26.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from kubecel import interruption
from kubecel.cost.costs import Tracker
from kubecel.run.plan import Invocation
from kubecel.values import maps, runtime
from kubecel.values.errors import Err, bounded
from kubecel.values.runtime import NONE, Domains, MutableList, MutableMap, Named, Optional, Value
from kubecel.version import Version


class Frame:
    """The variables that a step can read: those of the expression, or of one comprehension around it."""

    __slots__ = ("accumulator", "first", "made", "parent", "ready", "root", "second", "tracker")

    def __init__(self, root: Mapping[str, Value], tracker: Tracker | None = None, parent: Frame | None = None) -> None:
        self.root = root
        self.tracker = tracker
        self.parent = parent
        self.ready = False
        self.made = 0
        self.accumulator: Value = None
        self.first: Value = None
        self.second: Value = None

    def make(self, parts: int) -> None:
        """Count the elements of a new list against the bound of the whole evaluation.

        Raises: Abort.
        """
        outermost = self
        while outermost.parent is not None:
            outermost = outermost.parent
        outermost.made = bounded(outermost.made + parts)


Run = Callable[[Frame], Value]


class Absent:
    """The stand-in for a field or element that does not exist."""

    __slots__ = ()


ABSENT: Final = Absent()


class Optionally:
    """The value of an optional field or index that exists. Further fields of it are optional too."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


def qualify(target: Value, key: Value, *, lenient: bool) -> Value:
    """Return the field or element `key` of `target`: the value, an error, or ABSENT if `lenient`."""
    if type(key) not in _KEYS:
        return Err(f"invalid qualifier type: {runtime.type_name(key)}")
    if runtime.is_map(target):
        value, found = maps.find(target, key)
        if found:
            return value
        return ABSENT if lenient else Err(f"no such key: {key}")
    if runtime.is_list(target):
        return _element(target, key, lenient=lenient)
    if type(target) is Err:
        return target
    return ABSENT if lenient else Err(f"no such key: {key}")


_KEYS: Final = frozenset({str, int, runtime.Uint, bool, float})


_TWO_63: Final = 9223372036854775808.0


def _element(items: list[Value], key: Value, *, lenient: bool) -> Value:
    if type(key) is bool or type(key) is str:
        return Err(f"unsupported index type '{runtime.type_name(key)}' in list")
    # as in the original, the doubles at either end of 64 bits are no whole numbers
    lossy = type(key) is float and not (key.is_integer() and -_TWO_63 < key < _TWO_63)
    if lossy or key > runtime.INT_MAX:
        return Err(f"unsupported index value {key} in list")
    index = int(key)
    if 0 <= index < len(items):
        return items[index]
    return ABSENT if lenient else Err(f"index out of bounds: {key}")


def variable(name: str) -> Run:
    """Return the reader of a declared variable. A variable without a value is an error."""

    def variable(frame: Frame) -> Value:
        try:
            return frame.root[name]
        except KeyError:
            return Err(f"no such attribute(s): {name}")

    return variable


Take = Callable[[Value], Value]
"""The function that converts the value of an optional when it is read: `reread` or `kept`."""


def fields(base: Run, keys: list[str], take: Take) -> Run:
    """Return the fast reader of constant fields that are not optional."""

    def fields(frame: Frame) -> Value:
        value = base(frame)
        optional = type(value) is Optional
        if optional:
            if not value.present:
                return value
            value = take(value.value)
        for key in keys:
            if type(value) in _PLAIN_MAPS and key in value:
                value = value[key]
                continue
            value = qualify(value, key, lenient=optional)
            if value is ABSENT:
                return NONE
            if type(value) is Err:
                return value
        return Optional(value) if optional else value

    return fields


def qualified(base: Run, qualifiers: list[Callable[[Frame, Value, bool], Value]], take: Take) -> Run:
    """Return the reader of any fields and elements."""

    def qualified(frame: Frame) -> Value:
        value = base(frame)
        if type(value) is Err:
            return value
        optional = type(value) is Optional
        if optional:
            if not value.present:
                return value
            value = take(value.value)
        for apply in qualifiers:
            value = apply(frame, value, optional)
            if value is ABSENT:
                return NONE
            if type(value) is Optionally:
                value, optional = value.value, True
            if type(value) is Err:
                return value
        return Optional(value) if optional else value

    return qualified


_PLAIN_MAPS: Final[frozenset[type]] = frozenset(tuple[type, ...]((dict, Named)))


def named(base: Run, take: Take) -> Run:
    """Return the reader of a name, or of a step in the place of a name."""

    def named(frame: Frame) -> Value:
        value = base(frame)
        if type(value) is not Optional or not value.present:
            return value
        return Optional(take(value.value))  # also when that is an error: then it is one that is there

    return named


def reread(value: Value) -> Value:
    """Return the value of an optional as Kubernetes up to 1.36 converts it out of CEL and back.

    A value without a conversion is an error, a nested optional becomes its value, and a type becomes its name.
    """
    kind = type(value)
    if kind in _OPAQUE and runtime.type_name(value) != "kubernetes.NamedFormat":
        return Err(f"unsupported conversion to ref.Val: {runtime.type_name(value)}")
    if kind is Optional:
        return reread(value.value) if value.present else None
    if kind is Domains:
        return Named(value)  # what makes an unknown domain an empty map is lost
    return value.name if kind is runtime.TypeValue else value


_OPAQUE: Final = frozenset({runtime.QuantityBox, Version, runtime.Opaque})


def kept(value: Value) -> Value:
    """Return the value of an optional unchanged, as from 1.37 on."""
    return value


def presence(resolve: Run) -> Run:
    """Return the test whether a chain of fields exists."""

    def presence(frame: Frame) -> Value:
        value = resolve(frame)
        return value.present if type(value) is Optional else value

    return presence


def hop(run: Run, hops: int) -> Run:
    """Return `run` for the frame of an outer comprehension."""
    if hops == 0:
        return run

    def hop(frame: Frame) -> Value:
        for _ in range(hops):
            frame = frame.parent  # type: ignore[assignment]  # the planner counted the frames
        return run(frame)

    return hop


def accumulator(init: Run) -> Run:
    """Return the accumulator of a comprehension. It is created when it is first read."""

    def accumulator(frame: Frame) -> Value:
        if not frame.ready:
            frame.ready = True
            assert frame.parent is not None  # noqa: S101 - the frame of a comprehension has one
            value = init(frame.parent)
            if type(value) is list and not value:
                value = MutableList()
            elif type(value) is dict and not value:
                value = MutableMap()
            frame.accumulator = value
        return frame.accumulator

    return accumulator


def frozen(value: Value) -> Value:
    """Return the result of a comprehension, which cannot change any more."""
    if type(value) is MutableList:
        return list(value)
    return dict(value) if type(value) is MutableMap else value


def singles(items: Value) -> Iterable[tuple[Value, Value]]:
    """Return the elements of a list or the keys of a map."""
    if runtime.is_list(items):
        return ((item, None) for item in interruption.steps(items))
    return ((maps.value_of(key), None) for key in _ordered(items))


def pairs(items: Value) -> Iterable[tuple[Value, Value]]:
    """Return index and element, or key and value."""
    if runtime.is_list(items):
        return enumerate(interruption.steps(items))
    return ((maps.value_of(key), items[key]) for key in _ordered(items))


def _ordered(items: dict[Any, Value]) -> list[Any]:
    """Return the keys in one order: Kubernetes leaves it to chance, a plan may not."""
    return sorted(items, key=lambda key: ("", key) if type(key) is str else (key[0].__name__, str(key[-1])))


def calling(step: Invocation, args: tuple[Run, ...]) -> Run:
    """Return the function that evaluates the arguments and calls. Only a strict call stops at the first error."""
    function = step.implementation
    if len(args) == 1 and not step.absorbs:
        (only,) = args

        def unary(frame: Frame) -> Value:
            value = only(frame)
            return value if type(value) is Err else function(value)

        return unary
    if len(args) == 2 and not step.strict:
        left, right = args
        if step.function == "_+_" and step.overload in ("", "add_list"):
            return _joining(function, left, right)

        def binary(frame: Frame) -> Value:
            first, second = left(frame), right(frame)
            if type(first) is Err:
                return first
            return second if type(second) is Err else function(first, second)

        return binary

    def call(frame: Frame) -> Value:
        values: list[Value] = []
        for arg in args:
            value = arg(frame)
            if type(value) is Err and not step.absorbs:
                return value
            values.append(value)
        return function(*values)

    return call


def _joining(function: Callable[..., Value], left: Run, right: Run) -> Run:
    """Return the function that adds what may be lists."""

    def joining(frame: Frame) -> Value:
        first, second = left(frame), right(frame)
        if type(first) is Err:
            return first
        if type(second) is Err:
            return second
        if type(first) is list and runtime.is_list(second):
            frame.make(len(first) + len(second))
        return function(first, second)

    return joining
