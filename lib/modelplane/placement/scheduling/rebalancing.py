"""Replicas that leave their places so that another replica has room: who may, and where their successors go.

A cluster that refuses a replica asks for at most one that is offered (`admission`), the deployment places a successor
elsewhere, and only when that is ready the replica goes. Nothing is offered, and no move begins, while anything of the
deployment is missing, refused, moving, or not ready.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from modelplane.placement.capacity import ledger
from modelplane.placement.decision import Admission
from modelplane.placement.scheduling import retention
from modelplane.placement.scheduling.assignment import RoleAssignment
from modelplane.placement.scheduling.board import Board
from modelplane.placement.scheduling.ranking import Candidate, Ranking
from modelplane.placement.snapshot import CurrentReplica, Demand, Fleet, Intent


class Wish(NamedTuple):
    """The place where a replica waits for room: the one whose pool has most devices free."""

    cluster: str
    roles: tuple[RoleAssignment, ...]


OFFERED_MAX = 8
"""Replicas that a deployment offers at once."""


def is_settled(board: Board, replicas: Iterable[CurrentReplica]) -> bool:
    """Return whether all replicas serve, admitted, on clusters that are there and ready."""
    return all(
        one.ready
        and not one.outdated
        and one.cluster in board.clusters
        and board.clusters[one.cluster].ready
        and not board.clusters[one.cluster].ambiguous
        and board.admission(one) is Admission.ADMITTED
        for one in replicas
    )


def elsewhere(board: Board, candidates: Ranking, replica: CurrentReplica, needed: frozenset[str]) -> Candidate | None:
    """Return the best place for a successor, while the replica stands, off its own pools and the pools `needed`.

    The replica must be left out of the counts.
    """
    pools = frozenset(holding.pool for holding in replica.holdings)
    try:
        with board.closed(replica.cluster, pools | needed):
            candidates.refresh(replica.cluster)
            return candidates.best()
    finally:
        candidates.refresh(replica.cluster)


def wish(board: Board, candidates: Ranking) -> Wish | None:
    """Return the place where one more replica would fit if nobody stood there, None where it would not fit anywhere."""
    found: list[tuple[tuple[object, ...], Wish]] = []
    for name in board.clusters:
        if board.barred(name) is not None or not candidates.takes(name):
            continue
        for free, roles in _empty(board, name):
            if board.spending.is_limited and board.excess(name, roles) is not None:
                continue  # room would not help
            found.append(((-free, board.likeness(name), name), Wish(name, roles)))
    return min(found, key=lambda entry: entry[0])[1] if found else None


def _empty(board: Board, name: str) -> Iterator[tuple[int, tuple[RoleAssignment, ...]]]:
    """Yield the free devices of each pool and the roles on it were it empty; of two roles, of all pools together."""
    serving, states = board.serving(name), board.ledgers(name)
    empty = [state._replace(items=(), used=tuple(0 for _ in state.used)) for state in states]
    several = len(board.table.demand.roles) > 1
    for index, state in enumerate(states):
        usable = [one if several or at == index else ledger.closed(one) for at, one in enumerate(empty)]
        solution = board.table.solve(tuple((number, one) for (_, number), one in zip(serving, usable, strict=True)))
        if solution is not None:
            yield state.free_devices, solution.roles


def is_anybody_refused(board: Board, replicas: Iterable[CurrentReplica]) -> bool:
    """Return whether the cluster of any of the replicas refuses somebody. Without that nothing is offered."""
    return any(board.clusters[one.cluster].refused for one in replicas)


def offers(fleet: Fleet, demand: Demand, intent: Intent, replicas: Iterable[CurrentReplica]) -> tuple[str, ...]:
    """Return the replicas whose successors all have places elsewhere at once, the newest first.

    Only those on clusters that refuse somebody are considered. Cost: a placement for each, `OFFERED_MAX` at most.
    """
    board = Board(fleet, demand, intent)
    ordered = retention.newest_last(replicas)
    for one in ordered:
        board.tally.add(one.cluster, 1)
    candidates = None
    found: list[str] = []
    for one in reversed(ordered):
        if len(found) == OFFERED_MAX:
            break
        if not board.clusters[one.cluster].refused:
            continue
        candidates = candidates or Ranking(board, board.clusters)
        board.tally.add(one.cluster, -1)
        candidate = elsewhere(board, candidates, one, frozenset())
        if candidate is None:
            board.tally.add(one.cluster, 1)
            candidates.refresh(one.cluster)
        else:
            candidates.take(candidate)
            found.append(one.name)
    return tuple(sorted(found))
