"""The order in which clusters are tried.

A heap per spread domain, so that a placement costs what it changes and no more.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from modelplane.placement import filters
from modelplane.placement.board import Board, Domain
from modelplane.placement.model import Strategy
from modelplane.placement.solver import Price, Solution

Key: TypeAlias = tuple[int, bool, int, Price, int, int, str]
"""(own replicas there, cache absent, PreferNoSchedule taints, price, nodes opened, devices left free, name)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cluster that can take one more replica, and how."""

    cluster: str
    solution: Solution


@dataclass(slots=True)
class _Queue:
    """The candidates of one spread domain. Entries may be outdated: a key is compared again when it comes up."""

    heap: list[Key] = field(default_factory=list)


class Ranking:
    """All clusters that may take a replica, best first, kept up to date while replicas are put down."""

    def __init__(self, board: Board, clusters: Iterable[str]) -> None:
        self._board = board
        self._queues: dict[Domain, _Queue] = {}
        eligible = [name for name in clusters if board.barred(name) is None]
        self._domains = countable_domains(board, eligible)
        for name in eligible:
            domain = board.domain(name)
            if domain is None or board.counted_out(name) is not None:
                continue
            solution = board.solve(name)
            if solution is not None:
                self._queues.setdefault(domain, _Queue()).heap.append(key(board, name, solution))
        for queue in self._queues.values():
            heapq.heapify(queue.heap)

    def best(self, excluded: str | None = None) -> Candidate | None:
        """Return the first candidate in order, without the `excluded` cluster; None when there is none."""
        for domain in sorted(self._queues, key=self._spread_key):
            if self._skewed(domain):
                continue
            found = self._first(self._queues[domain], excluded)
            if found is not None:
                return found
        return None

    def take(self, candidate: Candidate) -> None:
        """Put a replica down on the candidate and rank its cluster anew."""
        self._board.take(candidate.cluster, candidate.solution)
        self._requeue(candidate.cluster)

    def _requeue(self, name: str) -> None:
        domain = self._board.domain(name)
        solution = self._board.solve(name)
        if domain is not None and solution is not None and self._board.counted_out(name) is None:
            heapq.heappush(self._queues.setdefault(domain, _Queue()).heap, key(self._board, name, solution))

    def _first(self, queue: _Queue, excluded: str | None) -> Candidate | None:
        aside: list[Key] = []
        found: Candidate | None = None
        while queue.heap and found is None:
            entry = heapq.heappop(queue.heap)
            name = entry[-1]
            solution = None if self._board.counted_out(name) is not None else self._board.solve(name)
            if solution is None:
                continue
            now = key(self._board, name, solution)
            if now != entry:
                # Its state has changed since it was queued; the fresh entry decides when it is its turn.
                heapq.heappush(queue.heap, now)
                continue
            aside.append(entry)
            if name != excluded:
                found = Candidate(name, solution)
        for entry in aside:
            heapq.heappush(queue.heap, entry)
        return found

    def _spread_key(self, domain: Domain) -> tuple[tuple[int, ...], Domain]:
        counts = tuple(counter[value] for counter, value in zip(self._board.replicas_in, domain, strict=True))
        return (counts, domain)

    def _skewed(self, domain: Domain) -> bool:
        return skew_violation(self._board, domain, self._domains) is not None


def key(board: Board, name: str, solution: Solution) -> Key:
    """Return where the cluster stands within its spread domain, smaller is better."""
    own = board.replicas_on[name]
    cache = board.intent.cache
    absent = cache is not None and name not in cache.ready_clusters
    disliked = filters.disliked(board.clusters[name], board.intent)
    return (own if board.intent.strategy is Strategy.SPREAD else -own, absent, disliked, *solution.key, name)


def countable_domains(board: Board, eligible: Iterable[str]) -> tuple[frozenset[str], ...]:
    """Return, per spread constraint, the values that count when the least loaded one is looked for.

    These are the values on clusters that may take a replica and whose devices could serve it, full or not: a region
    that is drained or has no such device shall not hold back the others for ever, one that is only full shall.
    """
    found: tuple[set[str], ...] = tuple(set() for _ in board.intent.spread)
    if not found:
        return ()
    for name in eligible:
        domain = board.domain(name)
        if domain is not None and board.lots(name):
            for values, value in zip(found, domain, strict=True):
                values.add(value)
    return tuple(frozenset(values) for values in found)


def skew_violation(board: Board, domain: Domain, countable: tuple[frozenset[str], ...]) -> str | None:
    """Return which spread constraint one more replica in the domain would break, and how; None when it breaks none."""
    rows = zip(board.intent.spread, board.replicas_in, domain, countable, strict=True)
    for constraint, counter, value, values in rows:
        least = min((counter[other] for other in values), default=0)
        if counter[value] + 1 - least > constraint.max_skew:
            return (
                f"{constraint.topology_key}={value} has {counter[value]} replicas and another value {least}: "
                f"one more would exceed maxSkew {constraint.max_skew}"
            )
    return None
