"""How much work the selectors of one object may ask for.

Kubernetes bounds one selector by what its evaluation may cost. An object may carry two thousand, each of which is asked
of every kind of device in the fleet; so their sum is bounded too, by the same estimate and before any is evaluated.
That depends on the object and the fleet alone, never on what was evaluated before.
"""

from __future__ import annotations

from collections.abc import Iterable

from modelplane.devices import selector

COST_MAX = 2_000_000
"""Estimated cost of all selectors of one object on all kinds of device in sight; some three seconds at most, once. A
selector that compares an attribute costs 5, one with a regular expression and a list 70: a hundred of these on 280
kinds are within it."""
BYTES_MAX = 64 * 1024
"""Of all selectors of one object together; compiled in half a second."""


def over_bytes(selectors: Iterable[str]) -> str:
    """Return what is wrong with the length of the selectors, empty when nothing is."""
    found = sum(len(text.encode("utf-8", "surrogatepass")) for text in selectors)
    if found <= BYTES_MAX:
        return ""
    return f"the selectors have {found} bytes together, {BYTES_MAX} is the limit; write fewer or shorter ones"


def over_cost(selectors: Iterable[str], kinds: int) -> str:
    """Return what is wrong with the cost of the selectors on so many kinds of device, empty when nothing is.

    Raises: InvalidSelector for one that does not compile.
    """
    costs = sorted((selector.compile(text).estimated_cost for text in selectors), reverse=True)
    found = sum(costs) * kinds
    if found <= COST_MAX:
        return ""
    return (
        f"the {len(costs)} selectors cost up to {found} on the {kinds} kinds of device in sight, {COST_MAX} is the "
        f"limit; write fewer or simpler ones (the dearest costs {costs[0]} on one device)"
    )
