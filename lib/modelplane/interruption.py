"""Interruption of long work, between its steps, by the caller that started it.

An interruption is not an input. Work that is not interrupted returns the same answer with or without the check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Check: TypeAlias = Callable[[], None]
"""A check that returns, perhaps after others had a turn, or raises `Interrupted`."""


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


@contextmanager
def asking(check: Check) -> Iterator[None]:
    """Make every `checkpoint` of the block call `check`."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)
