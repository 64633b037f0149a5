"""What an allocation lacked where it came furthest, for the words of a refusal."""

from __future__ import annotations

from typing import Final

from tests.support.allocator.demands import Demand

NONE_MEANT: Final = "none is selected, and all are wanted"
TOO_MANY: Final = "the claim would hold too many"
IN_USE: Final = "in use"
NOT_MEANT: Final = "not selected"
NO_CAPACITY: Final = "not enough capacity"
NO_COUNTERS: Final = "counters used up"
TAINTED: Final = "tainted"
DISAGREES: Final = "against a constraint"


class Record:
    """The furthest device that was not found, and why each candidate was passed over when it was last looked for."""

    def __init__(self) -> None:
        self._furthest: tuple[int, int, int] = (-1, -1, -1)
        self._demand: Demand | None = None
        self._counts: dict[str, int] = {}

    def begin(self, demand: Demand, number: int) -> None:
        """Start to look for one device of the demand."""
        depth = (demand.claim, demand.position, number)
        if depth >= self._furthest:
            self._furthest, self._demand, self._counts = depth, demand, {}

    def note(self, demand: Demand, number: int, why: str) -> None:
        """Record why one candidate was passed over."""
        depth = (demand.claim, demand.position, number)
        if depth > self._furthest:
            self.begin(demand, number)
        if demand is self._demand and depth == self._furthest:
            self._counts[why] = self._counts.get(why, 0) + 1

    def text(self, node: str, claims: list[str]) -> str:
        """Return the reason in words."""
        demand = self._demand
        if demand is None:
            return f"node {node} offers no devices"
        found, subject = self._furthest[2], f'claim {claims[demand.claim]}, request "{demand.name}"'
        wanted = "all devices" if demand.every is not None else f"{demand.count} devices"
        reasons = ", ".join(f"{count} {why}" for why, count in sorted(self._counts.items())) or "there are no more"
        return f"{subject} wants {wanted}, node {node} has {found} for it; of the others: {reasons}"
