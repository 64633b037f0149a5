"""Distance of clusters from a fit, as far as it is known without trying changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from modelplane.devices import nearness
from modelplane.devices.hints import advice
from modelplane.devices.matching import MissKind
from modelplane.devices.model import Request
from modelplane.devices.nearness import Near
from modelplane.placement.decision import ClusterVerdict, Reason
from modelplane.placement.scheduling.board import Board


class Nearness:
    """The distance of clusters from a fit, found once per class and pool state."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._devices: dict[int, tuple[tuple[int, float], str] | None] = {}
        self._scores: dict[str, tuple[float, ...]] = {}

    def first(self, verdicts: Iterable[ClusterVerdict]) -> ClusterVerdict:
        """Return the verdict nearest to a fit among verdicts of one reason."""
        return min(verdicts, key=self.place)

    def place(self, verdict: ClusterVerdict) -> tuple[tuple[float, ...], str]:
        """Return the sort key of verdicts of one reason, the nearest to a fit first."""
        return (self._score(verdict), verdict.cluster)

    def nobody(self) -> str:
        """Return the reason why there is no candidate."""
        labels = ", ".join(f"{key}={value}" for key, value in self._board.intent.selector.match_labels)
        return f"no InferenceCluster matches clusterSelector {{{labels}}}" if labels else "no InferenceCluster exists"

    def device(self, verdict: ClusterVerdict) -> str | None:
        """Return the gap between the selectors and the cluster's nearest device, None if devices are not missing."""
        found = self._nearest_pool(verdict)
        if found is not None:
            return f"{verdict.cluster}/{found[1]} has {found[2]}"
        return self._told(verdict)

    def _told(self, verdict: ClusterVerdict) -> str | None:
        """Return what the pool that speaks for the cluster has, None when no request's devices are missing there."""
        pools = {pool.name: pool for pool in self._board.clusters[verdict.cluster].pools}
        pool = pools.get(verdict.pool)
        if verdict.reason is not Reason.NO_MATCHING_DEVICE or pool is None or pool.node_class is None:
            return None
        request = next(_unserved(self._board, self._board.table.number(pool.node_class)), None)
        if request is None:
            return None
        return f"{verdict.cluster}/{pool.name}: {advice.told(request.selectors, pool.node_class.devices)}"

    def _score(self, verdict: ClusterVerdict) -> tuple[float, ...]:
        reason = verdict.reason
        if reason is Reason.INSUFFICIENT_DEVICES or reason is Reason.INSUFFICIENT_NODES:
            return (-self._board.most_free(verdict.cluster),)
        if reason is not Reason.NO_MATCHING_DEVICE:
            return (0,)
        found = self._scores.get(verdict.cluster)
        if found is None:
            near = self._nearest_pool(verdict)
            found = self._scores[verdict.cluster] = (9,) if near is None else near[0]
        return found

    def _nearest_pool(self, verdict: ClusterVerdict) -> tuple[tuple[int, float], str, str] | None:
        if verdict.reason is not Reason.NO_MATCHING_DEVICE:
            return None
        found = []
        for pool in self._board.clusters[verdict.cluster].pools:
            if pool.node_class is not None:
                number = self._board.table.number(pool.node_class)
                if number not in self._devices:
                    self._devices[number] = _nearest_device(self._board, number)
                near = self._devices[number]
                if near is not None:
                    found.append((near[0], pool.name, near[1]))
        return min(found, default=None)


def _nearest_device(board: Board, number: int) -> tuple[tuple[int, float], str] | None:
    """Return the distance and the words for the device of a class that comes nearest to a request it does not serve."""
    found = []
    for request in _unserved(board, number):
        near = near_device(board, number, request)
        if near is not None:
            words = ", ".join(f"{gap.name} {gap.has}, wants {gap.wants}" for gap in near[1].gaps)
            found.append((near[1].distance, words))
    return min(found, default=None)


def _unserved(board: Board, number: int) -> Iterator[Request]:
    """Yield the request of each role that no device of a class serves."""
    for match, role in zip(board.table.matches(number), board.table.demand.roles, strict=True):
        miss = match.miss
        if miss is not None and miss.kind is MissKind.NO_MATCH:
            yield from (one for request in role.requests if request.name == miss.request for one in request.each())


def near_device(board: Board, number: int, request: Request) -> tuple[str, Near] | None:
    """Return the device of a class that comes nearest to the request, by name, None when none comes near."""
    found = []
    for device in board.table.node_class(number).devices:
        near = nearness.nearest(request.selectors, device)
        if near is not None:
            found.append((near.distance, device.name, near))
    if not found:
        return None
    _, name, near = min(found, key=lambda item: (item[0], item[1]))
    return name, near
