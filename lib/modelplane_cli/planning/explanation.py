"""Why replicas are where they are, and why nowhere else, asked of the very functions that placed them.

A replica is judged by taking it away and asking where it would go: what every cluster says then, and how those that
would take it compare, in the order in which the scheduler compares them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane import names
from modelplane.errors import InvalidInput
from modelplane.placement import counterfactual, demand, ranking, scheduler, shortfall
from modelplane.placement.board import Board
from modelplane.placement.misses import Nearness
from modelplane.placement.model import Allocation, Cluster, CurrentReplica, Fleet, Holding, Pool, Strategy
from modelplane.placement.plan import Admission, Closest, ClusterVerdict, PlacedReplica, Plan
from modelplane.placement.verdicts import Judge
from modelplane_cli.planning import amendments
from modelplane_cli.planning.amendments import Amendment, Documents
from modelplane_cli.planning.decision import Decision
from modelplane_functions.compose.model_deployment import Facts

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Rival:
    """A cluster that would take the replica too; `why` it comes after (or, `preferred`, before) the one it is on."""

    cluster: str
    why: str
    preferred: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """Why one replica is where it is. `fits` is None where its own cluster cannot be asked any more.

    `arguments` is what was added to its engine's command line, empty while nothing is rendered.
    """

    replica: PlacedReplica
    fits: ClusterVerdict | None
    rivals: tuple[Rival, ...]
    others: tuple[ClusterVerdict, ...]
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to one question: `message` reads as kube-scheduler's, `verdicts` has every cluster by name.

    They are about one more replica, or, `about` a replica, about that one as if it were not there.
    """

    namespace: str
    name: str
    about: str
    plan: Plan
    standings: tuple[Standing, ...]
    message: str
    verdicts: tuple[ClusterVerdict, ...]
    closest: Closest | None
    amendment: Amendment

    @property
    def is_placed(self) -> bool:
        """Return whether everything asked about is placed where it may be."""
        if self.about:
            asked = [one for one in self.plan.composed if one.name == self.about]
            return all(one.holds_place and one.admission is Admission.ADMITTED for one in asked)
        return self.plan.shortfall is None and not self.plan.blocked

    @property
    def helpless(self) -> str:
        """Return why nothing is said to help where no cluster fits and no change was found, else empty."""
        if self.closest is not None or any(verdict.fits for verdict in self.verdicts):
            return ""
        if not self.verdicts:
            return "no change is known that would help: there is no cluster to change"
        first = min(self.verdicts, key=lambda verdict: (counterfactual.rank(verdict), verdict.cluster))
        return f"no change is known that would help; {first.cluster} says {first.reason}: {first.detail}"


def deployment(decision: Decision, documents: Documents | None = None) -> Answer:
    """Return why each replica of a deployment is where it is, and what every cluster says to one more.

    `documents` are what people wrote, in which something can be changed.
    """
    found = decision.explanation()
    intent = decision.facts.intent
    return Answer(
        namespace=intent.namespace,
        name=intent.deployment,
        about="",
        plan=found.plan,
        standings=tuple(_standings(decision.facts, found.plan)),
        message=found.message,
        verdicts=found.verdicts,
        closest=found.closest,
        amendment=_amendment(found.closest, decision.facts, documents),
    )


def _amendment(closest: Closest | None, facts: Facts, documents: Documents | None) -> Amendment:
    return Amendment((), ()) if closest is None else amendments.of(closest, facts, documents or {})


def replica(decision: Decision, name: str, documents: Documents | None = None) -> Answer:
    """Return why one replica of a deployment is where it is, and what every cluster says to it.

    Raises: InvalidInput when its deployment has no say over it any more.
    """
    facts = decision.facts
    plan = decision.plan()
    placed = next((one for one in plan.replicas if one.name == name), None)
    if placed is None:
        raise InvalidInput("it is being deleted; ask about its ModelDeployment, or about the replica in its stead")
    board = _board_without(facts, plan, name)
    judge, near = Judge(board), Nearness(board)
    verdicts = judge.all()
    fits = any(verdict.fits for verdict in verdicts)
    closest = None if fits else counterfactual.closest(board, judge, verdicts, near)
    return Answer(
        namespace=facts.intent.namespace,
        name=name,
        about=name,
        plan=plan,
        standings=(_standing(board, placed, verdicts),),
        message=shortfall.message(verdicts, near),
        verdicts=verdicts,
        closest=closest,
        amendment=_amendment(closest, facts, documents),
    )


