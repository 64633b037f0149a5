"""Devices for selector tests, read from the shape a ResourceSlice gives them."""

from __future__ import annotations

from typing import Any

from modelplane.devices.model import Attribute, AttributeKind, Device


def device_from_slice(driver: str, device: dict[str, Any], name: str = "gpu") -> Device:
    """Return the device of a ResourceSlice entry as the domain sees it."""
    attributes = [
        (key, Attribute(AttributeKind(kind), value))
        for key, typed in device.get("attributes", {}).items()
        for kind, value in typed.items()
    ]
    capacity = [(key, entry["value"]) for key, entry in device.get("capacity", {}).items()]
    return Device(
        name=name,
        driver=driver,
        count=1,
        attributes=tuple(sorted(attributes, key=lambda pair: pair[0])),
        capacity=tuple(sorted(capacity)),
    )
