"""Plans as functions that evaluate them, with or without counting the cost.

Errors are values here (`Err`), so that `&&`, `||` and comprehensions may absorb them. Source: the interpreter of cel-go v0.26.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from modelplane.devices import cel_cost, cel_plan, cel_values
from modelplane.devices.cel_cost import Tracker
from modelplane.devices.cel_errors import Err, no_such_overload
from modelplane.devices.cel_plan import (
    Attribute,
    Constant,
    Equality,
    Invocation,
    ListOf,
    Logic,
    Loop,
    MapOf,
    Membership,
    OrElse,
    Qualifier,
    Step,
)
from modelplane.devices.cel_values import NONE, MutableList, MutableMap, Optional, Value


class Frame:
    """The variables in reach of a step: the expression's own, or those of one comprehension around it."""

    __slots__ = ("accumulator", "first", "parent", "ready", "root", "second", "tracker")

    def __init__(self, root: Mapping[str, Value], tracker: Tracker | None = None, parent: Frame | None = None) -> None:
        self.root = root
        self.tracker = tracker
        self.parent = parent
        self.ready = False
        self.accumulator: Value = None
        self.first: Value = None
        self.second: Value = None


Run = Callable[[Frame], Value]


def program(step: Step, *, tracked: bool) -> Run:
    """Return the function that evaluates a plan; a tracked one counts into the tracker of its frame."""
    return _Emitter(tracked=tracked).run(step, None)


class _Names:
    """The names a comprehension declares, and the comprehension around it; `result` hides the iteration variables."""

    __slots__ = ("init", "loop", "outer", "result")

    def __init__(self, loop: Loop, outer: _Names | None, init: Run, *, result: bool) -> None:
        self.loop = loop
        self.outer = outer
        self.init = init
        self.result = result


