"""The highest cost of an expression, computed without evaluating it. The API server refuses selectors above its limit.

Source: checker/cost.go and ext/{lists,sets}.go of cel-go v0.26.0, pkg/cel/library/cost.go of k8s.io/apiserver
v0.36.2, the sizes of k8s.io/dynamic-resource-allocation v0.36.2. Numbers saturate at 2**64 - 1 as there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kubecel import caches
from kubecel.check import typesystem
from kubecel.check.checker import Checked
from kubecel.check.typesystem import Type
from kubecel.cost import estimate_calls
from kubecel.cost.costs import LIST_BASE, MAP_BASE
from kubecel.cost.ranges import FREE, ONE, UNKNOWN, Call, Operand, Path, Range
from kubecel.cost.shapes import Shape
from kubecel.syntax.tree import ACCUMULATOR, Fold, Ident, ListNode, Literal, MapNode, Node, Select
from kubecel.syntax.tree import Call as CallNode

_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_WRITTEN: Final = frozenset({Literal, ListNode, MapNode})
_ACCUMULATORS: Final = frozenset({ACCUMULATOR, "@result"})
_UNITING: Final = frozenset({"conditional", "add_string", "add_bytes", "add_list"})
_INDEXING: Final = {"index_list": "@items", "index_map": "@values"}
_CHARGED_TARGETS: Final = frozenset({"map", "struct", "param"})


class Sizes:
    """The declared sizes of variables and their contents."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self._shapes = shapes
        # Every node of every expression is asked about, and few paths are ever named.
        self.at: Callable[[Path], Range | None] = caches.bounded(self._at, 1024)

    def _at(self, path: Path) -> Range | None:
        """Return the size of what `path` leads to, None where nothing is declared."""
        shape = self._shapes.get(path[0]) if path else None
        for name in path[1:]:
            shape = shape.follow(name) if shape is not None else None
        return None if shape is None else Range(0, shape.size)


@dataclass(frozen=True, slots=True)
class _Entries:
    """The sizes of keys and values of a list or map."""

    kind: str
    key: Range
    value: Range

    def union(self, other: _Entries | None) -> _Entries | None:
        return None if other is None else _Entries(self.kind, self.key.union(other.key), self.value.union(other.value))


@dataclass(frozen=True, slots=True)
class _Local:
    """A variable of a comprehension."""

    path: Path
    size: Range | None
    entries: _Entries | None = None


def estimate(checked: Checked, sizes: Sizes, minor: int) -> Range:
    """Return the lowest and the highest cost of the expression in Kubernetes 1.`minor`."""
    return _Estimator(checked, sizes, minor).cost(checked.root)


