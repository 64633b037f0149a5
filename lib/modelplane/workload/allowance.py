"""The limits of an InferenceQuota: of what the replicas of some namespaces take of the fleet together.

Amounts are exact fractions: devices, replicas, and money per hour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from modelplane.workload import tenancy
from modelplane.workload.tenancy import Access, Tenants

MILLIONTH = Fraction(1, 10**6)
"""The smallest part of an amount. What a replica costs is rounded down to it, so that sums are exact decimals."""


class Measure(StrEnum):
    """The quantity that a limit is about. The value is the name of a limit that has none of its own."""

    DEVICES = "devices"
    REPLICAS = "replicas"
    COST = "costPerHour"


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of a quota. Of devices those of one class count, or those that satisfy all `selectors`.

    `borrowable` is what may be held beyond it while the quota's lender has room.
    """

    name: str
    measure: Measure
    most: Fraction
    class_name: str = ""
    selectors: tuple[str, ...] = ()
    currency: str = ""
    borrowable: Fraction = Fraction(0)

    @property
    def ceiling(self) -> Fraction:
        """Return the limit with the loan."""
        return self.most + self.borrowable

    def borrowed(self, taken: Fraction) -> Fraction:
        """Return the part of what is held that is borrowed."""
        return max(Fraction(0), min(taken, self.ceiling) - self.most)

    def __str__(self) -> str:
        """Return the limit in the form used by messages."""
        return f"{self.name} ({self.currency})" if self.currency else self.name


@dataclass(frozen=True, slots=True)
class Quota:
    """The limits of an InferenceQuota, and the namespaces that share them.

    `unreadable` says why nobody knows what it allows: nothing then. Without `tenants` it limits every namespace.
    `lender` is the name of the quota that lends what is borrowable.
    """

    name: str
    tenants: Tenants | None
    limits: tuple[Limit, ...] = ()
    max_priority: int | None = None
    unreadable: str = ""
    lender: str = ""

    def without_loan(self) -> Quota:
        """Return the quota with nothing that it may borrow."""
        return replace(self, limits=tuple(replace(limit, borrowable=Fraction(0)) for limit in self.limits))

    def governs(self, namespace: str, labels: Mapping[str, str] | None) -> Access:
        """Return whether the quota limits the namespace; `labels` None are not known."""
        return tenancy.access(self.tenants, namespace, labels)

    def counted(self, priority: int) -> int:
        """Return the priority that counts."""
        return priority if self.max_priority is None else min(priority, self.max_priority)


@dataclass(frozen=True, slots=True)
class Budget:
    """A quota and what it has published: what is used and granted of each limit, and the replicas with a grant.

    The keys of `granted` are `namespace/name`.
    """

    quota: Quota
    taken: tuple[Fraction, ...]
    granted: frozenset[str] = frozenset()


def written(amount: Fraction) -> str:
    """Return the amount as a decimal number; what is smaller than a millionth is left out."""
    if amount.denominator == 1:
        return str(amount.numerator)
    return f"{(Decimal(amount // MILLIONTH).scaleb(-6)).normalize():f}"


def excess(quota: str, limit: Limit, taken: Fraction, wanted: Fraction) -> str:
    """Return the words for a replica that is over a limit: the quota, what is used, wanted and allowed."""
    allowed, used, more = written(limit.most), written(taken), written(wanted)
    loan = f" and {written(limit.borrowable)} borrowed" if limit.borrowable else ""
    return f"InferenceQuota {quota} allows {allowed} of {limit}{loan}, {used} used and {more} more wanted"
