"""Faults of an expression, with their places in its text."""

from __future__ import annotations

from kubecel.errors import InvalidExpression


class CompileError(Exception):
    """The expression does not compile. `offset` is in code points, None if the place is unknown."""

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def located(expression: str, error: CompileError) -> InvalidExpression:
    """Return the error for the author: line, column, the text at fault and a caret under it."""
    if error.offset is None:
        return InvalidExpression(error.message)
    before = expression[: error.offset]
    line = before.count("\n") + 1
    column = error.offset - (before.rfind("\n") + 1) + 1
    source = expression.split("\n")[line - 1]
    shown = source if len(source) <= 200 else source[max(0, column - 100) : column + 100]
    caret = column if shown is source else min(column, 101)
    offending = _word(expression, error.offset)
    message = f"line {line}, column {column}: {error.message}\n | {shown}\n | {'.' * (caret - 1)}^"
    return InvalidExpression(error.message, message=message, place=(line, column), offending=offending)


def _word(expression: str, offset: int) -> str:
    """Return the token at `offset`."""
    end = offset + 1
    if expression[offset : offset + 1].isidentifier():
        while end < len(expression) and (expression[end].isalnum() or expression[end] == "_"):
            end += 1
    return expression[offset:end]