# --- one replica taken away -------------------------------------------------------------------------------------------


def _standings(facts: Facts, plan: Plan) -> Iterator[Standing]:
    """Yield why each replica is where it is; replicas that hold the same on one cluster are judged once."""
    judged: dict[tuple[object, ...], Standing] = {}
    for placed in plan.composed:
        same = (
            placed.cluster,
            tuple((role.role, role.pool, role.shape, role.pods) for role in placed.roles),
            placed.admission,
        )
        if same not in judged:
            board = _board_without(facts, plan, placed.name)
            judged[same] = _standing(board, placed, Judge(board).all())
        yield replace(judged[same], replica=placed)


def _standing(board: Board, placed: PlacedReplica, verdicts: tuple[ClusterVerdict, ...]) -> Standing:
    by_name = {verdict.cluster: verdict for verdict in verdicts}
    own = by_name.get(placed.cluster)
    fitting = [verdict.cluster for verdict in verdicts if verdict.fits]
    rivals = tuple(_rivals(board, placed.cluster, fitting)) if own is not None and own.fits else ()
    others = tuple(verdict for verdict in verdicts if not verdict.fits and verdict.cluster != placed.cluster)
    return Standing(placed, own, rivals, others)


def _board_without(facts: Facts, plan: Plan, name: str) -> Board:
    """Return the board as the scheduler sees it once a replica is gone and nothing has taken its place.

    Of a deployment that misses some, none of those may take it either.
    """
    gone = next((one for one in facts.current.replicas if one.name == name), None)
    others = tuple(one for one in facts.current.replicas if one.name != name)
    wanted = sum(one.holds_place for one in plan.composed if one.name != name)
    fleet = facts.fleet if gone is None else _fleet_without(facts.fleet, facts.intent.namespace, gone)
    intent = replace(facts.intent, replicas=wanted)
    current = replace(facts.current, replicas=others)
    board = scheduler.decide(fleet, demand.of(facts.workload), intent, current)[1]
    for cluster in board.clusters:
        if board.barred(cluster) is None:
            board.lots(cluster)
    # Before anything is solved, as the ranking does: solutions remember prices as they were compared then.
    board.table.compare_prices()
    return board


def _fleet_without(fleet: Fleet, namespace: str, gone: CurrentReplica) -> Fleet:
    key = names.qualified(namespace, gone.name)
    return replace(fleet, clusters=tuple(_cluster_without(one, key, gone) for one in fleet.clusters))


def _cluster_without(cluster: Cluster, key: str, gone: CurrentReplica) -> Cluster:
    if cluster.name != gone.cluster:
        return cluster
    pools = cluster.pools
    if key in cluster.admitted:
        pools = tuple(_pool_without(pool, gone.holdings) for pool in pools)
    refused = {name: note for name, note in cluster.refused.items() if name != key}
    return replace(cluster, pools=pools, admitted=cluster.admitted - {key}, refused=refused)


def _pool_without(pool: Pool, holdings: tuple[Holding, ...]) -> Pool:
    """Return the pool without what it published for some holdings; what is not found there was not published."""
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


# --- the order of clusters --------------------------------------------------------------------------------------------


def _rivals(board: Board, own: str, fitting: list[str]) -> Iterator[Rival]:
    """Yield the other clusters that would take it, each with the first thing in which it differs."""
    mine = _order(board, own)
    for name in fitting:
        other = _order(board, name)
        if name == own or mine is None or other is None:
            continue
        position = next((index for index, pair in enumerate(zip(mine, other, strict=True)) if pair[0] != pair[1]), None)
        if position is not None:
            yield Rival(name, _compared(board, position, mine, other), preferred=other < mine)


