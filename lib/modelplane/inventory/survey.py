"""Classes and pools of a cluster that exists, made from its nodes and from what drivers and plugins publish of them.

Nodes with equal devices and nearly equal CPU and memory have one class. A pool is what a cloud or a tool calls one: the
nodes of one class with the same name of a node pool and the same taints. What cannot be expressed is told, in a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from modelplane.devices.model import Attribute, CounterSet, Device, NodeClass
from modelplane.inventory import attributes, device_classes, grouping, naming, partitioned, plugins, reach
from modelplane.inventory.attributes import Settled
from modelplane.inventory.grouping import Content, FoundPool, some
from modelplane.inventory.model import Amounts, DeviceClass, Node, Seen

_DEVICES_MAX = 32
_COUNT_MAX = 1024
_NO_HARDWARE = frozenset({"compute-domain.nvidia.com", "dra.cpu", "dra.memory"})
"""Drivers of what is no accelerator and no network card: channels between nodes, CPUs, memory."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The result. `published` are the devices of each node as their drivers publish them, for comparisons."""

    classes: tuple[NodeClass, ...]
    pools: tuple[FoundPool, ...]
    notes: tuple[str, ...]
    published: Mapping[str, tuple[Device, ...]]


def survey(seen: Seen, *, by_place: bool = False) -> Survey:
    """Return the classes and pools of what was seen.

    With `by_place`, devices that sit in different places (PCIe roots, NUMA nodes) are entries of their own where
    devices of several drivers have such an attribute, so that constraints can match it.
    """
    read = reach.read([one for one in seen.slices if one.driver not in _NO_HARDWARE])
    placed, others = reach.of_nodes(read.pools, seen.nodes)
    settled, left = attributes.settled(
        {name: [(pool.name, device) for pool, device in each] for name, each in placed.items()}
    )
    counters: dict[str, dict[tuple[str, str], Amounts]] = {}
    for name, each in placed.items():
        for pool, _ in each:
            counters.setdefault(name, {}).update({(pool.name, key): amounts for key, amounts in pool.counter_sets})
    software = sorted({one.driver for one in seen.slices} & _NO_HARDWARE)
    said = [f"{driver} left out: no model runs on its devices" for driver in software]
    said += [*read.notes, *others, *left, *_tainted(settled)]
    classes = _classes(settled, seen.device_classes, said)
    contents = _contents(settled, counters, classes, said)
    nodes = {node.name: node for node in seen.nodes} or {name: Node(name) for name in sorted(settled)}
    for name in sorted(nodes):
        devices, sets = contents.get(name, ((), ()))
        contents[name] = (_plugged(nodes[name], devices, said), sets)
    if by_place:
        contents = _by_place(contents, settled, classes, said)
    said += _places_left(settled, by_place=by_place)
    found = _described(contents, read.unknown, said)
    made, pools_made = grouping.grouped(found, nodes, said)
    published = {name: _named(devices) for name, devices in settled.items()}
    return Survey(made, pools_made, tuple(dict.fromkeys(said)), published)


def _described(contents: Mapping[str, Content], unknown: frozenset[str], said: list[str]) -> dict[str, Content]:
    """Return the nodes with devices for inference, all of which are known."""
    with_devices = {name: content for name, content in contents.items() if content[0]}
    half = sorted(unknown & with_devices.keys())
    if half:
        said.append(f"{_nodes(half)} left out: some of their devices are not known now; ask again later")
    known = {name: content for name, content in with_devices.items() if name not in unknown}
    bare = sorted(name for name, (devices, _) in known.items() if all(map(naming.is_network, devices)))
    if bare:
        said.append(f"{_nodes(bare)} left out: no model runs on their devices, which are network cards")
    return {name: content for name, content in known.items() if name not in bare}


def _nodes(names: Sequence[str]) -> str:
    return f"{len(names)} {'node' if len(names) == 1 else 'nodes'} ({some(names)})"


