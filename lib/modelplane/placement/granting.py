"""Grants of a quota: which of the replicas that clusters ask for may be admitted.

The caller is the only writer of the quota's grants, so this is the only place where the replicas of several clusters
compete for one limit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from modelplane.placement.charging import Amounts, Charge
from modelplane.workload import allowance
from modelplane.workload.allowance import Limit, Quota


class QuotaQuestion(NamedTuple):
    """A question of a cluster for one replica (`namespace/name`). Its number is never used for another."""

    cluster: str
    replica: str
    number: int


@dataclass(frozen=True, slots=True)
class Ask:
    """A question, with what the replica would take beside what is counted for it already.

    `is_due` once no other quota has to answer before this one. `borrows`: it is beyond the limits of its namespace's
    own quota, and comes after those that are not.
    """

    question: QuotaQuestion
    charge: Charge
    priority: int = 0
    created: str = ""
    is_due: bool = True
    borrows: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A question that is refused as things stand, with the name of the limit and the reason in words."""

    question: QuotaQuestion
    limit: str
    message: str


@dataclass(frozen=True, slots=True)
class Grants:
    """The answers of a quota, sorted by question, and the sum of what is granted of each limit."""

    granted: tuple[QuotaQuestion, ...]
    refused: tuple[Refused, ...]
    taken: Amounts


def grant(
    quota: Quota,
    used: Amounts,
    asks: Iterable[Ask],
    before: Collection[QuotaQuestion],
    *,
    unseen: Collection[str] = (),
) -> Grants:
    """Return the answers to all open questions.

    A grant stands as long as its question is open, whatever becomes of the limit: the cluster may have acted on it
    already. Others are judged by priority, creation time and name, those that borrow last; one that does not fit does
    not block smaller ones.
    A change that takes nothing more of a limit is not refused by it, though more is used than the limit allows. While
    the ledgers of some clusters are `unseen`, nothing new is granted, since what is used is not known, and what was
    granted to these clusters stands.
    """
    listed = sorted(asks, key=lambda ask: _order(quota, ask))
    granted = [ask for ask in listed if ask.question in before]
    taken = [sum((ask.charge.amounts[index] for ask in granted), Fraction(0)) for index in range(len(quota.limits))]
    refused = []
    for ask in listed:
        if ask.question in before or not ask.is_due or unseen:
            continue
        answer = refusal(quota, [one + more for one, more in zip(used, taken, strict=True)], ask.charge)
        if answer is not None:
            refused.append(Refused(ask.question, answer[0].name, answer[1]))
            continue
        granted.append(ask)
        taken = [one + more for one, more in zip(taken, ask.charge.amounts, strict=True)]
    kept = {question for question in before if question.cluster in unseen}
    return Grants(
        tuple(sorted(kept.union(ask.question for ask in granted))),
        tuple(sorted(refused, key=lambda one: one.question)),
        tuple(taken),
    )


def _order(quota: Quota, ask: Ask) -> tuple[bool, int, str, str, str, int]:
    one = ask.question
    return (ask.borrows, -quota.counted(ask.priority), ask.created, one.replica, one.cluster, one.number)


def refusal(quota: Quota, taken: Iterable[Fraction], charge: Charge) -> tuple[Limit, str] | None:
    """Return the first limit without room for the charge, and the reason in words; None where all have room."""
    for limit, used, more, unknown in zip(quota.limits, taken, *charge, strict=True):
        if unknown:
            return limit, f"InferenceQuota {quota.name} limits {limit}, and {unknown}"
        if more > 0 and used + more > limit.ceiling:
            return limit, allowance.excess(quota.name, limit, used, more)
    return None
