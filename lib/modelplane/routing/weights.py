"""Weights of endpoints: integers that divide traffic exactly for any number of endpoints in a group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from modelplane.errors import Unsupported

MAX_WEIGHT = 1_000_000  # Source: Gateway API v1.6.1, HTTPBackendRef.weight


@dataclass(frozen=True, slots=True)
class Portion:
    """The weight of a group among the groups, and the number of members that share it evenly."""

    weight: int
    members: int


def shares(portions: Sequence[Portion]) -> tuple[int, ...]:
    """Return the weight of one member of each portion, so that the sums are exactly proportional to the weights.

    A portion without members or with weight 0 gets 0, and the others share its part. The weights are the smallest
    integers with these ratios.

    Raises: Unsupported if the exact ratio needs a weight above the limit of a route.
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
            f"endpoints, because that needs a weight of {max(exact)} and a route allows at most {MAX_WEIGHT}; use "
            "smaller weights, for example percentages",
            reason="WeightsNotExact",
        )
    return exact
