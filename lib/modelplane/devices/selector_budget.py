"""Budget for the evaluation of all selectors of one object.

Kubernetes limits the cost of a single selector. An object may have two thousand, and each is evaluated for every kind
of device in the fleet. So the sum of the estimated costs is limited too, before any selector is evaluated. The limit
depends only on the object and the fleet, never on earlier evaluations.
"""

from __future__ import annotations

from collections.abc import Iterable

from modelplane.devices import selector

COST_MAX = 2_000_000
"""Limit of the estimated cost of all selectors of one object on all kinds of device of the fleet, about three seconds.
A selector that compares an attribute costs 5, one with a regular expression and a list 70. A hundred of the latter on
280 kinds are within the limit."""
BYTES_MAX = 64 * 1024
"""Limit of the length of all selectors of one object together, which compile in half a second."""


def over_bytes(selectors: Iterable[str]) -> str:
    """Return the error about the total length of the selectors, empty if they are within the limit."""
    found = sum(len(text.encode("utf-8", "surrogatepass")) for text in selectors)
    if found <= BYTES_MAX:
        return ""
    return f"the selectors have {found} bytes together, the limit is {BYTES_MAX}; use fewer or shorter selectors"


def over_cost(selectors: Iterable[str], kinds: int) -> str:
    """Return the error about the cost of the selectors on a number of kinds of device, empty if within the limit.

    Raises: InvalidSelector for one that does not compile.
    """
    costs = sorted((selector.written(text).estimated_cost for text in selectors), reverse=True)
    found = sum(costs) * kinds
    if found <= COST_MAX:
        return ""
    return (
        f"the {len(costs)} selectors cost up to {found} on the {kinds} kinds of device of the fleet, the limit is "
        f"{COST_MAX}; use fewer or simpler selectors (the most expensive costs {costs[0]} on one device)"
    )
