"""The expression tree of CEL, as the parser builds it and every later stage reads it.

Nodes carry an id; types, overloads and resolved constants live beside the tree, keyed by id, never in it. Ids are
unique in one tree except where a macro uses one of its arguments twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

ACCUMULATOR = "__result__"


@dataclass(slots=True, eq=False)
class Node:
    """Any expression; `offset` is the code point the expression is reported at, `depth` its syntactic nesting."""

    id: int
    offset: int
    depth: int


@dataclass(slots=True, eq=False)
class Literal(Node):
    """A constant; `value` is a CEL value."""

    value: Any


@dataclass(slots=True, eq=False)
class Ident(Node):
    """A name; a leading dot is part of it until the checker resolves it."""

    name: str


@dataclass(slots=True, eq=False)
class Select(Node):
    """`operand.field`, or `has(operand.field)` when `test_only`."""

    operand: Node
    field: str
    test_only: bool = False


@dataclass(slots=True, eq=False)
class Call(Node):
    """A function or operator call; `target` is the receiver of a member call.

    The checker moves a namespaced function (`sets.contains`) from target and name into the name.
    """

    function: str
    target: Node | None
    args: tuple[Node, ...]


@dataclass(slots=True, eq=False)
class ListNode(Node):
    """A list literal; `optional` holds the positions written `?x`."""

    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Entry:
    """One entry of a map literal."""

    key: Node
    value: Node
    optional: bool


@dataclass(slots=True, eq=False)
class MapNode(Node):
    """A map literal."""

    entries: tuple[Entry, ...]


@dataclass(slots=True, eq=False)
class Message(Node):
    """A message literal `Type{field: value}`: parsed, never offered."""

    name: str


@dataclass(slots=True, eq=False)
class Fold(Node):
    """A comprehension. Every macro that iterates becomes one, and so does `cel.bind`."""

    iter_range: Node
    iter_var: str
    iter_var2: str
    accu_var: str
    accu_init: Node
    condition: Node
    step: Node
    result: Node

    @property
    def is_bind(self) -> bool:
        """Return whether this only binds a name: empty range, false condition, a name of the user's own."""
        return (
            isinstance(self.iter_range, ListNode)
            and not self.iter_range.elements
            and isinstance(self.condition, Literal)
            and self.condition.value is False
            and self.accu_var != ACCUMULATOR
        )


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct sub-expressions, in source order."""
    read = _CHILDREN.get(type(node))
    return () if read is None else read(node)


# a table by type is twice as fast as asking for one type after the other, and every stage asks for every node
_CHILDREN: Final[Mapping[type[Node], Callable[[Any], tuple[Node, ...]]]] = {
    Select: lambda node: (node.operand,),
    Call: lambda node: node.args if node.target is None else (node.target, *node.args),
    ListNode: lambda node: node.elements,
    MapNode: lambda node: tuple(part for entry in node.entries for part in (entry.key, entry.value)),
    Fold: lambda node: (node.iter_range, node.accu_init, node.condition, node.step, node.result),
}


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and everything under it, parents first."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))
