"""Errors that this library raises on purpose.

"Not fetched yet" and "does not fit" are values, never exceptions. An exception that is not a `ModelplaneError` is a
bug.
"""

from __future__ import annotations

from collections.abc import Mapping


class ModelplaneError(Exception):
    """The root of all errors. Only the servicer and the command catch it."""


class InvalidInput(ModelplaneError):
    """An error that the author of a document must correct.

    `path` is the field from the root of the document, for example ("spec", "nodeSelector", "cel"). A caller that knows
    only the end of the path lets its own caller add the prefix (see `under`).
    """

    reason = "InvalidInput"

    def __init__(self, message: str, *, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def under(self, *prefix: str | int) -> InvalidInput:
        """Return the same error with `prefix` added to its path."""
        self.path = (*prefix, *self.path)
        return self

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.message}" if self.path else self.message


class InvalidSelector(InvalidInput):
    """A CEL selector that does not compile, or that the API server would refuse for its cost.

    `line` and `column` count from 1 and are None if the error has no position. `offending` is the text that caused it.
    The message already marks the position with a caret. `hint` is the correction, empty if none is known.
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
        """Return the error in one line: without the caret, with the text that caused it."""
        return f"{dotted(self.path)}: {self.said}" if self.path else self.said

    @property
    def said(self) -> str:
        """Return the error in one line without the path."""
        first = self.message.partition("\n")[0].strip()
        near = f', near "{self.offending}"' if self.offending and self.offending not in first else ""
        return f"{first}{near}" + (f"; {self.hint}" if self.hint else "")


class InvalidShape(InvalidInput):
    """A topology, template or device request that cannot be built on any hardware."""

    reason = "InvalidShape"


class InvalidQuantity(InvalidInput):
    """A text that is not a Kubernetes quantity or version."""

    reason = "InvalidQuantity"


class OverBudget(InvalidInput):
    """A valid input that would cost more work than one object may. The message has the cost and the limit."""

    reason = "OverBudget"


class Unsupported(ModelplaneError):
    """A known feature that is not offered. The message says what to use instead."""

    reason = "Unsupported"

    def __init__(self, message: str, *, reason: str = "Unsupported") -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason


class NoCapableBackend(Unsupported):
    """A workload that no backend can run. `refusals` has the error of every backend that was asked, by name.

    The message has one line for each.
    """

    def __init__(self, refusals: Mapping[str, ModelplaneError]) -> None:
        self.refusals = dict(sorted(refusals.items()))
        lines = (f"{name}: {error}" for name, error in self.refusals.items())
        super().__init__("\n".join(lines), reason="NoCapableBackend")


def dotted(path: tuple[str | int, ...]) -> str:
    """Return a field path in the usual notation: `spec.containers[0].name`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
