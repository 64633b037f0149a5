"""Capacity that allocations take of a device which several pods share, by the policies of the device.

A device that one claim has for itself is measured in the same way, against its whole capacity.
Units: nano, the smallest unit of a Kubernetes quantity.

Source: k8s.io/dynamic-resource-allocation v0.36.2, consumable capacity. Known divergence: a policy whose default is
not one of its own values (the API server refuses it) counts as allowed by value, not by the way it is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from modelplane import units
from modelplane.devices.amounts import nano
from modelplane.devices.model import Device, Policy, Range, Request
from modelplane.errors import InvalidInput
from modelplane.units import Format, Quantity

Taken: TypeAlias = tuple[tuple[str, int], ...]
"""Nano by the name of a capacity, sorted."""

SHARES_MAX: Final = 1024
"""Allocations of one device that are counted; a policy may allow more, down to nothing each."""


# --- the ledger's amounts


def capacity(device: Device) -> Taken:
    """Return the amount of each capacity of one device."""
    return tuple((name, nano(units.quantity(text))) for name, text in device.capacity)


def share(request: Request, device: Device) -> Taken | None:
    """Return the part of a shared device that an allocation for the request takes, None if its policies allow none."""
    wanted = tuple((name, units.quantity(text)) for name, text in request.capacity)
    found = taken(device.capacity, device.policies, wanted)
    if found is None or any(nano(amount) > nano(units.quantity(dict(device.capacity)[name])) for name, amount in found):
        return None
    return tuple((name, nano(amount)) for name, amount in found)


def written(amounts: Taken) -> tuple[tuple[str, str], ...]:
    """Return the amounts as the texts of quantities."""
    return tuple((name, _text(amount)) for name, amount in amounts)


def read(amounts: Iterable[tuple[str, str]]) -> Taken:
    """Return the amounts of texts. Raises: InvalidQuantity."""
    return tuple((name, nano(units.quantity(text))) for name, text in amounts)


def _text(amount: int) -> str:
    if amount % _NANO:
        return Quantity(amount, -9, Format.DECIMAL_SI).canonical()
    return Quantity.of(amount // _NANO, Format.BINARY_SI).canonical()


class Part(NamedTuple):
    """A number of allocations of one shared kind of device, each of the same amounts."""

    device: str
    number: int
    amounts: Taken


def consumed(parts: Iterable[Part]) -> tuple[tuple[str, int], ...]:
    """Return the sum of the allocations of one pod, by `device/capacity`, sorted.

    A capacity of which nothing is taken is named too. One that is not named is taken whole.
    """
    found: dict[str, int] = {}
    for part in parts:
        for name, amount in part.amounts:
            key = f"{part.device}/{name}"
            found[key] = found.get(key, 0) + part.number * amount
    return tuple(sorted(found.items()))


def fit_in(device: Device, amounts: Taken) -> int:
    """Return the number of allocations of these amounts that one device takes, at most `SHARES_MAX`."""
    have = dict(capacity(device))
    return min([SHARES_MAX, *[have[name] // amount for name, amount in amounts if amount]])


def most(device: Device) -> int:
    """Return the number of allocations of the least amounts that one device takes."""
    policies = dict(device.policies)
    return fit_in(device, tuple((name, _least(policies.get(name))) for name, _ in device.capacity))


def _least(policy: Policy | None) -> int:
    """Return the least that an allocation can take of a capacity. One without a policy may be asked for nothing."""
    if policy is None:
        return 0
    least = [one for one in (policy.valid_range and policy.valid_range.minimum, *policy.valid_values[:1]) if one]
    bounds = [policy.default, *least] if least else []
    return min((nano(one) for one in bounds if one is not None), default=0)


def fault(policy: Policy, whole: Quantity) -> str:
    """Return the fault of a policy of a capacity, empty if an API server stores it.

    Steps are whole numbers here: before 1.37 an allocator counts them so.
    """
    bounds = policy.valid_range or Range()
    given = (policy.default, bounds.minimum, bounds.maximum, bounds.step, *policy.valid_values)
    amounts = [one for one in given if one is not None]
    if any(one.sign < 0 or one > whole for one in amounts):
        return f"must have no amount below 0 or above {whole.canonical()}, which the device has"
    if bounds.step is not None and any(nano(one) % _NANO for one in amounts):
        return "must have whole numbers where it has a step, since Kubernetes before 1.37 counts steps so"
    if bounds.step is not None and bounds.step.sign <= 0:
        return "must have a step above 0"
    if (policy.valid_range or policy.valid_values) and policy.default is None:
        return "must have a default beside validRange or validValues"
    if policy.valid_range is not None and bounds.minimum is None:
        return "must have a min in validRange"
    if list(policy.valid_values) != sorted(set(policy.valid_values)):
        return "must have validValues in ascending order, none of them twice"
    if policy.default is not None and not _is_value(policy, policy.default):
        return f"must have a default that it allows, not {policy.default.canonical()}"
    return _fault_of_steps(bounds, whole)


def _fault_of_steps(bounds: Range, whole: Quantity) -> str:
    if bounds.step is None or bounds.minimum is None:
        return ""
    least, step = nano(bounds.minimum), nano(bounds.step)
    if least + step > nano(whole):
        return f"must have room for one step above min in {whole.canonical()}, which the device has"
    if bounds.maximum is not None and (nano(bounds.maximum) - least) % step:
        return f"must have a max that is a number of steps above min, not {bounds.maximum.canonical()}"
    return ""


def _is_value(policy: Policy, amount: Quantity) -> bool:
    if policy.valid_range is not None and amount < (policy.valid_range.minimum or amount):
        return False
    return _allowed(amount, Policy(None, policy.valid_range, policy.valid_values), exact=False)


# --- what one allocation takes


def taken(
    has: tuple[tuple[str, str], ...],
    policies: tuple[tuple[str, Policy], ...],
    requested: tuple[tuple[str, Quantity], ...],
    *,
    exact: bool = False,
) -> tuple[tuple[str, Quantity], ...] | None:
    """Return the amount of each capacity that one allocation takes of the device, rounded up by its policies.

    None where the request cannot be served by any such device: it names a capacity the device does not have (names
    are compared literally), or its policy does not allow the amount. `exact`: as 1.37 does it, which counts steps in
    thousandths. Raises: InvalidInput for an amount that is negative, or too large or too fine for that.
    """
    whole = dict(has)
    wanted = dict(requested)
    if wanted.keys() - whole.keys():
        return None
    known = dict(policies)
    found = []
    for name, text in whole.items():
        amount = _amount(wanted.get(name), units.quantity(text), known.get(name), exact=exact)
        if exact and amount.sign < 0:
            raise InvalidInput(f"{amount.canonical()} of capacity {name} is negative")
        found.append((name, amount))
    if all(name not in known or _allowed(amount, known[name], exact=exact) for name, amount in found):
        return tuple(found)
    return None


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
