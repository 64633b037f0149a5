"""`modelplane simulate`: the effects of a drain, a loss, a scaling or an addition, in steps."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from modelplane.errors import InvalidInput
from modelplane_cli import exits
from modelplane_cli.commands import events, sources
from modelplane_cli.commands.stage import Stage
from modelplane_cli.output import headroom_text, manifests, notes, screen, simulation_text
from modelplane_cli.parsers import simulate as simulate_parser
from modelplane_cli.planning import headroom, headroom_groups, moves, simulation
from modelplane_cli.planning.headroom import Headroom
from modelplane_cli.planning.headroom_groups import Groups
from modelplane_cli.planning.moves import Defragmentation
from modelplane_cli.planning.rehearsal import Rehearsal
from modelplane_cli.planning.simulation import Simulation


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane simulate`."""
    made = simulate_parser.parser()
    options = made.parse_args(list(arguments))
    if not options.happenings and not options.headroom and not options.defragment:
        made.error(
            "give an event: --drain, --lose, --unreachable, --lose-label, --lose-nodes, --scale, --add, --headroom "
            "or --defragment"
        )
    if options.by is not None and not options.headroom:
        made.error("--by names the groups of --headroom; give --headroom too")
    stage = Stage.empty()
    objects = stage.objects(sources.read(options), options.namespace)
    if objects is None:
        return exits.BAD_INPUT
    rehearsal = stage.rehearsal(objects)
    try:
        happenings = events.read(stage, options)
        found = simulation.run(rehearsal, happenings, stage.settle)
        room = _headroom(rehearsal, stage, options.by) if options.headroom else None
    except InvalidInput as error:
        print(f"modelplane simulate: {error}", file=sys.stderr)
        return exits.BAD_INPUT
    tidied = moves.defragmented(moves.scene(rehearsal.store)) if options.defragment else None
    _show(found, room, tidied, options)
    for world in found.worlds:
        notes.bugs(world)
    if any(world.settled.record.bugs for world in found.worlds):
        return exits.BUG
    return exits.FINE if _fits(found, room, tidied) else exits.NO


def _fits(found: Simulation, room: Room | None, tidied: Defragmentation | None) -> bool:
    """Return whether the answer is yes: what is missing at the end is what moves are asked for."""
    if room is None and tidied is None:
        return found.fits
    if tidied is None:
        steps_fit = all(step.fits for step in found.steps)
    else:
        steps_fit = tidied.fits and all(step.is_loss or not step.lost for step in found.steps)
    return steps_fit and (room is None or room.is_any)


@dataclass(frozen=True, slots=True)
class Room:
    """The headroom by single clusters, and by the groups that were asked for."""

    clusters: Headroom
    groups: Groups | None

    @property
    def is_any(self) -> bool:
        """Return whether any one cluster may be lost, or any one group."""
        return (self.clusters.any_clusters if self.groups is None else self.groups.any_groups) > 0


def _headroom(rehearsal: Rehearsal, stage: Stage, by: str | None) -> Room:
    try:
        search = headroom.Search(rehearsal, stage.told)
        groups = None if by is None else headroom_groups.of(search, by)
        return Room(headroom.clusters(search), groups)
    finally:
        stage.told.done()


def _show(found: Simulation, room: Room | None, tidied: Defragmentation | None, options: argparse.Namespace) -> None:
    if options.output != "text":
        encoded = simulation.encode(found)
        if room is not None:
            encoded["headroom"] = headroom.encode(room.clusters)
            if room.groups is not None:
                encoded["headroom"]["groups"] = headroom_groups.encode(room.groups)
        if tidied is not None:
            encoded["defragment"] = moves.encode(tidied)
        sys.stdout.write(manifests.answer(encoded, options.output))
    else:
        sys.stdout.write("\n".join(_parts(found, room, tidied, options)))
    sys.stdout.flush()


def _parts(
    found: Simulation, room: Room | None, tidied: Defragmentation | None, options: argparse.Namespace
) -> Iterator[str]:
    reader = screen.of(sys.stdout)
    if found.steps or (room is None and tidied is None):
        yield simulation_text.text(found, reader, all_rows=options.all)
    if room is not None and room.groups is not None:
        yield headroom_text.groups(room.groups, reader)
    elif room is not None:
        yield headroom_text.clusters(room.clusters, reader)
    if tidied is not None:
        yield simulation_text.defragmentation(tidied, reader)
