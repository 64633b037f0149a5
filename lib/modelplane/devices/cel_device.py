"""A device as the variable `device` of an expression.

Source: k8s.io/dynamic-resource-allocation v0.36.2, cel/compile.go.
"""

from __future__ import annotations

from typing import Any

from modelplane.cel.runtime import Domains, QuantityBox, Value
from modelplane.devices.model import Attribute, AttributeKind, Device
from modelplane.errors import InvalidQuantity
from modelplane.units import Quantity, Version


class Unreadable(Exception):
    """A value of the device that Kubernetes cannot read: every selector aborts on it."""


class Prepared:
    """A device read once, bound to `device` as often as needed."""

    __slots__ = ("_attributes", "_capacity", "_device", "fault")

    def __init__(self, device: Device) -> None:
        self._device = device
        self.fault = ""
        self._attributes = Domains()
        self._capacity: list[tuple[str, list[tuple[str, Quantity]]]] = []
        try:
            self._read(device)
        except Unreadable as error:
            self.fault = str(error)

    def _read(self, device: Device) -> None:
        for name, attribute in device.attributes:
            domain, identifier = qualified(name, device.driver)
            self._attributes.setdefault(domain, {})[identifier] = _value(name, attribute)
        capacity: dict[str, list[tuple[str, Quantity]]] = {}
        for name, text in device.capacity:
            domain, identifier = qualified(name, device.driver)
            try:
                capacity.setdefault(domain, []).append((identifier, Quantity.parse(text)))
            except InvalidQuantity as error:
                raise Unreadable(f"capacity {name}: {error.message}") from error
        self._capacity = list(capacity.items())

    def variables(self) -> dict[str, Value]:
        """Return the variables of one evaluation; quantities are fresh, since comparing changes their form."""
        capacity = Domains()
        for domain, entries in self._capacity:
            capacity[domain] = {name: QuantityBox(quantity) for name, quantity in entries}
        fields: dict[str, Any] = {
            "driver": self._device.driver,
            "allowMultipleAllocations": self._device.allow_multiple_allocations,
            "attributes": self._attributes,
            "capacity": capacity,
        }
        return {"device": fields}


def qualified(name: str, driver: str) -> tuple[str, str]:
    """Return domain and identifier of a qualified name; without a domain it is the driver's."""
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _value(name: str, attribute: Attribute) -> Value:
    if attribute.kind is not AttributeKind.VERSION:
        return attribute.value
    try:
        return Version.parse(str(attribute.value))
    except InvalidQuantity as error:
        raise Unreadable(f"attribute {name}: parse semantic version: {error.message}") from error
