"""Moves that make room: the smallest set of them after which a missing replica has a place.

The search goes backwards from a wanted place: it finds replicas whose move would make room there, places for them, and
replicas that would have to move for these. It deepens over the number of moves, so the first answer is a smallest one.
An answer without interruption is preferred to any answer with one. Replicas of one deployment with equal holdings at
one place are one choice. The moves are then made one by one on a copy (`relocation`). They are reported only if every
successor had a place before its predecessor was removed and the scheduler then places more replicas.

Cost: a few boards, and at most `TRIALS_MAX` trials if a replica fits, each at most a packing and most of them cached.
With `MOVES_MAX` moves, r choices of replicas per cluster and c places there are up to c * r ** MOVES_MAX trials, so a
large fleet is not searched completely, and the answer says so.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kubecel import interruption
from modelplane.placement.capacity import dimensions, ledger
from modelplane.placement.capacity.ledger import Ledger
from modelplane.placement.diagnosis import relocation
from modelplane.placement.diagnosis.relocation import Location, Move, Party, Scene
from modelplane.placement.packing.load import Answer
from modelplane.placement.scheduling import preference, ranking, retention
from modelplane.placement.scheduling.board import Board
from modelplane.placement.snapshot import CurrentReplica, Fleet

MOVES_MAX = 3
"""Limit of the replicas that are moved for one missing replica."""
TRIALS_MAX = 20_000
"""Limit of the trials of one search: 0.8 to 1.6 s on fleets of 20 and 100 clusters (`python -m tests.bench.moves`)."""


@dataclass(frozen=True, slots=True)
class Moves:
    """The moves in a possible order, and the place of the missing replica after them.

    Without moves `place` is None: no set of up to `MOVES_MAX` moves helps or, if not `decided`, none was found within
    the limit of the search. With moves, not `decided` means that a better set may exist.
    """

    moves: tuple[Move, ...] = ()
    place: Location | None = None
    decided: bool = True

    def __str__(self) -> str:
        """Return the moves as the end of "it would fit if ..."."""
        return " and ".join(str(move) for move in self.moves)


def smallest_moves(scene: Scene, asker: str, blocked: str = "", trials_max: int = TRIALS_MAX) -> Moves:
    """Return the moves after which one more replica of the deployment `asker` has a place.

    `blocked` is a replica of the deployment that should move and has no place, empty if a replica is missing.
    The answer does not depend on the order of any input.
    """
    return _Search(scene, asker, blocked, trials_max).run()


class _Bound(Exception):
    """The search reached its limit."""


class _Ground(NamedTuple):
    """The ledgers of all pools; `changed` are those that differ from the published ones."""

    base: Mapping[tuple[str, str], Ledger]
    changed: Mapping[tuple[str, str], Ledger]

    @classmethod
    def of(cls, fleet: Fleet) -> _Ground:
        """Return the ledgers that the clusters published."""
        base = {
            (cluster.name, pool.name): ledger.of(pool, dimensions.of(pool.node_class, cluster.accounting))
            for cluster in fleet.clusters
            for pool in cluster.pools
            if pool.node_class is not None
        }
        return cls(base, {})

    def plus(self, place: Location) -> _Ground | None:
        """Return the ledgers with a replica at a place, None if it does not fit."""
        changed = dict(self.changed)
        for holding in place.holdings:
            key = (place.cluster, holding.pool)
            before = changed.get(key) or self.base.get(key)
            if before is None:
                return None
            after = ledger.with_holding(before, holding)
            if ledger.fits_more(before, holding.shape, after) is not Answer.FITS:
                return None
            changed[key] = after
        return self._replace(changed=changed)

    def minus(self, place: Location) -> _Ground | None:
        """Return the ledgers without a replica at a place, None if it is not counted there."""
        changed = dict(self.changed)
        for holding in place.holdings:
            key = (place.cluster, holding.pool)
            before = changed.get(key) or self.base.get(key)
            after = None if before is None else ledger.released(before, [holding])
            if after is None or after == before:
                return None
            changed[key] = after
        return self._replace(changed=changed)


class _Mover:
    """The places for replicas of one deployment, with the counts during the search."""

    def __init__(self, fleet: Fleet, party: Party, without: str = "") -> None:
        self.party = party
        self.board = board = Board(fleet, party.demand, party.intent)
        relocation.count(board, party, without=without)
        self._eligible = [name for name in board.clusters if board.barred(name) is None and board.serving(name)]
        board.table.compare_prices()
        self._countable = ranking.countable_domains(board, self._eligible)
        self._places: tuple[Location, ...] | None = None

    def allows(self, name: str, *, is_last: bool) -> bool:
        """Return whether counts allow one more replica on a cluster. Spread is checked for the last one."""
        if self.board.counted_out(name) is not None:
            return False
        return not is_last or relocation.may_stand(self.board, self._countable, name)

    @property
    def places(self) -> tuple[Location, ...]:
        """Return every place on empty pools that serves the deployment, in the order of the scheduler."""
        if self._places is None:
            ordered = sorted(self._eligible, key=self._order)
            self._places = tuple(place for name in ordered for place in self._on(name))
        return self._places

    def _order(self, name: str) -> tuple[object, ...]:
        board = self.board
        found = board.solve(name)
        if found is None:
            return (1, -board.most_free(name), board.likeness(name), name)
        return (0, preference.of(board, name, found.goodness, board.likeness(name)))

    def _on(self, name: str) -> Iterator[Location]:
        board = self.board
        serving = board.serving(name)
        accounting = board.clusters[name].accounting
        empty = tuple(
            (number, ledger.of(replace(pool, allocations=()), board.table.dimensions(number, accounting)))
            for pool, number in serving
        )
        best = board.solve(name)
        first = [] if best is None else [best.roles]
        every = (board.holdings(name, chosen) for chosen in itertools.chain(first, board.table.every(empty)))
        yield from dict.fromkeys(Location(name, tuple(holdings)) for holdings in every)


_NOWHERE = Location("", ())


class _Unplaced(NamedTuple):
    """A replica that needs a place: a missing one without `name`, a blocked one, or one that has to move."""

    mover: _Mover
    name: str
    source: Location


class _Choice(NamedTuple):
    unplaced: _Unplaced
    place: Location


class _Search:
    """A search. It changes the boards of the deployments and restores them."""

    def __init__(self, scene: Scene, asker: str, blocked: str, trials_max: int) -> None:
        self._scene, self._asker, self._blocked = scene, asker, blocked
        self._left = trials_max
        self._movers: dict[str, _Mover] = {}
        self._residents = _residents(scene, f"{scene.parties[asker].intent.namespace}/{blocked}")

    def run(self) -> Moves:
        """Return the first set of moves that is confirmed."""
        interrupting: Moves | None = None
        mover = self._movers[self._asker] = _Mover(self._scene.fleet, self._scene.parties[self._asker], self._blocked)
        unplaced = _Unplaced(mover, self._blocked, _NOWHERE)
        ground = _Ground.of(self._scene.fleet)
        try:
            for spare in range(1, MOVES_MAX + 1):
                for choices in self._settled(ground, (unplaced,), frozenset(), spare, ()):
                    found = self._in_order(choices)
                    if found is not None and not any(move.makes_way for move in found.moves):
                        return found
                    interrupting = interrupting or found
        except _Bound:
            return replace(interrupting or Moves(), decided=False)
        return interrupting or Moves()

    def _trial(self) -> None:
        if self._left <= 0:
            raise _Bound
        self._left -= 1
        interruption.checkpoint()

    def _mover(self, party: str) -> _Mover:
        found = self._movers.get(party)
        if found is None:
            found = self._movers[party] = _Mover(self._scene.fleet, self._scene.parties[party])
        return found

    # --- who would have to leave, and where to ---------------------------------------------------------------------

    def _settled(
        self,
        ground: _Ground,
        homeless: tuple[_Unplaced, ...],
        moved: frozenset[str],
        spare: int,
        done: tuple[_Choice, ...],
    ) -> Iterator[tuple[_Choice, ...]]:
        """Yield every way to give all that are homeless a place with exactly `spare` more moves."""
        if not homeless:
            if not spare:
                yield done
            return
        unplaced, rest = homeless[0], homeless[1:]
        is_last = all(other.mover is not unplaced.mover for other in rest)
        for place in unplaced.mover.places:
            if place == unplaced.source or not unplaced.mover.allows(place.cluster, is_last=is_last):
                continue
            self._trial()
            there = ground.plus(place)
            chosen = (*done, _Choice(unplaced, place))
            unplaced.mover.board.tally.add(place.cluster, 1)
            if there is not None:
                # The last one's place leads to no further moves.
                yield from self._settled(there, rest, moved, spare, chosen) if rest or not spare else ()
            elif spare:
                for evicted, after in self._evictions(ground, place, spare, moved):
                    for one in evicted:
                        one.mover.board.tally.add(one.source.cluster, -1)
                    gone = moved | {one.mover.party.replica_key(one.name) for one in evicted}
                    yield from self._settled(after, (*rest, *evicted), gone, spare - len(evicted), chosen)
                    for one in evicted:
                        one.mover.board.tally.add(one.source.cluster, 1)
            unplaced.mover.board.tally.add(place.cluster, -1)

    def _evictions(
        self, ground: _Ground, place: Location, spare: int, moved: frozenset[str]
    ) -> Iterator[tuple[tuple[_Unplaced, ...], _Ground]]:
        """Yield the smallest sets of replicas without which a place has room, and the ground with it taken."""
        groups = self._groups(place, moved)
        enough: list[Counter[int]] = []
        for size in range(1, spare + 1):
            for picked in itertools.combinations_with_replacement(range(len(groups)), size):
                counts = Counter(picked)
                if any(counts[index] > len(groups[index]) for index in counts) or any(one <= counts for one in enough):
                    continue
                evicted = tuple(unplaced for index, many in sorted(counts.items()) for unplaced in groups[index][:many])
                self._trial()
                without: _Ground | None = ground
                for one in evicted:
                    without = None if without is None else without.minus(one.source)
                after = None if without is None else without.plus(place)
                if after is not None:
                    enough.append(counts)
                    yield evicted, after

    def _groups(self, place: Location, moved: frozenset[str]) -> list[list[_Unplaced]]:
        """Return the replicas that stand on the pools of a place and may leave, alike ones together."""
        found: dict[tuple[str, Location], list[_Unplaced]] = {}
        for pool in sorted({holding.pool for holding in place.holdings}):
            for party, one in self._residents.get((place.cluster, pool), ()):
                source = Location(one.cluster, one.holdings)
                if party.replica_key(one.name) not in moved:
                    group = found.setdefault((party.key, source), [])
                    if all(other.name != one.name for other in group):
                        group.append(_Unplaced(self._mover(party.key), one.name, source))
        return list(found.values())

    # --- made for real ---------------------------------------------------------------------------------------------

    def _in_order(self, choices: tuple[_Choice, ...]) -> Moves | None:
        """Return the choices as moves in an order in which each can be made, the fewest of them making way."""
        moves = [
            Move(unplaced.mover.party.key, unplaced.name, unplaced.source, place)
            for unplaced, place in choices
            if unplaced.source is not _NOWHERE
        ]
        for many in range(len(moves) + 1):
            for ways in itertools.combinations(range(len(moves)), many):
                # Who makes way goes first, so that its place is free for whoever comes there.
                marked = [replace(move, makes_way=index in ways) for index, move in enumerate(moves)]
                for order in itertools.permutations(marked):
                    if self._helps(order):
                        return Moves(order, choices[0].place)
        return None

    def _helps(self, moves: Sequence[Move]) -> bool:
        scene = self._scene
        for move in moves:
            if move.makes_way:
                scene = scene.without(move.key, move.source)
        for move in moves:
            self._trial()
            if not scene.takes(move):
                return False
            scene = scene.moved(move)
        return scene.lacks(self._asker) < self._scene.lacks(self._asker)


def _residents(scene: Scene, asking: str) -> dict[tuple[str, str], list[tuple[Party, CurrentReplica]]]:
    """Return the replicas that may be moved, by cluster and pool, those first whose move costs least.

    These serve as they are written, are admitted, and belong to deployments that move none already.
    """
    found: list[tuple[int, int, Party, CurrentReplica]] = []
    clusters = {cluster.name: cluster for cluster in scene.fleet.clusters}
    for party in scene.parties.values():
        present = {one.name for one in party.current.replicas}
        if any(one.replaces in present for one in party.current.replicas):
            continue
        for one in party.current.replicas:
            there, key = clusters.get(one.cluster), party.replica_key(one.name)
            is_settled = there is not None and key in there.admitted and not there.ambiguous
            if is_settled and one.ready and not one.outdated and key != asking:
                devices = sum(held.pods * count for held in one.holdings for _, count in held.shape.devices)
                found.append((party.intent.priority, devices, party, one))
    found.sort(key=lambda entry: (retention.age(entry[3]), entry[2].key), reverse=True)
    found.sort(key=lambda entry: entry[:2])
    by_pool: dict[tuple[str, str], list[tuple[Party, CurrentReplica]]] = {}
    for _, _, party, one in found:
        for pool in dict.fromkeys(holding.pool for holding in one.holdings):
            by_pool.setdefault((one.cluster, pool), []).append((party, one))
    return by_pool
