"""Macros: calls that the parser replaces with other expressions.

Source: the macros of cel-go v0.26.0 (standard, optional types, bindings v0, two-variable comprehensions, lists
v3). Their expansion decides the cost of an expression, so it has the shape of the original.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Final

from kubecel.syntax import tree
from kubecel.syntax.errors import CompileError
from kubecel.syntax.tree import ACCUMULATOR, Call, Fold, Ident, ListNode, Literal, MapNode, Node, Select

_UNUSED: Final = "#unused"
_SORT_INPUT: Final = "@__sortBy_input__"


class Factory:
    """A maker of nodes with new ids, all at one place of the source."""

    def __init__(self) -> None:
        self.id: Final[Callable[[], int]] = itertools.count(1).__next__
        """Returns an id that no node has."""
        self._offset = 0

    def at(self, offset: int) -> Factory:
        """Return this factory, which now makes nodes at `offset`."""
        self._offset = offset
        return self

    def literal(self, value: Any) -> Node:
        """Return a constant."""
        return Literal(self.id(), self._offset, 0, value)

    def ident(self, name: str) -> Node:
        """Return a name."""
        return Ident(self.id(), self._offset, 0, name)

    def accumulator(self) -> Node:
        """Return the name of the accumulator."""
        return self.ident(ACCUMULATOR)

    def call(self, function: str, *args: Node) -> Node:
        """Return a call of a global function."""
        return Call(self.id(), self._offset, 0, function, None, args)

    def method(self, function: str, target: Node, *args: Node) -> Node:
        """Return a member call."""
        return Call(self.id(), self._offset, 0, function, target, args)

    def list(self, *elements: Node) -> Node:
        """Return a list literal."""
        return ListNode(self.id(), self._offset, 0, elements)

    def map(self) -> Node:
        """Return an empty map literal."""
        return MapNode(self.id(), self._offset, 0, ())

    def fold(self, range_and_vars: tuple[Node, str, str], init: Node, loop: tuple[Node, Node, Node]) -> Node:
        """Return a comprehension with the accumulator. `loop` is condition, step and result."""
        iter_range, var, var2 = range_and_vars
        return Fold(self.id(), self._offset, 0, iter_range, var, var2, ACCUMULATOR, init, *loop)

    def bind(self, name: str, init: Node, result: Node) -> Node:
        """Return `result` with `name` bound to `init`."""
        return Fold(
            self.id(),
            self._offset,
            0,
            self.list(),
            _UNUSED,
            "",
            name,
            init,
            self.literal(value=False),
            self.ident(name),
            result,
        )

    def copy(self, node: Node) -> Node:
        """Return the same expression with new ids."""
        match node:
            case Literal():
                return Literal(self.id(), node.offset, node.depth, node.value)
            case Ident():
                return Ident(self.id(), node.offset, node.depth, node.name)
            case Select():
                return Select(self.id(), node.offset, node.depth, self.copy(node.operand), node.field, node.test_only)
            case Call():
                target = None if node.target is None else self.copy(node.target)
                args = tuple(self.copy(arg) for arg in node.args)
                return Call(self.id(), node.offset, node.depth, node.function, target, args)
            case ListNode():
                return ListNode(
                    self.id(), node.offset, node.depth, tuple(self.copy(e) for e in node.elements), node.optional
                )
            case MapNode():
                entries = tuple(
                    tree.Entry(self.copy(entry.key), self.copy(entry.value), entry.optional) for entry in node.entries
                )
                return MapNode(self.id(), node.offset, node.depth, entries)
            case Fold():
                parts = (node.iter_range, node.accu_init, node.condition, node.step, node.result)
                iter_range, init, condition, step, result = (self.copy(part) for part in parts)
                names = (node.iter_var, node.iter_var2, node.accu_var)
                return Fold(self.id(), node.offset, node.depth, iter_range, *names, init, condition, step, result)
            case _:
                return node


Macro = Callable[[Factory, Node | None, tuple[Node, ...]], Node | None]
Table = Mapping[tuple[str, int, bool], Macro]


def _has(make: Factory, _target: Node | None, args: tuple[Node, ...]) -> Node:
    (arg,) = args
    if not isinstance(arg, Select):
        raise CompileError("invalid argument to has() macro", arg.offset)
    return Select(make.id(), arg.offset, 0, arg.operand, arg.field, test_only=True)


def _names(args: tuple[Node, ...], count: int, message: str) -> tuple[str, ...]:
    names: list[str] = []
    for arg in args[:count]:
        if not isinstance(arg, Ident):
            raise CompileError(message, arg.offset)
        names.append(arg.name)
    if len(set(names)) < count:
        raise CompileError(f"duplicate variable name: {names[0]}", args[1].offset)
    for name, arg in zip(names, args, strict=False):
        if name == ACCUMULATOR:
            raise CompileError("iteration variable overwrites accumulator variable", arg.offset)
    return tuple(names)


def _variables(args: tuple[Node, ...], count: int, message: str = "argument must be a simple name") -> tuple[str, str]:
    names = _names(args, count, message)
    return names[0], names[1] if count == 2 else ""


def _all(count: int) -> Macro:
    def expand(make: Factory, target: Node | None, args: tuple[Node, ...]) -> Node:
        assert target is not None  # noqa: S101 - a receiver macro has one
        variables = _variables(args, count)
        init = make.literal(value=True)
        condition = make.call("@not_strictly_false", make.accumulator())
        step = make.call("_&&_", make.accumulator(), args[count])
        return make.fold((target, *variables), init, (condition, step, make.accumulator()))

    return expand


def _exists(count: int) -> Macro:
    def expand(make: Factory, target: Node | None, args: tuple[Node, ...]) -> Node:
        assert target is not None  # noqa: S101 - a receiver macro has one
        variables = _variables(args, count)
        init = make.literal(value=False)
        condition = make.call("@not_strictly_false", make.call("!_", make.accumulator()))
        step = make.call("_||_", make.accumulator(), args[count])
        return make.fold((target, *variables), init, (condition, step, make.accumulator()))

    return expand


def _exists_one(count: int) -> Macro:
    def expand(make: Factory, target: Node | None, args: tuple[Node, ...]) -> Node:
        assert target is not None  # noqa: S101 - a receiver macro has one
        variables = _variables(args, count)
        init = make.literal(0)
        condition = make.literal(value=True)
        more = make.call("_+_", make.accumulator(), make.literal(1))
        step = make.call("_?_:_", args[count], more, make.accumulator())
        result = make.call("_==_", make.accumulator(), make.literal(1))
        return make.fold((target, *variables), init, (condition, step, result))

    return expand


def _listing(count: int, message: str) -> Macro:
    """`map` and `transformList`: with one more argument than names and transform, the first of them filters."""

    def expand(make: Factory, target: Node | None, args: tuple[Node, ...]) -> Node:
        assert target is not None  # noqa: S101 - a receiver macro has one
        variables = _variables(args, count, message)
        init, condition = make.list(), make.literal(value=True)
        step = make.call("_+_", make.accumulator(), make.list(args[-1]))
        if len(args) == count + 2:
            step = make.call("_?_:_", args[count], step, make.accumulator())
        return make.fold((target, *variables), init, (condition, step, make.accumulator()))

    return expand


def _filter(make: Factory, target: Node | None, args: tuple[Node, ...]) -> Node:
    assert target is not None  # noqa: S101 - a receiver macro has one
    variables = _variables(args, 1, "argument is not an identifier")
    init, condition = make.list(), make.literal(value=True)
    step = make.call("_+_", make.accumulator(), make.list(args[0]))
    step = make.call("_?_:_", args[1], step, make.accumulator())
    return make.fold((target, *variables), init, (condition, step, make.accumulator()))


def _mapping(*, entries: bool) -> Macro:
    def expand(make: Factory, target: Node | None, args: tuple[Node, ...]) -> Node:
        assert target is not None  # noqa: S101 - a receiver macro has one
        variables = _variables(args, 2)
        key = () if entries else (make.ident(variables[0]),)
        init, condition = make.map(), make.literal(value=True)
        step = make.call("cel.@mapInsert", make.accumulator(), *key, args[-1])
        if len(args) == 4:
            step = make.call("_?_:_", args[2], step, make.accumulator())
        return make.fold((target, *variables), init, (condition, step, make.accumulator()))

    return expand


def _optional_map(*, flat: bool) -> Macro:
    def expand(make: Factory, target: Node | None, args: tuple[Node, ...]) -> Node:
        assert target is not None  # noqa: S101 - a receiver macro has one
        variable = args[0]
        if not isinstance(variable, Ident):
            name = "optFlatMap" if flat else "optMap"
            raise CompileError(f"{name}() variable name must be a simple identifier", variable.offset)
        value = make.bind(variable.name, make.method("value", make.copy(target)), args[1])
        present = value if flat else make.call("optional.of", value)
        return make.call("_?_:_", make.method("hasValue", target), present, make.call("optional.none"))

    return expand


def _bind(make: Factory, target: Node | None, args: tuple[Node, ...]) -> Node | None:
    if not (isinstance(target, Ident) and target.name == "cel"):
        return None
    variable, init, result = args
    if not isinstance(variable, Ident):
        raise CompileError("cel.bind() variable names must be simple identifiers", variable.offset)
    return make.bind(variable.name, init, result)


def _sort_by(make: Factory, target: Node | None, args: tuple[Node, ...]) -> Node:
    if not isinstance(target, ListNode | Select | Ident | Fold | Call):
        raise CompileError(
            "sortBy can only be applied to a list, identifier, comprehension, call or select expression",
            None if target is None else target.offset,
        )
    keys = _LIST_MACRO(make, make.ident(_SORT_INPUT), args)
    assert keys is not None  # noqa: S101 - `map` always expands
    call = make.method("@sortByAssociatedKeys", make.ident(_SORT_INPUT), keys)
    return make.bind(_SORT_INPUT, target, call)


_LIST_MACRO: Final = _listing(1, "argument is not an identifier")

STANDARD: Final[Table] = {
    ("has", 1, False): _has,
    ("all", 2, True): _all(1),
    ("exists", 2, True): _exists(1),
    ("exists_one", 2, True): _exists_one(1),
    ("map", 2, True): _LIST_MACRO,
    ("map", 3, True): _LIST_MACRO,
    ("filter", 2, True): _filter,
}
OPTIONALS: Final[Table] = {
    ("optMap", 2, True): _optional_map(flat=False),
    ("optFlatMap", 2, True): _optional_map(flat=True),
}
TWO_VARIABLES: Final[Table] = {
    ("all", 3, True): _all(2),
    ("exists", 3, True): _exists(2),
    ("existsOne", 3, True): _exists_one(2),
    ("exists_one", 3, True): _exists_one(2),
    ("transformList", 3, True): _listing(2, "argument must be a simple name"),
    ("transformList", 4, True): _listing(2, "argument must be a simple name"),
    ("transformMap", 3, True): _mapping(entries=False),
    ("transformMap", 4, True): _mapping(entries=False),
    ("transformMapEntry", 3, True): _mapping(entries=True),
    ("transformMapEntry", 4, True): _mapping(entries=True),
}
LISTS: Final[Table] = {("sortBy", 2, True): _sort_by}
BINDINGS: Final[Table] = {("bind", 3, True): _bind}


def macros(minor: int) -> Table:
    """Return the macros of Kubernetes 1.`minor`."""
    lists = LISTS if minor >= 34 else {}
    return {**STANDARD, **OPTIONALS, **TWO_VARIABLES, **lists, **BINDINGS}