class _Estimator:
    def __init__(self, checked: Checked, sizes: Sizes, minor: int) -> None:
        self._minor = minor
        self._declared_size = sizes.at
        self._types = checked.types
        self._overloads = checked.overloads
        self._has_folds = checked.has_folds
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Node) -> Range:
        """Return the cost of evaluating the node."""
        charge = _COSTS.get(type(node))
        return FREE if charge is None else charge(self, node)

    def _comprehension(self, node: Fold) -> Range:
        return self._bind(node) if node.is_bind else self._fold(node)

    # --- names

    def _ident(self, node: Ident) -> Range:
        local = self._local(node.name) if self._locals else None
        self._paths[node.id] = (node.name,) if local is None else local.path
        return ONE

    def _select(self, node: Select) -> Range:
        operand = self.cost(node.operand)
        if node.test_only:
            return operand
        type_ = self._types.get(node.operand.id, typesystem.DYN)
        path = self._path(node.operand) if self._locals else self._paths.get(node.operand.id, ())
        self._paths[node.id] = (*path, node.field)
        return operand + ONE if type_.kind in _CHARGED_TARGETS else operand

    def _local(self, name: str) -> _Local | None:
        stack = self._locals.get(name)
        return stack[-1] if stack else None

    def _push(self, name: str, local: _Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _pop(self, name: str) -> None:
        self._locals[name].pop()

    def _path(self, node: Node) -> Path:
        if self._locals and isinstance(node, Ident):
            local = self._local(node.name)
            if local is not None:
                return local.path
        return self._paths.get(node.id, ())

    # --- sizes

    def _size(self, node: Node) -> Range | None:
        """Return the size of the node's value, None where nothing is known."""
        return self._size_at(node, self._path(node) if self._locals else self._paths.get(node.id, ()))

    def _size_at(self, node: Node, path: Path) -> Range | None:
        known = self._sizes.get(node.id)
        if known is not None:
            return known
        if type(node) in _WRITTEN:
            return _written_size(node)
        declared = self._declared_size(path) if path else None
        if declared is not None:
            self._sizes[node.id] = declared
            return declared
        type_ = self._types.get(node.id, typesystem.DYN)
        if type_.kind in _SCALARS or (type_.kind == "opaque" and _is_scalar(type_)):
            return ONE
        if isinstance(node, Ident):
            local = self._local(node.name)
            return None if local is None else local.size
        return None

    def _size_or_unknown(self, node: Node) -> Range:
        return self._size(node) or UNKNOWN

    def _entries_of(self, node: Node) -> _Entries | None:
        known = self._entries.get(node.id)
        if known is None and isinstance(node, Ident):
            local = self._local(node.name)
            return None if local is None else local.entries
        return known

    def _copy(self, target: Node, source: Node) -> None:
        size, entries = self._size(source), self._entries_of(source)
        if size is not None:
            self._sizes[target.id] = size
        if entries is not None:
            self._entries[target.id] = entries

    # --- calls

    def _call(self, node: CallNode) -> Range:
        if node.function in ("_&&_", "_||_"):
            left, right = self.cost(node.args[0]), self.cost(node.args[1])
            self._sizes[node.id] = ONE
            return Range(left.minimum, (left + right).maximum)
        if node.function == "dyn":
            cost = self.cost(node.args[0])
            self._copy(node, node.args[0])
            return cost + ONE
        overloads = self._overloads.get(node.id, ())
        if estimate_calls.are_plain(node.function, overloads):
            return self._plain(node, overloads)
        costs = [FREE if type(arg) is Literal else self.cost(arg) for arg in node.args]
        args = [self._operand(arg) for arg in node.args]
        base, target = FREE, None
        if node.target is not None:
            base = self.cost(node.target)
            target = self._operand(node.target)
        total: Range | None = None
        size: Range | None = None
        parts = tuple(args), tuple(costs)
        for overload in overloads:
            found = estimate_calls.call_cost(Call(node.function, overload, target, *parts), self._minor)
            total = found.cost if total is None else total.union(found.cost)
            if overload in _UNITING:
                self._note_entries(node, overload)
            if found.size is not None:
                size = found.size if size is None else size.union(found.size)
            if size is None:
                size = self._size(node)
        if size is not None:
            self._sizes[node.id] = size
        return base + (total or FREE)

    def _plain(self, node: CallNode, overloads: tuple[str, ...]) -> Range:
        """Return the cost of a call that costs one beside its operands, whatever these are: most calls."""
        total = ONE if overloads else FREE
        operands = node.args if node.target is None else (*node.args, node.target)
        for operand in operands:
            if type(operand) is Literal:
                continue
            cost = self.cost(operand)
            if overloads:
                total += cost
            if self._has_folds:
                self._size(operand)  # the first answer stays, also where a macro uses an expression twice
        size: Range | None = None
        for overload in overloads:
            if overload in _INDEXING:
                size = self._indexed(node, _INDEXING[overload])
            if size is None and self._has_folds:
                size = self._size(node)
        if size is not None:
            self._sizes[node.id] = size
        return total

    def _indexed(self, node: CallNode, step: str) -> Range | None:
        """Return the size of an element taken by index where it is known, noting the path to it."""
        entries = self._entries_of(node.args[0])
        self._paths[node.id] = (*self._path(node.args[0]), step)
        return None if entries is None else entries.value

    def _note_entries(self, node: CallNode, overload: str) -> None:
        pair = node.args[1:3] if overload == "conditional" else node.args[0:2]
        first, second = (self._entries_of(part) for part in pair)
        united = None if first is None else first.union(second)
        if united is not None:
            self._entries[node.id] = united

    def _operand(self, node: Node) -> Operand:
        type_ = self._types.get(node.id, typesystem.DYN)
        if type(node) is Literal:
            return Operand(type_, _written_size(node), (), node.value, True, self._declared_size)  # noqa: FBT003 - a literal
        path = self._path(node)
        size = self._size_at(node, path)
        if path and path[0] in _ACCUMULATORS:
            path = ()
        return Operand(type_, size, path, None, False, self._declared_size)  # noqa: FBT003 - no literal

    # --- literals and comprehensions

    def _list(self, node: ListNode) -> Range:
        total, size = FREE, None
        for element in node.elements:
            total += self.cost(element)
            this = self._size_or_unknown(element)
            size = this if size is None else size.union(this)
        self._entries[node.id] = _Entries("list", ONE, size or FREE)
        return total + Range(LIST_BASE, LIST_BASE)

    def _map(self, node: MapNode) -> Range:
        total = FREE
        key: Range | None = None
        value: Range | None = None
        for entry in node.entries:
            total = total + self.cost(entry.key) + self.cost(entry.value)
            key_size, value_size = self._size_or_unknown(entry.key), self._size_or_unknown(entry.value)
            key = key_size if key is None else key.union(key_size)
            value = value_size if value is None else value.union(value_size)
        self._entries[node.id] = _Entries("map", key or FREE, value or FREE)
        return total + Range(MAP_BASE, MAP_BASE)

    def _fold(self, node: Fold) -> Range:
        total = self.cost(node.iter_range) + self.cost(node.accu_init)
        self._push(node.accu_var, self._bound(node.accu_init))
        self._iterate(node)
        loop, step = self.cost(node.condition), self.cost(node.step)
        self._pop(node.iter_var)
        if node.iter_var2:
            self._pop(node.iter_var2)
        total += self.cost(node.result)
        self._pop(node.accu_var)
        count = self._size_or_unknown(node.iter_range)
        total += count * (step + loop)
        if isinstance(node.accu_init, Literal):
            size = self._size(node.accu_init)
            if size is not None:
                self._sizes[node.id] = size
        elif isinstance(node.accu_init, ListNode | MapNode):
            self._sizes[node.id] = count
            entries = self._entries_of(node.step)
            if entries is not None:
                self._entries[node.id] = entries
        return total

    def _iterate(self, node: Fold) -> None:
        """Declare the iteration variables of a fold."""
        entries = self._entries_of(node.iter_range)
        path = self._path(node.iter_range)
        kind = self._types.get(node.iter_range.id, typesystem.DYN).kind if entries is None else entries.kind
        key = _Local((*path, "@indices" if kind == "list" else "@keys"), None if entries is None else entries.key)
        value = _Local((*path, "@items" if kind == "list" else "@values"), None if entries is None else entries.value)
        if node.iter_var2:
            # The original appends both last steps to one slice. Where that has room, which it has at lengths that
            # are no powers of two, the second overwrites the first: what is declared of values counts for keys.
            overwritten = len(path) & (len(path) - 1) != 0
            self._push(node.iter_var, _Local(value.path, key.size) if overwritten else key)
            self._push(node.iter_var2, value)
        else:
            self._push(node.iter_var, value if kind == "list" else key)

    def _bind(self, node: Fold) -> Range:
        total = self.cost(node.iter_range) + self.cost(node.accu_init)
        self._push(node.accu_var, self._bound(node.accu_init))
        total += self.cost(node.result)
        self._pop(node.accu_var)
        self._copy(node, node.result)
        return total

    def _bound(self, node: Node) -> _Local:
        return _Local(self._path(node), self._size(node), self._entries_of(node))


_COSTS: Final[Mapping[type[Node], Callable[[_Estimator, Any], Range]]] = {
    Ident: _Estimator._ident,
    Select: _Estimator._select,
    CallNode: _Estimator._call,
    ListNode: _Estimator._list,
    MapNode: _Estimator._map,
    Fold: _Estimator._comprehension,
}


def _written_size(node: Node) -> Range | None:
    """Return the size of what is written in the expression itself."""
    if isinstance(node, Literal):
        value = node.value
        return Range.of(len(value)) if type(value) is str or type(value) is bytes else ONE
    if isinstance(node, ListNode):
        return Range.of(len(node.elements))
    return Range.of(len(node.entries)) if isinstance(node, MapNode) else None


def _is_scalar(type_: Type) -> bool:
    if type_.kind == "opaque" and type_.name == "optional_type":
        return _is_scalar(type_.params[0])
    return type_.kind in _SCALARS
