"""Ledger of a pool: the room for further pods, computed from the published counts per shape.

Counts per shape do not say where pods run, so the pods of a pool are assumed to be packed as densely as possible.
Renderers ask the cluster to pack them that way. An inconsistent allocation (a shape that no node of the class can
carry, or a device that the class does not have) never makes room: its pods are charged whole nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kubecel import caches
from modelplane.devices.model import NodeClass
from modelplane.devices.partitions import Rules, Shared
from modelplane.placement.capacity import dimensions
from modelplane.placement.capacity.dimensions import CPU, MEMORY, NOT_A_DEVICE, Dimensions
from modelplane.placement.packing import arrival, fit, load
from modelplane.placement.packing.load import Answer, Item, Packing, Vector
from modelplane.placement.snapshot import Accounting, Allocation, Holding, PodShape, Pool


# A tuple, because a refusal by a large fleet makes one or two for every pool.
class Ledger(NamedTuple):
    """The state of one pool. Equal ledgers give equal answers, so each is decided once.

    `items` are the sorted holdings of the pods, merged per size and gang.
    """

    dimensions: Dimensions
    nodes: int
    items: tuple[Item, ...] = ()
    used: Vector = ()

    def __hash__(self) -> int:
        # Ledgers are looked up by the thousand; what differs between pools of a fleet is here.
        return hash((self.nodes, self.items))

    def plus(self, shape: PodShape, pods: int, nodes_per_worker: int) -> Ledger:
        """Return the ledger with further pods on it, whether they fit or not."""
        sized = self.dimensions.sized(shape)
        item = load.gang(sized.charge, pods, nodes_per_worker)
        used = self.used
        if sized.size is not None:
            used = tuple([have + pods * more for have, more in zip(used, sized.size, strict=True)])
        return Ledger(self.dimensions, self.nodes, _merged(self.items, item, nodes_per_worker), used)

    @property
    def packing(self) -> Packing:
        """Return the packing of the held items on the nodes. Cost: one packing per distinct state and process."""
        return _packed(self.dimensions.capacity, self.nodes, self.items, self.dimensions.rules)

    @property
    def over_committed(self) -> bool:
        """Return whether the nodes cannot carry what is held."""
        return self.packing.answer is Answer.TOO_MUCH

    @property
    def opened(self) -> int:
        """Return the number of nodes in use; all of them when the pool is over-committed."""
        packed = self.packing
        return self.nodes - dict(packed.free).get(self.dimensions.capacity, 0) if packed.fits else self.nodes

    @property
    def free_devices(self) -> int:
        """Return the number of free devices of all kinds; 0 when the pool is over-committed."""
        rows = zip(self.dimensions.names, self.dimensions.node, self.used, strict=True)
        nodes = self.nodes
        return sum([max(0, have * nodes - used) for name, have, used in rows if NOT_A_DEVICE not in name])

    @property
    def lacks_devices(self) -> bool:
        """Return whether pods are charged more of some device than all nodes have. False is not conclusive."""
        if self.dimensions.accounting is Accounting.NODE:
            return False
        for axis, name in enumerate(self.dimensions.names):
            if NOT_A_DEVICE not in name:
                charged = sum([item.pods * item.vector[axis] for item in self.items])
                if charged > self.nodes * self.dimensions.node[axis]:
                    return True
        return False

    def room(self, shape: PodShape, per_node: int) -> int:
        """Return the number of further pods of the shape that fit the present packing, at most `per_node` on a node."""
        packed = self.packing
        if not packed.fits:
            return 0
        return fit.room(packed.free, self.dimensions.charge(shape), per_node, self.dimensions.rules)

    def free(self, device: str, absent: int) -> int:
        """Return the number of further devices of one name that can be claimed with the present packing.

        `absent` nodes of the pool are not present yet and do not count; they are assumed to be empty ones. Where pods
        are charged whole nodes, only the devices of empty nodes count.
        """
        what = self.dimensions
        axis = what.names.index(device)
        kind = next((one for one in what.node_rules.shared if one.axis == axis), None) if what.node_rules else None
        if kind is not None:
            return self._free_of_shared(kind, absent)
        if what.accounting is Accounting.NODE:
            return max(0, what.node[axis] * (self.nodes - absent - self.opened))
        if what.rules is None or not what.rules.speak_of(axis):
            return max(0, what.node[axis] * (self.nodes - absent) - self.used[axis])
        if not self.packing.fits:
            return 0
        nodes = dict(self.packing.free)
        nodes[what.capacity] = max(0, nodes.get(what.capacity, 0) - absent)
        one = what.charge(PodShape(((device, 1),)))
        return fit.room(tuple(nodes.items()), one, what.node[axis], what.rules)

    def _free_of_shared(self, kind: Shared, absent: int) -> int:
        """Return how many devices of a shared kind nobody holds a part of, however the parts lie."""
        if self.dimensions.accounting is Accounting.NODE:
            return max(0, kind.units * (self.nodes - absent - self.opened))
        held = sum(item.pods * min(kind.units, item.vector[kind.axis]) for item in self.items)
        return max(0, kind.units * (self.nodes - absent) - held)

    def overdrawn(self) -> tuple[str, int, int] | None:
        """Return the first shared counter whose sum is exceeded: its name, the total and the amount drawn.

        Units: nano.
        """
        for name, have, used in zip(self.dimensions.names, self.dimensions.node, self.used, strict=True):
            if NOT_A_DEVICE in name and name not in (CPU, MEMORY) and used > have * self.nodes:
                return name, have * self.nodes, used
        return None

    def without(self, *names: str) -> Ledger:
        """Return the ledger without the named dimensions; a fit without them shows that they are the shortage."""
        what = self.dimensions
        keep = [index for index, name in enumerate(what.names) if name not in names]
        if what.accounting is Accounting.NODE or len(keep) == len(what.names):
            return self
        kept, node = tuple([what.names[i] for i in keep]), tuple([what.node[i] for i in keep])
        thin = dimensions.Dimensions(kept, node, what.accounting, (), what.node_rules)
        items = tuple(Item(tuple(item.vector[i] for i in keep), item.pods, item.per_node) for item in self.items)
        return Ledger(thin, self.nodes, items, tuple(self.used[i] for i in keep))


def of(pool: Pool, what: Dimensions) -> Ledger:
    """Return the ledger of a pool in the dimensions `what`, as its cluster published it."""
    used = [0] * len(what.names)
    items: list[Item] = []
    gangs: dict[tuple[Vector, int], int] = {}
    for shape, pods, span in pool.allocations:
        if pods <= 0:
            continue
        size, charge, _ = what.sized(shape)
        if span > 0 and pods % span == 0:
            gangs[charge, span] = gangs.get((charge, span), 0) + pods
        else:
            items.append(load.gang(charge, pods, span))
        if size is not None:
            used = [have + pods * more for have, more in zip(used, size, strict=True)]
    items += [load.gang(vector, pods, span) for (vector, span), pods in gangs.items()]
    items.sort()
    return Ledger(what, max(0, pool.nodes.usable), tuple(items), tuple(used))


def with_holding(ledger: Ledger, holding: Holding) -> Ledger:
    """Return the ledger with the pods of one role added."""
    return ledger.plus(holding.shape, holding.pods, holding.nodes_per_worker)


def released(ledger: Ledger, holdings: Iterable[Holding]) -> Ledger:
    """Return the ledger without the pods of some holdings. Holdings that it does not contain are ignored."""
    for holding in holdings:
        vector, span = ledger.dimensions.charge(holding.shape), holding.nodes_per_worker
        size = ledger.dimensions.size(holding.shape)
        found = next((i for i in ledger.items if i.vector == vector and load.span(i) == span), None)
        if found is None or found.pods < holding.pods or size is None:
            continue
        rest = [item for item in ledger.items if item is not found]
        if found.pods > holding.pods:
            rest.append(load.gang(vector, found.pods - holding.pods, span))
        used = tuple(have - holding.pods * less for have, less in zip(ledger.used, size, strict=True))
        ledger = Ledger(ledger.dimensions, ledger.nodes, tuple(sorted(rest)), used)
    return ledger


def closed(ledger: Ledger) -> Ledger:
    """Return the ledger of the same pool without nodes, which takes no further pod."""
    return ledger._replace(nodes=0)


def fits(ledger: Ledger) -> Answer:
    """Return whether all items have a place in any order of arrival."""
    if not ledger.packing.fits:
        return ledger.packing.answer
    what = ledger.dimensions
    return _in_any_order(what.capacity, ledger.nodes, ledger.items, what.rules)


def fits_more(ledger: Ledger, shape: PodShape, after: Ledger) -> Answer:
    """Return whether pods of the shape, which are on `after` and not yet on `ledger`, have a place beside all others.

    A published pod that is too large for a node is charged a whole one. A requested pod that is too large is refused.
    """
    return fits(after) if ledger.dimensions.carries(shape) else Answer.TOO_MUCH


class Trial(NamedTuple):
    """Pods of one shape, added to a ledger on trial. They are `excluded` when sums alone show that they do not fit."""

    before: Ledger
    shape: PodShape
    after: Ledger
    excluded: bool = False

    @property
    def answer(self) -> Answer:
        """Return the answer of `fits_more`. Cost: a packing where sums do not decide."""
        return Answer.TOO_MUCH if self.excluded else fits_more(self.before, self.shape, self.after)


def trial(ledger: Ledger, shape: PodShape, pods: int, nodes_per_worker: int) -> Trial:
    """Return the trial of these pods on the ledger, with the sums already checked. Cost: no packing."""
    what = ledger.dimensions
    after = ledger.plus(shape, pods, nodes_per_worker)
    excluded = not what.carries(shape) or load.plainly_too_much(
        what.capacity, after.nodes, [item for item in after.items if item.pods > 0]
    )
    return Trial(ledger, shape, after, excluded)


def problems(pool: Pool, node_class: NodeClass) -> tuple[str, ...]:
    """Return the published allocations that contradict the class of the pool, as messages."""
    what = dimensions.of(node_class, Accounting.DEVICE)
    found = []
    for entry in pool.allocations:
        size = what.size(entry.shape)
        if size is None:
            named = (*entry.shape.devices, *entry.shape.consumed)
            unknown = sorted(name for name, _ in named if name not in what.names)
            found.append(f"{entry.pods} pods hold {', '.join(unknown)}, which class {node_class.name} does not have")
        elif not what.carries(entry.shape):
            found.append(f"{entry.pods} pods hold more than one node of class {node_class.name} has")
        if entry.pods < 0:
            found.append(f"an allocation counts {entry.pods} pods")
    return tuple(found)


def allocations(holdings: Iterable[Holding]) -> tuple[Allocation, ...]:
    """Return the sorted counts per shape of some holdings, with equal shapes merged."""
    counts: dict[tuple[PodShape, int], int] = {}
    for holding in holdings:
        key = (holding.shape, holding.nodes_per_worker)
        counts[key] = counts.get(key, 0) + holding.pods
    ordered = sorted(counts, key=lambda k: (k[0].devices, k[0].cpu_millis, k[0].memory_bytes, k[0].consumed, k[1]))
    return tuple(Allocation(shape, counts[shape, span], span) for shape, span in ordered)


def _merged(items: tuple[Item, ...], more: Item, nodes_per_worker: int) -> tuple[Item, ...]:
    """Return the items with `more` among them; pods of one size merge when their gangs have the same span."""
    merged = []
    for item in items:
        if item.vector == more.vector and load.span(item) == nodes_per_worker == load.span(more):
            more = Item(item.vector, item.pods + more.pods, item.per_node + more.per_node)
        else:
            merged.append(item)
    return tuple(sorted((*merged, more)))


@caches.kept(65_536)
def _packed(capacity: Vector, nodes: int, items: tuple[Item, ...], rules: Rules | None) -> Packing:
    return fit.pack(capacity, nodes, items, rules=rules)


@caches.kept(65_536)
def _in_any_order(capacity: Vector, nodes: int, items: tuple[Item, ...], rules: Rules | None) -> Answer:
    return arrival.in_any_order(capacity, nodes, items, rules)
