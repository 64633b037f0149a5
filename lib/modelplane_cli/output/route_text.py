"""The routes of services as a table for people: the URL, then a line for each group with its share by cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from modelplane_cli.output import folding, table
from modelplane_cli.output.screen import Mood, Screen
from modelplane_cli.planning import routes
from modelplane_cli.planning.routes import RouteRow, Split

HEADINGS = ("GROUP", "SHARE", "ENDPOINTS", "CLUSTERS")
_CLUSTERS_SHOWN = 6


def lines(rows: Sequence[RouteRow], screen: Screen, indent: str = "") -> list[str]:
    """Return a line for each service and a table of its groups, then the troubles; nothing without routes."""
    found = []
    for row in rows:
        found += folding.fitted(f"{indent}{_service(row)}", screen.width)
        groups = list(cells(row))
        if groups:
            found += table.lines(HEADINGS, groups, indent=f"{indent}  ", screen=screen, alarms=("0",))
    return [*found, *troubles(rows, screen, indent)]


def cells(row: RouteRow) -> Iterator[Sequence[str]]:
    """Yield the cells of each group of a route, in the order of `HEADINGS`."""
    is_compared = row.before is not None and row.after is not None
    for was, now in routes.pairs(row):
        yield (_selector(was, now), *_group(was, now, is_compared=is_compared))


def troubles(rows: Iterable[RouteRow], screen: Screen, indent: str = "") -> Iterator[str]:
    """Yield a line for each service that requests do not reach as its author wants."""
    for row in rows:
        if not row.fits:
            said = f"{name(row)}: {row.route.trouble}"
            for line in folding.paragraph(said, screen.width, start=f"{indent}! ", indent=f"{indent}  "):
                yield screen.painted(line, Mood.BAD)


def name(row: RouteRow) -> str:
    """Return namespace and name of the service."""
    return "/".join(row.route.key)


def url(row: RouteRow) -> str:
    """Return the URL of the service, before and after where it changes."""
    if row.after is None:
        return row.route.url
    return _step(row.before.url if row.before is not None else "", row.after.url) or "no URL"


def _service(row: RouteRow) -> str:
    before, after = row.before, row.after
    if after is None:
        return f"route {name(row)}  {url(row)}  removed"
    counts = _step(str(before.ready) if before is not None else "", str(after.ready))
    return f"route {name(row)}  {url(row)}  {counts} {'endpoint' if counts == '1' else 'endpoints'}"


def _selector(was: Split | None, now: Split | None) -> str:
    group = now or was
    if group is None:
        return ""
    return f"{group.selector} (priority {group.priority})" if group.priority else group.selector


def _group(was: Split | None, now: Split | None, *, is_compared: bool) -> tuple[str, str, str]:
    old, new = (group.share if group is not None else Fraction() for group in (was, now))
    ready = [str(group.ready) if group is not None else "0" for group in (was, now)]
    shown = [
        f"{cluster or 'outside the fleet'} {_shares(before.share, after.share, is_compared=is_compared, now=now)}"
        for cluster, before, after in routes.parts(was, now)
    ]
    more = [f"and {len(shown) - _CLUSTERS_SHOWN} more"] if len(shown) > _CLUSTERS_SHOWN else []
    share = _shares(old, new, is_compared=is_compared, now=now)
    counts = _step(*ready) if is_compared else ready[1] if now is not None else ready[0]
    return (share, counts, ", ".join([*shown[:_CLUSTERS_SHOWN], *more]))


def _shares(was: Fraction, now_: Fraction, *, is_compared: bool, now: Split | None) -> str:
    if is_compared:
        return _step(percent(was), percent(now_))
    return percent(now_ if now is not None else was)


def _step(was: str, now: str) -> str:
    return f"{was} -> {now}" if was and was != now else now


def percent(share: Fraction) -> str:
    """Return a share with one digit where it is no whole number; a small one is never 0%."""
    percent = share * 100
    if percent.denominator == 1:
        return f"{percent}%"
    return f"{float(percent):.1f}%" if percent >= Fraction(1, 20) else "<0.1%"
