"""The selectors that keep a claim on the kind of device that it is counted as."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from modelplane import names, units
from modelplane.devices import outcomes
from modelplane.devices.model import Attribute, AttributeKind, Claim, Device, NodeClass
from modelplane.devices.selector import Outcome


def of(selectors: tuple[str, ...], device: Device, node_class: NodeClass) -> tuple[str, ...]:
    """Return the selectors that keep the claim on the device it is counted as.

    The author's own are what several kinds of one DeviceClass satisfy (slices of any size, say), and a cluster would
    take whichever it comes to first, while the ledger counts the chosen one. They come last, so that they are asked
    only of devices the others let pass. Nothing where no published value tells the kinds apart.
    """
    return _found(selectors, device, node_class)[0]


def tell_apart(selectors: tuple[str, ...], device: Device, node_class: NodeClass) -> bool:
    """Return whether a claim with the pins can be given no other kind."""
    return not _found(selectors, device, node_class)[1]


def _found(
    selectors: tuple[str, ...], device: Device, node_class: NodeClass
) -> tuple[tuple[str, ...], tuple[Device, ...]]:
    """Return the pins, and the rivals that they leave."""
    if device.claim is not Claim.DRA:
        return (), ()
    left = rivals(selectors, device, node_class)
    found: list[str] = []
    for differs_from, text in _marks(device):
        rest = tuple(other for other in left if not differs_from(other))
        if len(rest) < len(left):
            found.append(text)
            left = rest
    return tuple(found), left


def rivals(selectors: tuple[str, ...], device: Device, node_class: NodeClass) -> tuple[Device, ...]:
    """Return the other kinds of the node that a claim for the device may be given: of its DeviceClass, and matching."""
    return tuple(
        other
        for other in node_class.devices
        if other is not device
        and (other.claim, other.device_class) == (Claim.DRA, device.device_class)
        and outcomes.answer(selectors, other).outcome is Outcome.MATCH
    )


def _marks(device: Device) -> Iterator[tuple[Callable[[Device], bool], str]]:
    """Yield what tells the device from others, as a test and in the words of a selector."""
    for name, value in device.attributes:
        if value.kind in (AttributeKind.STRING, AttributeKind.INT) and not name.startswith(f"{names.GROUP}/"):
            # JSON's escapes are CEL's, but for characters that JSON parts in two; those stay as they are.
            text = json.dumps(value.value, ensure_ascii=False)
            yield _differs(_full(device, name), value), f"{_path('attributes', device, name)} == {text}"
    for name, text in device.capacity:
        yield (
            _has_other(_full(device, name), text),
            f'{_path("capacity", device, name)}.compareTo(quantity("{text}")) == 0',
        )


# Both ask for a value of the very name that the selector reads: where a device has none, reading it is an error, and an
# error ends an allocation.


def _differs(full_name: str, value: Attribute) -> Callable[[Device], bool]:
    def differs(other: Device) -> bool:
        has = {_full(other, name): found for name, found in other.attributes}.get(full_name)
        return has is not None and has.kind is value.kind and has != value

    return differs


def _has_other(full_name: str, text: str) -> Callable[[Device], bool]:
    amount = units.quantity(text)

    def has_other(other: Device) -> bool:
        has = {_full(other, name): found for name, found in other.capacity}.get(full_name)
        return has is not None and units.quantity(has) != amount

    return has_other


def _full(device: Device, name: str) -> str:
    """Return a name with its domain; one written without belongs to the driver's."""
    return name if "/" in name else f"{device.driver}/{name}"


def _path(field: str, device: Device, name: str) -> str:
    domain, _, own = _full(device, name).rpartition("/")
    return f'device.{field}["{domain}"]["{own}"]'
