"""Integer weights that divide traffic exactly, however many endpoints a group has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from modelplane.errors import Unsupported

MAX_WEIGHT = 1_000_000  # Source: Gateway API v1.6.1, HTTPBackendRef.weight


@dataclass(frozen=True, slots=True)
class Portion:
    """One group: its weight among the groups, and how many members divide it evenly."""

    weight: int
    members: int


def shares(portions: Sequence[Portion]) -> tuple[int, ...]:
    """Return, per portion, the weight of ONE member, so that every portion's sum is exactly proportional to its weight.

    A portion without members gives its share to the others (its own result is 0), one of weight 0 gets 0. The weights
    are the smallest integers with these ratios.

    Raises: Unsupported when the exact ratio needs a weight above what a route can carry.
    """
    live = [portion for portion in portions if portion.members and portion.weight]
    if not live:
        return (0,) * len(portions)
    scale = math.lcm(*(portion.members for portion in live))
    raw = [portion.weight * scale // portion.members if portion.members else 0 for portion in portions]
    divisor = math.gcd(*raw)
    exact = tuple(weight // divisor for weight in raw)
    if max(exact) > MAX_WEIGHT:
        weights = ", ".join(str(portion.weight) for portion in portions)
        raise Unsupported(
            f"the weights {weights} cannot be divided exactly among {[portion.members for portion in portions]} "
            "endpoints: that "
            f"needs a weight of {max(exact)} and a route carries at most {MAX_WEIGHT}; use smaller weights, for "
            "example percentages",
            reason="WeightsNotExact",
        )
    return exact
