"""The accounts of processor time by namespace, which decide whose call is next.

The namespace that has computed least is next. An account is at most `CREDIT_SECONDS` below the highest one. So nobody
saves time while it asks nothing, and a namespace that asks rarely comes before one that asks without end.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable

CREDIT_SECONDS = 0.02
"""The processor time that a namespace may use before one that has used most."""
GRAIN_SECONDS = 0.005
"""The processor time by which a namespace may be ahead of others and go on. Most calls end within it."""
TENANTS_MAX = 1024
"""The maximum number of accounts. The one that was charged before all others is forgotten and begins anew."""


class Accounts:
    """The processor time of each namespace, from a beginning that all have in common."""

    def __init__(self) -> None:
        self._spent: OrderedDict[str, float] = OrderedDict()
        self._most = 0.0

    def charge(self, tenant: str, seconds: float) -> None:
        """Add processor time that a call of the namespace has used."""
        spent = self._of(tenant) + seconds
        self._spent[tenant] = spent
        self._spent.move_to_end(tenant)
        self._most = max(self._most, spent)
        if len(self._spent) > TENANTS_MAX:
            self._spent.popitem(last=False)

    def next(self, tenants: Iterable[str]) -> str | None:
        """Return the namespace that has computed least, by grains; the first of those that are equal."""
        return min(tenants, key=self._grains, default=None)

    def kept(self, tenants: Collection[str], current: str | None) -> str | None:
        """Return the current namespace unless it is ahead of another by a grain, otherwise the one with the least."""
        least = min(tenants, key=self._of, default=None)
        if least is None or current is None or current not in tenants:
            return least
        return current if self._of(current) <= self._of(least) + GRAIN_SECONDS else least

    def _of(self, tenant: str) -> float:
        return max(self._spent.get(tenant, 0.0), self._most - CREDIT_SECONDS)

    def _grains(self, tenant: str) -> int:
        return int((self._of(tenant) - self._most + CREDIT_SECONDS) / GRAIN_SECONDS)
