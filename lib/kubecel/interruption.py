"""Interruption of long work, between its steps, by the caller that started it.

An interruption is not an input. Work that is not interrupted returns the same answer with or without the check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeAlias, TypeVar

Check: TypeAlias = Callable[[], None]
"""A check that returns, perhaps after others had a turn, or raises `Interrupted`."""


BETWEEN: Final = 128
"""The items of a loop between two checkpoints."""

T = TypeVar("T")


class Interrupted(Exception):
    """The caller no longer waits for the answer. It is no author's fault, so no `ModelplaneError`; do not catch it."""


def _nobody() -> None:
    """Answer for whoever asks without a caller that could stop."""


_check: ContextVar[Check] = ContextVar("check", default=_nobody)


def checkpoint() -> None:
    """Check whether to continue. Cost: less than a microsecond, so call it once for each step that takes longer.

    Raises: Interrupted.
    """
    _check.get()()


def steps(items: Sequence[T]) -> Iterable[T]:
    """Return the items for a loop over them, with a checkpoint after each `BETWEEN`. Short sequences have none."""
    return items if len(items) <= BETWEEN else _checked(items)


def _checked(items: Sequence[T]) -> Iterator[T]:
    for start in range(0, len(items), BETWEEN):
        checkpoint()
        yield from items[start : start + BETWEEN]


@contextmanager
def asking(check: Check) -> Iterator[None]:
    """Make every `checkpoint` of the block call `check`."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)
