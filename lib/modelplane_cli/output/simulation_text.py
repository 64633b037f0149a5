"""A simulation as people read it: step by step, then the plan it leads to."""

from __future__ import annotations

from collections.abc import Iterator

from modelplane_cli.output import plan_text, table
from modelplane_cli.planning.headroom import Headroom
from modelplane_cli.planning.moves import Defragmentation
from modelplane_cli.planning.simulation import Simulation, Step

_STAGES_SHOWN = 40
_SAID_SHOWN = 8
_SINGLES_SHOWN = 100
_NAMED = 8


def text(simulation: Simulation) -> str:
    """Return every step with its stages, then the plan."""
    steps = "".join(f"{line}\n" for step in simulation.steps for line in (*_step(step), ""))
    return steps + plan_text.text(simulation.after, with_changes=False)


def _step(step: Step) -> Iterator[str]:
    counts = f"{len(step.moved)} moved, {len(step.lost)} lost or interrupted"
    missing = sum(one.count for one in step.unplaced)
    yield f"{step.event}: {counts}, {missing} without a place"
    for number, stage in enumerate(step.stages[:_STAGES_SHOWN], 1):
        ordered = sorted(stage, key=_by_number)
        for position, said in enumerate(ordered[:_SAID_SHOWN]):
            yield f"  {number:>3}. {said}" if position == 0 else f"       {said}"
        if len(stage) > _SAID_SHOWN:
            yield f"       and {len(stage) - _SAID_SHOWN} more at once; -o json has them all"
    if len(step.stages) > _STAGES_SHOWN:
        yield f"       and {len(step.stages) - _STAGES_SHOWN} more; -o json has them all"
    for one in step.unplaced:
        yield f"  ! {one.deployment}: {one.message}"
    yield from (f"  {line}" for line in plan_text.changes(step.changes))


def _by_number(said: str) -> tuple[str, int]:
    return table.by_number(said.partition(" ")[0])


def headroom(found: Headroom) -> str:
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
    lines = table.lines(("LOST", "DEVICES", "FITS", "WHY NOT"), rows) if rows else []
    if len(rows) < len(found.singles):
        fit = sum(trial.fits for trial in found.singles)
        lines.append(f"{fit} of {len(found.singles)} clusters can be lost, one at a time; -o json has them all")
    lines += [*([""] if lines else []), _any(found), _largest(found)]
    if not found.complete:
        lines.append(f"the search stopped after {found.tried} losses; not all larger ones were tried")
    return "".join(f"{line}\n" for line in lines)


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
        who = f"{', '.join(lost[:_NAMED])} and {len(lost) - _NAMED} more (-o json has them all)"
        return f"the largest loss {'that fits' if found.complete else 'found that fits'}: {who} ({devices} devices)"
    return f"the largest loss that fits: {' and '.join(lost)} ({devices} devices)"


def defragmentation(found: Defragmentation) -> str:
    """Return the moves as a table, a line each in the order in which they are made, then what has no place still."""
    rows, step = [], 0
    for one in found.rounds:
        fits = f"{one.deployment} on {', '.join(str(place) for place in one.places)}" if one.places else one.deployment
        for position, move in enumerate(one.moves, 1):
            step += 1
            why = f"makes room for {one.deployment}"
            why = f"{why}; goes before its successor has a place" if move.makes_way else why
            then = fits if position == len(one.moves) else ""
            rows.append((str(step), move.key, str(move.source), str(move.target), why, then))
        if not one.moves:
            rows.append(("", "", "", "", "room was left by the moves before", fits))
    headings = ("STEP", "REPLICA", "FROM", "TO", "WHY", "THEN FITS")
    lines = table.lines(headings, rows) if rows else []
    if not rows and not found.left:
        lines.append("nothing is without a place, so nothing has to move")
    for left in found.left:
        why = "no moves of other replicas make room" if left.decided else "not decided within the search bound"
        lines.append(
            f"! {left.deployment}: {left.count} without a place: {why}; modelplane explain says what would help"
        )
    return "".join(f"{line}\n" for line in lines)
