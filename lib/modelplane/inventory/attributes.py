"""The attributes of published devices that a class can promise: those that all devices of a kind have alike.

An attribute that tells one device from another (uuid, PCI address, serial number) belongs to no class. One that says
where a device sits (PCIe root, NUMA node) is kept apart, unless all devices of a kind sit alike. Any other attribute
that differs between devices of one kind is left out where it does not tell kinds apart, with a line that says so: a
selector that asks it then matches nothing, which is better than a promise that half of the nodes do not keep.

Source of the names: the drivers of NVIDIA, AMD, Intel, Google (TPU) and dranet, 2025 and 2026.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from modelplane.devices.model import Attribute, AttributeKind, Device, DeviceTaintEffect
from modelplane.inventory.model import Published

_OWN = re.compile(
    r"(?i)(.*uuid|.*guid|.*serial(no|number)?|index|.*index|minor|mac|macaddress|ipv?[46]|ifname|alias|tcfilternames"
    r"|.*pci(e)?(bus|root)?_?(id|addr|address)|.*busid|gpumoduleid|partition[0-9]+|rdmadevice|host|hostname|id)"
)
"""Names of attributes that tell one device from another."""
_OWN_VALUE = re.compile(
    r"(?i)([0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]|([0-9a-f]{2}:){5}[0-9a-f]{2}|"
    r"(GPU-|MIG-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
"""Values that only one device has: PCI and MAC addresses, and UUIDs."""
_PLACE = frozenset({"pcieroot", "numanode", "numa", "numaid"})
_KIND = frozenset(
    {
        "type",
        "productname",
        "brand",
        "architecture",
        "cudacomputecapability",
        "profile",
        "partitionprofile",
        "computepartition",
        "memorypartition",
        "model",
        "family",
        "pciid",
        "deviceid",
        "vendorid",
        "pcivendor",
        "pcidevice",
        "pcisubsystem",
        "tpugen",
        "accelerator",
        "topology",
        "chipcount",
        "encapsulation",
        "mtu",
    }
)
"""Names of attributes that tell kinds apart, whatever their values. Those with Boolean values do too."""
_PLACED_CAPACITY = re.compile(r"(.*/)?memorySlice[0-9]+")
"""A capacity of MIG devices that says which part of their GPU they are."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A published device with what its class can promise. `places` are its attributes of place, sorted.

    `kind` has the blocking taints of the device. `origin` is the device as it was published.
    """

    node: str
    pool: str
    kind: Device
    origin: Published
    places: tuple[tuple[str, Attribute], ...] = ()


def settled(found: Mapping[str, Sequence[tuple[str, Published]]]) -> tuple[dict[str, list[Settled]], list[str]]:
    """Return the devices of each node (`found` has them with their pools), and a line for each attribute left out."""
    groups: dict[Device, list[tuple[str, str, Published]]] = {}
    for node in sorted(found):
        for pool, device in found[node]:
            groups.setdefault(_core(device), []).append((node, pool, device))
    made: dict[str, list[Settled]] = {node: [] for node in sorted(found)}
    dropped: dict[tuple[str, str], set[str]] = {}
    own: dict[str, set[str]] = {}
    for core, members in groups.items():
        kept, left = _loose(members)
        for name, values in left.items():
            dropped.setdefault((core.driver, name), set()).update(values)
        for node, pool, device in members:
            attributes = [(name, value) for name, value in device.kind.attributes if name in kept]
            kind = replace(core, attributes=tuple(sorted([*core.attributes, *attributes], key=lambda one: one[0])))
            places = tuple(pair for pair in device.kind.attributes if _is_place(pair[0]) and pair[0] not in kept)
            made[node].append(Settled(node, pool, kind, device, places))
            own.setdefault(core.driver, set()).update(
                name for name, value in device.kind.attributes if _is_own(name, value)
            )
    notes = [
        f"{driver}: {', '.join(sorted(names))} left out: they tell one device from another"
        for driver, names in sorted(own.items())
        if names
    ]
    notes += [
        f"{driver}: attribute {name} left out: it differs between equal devices ({_shown(values)}); a selector that "
        "asks it matches none of them"
        for (driver, name), values in sorted(dropped.items())
    ]
    return made, notes


def _shown(values: set[str]) -> str:
    every = sorted(values)
    return ", ".join(every[:4]) + (f", and {len(every) - 4} more" if len(every) > 4 else "")


def _core(device: Published) -> Device:
    """Return the content by which kinds are told apart: without attributes that may differ between equal devices."""
    kind = device.kind
    return replace(
        kind,
        attributes=tuple((name, value) for name, value in kind.attributes if _tells_kinds_apart(name, value)),
        capacity=tuple((name, text) for name, text in kind.capacity if not _PLACED_CAPACITY.fullmatch(name)),
        taints=tuple(one for one in kind.taints if one.effect is not DeviceTaintEffect.NONE),
    )


def _plain(name: str) -> str:
    return name.rpartition("/")[2].lower()


def _is_place(name: str) -> bool:
    return _plain(name) in _PLACE


def _is_own(name: str, value: Attribute) -> bool:
    if _is_place(name) or _plain(name) in _KIND:
        return False
    return bool(_OWN.fullmatch(_plain(name))) or (
        value.kind is AttributeKind.STRING and bool(_OWN_VALUE.fullmatch(str(value.value)))
    )


def _tells_kinds_apart(name: str, value: Attribute) -> bool:
    return _plain(name) in _KIND or (value.kind is AttributeKind.BOOL and _plain(name) not in ("healthy", "health"))


def _loose(members: Sequence[tuple[str, str, Published]]) -> tuple[frozenset[str], dict[str, set[str]]]:
    """Return the other attributes of devices of one core that are kept, and those that are left out, with their values.

    One that differs is kept where it tells kinds apart: each node has as many of each value, and two or more of most.
    """
    names = sorted(
        {
            name
            for _, _, device in members
            for name, value in device.kind.attributes
            if not (_tells_kinds_apart(name, value) or _is_own(name, value))
        }
    )
    kept, left = set(), {}
    for name in names:
        by_node: dict[str, Counter[Attribute | None]] = {}
        for node, _, device in members:
            value = dict(device.kind.attributes).get(name)
            by_node.setdefault(node, Counter())[value] += 1
        values = {value for counted in by_node.values() for value in counted}
        if len(values) == 1 or (not _is_place(name) and _is_of_kinds(list(by_node.values()))):
            kept.add(name)
        elif not _is_place(name):
            left[name] = {"none" if value is None else str(value.value) for value in values}
    return frozenset(kept), left


def _is_of_kinds(by_node: Sequence[Counter[Attribute | None]]) -> bool:
    """Return whether a value tells kinds apart. A version never does: software is upgraded device by device."""
    first = by_node[0]
    if any(value is not None and value.kind.element is AttributeKind.VERSION for value in first):
        return False
    return all(counted == first for counted in by_node) and sum(first.values()) >= 2 * len(first)


def placed(devices: Sequence[Settled]) -> frozenset[str]:
    """Return the attributes of place that devices of several drivers have, which constraints can compare."""
    drivers: dict[str, set[str]] = {}
    for one in devices:
        for name, _ in one.places:
            domain, identifier = one.kind.qualified(name)
            drivers.setdefault(f"{domain}/{identifier}", set()).add(one.kind.driver)
    return frozenset(name for name, of in drivers.items() if len(of) > 1)