def _order(board: Board, name: str) -> tuple[Any, ...] | None:
    """Return everything by which the scheduler compares clusters, in its order."""
    solution, domain = board.solve(name), board.domain(name)
    if solution is None or domain is None:
        return None
    counts = tuple(counter[value] for counter, value in zip(board.replicas_in, domain, strict=True))
    return (counts, domain, *ranking.key(board, name, solution.key))


def _compared(board: Board, position: int, mine: tuple[Any, ...], other: tuple[Any, ...]) -> str:
    """Return the first difference in words, the rival's value first."""
    theirs, ours = other[position], mine[position]
    if position <= 1:
        keys = ", ".join(constraint.topology_key for constraint in board.intent.spread)
        return f"spread over {keys}: {_counts(theirs)} against {_counts(ours)}"
    if position == 2:
        sign = 1 if board.intent.strategy is Strategy.SPREAD else -1
        return f"{board.intent.strategy}: {sign * theirs} of its other replicas there against {sign * ours}"
    if position == 5:
        return f"price per hour of the nodes it would open: {_price(theirs)} against {_price(ours)}"
    return _WORDS[position].format(theirs=theirs, ours=ours)


_WORDS: Mapping[int, str] = {
    3: "the model cache is ready on one of the two only",
    4: "{theirs} PreferNoSchedule taints against {ours}",
    6: "it would open {theirs} nodes against {ours}",
    7: "it would leave {theirs} devices free in its pools against {ours}: the tighter fit comes first",
    8: "alike in everything else; names decide",
}


def _counts(value: tuple[Any, ...]) -> str:
    return ", ".join(str(one) for one in value)


def _price(value: tuple[int, Any]) -> str:
    unknown, amount = value
    return "unknown" if unknown else str(amount)


# --- as JSON ----------------------------------------------------------------------------------------------------------


def encode(answer: Answer) -> dict[str, Json]:
    """Return the answer as JSON. Its keys are a promise: some may be added, none changed."""
    closest = answer.closest
    return {
        "kind": "ModelReplica" if answer.about else "ModelDeployment",
        "namespace": answer.namespace,
        "name": answer.name,
        "message": answer.message,
        "placed": answer.is_placed,
        "clusters": [_encode_verdict(verdict) for verdict in answer.verdicts],
        "closest": None if closest is None else amendments.encoded(closest, answer.amendment),
        "noChange": answer.helpless or None,
        "replicas": [_encode_standing(standing) for standing in answer.standings],
        "blocked": [
            {"replica": one.replica, "cause": one.cause, "message": one.message} for one in answer.plan.blocked
        ],
    }


def _encode_verdict(verdict: ClusterVerdict) -> dict[str, Json]:
    return {
        "cluster": verdict.cluster,
        "fits": verdict.fits,
        "reason": None if verdict.reason is None else str(verdict.reason),
        "detail": verdict.detail,
        "pools": [
            {
                "pool": pool.pool,
                "role": str(pool.role),
                "fits": pool.fits,
                "reason": None if pool.reason is None else str(pool.reason),
                "detail": pool.detail,
            }
            for pool in verdict.pools
        ],
    }


def _encode_standing(standing: Standing) -> dict[str, Json]:
    placed = standing.replica
    return {
        "name": placed.name,
        "cluster": placed.cluster,
        "pools": {str(role.role): role.pool for role in placed.roles},
        "admission": str(placed.admission),
        "note": placed.note,
        "engineArguments": standing.arguments,
        "fits": None if standing.fits is None else standing.fits.fits,
        "wouldAlsoFit": [
            {"cluster": rival.cluster, "preferred": rival.preferred, "why": rival.why} for rival in standing.rivals
        ],
        "wouldNotFit": [
            {"cluster": verdict.cluster, "reason": str(verdict.reason), "detail": verdict.detail}
            for verdict in standing.others
        ],
    }
