"""Ranking of clusters: the order in which they are tried.

Each spread domain has its own queue, so that a placement costs only what it changes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from modelplane.placement.scheduling import preference
from modelplane.placement.scheduling.assignment import Assignment, Goodness
from modelplane.placement.scheduling.board import NOTHING_KNOWN, Board
from modelplane.placement.scheduling.preference import Preference, Standing
from modelplane.placement.scheduling.tally import Domain
from modelplane.placement.snapshot import Holding


class Stage(IntEnum):
    """The precision of an entry of the queue. An entry that is not EXACT is a lower bound."""

    FLOOR = 0
    LEFT = 1
    EXACT = 2


Entry: TypeAlias = tuple[Preference, Stage, int]
"""A preference or a lower bound on it, its precision, and the version of the cluster that it was made for."""


class _Queue:
    """A queue of entries, the smallest first.

    It begins with groups of clusters that share a bound, which the name alone orders: a bound is compared once for all
    its clusters, and the entry of a cluster is made when its turn comes.
    """

    __slots__ = ("_first", "_groups", "_initial", "_later")

    def __init__(self) -> None:
        self._groups: dict[Preference, list[str]] = {}
        self._initial: Iterator[Entry] = iter(())
        self._first: Entry | None = None
        self._later: list[Entry] = []

    def begin(self, bound: Preference, names: Iterable[str]) -> None:
        """Add clusters that share a bound, which has no name; call `settle` after the last."""
        self._groups.setdefault(bound, []).extend(names)

    def settle(self) -> None:
        """Sort the initial entries."""
        self._initial = (
            (bound._replace(name=name), Stage.FLOOR, 0)
            for bound, names in sorted(self._groups.items(), key=itemgetter(0))
            for name in sorted(names)
        )
        self._first = next(self._initial, None)

    def push(self, entry: Entry) -> None:
        """Add an entry."""
        heapq.heappush(self._later, entry)

    def pop(self) -> Entry | None:
        """Remove the smallest entry and return it, None if the queue is empty."""
        first = self._first
        if self._later and (first is None or self._later[0] < first):
            return heapq.heappop(self._later)
        if first is not None:
            self._first = next(self._initial, None)
        return first


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cluster that can take one more replica, with the assignment."""

    cluster: str
    solution: Assignment


