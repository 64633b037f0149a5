"""Relocation of replicas on a copy of the fleet.

A move is made as the scheduler makes it: the successor is placed while its predecessor still holds its place, and is
judged as if the predecessor were gone. The module does not search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from modelplane import names
from modelplane.placement.capacity import ledger
from modelplane.placement.decision import State
from modelplane.placement.packing.load import Answer
from modelplane.placement.scheduling import assignment, ranking, scheduler
from modelplane.placement.scheduling.board import Board
from modelplane.placement.snapshot import (
    Allocation,
    Cluster,
    Current,
    CurrentReplica,
    Demand,
    Fleet,
    Holding,
    Intent,
    Pool,
)


@dataclass(frozen=True, slots=True)
class Party:
    """A deployment whose replicas may be moved, or that misses some: its demand, its intent and its replicas."""

    demand: Demand
    intent: Intent
    current: Current

    @property
    def key(self) -> str:
        """Return `namespace/name` of the deployment."""
        return names.qualified(self.intent.namespace, self.intent.deployment)

    def replica_key(self, name: str) -> str:
        """Return `namespace/name` of a replica of the deployment."""
        return names.qualified(self.intent.namespace, name)


class Location(NamedTuple):
    """A cluster, and the holdings of a replica there."""

    cluster: str
    holdings: tuple[Holding, ...]

    def __str__(self) -> str:
        """Return the place as it is written in messages."""
        pools = "+".join(dict.fromkeys(holding.pool for holding in self.holdings))
        return f"{self.cluster}/{pools}"


@dataclass(frozen=True, slots=True)
class Move:
    """A move of one replica of a deployment (`party`) from one place to another.

    A replica that `makes_way` is deleted before its successor has a place, so that it is interrupted.
    """

    party: str
    replica: str
    source: Location
    target: Location
    makes_way: bool = False

    @property
    def key(self) -> str:
        """Return `namespace/name` of the replica."""
        return names.qualified(self.party.partition("/")[0], self.replica)

    def __str__(self) -> str:
        """Return the move as the end of "it would fit if ..."."""
        way = ", making way before its successor has a place" if self.makes_way else ""
        return f"{self.key} moved from {self.source} to {self.target}{way}"


@dataclass(frozen=True, slots=True)
class Scene:
    """A fleet whose ledgers count every replica of the parties, and the parties by key. It has no refusals."""

    fleet: Fleet
    parties: Mapping[str, Party]

    @classmethod
    def of(cls, fleet: Fleet, parties: Iterable[Party]) -> Scene:
        """Return the scene, which also counts replicas that are proposed and not published yet."""
        before = {cluster.name: cluster for cluster in fleet.clusters}
        # What a cluster refused holds nothing and is judged anew once something has moved, so it is simply missing.
        told = tuple(replace(cluster, refused={}) for cluster in fleet.clusters)
        scene = cls(replace(fleet, clusters=told), {})
        for party in sorted(parties, key=lambda party: party.key):
            kept = tuple(one for one in party.current.replicas if not _is_refused(before.get(one.cluster), party, one))
            known = replace(party, current=replace(party.current, replicas=kept))
            scene = replace(scene, parties={**scene.parties, party.key: known})
            for one in kept:
                there, key = before.get(one.cluster), party.replica_key(one.name)
                if there is not None and key not in there.admitted:
                    scene = scene.with_standing(key, Location(one.cluster, one.holdings))
        return scene

    def with_standing(self, key: str, place: Location) -> Scene:
        """Return the scene with a replica added at a place; it keeps its other places."""
        return self._with_cluster(place.cluster, lambda cluster: _standing(cluster, key, place.holdings))

    def without(self, key: str, place: Location) -> Scene:
        """Return the scene with a replica removed from a place."""
        return self._with_cluster(place.cluster, lambda cluster: _gone(cluster, place.holdings))

    def _with_cluster(self, name: str, changed: Callable[[Cluster], Cluster]) -> Scene:
        clusters = tuple(changed(one) if one.name == name else one for one in self.fleet.clusters)
        return replace(self, fleet=replace(self.fleet, clusters=clusters))

    def takes(self, move: Move) -> bool:
        """Return whether the target takes the successor. The predecessor does not count for limits and spread.

        Its devices are on the ledgers and still count, unless it has made way.
        """
        party = self.parties[move.party]
        board = Board(self.fleet, party.demand, party.intent)
        count(board, party, without=move.replica)
        eligible = [name for name in board.clusters if board.barred(name) is None]
        return may_stand(board, ranking.countable_domains(board, eligible), move.target.cluster) and has_room(
            board, move.target
        )

    def moved(self, move: Move) -> Scene:
        """Return the scene after the move: the successor holds its place and its predecessor is gone."""
        scene = self.with_standing(move.key, move.target)
        if not move.makes_way:
            scene = scene.without(move.key, move.source)
        if move.source.cluster != move.target.cluster:
            scene = scene._with_cluster(move.source.cluster, lambda cluster: _unlisted(cluster, move.key))
        party = self.parties[move.party]
        replicas = tuple(
            replace(one, cluster=move.target.cluster, holdings=move.target.holdings)
            if one.name == move.replica
            else one
            for one in party.current.replicas
        )
        after = replace(party, current=replace(party.current, replicas=replicas))
        return replace(scene, parties={**scene.parties, party.key: after})

    def lacks(self, key: str) -> int:
        """Return the number of replicas of a deployment that have no place or cannot move."""
        party = self.parties[key]
        plan, missing, *_ = scheduler.decide(self.fleet, party.demand, party.intent, party.current)
        return missing + len(plan.blocked)

    def filled(self, key: str) -> tuple[Scene, tuple[Location, ...]]:
        """Return the scene with the replicas that the scheduler now places, admitted and ready, and their places."""
        party, scene, places = self.parties[key], self, []
        plan = scheduler.decide(self.fleet, party.demand, party.intent, party.current).plan
        left = {one.name for one in plan.shed}
        replicas = [one for one in party.current.replicas if one.name not in left]
        for one in plan.composed:
            if one.state is State.NEW:
                held = tuple(Holding(r.role, r.pool, r.pods, r.shape, r.nodes_per_worker) for r in one.roles)
                places.append(Location(one.cluster, held))
                scene = scene.with_standing(party.replica_key(one.name), places[-1])
                replicas.append(CurrentReplica(one.name, one.cluster, one.backend, held, ready=True, bound=True))
        after = replace(party, current=replace(party.current, replicas=tuple(replicas)))
        return replace(scene, parties={**scene.parties, key: after}), tuple(places)


def count(board: Board, party: Party, *, without: str = "") -> None:
    """Count a deployment's replicas on a fresh board."""
    for one in party.current.replicas:
        if one.name != without:
            board.tally.add(one.cluster, 1)


