"""Device as the variable `device` of an expression.

Source: k8s.io/dynamic-resource-allocation v0.36.2, cel/compile.go. Known divergence: a list attribute is read as a
list. Without the feature gate DRAListTypeAttributes the API server stores no such device (`locality`), and a selector
of 1.36 that met one would abort.
"""

from __future__ import annotations

from typing import Final

from kubecel.values import Domains, Named, QuantityBox, Value
from modelplane import units
from modelplane.devices.model import Attribute, AttributeKind, Device
from modelplane.errors import InvalidQuantity
from modelplane.units import Quantity


class Unreadable(Exception):
    """A value of the device that Kubernetes cannot parse, so that every selector aborts on the device."""


class Prepared:
    """A device that is parsed once and bound to the variable `device` for each evaluation."""

    __slots__ = ("_attributes", "_capacity", "_device", "fault", "is_odd")

    def __init__(self, device: Device) -> None:
        self._device = device
        self.fault = ""
        self._attributes = Domains()
        self._capacity: list[tuple[str, list[tuple[str, Quantity]]]] = []
        try:
            self._read(device)
        except Unreadable as error:
            self.fault = str(error)
        # What the API server would not store may cost more than was estimated.
        self.is_odd = bool(self.fault) or _is_oversized(device)

    def _read(self, device: Device) -> None:
        for name, attribute in device.attributes:
            domain, identifier = device.qualified(name)
            self._attributes.setdefault(domain, Named())[identifier] = _value(name, attribute)
        capacity: dict[str, list[tuple[str, Quantity]]] = {}
        for name, text in device.capacity:
            domain, identifier = device.qualified(name)
            try:
                capacity.setdefault(domain, []).append((identifier, units.quantity(text)))
            except InvalidQuantity as error:
                raise Unreadable(f"capacity {name}: {error.message}") from error
        self._capacity = list(capacity.items())

    def variables(self) -> dict[str, Value]:
        """Return the variables of one evaluation. Quantities are new objects, because comparing changes their form."""
        capacity = Domains()
        for domain, entries in self._capacity:
            capacity[domain] = Named([(name, QuantityBox(quantity)) for name, quantity in entries])
        fields = {
            "driver": self._device.driver,
            "allowMultipleAllocations": self._device.allow_multiple_allocations,
            "attributes": self._attributes,
            "capacity": capacity,
        }
        return {"device": Named(fields)}


_NAME_MAX: Final = 63 + 1 + 32
_TEXT_MAX: Final = 64
_ENTRIES_MAX: Final = 32
_VALUES_MAX: Final = 48
"""Limits of resource.k8s.io/v1: a qualified name, the text of an attribute or driver, a device's entries and values."""


def _is_oversized(device: Device) -> bool:
    entries = (*device.attributes, *device.capacity)
    values = [one for _, attribute in device.attributes for one in attribute.values()]
    texts = [device.driver, *(str(one.value) for one in values if one.kind is not AttributeKind.INT)]
    return (
        len(entries) > _ENTRIES_MAX
        or len(values) > _VALUES_MAX
        or any(len(name) > _NAME_MAX for name, _ in entries)
        or any(len(text) > _TEXT_MAX for text in texts)
    )


def _value(name: str, attribute: Attribute) -> Value:
    if isinstance(attribute.value, tuple):
        return [_scalar(name, attribute.kind.element, one) for one in attribute.value]
    return _scalar(name, attribute.kind, attribute.value)


def _scalar(name: str, kind: AttributeKind, value: str | int | bool) -> Value:  # noqa: FBT001 - the value itself
    if kind is not AttributeKind.VERSION:
        return value
    try:
        return units.version(str(value))
    except InvalidQuantity as error:
        raise Unreadable(f"attribute {name}: parse semantic version: {error.message}") from error
