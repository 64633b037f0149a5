"""Every error this library raises on purpose.

"Not fetched yet" and "does not fit" are values, never exceptions. An exception that is not a `ModelplaneError` is a
bug.
"""

from __future__ import annotations


class ModelplaneError(Exception):
    """Root of the tree; catch it only at an edge (servicer, command)."""


class InvalidInput(ModelplaneError):
    """The author of a document must change something.

    `path` is the field inside the document, from its root, e.g. ("spec", "nodeSelector", "cel"); a caller that knows
    only a part of the path leaves it to the next one out to prefix the rest (see `under`).
    """

    reason = "InvalidInput"

    def __init__(self, message: str, *, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def under(self, *prefix: str | int) -> InvalidInput:
        """Return the same error with `prefix` in front of its path."""
        self.path = (*prefix, *self.path)
        return self

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.message}" if self.path else self.message


class InvalidSelector(InvalidInput):
    """A CEL selector that does not compile, or that the API server would refuse for its cost.

    `line` and `column` count from 1 and are None where the fault has no place; `offending` is the text at fault. The
    message already shows the place with a caret. `hint` is what to write instead, where somebody knew.
    """

    reason = "InvalidNodeSelector"

    def __init__(
        self,
        message: str,
        *,
        path: tuple[str | int, ...] = (),
        place: tuple[int, int] | None = None,
        offending: str = "",
    ) -> None:
        super().__init__(message, path=path)
        self.line: int | None = place[0] if place else None
        self.column: int | None = place[1] if place else None
        self.offending = offending
        self.hint = ""

    @property
    def line_of_text(self) -> str:
        """Return the fault in one line, for places that have only one: without the caret, with the text at fault."""
        return f"{dotted(self.path)}: {self.said}" if self.path else self.said

    @property
    def said(self) -> str:
        """Return the same without the path."""
        first = self.message.partition("\n")[0].strip()
        near = f', near "{self.offending}"' if self.offending and self.offending not in first else ""
        return f"{first}{near}" + (f"; {self.hint}" if self.hint else "")


class InvalidShape(InvalidInput):
    """A topology, template or device request that cannot be built on any hardware."""

    reason = "InvalidShape"


class InvalidQuantity(InvalidInput):
    """Text that is not a Kubernetes quantity or version."""

    reason = "InvalidQuantity"


class OverBudget(InvalidInput):
    """Input that is valid and would cost more work than one object may: the message names the number and the limit."""

    reason = "OverBudget"


class Unsupported(ModelplaneError):
    """Known, and not offered here: the message says what to use instead."""

    reason = "Unsupported"

    def __init__(self, message: str, *, reason: str = "Unsupported") -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason


def dotted(path: tuple[str | int, ...]) -> str:
    """Return a field path as people write it: `spec.containers[0].name`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