class Ranking:
    """The clusters that may take a replica, best first. The ranking is updated with each placed replica.

    A cluster enters with a cheap lower bound and is solved only when no other bound is smaller. So the order is exactly
    that of the preferences, and most clusters of a large fleet are never solved.
    """

    def __init__(self, board: Board, clusters: Iterable[str]) -> None:
        self._board = board
        self._queues: dict[Domain, _Queue] = {}
        self._versions: dict[str, int] = {}
        self._solved: dict[str, Assignment] = {}
        eligible = [name for name in clusters if board.barred(name) is None and board.serving(name)]
        board.table.compare_prices()
        self._domains = countable_domains(board, eligible)
        for (domain, standing, _), (floor, names) in self._floors(eligible).items():
            self._queue(domain).begin(preference.bound(standing, floor), names)
        for queue in self._queues.values():
            queue.settle()

    def _floors(self, eligible: Iterable[str]) -> dict[tuple[Domain, Standing, int], tuple[Goodness, list[str]]]:
        """Return the clusters that share domain, standing and floor. Most of a fleet share one floor, as an object."""
        board = self._board
        found: dict[tuple[Domain, Standing, int], tuple[Goodness, list[str]]] = {}
        for name in eligible:
            domain = board.tally.domain(name)
            if domain is None or board.counted_out(name) is not None:
                continue
            floor = board.floor(name)
            if floor is not None:
                key = (domain, preference.standing(board, name), id(floor))
                # The floor is kept beside its names, so that no other object takes its identity meanwhile.
                found.setdefault(key, (floor, []))[1].append(name)
        return found

    def best(self) -> Candidate | None:
        """Return the best candidate, None if there is none."""
        board = self._board
        if not board.intent.spread:
            return self._first(list(self._queues.values()))
        least = board.tally.least_in(self._domains)
        domains = sorted([(board.tally.counts_in(domain), domain) for domain in self._queues])
        for _, members in groupby(domains, key=itemgetter(0)):
            # What is in equally loaded domains is compared as if it were in one.
            open_ = [self._queues[domain] for _, domain in members if not _exceeded(board, domain, least)]
            found = self._first(open_)
            if found is not None:
                return found
        return None

    def take(self, candidate: Candidate) -> list[Holding]:
        """Place a replica on the candidate, rank its cluster again, and return the holdings."""
        holdings = self._board.take(candidate.cluster, candidate.solution)
        self.refresh(candidate.cluster)
        return holdings

    def takes(self, name: str) -> bool:
        """Return whether the limit and the spread constraints allow one more replica on the cluster."""
        board, domain = self._board, self._board.tally.domain(name)
        if domain is None or board.counted_out(name) is not None:
            return False
        return skew_violation(board, domain, self._domains) is None

    def refresh(self, name: str) -> None:
        """Rank a cluster again after its counts have changed; it is solved when it comes first."""
        board = self._board
        self._versions[name] = self._versions.get(name, 0) + 1
        domain = board.tally.domain(name)
        if domain is None or board.counted_out(name) is not None or board.barred(name) is not None:
            return
        self._queue(domain).push((preference.of(board, name, NOTHING_KNOWN), Stage.LEFT, self._versions[name]))

    def _exact(self, name: str, solution: Assignment, version: int) -> Entry:
        board = self._board
        self._solved[name] = solution
        return (preference.of(board, name, solution.goodness, board.likeness(name)), Stage.EXACT, version)

    def _queue(self, domain: Domain) -> _Queue:
        found = self._queues.get(domain)
        if found is None:
            found = self._queues[domain] = _Queue()
        return found

    def _first(self, queues: Sequence[_Queue]) -> Candidate | None:
        """Return the first candidate of all queues together."""
        if len(queues) == 1:
            return self._first_of(queues[0])
        heads = [(head, index) for index, queue in enumerate(queues) if (head := queue.pop()) is not None]
        heapq.heapify(heads)
        found = None
        while heads and found is None:
            entry, index = heads[0]
            found, closer = self._examined(entry)
            if closer is not None:
                queues[index].push(closer)
            after = None if found is not None else queues[index].pop()
            if after is None:
                heapq.heappop(heads)
            else:
                heapq.heapreplace(heads, (after, index))
        for head, index in heads:
            queues[index].push(head)
        return found

    def _first_of(self, queue: _Queue) -> Candidate | None:
        while (entry := queue.pop()) is not None:
            found, kept = self._examined(entry)
            if kept is not None:
                queue.push(kept)
            if found is not None:
                return found
        return None

    def _examined(self, entry: Entry) -> tuple[Candidate | None, Entry | None]:
        """Return the candidate that the entry is of once it is exact, and the entry to keep in its stead."""
        bound, stage, version = entry
        name = bound.name
        if version != self._versions.get(name, 0):
            return None, None
        if stage is not Stage.EXACT:
            return None, self._closer(bound, stage, version)
        # Nobody says that it is taken; until it is, it stays the first.
        return Candidate(name, self._solved[name]), entry

    def _closer(self, bound: Preference, stage: Stage, version: int) -> Entry | None:
        """Return the entry one stage more exact, None when its cluster takes nothing."""
        board, name = self._board, bound.name
        if stage is Stage.FLOOR:
            left = board.left(name)
            return None if left is None else (bound._replace(devices_left=left), Stage.LEFT, version)
        solution = board.solve(name)
        return None if solution is None else self._exact(name, solution, version)


def countable_domains(board: Board, eligible: Iterable[str]) -> tuple[frozenset[str], ...]:
    """Return the countable values of each spread constraint, among which the least loaded is found.

    A value is countable if a cluster with it may take a replica and its devices could serve it, even if it is full. So
    a region that is drained or has no such device does not block the others for ever, but a full one does.
    """
    found: tuple[set[str], ...] = tuple(set() for _ in board.intent.spread)
    if not found:
        return ()
    for name in eligible:
        domain = board.tally.domain(name)
        if domain is not None and board.serving(name):
            for values, value in zip(found, domain, strict=True):
                values.add(value)
    return tuple(frozenset(values) for values in found)


def skew_violation(board: Board, domain: Domain, countable: tuple[frozenset[str], ...]) -> str | None:
    """Return the violation of a spread constraint by one more replica in the domain, None if there is none."""
    tally = board.tally
    least = tally.least_in(countable)
    for index in _exceeded(board, domain, least):
        constraint, value = board.intent.spread[index], domain[index]
        return (
            f"{constraint.topology_key}={value} has {tally.replicas_in[index][value]} replicas and another value has "
            f"{least[index]}; one more would exceed maxSkew {constraint.max_skew}"
        )
    return None


def _exceeded(board: Board, domain: Domain, least: tuple[int, ...]) -> list[int]:
    """Return the positions of the constraints that one more replica in the domain would break.

    One that waits there may be admitted and counts; as the least loaded value it counts for nothing yet.
    """
    tally = board.tally
    return [
        index
        for index, (constraint, value) in enumerate(zip(board.intent.spread, domain, strict=True))
        if tally.replicas_in[index][value] + tally.waiting_in(index, value) + 1 - least[index] > constraint.max_skew
    ]
