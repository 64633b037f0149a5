"""Functions that evaluate plans, with or without a count of the cost.

Errors are values (`Err`), so that `&&`, `||` and comprehensions can absorb them. Source: the interpreter of
cel-go v0.26.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from kubecel import interruption
from kubecel.cost import costs
from kubecel.run import access, comparison, plan
from kubecel.run.access import Frame, Run
from kubecel.run.plan import (
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
from kubecel.values import maps, runtime
from kubecel.values.errors import Err, no_such_overload
from kubecel.values.runtime import Optional, Value


def program(step: Step, *, tracked: bool, minor: int) -> Run:
    """Return the function that evaluates a plan. A tracked function counts in the tracker of its frame."""
    return _Emitter(costs.charging(minor), tracked=tracked, wary=minor >= _WARY_FROM).run(step, None)


# From this version on (cel-go v0.29) or and orValue of what is no optional are an error; before, they are what it is.
_WARY_FROM: Final = 37


class _Names:
    """The names a comprehension declares, and the comprehension around it; `result` hides the iteration variables."""

    __slots__ = ("init", "loop", "outer", "result")

    def __init__(self, loop: Loop, outer: _Names | None, init: Run, *, result: bool) -> None:
        self.loop = loop
        self.outer = outer
        self.init = init
        self.result = result


class _Emitter:
    def __init__(self, charge: costs.Charge, *, tracked: bool, wary: bool) -> None:
        self._charge = charge
        self._tracked = tracked
        self._wary = wary
        self._take: access.Take = access.kept if wary else access.reread

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
            frame.tracker.push(identifier, value)  # type: ignore[union-attr]  # tracked programs run with one
            return value

        return constant

    def _attribute(self, step: Attribute, names: _Names | None) -> Run:
        resolve = self._resolver(step, names)
        if step.test_only:
            resolve = access.presence(resolve)
        if not self._tracked:
            return resolve
        inner = step.operand if step.test_only and isinstance(step.operand, Attribute) else step
        identifier = step.id if step.test_only else step.last_id()
        if inner.branches is not None and inner.condition is not None:
            yes, no = inner.branches
            dropped: tuple[int, ...] = (no.last_id(), yes.last_id(), plan.identity(inner.condition))
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
            assert isinstance(step.operand, Attribute)  # noqa: S101 - has() is of a field
            return self._resolver(step.operand, names)
        if step.branches is not None and step.condition is not None:
            return self._branching(step.condition, step.branches, names)
        base = self._variable(step.name, names) if step.operand is None else self.run(step.operand, names)
        if not step.qualifiers:
            return base if step.operand is None and names is None else access.named(base, self._take)
        keys = None if self._tracked else plan.plain_fields(step.qualifiers)
        if keys is not None:
            return access.fields(base, keys, self._take)
        qualifiers = [self._qualifier(qualifier, names) for qualifier in step.qualifiers]
        return access.qualified(base, qualifiers, self._take)

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
                return access.hop(access.accumulator(names.init), hops)
            if not names.result and name == node.iter_var:
                return access.hop(lambda frame: frame.first, hops)
            if not names.result and name == node.iter_var2:
                return access.hop(lambda frame: frame.second, hops)
            names, hops = names.outer, hops + 1
        return access.variable(name)

    def _qualifier(self, qualifier: Qualifier, names: _Names | None) -> Callable[[Frame, Value, bool], Value]:
        """Return a function of frame, object and whether absence is allowed: a value, an error, or ABSENT."""
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
                value = access.qualify(target, value, lenient=lenient or test_only)
            absent = value is access.ABSENT
            if test_only and not lenient and type(value) is not Err:
                value = not absent
                absent = False
            if tracked and not absent and not (lenient and type(value) is Err):
                frame.tracker.push(identifier, value, 1)  # type: ignore[union-attr]  # tracked programs run with one
            return value if not (optional and not absent) else access.Optionally(value)

        return apply

    # --- logic and equality

    def _logic(self, step: Logic, names: _Names | None) -> Run:
        terms = tuple([self.run(term, names) for term in step.terms])
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
        identifier, dropped = step.id, tuple(plan.identity(term) for term in step.terms)

        def watched(frame: Frame) -> Value:
            value = logic(frame)
            tracker = frame.tracker
            assert tracker is not None  # noqa: S101 - tracked programs run with one
            tracker.drop(*dropped)
            tracker.push(identifier, value)
            return value

        return watched

    def _equality(self, step: Equality, names: _Names | None) -> Run:
        left, right, negated = self.run(step.left, names), self.run(step.right, names), step.negated
        equal = comparison.equal

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
        args = tuple([self.run(arg, names) for arg in step.args])
        run = access.calling(step, args)
        return self._charged(step.id, step.args, run, (step.function, step.overload))

    def _charged(self, identifier: int, args: Iterable[Step], run: Run, called: tuple[str, str]) -> Run:
        """Return `run`, charged as a call when costs are counted."""
        if not self._tracked:
            return run
        ids = tuple(plan.identity(arg) for arg in args)
        function, overload = called
        charge = self._charge

        def charged(frame: Frame) -> Value:
            value = run(frame)
            tracker = frame.tracker
            assert tracker is not None  # noqa: S101 - tracked programs run with one
            values = tracker.drop_args(ids)
            cost = 0 if values is None else charge(function, overload, values, value)
            tracker.push(identifier, value, cost)
            return value

        return charged

    def _recorded(self, identifier: int, run: Run) -> Run:
        """Return `run`, its value recorded at no cost when costs are counted."""
        if not self._tracked:
            return run

        def recorded(frame: Frame) -> Value:
            value = run(frame)
            frame.tracker.push(identifier, value)  # type: ignore[union-attr]  # tracked programs run with one
            return value

        return recorded

    def _built(self, identifier: int, parts: Iterable[Step], run: Run, cost: int) -> Run:
        """Return `run`, charged as the construction of a list or map when costs are counted."""
        if not self._tracked:
            return run
        ids = tuple(plan.identity(part) for part in parts)

        def built(frame: Frame) -> Value:
            value = run(frame)
            tracker = frame.tracker
            assert tracker is not None  # noqa: S101 - tracked programs run with one
            tracker.drop_args(ids)
            tracker.push(identifier, value, cost)
            return value

        return built

    def _membership(self, step: Membership, names: _Names | None) -> Run:
        value, members, key_of = self.run(step.value, names), step.members, maps.key_of

        def membership(frame: Frame) -> Value:
            found = value(frame)
            return found if type(found) is Err else key_of(found) in members

        return self._recorded(step.id, membership)

    def _or_else(self, step: OrElse, names: _Names | None) -> Run:
        left, right, unwrap = self.run(step.left, names), self.run(step.right, names), step.unwrap
        wary = self._wary

        def or_else(frame: Frame) -> Value:
            value = left(frame)
            if type(value) is not Optional:
                return no_such_overload() if wary and type(value) is not Err else value
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

        return self._built(step.id, step.items, build, costs.LIST_BASE)

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
                        built.pop(maps.key_of(key), None)
                        continue
                    value = value.value
                built[maps.key_of(key)] = value
            return built

        parts = [part for key, value, _ in step.entries for part in (key, value)]
        return self._built(step.id, parts, build, costs.MAP_BASE)

    # --- comprehensions

    def _loop(self, step: Loop, names: _Names | None) -> Run:
        iter_range, init = self.run(step.iter_range, names), self.run(step.init, names)
        inside = _Names(step, names, init, result=False)
        condition, body = self.run(step.condition, inside), self.run(step.body, inside)
        result = self.run(step.result, _Names(step, names, init, result=True))
        two = bool(step.node.iter_var2)
        entries = access.pairs if two else access.singles

        def loop(frame: Frame) -> Value:
            items = iter_range(frame)
            if type(items) is Err:
                return items
            if not (runtime.is_list(items) or runtime.is_map(items)):
                return Err(f"got '{runtime.type_name(items)}', expected iterable type")
            inner = Frame(frame.root, frame.tracker, frame)
            interruption.checkpoint()
            for first, second in entries(items):
                inner.first, inner.second = first, second
                if condition(inner) is False:
                    break
                inner.accumulator = body(inner)
                inner.ready = True
            return access.frozen(result(inner))

        if not self._tracked:
            return loop
        identifier, dropped = step.id, plan.identity(step.iter_range)

        def watched(frame: Frame) -> Value:
            value = loop(frame)
            tracker = frame.tracker
            assert tracker is not None  # noqa: S101 - tracked programs run with one
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
