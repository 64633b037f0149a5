"""Deviations of a published device from the device that a class declares: one comparison for all who make it.

A class may leave attributes and capacities out; what it declares must be what the device publishes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from modelplane import units
from modelplane.devices.model import Attribute, Device
from modelplane.errors import InvalidQuantity

_TELLING = frozenset({"type", "productName", "architecture", "profile", "model", "family", "tpuGen", "accelerator"})
_SHOWN = 4
"""The values of a list that are told: data of a cluster may have many."""


class Deviation(NamedTuple):
    """One field that differs. `published` is empty where the device does not publish it."""

    field: str
    declared: str
    published: str

    @property
    def is_telling(self) -> bool:
        """Return whether it makes another product, and not another state of the same one."""
        return is_telling(self.field)


def is_telling(field: str) -> bool:
    """Return whether a field, written as in `Deviation`, tells one product from another."""
    return field.removeprefix("attribute ").rpartition("/")[2] in _TELLING


def of(
    declared: Device, attributes: Iterable[tuple[str, Attribute]], capacity: Iterable[tuple[str, str]]
) -> tuple[Deviation, ...]:
    """Return the deviations of a device of the same driver that publishes these attributes and quantities.

    Quantities are compared by amount: 1Gi is 1024Mi. One that is none equals no other. An exact name takes precedence
    over one without a domain, which belongs to the domain of the driver.
    """
    # False before True: what is named exactly overwrites.
    has = {declared.qualified(name): value for name, value in sorted(attributes, key=lambda one: "/" in one[0])}
    amounts = {declared.qualified(name): text for name, text in sorted(capacity, key=lambda one: "/" in one[0])}
    found = []
    for name, value in declared.attributes:
        there = has.get(declared.qualified(name))
        if there != value:
            found.append(Deviation(f"attribute {name}", shown(value), "" if there is None else shown(there, value)))
    for name, amount in declared.capacity:
        text = amounts.get(declared.qualified(name), "")
        if not text or not _equal(amount, text):
            found.append(Deviation(f"capacity {name}", amount, text))
    return tuple(found)


def distance(found: Iterable[Deviation]) -> tuple[int, int]:
    """Return the number of deviations: of those that make another product, and of all."""
    listed = list(found)
    return sum(one.is_telling for one in listed), len(listed)


def shown(value: Attribute, beside: Attribute | None = None) -> str:
    """Return a value as YAML has it, with its kind where it is `beside` one of another kind."""
    values = value.value if isinstance(value.value, tuple) else (value.value,)
    told = [str(one).lower() if isinstance(one, bool) else str(one) for one in values[:_SHOWN]]
    text = ", ".join(told) + (", ..." if len(values) > _SHOWN else "")
    if beside is not None and beside.kind is not value.kind:
        return f"{text} ({value.kind})"
    return text or '""'


def _equal(amount: str, other: str) -> bool:
    try:
        return units.quantity(amount) == units.quantity(other)
    except InvalidQuantity:
        return False
