"""The room that is left in the quotas of a namespace while a deployment is placed.

It counts what the quotas have published, what they cannot have counted yet of its replicas, and what it places now. The
quotas decide; this keeps a deployment from proposing what they would refuse.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from modelplane.placement.charging import Charge, Charger
from modelplane.placement.decision import Reason
from modelplane.placement.scheduling.filters import Refusal
from modelplane.placement.snapshot import Cluster, Holding
from modelplane.workload import allowance
from modelplane.workload.allowance import Budget, Limit, Measure


class Excess(NamedTuple):
    """A limit that one more replica would exceed, and what the limit would have to be."""

    quota: str
    limit: Limit
    needed: Fraction
    refusal: Refusal


class Spending:
    """The quotas of a deployment while its replicas are placed. Without quotas it costs nothing."""

    def __init__(self, budgets: tuple[Budget, ...]) -> None:
        self._budgets = budgets
        self._chargers = [Charger(budget.quota.limits) for budget in budgets]
        self._extra = [[Fraction(0)] * len(budget.quota.limits) for budget in budgets]
        self.is_limited = bool(budgets)
        self.excess_on: dict[str, Excess] = {}
        """The clusters on which a replica would fit if a quota had room, with the limit."""

    def varied(self, budgets: tuple[Budget, ...]) -> Spending:
        """Return the same spending under other limits of the same quotas."""
        other = Spending(budgets)
        other._extra = [list(amounts) for amounts in self._extra]
        return other

    def add(self, cluster: Cluster, holdings: Iterable[Holding]) -> None:
        """Count a replica that the quotas have not counted yet."""
        for index, charge in enumerate(self._charges(cluster, tuple(holdings))):
            for at, amount in enumerate(charge.amounts):
                self._extra[index][at] += amount

    def add_proposed(self, cluster: Cluster, key: str, holdings: tuple[Holding, ...]) -> None:
        """Count a replica that its cluster has not admitted, in the quotas that have not granted it."""
        for index, charge in enumerate(self._charges(cluster, holdings)):
            if key not in self._budgets[index].granted:
                for at, amount in enumerate(charge.amounts):
                    self._extra[index][at] += amount

    def excess(self, cluster: Cluster, holdings: Iterable[Holding], gone: tuple[Holding, ...] = ()) -> Excess | None:
        """Return the first limit that one more replica exceeds once another (`gone`) has left, None without one."""
        wanted, left = self._charges(cluster, tuple(holdings)), self._charges(cluster, gone) if gone else None
        for index, (budget, charge) in enumerate(zip(self._budgets, wanted, strict=True)):
            if budget.quota.unreadable:
                return _closed(budget)
            for at, limit in enumerate(budget.quota.limits):
                taken = budget.taken[at] + self._extra[index][at]
                taken -= Fraction(0) if left is None else left[index].amounts[at]
                found = _excess(budget, limit, taken, (charge.amounts[at], charge.unknown[at]))
                if found is not None:
                    return found
        return None

    def _charges(self, cluster: Cluster, holdings: tuple[Holding, ...]) -> list[Charge]:
        pools = {pool.name: pool for pool in cluster.pools}
        return [charger.of(holdings, pools, cluster.accounting) for charger in self._chargers]


def released(
    budgets: Iterable[Budget], cluster: Cluster, key: str, holdings: tuple[Holding, ...]
) -> tuple[Budget, ...]:
    """Return the budgets as if a replica had gone, where it is counted: admitted by its cluster, or granted."""
    pools, found = {pool.name: pool for pool in cluster.pools}, []
    for budget in budgets:
        if key in cluster.admitted or key in budget.granted:
            charge = Charger(budget.quota.limits).of(holdings, pools, cluster.accounting)
            left = (max(Fraction(0), had - gone) for had, gone in zip(budget.taken, charge.amounts, strict=True))
            found.append(replace(budget, taken=tuple(left)))
        else:
            found.append(budget)
    return tuple(found)


def _closed(budget: Budget) -> Excess:
    name = budget.quota.name
    said = f"InferenceQuota {name} allows nothing new: {budget.quota.unreadable}"
    refusal = Refusal(Reason.QUOTA_EXCEEDED, said, f"InferenceQuota {name} allows nothing new")
    nothing = Fraction(0)
    return Excess(name, Limit("", Measure.REPLICAS, nothing), nothing, refusal)


def _excess(budget: Budget, limit: Limit, taken: Fraction, wanted: tuple[Fraction, str]) -> Excess | None:
    more, unknown = wanted
    if not unknown and (more <= 0 or taken + more <= limit.ceiling):
        return None
    name = budget.quota.name
    said = allowance.excess(name, limit, taken, more)
    if unknown:
        said = f"InferenceQuota {name} limits {limit}, and {unknown}"
    refusal = Refusal(Reason.QUOTA_EXCEEDED, said, f"over {limit.name} of InferenceQuota {name}")
    return Excess(name, limit, limit.most if unknown else taken + more - limit.borrowable, refusal)
