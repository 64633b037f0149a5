"""A simulation as people read it: step by step, then the plan it leads to."""

from __future__ import annotations

from collections.abc import Iterator

from modelplane_cli.output import plan_text, table
from modelplane_cli.planning.headroom import Headroom
from modelplane_cli.planning.simulation import Simulation, Step

_STAGES_SHOWN = 40


def text(simulation: Simulation) -> str:
    """Return every step with its stages, then the plan."""
    steps = "".join(f"{line}\n" for step in simulation.steps for line in (*_step(step), ""))
    return steps + plan_text.text(simulation.after, with_changes=False)


def _step(step: Step) -> Iterator[str]:
    counts = f"{len(step.moved)} moved, {len(step.lost)} lost or interrupted"
    missing = sum(one.count for one in step.unplaced)
    yield f"{step.event}: {counts}, {missing} without a place"
    for number, stage in enumerate(step.stages[:_STAGES_SHOWN], 1):
        yield f"  {number:>3}. {'; '.join(stage)}"
    if len(step.stages) > _STAGES_SHOWN:
        yield f"       and {len(step.stages) - _STAGES_SHOWN} more; -o json has them all"
    for one in step.unplaced:
        yield f"  ! {one.deployment}: {one.message}"
    yield from (f"  {line}" for line in plan_text.changes(step.changes))


def headroom(found: Headroom) -> str:
    """Return the headroom: each cluster alone, how many at once, and the largest set."""
    if not found.tried and not found.complete:
        return "nothing was tried: even one cluster after the other is too many losses; name some with --lose\n"
    rows = [
        (
            trial.clusters[0],
            str(trial.devices),
            "yes" if trial.fits else "no",
            "; ".join(f"{one.deployment}: {one.count} without a place" for one in trial.worse),
        )
        for trial in found.singles
    ]
    lines = table.lines(("LOST", "DEVICES", "FITS", "WHY NOT"), rows)
    lines += ["", _any(found), _largest(found)]
    if not found.complete:
        lines.append(f"the search stopped after {found.tried} losses; larger ones were not tried")
    return "".join(f"{line}\n" for line in lines)


def _any(found: Headroom) -> str:
    if not found.any_clusters:
        return "no headroom: there is a cluster whose loss leaves something without a place"
    which = "one cluster" if found.any_clusters == 1 else f"{found.any_clusters} clusters"
    return f"any {which} may be lost"


def _largest(found: Headroom) -> str:
    if found.largest is None:
        return "no cluster can be lost"
    return f"the largest loss that fits: {' and '.join(found.largest.clusters)} ({found.largest.devices} devices)"
