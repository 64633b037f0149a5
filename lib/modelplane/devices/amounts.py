"""Quantities as integers, for exact sums.

Units: nano, the smallest unit of a Kubernetes quantity.
"""

from __future__ import annotations

from modelplane.units import Quantity


def nano(quantity: Quantity) -> int:
    """Return the quantity in nano."""
    value: int = quantity.unscaled * 10 ** (quantity.exponent + 9)
    return value
