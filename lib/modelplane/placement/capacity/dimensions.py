"""Dimensions that are counted on one node of a class, and the share of them that a pod takes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from kubecel import caches
from kubecel.caches import Answers
from modelplane.devices import physical, sharing
from modelplane.devices.model import Claim, Device, NodeClass
from modelplane.devices.partitions import Rules, Shared, Undecided
from modelplane.placement.packing.load import Vector
from modelplane.placement.snapshot import Accounting, PodShape

# No device and no counter set can be called so: their names are DNS labels.
NOT_A_DEVICE = "/"
CPU = "/cpu"
MEMORY = "/memory"
SHAPES_MAX = 4096
"""Limit of the cached shapes of one class."""


class Sized(NamedTuple):
    """A pod shape in the dimensions of a class: its amounts, its charge, and whether a node carries it.

    `size` is None for a shape that names a device the class does not count.
    """

    size: Vector | None
    charge: Vector
    carried: bool


@dataclass(frozen=True, slots=True)
class Dimensions:
    """The dimensions of one node of a class: names and amounts, devices first in the order of the class.

    With whole-node accounting a pod that fits an empty node is charged the whole node.
    """

    names: tuple[str, ...]
    node: Vector
    accounting: Accounting
    draws: tuple[tuple[Vector, Vector], ...] = ()
    """The least amounts that a device takes of shared counters, per counted device, as (axes, amounts)."""
    node_rules: Rules | None = None
    _sized: Answers[PodShape, Sized] = field(
        default_factory=partial(Answers, SHAPES_MAX), init=False, repr=False, compare=False
    )
    """A cache of `sized`, which is not part of the value."""

    @property
    def capacity(self) -> Vector:
        """Return the amounts of one node in the unit that pods are charged in."""
        return (1,) if self.accounting is Accounting.NODE else self.node

    @property
    def devices(self) -> tuple[str, ...]:
        """Return the names of the devices."""
        return tuple(name for name in self.names if NOT_A_DEVICE not in name)

    @property
    def rules(self) -> Rules | None:
        """Return the rules for parts of physical devices, None if pods are charged whole nodes."""
        return None if self.accounting is Accounting.NODE else self.node_rules

    def charge(self, shape: PodShape) -> Vector:
        """Return the amounts that one pod takes of a node; the whole node if the shape does not match the class."""
        return self.sized(shape).charge

    def carries(self, shape: PodShape) -> bool:
        """Return whether an empty node can carry one pod of the shape."""
        return self.sized(shape).carried

    def size(self, shape: PodShape) -> Vector | None:
        """Return the amounts of the shape per name, None if it names a device the class does not count."""
        return self.sized(shape).size

    def sized(self, shape: PodShape) -> Sized:
        """Return the shape in the dimensions of this class. Cost: once per shape."""
        found = self._sized.get(shape)
        if found is None:
            found = self._sized.keep(shape, self._measured(shape))
        return found

    def _measured(self, shape: PodShape) -> Sized:
        shared_kinds = () if self.node_rules is None else self.node_rules.shared
        divided = {self.names[axis] for kind in shared_kinds for axis in kind.axes}
        if any(name not in self.names for name, _ in shape.devices):
            return Sized(None, self.capacity, carried=False)
        if any(name not in divided for name, _ in shape.consumed):
            return Sized(None, self.capacity, carried=False)
        wanted = {**dict(shape.devices), CPU: shape.cpu_millis, MEMORY: shape.memory_bytes}
        taken = dict(shape.consumed)
        amounts = [wanted.get(name, 0) for name in self.names]
        for kind in shared_kinds:
            for axis, whole in zip(kind.axes, kind.capacity, strict=True):
                amounts[axis] = taken.get(self.names[axis], amounts[kind.axis] * whole)
        for number, (axes, least) in zip(tuple(amounts), self.draws, strict=False):
            for axis, amount in zip(axes, least, strict=True):
                amounts[axis] += number * amount
        size = tuple(amounts)
        carried = all(want <= have for want, have in zip(size, self.node, strict=True)) and self._allows(size)
        whole = self.accounting is Accounting.NODE or not carried
        return Sized(size, self.capacity if whole else size, carried=carried)

    def _allows(self, size: Vector) -> bool:
        try:
            return self.node_rules is None or self.node_rules.carry(size)
        except Undecided:
            return False


@caches.kept(4096)
def of(node_class: NodeClass, accounting: Accounting) -> Dimensions:
    """Return the dimensions of a node of the class. Synthetic devices are matched and never counted.

    Shared counters are counted by the least amount that a device draws, which is a bound; the rules decide.
    """
    kinds = [i for i, device in enumerate(node_class.devices) if device.claim is not Claim.SYNTHETIC]
    counted = [(node_class.devices[i].name, _number(node_class.devices[i])) for i in kinds]
    rules = None
    draws: list[dict[int, int]] = []
    families = physical.of(node_class)
    shared_kinds = [position for position, i in enumerate(kinds) if node_class.devices[i].is_shared]
    if families or shared_kinds:
        axes = tuple(tuple(kinds.index(kind) for kind in family.kinds) for family in families)
        rules = Rules(families, axes, tuple(amount for _, amount in counted))
        draws = _count_counters(counted, rules)
        sharing_ = tuple(_count_capacity(counted, axis, node_class.devices[kinds[axis]]) for axis in shared_kinds)
        rules = replace(rules, bounds=len(counted) - len(kinds), shared=sharing_)
    if node_class.cpu_millis is not None:
        counted.append((CPU, node_class.cpu_millis))
    if node_class.memory_bytes is not None:
        counted.append((MEMORY, node_class.memory_bytes))
    names, amounts = tuple(name for name, _ in counted), tuple(amount for _, amount in counted)
    return Dimensions(names, amounts, accounting, tuple((tuple(row), tuple(row.values())) for row in draws), rules)


def _number(device: Device) -> int:
    """Return how many devices of a kind a node counts; of a shared one, the allocations that they take at most."""
    return device.count * sharing.most(device) if device.is_shared else device.count


def _count_capacity(counted: list[tuple[str, int]], axis: int, device: Device) -> Shared:
    """Add to `counted` the capacities of a shared device, and return how they are counted."""
    amounts = sharing.capacity(device)
    axes = tuple(range(len(counted), len(counted) + len(amounts)))
    counted += [(f"{device.name}{NOT_A_DEVICE}{name}", device.count * amount) for name, amount in amounts]
    return Shared(axis, axes, device.count, tuple(amount for _, amount in amounts))


def _count_counters(counted: list[tuple[str, int]], rules: Rules) -> list[dict[int, int]]:
    """Add to `counted` the shared counters that can be short first; return the draws by axis per device."""
    draws: list[dict[int, int]] = [{} for _ in counted]
    for family, axes in zip(rules.families, rules.axes, strict=True):
        least = [family.least(kind) for kind in range(len(axes))]
        for column in _first_to_run_out(family.capacity, least):
            for axis, row in zip(axes, least, strict=True):
                draws[axis][len(counted)] = row[column]
            set_name, counter = family.counters[column]
            counted.append((f"{set_name}{NOT_A_DEVICE}{counter}", family.units * family.capacity[column]))
    return draws


def _first_to_run_out(capacity: Vector, least: list[Vector]) -> list[int]:
    """Return the counters of which some device draws a larger share than of every other; of equal ones the first."""
    kept: list[int] = []
    for column, have in enumerate(capacity):
        rivals = [*kept, *range(column + 1, len(capacity))]
        covered = any(
            all(row[column] * capacity[rival] <= row[rival] * have for row in least)
            and (rival < column or any(row[column] * capacity[rival] < row[rival] * have for row in least))
            for rival in rivals
        )
        if have and not covered and any(row[column] for row in least):
            kept.append(column)
    return kept
