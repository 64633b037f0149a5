"""Nodes and devices of a pool as they were seen on its cluster, compared with the class that the pool declares.

What is seen counts nodes and devices and names none of them. It bounds what new replicas may use: a node is allocatable
if it is ready, not cordoned, has no taint that replicas do not tolerate, and has all devices of the class, none of them
tainted. Devices are counted by driver, each as the kind of the class that it differs from least, so that a class with a
wrong attribute is told and keeps its capacity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from modelplane.devices import deviations
from modelplane.devices.deviations import Deviation
from modelplane.devices.model import Attribute, Claim, Device, DeviceTaint, DeviceTaintEffect, NodeClass

BYTES_MAX = 1 << 16
"""The bytes of a summary, as its writer keeps them."""
KINDS_MAX, SHAPES_MAX = 64, 64
"""The kinds of devices and the shapes of nodes of one pool in a summary."""
_MEBI = 1 << 20


class NodeState(StrEnum):
    """The first reason why a node takes no new pod, or that it does."""

    NOT_READY = "NotReady"
    CORDONED = "Cordoned"
    TAINTED = "Tainted"
    """It has a taint that replicas of the pool do not tolerate."""
    READY = "Ready"


@dataclass(frozen=True, slots=True)
class SeenKind:
    """Equal devices of one driver: of what they publish, the attributes and capacities that were asked for.

    Names are as published, so that one without a domain belongs to the driver. `is_whole` is False while the driver has
    not published all slices of the device's pool: then nothing of it is allocated.
    """

    driver: str
    attributes: tuple[tuple[str, Attribute], ...] = ()
    capacity: tuple[tuple[str, str], ...] = ()
    taints: tuple[DeviceTaint, ...] = ()
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Shape:
    """A number of nodes that look alike.

    `cpu_millis` and `memory_bytes` are the least allocatable ones of them, None where they are not known. `devices` are
    (index of a kind, number on one node), and `resources` (extended resource, allocatable number on one node).
    """

    nodes: int
    state: NodeState
    cpu_millis: int | None = None
    memory_bytes: int | None = None
    devices: tuple[tuple[int, int], ...] = ()
    resources: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PoolSighting:
    """The nodes and devices that were seen of a pool.

    `asked` is the digest of what was asked; `uncounted` nodes look too different.
    """

    pool: str
    asked: str
    kinds: tuple[SeenKind, ...] = ()
    shapes: tuple[Shape, ...] = ()
    uncounted: int = 0


@dataclass(frozen=True, slots=True)
class SeenDevice:
    """Devices of one kind of the class: those that are there, and those of them on nodes that take new pods."""

    name: str
    observed: int
    allocatable: int


@dataclass(frozen=True, slots=True)
class Seen:
    """The numbers of a pool.

    `observed` nodes exist; `allocatable` take a new replica that needs a whole node. `differs` has one text for each
    value of the class that is another one on the cluster, `lacks` one for each cause why nodes take nothing new.
    """

    observed: int
    ready: int
    cordoned: int
    allocatable: int
    cpu_millis: int | None = None
    memory_bytes: int | None = None
    """The least that is allocatable on a ready node, None where no node says it."""
    devices: tuple[SeenDevice, ...] = ()
    differs: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


def judge(sight: PoolSighting, node_class: NodeClass | None) -> Seen:
    """Return the numbers of a pool of this class; without the class a node is judged by its state alone."""
    wanted = () if node_class is None else _wanted(node_class)
    kinds = [_nearest(kind, wanted) for kind in sight.kinds]
    observed, allocatable = Counter[str](), Counter[str]()
    lacks: Counter[str] = Counter()
    whole = 0
    for shape in sight.shapes:
        there, sound = _devices(shape, sight.kinds, kinds, wanted)
        observed.update({name: count * shape.nodes for name, count in there.items()})
        short = tuple(_short(wanted, sound, there))
        if shape.state is NodeState.READY:
            allocatable.update({name: count * shape.nodes for name, count in sound.items()})
            lacks.update(dict.fromkeys(short, shape.nodes))
            whole += 0 if short else shape.nodes
    differs = (*_differing(sight, kinds), *_smaller(sight, node_class))
    nodes = sum(shape.nodes for shape in sight.shapes) + sight.uncounted
    states = Counter({state: _in(sight, state) for state in NodeState})
    return Seen(
        observed=nodes,
        ready=nodes - states[NodeState.NOT_READY] - sight.uncounted,
        cordoned=states[NodeState.CORDONED],
        allocatable=whole,
        cpu_millis=_least(shape.cpu_millis for shape in _ready(sight)),
        memory_bytes=_least(shape.memory_bytes for shape in _ready(sight)),
        devices=tuple(SeenDevice(one.name, observed[one.name], allocatable[one.name]) for one in wanted),
        differs=differs,
        lacks=(*_resting(states, sight.uncounted), *(f"{_nodes(lacks[what])} {what}" for what in sorted(lacks))),
    )


def _wanted(node_class: NodeClass) -> tuple[Device, ...]:
    """Return the devices of a class that can be seen on its nodes."""
    return tuple(one for one in node_class.devices if one.claim is not Claim.SYNTHETIC and not one.unpublished)


def _in(sight: PoolSighting, state: NodeState) -> int:
    return sum(shape.nodes for shape in sight.shapes if shape.state is state)


def _nearest(kind: SeenKind, wanted: Sequence[Device]) -> tuple[Device | None, tuple[Deviation, ...]]:
    """Return the kind of the class that a device differs from least, in its product first, and in what.

    None where the class has none of its driver.
    """
    found = [(one, deviations.of(one, kind.attributes, kind.capacity)) for one in wanted if _is_of(kind, one)]
    return min(found, key=lambda entry: deviations.distance(entry[1]), default=(None, ()))


def _is_of(kind: SeenKind, device: Device) -> bool:
    return device.claim is Claim.DRA and device.driver == kind.driver


def _devices(
    shape: Shape,
    kinds: Sequence[SeenKind],
    nearest: Sequence[tuple[Device | None, object]],
    wanted: Sequence[Device],
) -> tuple[Counter[str], Counter[str]]:
    """Return the devices on one node by the class's names: those that are there, and those that can be allocated."""
    there, sound = Counter[str](), Counter[str]()
    for index, count in shape.devices:
        device = nearest[index][0]
        if device is not None:
            there[device.name] += count
            sound[device.name] += count if _is_sound(kinds[index], device) else 0
    resources = dict(shape.resources)
    for one in wanted:
        if one.claim is Claim.DEVICE_PLUGIN:
            # The kubelet counts healthy devices by their resource, and kinds with one resource share it in their order.
            part = min(one.count, resources.get(one.resource_name, 0))
            resources[one.resource_name] = resources.get(one.resource_name, 0) - part
            there[one.name] = sound[one.name] = part
    return there, sound


