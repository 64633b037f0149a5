"""The alternative that serves a request, and the reasons why no alternative before it does."""

from __future__ import annotations

from collections.abc import Iterator

from modelplane.devices import matching
from modelplane.devices.model import Request
from modelplane.placement.decision import PlacedReplica, PlacedRole
from modelplane.placement.packing.load import Answer
from modelplane.placement.scheduling.board import Board


def told(board: Board, placed: PlacedReplica) -> tuple[str, ...]:
    """Return a line per request with alternatives, of a replica that the board does not hold."""
    roles = {role.role: index for index, role in enumerate(board.table.demand.roles)}
    if placed.cluster not in board.clusters:
        return ()
    return tuple(
        line for role in placed.roles if role.role in roles for line in _told(board, placed, role, roles[role.role])
    )


def _told(board: Board, placed: PlacedReplica, role: PlacedRole, index: int) -> Iterator[str]:
    demand = board.table.demand.roles[index]
    if not any(request.alternatives for request in demand.requests):
        return
    pool = next((pool for pool in board.clusters[placed.cluster].pools if pool.name == role.pool), None)
    if pool is None or pool.node_class is None:
        return
    options = board.table.matches(board.table.number(pool.node_class))[index].options
    option = next((one for one in options if one.takes == (role.shape.devices, role.shape.consumed)), None)
    if option is None:
        return
    served = {pick.request: pick.alternative for pick in option.picks}
    for request in demand.requests:
        names = [one.name for one in request.alternatives]
        if served.get(request.name) not in names:
            continue
        place = names.index(served[request.name])
        why = [
            f"{one.name}: {_why_not(board, placed.cluster, index, request, one)}"
            for one in request.alternatives[:place]
        ]
        line = f'request "{request.name}" is served by {names[place]}, alternative {place + 1} of {len(names)}'
        yield "; ".join([line, *why])


def _why_not(board: Board, cluster: str, index: int, request: Request, wanted: Request) -> str:
    """Return the reason why an alternative does not serve the request on a cluster, as it is without the replica."""
    misses: list[str] = []
    for pool in sorted(board.clusters[cluster].pools, key=lambda one: one.name):
        if pool.node_class is not None:
            miss = matching.match(pool.node_class, (wanted,)).miss
            if miss is None:
                misses.clear()
                break
            misses.append(f"{pool.name}: {miss.detail}")
    if misses:
        return misses[0] if len(misses) == 1 else f"{misses[0]} (and alike in {len(misses) - 1} further pools)"
    rows = zip(board.serving(cluster), board.estimates(cluster), strict=True)
    for (_, number), estimate in rows:
        options = board.table.matches(number)[index].options
        for option, trial in zip(options, estimate.trials[index], strict=True):
            serves = any((pick.request, pick.alternative) == (request.name, wanted.name) for pick in option.picks)
            if serves and trial.answer is Answer.FITS:
                return "it would be served today; what is placed stays as it is"
    return "there are not enough free devices"
