"""A tree of lines with aligned columns, as people read it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from modelplane_cli.output import screen
from modelplane_cli.output.screen import Mood

_WIDEST_LABEL = 72


@dataclass(slots=True)
class Node:
    """One line: what it is about, its state, details, further lines of text, and what belongs to it."""

    label: str
    state: str = ""
    detail: str = ""
    mood: Mood = Mood.PLAIN
    remarks: Sequence[str] = ()
    inside: list[Node] = field(default_factory=list)


def text(roots: Sequence[Node], *, colour: bool) -> str:
    """Return the trees one after another, columns aligned over all of them."""
    lines = [line for root in roots for line in _root_lines(root)]
    labels = max((len(line.label) for line in lines if line.node and line.node.state), default=0)
    states = max((len(line.node.state) for line in lines if line.node), default=0)
    columns = _Columns(min(labels, _WIDEST_LABEL), states, colour)
    return "".join(f"{columns.written(line).rstrip()}\n" for line in lines)


class _Line(NamedTuple):
    label: str
    node: Node | None


@dataclass(frozen=True, slots=True)
class _Columns:
    labels: int
    states: int
    colour: bool

    def written(self, line: _Line) -> str:
        node = line.node
        if node is None:
            return self._painted(line.label, Mood.BAD)
        if not node.state and not node.detail:
            return line.label
        state = self._painted(f"{node.state:<{self.states}}", node.mood)
        return f"{line.label:<{self.labels}}  {state}  {node.detail}"

    def _painted(self, words: str, mood: Mood) -> str:
        return f"\x1b[{mood.value}m{words}\x1b[0m" if self.colour and mood.value else words


def _root_lines(root: Node) -> Iterator[_Line]:
    yield _Line(root.label, root)
    for remark in root.remarks:
        yield _Line(f"  ! {remark}", None)
    yield from _inside(root, "")


def _inside(node: Node, indent: str) -> Iterator[_Line]:
    for position, child in enumerate(node.inside, 1):
        is_last = position == len(node.inside)
        yield _Line(f"{indent}{'└─' if is_last else '├─'} {child.label}", child)
        below = indent + ("   " if is_last else "│  ")
        gap = "│  " if child.inside else "   "
        for remark in child.remarks:
            yield _Line(f"{below}{gap}! {remark}", None)
        yield from _inside(child, below)


def printed(roots: Sequence[Node]) -> None:
    """Write the trees to standard output."""
    sys.stdout.write(text(roots, colour=screen.wants_colour(sys.stdout)))
