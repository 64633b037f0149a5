"""Errors of an evaluation: those that are values, and those that end it."""

from __future__ import annotations

from typing import Final


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
