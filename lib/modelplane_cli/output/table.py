"""Rows under headings, as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def lines(headings: Sequence[str], rows: Iterable[Sequence[str]], *, indent: str = "") -> list[str]:
    """Return the table's lines; a column of numbers stands to the right, the last column is never padded."""
    body = [[_one_line(cell) for cell in row] for row in rows]
    columns = list(zip(headings, *body, strict=True))
    widths = [max(map(len, column)) for column in columns]
    right = [bool(body) and all(_is_number(row[index]) for row in body) for index in range(len(headings))]
    return [indent + _written(row, widths, right) for row in (headings, *body)]


def _one_line(cell: str) -> str:
    return " ".join(cell.split())


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).isdecimal()


def _written(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = zip(row, widths, right, strict=True)
    return "  ".join(f"{cell:>{width}}" if is_right else f"{cell:<{width}}" for cell, width, is_right in cells).rstrip()
