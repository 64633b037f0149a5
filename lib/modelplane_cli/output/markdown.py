"""Markdown of a bounded size, in which no text of a document becomes markup.

Shape: text of documents stands in code spans, where no mention, link or tag is read. The three characters that end a
span or a cell stand outside of it as entities. Units: sizes are bytes of UTF-8.
Source: GitHub Flavored Markdown 0.29, which GitLab reads too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ROOM = 60_000
"""Bytes of a comment. GitHub takes 65,536 characters; the rest is for what a pipeline writes beside it."""
_LEAST = 4_000
"""Bytes that a section has for itself, however long those before it are."""
_NOTE = 200
"""Bytes of the line that counts what is left out of a section."""
_LONGEST = 600
"""Characters of one text."""
_APART = {"|": "&#124;", "`": "&#96;", "\\": "&#92;"}
_PARTS = re.compile(r"([|`\\])")
_UNSEEN = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of one kind between the lines that introduce and end them. `noun` is a plural that names the rows."""

    noun: str
    start: tuple[str, ...]
    rows: tuple[str, ...]
    end: tuple[str, ...] = ()


def code(text: str) -> str:
    """Return a text as code, on one line. A long one is shortened; characters that have no shape are replaced."""
    words = " ".join(text.split())
    if len(words) > _LONGEST:
        words = f"{words[:_LONGEST]}…"
    seen = "".join(_UNSEEN if unicodedata.category(one) in ("Cc", "Cf", "Cs") else one for one in words)
    return "".join(_APART.get(part) or _span(part) for part in _PARTS.split(seen))


def _span(part: str) -> str:
    """Return a code span with the spaces around its text outside, where a reader of Markdown keeps them."""
    core = part.strip(" ")
    start, _, end = part.partition(core) if core else (part, "", "")
    return f"{start}`{core}`{end}" if core else start


def table(noun: str, headings: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> Section:
    """Return a table. Its cells are Markdown already."""
    start = (
        *([title, ""] if title else []),
        _row([_heading(one) for one in headings]),
        _row(["---"] * len(headings)),
    )
    return Section(noun, start, tuple(_row(cells) for cells in rows))


def items(noun: str, title: str, rows: Sequence[str]) -> Section:
    """Return a list. Its rows are Markdown already."""
    return Section(noun, (title, ""), tuple(f"- {one}" for one in rows))


def collapsed(section: Section, summary: str) -> Section:
    """Return a section that a reader opens. The summary is text of ours."""
    start = ("<details>", f"<summary>{summary}</summary>", "", *section.start)
    return Section(section.noun, start, section.rows, (*section.end, "", "</details>"))


def _heading(words: str) -> str:
    return words if words == "URL" else words.capitalize()


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def comment(head: Sequence[str], sections: Sequence[Section], room: int = ROOM) -> str:
    """Return the lines of the head and the sections in at most `room` bytes, with a line for what is left out.

    A section may take what those after it do not need, so that the first ones are cut last.
    """
    wanted = [one for one in sections if one.rows]
    text = "".join(f"{line}\n" for line in head)
    for position, section in enumerate(wanted):
        kept_free = sum(min(_size(_whole(one)), _LEAST) for one in wanted[position + 1 :])
        text += _fitted(section, room - _size(text) - kept_free)
    return text


def _fitted(section: Section, room: int) -> str:
    whole = _whole(section)
    if _size(whole) <= room:
        return whole
    left = room - _size(_whole(Section(section.noun, section.start, (), section.end))) - _NOTE
    rows = []
    for row in section.rows:
        left -= _size(row) + 1
        if left < 0:
            break
        rows.append(row)
    note = f"{len(section.rows) - len(rows)} of {len(section.rows)} {section.noun} are left out of this comment."
    start = section.start if rows else ()
    end = section.end if rows else ()
    return _whole(Section(section.noun, start, tuple(rows), ("", f"_{note}_", *end)))


def _whole(section: Section) -> str:
    return "".join(f"{line}\n" for line in _lines(section))


def _lines(section: Section) -> Iterator[str]:
    yield ""
    yield from (*section.start, *section.rows, *section.end)


def _size(text: str) -> int:
    return len(text.encode())