class _Emitter:
    def __init__(self, *, tracked: bool) -> None:
        self._tracked = tracked

    def run(self, step: Step, names: _Names | None) -> Run:
        """Return the function that evaluates one step."""
        emit = _EMITTERS[type(step)]
        return emit(self, step, names)

    # --- constants, names and attributes

    def _constant(self, step: Constant, _names: _Names | None) -> Run:
        value, identifier = step.value, step.id
        if not self._tracked:
            return lambda _frame: value

        def constant(frame: Frame) -> Value:
            frame.tracker.push(identifier, value)  # type: ignore[union-attr]
            return value

        return constant

    def _attribute(self, step: Attribute, names: _Names | None) -> Run:
        resolve = self._resolver(step, names)
        if step.test_only:
            resolve = _presence(resolve)
        if not self._tracked:
            return resolve
        inner = step.operand if step.test_only and isinstance(step.operand, Attribute) else step
        identifier = step.id if step.test_only else step.last_id()
        if inner.branches is not None and inner.condition is not None:
            yes, no = inner.branches
            dropped = (no.last_id(), yes.last_id(), cel_plan.identity(inner.condition))
            cost = 0
        else:
            dropped, cost = (inner.last_id(),), 1
        cost -= step.test_only

        def watched(frame: Frame) -> Value:
            value = resolve(frame)
            tracker = frame.tracker
            assert tracker is not None  # noqa: S101 - tracked programs run with one
            tracker.drop(*dropped)
            tracker.push(identifier, value, cost)
            return value

        return watched

    def _resolver(self, step: Attribute, names: _Names | None) -> Run:
        """Return the function that finds the value of an attribute, counting its qualifiers only."""
        if step.test_only:
            assert isinstance(step.operand, Attribute)  # noqa: S101
            return self._resolver(step.operand, names)
        if step.branches is not None and step.condition is not None:
            return self._branching(step.condition, step.branches, names)
        base = self._variable(step.name, names) if step.operand is None else self.run(step.operand, names)
        if not step.qualifiers:
            return base
        if not self._tracked and all(
            type(q.key) is str and not q.optional and not q.test_only for q in step.qualifiers
        ):
            return _fields(base, [qualifier.key for qualifier in step.qualifiers])
        return _qualified(base, [self._qualifier(qualifier, names) for qualifier in step.qualifiers])

    def _branching(self, condition: Step, branches: tuple[Attribute, Attribute], names: _Names | None) -> Run:
        test = self.run(condition, names)
        yes, no = (self._resolver(branch, names) for branch in branches)

        def branching(frame: Frame) -> Value:
            value = test(frame)
            if value is True:
                return yes(frame)
            if value is False:
                return no(frame)
            return value if type(value) is Err else no_such_overload()

        return branching

    def _variable(self, name: str, names: _Names | None) -> Run:
        hops = 0
        while names is not None:
            node = names.loop.node
            if name == node.accu_var:
                return _hop(_accumulator(names.init), hops)
            if not names.result and name == node.iter_var:
                return _hop(lambda frame: frame.first, hops)
            if not names.result and name == node.iter_var2:
                return _hop(lambda frame: frame.second, hops)
            names, hops = names.outer, hops + 1
        return lambda frame: frame.root[name]

    def _qualifier(self, qualifier: Qualifier, names: _Names | None) -> Callable[[Frame, Value, bool], Value]:
        """Return a function of frame, object and whether absence is allowed: the value, an error, or _ABSENT."""
        key: Run
        if qualifier.computed is None:
            constant = qualifier.key
            key = lambda _frame: constant  # noqa: E731 - one of two ways to the same name
        else:
            key = self._resolver(qualifier.computed, names)
        test_only, optional, identifier, tracked = qualifier.test_only, qualifier.optional, qualifier.id, self._tracked

        def apply(frame: Frame, target: Value, lenient: bool) -> Value:  # noqa: FBT001 - a private protocol
            lenient = lenient or optional
            value = key(frame)
            if type(value) is not Err:
                value = qualify(target, value, lenient=lenient or test_only)
            absent = value is _ABSENT
            if test_only and not lenient and type(value) is not Err:
                value = not absent
                absent = False
            if tracked and not absent and not (lenient and type(value) is Err):
                frame.tracker.push(identifier, value, 1)  # type: ignore[union-attr]
            return value if not (optional and not absent) else _Optionally(value)

        return apply

    # --- logic and equality

    def _logic(self, step: Logic, names: _Names | None) -> Run:
        terms = tuple(self.run(term, names) for term in step.terms)
        decisive = step.decisive

        def logic(frame: Frame) -> Value:
            error: Value = None
            for term in terms:
                value = term(frame)
                if value is decisive:
                    return decisive
                if error is None and type(value) is not bool:
                    error = value if type(value) is Err else no_such_overload()
            return not decisive if error is None else error

        if not self._tracked:
            return logic
        identifier, dropped = step.id, tuple(cel_plan.identity(term) for term in step.terms)

        def watched(frame: Frame) -> Value:
            value = logic(frame)
            tracker = frame.tracker
            assert tracker is not None  # noqa: S101
            tracker.drop(*dropped)
            tracker.push(identifier, value)
            return value

        return watched

    def _equality(self, step: Equality, names: _Names | None) -> Run:
        left, right, negated = self.run(step.left, names), self.run(step.right, names), step.negated
        equal = cel_values.equal

        def equality(frame: Frame) -> Value:
            mine, theirs = left(frame), right(frame)
            if type(mine) is Err:
                return mine
            if type(theirs) is Err:
                return theirs
            result = equal(mine, theirs)
            return result is not True if negated else result

        function, overload = ("_!=_", "not_equals") if negated else ("_==_", "equals")
        return self._charged(step.id, (step.left, step.right), equality, (function, overload))

    # --- calls and constructors

    def _invocation(self, step: Invocation, names: _Names | None) -> Run:
        args = tuple(self.run(arg, names) for arg in step.args)
        run = _calling(step, args)
        return self._charged(step.id, step.args, run, (step.function, step.overload))

    def _charged(self, identifier: int, args: Iterable[Step], run: Run, called: tuple[str, str]) -> Run:
        """Return `run`, charged as a call when costs are counted."""
        if not self._tracked:
            return run
        ids = tuple(cel_plan.identity(arg) for arg in args)
        function, overload = called

        def charged(frame: Frame) -> Value:
            value = run(frame)
            tracker = frame.tracker
            assert tracker is not None  # noqa: S101
            values = tracker.drop_args(ids)
            cost = 0 if values is None else cel_cost.call_cost(function, overload, values, value)
            tracker.push(identifier, value, cost)
            return value

        return charged

    def _recorded(self, identifier: int, run: Run) -> Run:
        """Return `run`, its value recorded at no cost when costs are counted."""
        if not self._tracked:
            return run

        def recorded(frame: Frame) -> Value:
            value = run(frame)
            frame.tracker.push(identifier, value)  # type: ignore[union-attr]
            return value

        return recorded

    def _built(self, identifier: int, parts: Iterable[Step], run: Run, cost: int) -> Run:
        """Return `run`, charged as the construction of a list or map when costs are counted."""
        if not self._tracked:
            return run
        ids = tuple(cel_plan.identity(part) for part in parts)

        def built(frame: Frame) -> Value:
            value = run(frame)
            tracker = frame.tracker
            assert tracker is not None  # noqa: S101
            tracker.drop_args(ids)
            tracker.push(identifier, value, cost)
            return value

        return built

    def _membership(self, step: Membership, names: _Names | None) -> Run:
        value, members, key_of = self.run(step.value, names), step.members, cel_values.key_of

        def membership(frame: Frame) -> Value:
            found = value(frame)
            return found if type(found) is Err else key_of(found) in members

        return self._recorded(step.id, membership)

    def _or_else(self, step: OrElse, names: _Names | None) -> Run:
        left, right, unwrap = self.run(step.left, names), self.run(step.right, names), step.unwrap

        def or_else(frame: Frame) -> Value:
            value = left(frame)
            if type(value) is not Optional:
                return value
            if value.present:
                return value.value if unwrap else value
            return right(frame)

        return self._recorded(step.id, or_else)

    def _list(self, step: ListOf, names: _Names | None) -> Run:
        items = tuple((self.run(item, names), index in step.optional) for index, item in enumerate(step.items))

        def build(frame: Frame) -> Value:
            values: list[Value] = []
            for item, optional in items:
                value = item(frame)
                if type(value) is Err:
                    return value
                if optional:
                    if type(value) is not Optional:
                        return Err(f"cannot initialize optional list element from non-optional value {value}")
                    if not value.present:
                        continue
                    value = value.value
                values.append(value)
            return values

        return self._built(step.id, step.items, build, cel_cost.LIST_BASE)

    def _map(self, step: MapOf, names: _Names | None) -> Run:
        entries = tuple(
            (self.run(key, names), self.run(value, names), optional) for key, value, optional in step.entries
        )

        def build(frame: Frame) -> Value:
            built: dict[Any, Value] = {}
            for key_run, value_run, optional in entries:
                key = key_run(frame)
                if type(key) is Err:
                    return key
                value = value_run(frame)
                if type(value) is Err:
                    return value
                if optional:
                    if type(value) is not Optional:
                        return Err(f"cannot initialize optional entry '{key}' from non-optional value {value}")
                    if not value.present:
                        built.pop(cel_values.key_of(key), None)
                        continue
                    value = value.value
                built[cel_values.key_of(key)] = value
            return built

        parts = [part for key, value, _ in step.entries for part in (key, value)]
        return self._built(step.id, parts, build, cel_cost.MAP_BASE)

    # --- comprehensions

    def _loop(self, step: Loop, names: _Names | None) -> Run:
        iter_range, init = self.run(step.iter_range, names), self.run(step.init, names)
        inside = _Names(step, names, init, result=False)
        condition, body = self.run(step.condition, inside), self.run(step.body, inside)
        result = self.run(step.result, _Names(step, names, init, result=True))
        two = bool(step.node.iter_var2)
        entries = _pairs if two else _singles

        def loop(frame: Frame) -> Value:
            items = iter_range(frame)
            if type(items) is Err:
                return items
            if not (cel_values.is_list(items) or cel_values.is_map(items)):
                return Err(f"got '{cel_values.type_name(items)}', expected iterable type")
            inner = Frame(frame.root, frame.tracker, frame)
            for first, second in entries(items):
                inner.first, inner.second = first, second
                if condition(inner) is False:
                    break
                inner.accumulator = body(inner)
                inner.ready = True
            return _frozen(result(inner))

        if not self._tracked:
            return loop
        identifier, dropped = step.id, cel_plan.identity(step.iter_range)

        def watched(frame: Frame) -> Value:
            value = loop(frame)
            tracker = frame.tracker
            assert tracker is not None  # noqa: S101
            tracker.drop(dropped)
            tracker.push(identifier, value)
            return value

        return watched


