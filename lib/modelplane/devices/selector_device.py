"""Device as the variable `device` of an expression.

Source: k8s.io/dynamic-resource-allocation v0.36.2, cel/compile.go. Known divergence: list attributes, which are alpha
in 1.36 and 1.37, are refused when a device is read (`AttributeKind`). On a cluster with the feature gate off, every
selector aborts on a device with such an attribute in 1.36; in 1.37 the attribute is read as a list.
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
"""The limits of resource.k8s.io/v1: a qualified name, the text of an attribute or driver, and entries of a device."""


def _is_oversized(device: Device) -> bool:
    entries = (*device.attributes, *device.capacity)
    texts = [device.driver, *(str(one.value) for _, one in device.attributes if one.kind is not AttributeKind.INT)]
    return (
        len(entries) > _ENTRIES_MAX
        or any(len(name) > _NAME_MAX for name, _ in entries)
        or any(len(text) > _TEXT_MAX for text in texts)
    )


def _value(name: str, attribute: Attribute) -> Value:
    if attribute.kind is not AttributeKind.VERSION:
        return attribute.value
    try:
        return units.version(str(attribute.value))
    except InvalidQuantity as error:
        raise Unreadable(f"attribute {name}: parse semantic version: {error.message}") from error
