"""Causes of blocked moves: the verdict of every cluster on a successor, without the replica that it succeeds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from modelplane.placement.decision import BlockedMove, PlacedReplica, Plan
from modelplane.placement.diagnosis import shortfall
from modelplane.placement.diagnosis.misses import Nearness
from modelplane.placement.diagnosis.verdicts import Diagnosis
from modelplane.placement.scheduling.board import Board


def explained(plan: Plan, board: Board) -> Plan:
    """Return the plan with the causes in each blocked move and in the note of its replica.

    Cost: one diagnosis of the fleet; with spread constraints or a limit, one per cluster of the blocked replicas.
    """
    diagnosis, near = Diagnosis(board), Nearness(board)
    counts_matter = bool(board.intent.spread or board.intent.max_replicas_per_cluster)
    places = {one.name: one.cluster for one in plan.replicas}
    said: dict[str, str] = {}
    blocked = []
    for one in plan.blocked:
        if one.is_held:
            blocked.append(one)
            continue
        place = places[one.replica] if counts_matter else ""
        if place not in said:
            with gone(board, plan, one):
                said[place] = shortfall.message(diagnosis.all(), near)
        blocked.append(replace(one, message=f"{one.message}: {said[place]}"))
    notes = {one.replica: f"{one.cause}; {one.message}" for one in blocked}
    return replace(plan, replicas=tuple(_noted(one, notes) for one in plan.replicas), blocked=tuple(blocked))


@contextmanager
def gone(board: Board, plan: Plan, blocked: BlockedMove) -> Iterator[None]:
    """Leave a blocked replica out of all counts inside the context."""
    place = next(one.cluster for one in plan.replicas if one.name == blocked.replica)
    board.tally.add(place, -1)
    try:
        yield
    finally:
        board.tally.add(place, 1)


def _noted(placed: PlacedReplica, notes: dict[str, str]) -> PlacedReplica:
    return replace(placed, note=notes[placed.name]) if placed.name in notes else placed
