"""A tree of lines with aligned columns, as people read it.

On a terminal no line is wider than it: what does not fit goes on below, beside the lines of the tree.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from modelplane_cli.output import folding, screen
from modelplane_cli.output.screen import Mood, Screen

_WIDEST_LABEL = 72
_ROOM = 28
"""The columns that a detail has beside its state before it goes below it."""


@dataclass(slots=True)
class Node:
    """One line: what it is about, its state, details, further lines of text, and what belongs to it."""

    label: str
    state: str = ""
    detail: str = ""
    mood: Mood = Mood.PLAIN
    remarks: Sequence[str] = ()
    inside: list[Node] = field(default_factory=list)


def text(roots: Sequence[Node], reader: Screen = screen.PIPE) -> str:
    """Return the trees one after another, columns aligned over all of them."""
    lines = [line for root in roots for line in _root_lines(root)]
    labels = max((folding.width(line.start + line.label) for line in lines if line.node and line.node.state), default=0)
    states = max((len(line.node.state) for line in lines if line.node), default=0)
    widest = _WIDEST_LABEL if reader.width is None else min(_WIDEST_LABEL, reader.width - states - 4 - _ROOM)
    columns = _Columns(max(1, min(labels, widest)), states, reader)
    return "".join(f"{written.rstrip()}\n" for line in lines for written in columns.written(line))


class _Line(NamedTuple):
    """A line of the tree. `start` stands before its label, and `below` before what does not fit beside it."""

    start: str
    below: str
    label: str
    node: Node | None


@dataclass(frozen=True, slots=True)
class _Columns:
    labels: int
    states: int
    reader: Screen

    def written(self, line: _Line) -> list[str]:
        """Return the line of a pipe, or as many lines as the terminal needs."""
        node = line.node
        room = self.reader.width
        if node is None:
            found = folding.paragraph(line.label, room, start=line.start, indent=f"{line.below}  ")
            return [self.reader.painted(one, Mood.BAD) for one in found]
        head = folding.paragraph(line.label, room, start=line.start, indent=f"{line.below}  ")
        if not node.state and not node.detail:
            return head
        state = self.reader.painted(f"{node.state:<{self.states}}", node.mood)
        before = f"{_padded(head[-1], self.labels)}  "
        if room is not None and folding.width(before) + self.states > room:
            before = f"{_padded(line.below, self.labels)}  "
            head.append("")
        place = folding.width(before) + self.states + 2
        first, *rest = self._detail(node.detail, place, self._hang(line.below))
        hang = place if self._has_column(place) else self._hang(line.below)
        return [*head[:-1], f"{before}{state}  {first}", *(f"{_padded(line.below, hang)}{one}" for one in rest)]

    def _detail(self, detail: str, place: int, hang: int) -> list[str]:
        """Return the lines of a detail that begins at `place`; where no column is left, the first is empty."""
        room = self.reader.width
        if room is None or place + folding.width(detail) <= room:
            return [detail]
        if self._has_column(place):
            return folding.folded(detail, room - place)
        return ["", *folding.folded(detail, max(1, room - hang))]

    def _has_column(self, place: int) -> bool:
        return self.reader.width is None or self.reader.width - place >= _ROOM

    def _hang(self, below: str) -> int:
        """Return the column at which a detail goes on that has no room beside its state."""
        return max(folding.width(below) + 2, min(self.labels + 2, (self.reader.width or 0) - _ROOM))


def _padded(words: str, columns: int) -> str:
    return words + " " * max(0, columns - folding.width(words))


def _root_lines(root: Node) -> Iterator[_Line]:
    below = "│  " if root.inside else "   "
    yield _Line("", below, root.label, root)
    for remark in root.remarks:
        yield _Line("  ! ", "    ", remark, None)
    yield from _inside(root, "")


def _inside(node: Node, indent: str) -> Iterator[_Line]:
    for position, child in enumerate(node.inside, 1):
        is_last = position == len(node.inside)
        below = indent + ("   " if is_last else "│  ")
        beside = below + ("│  " if child.inside else "   ")
        yield _Line(f"{indent}{'└─' if is_last else '├─'} ", beside, child.label, child)
        for remark in child.remarks:
            yield _Line(f"{beside}! ", beside, remark, None)
        yield from _inside(child, below)


def printed(roots: Sequence[Node]) -> None:
    """Write the trees to standard output."""
    sys.stdout.write(text(roots, screen.of(sys.stdout)))
