"""Placement of a deployment's replicas: retain, shed, fill and move, in that order.

The scheduler keeps no state between calls. It recognizes a move in progress by the successor, which names the replica
that it replaces.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from modelplane import names
from modelplane.devices import matching
from modelplane.placement import snapshot
from modelplane.placement.decision import (
    BlockedMove,
    PlacedReplica,
    Plan,
    State,
)
from modelplane.placement.scheduling import filters, rebalancing, retention, storms
from modelplane.placement.scheduling.assignment import RoleAssignment
from modelplane.placement.scheduling.board import Board
from modelplane.placement.scheduling.placed_roles import PlacedRoles
from modelplane.placement.scheduling.ranking import Candidate, Ranking
from modelplane.placement.scheduling.retention import Cause, Migration, RetentionPlan
from modelplane.placement.snapshot import Current, CurrentReplica, Demand, Fleet, Holding, Intent

_BEGINS_LATER = frozenset({Cause.MAKES_ROOM, Cause.RECOVERS, Cause.DOUBTED})
"""Causes that begin no move while another could: others wish it, or it is not known whether there is one."""


class Decided(NamedTuple):
    """A plan without the reasons of its shortfall, the number of missing replicas, and the board after the plan.

    A plan that only `retains` was made without a look at any cluster on which the deployment has no replica.
    """

    plan: Plan
    missing: int
    board: Board
    retains: bool


def decide(fleet: Fleet, demand: Demand, intent: Intent, current: Current) -> Decided:
    """Return the retained, new, moved and shed replicas, and the number of missing ones.

    Shape: independent of the order of every input; scheduling the result of the plan again changes nothing.
    Raises: InvalidSelector when a device selector does not compile (the author's fault).
    """
    for role in demand.roles:
        matching.check(role.requests)
    board = Board(fleet, demand, replace(intent, replicas=max(0, intent.replicas)))
    retained = retention.settle(fleet, board, current.replicas)
    draft = _Draft(board, retained, current, fleet)
    draft.fill()
    draft.move()
    draft.offer()
    draft.ask()
    # Who explains why a replica is missing asks about those that wait, too: their own claims are left out.
    board.tally.waiting_on.clear()
    return Decided(draft.plan(), draft.missing, board, retains=not draft.looked_around)


class _Draft:
    """A plan in the making."""

    def __init__(self, board: Board, retained: RetentionPlan, current: Current, fleet: Fleet) -> None:
        self._fleet = fleet
        self._board = board
        self._retained = retained
        self._wanted = board.intent.replicas
        self._names = _fresh_names(board.intent.deployment, current)
        self._placed: dict[str, PlacedReplica] = {}
        self._blocked: list[BlockedMove] = []
        self._offered: tuple[str, ...] = ()
        self._recovers: tuple[str, ...] = ()
        self.missing = 0
        self._ranking: Ranking | None = None
        self._placed_roles = PlacedRoles(board.clusters)
        self._looked_for_offers = False

    @property
    def looked_around(self) -> bool:
        """Return whether clusters without a replica of the deployment took part in the plan."""
        return self._ranking is not None or self._looked_for_offers

    @property
    def _candidates(self) -> Ranking:
        """Return the clusters in order; ranked only when something is to be placed."""
        if self._ranking is None:
            self._ranking = Ranking(self._board, self._board.clusters)
        return self._ranking

    # --- fill ----------------------------------------------------------------------------------------------------

    def fill(self) -> None:
        """Place the missing replicas: first the refused ones, then those of lost clusters, then the rest."""
        missing = self._wanted - self._retained.places
        for replica in retention.newest_last(self._retained.refused.values()):
            missing -= 1
            placed = self._place(replaces=None)
            if placed is None:
                self.missing += 1
                self._wait(replica)
            else:
                where = "there with another assignment" if placed.cluster == replica.cluster else f"on {placed.cluster}"
                note = f"cluster {replica.cluster} refused it; a new replica is placed"
                self._retained.drop(replica.name, f"{note} {where}")
        gone = [replica.name for replica in retention.newest_last(self._retained.lost.values())]
        for position in range(missing):
            replaces = gone[position] if position < len(gone) else None
            if self._place(replaces=replaces) is None:
                self.missing += missing - position
                break

    def _wait(self, replica: CurrentReplica) -> None:
        """Keep a refused replica as its place in the queue, unless limits or spread forbid that it is admitted."""
        if self._candidates.takes(replica.cluster):
            self._board.tally.waiting_on[replica.cluster] += 1
            self._candidates.refresh(replica.cluster)
        else:
            note = f"cluster {replica.cluster} refused it; limits or spread constraints do not let it wait there"
            self._retained.drop(replica.name, note)

    def _recount(self, replica: CurrentReplica, more: int) -> None:
        """Count a replica in or out, and rank its cluster as it is then."""
        self._board.tally.add(replica.cluster, more)
        self._candidates.refresh(replica.cluster)

    def _place(self, *, replaces: str | None, note: str = "") -> PlacedReplica | None:
        candidate = self._candidates.best()
        return None if candidate is None else self._put(candidate, replaces, note)

    def _put(self, candidate: Candidate, replaces: str | None, note: str) -> PlacedReplica:
        placed = self._new(candidate.cluster, candidate.solution.roles, self._candidates.take(candidate), note)
        if replaces is not None:
            placed = replace(placed, state=State.MOVED, replaces=replaces)
        self._placed[placed.name] = placed
        return placed

    def _new(
        self, cluster: str, assigned: tuple[RoleAssignment, ...], holdings: list[Holding], note: str
    ) -> PlacedReplica:
        """Return a new replica with the next free name."""
        return PlacedReplica(
            name=next(self._names),
            cluster=cluster,
            backend=filters.backend(self._board.clusters[cluster], self._board.intent) or "",
            state=State.NEW,
            roles=self._placed_roles.assigned(cluster, assigned, holdings),
            rewrite=True,
            note=note,
        )

    # --- move ----------------------------------------------------------------------------------------------------

    def move(self) -> None:
        """Start at most one move: place a successor, else rewrite the replica in place, else delete it first."""
        self._recovers = tuple(
            sorted(old for old in self._retained.successors if self._retained.migrations[old].cause is Cause.RECOVERS)
        )
        if self._retained.successors or not self._retained.migrations:
            return
        migrations = self._retained.migrations.values()
        order = sorted((one for one in migrations if one.cause not in _BEGINS_LATER), key=_urgency)
        if not order:
            if not self._recover():
                self._make_room()
            return
        if any(self._place_successor(migration) for migration in self._differing(order)):
            return
        if not self._others_ready(order):
            self._block(order, "and not all other replicas are ready")
            return
        for migration in order:
            if self._rewrite(migration) or self._make_way(migration):
                return
        self._block(order, "and it no longer fits its own place")

    def _recover(self) -> bool:
        """Offer one replica that its cluster keeps down, and place its successor when its turn has come.

        The successor goes to another cluster, and nothing goes before it serves. Return whether any is kept down.
        """
        kept_down = [one for one in self._retained.migrations.values() if one.cause is Cause.RECOVERS]
        if not kept_down:
            return False
        order = sorted(kept_down, key=lambda one: (not self._has_turn(one.replica), _urgency(one)))
        storm = storms.told(self._fleet, self._retained.staying(), self._wanted)
        if storm:
            self._block(order, f"no replica is moved for failures: {storm}", is_held=True)
            return True
        for migration in order:
            replica = migration.replica
            everything = frozenset(pool.name for pool in self._board.clusters[replica.cluster].pools)
            self._recount(replica, -1)
            candidate = rebalancing.elsewhere(self._board, self._candidates, replica, everything)
            if candidate is None:
                self._recount(replica, 1)
                continue
            self._recovers = (replica.name,)
            if self._has_turn(replica):
                self._put(candidate, replica.name, f"it succeeds {replica.name}: {migration.detail}")
            else:
                self._recount(replica, 1)
            return True
        self._block(order, "no other cluster has room for a successor", is_held=True)
        return True

    def _has_turn(self, replica: CurrentReplica) -> bool:
        key = names.qualified(self._board.intent.namespace, replica.name)
        return key in self._board.clusters[replica.cluster].recovering

    def _make_room(self) -> None:
        """Place a successor of one replica that is asked to leave, unless anything of the deployment is amiss."""
        if not self._may_rebalance():
            return
        rooms = (one for one in self._retained.migrations.values() if one.cause is Cause.MAKES_ROOM)
        for migration in sorted(rooms, key=_urgency):
            replica = migration.replica
            key = names.qualified(self._board.intent.namespace, replica.name)
            needed = self._board.clusters[replica.cluster].asked.get(key, frozenset())
            self._recount(replica, -1)
            candidate = rebalancing.elsewhere(self._board, self._candidates, replica, needed)
            if candidate is not None:
                placed = self._put(candidate, replica.name, f"succeeds {replica.name}: {migration.detail}")
                self._placed[placed.name] = replace(placed, makes_room=True)
                return
            self._recount(replica, 1)

    def _may_rebalance(self) -> bool:
        found = self._retained
        amiss = self.missing or self._placed or found.refused or found.lost or found.shed
        return (
            self._board.intent.rebalance
            and not amiss
            and len(found.staying()) == self._wanted
            and rebalancing.is_settled(self._board, found.staying())
        )

    def ask(self) -> None:
        """Propose one missing replica where it has no room, so that others may make some; one at a time."""
        board = self._board
        if not (board.intent.rebalance and self.missing) or self._placed or self._retained.refused:
            return
        wish = rebalancing.wish(board, self._candidates)
        if wish is None:
            return
        holdings = board.holdings(wish.cluster, wish.roles)
        placed = self._new(wish.cluster, wish.roles, holdings, "asks for room: no cluster has any")
        self._placed[placed.name] = replace(placed, holds_place=False, asks=True)

    def offer(self) -> None:
        """Note which replicas may leave so that others have room: one that does already, else all that could."""
        moving = [one for one in self._retained.migrations.values() if one.cause is Cause.MAKES_ROOM]
        begun = {one.replaces for one in self._placed.values()} | self._retained.successors.keys()
        found = tuple(sorted(one.replica.name for one in moving if one.replica.name in begun))
        if not found and self._may_rebalance():
            board, staying = self._board, self._retained.staying()
            self._looked_for_offers = rebalancing.is_anybody_refused(board, staying)
            if self._looked_for_offers:
                found = rebalancing.offers(self._fleet, board.table.demand, board.intent, staying)
        self._offered = found

    def _differing(self, order: list[Migration]) -> list[Migration]:
        """Return those for whose successors different places may be open: only counts tell one from another."""
        intent = self._board.intent
        if not intent.spread and not intent.max_replicas_per_cluster:
            return order[:1]
        return list({migration.replica.cluster: migration for migration in reversed(order)}.values())[::-1]

    def _place_successor(self, migration: Migration) -> bool:
        """Place a successor as if the replica that it succeeds were gone.

        While both stand, limits and spread may be exceeded by the one that leaves, and by nothing else.
        """
        replica = migration.replica
        self._recount(replica, -1)
        if self._place(replaces=replica.name, note=f"it succeeds {replica.name}: {migration.detail}") is not None:
            return True
        self._recount(replica, 1)
        return False

    def _others_ready(self, order: list[Migration]) -> bool:
        """Return whether stopping one replica leaves all others serving.

        Those on clusters that are not ready do not count.
        """
        if self._placed or self.missing:
            return False
        clusters = self._board.clusters
        replicas = self._retained.keepers.values()
        return all(r.ready for r in replicas if r.cluster in clusters and clusters[r.cluster].ready)

    def _rewrite(self, migration: Migration) -> bool:
        """Write the present template into the replica where it is, if it then takes no more than it holds already."""
        replica = migration.replica
        if migration.cause is not Cause.OUTDATED or not replica.backend or not self._may_stay(replica):
            return False
        pools = frozenset(holding.pool for holding in replica.holdings)
        solution = self._board.solve_without(replica, pools)
        if solution is None:
            return False
        holdings = self._board.holdings(replica.cluster, solution.roles)
        if not snapshot.within(tuple(holdings), replica.holdings):
            return False  # more than it holds, and somebody's proposal could be in the way
        self._placed[replica.name] = PlacedReplica(
            name=replica.name,
            cluster=replica.cluster,
            backend=replica.backend,
            state=State.RETAINED,
            roles=self._placed_roles.assigned(replica.cluster, solution.roles, holdings),
            admission=self._board.admission(replica),
            rewrite=True,
            replaces=replica.replaces,
            note="it is updated in place: no cluster has room for a successor beside it",
        )
        return True

    def _make_way(self, migration: Migration) -> bool:
        """Let the replica go first, so that its successor finds the place free: for want of room for both.

        The successor is proposed once the place is seen to be free; proposed now it would only be refused.
        """
        replica = migration.replica
        if migration.cause is Cause.DRAINED or not self._may_stay(replica):
            return False
        self._recount(replica, -1)
        if self._board.solve_without(replica) is None or not self._candidates.takes(replica.cluster):
            self._recount(replica, 1)
            return False
        self._retained.drop(
            replica.name, f"{migration.detail}; no cluster has room for it and its successor, so it is deleted first"
        )
        self.missing += 1
        return True

    def _may_stay(self, replica: CurrentReplica) -> bool:
        board = self._board
        return board.barred(replica.cluster) is None and replica.cluster not in board.refusals.on

    def _block(self, order: Iterable[Migration], why: str, *, is_held: bool = False) -> None:
        for migration in order:
            message = why if is_held else f"no cluster takes a successor, {why}"
            self._blocked.append(BlockedMove(migration.replica.name, migration.detail, message, is_held))

    # --- plan ----------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        """Return the plan with all replicas by name."""
        replicas = {**dict(self._kept()), **self._placed}
        for name, (replica, reason) in self._retained.shed.items():
            replicas[name] = self._observed(replica, State.SHED, reason)
        return Plan(
            replicas=tuple(replicas[name] for name in sorted(replicas)),
            wanted=self._wanted,
            blocked=tuple(sorted(self._blocked, key=lambda blocked: blocked.replica)),
            offered=self._offered,
            recovers=self._recovers,
        )

    def _kept(self) -> Iterator[tuple[str, PlacedReplica]]:
        for name, replica in self._retained.keepers.items():
            yield name, self._observed(replica, State.RETAINED, "")
        for name, migration in self._retained.migrations.items():
            yield name, self._observed(migration.replica, State.RETAINED, self._migration_note(migration))
        for name, replica in self._retained.refused.items():
            note = f"its cluster refused it, and it waits there: {self._board.refusals.on[replica.cluster]}"
            yield name, self._observed(replica, State.RETAINED, note, holds_place=False)
        lost = retention.newest_last(self._retained.lost.values())
        held = retention.held_lost(self._retained, self._wanted)
        for position, replica in enumerate(lost):
            gone = f"cluster {replica.cluster} no longer exists"
            if position < held:
                note = f"{gone}; the replica is held until others are ready in its place"
                yield replica.name, self._observed(replica, State.RETAINED, note, holds_place=False)
            else:
                yield replica.name, self._observed(replica, State.SHED, gone)

    def _migration_note(self, migration: Migration) -> str:
        name = migration.replica.name
        successor = self._retained.successors.get(name)
        if successor is None:
            successor = next((new.name for new in self._placed.values() if new.replaces == name), None)
        if successor is not None:
            return f"{migration.detail}; it stays until its successor {successor} is ready"
        return f"{migration.detail}; it waits for its turn to move"

    def _observed(self, replica: CurrentReplica, state: State, note: str, *, holds_place: bool = True) -> PlacedReplica:
        return PlacedReplica(
            name=replica.name,
            cluster=replica.cluster,
            backend=replica.backend,
            state=state,
            roles=self._placed_roles.held(replica.cluster, replica.holdings),
            admission=self._board.admission(replica),
            holds_place=holds_place and state is not State.SHED,
            replaces=replica.replaces,
            note=note,
        )


def _fresh_names(deployment: str, current: Current) -> Iterator[str]:
    """Return the names that are not taken, by number.

    A name that some replica once succeeded is taken as well: a new one of that name would be taken for succeeded.
    """
    succeeded = {replica.replaces for replica in current.replicas if replica.replaces is not None}
    taken = {replica.name for replica in current.replicas} | succeeded | current.taken_names
    for number in itertools.count():
        name = names.replica(deployment, number)
        if name not in taken:
            yield name


def _urgency(migration: Migration) -> tuple[int, bool, tuple[str, int, str]]:
    return (list(Cause).index(migration.cause), migration.replica.ready, retention.age(migration.replica))
