"""Explanation of a deployment's placement, with the verdict of every cluster on one more replica."""

from __future__ import annotations

from dataclasses import dataclass, replace

from modelplane.placement.decision import Closest, ClusterVerdict, Plan, ReasonCount
from modelplane.placement.diagnosis import blockages, counterfactual, shortfall
from modelplane.placement.diagnosis.misses import Nearness
from modelplane.placement.diagnosis.verdicts import Diagnosis
from modelplane.placement.scheduling import scheduler
from modelplane.placement.scheduling.board import Board
from modelplane.placement.snapshot import Current, Demand, Fleet, Intent


@dataclass(frozen=True, slots=True)
class Explanation:
    """The plan, and the verdict of every cluster on one more replica or on the successor of a blocked one.

    `message` has the form of kube-scheduler's. `closest` is the counterfactual, None when a replica fits or no change
    is known.
    """

    plan: Plan
    message: str
    reasons: tuple[ReasonCount, ...]
    verdicts: tuple[ClusterVerdict, ...]
    closest: Closest | None


def schedule(fleet: Fleet, demand: Demand, intent: Intent, current: Current) -> Plan:
    """Return the plan for one deployment: the retained, new, moved and shed replicas, and the reasons of a shortfall.

    Shape: independent of the order of every input; scheduling the result of the plan again changes nothing.
    Raises: InvalidSelector when a device selector does not compile (the author's fault).
    """
    return decide(fleet, demand, intent, current)[0]


def retain(fleet: Fleet, demand: Demand, intent: Intent, current: Current) -> Plan | None:
    """Return the plan of a deployment whose replicas only stay or are shed, None where others have to be looked for.

    Shape: `fleet` needs only the clusters of its replicas, but all of them. `schedule` returns the same plan then,
    whatever other clusters there are.
    Raises: as `schedule`.
    """
    decided = scheduler.decide(fleet, demand, intent, current)
    return decided.plan if decided.retains else None


def decide(fleet: Fleet, demand: Demand, intent: Intent, current: Current) -> tuple[Plan, Board]:
    """Return the plan and the board after it."""
    plan, missing, board, _ = scheduler.decide(fleet, demand, intent, current)
    if missing:
        plan = replace(plan, shortfall=shortfall.of(board, missing))
    return (blockages.explained(plan, board) if plan.blocked else plan), board


def explain(fleet: Fleet, demand: Demand, intent: Intent, current: Current) -> Explanation:
    """Return the explanation of the plan that `schedule` makes of the same snapshot.

    Raises: InvalidSelector when a device selector does not compile (the author's fault).
    """
    plan, board = decide(fleet, demand, intent, current)
    short = plan.shortfall
    if short is not None:
        # It was found on the board as the plan leaves it, so it is what would be found again.
        closest = None if any(verdict.fits for verdict in short.verdicts) else short.closest
        return Explanation(plan, short.message, short.reasons, short.verdicts, closest)
    if plan.blocked:
        # What keeps a successor out is what is asked about; one replica more may have another cause.
        with blockages.gone(board, plan, plan.blocked[0]):
            return _of_one_more(plan, board)
    return _of_one_more(plan, board)


def _of_one_more(plan: Plan, board: Board) -> Explanation:
    diagnosis = Diagnosis(board)
    verdicts = diagnosis.all()
    near = Nearness(board)
    fits = any(verdict.fits for verdict in verdicts)
    return Explanation(
        plan=plan,
        message=shortfall.message(verdicts, near),
        reasons=shortfall.reasons(verdicts, near),
        verdicts=verdicts,
        closest=None if fits else counterfactual.closest(board, diagnosis, verdicts, near),
    )
