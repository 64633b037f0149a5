"""The progress line on the terminal, which is removed at the end."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_PATIENCE_SECONDS = 1.0
_EVERY_SECONDS = 0.1


class Progress:
    """The progress of long work on standard error. It is shown only on a terminal and after a second."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = self._stream.isatty()
        self._started = self._last = time.monotonic()
        self._width = 0

    def __call__(self, words: str) -> None:
        """Show the current activity."""
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
        """Remove the line."""
        if self._width:
            self._stream.write(f"\r{'':<{self._width}}\r")
            self._stream.flush()
            self._width = 0
