"""The steps of an evaluation, planned once for each expression.

A checked tree becomes a plan: chains of names, fields and indices become one attribute, literals of constants become
constants, `in` over constants becomes a lookup. This mirrors the plans of Kubernetes, because the plan decides the
run-time cost and the faults that appear before any evaluation. Source: the planner and decorators of cel-go v0.26.0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kubecel.check import checker, typesystem
from kubecel.check.checker import Checked
from kubecel.syntax.errors import CompileError
from kubecel.syntax.tree import Call, Fold, Ident, ListNode, Literal, MapNode, Node, Select
from kubecel.values import maps, runtime
from kubecel.values.errors import Abort, Err
from kubecel.values.runtime import TypeValue, Uint, Value

Functions = Mapping[str, Callable[..., Value]]

_CONVERSIONS: Final = frozenset(
    ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"]
)
_REGEX: Final = frozenset({"matches", "find", "findAll"})
# functions of two arguments that the original binds as if they took any number: the first error ends their
# arguments; the same holds for a function chosen among several at run time, unless one implementation serves
# them all
_VARIADIC: Final = frozenset({"format"})
_KEYS: Final = frozenset({str, int, Uint, bool, float})


@dataclass(slots=True, eq=False)
class Step:
    """One step of a plan. The cost counter identifies it by `id`."""

    id: int


@dataclass(slots=True, eq=False)
class Constant(Step):
    """A value that is known before the evaluation."""

    value: Value


@dataclass(slots=True, eq=False)
class Qualifier:
    """One field or index: a constant key, or a step that computes it."""

    id: int
    key: Value
    computed: Attribute | None
    optional: bool
    test_only: bool = False


def plain_fields(qualifiers: list[Qualifier]) -> list[str] | None:
    """Return the names of the fields if all are constant and required, else None."""
    keys: list[str] = []
    for qualifier in qualifiers:
        if type(qualifier.key) is not str or qualifier.optional or qualifier.test_only:
            return None
        keys.append(qualifier.key)
    return keys


@dataclass(slots=True, eq=False)
class Attribute(Step):
    """A base with a chain of fields and indices.

    The base is a variable (`name`), the result of a step (`operand`), or, with `condition`, one of two attributes.
    """

    name: str = ""
    operand: Step | None = None
    condition: Step | None = None
    branches: tuple[Attribute, Attribute] | None = None
    qualifiers: list[Qualifier] = field(default_factory=list)
    optional: bool = False
    test_only: bool = False

    def last_id(self) -> int:
        """Return the id of the whole chain, which is that of its last part."""
        if self.branches is not None:
            yes, no = (branch.last_id() for branch in self.branches)
            return yes if yes == no else self.id
        return self.qualifiers[-1].id if self.qualifiers else self.id

    def add(self, qualifier: Qualifier) -> None:
        """Add one more field or index, to both branches if there are two."""
        if self.branches is not None:
            for branch in self.branches:
                branch.add(qualifier)
        else:
            self.qualifiers.append(qualifier)


@dataclass(slots=True, eq=False)
class Logic(Step):
    """`&&` when `decisive` is False, `||` when it is True: the first term with that value decides."""

    terms: tuple[Step, ...]
    decisive: bool


@dataclass(slots=True, eq=False)
class Equality(Step):
    """`==`, or `!=` when negated."""

    left: Step
    right: Step
    negated: bool


@dataclass(slots=True, eq=False)
class Invocation(Step):
    """A call. `overload` is empty if several are possible. A `strict` call evaluates no argument after an error."""

    function: str
    overload: str
    args: tuple[Step, ...]
    implementation: Callable[..., Value]
    strict: bool
    absorbs: bool = False


@dataclass(slots=True, eq=False)
class Membership(Step):
    """`in` over a list of constants."""

    value: Step
    members: frozenset[Any]


@dataclass(slots=True, eq=False)
class OrElse(Step):
    """`or` and `orValue` of an optional. The other side is evaluated only if it is absent."""

    left: Step
    right: Step
    unwrap: bool


@dataclass(slots=True, eq=False)
class ListOf(Step):
    """A list of computed elements."""

    items: tuple[Step, ...]
    optional: frozenset[int]


@dataclass(slots=True, eq=False)
class MapOf(Step):
    """A map of computed entries: key, value, and whether an absent value omits the entry."""

    entries: tuple[tuple[Step, Step, bool], ...]


@dataclass(slots=True, eq=False)
class Loop(Step):
    """A comprehension."""

    node: Fold
    iter_range: Step
    init: Step
    condition: Step
    body: Step
    result: Step


def identity(step: Step) -> int:
    """Return the id by which the cost counter identifies a step."""
    return step.last_id() if isinstance(step, Attribute) and not step.test_only else step.id


def plan(checked: Checked, functions: Functions) -> Step:
    """Return the plan of an expression.

    Raises: CompileError for a constant that does not convert, an invalid constant pattern, or a variable that holds a
    type.
    """
    return _Planner(checked, functions).plan(checked.root)


class _Planner:
    def __init__(self, checked: Checked, functions: Functions) -> None:
        self._checked = checked
        self._functions = functions

    def plan(self, node: Node) -> Step:
        """Return the step of a node."""
        step = _STEPS.get(type(node))
        if step is None:
            raise CompileError("unsupported expression", node.offset)
        return step(self, node)

    @staticmethod
    def _constant(node: Literal) -> Step:
        return Constant(node.id, node.value)

    def _ident(self, node: Ident) -> Step:
        return self._name(node, node.name)

    def _fold(self, node: Fold) -> Step:
        parts = (node.iter_range, node.accu_init, node.condition, node.step, node.result)
        return Loop(node.id, node, *(self.plan(part) for part in parts))

    def _name(self, node: Node, name: str) -> Step:
        named = self._checked.names.get(node.id)
        if named is not None and named in checker.TYPE_NAMES:
            return Constant(node.id, TypeValue(named))
        if self._checked.types[node.id].kind == typesystem.TYPE.kind:
            # the original takes every name of this type for that of a type it knows, a loop's own variables too
            raise CompileError(f"reference to undefined type: {name}", node.offset)
        return Attribute(node.id, name=name)

    def _select(self, node: Select) -> Step:
        if node.id in self._checked.names:
            return self._name(node, "")
        attribute = self._attribute(self.plan(node.operand))
        attribute.add(Qualifier(node.id, node.field, None, optional=False, test_only=node.test_only))
        if node.test_only:
            return Attribute(node.id, operand=attribute, test_only=True)
        return attribute

    @staticmethod
    def _attribute(step: Step) -> Attribute:
        return step if isinstance(step, Attribute) and not step.test_only else Attribute(identity(step), operand=step)

    def _call(self, node: Call) -> Step:
        operands = node.args if node.target is None else (node.target, *node.args)
        args = tuple([self.plan(operand) for operand in operands])
        if node.function[0] != "_":
            return self._invocation(node, args)
        match node.function:
            case "_&&_" | "_||_":
                return Logic(node.id, args, node.function == "_||_")
            case "_==_" | "_!=_":
                return Equality(node.id, args[0], args[1], node.function == "_!=_")
            case "_?_:_":
                return self._conditional(node, args)
            case "_[_]" | "_[?_]" | "_?._":
                return self._index(node, args[0], args[1])
            case _:
                return self._invocation(node, args)

    @staticmethod
    def _conditional(node: Call, args: tuple[Step, ...]) -> Step:
        yes, no = (
            _resolved(step) if isinstance(step, Attribute) else Attribute(step.id, operand=step) for step in args[1:]
        )
        return Attribute(node.id, condition=args[0], branches=(yes, no))

    def _index(self, node: Call, operand: Step, index: Step) -> Step:
        attribute = self._attribute(operand)
        optional = node.function != "_[_]"
        if isinstance(index, Constant):
            if type(index.value) not in _KEYS:
                raise CompileError(
                    f"program instantiation failed: invalid qualifier type: {runtime.type_name(index.value)}",
                    node.args[-1].offset,
                )
            attribute.add(Qualifier(node.id, index.value, None, optional=optional))
        else:
            computed = index if isinstance(index, Attribute) else Attribute(node.id, operand=index)
            attribute.add(Qualifier(node.id, None, computed, optional=optional))
        return attribute

    def _invocation(self, node: Call, args: tuple[Step, ...]) -> Step:
        overloads = self._checked.overloads.get(node.id, ())
        overload = overloads[0] if len(overloads) == 1 else ""
        if node.function in ("or", "orValue") and len(args) == 2:
            return OrElse(node.id, args[0], args[1], node.function == "orValue")
        if overload == "in_list" and isinstance(args[1], Constant):
            member = self._membership(node, args)
            if member is not None:
                return member
        # by overload where a name means one thing with a receiver and another without: ip()
        implementation = self._functions.get(overload) or self._functions.get(node.function, _undefined)
        dispatched = not overload and node.function != "matches" and node.function[0] not in "_@"
        strict = len(args) > 2 or node.function in _VARIADIC or dispatched
        if node.function in _REGEX and len(args) > 1 and isinstance(args[1], Constant):
            strict = self._pattern(node, args[1].value)
            if strict:
                implementation = _of_underlying(implementation)
        step = Invocation(
            node.id, node.function, overload, args, implementation, strict, node.function == "@not_strictly_false"
        )
        if node.function in _CONVERSIONS and len(args) == 1 and isinstance(args[0], Constant):
            return self._folded(node, step, args[0].value)
        return step

    def _pattern(self, node: Call, pattern: Value) -> bool:
        """Return True once the constant pattern proved to be one."""
        if type(pattern) is str:
            tried = self._functions["matches"]("", pattern)
            if isinstance(tried, Err):
                raise CompileError(f"program instantiation failed: {tried.message}", node.args[-1].offset)
            return True
        return False

    @staticmethod
    def _folded(node: Call, step: Invocation, value: Value) -> Step:
        result = step.implementation(value)
        if isinstance(result, Err):
            raise CompileError(f"program instantiation failed: {result.message}", node.args[0].offset)
        return Constant(node.id, result)

    @staticmethod
    def _membership(node: Call, args: tuple[Step, ...]) -> Step | None:
        assert isinstance(args[1], Constant)  # noqa: S101 - the caller looked
        items = args[1].value
        if not items:
            return Constant(node.id, value=False)
        if any(type(item) not in _KEYS for item in items):
            return None
        members: set[Any] = set()
        for item in items:
            members.update(_alike(item))
        return Membership(node.id, args[0], frozenset(members))

    def _list(self, node: ListNode) -> Step:
        items = tuple(self.plan(element) for element in node.elements)
        if all(isinstance(item, Constant) for item in items):
            values = [item.value for item in items if isinstance(item, Constant)]
            for index in node.optional:
                values[index] = _not_optional(values[index])
            bad = next((value for value in values if isinstance(value, Err)), None)
            return Constant(node.id, values if bad is None else bad)
        return ListOf(node.id, items, node.optional)

    def _map(self, node: MapNode) -> Step:
        entries = tuple((self.plan(entry.key), self.plan(entry.value), entry.optional) for entry in node.entries)
        if all(isinstance(key, Constant) and isinstance(value, Constant) for key, value, _ in entries):
            built: dict[Any, Value] = {}
            for key, value, optional in entries:
                assert isinstance(key, Constant) and isinstance(value, Constant)  # noqa: S101 - as `all` found
                built[_key(key.value, node)] = _not_optional(value.value) if optional else value.value
            bad = next((value for value in built.values() if isinstance(value, Err)), None)
            return Constant(node.id, built if bad is None else bad)
        return MapOf(node.id, entries)


_STEPS: Final[Mapping[type[Node], Callable[[_Planner, Any], Step]]] = {
    Literal: lambda _, node: _Planner._constant(node),
    Ident: _Planner._ident,
    Select: _Planner._select,
    Call: _Planner._call,
    ListNode: _Planner._list,
    MapNode: _Planner._map,
    Fold: _Planner._fold,
}


def _resolved(attribute: Attribute) -> Attribute:
    """Return what a branch of `?:` resolves: the chain itself, without the presence test around it."""
    return attribute.operand if attribute.test_only and isinstance(attribute.operand, Attribute) else attribute


def _of_underlying(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return the function of what the arguments stand for in Go: so the original calls where a pattern is constant."""
    return lambda *args: function(*map(runtime.underlying, args))


def _undefined(*_: Value) -> Value:
    return Err("no such overload")


def _key(value: Value, node: MapNode) -> Any:
    """Return what stands for the key of a constant map; Kubernetes' own code ends where it cannot hash it."""
    try:
        return maps.key_of(value)
    except Abort as error:
        raise CompileError(f"program instantiation failed: {error}", node.offset) from error


def _not_optional(value: Value) -> Value:
    return Err(f"cannot initialize optional list element from non-optional value {value}")


def _alike(item: Value) -> list[Any]:
    """Return the keys of every number type that equals a constant member."""
    kind = type(item)
    found = [maps.key_of(item)]
    if kind is float and math.isfinite(item) and item == int(item):
        whole = int(item)
        found += [(int, whole)] if runtime.INT_MIN <= whole <= runtime.INT_MAX else []
        found += [(Uint, Uint(whole))] if 0 <= whole <= runtime.UINT_MAX else []
    elif kind is int:
        found += [(float, float(item))] + ([(Uint, Uint(item))] if item >= 0 else [])
    elif kind is Uint:
        found += [(float, float(item))] + ([(int, int(item))] if item <= runtime.INT_MAX else [])
    return found
