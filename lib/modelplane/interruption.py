"""Whether an answer is still wanted: asked between the steps of long work, and answered by whoever had it begun.

This is no input. Work that is not interrupted has the answer it would have without; work that is has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Check: TypeAlias = Callable[[], None]
"""Returns nothing, perhaps after others had a turn, or raises `Interrupted`."""


class Interrupted(Exception):
    """Nobody waits for the answer any more. No fault of any author, so no `ModelplaneError`; nothing is to catch it."""


def _nobody() -> None:
    """Answer for whoever asks without a caller that could stop."""


_check: ContextVar[Check] = ContextVar("check", default=_nobody)


def checkpoint() -> None:
    """Ask whether to go on. Cost: less than a microsecond, so once for each step that takes longer.

    Raises: Interrupted.
    """
    _check.get()()


@contextmanager
def asking(check: Check) -> Iterator[None]:
    """Let every `checkpoint` of the block ask `check`."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)
