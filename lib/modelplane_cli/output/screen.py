"""The reader of a command's text: a terminal with its width and colours, or a pipe with neither."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from enum import Enum
from typing import TextIO

_NARROWEST = 40
"""The width that a terminal is taken to have if it states less."""


class Mood(Enum):
    """The state that words report. The value is its colour, as a terminal spells it."""

    GOOD = "32"
    WAITING = "33"
    BAD = "31"
    PLAIN = ""


@dataclass(frozen=True, slots=True)
class Screen:
    """A reader. Without a `width` its lines have any length."""

    width: int | None = None
    colour: bool = False

    def painted(self, words: str, mood: Mood) -> str:
        """Return the words in the colour of the mood, where the screen has colours."""
        return f"\x1b[{mood.value}m{words}\x1b[0m" if self.colour and mood.value else words


PIPE = Screen()


def of(stream: TextIO) -> Screen:
    """Return the reader of a stream."""
    if not stream.isatty():
        return PIPE
    return Screen(max(_NARROWEST, shutil.get_terminal_size().columns), wants_colour(stream))


def wants_colour(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal whose owner has not asked for no colour."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
