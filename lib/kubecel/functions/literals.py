"""Checks of literals that need the functions of the library.

Source: cel/validator.go and ext/formatting.go of cel-go v0.26.0, as Kubernetes enables them from 1.29.
"""

from __future__ import annotations

from typing import Final

from kubecel.check.checker import Checked
from kubecel.functions import formatting
from kubecel.run.plan import Functions
from kubecel.syntax import tree
from kubecel.syntax.errors import CompileError
from kubecel.syntax.tree import Call, ListNode, Literal
from kubecel.values.errors import Err

_LOOKED_AT: Final = frozenset({"duration", "timestamp", "matches", "format"})


def validate(checked: Checked, functions: Functions) -> None:
    """Check literal durations, timestamps and patterns, and the arguments of format().

    Raises: CompileError. As in Kubernetes, the first argument in parentheses is checked, so the subject of the global
    `matches(text, pattern)` is checked as a pattern too.
    """
    if _LOOKED_AT.isdisjoint(checked.functions):
        return
    for node in tree.walk(checked.root):
        if not isinstance(node, Call):
            continue
        if node.function in ("duration", "timestamp", "matches") and node.args:
            _argument(node, functions)
        elif node.function == "format" and node.target is not None:
            _format(node, checked)


def _argument(node: Call, functions: Functions) -> None:
    argument = node.args[0]
    if not isinstance(argument, Literal):
        return
    function = functions[node.function]
    result = function("", argument.value) if node.function == "matches" else function(argument.value)
    if isinstance(result, Err):
        raise CompileError(f"invalid {node.function} argument", argument.offset)


def _format(node: Call, checked: Checked) -> None:
    if not (isinstance(node.target, Literal) and isinstance(node.target.value, str)):
        return
    if len(node.args) == 1 and isinstance(node.args[0], ListNode):
        formatting.check(node, node.args[0].elements, checked)
