"""The headroom as people read it: what may be lost, one at a time, any so many at once, and at most."""

from __future__ import annotations

from collections.abc import Sequence

from modelplane import words
from modelplane_cli.output import folding, table
from modelplane_cli.output.screen import PIPE, Screen
from modelplane_cli.planning import headroom_groups
from modelplane_cli.planning.headroom import Headroom, Trial
from modelplane_cli.planning.headroom_groups import Groups, Row

_SINGLES_SHOWN = 100
_NAMED = 8
_GROUP_HEADINGS = ("CLUSTERS", "DEVICES", "LOST WHOLE", "ANY CLUSTERS LOST", "MOST DEVICES LOST", "WHY NOT WHOLE")


def clusters(found: Headroom, screen: Screen = PIPE) -> str:
    """Return the headroom: each cluster alone, how many at once, and the largest set."""
    shown = found.singles if len(found.singles) <= _SINGLES_SHOWN else [one for one in found.singles if not one.fits]
    rows = [
        (
            trial.clusters[0],
            str(trial.devices),
            "yes" if trial.fits else "no",
            "; ".join(f"{one.deployment}: {one.count} without a place" for one in trial.worse),
        )
        for trial in shown[:_SINGLES_SHOWN]
    ]
    lines = table.lines(("LOST", "DEVICES", "FITS", "WHY NOT"), rows, screen=screen, alarms=("no",)) if rows else []
    if len(rows) < len(found.singles):
        fit = sum(trial.fits for trial in found.singles)
        lines.append(f"{fit} of {len(found.singles)} clusters can be lost, one at a time; -o json has them all")
    said = [_any(found), _largest(found)]
    if not found.complete:
        said.append(f"the search stopped after {found.tried} losses; not all larger ones were tried")
    return _joined(lines, said, screen)


def _joined(rows: Sequence[str], said: Sequence[str], screen: Screen) -> str:
    """Return the rows of a table and the sentences after it, each in the width of the screen."""
    lines = [line for one in said for line in folding.fitted(one, screen.width)]
    return "".join(f"{line}\n" for line in (*rows, *([""] if rows else []), *lines))


def _any(found: Headroom) -> str:
    if not found.any_clusters:
        return "no headroom: there is a cluster whose loss leaves something without a place"
    which = "one cluster" if found.any_clusters == 1 else f"{found.any_clusters} clusters"
    return f"any {which} may be lost"


def _largest(found: Headroom) -> str:
    if found.largest is None:
        return "no cluster can be lost"
    lost, devices = found.largest.clusters, found.largest.devices
    if len(lost) > _NAMED:
        who = f"{words.first(lost, _NAMED)} (-o json has them all)"
        return f"the largest loss {'that fits' if found.complete else 'found that fits'}: {who} ({devices} devices)"
    return f"the largest loss that fits: {' and '.join(lost)} ({devices} devices)"


def groups(found: Groups, screen: Screen = PIPE) -> str:
    """Return the headroom by groups: the loss of each whole group, how many clusters of it, and any groups at once."""
    noun = _noun(found)
    rows = [_group(row) for row in found.rows[:_SINGLES_SHOWN]]
    lines = table.lines((noun.upper(), *_GROUP_HEADINGS), rows, screen=screen, alarms=("no",)) if rows else []
    if len(rows) < len(found.rows):
        lines.append(f"{len(found.rows) - len(rows)} more; -o json has them all")
    said = [*_of_groups(found, noun)]
    if found.ungrouped:
        whose = "no pool" if found.by == headroom_groups.CLASS else f"no label {found.by}"
        said.append(f"in no group, because they have {whose}: {words.first(found.ungrouped, _NAMED)}")
    if not (found.complete and all(row.complete for row in found.rows)):
        said.append("the search stopped before all larger losses were tried; what is not proven may fit")
    return _joined(lines, said, screen)


def _noun(found: Groups) -> str:
    return found.by.rpartition("/")[2] or found.by


def _group(row: Row) -> tuple[str, ...]:
    most = 0 if row.largest is None else row.largest.devices
    return (
        row.name,
        str(len(row.whole.clusters)),
        str(row.whole.devices),
        "fits" if row.whole.fits else "no",
        f"{row.any_clusters}{'' if row.complete else '+'}",
        f"{most}{'' if row.complete else '+'}",
        _missing(row.whole),
    )


def _missing(trial: Trial) -> str:
    return "; ".join(f"{one.deployment}: {one.count} without a place" for one in trial.worse)


def _of_groups(found: Groups, noun: str) -> Sequence[str]:
    if not found.any_groups:
        which = ", ".join(row.name for row in found.rows if not row.whole.fits)
        first = f"no headroom by {noun}: the loss of {which} leaves something without a place"
    else:
        which = "one" if found.any_groups == 1 else str(found.any_groups)
        first = f"any {which} of them may be lost"
    if found.largest is None:
        return first, f"no {noun} can be lost"
    lost, trial = found.largest
    return first, f"the largest loss that fits: {words.first(lost, _NAMED)} ({trial.devices} devices)"
