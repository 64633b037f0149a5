"""Rows under headings, as people read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from modelplane_cli.output import folding
from modelplane_cli.output.screen import PIPE, Mood, Screen

_GAP = "  "


def lines(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    indent: str = "",
    screen: Screen = PIPE,
    alarms: Collection[str] = (),
) -> list[str]:
    """Return the table's lines; a column of numbers stands to the right, the last column is never padded.

    A table wider than the screen has cells of several lines. Cells with one of the words `alarms` are painted.
    """
    body = [[_one_line(cell) for cell in row] for row in rows]
    columns = list(zip(headings, *body, strict=True))
    right = [bool(body) and all(_is_number(row[index]) for row in body) for index in range(len(headings))]
    layout = _Layout(_widths(columns, headings, indent, screen), right, screen, alarms)
    return [indent + line for row in (headings, *body) for line in layout.written(row)]


def narrowest(headings: Sequence[str]) -> int:
    """Return the width of a table in which no word of a heading can be narrowed any more."""
    return sum(map(folding.longest_word, headings)) + len(_GAP) * (len(headings) - 1)


def by_number(name: str) -> tuple[str, int]:
    """Return the sort key that orders names by the number they end in: replica 2 before replica 10."""
    stem, _, end = name.rpartition("-")
    return (stem, int(end)) if end.isascii() and end.isdecimal() else (name, -1)


def _widths(columns: Sequence[Sequence[str]], headings: Sequence[str], indent: str, screen: Screen) -> list[int]:
    if screen.width is None:
        return [max(map(folding.width, column)) for column in columns]
    return folding.narrowed(columns, headings, screen.width - len(indent) - len(_GAP) * (len(columns) - 1))


def _one_line(cell: str) -> str:
    return " ".join(cell.split())


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).isdecimal()


@dataclass(frozen=True, slots=True)
class _Layout:
    widths: Sequence[int]
    right: Sequence[bool]
    screen: Screen
    alarms: Collection[str]

    def written(self, row: Sequence[str]) -> Iterator[str]:
        """Yield the lines of a row: as many as its highest cell has."""
        cells = [
            [cell] if folding.width(cell) <= wide else folding.folded(cell, wide)
            for cell, wide in zip(row, self.widths, strict=True)
        ]
        moods = [Mood.BAD if cell in self.alarms else Mood.PLAIN for cell in row]
        for parts in zip_longest(*cells, fillvalue=""):
            yield self._line(parts, moods)

    def _line(self, parts: Sequence[str], moods: Sequence[Mood]) -> str:
        last = max((index for index, part in enumerate(parts) if part), default=-1)
        cells = []
        for index, (part, mood) in enumerate(zip(parts[: last + 1], moods, strict=False)):
            padding = " " * (self.widths[index] - folding.width(part))
            words = self.screen.painted(part, mood) if part else part
            if self.right[index]:
                cells.append(padding + words)
            else:
                cells.append(words if index == last else words + padding)
        return _GAP.join(cells)
