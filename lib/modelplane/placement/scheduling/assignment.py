"""Assignment of the roles of one replica to pools of one cluster: an exact search over pools and device options.

Equal states are decided once. The state of a pool is its class and ledger; the state of a cluster is that of its pools
in name order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from kubecel import interruption
from modelplane.devices import matching, memory
from modelplane.devices.matching import Match, MissKind, Option
from modelplane.devices.model import Claim, NodeClass
from modelplane.placement.capacity import dimensions, ledger
from modelplane.placement.capacity.dimensions import Dimensions
from modelplane.placement.capacity.ledger import Ledger, Trial
from modelplane.placement.packing import load
from modelplane.placement.packing.load import Answer
from modelplane.placement.scheduling import claiming
from modelplane.placement.snapshot import Accounting, Demand, PodShape, Pool, RoleDemand

Price: TypeAlias = tuple[int, Decimal]
"""(0, amount) if known in the reference currency, otherwise (1, 0): a known price is preferred to an unknown one."""

FREE: Price = (0, Decimal(0))


# A tuple, because every cluster of a large fleet has one, or a bound below it.
class Goodness(NamedTuple):
    """The score of an assignment; a lower one is better.

    `rank` is the sum of the positions of the alternatives that serve the requests. `price` is the price of the nodes
    that become used. `memory` is the memory of the devices taken, as their drivers publish it, so that the least
    capable device is preferred. `devices_opened` counts the devices on nodes that become used, so that a small pod does
    not occupy the only large node. `devices_left` counts the free devices of the pools.
    """

    rank: int
    price: Price
    memory: int
    devices_opened: int
    nodes_opened: int
    devices_left: int


NO_LEFT = -(1 << 62)
"""The bound on an unknown `devices_left`."""


@dataclass(frozen=True, slots=True)
class RoleAssignment:
    """One role on one pool of the cluster. `pool` is its position in name order, `shape` is that of one pod."""

    pool: int
    option: Option
    shape: PodShape


@dataclass(frozen=True, slots=True)
class Assignment:
    """A pool and an option per role, the ledgers of all pools including the replica, and the score."""

    roles: tuple[RoleAssignment, ...]
    ledgers: tuple[Ledger, ...]
    goodness: Goodness


Barred: TypeAlias = frozenset[tuple[tuple[int, PodShape], ...]]
"""Assignments that are forbidden: the position of a pool and the shape of one pod, per role."""


class Table:
    """The matches of the demand with each class, found once per class object, and solutions, found once per state."""

    def __init__(self, demand: Demand) -> None:
        self._demand = demand
        self._currency = ""
        self._numbers: dict[int, int] = {}
        self._classes: list[NodeClass] = []
        self._matches: list[tuple[Match, ...]] = []
        self._serving: list[bool] = []
        self.some_lack_devices = False
        """True if a known class has matching devices, but too few of them on a node."""
        self.kinds: list[int] = []
        """The number of the first class with the same matches, per class number; both answer alike on equal ledgers."""
        self._alike: dict[tuple[Match, ...], int] = {}
        self._solutions: dict[tuple[tuple[int, Ledger], ...], Assignment | None] = {}
        self._devices: dict[int, int] = {}
        self._contents: dict[int, str] = {}
        self._memories: dict[tuple[int, int, int], int] = {}
        self._dimensions: dict[tuple[int, Accounting], Dimensions] = {}
        self._role_pods: dict[tuple[int, int, Accounting], tuple[_RolePod, ...]] = {}

    @property
    def demand(self) -> Demand:
        """Return the demand of this table."""
        return self._demand

    def number(self, node_class: NodeClass) -> int:
        """Return the number under which the matches of a class are kept."""
        number = self._numbers.get(id(node_class))
        if number is None:
            number = self._numbers[id(node_class)] = len(self._classes)
            self._classes.append(node_class)
            self._matches.append(
                tuple(
                    claiming.usable(
                        matching.match(node_class, role.requests, role.constraints), node_class, self._demand.claims
                    )
                    for role in self._demand.roles
                )
            )
            found = self._matches[number]
            self._serving.append(any(match.options for match in found))
            self.some_lack_devices |= any(m.miss is not None and m.miss.kind is MissKind.TOO_FEW for m in found)
            self.kinds.append(self._alike.setdefault(self._matches[number], number))
        return number

    def serving(self, pools: Iterable[Pool]) -> list[tuple[Pool, int]]:
        """Return the pools whose class is known and serves some role, with the class's number."""
        found = []
        for pool in pools:
            if pool.node_class is not None:
                number = self._numbers.get(id(pool.node_class))
                if number is None:
                    number = self.number(pool.node_class)
                if self._serving[number]:
                    found.append((pool, number))
        return found

    def node_class(self, number: int) -> NodeClass:
        """Return the class with a number."""
        return self._classes[number]

    def dimensions(self, number: int, accounting: Accounting) -> Dimensions:
        """Return the dimensions of a node of the class."""
        found = self._dimensions.get((number, accounting))
        if found is None:
            found = self._dimensions[number, accounting] = dimensions.of(self._classes[number], accounting)
        return found

    def matches(self, number: int) -> tuple[Match, ...]:
        """Return the match of one pod with an empty node of the class, per role."""
        return self._matches[number]

    def trials(self, number: int, state: Ledger) -> tuple[tuple[Trial, ...], ...]:
        """Return the trials of each role on a ledger of the class, one per option."""
        return tuple(
            [
                tuple(
                    [
                        ledger.trial(state, shape_of(role, option), role.pods, role.nodes_per_worker)
                        for option in match.options
                    ]
                )
                for role, match in zip(self._demand.roles, self._matches[number], strict=True)
            ]
        )

    def compare_prices(self) -> None:
        """Choose the currency of prices: that of most classes that serve. Prices in others count as unknown."""
        priced = Counter(
            node_class.currency
            for node_class, serves in zip(self._classes, self._serving, strict=True)
            if serves and node_class.cost_per_node_hour is not None
        )
        self._currency = min(priced, key=lambda currency: (-priced[currency], currency), default="")
        self._role_pods.clear()
        self._solutions.clear()

    def content(self, number: int) -> str:
        """Return the content of a class without its name; classes that differ only in name have equal content."""
        found = self._contents.get(number)
        if found is None:
            found = self._contents[number] = _content(self._classes[number])
        return found

    def floor(self, pools: Sequence[tuple[Pool, int]], accounting: Accounting) -> Goodness | None:
        """Return a lower bound on the score of every assignment on the pools, None when some role has no pool.

        Cost: no packing. A pool whose pods cannot share a node with those of the role needs new nodes for all of them;
        any other pool is assumed to need none.
        """
        roles = len(self._demand.roles)
        if len(pools) == 1 == roles:
            return self._pool_floor(pools[0][1], pools[0][0], 0, accounting)
        bounds: list[Goodness] = []
        for index in range(roles):
            floors = [
                self._pool_floor(number, pool, index, accounting)
                for pool, number in pools
                if self._matches[number][index].options
            ]
            if not floors:
                return None
            if roles == 1:
                return min(floors)
            # Of each measure the least by itself: the pool that is cheapest may not be the one of least memory.
            bounds.append(Goodness(*[min(column) for column in zip(*floors, strict=True)]))
        return _together(bounds)

    def _pool_floor(self, number: int, pool: Pool, index: int, accounting: Accounting) -> Goodness:
        role_pods = self._role_pods.get((number, index, accounting)) or self._role_pods_of(number, index, accounting)
        if len(role_pods) == 1:
            return role_pods[0].bound(pool)
        return min([role_pod.bound(pool) for role_pod in role_pods])

    def _role_pods_of(self, number: int, index: int, accounting: Accounting) -> tuple[_RolePod, ...]:
        role = self._demand.roles[index]
        what = self.dimensions(number, accounting)
        found = tuple(
            _RolePod(
                what,
                role,
                shape_of(role, option),
                (self._price(number), self._taken(number, index, option), option.rank),
            )
            for option in self._matches[number][index].options
        )
        self._role_pods[number, index, accounting] = found
        return found

    def _taken(self, number: int, position: int, option: Option) -> int:
        """Return the published memory of the devices that a role's pods take, served so."""
        key = (number, position, id(option))
        found = self._memories.get(key)
        if found is None:
            devices = (device for device in self._classes[number].devices if device.claim is not Claim.SYNTHETIC)
            known = {device.name: memory.published(device) or 0 for device in devices}
            pods = self._demand.roles[position].pods
            found = self._memories[key] = pods * sum([count * known.get(name, 0) for name, count in option.counted])
        return found

    def solve(
        self,
        pools: tuple[tuple[int, Ledger], ...],
        barred: Barred = frozenset(),
        allows: Callable[[tuple[RoleAssignment, ...]], bool] | None = None,
    ) -> Assignment | None:
        """Return the best assignment of one replica to pools given as (class number, ledger), None if there is none."""
        if barred or allows is not None:
            return self._search(pools, barred, allows)
        if pools not in self._solutions:
            interruption.checkpoint()
            self._solutions[pools] = self._search(pools, barred)
        return self._solutions[pools]

    def every(self, pools: tuple[tuple[int, Ledger], ...]) -> Iterator[tuple[RoleAssignment, ...]]:
        """Yield every way to put one replica on the pools, by pools and then by the allocator's order of options."""
        for chosen, _ in self._assignments(pools, tuple(state for _, state in pools), 0):
            yield chosen

    def _search(
        self,
        pools: tuple[tuple[int, Ledger], ...],
        barred: Barred,
        allows: Callable[[tuple[RoleAssignment, ...]], bool] | None = None,
    ) -> Assignment | None:
        before = tuple(state for _, state in pools)
        best: Assignment | None = None
        for chosen, after in self._assignments(pools, before, 0):
            if barred and tuple((one.pool, one.shape) for one in chosen) in barred:
                continue
            if allows is not None and not allows(chosen):
                continue
            found = Assignment(chosen, after, self._goodness(pools, chosen, after))
            if best is None or self._comes_before(pools, found, best):
                best = found
        return best

    def _comes_before(self, pools: tuple[tuple[int, Ledger], ...], one: Assignment, other: Assignment) -> bool:
        if one.goodness != other.goodness:
            return one.goodness < other.goodness
        return self._order(pools, one) < self._order(pools, other)

    def _order(self, pools: tuple[tuple[int, Ledger], ...], found: Assignment) -> tuple[object, ...]:
        """Return what decides between assignments that are equally good: what the pools are, and last their names."""
        chosen = [pools[one.pool] for one in found.roles]
        likeness = tuple((self.content(number), state.nodes, state.items) for number, state in chosen)
        return (likeness, tuple(one.pool for one in found.roles))

    def _assignments(
        self, pools: tuple[tuple[int, Ledger], ...], states: tuple[Ledger, ...], position: int
    ) -> Iterator[tuple[tuple[RoleAssignment, ...], tuple[Ledger, ...]]]:
        if position == len(self._demand.roles):
            yield (), states
            return
        role = self._demand.roles[position]
        for index, (number, _) in enumerate(pools):
            for option in self._matches[number][position].options:
                shape = shape_of(role, option)
                after = states[index].plus(shape, role.pods, role.nodes_per_worker)
                if ledger.fits_more(states[index], shape, after) is not Answer.FITS:
                    continue
                rest = (*states[:index], after, *states[index + 1 :])
                for chosen, final in self._assignments(pools, rest, position + 1):
                    yield (RoleAssignment(index, option, shape), *chosen), final

    def _goodness(
        self, pools: tuple[tuple[int, Ledger], ...], chosen: tuple[RoleAssignment, ...], after: tuple[Ledger, ...]
    ) -> Goodness:
        unknown, amount, opened, devices, left, taken, rank = 0, Decimal(0), 0, 0, 0, 0, 0
        for index in sorted({assigned.pool for assigned in chosen}) if len(chosen) > 1 else (chosen[0].pool,):
            number, before = pools[index]
            after_it = after[index]
            left += after_it.free_devices
            more = after_it.opened - before.opened
            if more > 0:
                price = self._price(number)
                unknown = max(unknown, price[0])
                amount += price[1] * more
                opened += more
                devices += more * self._devices_on(before.dimensions)
        for position, assigned in enumerate(chosen):
            taken += self._taken(pools[assigned.pool][0], position, assigned.option)
            rank += assigned.option.rank
        return Goodness(rank, (unknown, amount if not unknown else Decimal(0)), taken, devices, opened, left)

    def _devices_on(self, what: Dimensions) -> int:
        """Return the devices of all kinds on one node; they come first among the dimensions."""
        found = self._devices.get(id(what))
        if found is None:
            found = self._devices[id(what)] = sum(what.node[: len(what.devices)])
        return found

    def _price(self, number: int) -> Price:
        if not self._currency:
            # Where nothing has a price, none is unknown: opening a node is no worse than using a better device.
            return FREE
        node_class = self._classes[number]
        if node_class.cost_per_node_hour is None or node_class.currency != self._currency:
            return (1, Decimal(0))
        return (0, Decimal(node_class.cost_per_node_hour))


