"""What a request takes of a device's capacity beside what others hold. Source: see `modelplane.devices.sharing`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from modelplane import units
from modelplane.devices import sharing
from modelplane.devices.amounts import nano
from modelplane.units import Quantity
from tests.support.allocator.slices import Offer

Amounts: TypeAlias = Mapping[str, int]
"""Nano by the name of a capacity."""


@lru_cache(maxsize=16384)
def taken(
    offer: Offer, requested: tuple[tuple[str, Quantity], ...], *, exact: bool
) -> tuple[tuple[str, Quantity], ...] | None:
    """Return what one allocation takes of each capacity of the device, rounded up by its policies."""
    return sharing.taken(offer.kind.capacity, offer.policies, requested, exact=exact)


def fits(offer: Offer, requested: tuple[tuple[str, Quantity], ...], held: Amounts, *, exact: bool) -> bool:
    """Return whether the device has room for the request beside what is held of it already."""
    if not requested and not offer.policies and not held:
        return True  # the whole of an unused device
    wanted = taken(offer, requested, exact=exact)
    if wanted is None:
        return False
    have = dict(offer.kind.capacity)
    return all(nano(amount) + held.get(name, 0) <= nano(units.quantity(have[name])) for name, amount in wanted)
