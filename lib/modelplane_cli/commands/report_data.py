"""The data of the page of `modelplane report`: documents read, rehearsed where need be, and each moment kept."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import inference_cluster
from modelplane.errors import InvalidInput
from modelplane_cli import exits
from modelplane_cli.commands import events, replacement, sources
from modelplane_cli.commands.stage import Objects, Stage
from modelplane_cli.documents import reading
from modelplane_cli.documents.reading import Input
from modelplane_cli.output import notes
from modelplane_cli.planning import amendments, capacity, corrections, frames, headroom, plan, routes, simulation
from modelplane_cli.planning.amendments import Documents
from modelplane_cli.planning.frames import Frame
from modelplane_cli.planning.happenings import Happening
from modelplane_cli.planning.rehearsal import Act, Rehearsal
from modelplane_cli.planning.replicas import DEPLOYMENT
from modelplane_cli.planning.simulation import Step
from modelplane_cli.simulator import offline

Json: TypeAlias = Any

_STATED = frozenset({inference_cluster.KIND, DEPLOYMENT})


def answer(options: argparse.Namespace) -> tuple[int, dict[str, Json] | None]:
    """Return the exit code and the data of the page, None for bad input. Problems are reported."""
    stage = Stage.empty()
    wanted, live = sources.both(options)
    checked = stage.checked(wanted, options.namespace)
    against = live if options.against is None else reading.read(options.against)
    is_change = options.against is not None or bool(options.paths and live.documents)
    there = stage.objects(against, options.namespace) if is_change else None
    if checked is None or (is_change and there is None):
        return exits.BAD_INPUT, None
    objects = checked.objects
    if not (is_change or options.happenings or options.headroom) and _is_stated(objects):
        return exits.FINE, frames.encode_all([_as_written(stage, wanted, options, objects)], is_rehearsed=False)
    try:
        happenings = events.read(stage, options)
        play = _Play(stage, amendments.written(wanted.documents, options.namespace, objects))
        rehearsal = play.begin(objects if there is None else there)
        if there is not None:
            play.keep(rehearsal, stage.settle(rehearsal), None)
            replacement.replace(rehearsal, there, objects)
        play.run(rehearsal, happenings)
    except InvalidInput as error:
        print(f"modelplane report: {error}", file=sys.stderr)
        return exits.BAD_INPUT, None
    data = frames.encode_all(play.frames, is_rehearsed=True, is_comparison=there is not None)
    if options.headroom:
        data["headroom"] = play.headroom(rehearsal)
    return (exits.BUG if play.has_bugs else exits.FINE), data


def _is_stated(objects: Objects) -> bool:
    """Return whether every cluster and deployment carries what its function decided."""
    asked = [one for key, one in objects.items() if key.group == names.GROUP and key.kind in _STATED]
    return bool(asked) and all(one.get("status") for one in asked)


def _as_written(stage: Stage, given: Input, options: argparse.Namespace, objects: Objects) -> Frame:
    act = frames.standing(offline.unsettled(objects, stage.kinds))
    store = act.world.store
    written = amendments.written(given.documents, options.namespace, objects)
    return frames.of(act, plan.of(act, capacity.pools(store), documents=written, routes_before=routes.of(store)))


class _Play:
    """The frames of a rehearsal, each made while its moment lasts."""

    def __init__(self, stage: Stage, written: Documents) -> None:
        self._stage, self._written = stage, written
        self._before: tuple[tuple[capacity.PoolUse, ...], tuple[routes.Route, ...]] = ((), ())
        self.frames: list[Frame] = []
        self.has_bugs = False

    def begin(self, objects: Objects) -> Rehearsal:
        """Return the rehearsal of the objects as they are before anything has happened."""
        rehearsal = self._stage.rehearsal(objects)
        self._before = capacity.pools(rehearsal.store), routes.of(rehearsal.store)
        return rehearsal

    def run(self, rehearsal: Rehearsal, happenings: Sequence[Happening]) -> None:
        """Keep the frame of the settled world, and one after each event. Raises: InvalidInput."""
        if not happenings:
            self.keep(rehearsal, self._stage.settle(rehearsal), None)
            return
        simulation.run(rehearsal, happenings, self._stage.settle, lambda act, step: self.keep(rehearsal, act, step))

    def keep(self, rehearsal: Rehearsal, act: Act, step: Step | None) -> None:
        """Keep the frame of an act that has just ended."""
        # After an event, what people wrote is no longer what stands.
        documents = self._written if step is None else None
        pools, before = self._before
        made = plan.of(act, pools, rehearsal.lost, documents=documents, routes_before=before)
        made = corrections.corrected(rehearsal, made, documents)
        self.frames.append(frames.of(act, made, "" if step is None else step.event, step))
        self._before = made.pools, routes.of(rehearsal.store)
        notes.bugs(act.world)
        self.has_bugs |= bool(act.world.settled.record.bugs)

    def headroom(self, rehearsal: Rehearsal) -> dict[str, Json]:
        """Return the headroom of the last frame."""
        try:
            return headroom.encode(headroom.of(rehearsal, self._stage.told))
        finally:
            self._stage.told.done()


def title(options: argparse.Namespace) -> str:
    """Return the title of the page: what was read."""
    read = [*([f"context {options.context}"] if options.context else []), *options.paths]
    return f"Fleet of {', '.join(read)}" if read else "Fleet"
