"""The text of an expression as a tree: its nodes, and what makes them of tokens, grammar and macros."""

from kubecel.syntax.tree import Call, Fold, Ident, ListNode, Literal, MapNode, Message, Node, Select, walk

__all__ = ["Call", "Fold", "Ident", "ListNode", "Literal", "MapNode", "Message", "Node", "Select", "walk"]
