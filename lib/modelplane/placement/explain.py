"""Why a deployment's replicas are where they are, and what every cluster says to one more."""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.placement import counterfactual, scheduler, shortfall
from modelplane.placement.misses import Nearness
from modelplane.placement.model import Current, Demand, Fleet, Intent
from modelplane.placement.plan import Closest, ClusterVerdict, Plan, ReasonCount
from modelplane.placement.verdicts import Judge


@dataclass(frozen=True, slots=True)
class Explanation:
    """The plan, and every cluster's verdict on one more replica after it.

    `message` reads as kube-scheduler's. `closest` is what would make one more fit, None when one fits or nothing is
    known.
    """

    plan: Plan
    message: str
    reasons: tuple[ReasonCount, ...]
    verdicts: tuple[ClusterVerdict, ...]
    closest: Closest | None


def explain(fleet: Fleet, demand: Demand, intent: Intent, current: Current) -> Explanation:
    """Return the plan that `scheduler.schedule` makes of the same snapshot, explained.

    Raises: InvalidSelector when a device selector does not compile (the author's fault).
    """
    plan, board = scheduler.decide(fleet, demand, intent, current)
    short = plan.shortfall
    if short is not None:
        # It was found on the board as the plan leaves it, so it is what would be found again.
        closest = None if any(verdict.fits for verdict in short.verdicts) else short.closest
        return Explanation(plan, short.message, short.reasons, short.verdicts, closest)
    judge = Judge(board)
    verdicts = judge.all()
    near = Nearness(board)
    fits = any(verdict.fits for verdict in verdicts)
    return Explanation(
        plan=plan,
        message=shortfall.message(verdicts, near),
        reasons=shortfall.reasons(verdicts, near),
        verdicts=verdicts,
        closest=None if fits else counterfactual.closest(board, judge, verdicts, near),
    )