def _together(bounds: Sequence[Goodness]) -> Goodness:
    """Return a bound on several roles from bounds on each: they may share the nodes they open, and no device."""
    dearest = max([bound.price for bound in bounds])
    if dearest[0]:
        # One role's price may be unknown and the other's not: the sum is unknown, which is not below any known one.
        dearest = FREE
    return Goodness(
        sum([bound.rank for bound in bounds]),
        dearest,
        sum([bound.memory for bound in bounds]),
        max([bound.devices_opened for bound in bounds]),
        max([bound.nodes_opened for bound in bounds]),
        NO_LEFT,
    )


class _RolePod:
    """A pod of one role on the nodes of one class: the shapes it can share a node with, and its cost on a new node."""

    __slots__ = ("_alone", "_beside", "_shared", "_vector", "_what")

    def __init__(self, what: Dimensions, role: RoleDemand, shape: PodShape, worth: tuple[Price, int, int]) -> None:
        price, memory_bytes, rank = worth
        self._what = what
        self._vector = what.charge(shape)
        self._beside: dict[PodShape, bool] = {}
        nodes = load.fewest_nodes(what.capacity, load.gang(self._vector, role.pods, role.nodes_per_worker))
        cost = (price[0], price[1] * nodes)
        self._alone = Goodness(rank, cost, memory_bytes, nodes * sum(what.node[: len(what.devices)]), nodes, NO_LEFT)
        self._shared = Goodness(rank, FREE, memory_bytes, 0, 0, NO_LEFT)

    def bound(self, pool: Pool) -> Goodness:
        """Return a lower bound on the score of every assignment of the role to the pool."""
        for entry in pool.allocations:
            if self._stands_beside(entry.shape):
                return self._shared
        return self._alone

    def _stands_beside(self, other: PodShape) -> bool:
        """Return whether it and a pod of the other shape can stand on one node."""
        found = self._beside.get(other)
        if found is None:
            both = zip(self._vector, self._what.charge(other), self._what.capacity, strict=True)
            found = self._beside[other] = all(one + two <= have for one, two, have in both)
        return found


def shape_of(role: RoleDemand, option: Option) -> PodShape:
    """Return the shape of one pod of the role with this option."""
    return PodShape(option.counted, role.cpu_millis, role.memory_bytes, option.consumed)


def _content(node_class: NodeClass) -> str:
    return repr(replace(node_class, name=""))
