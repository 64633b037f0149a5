"""What can go wrong inside the CEL engine, before it reaches a caller."""

from __future__ import annotations

from typing import Final

from modelplane.errors import InvalidSelector


class CompileError(Exception):
    """The expression does not compile; `offset` counts code points, None where no place is known."""

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class Abort(Exception):
    """The evaluation ends here, whatever `||` stands around it: the cost limit, or a fault inside Kubernetes."""


PARTS_MAX: Final = 1 << 22
"""Elements that one evaluation puts into lists, and characters in a text it makes, without paying for them.

Kubernetes has no such bound where the cost of a step does not follow what the step makes (lists are joined for a
cost of 1, texts are replaced for the cost of reading them): there the process ends for want of memory instead.
"""


def bounded(parts: int) -> int:
    """Return `parts`, when that many can be made.

    Raises: Abort.
    """
    if parts > PARTS_MAX:
        raise Abort(f"operation cancelled: a value of more than {PARTS_MAX} parts is not made")
    return parts


class Err:
    """A CEL error as a value: `&&`, `||`, `all` and `exists` may absorb it."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message

    def __repr__(self) -> str:
        return f"Err({self.message!r})"


def no_such_overload() -> Err:
    """Return the error of a function that is not defined for the values it got."""
    return Err("no such overload")


def located(expression: str, error: CompileError) -> InvalidSelector:
    """Return the error for the author: line, column, the text at fault and a caret under it."""
    if error.offset is None:
        return InvalidSelector(error.message)
    before = expression[: error.offset]
    line = before.count("\n") + 1
    column = error.offset - (before.rfind("\n") + 1) + 1
    source = expression.split("\n")[line - 1]
    shown = source if len(source) <= 200 else source[max(0, column - 100) : column + 100]
    caret = column if shown is source else min(column, 101)
    offending = _word(expression, error.offset)
    message = f"line {line}, column {column}: {error.message}\n | {shown}\n | {'.' * (caret - 1)}^"
    return InvalidSelector(message, place=(line, column), offending=offending)


def _word(expression: str, offset: int) -> str:
    """Return the token at `offset`."""
    end = offset + 1
    if expression[offset : offset + 1].isidentifier():
        while end < len(expression) and (expression[end].isalnum() or expression[end] == "_"):
            end += 1
    return expression[offset:end]
