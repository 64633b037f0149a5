"""The DeviceClass by which devices of a kind are claimed: one whose selectors hold for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from modelplane.devices import selector
from modelplane.devices.model import Device
from modelplane.errors import InvalidSelector
from modelplane.inventory.model import DeviceClass

_ASKED_MAX = 64
"""Devices of one kind that a selector is asked about. They are equal in all that tells kinds apart."""
_OF_TYPE = {
    ("gpu.nvidia.com", "mig"): "mig.nvidia.com",
    ("gpu.nvidia.com", "vfio"): "vfio.gpu.nvidia.com",
}
"""The DeviceClasses that drivers ship beside the one that has their name."""


def usual(kind: Device) -> str:
    """Return the name of the DeviceClass that the driver of the device ships for it."""
    of_type = kind.attribute(f"{kind.driver}/type")
    return _OF_TYPE.get((kind.driver, str(of_type.value) if of_type else ""), kind.driver)


def choose(devices: Sequence[Device], known: Sequence[DeviceClass]) -> str | None:
    """Return the DeviceClass of equal devices as they are published, None if none of `known` selects them.

    Of several it is the one that the driver ships, then one without a configuration, then the first by name.
    """
    fitting = [one for one in known if one.selectors and all(_selects(one, each) for each in devices[:_ASKED_MAX])]
    name = usual(devices[0])
    best = min(fitting, key=lambda one: (one.name != name, one.has_config, one.name), default=None)
    return best.name if best else None


def _selects(one: DeviceClass, device: Device) -> bool:
    try:
        compiled = [selector.compile(text, selector.V1_36_LISTS, admit=False) for text in one.selectors]
    except InvalidSelector:
        return False
    return all(each.evaluate(device).outcome is selector.Outcome.MATCH for each in compiled)
