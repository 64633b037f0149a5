"""A simulation as people read it: a summary, then step by step what changes, then the pools whose use changes."""

from __future__ import annotations

from collections.abc import Iterator

from modelplane_cli.output import folding, plan_text, route_text, table
from modelplane_cli.output.screen import PIPE, Mood, Screen
from modelplane_cli.planning.moves import Defragmentation
from modelplane_cli.planning.simulation import Simulation, Step, Unplaced

_STAGES_SHOWN = 12
_SAID_SHOWN = 8


def text(simulation: Simulation, screen: Screen = PIPE, *, all_rows: bool = False) -> str:
    """Return a summary, every step with its changes and stages, then what else changed, or with `all_rows` the plan."""
    after = simulation.after
    steps = [list(_step(step, screen, all_rows=all_rows)) for step in simulation.steps]
    said = {_unplaced(one) for step in simulation.steps for one in step.unplaced}
    end = plan_text.whole(after, screen, all_rows=True) if all_rows else plan_text.rest(after, screen, said)
    return plan_text.joined([plan_text.summary(after, screen), *steps, *end])


def _step(step: Step, screen: Screen, *, all_rows: bool) -> Iterator[str]:
    counts = f"{len(step.moved)} moved, {len(step.lost)} lost or interrupted"
    missing = sum(one.count for one in step.unplaced)
    yield f"{step.event}: {counts}, {missing} without a place"
    yield from plan_text.changes(step.changes, screen, indent="  ")
    changed = [row for row in step.routes if row.change != "retained" or not row.fits]
    yield from route_text.lines(changed, screen, indent="  ")
    for one in step.unplaced:
        trouble = folding.paragraph(_unplaced(one), screen.width, start="  ! ", indent="    ")
        yield from (screen.painted(line, Mood.BAD) for line in trouble)
    stages = step.stages if all_rows else step.stages[:_STAGES_SHOWN]
    for number, stage in enumerate(stages, 1):
        ordered = sorted(stage, key=_by_number)
        shown = ordered if all_rows else ordered[:_SAID_SHOWN]
        for position, said in enumerate(shown):
            yield from folding.fitted(f"  {number:>3}. {said}" if position == 0 else f"       {said}", screen.width)
        if len(shown) < len(stage):
            yield f"       and {len(stage) - len(shown)} more at once; --all shows them"
    if len(stages) < len(step.stages):
        yield f"       and {len(step.stages) - len(stages)} more; --all shows them"


def _unplaced(one: Unplaced) -> str:
    return f"{one.deployment}: {one.message}"


def _by_number(said: str) -> tuple[str, int]:
    return table.by_number(said.partition(" ")[0])


def defragmentation(found: Defragmentation, screen: Screen = PIPE) -> str:
    """Return the moves as a table, a line each in the order in which they are made, then what has no place still."""
    rows, step = [], 0
    for one in found.rounds:
        fits = f"{one.deployment} on {', '.join(str(place) for place in one.places)}" if one.places else one.deployment
        for position, move in enumerate(one.moves, 1):
            step += 1
            why = f"makes room for {one.deployment}"
            why = f"{why}; is deleted before its successor has a place" if move.makes_way else why
            then = fits if position == len(one.moves) else ""
            rows.append((str(step), move.key, str(move.source), str(move.target), why, then))
        if not one.moves:
            rows.append(("", "", "", "", "the moves before left room", fits))
    headings = ("STEP", "REPLICA", "FROM", "TO", "WHY", "THEN FITS")
    lines = table.lines(headings, rows, screen=screen) if rows else []
    if not rows and not found.left:
        lines.append("every replica has a place, so no replica has to move")
    for left in found.left:
        why = (
            "no moves of other replicas make room"
            if left.decided
            else "the search reached its limit before it found moves"
        )
        lines.append(
            f"! {left.deployment}: {left.count} without a place: {why}; modelplane explain says what would help"
        )
    return "".join(f"{line}\n" for line in lines)
