"""The order in which clusters are tried.

A queue per spread domain, so that a placement costs what it changes and no more.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from modelplane.placement.scheduling import preference
from modelplane.placement.scheduling.assignment import Assignment
from modelplane.placement.scheduling.board import Board, Domain
from modelplane.placement.scheduling.preference import Preference


class Stage(IntEnum):
    """How exactly an entry of the queue is known; what is not exact is a lower bound."""

    FLOOR = 0
    LEFT = 1
    EXACT = 2


Entry: TypeAlias = tuple[Preference, Stage, int]
"""A preference or a bound below it, how exact it is, and the version of the cluster it was made for."""

_NO_LEFT = -(1 << 62)


class _Queue:
    """Entries, the least first. Those it begins with are sorted once, which costs a tenth of a heap's comparisons."""

    __slots__ = ("_first", "_later", "_next")

    def __init__(self) -> None:
        self._first: list[Entry] = []
        self._next = 0
        self._later: list[Entry] = []

    def begin(self, entry: Entry) -> None:
        """Add one of the entries it begins with; `settle` comes after the last."""
        self._first.append(entry)

    def settle(self) -> None:
        """Put what it begins with in order."""
        self._first.sort()

    def push(self, entry: Entry) -> None:
        """Add an entry."""
        heapq.heappush(self._later, entry)

    def pop(self) -> Entry | None:
        """Take the least entry away and return it, None when there is none."""
        first = self._first[self._next] if self._next < len(self._first) else None
        if self._later and (first is None or self._later[0] < first):
            return heapq.heappop(self._later)
        self._next += 1
        return first


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cluster that can take one more replica, and how."""

    cluster: str
    solution: Assignment


class Ranking:
    """All clusters that may take a replica, best first, kept up to date while replicas are put down.

    A cluster enters with a bound that costs next to nothing, and is only solved when no other bound is below its own:
    the order is exactly that of the preferences, and most of a large fleet is never looked into.
    """

    def __init__(self, board: Board, clusters: Iterable[str]) -> None:
        self._board = board
        self._queues: dict[Domain, _Queue] = {}
        self._versions: dict[str, int] = {}
        eligible = [name for name in clusters if board.barred(name) is None and board.serving(name)]
        board.table.compare_prices()
        self._domains = countable_domains(board, eligible)
        for name in eligible:
            domain = board.domain(name)
            if domain is not None and board.counted_out(name) is None:
                floor = board.floor(name)
                if floor is not None:
                    bound = preference.of(board, name, (*floor, _NO_LEFT))
                    self._queue(domain).begin((bound, Stage.FLOOR, 0))
        for queue in self._queues.values():
            queue.settle()

    def best(self) -> Candidate | None:
        """Return the first candidate in order, None when there is none."""
        for domain in sorted(self._queues, key=self._spread_key):
            if skew_violation(self._board, domain, self._domains) is None:
                found = self._first(self._queues[domain])
                if found is not None:
                    return found
        return None

    def take(self, candidate: Candidate) -> None:
        """Put a replica down on the candidate and rank its cluster anew."""
        board, name = self._board, candidate.cluster
        board.take(name, candidate.solution)
        self._versions[name] = self._versions.get(name, 0) + 1
        domain = board.domain(name)
        if domain is None or board.counted_out(name) is not None:
            return
        solution = board.solve(name)
        if solution is not None:
            entry = (preference.of(board, name, solution.key), Stage.EXACT, self._versions[name])
            self._queue(domain).push(entry)

    def _queue(self, domain: Domain) -> _Queue:
        found = self._queues.get(domain)
        if found is None:
            found = self._queues[domain] = _Queue()
        return found

    def _first(self, queue: _Queue) -> Candidate | None:
        while (entry := queue.pop()) is not None:
            bound, stage, version = entry
            name = bound.name
            if version != self._versions.get(name, 0):
                continue
            if stage is Stage.EXACT:
                solution = self._board.solve(name)
                if solution is not None:
                    # Nobody says that it is taken; until it is, it stays the first.
                    queue.push(entry)
                    return Candidate(name, solution)
            else:
                closer = self._closer(bound, stage, version)
                if closer is not None:
                    queue.push(closer)
        return None

    def _closer(self, bound: Preference, stage: Stage, version: int) -> Entry | None:
        """Return the entry one stage more exact, None when its cluster takes nothing."""
        board, name = self._board, bound.name
        if stage is Stage.FLOOR:
            left = board.left(name)
            return None if left is None else (bound._replace(devices_left=left), Stage.LEFT, version)
        solution = board.solve(name)
        return None if solution is None else (preference.of(board, name, solution.key), Stage.EXACT, version)

    def _spread_key(self, domain: Domain) -> tuple[tuple[int, ...], Domain]:
        return (self._board.counts_in(domain), domain)


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
        if domain is not None and board.serving(name):
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
