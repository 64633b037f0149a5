"""The errors that kubecel raises deliberately. Any other exception is a bug.

An error inside an evaluation is a value of the language (`values.errors.Err`) until no operator absorbs it.
"""

from __future__ import annotations


class KubecelError(Exception):
    """The base class of all errors of kubecel."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidExpression(KubecelError):
    """An expression that does not compile.

    `line` and `column` count from 1, and they are None for an error without a position. `offending` is the faulty text.
    The message shows the position with a caret. `diagnosis` is Kubernetes' own sentence in the message.
    """

    def __init__(
        self, diagnosis: str, *, message: str = "", place: tuple[int, int] | None = None, offending: str = ""
    ) -> None:
        super().__init__(message or diagnosis)
        self.diagnosis = diagnosis
        self.line: int | None = place[0] if place else None
        self.column: int | None = place[1] if place else None
        self.offending = offending


class EvaluationError(KubecelError):
    """An evaluation without a value, because of an error that no operator absorbs, or at the cost limit."""


class InvalidQuantity(KubecelError):
    """Text that is not a Kubernetes quantity or version. The message is Kubernetes' own."""