def _tainted(settled: Mapping[str, Sequence[Settled]]) -> list[str]:
    """Return a line for each taint that keeps devices apart: of a whole kind, or of a few that are broken now."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, devices in settled.items():
        for one in devices:
            for taint in one.kind.taints:
                found.setdefault((one.kind.driver, str(taint)), []).append(f"{name}/{one.origin.name}")
    return [
        f"{driver}: {len(which)} {'device' if len(which) == 1 else 'devices'} with the taint {taint} listed apart "
        f"({some(which)}); requests take them only where they tolerate it"
        for (driver, taint), which in sorted(found.items())
    ]


def _named(devices: Sequence[Settled]) -> tuple[Device, ...]:
    return tuple(replace(one.origin.kind, name=one.origin.name) for one in devices)


# --- devices ----------------------------------------------------------------------------------------------------------


def _classes(
    settled: Mapping[str, Sequence[Settled]], known: Sequence[DeviceClass], said: list[str]
) -> dict[Device, str]:
    """Return the DeviceClass of each kind. A kind without one is left out, since no pod could claim it."""
    members: dict[Device, list[Device]] = {}
    for devices in settled.values():
        for one in devices:
            members.setdefault(one.kind, []).append(one.origin.kind)
    found: dict[Device, str] = {}
    for kind, each in sorted(members.items(), key=lambda one: repr(one[0])):
        name = device_classes.choose(each, known) if known else device_classes.usual(each[0])
        if name is None:
            said.append(f"{kind.driver}: devices {_title(kind)} left out: no DeviceClass selects them; create one")
        else:
            found[kind] = name
            if not known:
                said.append(f"{kind.driver}: no DeviceClass was read, so deviceClassName {name} is assumed")
    return found


def _title(kind: Device) -> str:
    return naming.device_names([kind])[0]


def _contents(
    settled: Mapping[str, Sequence[Settled]],
    counters: Mapping[str, Mapping[tuple[str, str], Amounts]],
    classes: Mapping[Device, str],
    said: list[str],
) -> dict[str, Content]:
    """Return the devices and counter sets of each node, the same for nodes with the same hardware."""
    found: dict[str, Content] = {}
    # Kinds stand in the order in which they are published, which is the order in which an allocator tries them.
    first: dict[Device, int] = {}
    for devices in settled.values():
        for one in devices:
            first.setdefault(one.kind, len(first))
    for name, devices in settled.items():
        usable = [
            replace(one, kind=replace(one.kind, device_class=classes[one.kind]))
            for one in devices
            if one.kind in classes
        ]
        counted = Counter(one.kind for one in usable if not one.origin.draws)
        plain = [replace(kind, count=count) for kind, count in counted.items()]
        sets: tuple[CounterSet, ...] = ()
        parts: tuple[Device, ...] = ()
        drawing = [one for one in usable if one.origin.draws]
        if drawing:
            sets, parts, notes = partitioned.written(partitioned.units_of(drawing, counters[name]))
            said += notes
        ordered = sorted((*plain, *parts), key=lambda one: (_order(one), first[_kind(one)]))
        many = [one for one in ordered if one.count > _COUNT_MAX]
        said += [
            f"{one.driver}: {one.count} equal devices of a node left out: a class has {_COUNT_MAX}" for one in many
        ]
        ordered = [one for one in ordered if one not in many]
        if len(ordered) > _DEVICES_MAX:
            said.append(
                f"node {name}: {len(ordered)} kinds of devices, and a class has {_DEVICES_MAX}; the last are left out"
            )
            ordered = ordered[:_DEVICES_MAX]
            drawn = {draw.counter_set for one in ordered for draw in one.draws}
            sets = tuple(one for one in sets if one.name in drawn)
        found[name] = (tuple(ordered), sets)
    return found


def _order(device: Device) -> tuple[bool, str]:
    return (naming.is_network(device), device.driver)


def _kind(device: Device) -> Device:
    return replace(device, count=1, draws=(), device_class="")


def _plugged(node: Node, devices: tuple[Device, ...], said: list[str]) -> tuple[Device, ...]:
    """Return the devices of a node with those of its plugins.

    A driver and a plugin that offer the same devices would have them counted twice.
    """
    plugged, notes = plugins.devices(node)
    said += notes
    drivers = {one.driver for one in devices}
    for one in plugged:
        if one.driver in drivers:
            said.append(
                f"resource {one.resource_name} left out: {one.driver} publishes the devices of the same nodes, and "
                "they would be counted twice; stop the plugin there, or a pod of others may take what is claimed"
            )
    added = [one for one in plugged if one.driver not in drivers]
    return tuple(sorted((*devices, *added), key=lambda one: (_order(one), one.resource_name))) if added else devices


# --- places -----------------------------------------------------------------------------------------------------------


def _compared(settled: Mapping[str, Sequence[Settled]]) -> frozenset[str]:
    return frozenset().union(*[attributes.placed(devices) for devices in settled.values()])


def _places_left(settled: Mapping[str, Sequence[Settled]], *, by_place: bool) -> list[str]:
    """Return a line for attributes of place, which say something of single devices."""
    names = sorted({name for devices in settled.values() for one in devices for name, _ in one.places})
    compared = _compared(settled)
    if by_place:
        names = [
            name for name in names if not any(full.rpartition("/")[2] == name.rpartition("/")[2] for full in compared)
        ]
    if not names:
        return []
    also = "; --by-place lists devices by it" if compared and not by_place else ""
    return [f"attributes of place left out: {', '.join(names)}: they differ between the devices of a node{also}"]


def _by_place(
    contents: dict[str, Content],
    settled: Mapping[str, Sequence[Settled]],
    classes: Mapping[Device, str],
    said: list[str],
) -> dict[str, Content]:
    """Return the contents with devices by place, where all nodes of one content have devices in the same places."""
    alike: dict[Content, list[str]] = {}
    for name, content in sorted(contents.items()):
        alike.setdefault(content, []).append(name)
    made = dict(contents)
    for content, names in alike.items():
        split = {name: _split(content, settled.get(name, ()), classes) for name in names}
        if len(set(split.values())) > 1:
            said.append(f"attributes of place left out: they differ between equal nodes ({some(names)})")
            continue
        devices = split[names[0]]
        if len(devices) > _DEVICES_MAX:
            said.append(f"attributes of place left out: they make {len(devices)} kinds, and a class has {_DEVICES_MAX}")
            continue
        made |= dict.fromkeys(names, (devices, content[1]))
    return made


def _split(content: Content, devices: Sequence[Settled], classes: Mapping[Device, str]) -> tuple[Device, ...]:
    compared = attributes.placed(devices)
    by_kind: dict[Device, Counter[tuple[tuple[str, Attribute], ...]]] = {}
    for one in devices:
        if one.origin.draws or one.kind not in classes:
            continue
        kept = tuple(pair for pair in one.places if "/".join(one.kind.qualified(pair[0])) in compared)
        kind = replace(one.kind, device_class=classes[one.kind])
        by_kind.setdefault(kind, Counter())[kept] += 1
    found: list[Device] = []
    for device in content[0]:
        places = by_kind.get(replace(device, count=1))
        if not places:
            found.append(device)
            continue
        for kept, count in sorted(places.items(), key=lambda one: repr(one[0])):
            merged = tuple(sorted((*device.attributes, *kept), key=lambda one: one[0]))
            found.append(replace(device, count=count, attributes=merged))
    return tuple(found)
