"""The types of all expressions of a tree, and the overloads to which their calls may resolve.

Source: the type checker of cel-go v0.26.0 with homogeneous aggregate literals, and the literal validators
Kubernetes adds (those that need no evaluation; the others run when the program is planned).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Final

from kubecel.check import typesystem
from kubecel.check.signatures import Overload
from kubecel.check.typesystem import Type
from kubecel.syntax import tree
from kubecel.syntax.errors import CompileError
from kubecel.syntax.tree import Call, Fold, Ident, ListNode, Literal, MapNode, Message, Node, Select
from kubecel.values.runtime import Uint

_LITERALS: Final[Mapping[type, Type]] = {
    bool: typesystem.BOOL,
    bytes: typesystem.BYTES,
    float: typesystem.DOUBLE,
    int: typesystem.INT,
    type(None): typesystem.NULL,
    str: typesystem.STRING,
    Uint: typesystem.UINT,
}
TYPE_NAMES: Final[Mapping[str, Type]] = {
    "bool": typesystem.BOOL,
    "bytes": typesystem.BYTES,
    "double": typesystem.DOUBLE,
    "google.protobuf.Duration": typesystem.DURATION,
    "int": typesystem.INT,
    "list": typesystem.list_of(typesystem.param("A")),
    "map": typesystem.map_of(typesystem.param("A"), typesystem.param("B")),
    "net.CIDR": typesystem.NETWORK,
    "net.IP": typesystem.ADDRESS,
    "null_type": typesystem.NULL,
    "optional_type": typesystem.optional_of(typesystem.param("V")),
    "string": typesystem.STRING,
    "google.protobuf.Timestamp": typesystem.TIMESTAMP,
    "type": typesystem.TYPE,
    "uint": typesystem.UINT,
}
_RESOLVED_LIMIT: Final = 4096


@dataclass(frozen=True, slots=True)
class Declarations:
    """The declarations of an environment: functions, variables, and the fields of its object types.

    `resolved` caches the overloads of calls with closed types, which no expression around them can change. It stops
    growing at some thousand entries.
    """

    functions: Mapping[str, tuple[Overload, ...]]
    variables: Mapping[str, Type]
    fields: Mapping[str, Mapping[str, Type]] = field(default_factory=dict)
    resolved: dict[tuple[str, bool, tuple[Type, ...]], tuple[tuple[str, ...], Type]] = field(
        default_factory=dict, compare=False, repr=False
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """A tree with its types, the overloads of its calls, and the types its type names stand for, by node id.

    `functions` holds the name of every function that it calls, so that nobody searches the tree for an absent one.
    `has_folds` says whether there is a comprehension, whose variables and repeated nodes need more care.
    """

    root: Node
    types: Mapping[int, Type]
    overloads: Mapping[int, tuple[str, ...]]
    names: Mapping[int, str]
    functions: Set[str]
    has_folds: bool

    @property
    def result(self) -> Type:
        """The type of the whole expression."""
        return self.types[self.root.id]


def check(root: Node, declarations: Declarations) -> Checked:
    """Return the tree with its types. The tree is changed: namespaced functions get their full name.

    Raises: CompileError at the first expression without a type.
    """
    checker = _Checker(declarations)
    checker.check(root)
    types = checker.types
    for key, type_ in types.items():
        if type_.is_open:
            types[key] = checker.substitutions.resolve(type_, free_is_dyn=True)
    checked = Checked(root, types, checker.overloads, checker.names, checker.functions, checker.has_folds)
    if checker.has_aggregates:
        _homogeneous(checked)
    return checked


class _Checker:
    def __init__(self, declarations: Declarations) -> None:
        self.types: dict[int, Type] = {}
        self.overloads: dict[int, tuple[str, ...]] = {}
        self.names: dict[int, str] = {}
        self.functions: set[str] = set()
        self.has_aggregates = False
        self.has_folds = False
        self.substitutions = typesystem.Substitutions()
        self._declarations = declarations
        self._scopes: list[dict[str, Type]] = []
        self._fresh = 0

    def check(self, node: Node) -> Type:
        """Return the type of the node, remembered for later stages."""
        type_ = _LITERALS[type(node.value)] if isinstance(node, Literal) else _CHECKS[type(node)](self, node)
        self.types[node.id] = type_
        return type_

    def _message(self, node: Message) -> Type:
        raise CompileError(f"undeclared reference to '{node.name}' (in container '')", node.offset)

    # --- names

    def _lookup(self, name: str, node: Node) -> Type | None:
        """Return the type of a name, innermost scope first; a type's own name has the type `type(it)`."""
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        name = name.removeprefix(".")
        variable = self._declarations.variables.get(name)
        if variable is not None:
            return variable
        named = TYPE_NAMES.get(name)
        if named is None and name in self._declarations.fields:
            named = Type("struct", name)
        if named is None:
            return None
        self.names[node.id] = name
        return Type("type", "type", (named,))

    def _ident(self, node: Ident) -> Type:
        type_ = self._lookup(node.name, node)
        if type_ is None:
            raise CompileError(f"undeclared reference to '{node.name}' (in container '')", node.offset)
        node.name = node.name.removeprefix(".")
        return type_

    def _select(self, node: Select) -> Type:
        qualified = _qualified(node)
        if qualified is not None:
            type_ = self._lookup(qualified, node)
            if type_ is not None:
                return type_
        type_ = self._field(node, node.operand, node.field)
        return typesystem.BOOL if node.test_only else self.substitutions.resolve(type_)

    def _field(self, node: Node, operand: Node, name: str, *, optional: bool = False) -> Type:
        target, was_optional = typesystem.unwrapped(self.substitutions.resolve(self.check(operand)))
        if target.kind == "map":
            result = target.params[1]
        elif target.kind == "struct":
            fields = self._declarations.fields.get(target.name, {})
            if name not in fields:
                raise CompileError(f"undefined field '{name}'", node.offset)
            result = fields[name]
        else:
            if target.kind == "param":
                self.substitutions.assignable((typesystem.DYN,), (target,))
            elif not typesystem.is_dynamic_or_error(target):
                raise CompileError(f"type '{target}' does not support field selection", node.offset)
            result = typesystem.DYN
        return typesystem.optional_of(result) if optional or was_optional else result

    # --- calls

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            operand, name = node.args
            assert isinstance(name, Literal)  # noqa: S101 - the parser makes it so
            self.types[name.id] = typesystem.STRING
            self.overloads[node.id] = ("select_optional_field",)
            return self.substitutions.resolve(self._field(node, operand, name.value, optional=True))
        types = [self.check(arg) for arg in node.args]
        if node.target is not None:
            prefix = _qualified(node.target)
            if prefix is not None and f"{prefix}.{node.function}".removeprefix(".") in self._declarations.functions:
                node.function, node.target = f"{prefix}.{node.function}", None
            else:
                types.insert(0, self.check(node.target))
        overloads = self._declarations.functions.get(node.function)
        if overloads is None and node.function[0] == ".":
            node.function = node.function[1:]
            overloads = self._declarations.functions.get(node.function)
        if overloads is None:
            raise CompileError(f"undeclared reference to '{node.function}' (in container '')", node.offset)
        self.functions.add(node.function)
        return self._resolve(node, overloads, types)

    def _resolve(self, node: Call, overloads: tuple[Overload, ...], types: list[Type]) -> Type:
        if node.function in ("_&&_", "_||_"):
            return self._logical(node, overloads[0], types)
        key = (node.function, node.target is not None, tuple(types))
        known = self._declarations.resolved.get(key)
        if known is None:
            known = self._matching(node, overloads, types)
            closed = not (known[1].is_open or any(type_.is_open for type_ in types))
            if closed and len(self._declarations.resolved) < _RESOLVED_LIMIT:
                self._declarations.resolved[key] = known
        self.overloads[node.id], result = known
        return result

    def _matching(self, node: Call, overloads: tuple[Overload, ...], types: list[Type]) -> tuple[tuple[str, ...], Type]:
        """Return the overloads that take these types, and the type of the result."""
        found: list[str] = []
        result: Type | None = None
        is_member = node.target is not None
        for overload in overloads:
            if overload.member != is_member or len(overload.params) != len(types):
                continue
            params, overload_result = self._instantiated(overload)
            if not self.substitutions.assignable(types, params):
                continue
            found.append(overload.id)
            this = self.substitutions.resolve(overload_result)
            if result is None:
                result = this
            elif not typesystem.is_dynamic(result) and this != result:
                result = typesystem.DYN
        if result is None:
            shown = [str(self.substitutions.resolve(type_, free_is_dyn=True)) for type_ in types]
            shape = f"{shown[0]}.({', '.join(shown[1:])})" if node.target is not None else f"({', '.join(shown)})"
            raise CompileError(f"found no matching overload for '{node.function}' applied to '{shape}'", node.offset)
        return tuple(found), result

    def _logical(self, node: Call, overload: Overload, types: list[Type]) -> Type:
        for arg, type_ in zip(node.args, types, strict=True):
            if type_ is not typesystem.BOOL:
                self._assert(arg, type_, typesystem.BOOL)
        self.overloads[node.id] = (overload.id,)
        return typesystem.BOOL

    def _instantiated(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        """Return parameters and result with fresh type parameters."""
        if not overload.type_params:
            return overload.params, overload.result
        fresh = {parameter: self._new() for parameter in overload.type_params}
        return tuple(_replaced(type_, fresh) for type_ in overload.params), _replaced(overload.result, fresh)

    def _new(self) -> Type:
        self._fresh += 1
        return typesystem.param(f"_var{self._fresh}")

    def _assert(self, node: Node, type_: Type, wanted: Type) -> None:
        if not self.substitutions.assignable((type_,), (wanted,)):
            raise _mismatch(node, self.substitutions.resolve(wanted), self.substitutions.resolve(type_))

    # --- literals and comprehensions

    def _list(self, node: ListNode) -> Type:
        self.has_aggregates = True
        element: Type | None = None
        for index, item in enumerate(node.elements):
            type_ = self._element(item, optional=index in node.optional)
            element = self._joined(element, type_)
        return typesystem.list_of(self._new() if element is None else element)

    def _map(self, node: MapNode) -> Type:
        self.has_aggregates = True
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key = self._joined(key, self.check(entry.key))
            value = self._joined(value, self._element(entry.value, optional=entry.optional))
        if key is None or value is None:
            return typesystem.map_of(self._new(), self._new())
        return typesystem.map_of(key, value)

    def _element(self, node: Node, *, optional: bool) -> Type:
        type_ = self.check(node)
        if not optional:
            return type_
        element, was_optional = typesystem.unwrapped(type_)
        if not was_optional and not typesystem.is_dynamic(type_):
            raise _mismatch(node, typesystem.optional_of(type_), type_)
        return element

    def _joined(self, previous: Type | None, current: Type) -> Type:
        if previous is None:
            return current
        if not self.substitutions.assignable((previous,), (current,)):
            return typesystem.DYN
        return typesystem.most_general(previous, current)

    def _fold(self, node: Fold) -> Type:
        self.has_folds = True
        self.check(node.iter_range)
        accumulator = self.check(node.accu_init)
        range_type = self.substitutions.resolve(self.types[node.iter_range.id])
        self._scopes.append({node.accu_var: accumulator})
        first, second = self._iterated(node, range_type)
        self._scopes.append({node.iter_var: first, **({node.iter_var2: second} if node.iter_var2 else {})})
        self._assert(node.condition, self.check(node.condition), typesystem.BOOL)
        self._step(node, accumulator)
        self._scopes.pop()
        result = self.check(node.result)
        self._scopes.pop()
        return self.substitutions.resolve(result)

    def _step(self, node: Fold, accumulator: Type) -> None:
        type_ = self.check(node.step)
        if not self.substitutions.assignable((accumulator,), (type_,)):
            raise _mismatch(node.step, self.substitutions.resolve(accumulator), self.substitutions.resolve(type_))

    def _iterated(self, node: Fold, range_type: Type) -> tuple[Type, Type]:
        """Return the types of the two iteration variables (the second unused in folds over one)."""
        if range_type.kind == "list":
            element = range_type.params[0]
            return (typesystem.INT, element) if node.iter_var2 else (element, element)
        if range_type.kind == "map":
            return range_type.params[0], range_type.params[1]
        if range_type.kind in ("dyn", "error", "param"):
            self.substitutions.assignable((typesystem.DYN,), (range_type,))
            return typesystem.DYN, typesystem.DYN
        raise CompileError(
            f"expression of type '{range_type}' cannot be range of a comprehension (must be list, map, or dynamic)",
            node.iter_range.offset,
        )


_CHECKS: Final[Mapping[type[Node], Callable[[_Checker, Any], Type]]] = {
    Ident: _Checker._ident,
    Select: _Checker._select,
    Call: _Checker._call,
    ListNode: _Checker._list,
    MapNode: _Checker._map,
    Fold: _Checker._fold,
    Message: _Checker._message,
}


def _replaced(type_: Type, fresh: Mapping[Type, Type]) -> Type:
    if type_.kind == "param":
        return fresh[type_]
    if not type_.is_open:
        return type_
    return Type(type_.kind, type_.name, tuple(_replaced(part, fresh) for part in type_.params))


def _qualified(node: Node) -> str | None:
    """Return `a.b.c` for a chain of names, None for anything else."""
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.test_only:
        prefix = _qualified(node.operand)
        return None if prefix is None else f"{prefix}.{node.field}"
    return None


def _mismatch(node: Node, wanted: Type, found: Type) -> CompileError:
    return CompileError(f"expected type '{wanted}' but found '{found}'", node.offset)


def _homogeneous(checked: Checked) -> None:
    """Refuse list and map literals whose elements are not of one type, except in the arguments of `format`."""
    pending = [checked.root]
    while pending:
        node = pending.pop()
        if isinstance(node, Call) and node.function == "format":
            continue
        if isinstance(node, ListNode):
            _same(checked, [(item, index in node.optional) for index, item in enumerate(node.elements)])
        elif isinstance(node, MapNode):
            _same(checked, [(entry.key, False) for entry in node.entries])
            _same(checked, [(entry.value, entry.optional) for entry in node.entries])
        pending.extend(tree.children(node))


def _same(checked: Checked, items: list[tuple[Node, bool]]) -> None:
    first: Type | None = None
    for node, optional in items:
        type_ = checked.types[node.id]
        if optional and type_.params:
            type_ = type_.params[0]
        if first is None:
            first = type_
        elif not typesystem.equivalent(first, type_):
            raise _mismatch(node, first, type_)
