"""What can go wrong inside the CEL engine, before it reaches a caller."""

from __future__ import annotations


class CompileError(Exception):
    """The expression does not compile; `offset` counts code points, None where no place is known."""

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class Abort(Exception):
    """The evaluation ends here, whatever `||` stands around it: the cost limit, or a fault inside Kubernetes."""


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
