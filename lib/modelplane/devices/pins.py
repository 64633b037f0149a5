"""The selectors that keep a claim on the kind of device that it is counted as."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import NamedTuple

from modelplane import names, units
from modelplane.devices import outcomes
from modelplane.devices.model import Attribute, AttributeKind, Claim, Device, NodeClass
from modelplane.devices.selector import Outcome


def of(selectors: tuple[str, ...], device: Device, node_class: NodeClass) -> tuple[str, ...]:
    """Return the selectors that keep the claim on the device that it is counted as.

    Several kinds of one DeviceClass may match the author's selectors (slices of any size, say). A cluster would then
    use the first, while the ledger counts the chosen one. The pins come last, so that only devices that the
    others select are asked. The result is empty if no published value distinguishes the kinds.
    """
    return _found(selectors, device, node_class)[0]


def tell_apart(selectors: tuple[str, ...], device: Device, node_class: NodeClass) -> bool:
    """Return whether a claim with the pins can get no other kind."""
    return not _found(selectors, device, node_class)[1]


def _found(
    selectors: tuple[str, ...], device: Device, node_class: NodeClass
) -> tuple[tuple[str, ...], tuple[Device, ...]]:
    """Return the pins, and the rivals that they leave.

    Values that all rivals have come first: such a pin reads as an author would write it. A value that some rival lacks
    is asked for only where it takes one, and guarded.
    """
    if device.claim is not Claim.DRA:
        return (), ()
    left = rivals(selectors, device, node_class)
    found: list[str] = []
    marks = tuple(_marks(device)) if left else ()
    for may_guard in (False, True):
        for mark in marks:
            is_safe = all(mark.sees(other) is not Sight.ERROR for other in left)
            if (is_safe or may_guard) and any(mark.sees(other) is Sight.DIFFERS for other in left):
                found.append(mark.plain if is_safe else mark.guarded)
                left = tuple(other for other in left if mark.sees(other) is Sight.ALIKE)
    return tuple(found), left


def rivals(selectors: tuple[str, ...], device: Device, node_class: NodeClass) -> tuple[Device, ...]:
    """Return the other kinds of the node that a claim for the device may be given: of its DeviceClass, and matching."""
    return tuple(
        other
        for other in node_class.devices
        if other is not device
        and not other.unpublished
        and (other.claim, other.device_class) == (Claim.DRA, device.device_class)
        and outcomes.answer(selectors, other).outcome is Outcome.MATCH
    )


class Sight(Enum):
    """The result of a mark on another device."""

    ALIKE = auto()
    DIFFERS = auto()
    ERROR = auto()
    """The value does not exist there, so that reading it is a CEL error, which ends an allocation."""


class Mark(NamedTuple):
    """A value that distinguishes a device from others, as a selector.

    `guarded` equals `plain`, but is false where `plain` is an error.
    """

    sees: Callable[[Device], Sight]
    plain: str
    guarded: str


def _marks(device: Device) -> Iterator[Mark]:
    """Yield the values that may tell the device from others."""
    for name, value in device.attributes:
        if value.kind in (AttributeKind.STRING, AttributeKind.INT) and not name.startswith(f"{names.GROUP}/"):
            # JSON's escapes are CEL's, but for characters that JSON parts in two; those stay as they are.
            text = json.dumps(value.value, ensure_ascii=False)
            has, read = _paths("attributes", device, name)
            # A version on the left of == is an error, on the right it is merely another value.
            yield Mark(_value(_full(device, name), value), f"{read} == {text}", f"{has} && {text} == {read}")
    for name, text in device.capacity:
        has, read = _paths("capacity", device, name)
        plain = f'{read}.compareTo(quantity("{text}")) == 0'
        yield Mark(_amount(_full(device, name), text), plain, f"{has} && {plain}")


def _value(full_name: str, value: Attribute) -> Callable[[Device], Sight]:
    def sees(other: Device) -> Sight:
        has = {_full(other, name): found for name, found in other.attributes}.get(full_name)
        if has is None or has.kind is AttributeKind.VERSION:
            return Sight.ERROR
        return Sight.DIFFERS if has.kind is value.kind and has != value else Sight.ALIKE

    return sees


def _amount(full_name: str, text: str) -> Callable[[Device], Sight]:
    amount = units.quantity(text)

    def sees(other: Device) -> Sight:
        has = {_full(other, name): found for name, found in other.capacity}.get(full_name)
        if has is None:
            return Sight.ERROR
        return Sight.DIFFERS if units.quantity(has) != amount else Sight.ALIKE

    return sees


def _full(device: Device, name: str) -> str:
    """Return a name with its domain; one written without belongs to the driver's."""
    return name if "/" in name else f"{device.driver}/{name}"


def _paths(field: str, device: Device, name: str) -> tuple[str, str]:
    """Return the selectors that ask for a published name, and that read it."""
    domain, _, own = _full(device, name).rpartition("/")
    published = f'device.{field}["{domain}"]'
    return f'"{own}" in {published}', f'{published}["{own}"]'
