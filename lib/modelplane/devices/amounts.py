"""Quantities as whole numbers, for exact sums.

Units: nano, the finest that a quantity of Kubernetes holds.
"""

from __future__ import annotations

from functools import lru_cache

from modelplane.units import Quantity


@lru_cache(maxsize=4096)
def parsed(text: str) -> Quantity:
    """Return the quantity of a text. Cost: once per text.

    Raises: InvalidQuantity.
    """
    return Quantity.parse(text)


def nano(quantity: Quantity) -> int:
    """Return the quantity in nano."""
    value: int = quantity.unscaled * 10 ** (quantity.exponent + 9)
    return value
