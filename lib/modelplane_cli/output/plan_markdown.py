"""A plan as a comment for a pull request: a summary, what changes, and the rest in parts that a reader opens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from modelplane_cli.output import markdown, plan_text, route_text
from modelplane_cli.output.markdown import Section
from modelplane_cli.output.screen import Mood
from modelplane_cli.planning.capacity import PoolUse
from modelplane_cli.planning.plan import Plan
from modelplane_cli.planning.routes import RouteRow

MARK = "<!-- modelplane plan -->"
"""The first line, by which a pipeline finds the comment that it wrote before."""
_ROUTE_HEADINGS = ("ROUTE", "CHANGE", "URL", *route_text.HEADINGS)
_OURS = {
    "CHANGE", "STATE", "PODS", "NODES", "TOTAL", "BEFORE", "USED", "FREE", "NODES IN USE", "SHARE", "ENDPOINTS",
}  # fmt: skip
"""Columns with words and numbers of ours, which need no code span."""
_PLAIN = re.compile(r"[A-Za-z0-9 .%()+>-]*\Z")
_ALARMS = (plan_text.NOT_PLACED, "lost")
_PRICES_SHOWN = 4


def text(plan: Plan, *, is_change: bool) -> str:
    """Return the comment, of at most `markdown.ROOM` bytes."""
    changed = [row for row in plan.routes if row.change != "retained" or not row.fits] if is_change else []
    summary = ", ".join(_counts(plan) if is_change else _placed(plan))
    head = [MARK, "### Modelplane plan", "", "; ".join([summary, *_prices(plan)])]
    if is_change and not plan.changes:
        head += ["", "No replica changes."]
    sections = [_attention(plan), _changes(plan), _routes(changed, "**Routes**")] if is_change else [_attention(plan)]
    return markdown.comment(head, [*sections, *_rest(plan, changed, is_change=is_change)])


def _counts(plan: Plan) -> Iterator[str]:
    for words, mood in plan_text.counted(plan):
        yield f"**{words}**" if mood is Mood.BAD else words


def _placed(plan: Plan) -> Iterator[str]:
    placed, wanted = sum(row.placed for row in plan.deployments), sum(row.wanted for row in plan.deployments)
    yield f"{placed} of {wanted} replicas placed"
    for words, mood in plan_text.counted(plan):
        if mood is Mood.BAD:
            yield f"**{words}**"


def _prices(plan: Plan) -> Iterator[str]:
    found = list(plan_text.prices(plan))
    yield from (markdown.code(one) for one in found[:_PRICES_SHOWN])
    if len(found) > _PRICES_SHOWN:
        yield f"and {len(found) - _PRICES_SHOWN} more currencies"


def _attention(plan: Plan) -> Section:
    said = [*plan.refused, *(words for row in plan.deployments for words in plan_text.trouble(row))]
    said += [f"{route_text.name(row)}: {row.route.trouble}" for row in plan.routes if not row.fits]
    return markdown.items("messages", "**Needs attention**", [markdown.code(one) for one in said])


def _changes(plan: Plan) -> Section:
    rows = [plan_text.change_cells(change) for change in plan_text.ordered(plan.changes)]
    return _table("changed replicas", plan_text.CHANGE_HEADINGS, rows, "**Replicas**")


def _routes(rows: Sequence[RouteRow], title: str = "") -> Section:
    return _table("lines of routes", _ROUTE_HEADINGS, [cells for row in rows for cells in _route(row)], title)


def _route(row: RouteRow) -> Iterator[Sequence[str]]:
    start = (route_text.name(row), row.change, route_text.url(row))
    groups = list(route_text.cells(row)) or [("",) * len(route_text.HEADINGS)]
    for position, cells in enumerate(groups):
        yield (*(start if position == 0 else ("", "", "")), *cells)


def _rest(plan: Plan, changed: Sequence[RouteRow], *, is_change: bool) -> Iterator[Section]:
    moved = plan_text.changed_pools(plan) if is_change else []
    yield markdown.collapsed(_pools(plan, moved), f"{_number(len(moved), 'pool')} whose use changes")
    placements = [cells for row in plan.deployments for cells in plan_text.placement_cells(row)]
    if is_change:
        replicas = sum(len(row.replicas) for row in plan.deployments)
        table = _table("lines of placements", plan_text.DEPLOYMENT_HEADINGS, placements)
        yield markdown.collapsed(table, f"{_number(replicas, 'placement')} after the change")
    else:
        yield _table("lines of placements", plan_text.DEPLOYMENT_HEADINGS, placements, "**Replicas**")
    also = " without a change" if is_change else ""
    others = [row for row in plan.routes if row not in changed]
    yield markdown.collapsed(_routes(others), f"{_number(len(others), 'route')}{also}")
    unmoved = [use for use in plan.pools if use not in moved]
    yield markdown.collapsed(_pools(plan, unmoved), f"{_number(len(unmoved), 'pool')}{also}")


def _pools(plan: Plan, uses: Sequence[PoolUse]) -> Section:
    before = {use.key: use for use in plan.pools_before}
    rows = [cells for use in uses for cells in plan_text.pool_cells(use, before.get(use.key))]
    return _table("lines of pools", plan_text.POOL_HEADINGS, rows)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _table(noun: str, headings: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> Section:
    cells = [[_cell(heading, cell) for heading, cell in zip(headings, row, strict=True)] for row in rows]
    return markdown.table(noun, headings, cells, title)


def _cell(heading: str, cell: str) -> str:
    if heading not in _OURS or not _PLAIN.match(cell):
        return markdown.code(cell)
    return f"**{cell}**" if cell in _ALARMS else cell