def _is_sound(kind: SeenKind, device: Device) -> bool:
    """Return whether the device can be allocated. The taints of the class are obeyed when a replica is placed."""
    known = {(taint.key, taint.effect) for taint in device.taints}
    return kind.is_whole and all(
        taint.effect is DeviceTaintEffect.NONE or (taint.key, taint.effect) in known for taint in kind.taints
    )


def _short(wanted: Sequence[Device], sound: Counter[str], there: Counter[str]) -> Iterator[str]:
    for one in wanted:
        if sound[one.name] < one.count:
            gone = f"{there[one.name]} of {one.count} {one.name}"
            tainted = there[one.name] - sound[one.name]
            yield f"with {gone}" + (f", {tainted} of them tainted or not published in full" if tainted else "")


def _resting(states: Counter[NodeState], uncounted: int) -> Iterator[str]:
    texts = {
        NodeState.NOT_READY: "not ready",
        NodeState.CORDONED: "cordoned",
        NodeState.TAINTED: "with a taint that is not in the pool's taints",
    }
    for state, text in texts.items():
        if states[state]:
            yield f"{_nodes(states[state])} {text}"
    if uncounted:
        yield f"{_nodes(uncounted)} too different from the others to be counted"


def _differing(sight: PoolSighting, nearest: Sequence[tuple[Device | None, tuple[Deviation, ...]]]) -> Iterator[str]:
    counted = Counter[int]()
    for shape in sight.shapes:
        counted.update({index: count * shape.nodes for index, count in shape.devices})
    found: Counter[tuple[str, str, str, str]] = Counter()
    for index, (device, differences) in enumerate(nearest):
        if device is not None and counted[index]:
            found.update({(device.name, *difference): counted[index] for difference in differences})
    for (device_name, what, declared, seen), count in sorted(found.items()):
        devices = "1 device" if count == 1 else f"{count} devices"
        there = seen or "not published"
        yield f'{what} of device "{device_name}" is {declared} in the class and {there} on {devices}'


def _smaller(sight: PoolSighting, node_class: NodeClass | None) -> Iterator[str]:
    """Yield what nodes have less of than the class says."""
    cpu = None if node_class is None else node_class.cpu_millis
    memory = None if node_class is None else node_class.memory_bytes
    least_cpu = _least(shape.cpu_millis for shape in _ready(sight))
    least_memory = _least(shape.memory_bytes for shape in _ready(sight))
    if cpu is not None and least_cpu is not None and least_cpu < cpu:
        yield f"cpu of a node is {cpu}m in the class and {least_cpu}m on the smallest node"
    if memory is not None and least_memory is not None and least_memory < memory:
        low = f"{least_memory // _MEBI}Mi on the smallest node"
        yield f"memory of a node is {memory // _MEBI}Mi in the class and {low}"


def _ready(sight: PoolSighting) -> tuple[Shape, ...]:
    return tuple(shape for shape in sight.shapes if shape.state is NodeState.READY)


def _least(amounts: Iterable[int | None]) -> int | None:
    return min((one for one in amounts if one is not None), default=None)


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count} nodes"
