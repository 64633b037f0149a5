"""Standing of a placed replica: the reasons for its cluster and against every other.

The replica is removed from the snapshot and scheduled again. The same functions that placed it give the verdict of
every cluster, and compare the clusters that would take it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from modelplane import names
from modelplane.placement.decision import Closest, ClusterVerdict, PlacedReplica, Plan
from modelplane.placement.diagnosis import alternatives, counterfactual, relocation, shortfall
from modelplane.placement.diagnosis.misses import Nearness
from modelplane.placement.diagnosis.verdicts import Diagnosis
from modelplane.placement.scheduling import preference, scheduler, spending
from modelplane.placement.scheduling.board import Board
from modelplane.placement.scheduling.preference import Preference
from modelplane.placement.snapshot import Cluster, CurrentReplica, Fleet, Snapshot, devices_of


@dataclass(frozen=True, slots=True)
class Rival:
    """Another cluster that would take the replica. `why` is the difference that ranks it lower, or higher."""

    cluster: str
    why: str
    preferred: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """The reasons for the cluster of one replica. `fits` is None when that cluster no longer exists.

    `alternatives` are lines that name the alternatives that serve it, and why no preferred alternative does.
    """

    replica: PlacedReplica
    fits: ClusterVerdict | None
    rivals: tuple[Rival, ...]
    others: tuple[ClusterVerdict, ...]
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplicaExplanation:
    """The standing of one replica, and the verdict of every cluster on it, computed without the replica."""

    standing: Standing
    message: str
    verdicts: tuple[ClusterVerdict, ...]
    closest: Closest | None


def explain_replica(snapshot: Snapshot, plan: Plan, placed: PlacedReplica) -> ReplicaExplanation:
    """Return the standing of a replica of the plan, with the verdict of every cluster."""
    board = _board_without(snapshot, plan, placed.name)
    diagnosis, near = Diagnosis(board), Nearness(board)
    verdicts = diagnosis.all()
    fits = any(verdict.fits for verdict in verdicts)
    return ReplicaExplanation(
        standing=_standing(board, placed, verdicts),
        message=shortfall.message(verdicts, near),
        verdicts=verdicts,
        closest=None if fits else counterfactual.closest(board, diagnosis, verdicts, near),
    )


def standings(snapshot: Snapshot, plan: Plan) -> Iterator[Standing]:
    """Yield the standing of each replica; replicas with equal holdings on one cluster are judged once."""
    judged: dict[tuple[object, ...], Standing] = {}
    for placed in plan.composed:
        same = (
            placed.cluster,
            tuple((role.role, role.pool, role.shape, role.pods) for role in placed.roles),
            placed.admission,
        )
        if same not in judged:
            board = _board_without(snapshot, plan, placed.name)
            judged[same] = _standing(board, placed, Diagnosis(board).all())
        yield replace(judged[same], replica=placed)


def _standing(board: Board, placed: PlacedReplica, verdicts: tuple[ClusterVerdict, ...]) -> Standing:
    by_name = {verdict.cluster: verdict for verdict in verdicts}
    own = by_name.get(placed.cluster)
    fitting = [verdict.cluster for verdict in verdicts if verdict.fits]
    rivals = tuple(_rivals(board, placed.cluster, fitting)) if own is not None and own.fits else ()
    others = tuple(verdict for verdict in verdicts if not verdict.fits and verdict.cluster != placed.cluster)
    return Standing(placed, own, rivals, others, alternatives.told(board, placed))


def _rivals(board: Board, own: str, fitting: list[str]) -> Iterator[Rival]:
    """Yield the other clusters that would take it, each with the first thing in which it differs."""
    mine = _preference(board, own)
    for name in fitting:
        other = _preference(board, name)
        if name == own or mine is None or other is None:
            continue
        yield Rival(name, preference.difference(board.intent, other, mine), preferred=other < mine)


def _preference(board: Board, name: str) -> Preference | None:
    """Return everything by which the scheduler compares the cluster, None when it takes no replica."""
    found, domain = board.solve(name), board.tally.domain(name)
    if found is None or domain is None:
        return None
    return preference.of(board, name, found.goodness, board.likeness(name), board.tally.counts_in(domain))


# --- one replica taken away -------------------------------------------------------------------------------------------


def _board_without(snapshot: Snapshot, plan: Plan, name: str) -> Board:
    """Return the board as the scheduler sees it once a replica is gone and nothing has taken its place.

    Of a deployment that misses some, none of those may take it either.
    """
    gone = next((one for one in snapshot.current.replicas if one.name == name), None)
    others = tuple(one for one in snapshot.current.replicas if one.name != name)
    wanted = sum(one.holds_place for one in plan.composed if one.name != name)
    fleet = snapshot.fleet if gone is None else _fleet_without(snapshot.fleet, snapshot.intent.namespace, gone)
    budgets = snapshot.intent.budgets
    if gone is not None and budgets:
        key = names.qualified(snapshot.intent.namespace, gone.name)
        for cluster in snapshot.fleet.clusters:
            if cluster.name == gone.cluster:
                budgets = spending.released(budgets, cluster, key, gone.holdings)
    intent = replace(snapshot.intent, replicas=wanted, budgets=budgets)
    board = scheduler.decide(fleet, snapshot.demand, intent, replace(snapshot.current, replicas=others)).board
    if budgets != snapshot.intent.budgets:
        board.take_back_quota_refusals()
    for place in board.clusters:
        if board.barred(place) is None:
            board.serving(place)
    # Before anything is solved, as the ranking does: solutions remember prices as they were compared then.
    board.table.compare_prices()
    return board


def _fleet_without(fleet: Fleet, namespace: str, gone: CurrentReplica) -> Fleet:
    key = names.qualified(namespace, gone.name)
    return replace(fleet, clusters=tuple(_cluster_without(one, key, gone) for one in fleet.clusters))


def _cluster_without(cluster: Cluster, key: str, gone: CurrentReplica) -> Cluster:
    if cluster.name != gone.cluster:
        return cluster
    pools, queue = cluster.pools, cluster.queue
    if key in cluster.admitted:
        pools = tuple(relocation.without(pool, gone.holdings) for pool in pools)
        queue = None if queue is None else queue.without(devices_of(gone.holdings))
    refused = {name: note for name, note in cluster.refused.items() if name != key}
    return replace(cluster, pools=pools, queue=queue, admitted=cluster.admitted - {key}, refused=refused)
