"""Counterfactual changes of the quotas of a namespace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from modelplane.placement.decision import Change, World
from modelplane.workload import allowance
from modelplane.workload.allowance import Limit


@dataclass(frozen=True, slots=True)
class MoreQuota(Change):
    """A quota of the namespace allows more of one limit."""

    quota: str
    limit: Limit
    most: Fraction

    def apply(self, world: World) -> World:
        """Return the world with the higher limit."""
        budgets = tuple(
            replace(one, quota=replace(one.quota, limits=tuple(map(self._raised, one.quota.limits))))
            if one.quota.name == self.quota
            else one
            for one in world.intent.budgets
        )
        return replace(world, intent=replace(world.intent, budgets=budgets))

    def _raised(self, limit: Limit) -> Limit:
        return replace(limit, most=self.most) if limit.name == self.limit.name else limit

    def describe(self, *, roles: int) -> str:
        """Return the change in words."""
        return f"InferenceQuota {self.quota} allowed {allowance.written(self.most)} of {self.limit}"