def may_stand(board: Board, countable: tuple[frozenset[str], ...], name: str) -> bool:
    """Return whether filters, limits and spread constraints allow one more replica on a cluster."""
    if name not in board.clusters or board.barred(name) is not None or board.counted_out(name) is not None:
        return False
    domain = board.tally.domain(name)
    return domain is not None and ranking.skew_violation(board, domain, countable) is None


def has_room(board: Board, place: Location) -> bool:
    """Return whether the pools serve the holdings and have room for them beside all others."""
    pools = {pool.name: index for index, (pool, _) in enumerate(board.serving(place.cluster))}
    states = list(board.ledgers(place.cluster))
    for position, (role, holding) in enumerate(zip(board.table.demand.roles, place.holdings, strict=True)):
        index = pools.get(holding.pool)
        if index is None:
            return False
        options = board.table.matches(board.serving(place.cluster)[index][1])[position].options
        if all(assignment.shape_of(role, option) != holding.shape for option in options):
            return False
        after = ledger.with_holding(states[index], holding)
        if ledger.fits_more(states[index], holding.shape, after) is not Answer.FITS:
            return False
        states[index] = after
    return True


def _is_refused(cluster: Cluster | None, party: Party, one: CurrentReplica) -> bool:
    return cluster is not None and party.replica_key(one.name) in cluster.refused and not one.bound


def _standing(cluster: Cluster, key: str, holdings: tuple[Holding, ...]) -> Cluster:
    pools = tuple(_with(pool, holdings) for pool in cluster.pools)
    return replace(cluster, pools=pools, admitted=cluster.admitted | {key})


def _gone(cluster: Cluster, holdings: tuple[Holding, ...]) -> Cluster:
    return replace(cluster, pools=tuple(without(pool, holdings) for pool in cluster.pools))


def _unlisted(cluster: Cluster, key: str) -> Cluster:
    return replace(cluster, admitted=cluster.admitted - {key})


def _with(pool: Pool, holdings: tuple[Holding, ...]) -> Pool:
    more = tuple(Allocation(one.shape, one.pods, one.nodes_per_worker) for one in holdings if one.pool == pool.name)
    return replace(pool, allocations=(*pool.allocations, *more)) if more else pool


def without(pool: Pool, holdings: tuple[Holding, ...]) -> Pool:
    """Return the pool without the published allocations of some holdings. Holdings that it lacks are ignored."""
    left: tuple[Allocation, ...] = pool.allocations
    for holding in holdings:
        if holding.pool != pool.name:
            continue
        for index, entry in enumerate(left):
            same = (entry.shape, entry.nodes_per_worker) == (holding.shape, holding.nodes_per_worker)
            if same and entry.pods >= holding.pods:
                left = (*left[:index], entry._replace(pods=entry.pods - holding.pods), *left[index + 1 :])
                break
    return replace(pool, allocations=left)
