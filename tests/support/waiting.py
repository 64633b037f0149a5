"""Waiting for what another process does, for as long as the slowest machine may take."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS_MAX = 60


def until(is_so: Callable[[], bool], what: str) -> None:
    """Return as soon as it is so. Raises: AssertionError when it never is, with what was waited for."""
    last = time.monotonic() + SECONDS_MAX
    while not is_so():
        assert time.monotonic() < last, f"waited {SECONDS_MAX} s in vain: {what}"
        time.sleep(0.02)
