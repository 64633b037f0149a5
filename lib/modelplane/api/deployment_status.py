"""Status of a ModelDeployment, encoded from a plan, and the messages of its conditions.

A partial placement is never healthy: `ReplicasScheduled` is True only when every wanted replica holds a placement.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.placement.decision import Admission, Closest, PlacedReplica, PlacedRole, Plan, Shortfall, State

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of the replicas beside the plan, by name.

    `ready` replicas run with all their workers. `outdated` replicas have the spec of an earlier deployment.
    """

    ready: Collection[str]
    outdated: Collection[str]


def encode(plan: Plan, *, namespace: str, deployment: str, backend: str | None, seen: Seen) -> dict[str, Json]:
    """Return the complete status."""
    placed = [replica for replica in plan.composed if replica.holds_place]
    ready = seen.ready
    status: dict[str, Json] = {
        "replicas": plan.placed,
        "readyReplicas": min(plan.wanted, sum(replica.name in ready for replica in placed)),
        "unscheduledReplicas": plan.wanted - plan.placed,
        "updatedReplicas": sum(replica.rewrite or replica.name not in seen.outdated for replica in placed),
        "selector": names.scale_selector(namespace, deployment),
        "clusters": ",".join(sorted({replica.cluster for replica in placed})),
        "placements": [_placement(replica, is_ready=replica.name in ready) for replica in placed],
    }
    if backend is not None:
        status["backend"] = backend
    moving = moves(plan)
    if moving:
        status["moves"] = [_move(replica, plan) for replica in moving]
    if plan.shortfall is not None:
        status["unschedulable"] = _unschedulable(plan.shortfall)
    return status


def moves(plan: Plan) -> tuple[PlacedReplica, ...]:
    """Return the replicas that hold a place and must leave it or be rewritten there."""
    return tuple(one for one in plan.composed if one.holds_place and one.note and one.state is State.RETAINED)


def _move(replica: PlacedReplica, plan: Plan) -> dict[str, Json]:
    move = {"replica": replica.name, "cluster": replica.cluster, "message": replica.note}
    successor = next((one.name for one in plan.composed if one.replaces == replica.name), None)
    return move if successor is None else {**move, "successor": successor}


def scheduled_reason(plan: Plan) -> tuple[str, str]:
    """Return the reason and message of `ReplicasScheduled`; the reason starts with Partial if some are placed."""
    if plan.shortfall is None:
        replicas = "replica holds" if plan.wanted == 1 else "replicas hold"
        return "AllScheduled", f"{plan.wanted} {replicas} a placement" if plan.wanted else "no replicas are wanted"
    nearest = max((count.reason for count in plan.shortfall.reasons), key=lambda reason: reason.order, default=None)
    reason = "NoMatchingCluster" if nearest is None else nearest.condition or nearest.text
    message = f"{plan.placed} of {plan.wanted} replicas are placed; {plan.shortfall.message}"
    closest = plan.shortfall.closest
    if closest is not None:
        message += f"; closest is {closest.cluster}: it would fit if {closest.would_fit_if}"
    return (f"Partial{reason}" if plan.placed else reason), message


def _placement(replica: PlacedReplica, *, is_ready: bool) -> dict[str, Json]:
    return {
        "replica": replica.name,
        "cluster": replica.cluster,
        "ready": is_ready,
        "admitted": replica.admission is Admission.ADMITTED,
        "roles": [_role(role) for role in replica.roles],
    }


def _role(role: PlacedRole) -> dict[str, Json]:
    per_pod = max((count for _, count in role.shape.devices), default=0)
    return {"role": str(role.role), "pool": role.pool, "nodes": role.nodes, "devices": per_pod * role.pods}


def _unschedulable(shortfall: Shortfall) -> dict[str, Json]:
    block: dict[str, Json] = {
        "message": shortfall.message,
        "reasons": [
            {
                "reason": str(count.reason),
                "count": count.clusters,
                "clusters": list(count.examples),
                "detail": count.detail,
            }
            for count in shortfall.reasons
        ],
    }
    if shortfall.closest is not None:
        block["closest"] = _closest(shortfall.closest)
    return block


def _closest(closest: Closest) -> dict[str, Json]:
    return {
        "cluster": closest.cluster,
        "pool": closest.pool,
        "misses": list(closest.misses),
        "wouldFitIf": closest.would_fit_if,
    }
