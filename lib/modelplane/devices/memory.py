"""Memory of a device, as its driver publishes it."""

from __future__ import annotations

from modelplane import units
from modelplane.devices.model import Device

MEMORY = "memory"


def published(device: Device) -> int | None:
    """Return the memory in bytes that the driver of the device publishes, None if it publishes none.

    A capacity without a domain belongs to the driver's domain.
    """
    for name, value in device.capacity:
        if name in {MEMORY, f"{device.driver}/{MEMORY}"}:
            return units.quantity(value).ceil()
    return None
