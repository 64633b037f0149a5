"""Shortfall of a deployment: the replicas without a place, the counted reasons and the nearest cluster.

The message has the form of kube-scheduler's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from modelplane.placement.decision import Closest, ClusterVerdict, Reason, ReasonCount, Shortfall, Telling
from modelplane.placement.diagnosis import counterfactual
from modelplane.placement.diagnosis.misses import Nearness
from modelplane.placement.diagnosis.verdicts import Diagnosis
from modelplane.placement.scheduling.board import Board

EXAMPLES_MAX = 5


def of(board: Board, count: int) -> Shortfall:
    """Return the shortfall of `count` replicas on the board."""
    diagnosis = Diagnosis(board)
    verdicts = diagnosis.all()
    near = Nearness(board)
    return Shortfall(
        count=count,
        message=message(verdicts, near),
        reasons=reasons(verdicts, near),
        closest=_of_several(counterfactual.closest(board, diagnosis, verdicts, near), count),
        verdicts=verdicts,
    )


def _of_several(closest: Closest | None, count: int) -> Closest | None:
    """Return the closest miss with the words that it makes room for one replica, where more than one is missing."""
    if closest is None or count < 2:
        return closest
    return replace(closest, would_fit_if=f"{closest.would_fit_if} (for one of {count} missing replicas)")


def message(verdicts: tuple[ClusterVerdict, ...], near: Nearness) -> str:
    """Return the number of clusters that fit, and the reasons of the others, the most frequent first."""
    if not verdicts:
        return f"0/0 clusters fit: {near.nobody()}"
    fitting = sum(verdict.fits for verdict in verdicts)
    groups: dict[tuple[Reason, str], list[ClusterVerdict]] = {}
    for verdict in verdicts:
        if verdict.reason is not None:
            groups.setdefault((verdict.reason, verdict.group), []).append(verdict)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0][0].text, item[0][1]))
    parts = [_part(reason, group, members, near) for (reason, group), members in ordered]
    return f"{fitting}/{len(verdicts)} clusters fit" + (f": {', '.join(parts)}" if parts else "")


def helpless(verdicts: tuple[ClusterVerdict, ...]) -> str:
    """Return the message that no change is known to help, with the verdict of the cluster nearest to a fit."""
    if not verdicts:
        return "no change is known that would help: no InferenceCluster exists"
    first = min(verdicts, key=lambda verdict: (counterfactual.rank(verdict), verdict.cluster))
    return f"no change is known that would help; {first.cluster} reports {first.reason}: {first.detail}"


def reasons(verdicts: Iterable[ClusterVerdict], near: Nearness) -> tuple[ReasonCount, ...]:
    """Return the number of clusters per reason, the most frequent first, with the detail of the nearest to a fit."""
    found: dict[Reason, list[ClusterVerdict]] = {}
    for verdict in verdicts:
        if verdict.reason is not None:
            found.setdefault(verdict.reason, []).append(verdict)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0].text))
    return tuple(
        ReasonCount(
            reason=reason,
            clusters=len(members),
            examples=tuple(verdict.cluster for verdict in members[:EXAMPLES_MAX]),
            detail=_told(near.first(members), near),
        )
        for reason, members in ordered
    )


def _part(reason: Reason, group: str, members: list[ClusterVerdict], near: Nearness) -> str:
    if reason.telling is Telling.NOTHING:
        return f"{len(members)} {group}"
    nearest = near.first(members)
    which = "" if len(members) == 1 and reason.telling is Telling.DETAIL else "closest: "
    return f"{len(members)} {group} ({which}{_told(nearest, near)})"


def _told(verdict: ClusterVerdict, near: Nearness) -> str:
    missing = near.device(verdict)
    where = f"{verdict.cluster}/{verdict.pool}" if verdict.pool else verdict.cluster
    return missing if missing is not None else f"{where}: {verdict.detail}"
