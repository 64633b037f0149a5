"""The problems of documents as a comment for a pull request: errors first, each with its place and its object."""

from __future__ import annotations

from collections.abc import Sequence

from modelplane_cli.documents.reading import ERROR, Problem
from modelplane_cli.output import markdown
from modelplane_cli.output.markdown import Section

MARK = "<!-- modelplane validate -->"
"""The first line, by which a pipeline finds the comment that it wrote before."""
_HEADINGS = ("PLACE", "OBJECT", "FIELD", "PROBLEM")


def text(problems: Sequence[Problem], documents: int) -> str:
    """Return the comment, of at most `markdown.ROOM` bytes."""
    errors = [one for one in problems if one.severity == ERROR]
    warnings = [one for one in problems if one.severity != ERROR]
    said = [_number(documents, "document")]
    said += [f"**{_number(len(errors), 'error')}**"] if errors else []
    said += [_number(len(warnings), "warning")] if warnings else []
    said += [] if problems else ["no problem"]
    head = [MARK, "### Modelplane validate", "", ", ".join(said)]
    return markdown.comment(head, [_table("errors", errors), _table("warnings", warnings)])


def _table(noun: str, problems: Sequence[Problem]) -> Section:
    rows = [[markdown.code(cell) for cell in _cells(one)] for one in problems]
    return markdown.table(noun, _HEADINGS, rows, f"**{noun.capitalize()}**")


def _cells(one: Problem) -> tuple[str, ...]:
    # A selector's message shows the expression and a caret below, which need lines of their own.
    place = f"{one.file}:{one.line}" if one.line else one.file
    return place, one.subject, one.path, one.message.partition("\n")[0]


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
