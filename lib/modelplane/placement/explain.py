"""Why a deployment's replicas are where they are, and what every cluster says to one more."""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.placement import counterfactual, scheduler, shortfall
from modelplane.placement.counterfactual import Nearness
from modelplane.placement.model import Current, Demand, Fleet, Intent
from modelplane.placement.plan import Closest, ClusterVerdict, Plan, Reason, ReasonCount
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


_CONDITIONS = {
    Reason.UNTOLERATED_TAINT: "UntoleratedTaint",
    Reason.SELECTOR_ERROR: "NoMatchingDevice",
    Reason.NO_MATCHING_DEVICE: "NoMatchingDevice",
    Reason.CACHE_NOT_READY: "CacheNotReady",
    Reason.INSUFFICIENT_DEVICES: "InsufficientCapacity",
    Reason.INSUFFICIENT_NODES: "InsufficientCapacity",
    Reason.INSUFFICIENT_NODE_RESOURCES: "InsufficientCapacity",
}


def condition_reason(plan: Plan) -> str:
    """Return the reason of the condition ReplicasScheduled.

    That of the closest cluster, with Partial in front when some are placed.
    """
    if plan.shortfall is None:
        return "AllScheduled"
    reasons = {entry.reason for entry in plan.shortfall.reasons}
    nearest = next((reason for reason in _NEAREST if reason in reasons), None)
    text = _CONDITIONS.get(nearest, "NoMatchingCluster") if nearest is not None else "NoMatchingCluster"
    return f"Partial{text}" if plan.placed > 0 else text


_NEAREST = (
    Reason.INSUFFICIENT_NODE_RESOURCES,
    Reason.INSUFFICIENT_DEVICES,
    Reason.INSUFFICIENT_NODES,
    Reason.CACHE_NOT_READY,
    Reason.REFUSED_BY_CLUSTER,
    Reason.NO_MATCHING_DEVICE,
    Reason.SELECTOR_ERROR,
    Reason.UNTOLERATED_TAINT,
)
