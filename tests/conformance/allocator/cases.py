"""Generated nodes and claims, and the same in the words of both sides."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from modelplane.devices.model import Attribute, AttributeKind, Constraint, Device, NodeClass, Request

DRIVERS = ("gpu.nvidia.com", "dra.net")
ROOT = "resource.kubernetes.io/pcieRoot"
SELECTORS = (
    'device.driver == "gpu.nvidia.com"',
    'device.driver == "dra.net"',
    'device.attributes["gpu.nvidia.com"].architecture == "Hopper"',
    'device.attributes["gpu.nvidia.com"].?architecture.orValue("none") != "Hopper"',
    'device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].architecture == "Ada"',
    'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0',
    '"memory" in device.capacity["gpu.nvidia.com"]',
    "true",
)


@dataclass(frozen=True, slots=True)
class Case:
    """A node of some kinds of device and one claim."""

    node: NodeClass
    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """The DeviceClasses of the node in the order their first device is listed."""
        return tuple(dict.fromkeys(kind.device_class for kind in self.node.devices))

    def questions(self) -> Iterator[dict[str, Any]]:
        """One question per choice of a DeviceClass for each request.

        A claim has to name them, our matching finds them.
        """
        for chosen in product(self.classes, repeat=len(self.requests)):
            yield {
                "kinds": [_kind(device) for device in self.node.devices],
                "requests": [
                    {"name": r.name, "class": name, "count": r.count, "selectors": list(r.selectors)}
                    for r, name in zip(self.requests, chosen, strict=True)
                ],
                "constraints": [
                    {"matchAttribute": one.attribute, "requests": list(one.requests)} for one in self.constraints
                ],
            }


def case(seed: int) -> Case:
    """Return the case of a seed."""
    draw = random.Random(seed)  # noqa: S311 - the same cases for the same seeds
    kinds = tuple(_device(draw, number) for number in range(draw.randint(1, 4)))
    names = ["one", "two", "three"][: draw.choice([1, 1, 2, 2, 3])]
    requests = tuple(
        Request(name, draw.choice([1, 1, 2, 2, 3, 4]), tuple(draw.sample(SELECTORS, draw.choice([0, 1, 1, 2]))))
        for name in names
    )
    constraints: tuple[Constraint, ...] = ()
    if draw.random() < 0.4:
        constraints = (Constraint(ROOT, tuple(draw.sample(names, draw.randint(0, len(names))))),)
    return Case(NodeClass(f"class-{seed}", kinds), requests, constraints)


def _device(draw: random.Random, number: int) -> Device:
    driver = draw.choice(DRIVERS)
    attributes = []
    if draw.random() < 0.7:
        attributes.append(("architecture", Attribute(AttributeKind.STRING, draw.choice(["Hopper", "Ada"]))))
    if draw.random() < 0.7:
        attributes.append((ROOT, Attribute(AttributeKind.STRING, draw.choice(["r0", "r1"]))))
    capacity = (("memory", draw.choice(["24Gi", "40Gi", "80Gi"])),) if draw.random() < 0.7 else ()
    return Device(
        name=f"kind-{number}",
        driver=driver,
        count=draw.randint(1, 4),
        device_class=draw.choice([f"a.{driver}", f"a.{driver}", f"b.{driver}"]),
        attributes=tuple(sorted(attributes)),
        capacity=capacity,
    )


def _kind(device: Device) -> dict[str, Any]:
    return {
        "name": device.name,
        "driver": device.driver,
        "class": device.device_class,
        "count": device.count,
        "attributes": {name: {str(value.kind): value.value} for name, value in device.attributes},
        "capacity": {name: {"value": value} for name, value in device.capacity},
    }
