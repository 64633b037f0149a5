"""The situation of a fleet as people read it at night: a line for each complaint, worst first."""

from __future__ import annotations

from modelplane_cli.output import folding, table
from modelplane_cli.output.screen import PIPE, Mood, Screen
from modelplane_cli.planning import inspection, situation
from modelplane_cli.planning.situation import Severity, Situation

_HEADINGS = ("STATE", "OBJECT", "NAMESPACE", "SINCE", "WHY", "EXPLAINED BY")
_SHOWN = 50


def text(found: Situation, screen: Screen = PIPE) -> str:
    """Return one sentence and a table of what is not as wanted, which is empty where all is."""
    return "".join(f"{line}\n" for line in _lines(found, screen))


def _lines(found: Situation, screen: Screen) -> list[str]:
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(found.counts.items())) or "nothing is there"
    if found.is_as_wanted:
        return [
            screen.painted(line, Mood.GOOD) for line in folding.fitted(f"all is as wanted: {counted}", screen.width)
        ]
    weights = [one.severity for one in found.complaints]
    told = ", ".join(f"{weights.count(one)} {one.name.lower()}" for one in Severity if one in weights)
    rows = [
        (
            one.severity.name.lower(),
            inspection.subject(one.about),
            one.about.namespace or "-",
            one.cause.since or "-",
            f"{one.cause.reason}: {one.cause.message}" if one.cause.message else one.cause.reason,
            situation.explained_by(one) or "-",
        )
        for one in found.complaints[:_SHOWN]
    ]
    lines = [*folding.fitted(f"{told}, of {counted}", screen.width)]
    lines += table.lines(_HEADINGS, rows, screen=screen, alarms=("outage",))
    if len(found.complaints) > _SHOWN:
        lines.append(f"and {len(found.complaints) - _SHOWN} more; -o json has them all")
    return lines
