"""A line on the terminal that says how far long work has come, and leaves no trace."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_PATIENCE_SECONDS = 1.0
_EVERY_SECONDS = 0.1


class Progress:
    """Shows work on standard error when that is a terminal and the work takes longer than people wait."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = self._stream.isatty()
        self._started = self._last = time.monotonic()
        self._width = 0

    def __call__(self, words: str) -> None:
        """Show what is being done now."""
        if not self._is_shown:
            return
        now = time.monotonic()
        if now - self._started < _PATIENCE_SECONDS or now - self._last < _EVERY_SECONDS:
            return
        self._last = now
        self._stream.write(f"\r{words:<{self._width}}")
        self._stream.flush()
        self._width = max(self._width, len(words))

    def done(self) -> None:
        """Take the line away."""
        if self._width:
            self._stream.write(f"\r{'':<{self._width}}\r")
            self._stream.flush()
            self._width = 0
