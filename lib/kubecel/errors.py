"""The errors that kubecel raises on purpose; everything else is a bug.

An error inside an evaluation is a value of the language (`values.errors.Err`) until no operator absorbs it.
"""

from __future__ import annotations


class KubecelError(Exception):
    """The root of the tree."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidExpression(KubecelError):
    """An expression that does not compile.

    `line` and `column` count from 1 and are None where the fault has no place; `offending` is the text at fault. The
    message already shows the place with a caret; `diagnosis` is Kubernetes' own sentence in it.
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
    """An evaluation that ends without a value, for an error that nothing absorbs or at the limit of its cost."""


class InvalidQuantity(KubecelError):
    """Text that is not a Kubernetes quantity or version; the message is Kubernetes' own."""