_EMITTERS: Final[dict[type[Step], Callable[[_Emitter, Any, _Names | None], Run]]] = {
    Constant: _Emitter._constant,
    Attribute: _Emitter._attribute,
    Logic: _Emitter._logic,
    Equality: _Emitter._equality,
    Invocation: _Emitter._invocation,
    Membership: _Emitter._membership,
    OrElse: _Emitter._or_else,
    ListOf: _Emitter._list,
    MapOf: _Emitter._map,
    Loop: _Emitter._loop,
}


# --- the pieces


class _Absent:
    __slots__ = ()


_ABSENT: Final = _Absent()


class _Optionally:
    """The value of an optional field or index that is there: what follows is optional too."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


def qualify(target: Value, key: Value, *, lenient: bool) -> Value:
    """Return the field or element `key` of `target`: the value, an error, or, when lenient, _ABSENT."""
    if type(key) not in _KEYS:
        return Err(f"invalid qualifier type: {cel_values.type_name(key)}")
    if cel_values.is_map(target):
        value, found = cel_values.find(target, key)
        if found:
            return value
        return _ABSENT if lenient else Err(f"no such key: {key}")
    if cel_values.is_list(target):
        return _element(target, key, lenient=lenient)
    if type(target) is Err:
        return target
    return _ABSENT if lenient else Err(f"no such key: {key}")


_KEYS: Final = frozenset({str, int, cel_values.Uint, bool, float})


def _element(items: list[Value], key: Value, *, lenient: bool) -> Value:
    if type(key) is bool or type(key) is str:
        return Err(f"unsupported index type '{cel_values.type_name(key)}' in list")
    if type(key) is float and key != int(key) if key == key and abs(key) != float("inf") else False:  # noqa: PLR0124
        return Err(f"unsupported index value {key} in list")
    index = int(key)
    if 0 <= index < len(items):
        return items[index]
    return _ABSENT if lenient else Err(f"index out of bounds: {key}")


def _fields(base: Run, keys: list[str]) -> Run:
    """Return the fast way through constant fields, none of them optional."""

    def fields(frame: Frame) -> Value:
        value = base(frame)
        optional = type(value) is Optional
        if optional:
            if not value.present:
                return value
            value = value.value
        for key in keys:
            if type(value) is dict and key in value:
                value = value[key]
                continue
            value = qualify(value, key, lenient=optional)
            if value is _ABSENT:
                return NONE
            if type(value) is Err:
                return value
        return Optional(value) if optional else value

    return fields


def _qualified(base: Run, qualifiers: list[Callable[[Frame, Value, bool], Value]]) -> Run:
    def qualified(frame: Frame) -> Value:
        value = base(frame)
        if type(value) is Err:
            return value
        optional = type(value) is Optional
        if optional:
            if not value.present:
                return value
            value = value.value
        for apply in qualifiers:
            value = apply(frame, value, optional)
            if value is _ABSENT:
                return NONE
            if type(value) is _Optionally:
                value, optional = value.value, True
            if type(value) is Err:
                return value
        return Optional(value) if optional else value

    return qualified


def _presence(resolve: Run) -> Run:
    def presence(frame: Frame) -> Value:
        value = resolve(frame)
        return value.present if type(value) is Optional else value

    return presence


def _hop(run: Run, hops: int) -> Run:
    if hops == 0:
        return run

    def hop(frame: Frame) -> Value:
        for _ in range(hops):
            frame = frame.parent  # type: ignore[assignment]
        return run(frame)

    return hop


def _accumulator(init: Run) -> Run:
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


def _frozen(value: Value) -> Value:
    if type(value) is MutableList:
        return list(value)
    return dict(value) if type(value) is MutableMap else value


def _singles(items: Value) -> Iterable[tuple[Value, Value]]:
    if cel_values.is_list(items):
        return ((item, None) for item in items)
    return ((cel_values.value_of(key), None) for key in _ordered(items))


def _pairs(items: Value) -> Iterable[tuple[Value, Value]]:
    if cel_values.is_list(items):
        return enumerate(items)
    return ((cel_values.value_of(key), items[key]) for key in _ordered(items))


def _ordered(items: dict[Any, Value]) -> list[Any]:
    """Return the keys in one order: Kubernetes leaves it to chance, a plan may not."""
    return sorted(items, key=lambda key: ("", key) if type(key) is str else (key[0].__name__, str(key[-1])))


def _calling(step: Invocation, args: tuple[Run, ...]) -> Run:
    """Return the function that evaluates the arguments and calls; all arguments are evaluated before an error counts,
    except in a strict call, which stops at the first."""
    function = step.implementation
    if len(args) == 1 and not step.absorbs:
        (only,) = args

        def unary(frame: Frame) -> Value:
            value = only(frame)
            return value if type(value) is Err else function(value)

        return unary
    if len(args) == 2 and not step.strict:
        left, right = args

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
