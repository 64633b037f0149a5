"""What a request takes of the capacity of a device, by the policies of the device.

A device that one claim has for itself is measured in the same way, against its whole capacity.

Source: k8s.io/dynamic-resource-allocation v0.36.2, consumable capacity. Known divergence: a policy whose default is
not one of its own values (the API server refuses it) counts as allowed by value, not by the way it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from modelplane import units
from modelplane.devices.amounts import nano
from modelplane.errors import InvalidInput
from modelplane.units import Format, Quantity
from tests.support.allocator.slices import Offer, Policy, Range

Amounts: TypeAlias = Mapping[str, int]
"""Nano by the name of a capacity."""


@lru_cache(maxsize=16384)
def taken(
    offer: Offer, requested: tuple[tuple[str, Quantity], ...], *, exact: bool
) -> tuple[tuple[str, Quantity], ...] | None:
    """Return what one allocation takes of each capacity of the device, rounded up by its policies.

    None where the request cannot be served by any such device: it names a capacity the device does not have (names
    are compared literally), or its policy does not allow the amount. `exact`: as 1.37 does it, which counts steps in
    thousandths. Raises: InvalidInput for an amount that is negative, or too large or too fine for that.
    """
    capacity = dict(offer.kind.capacity)
    wanted = dict(requested)
    if wanted.keys() - capacity.keys():
        return None
    policies = dict(offer.policies)
    found = []
    for name, text in capacity.items():
        amount = _amount(wanted.get(name), _parsed(text), policies.get(name), exact=exact)
        if exact and amount.sign < 0:
            raise InvalidInput(f"{amount.canonical()} of capacity {name} is negative")
        found.append((name, amount))
    if all(name not in policies or _allowed(amount, policies[name], exact=exact) for name, amount in found):
        return tuple(found)
    return None


def fits(offer: Offer, requested: tuple[tuple[str, Quantity], ...], held: Amounts, *, exact: bool) -> bool:
    """Return whether the device has room for the request beside what is held of it already."""
    if not requested and not offer.policies and not held:
        return True  # the whole of an unused device
    wanted = taken(offer, requested, exact=exact)
    if wanted is None:
        return False
    have = dict(offer.kind.capacity)
    return all(nano(amount) + held.get(name, 0) <= nano(_parsed(have[name])) for name, amount in wanted)


def _amount(wanted: Quantity | None, whole: Quantity, policy: Policy | None, *, exact: bool) -> Quantity:
    if wanted is None:
        return policy.default if policy is not None and policy.default is not None else whole
    if policy is None:
        return wanted
    if policy.valid_range is not None and policy.valid_range.minimum is not None:
        stepped = _stepped_exactly if exact else _stepped
        return stepped(wanted, policy.valid_range, policy.valid_range.minimum)
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


def _stepped_exactly(wanted: Quantity, allowed: Range, minimum: Quantity) -> Quantity:
    """Return the same, in thousandths where the range can be told in them.

    Raises: InvalidInput.
    """
    if wanted < minimum:
        return minimum
    if allowed.step is None:
        return wanted
    unit = _unit(allowed)
    asked, first, step = _in(unit, wanted), _in(unit, minimum), _in(unit, allowed.step)
    if asked is None or first is None or step is None:
        raise InvalidInput(f"{wanted.canonical()} cannot be counted in steps of {allowed.step.canonical()}")
    result = first - (first - asked) // step * step
    if result > _INT64_MAX:
        raise InvalidInput(f"{wanted.canonical()}, rounded up to the next step, is more than is counted")
    if result % unit:
        return Quantity(result, -3, allowed.step.format)
    return Quantity.of(result // unit, allowed.step.format)


_INT64_MAX: Final = (1 << 63) - 1
_THOUSANDTHS: Final = 1000


def _unit(allowed: Range) -> int:
    """Return the parts of 1 in which steps are counted: a thousand where every bound is a whole number of those."""
    bounds = [bound for bound in (allowed.minimum, allowed.maximum, allowed.step) if bound is not None]
    counted = [_in(_THOUSANDTHS, bound) for bound in bounds]
    if any(count is None for count in counted) or (allowed.step is not None and allowed.step.sign <= 0):
        return 1
    return _THOUSANDTHS


def _in(unit: int, amount: Quantity) -> int | None:
    """Return the amount in parts of 1; None where 64 bits do not hold it, or thousandths not all of it."""
    value = nano(amount) * unit
    if unit != 1 and value % _NANO:
        return None
    count = -(-value // _NANO)
    return count if abs(count) <= _INT64_MAX else None


_NANO: Final = 10**9


def _allowed(amount: Quantity, policy: Policy, *, exact: bool) -> bool:
    if policy.default is not None and amount == policy.default:
        return True
    if policy.valid_range is not None:
        return _in_range(amount, policy.valid_range, _unit(policy.valid_range) if exact else 1)
    return not policy.valid_values or amount in policy.valid_values


def _in_range(amount: Quantity, allowed: Range, unit: int) -> bool:
    if allowed.maximum is not None and amount > allowed.maximum:
        return False
    if allowed.step is None or allowed.minimum is None:
        return True
    if unit == 1:
        return (amount.ceil() - allowed.minimum.ceil()) % allowed.step.ceil() == 0
    asked, first, step = _in(unit, amount), _in(unit, allowed.minimum), _in(unit, allowed.step)
    return asked is not None and first is not None and step is not None and (asked - first) % step == 0


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Quantity:
    """Return the quantity of a text. Cost: once per text.

    Raises: InvalidQuantity.
    """
    return units.quantity(text)
