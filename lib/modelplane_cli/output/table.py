"""Rows under headings, as people read them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence


def lines(headings: Sequence[str], rows: Iterable[Sequence[str]], *, indent: str = "") -> list[str]:
    """Return the table's lines; a column of numbers stands to the right, the last column is never padded."""
    body = [[_one_line(cell) for cell in row] for row in rows]
    columns = list(zip(headings, *body, strict=True))
    widths = [max(map(width, column)) for column in columns]
    right = [bool(body) and all(_is_number(row[index]) for row in body) for index in range(len(headings))]
    return [indent + _written(row, widths, right) for row in (headings, *body)]


def by_number(name: str) -> tuple[str, int]:
    """Return the sort key that orders names by the number they end in: replica 2 before replica 10."""
    stem, _, end = name.rpartition("-")
    return (stem, int(end)) if end.isascii() and end.isdecimal() else (name, -1)


def _one_line(cell: str) -> str:
    return " ".join(cell.split())


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).isdecimal()


def _written(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = []
    for cell, wide, is_right in zip(row, widths, right, strict=True):
        padding = " " * (wide - width(cell))
        cells.append(padding + cell if is_right else cell + padding)
    return "  ".join(cells).rstrip()


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for a wide character, none for one that combines."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text
    )
