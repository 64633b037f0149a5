"""Names of what is found: devices of a class, classes and pools, made from what they are.

The same hardware has the same names, in whatever order it was read. A product's name is text of a driver, so only its
letters, digits and dashes are used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from modelplane import names
from modelplane.devices.model import Device

_VENDORS = frozenset({"nvidia", "amd", "intel", "google", "instinct", "tesla", "radeon", "pro", "r", "habana"})
_PRODUCT = ("productName", "model", "tpuGen", "accelerator")
_NETWORK = frozenset({"dra.net", "rdma", "sriov.nvidia.com", "efa.amazonaws.com"})
_LONGEST = 40
_DIGITS = 5


def slug(text: str, longest: int = _LONGEST) -> str:
    """Return the text as a part of a name: lower-case letters, digits and single dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:longest].strip("-")


def is_network(device: Device) -> bool:
    """Return whether the device is a network card, as far as its driver says."""
    return device.driver in _NETWORK or "nic" in device.driver or "sriov" in device.driver or "rdma" in device.driver


def device_names(devices: Sequence[Device]) -> list[str]:
    """Return a name for each device of a class, each once: of its kind, its product where kinds differ, or a number."""
    bases = [_base(device) for device in devices]
    products: dict[str, set[str]] = {}
    for base, device in zip(bases, devices, strict=True):
        products.setdefault(base, set()).add(_product(device))
    longer = [
        slug(f"{base}-{_product(device)}", 55) if len(products[base]) > 1 else base
        for base, device in zip(bases, devices, strict=True)
    ]
    seen: dict[str, int] = {}
    found = []
    for name in longer:
        number = seen[name] = seen.get(name, -1) + 1
        found.append(name if longer.count(name) == 1 else f"{name}-{number}")
    return _numbered(found)


def _numbered(wanted: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in wanted:
        number = 1
        while (f"{name}-{number}" if number > 1 else name) in found:
            number += 1
        found.append(f"{name}-{number}" if number > 1 else name)
    return found


def _base(device: Device) -> str:
    kind = _text(device, "type")
    profile = _text(device, "profile")
    if kind == "mig" or profile:
        return slug(f"mig-{profile}") if profile else "mig"
    if kind == "vfio":
        return "vfio"
    partition = _text(device, "computePartition")
    if partition:
        return slug(f"gpu-{partition}-{_text(device, 'memoryPartition')}")
    if is_network(device):
        return "nic"
    return slug(device.driver.partition(".")[0], 20) or "device"


def _text(device: Device, name: str) -> str:
    value = device.attribute(f"{device.driver}/{name}")
    return str(value.value) if value else ""


def _product(device: Device) -> str:
    """Return the short name of the product, of its driver if it has none."""
    for name in _PRODUCT:
        words = [word for word in slug(_text(device, name), 200).split("-") if word]
        while len(words) > 1 and words[0] in _VENDORS:
            words.pop(0)
        if words:
            return "-".join(words)[:_LONGEST].strip("-")
    return slug(device.driver.partition(".")[0], 20) or "device"


def class_name(devices: Sequence[Device], counts: Sequence[int]) -> str:
    """Return the name of a class: its products with their numbers. Parts of physical devices add one word."""
    shown = [pair for pair in zip(devices, counts, strict=True) if not is_network(pair[0])]
    shown = shown or list(zip(devices, counts, strict=True))
    whole = [pair for pair in shown if not pair[0].draws]
    parts = [pair for pair in shown if pair[0].draws]
    summed: dict[str, int] = {}
    for device, count in whole:
        profile = slug(_text(device, "profile"))
        title = f"{_product(device)}-{profile}" if profile else _product(device)
        summed[title] = summed.get(title, 0) + count
    words = [f"{title}-{count}x" for title, count in summed.items()]
    for product, count in dict.fromkeys((_product(device), count) for device, count in parts):
        words.append(f"{product}-{count}x-{'mig' if any(_text(one, 'profile') for one, _ in parts) else 'parts'}")
    return slug("-".join(dict.fromkeys(words)), 50)


def unique(wanted: Sequence[str], contents: Sequence[str]) -> list[str]:
    """Return the names; those wanted twice have a digest of their content, and a number where that is equal."""
    told = [
        name if wanted.count(name) == 1 else f"{name}-{names.digest(content, digits=_DIGITS)}"
        for name, content in zip(wanted, contents, strict=True)
    ]
    return _numbered(told)


def beside(name: str, content: str) -> str:
    """Return the name of something that may not have `name`, which something else has."""
    return f"{name}-{names.digest(content, digits=_DIGITS)}"
