"""The syntax tree of an expression, with the lexer, the parser and the macros that build it."""

from kubecel.syntax.tree import Call, Fold, Ident, ListNode, Literal, MapNode, Message, Node, Select, walk

__all__ = ["Call", "Fold", "Ident", "ListNode", "Literal", "MapNode", "Message", "Node", "Select", "walk"]
