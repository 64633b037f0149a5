"""What a request takes of the capacity of a device, by the policies of the device.

A device that one claim has for itself is measured in the same way, against its whole capacity.

Source: k8s.io/dynamic-resource-allocation v0.36.2, consumable capacity. Known divergence: a policy whose default is
not one of its own values (the API server refuses it) counts as allowed by value, not by the way it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from modelplane.devices.amounts import nano, parsed
from modelplane.devices.slices import Offer, Policy, Range
from modelplane.units import Quantity
from modelplane.units.quantity import Format

Amounts: TypeAlias = Mapping[str, int]
"""Nano by the name of a capacity."""


@lru_cache(maxsize=16384)
def taken(offer: Offer, requested: tuple[tuple[str, Quantity], ...]) -> tuple[tuple[str, Quantity], ...] | None:
    """Return what one allocation takes of each capacity of the device, rounded up by its policies.

    None where the request cannot be served by any such device: it names a capacity the device does not have (names
    are compared literally), or its policy does not allow the amount.
    """
    capacity = dict(offer.kind.capacity)
    wanted = dict(requested)
    if wanted.keys() - capacity.keys():
        return None
    policies = dict(offer.policies)
    found = []
    for name, text in capacity.items():
        policy = policies.get(name)
        amount = _amount(wanted.get(name), parsed(text), policy)
        if policy is not None and not _allowed(amount, policy):
            return None
        found.append((name, amount))
    return tuple(found)


def fits(offer: Offer, requested: tuple[tuple[str, Quantity], ...], held: Amounts) -> bool:
    """Return whether the device has room for the request beside what is held of it already."""
    if not requested and not offer.policies and not held:
        return True  # the whole of an unused device
    wanted = taken(offer, requested)
    if wanted is None:
        return False
    have = dict(offer.kind.capacity)
    return all(nano(amount) + held.get(name, 0) <= nano(parsed(have[name])) for name, amount in wanted)


def _amount(wanted: Quantity | None, whole: Quantity, policy: Policy | None) -> Quantity:
    if wanted is None:
        return policy.default if policy is not None and policy.default is not None else whole
    if policy is None:
        return wanted
    if policy.valid_range is not None and policy.valid_range.minimum is not None:
        return _stepped(wanted, policy.valid_range, policy.valid_range.minimum)
    return next((value for value in policy.valid_values if wanted <= value), wanted)


def _stepped(wanted: Quantity, allowed: Range, minimum: Quantity) -> Quantity:
    """Return the smallest amount of the range that is enough; steps count in whole units from the minimum."""
    if wanted < minimum:
        return minimum
    if allowed.step is None:
        return wanted
    first, step = minimum.ceil(), allowed.step.ceil()
    steps = -(-(wanted.ceil() - first) // step)
    return Quantity.of(first + steps * step, Format.BINARY_SI)


def _allowed(amount: Quantity, policy: Policy) -> bool:
    if policy.default is not None and amount == policy.default:
        return True
    if policy.valid_range is not None:
        return _in_range(amount, policy.valid_range)
    return not policy.valid_values or amount in policy.valid_values


def _in_range(amount: Quantity, allowed: Range) -> bool:
    if allowed.maximum is not None and amount > allowed.maximum:
        return False
    if allowed.step is None or allowed.minimum is None:
        return True
    return (amount.ceil() - allowed.minimum.ceil()) % allowed.step.ceil() == 0
