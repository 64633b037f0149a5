"""Text in lines of a limited width, and the widths of the columns of a table that must fit a terminal.

Units: widths are columns of a terminal. A wide character takes two, and one that combines takes none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

_JOINTS = re.compile(r"(?<=[-/.,=:+])")
"""The places inside a word where a line may end, after which a reader expects more."""


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text
    )


def folded(text: str, room: int) -> list[str]:
    """Return the lines of a text. A line ends between words, inside a word only if the word is wider than `room`."""
    lines, line = [], ""
    for word in text.split():
        for position, piece in enumerate(_pieces(word, room)):
            gap = " " if line and position == 0 else ""
            if line and width(line) + len(gap) + width(piece) > room:
                lines.append(line)
                line = piece
            else:
                line += gap + piece
    return [*lines, line]


def paragraph(text: str, room: int | None, *, start: str = "", indent: str = "") -> list[str]:
    """Return the lines of a text after `start`; those after the first begin with `indent`."""
    if room is None or width(start) + width(text) <= room:
        return [start + text]
    first, *rest = folded(text, max(1, room - max(width(start), width(indent))))
    return [start + first, *(indent + line for line in rest)]


def fitted(line: str, room: int | None) -> list[str]:
    """Return a line as lines of at most `room` columns. Those after the first are indented a little more."""
    text = line.lstrip(" ")
    start = " " * (len(line) - len(text))
    return paragraph(text, room, start=start, indent=f"{start}  ")


def narrowed(columns: Sequence[Sequence[str]], headings: Sequence[str], room: int) -> list[int]:
    """Return the width of each column so that their sum is at most `room`, where the headings allow it.

    The widest column gives first. No word of a heading is broken, and a word of a cell only if nothing else helps.
    """
    wide = [max(map(width, column)) for column in columns]
    for least in (
        [max(map(longest_word, column)) for column in columns],
        [longest_word(heading) for heading in headings],
    ):
        while sum(wide) > room:
            able = [index for index in range(len(wide)) if wide[index] > least[index]]
            if not able:
                break
            widest = max(able, key=lambda index: wide[index])
            wide[widest] -= 1
    return wide


def longest_word(text: str) -> int:
    """Return the width of the longest word of a text."""
    return max(map(width, text.split()), default=0)


def _pieces(word: str, room: int) -> Iterator[str]:
    """Yield a word in parts of at most `room` columns, broken at its joints if that is possible."""
    if width(word) <= room:
        yield word
        return
    for part in _JOINTS.split(word):
        piece = ""
        for character in part:
            if piece and width(piece) + width(character) > room:
                yield piece
                piece = ""
            piece += character
        if piece:
            yield piece
