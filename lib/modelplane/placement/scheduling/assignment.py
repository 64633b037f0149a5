"""Which pools of one cluster take the roles of one replica: an exact search over pools and device options.

Equal states are decided once: a cluster is its pools' states in name order, and a pool's state is its class and ledger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from modelplane import interruption
from modelplane.devices import matching
from modelplane.devices.matching import Match, MissKind, Option
from modelplane.devices.model import NodeClass
from modelplane.placement.capacity import dimensions, ledger
from modelplane.placement.capacity.dimensions import Dimensions
from modelplane.placement.capacity.ledger import Ledger, Trial
from modelplane.placement.packing import load
from modelplane.placement.packing.load import Answer
from modelplane.placement.snapshot import Accounting, Demand, PodShape, Pool, RoleDemand

Price: TypeAlias = tuple[int, Decimal]
"""(0, amount) when known in the reference currency, else (1, 0): a known price is preferred to an unknown one."""

FREE: Price = (0, Decimal(0))


@dataclass(frozen=True, slots=True)
class RoleAssignment:
    """One role on one pool of the cluster: the pool's position in name order, the devices used, and one pod's shape."""

    pool: int
    option: Option
    shape: PodShape


@dataclass(frozen=True, slots=True)
class Assignment:
    """A pool and an option per role, the ledgers of all pools with the replica on them, and how good it is.

    `key` is (price of the nodes newly opened, nodes newly opened, devices left free in the pools used); less is better.
    """

    roles: tuple[RoleAssignment, ...]
    ledgers: tuple[Ledger, ...]
    key: tuple[Price, int, int]


class Table:
    """What the demand makes of each class: found once per class object, and solutions once per state."""

    def __init__(self, demand: Demand) -> None:
        self._demand = demand
        self._currency = ""
        self._numbers: dict[int, int] = {}
        self._classes: list[NodeClass] = []
        self._matches: list[tuple[Match, ...]] = []
        self._serving: list[bool] = []
        self.some_lack_devices = False
        """Whether a class seen so far has devices that match, and too few of them on a node."""
        self.kinds: list[int] = []
        """Per class number, the first that matches as it does: with equal ledgers the two answer alike."""
        self._alike: dict[tuple[Match, ...], int] = {}
        self._solutions: dict[tuple[tuple[int, Ledger], ...], Assignment | None] = {}
        self._dimensions: dict[tuple[int, Accounting], Dimensions] = {}
        self._role_pods: dict[tuple[int, int, Accounting], tuple[_RolePod, ...]] = {}

    @property
    def demand(self) -> Demand:
        """Return the demand all answers are about."""
        return self._demand

    def number(self, node_class: NodeClass) -> int:
        """Return the small number of a class, under which its matches are kept."""
        number = self._numbers.get(id(node_class))
        if number is None:
            number = self._numbers[id(node_class)] = len(self._classes)
            self._classes.append(node_class)
            self._matches.append(
                tuple(matching.match(node_class, role.requests, role.constraints) for role in self._demand.roles)
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
        """Return the class of a number."""
        return self._classes[number]

    def dimensions(self, number: int, accounting: Accounting) -> Dimensions:
        """Return what is counted on a node of the class."""
        found = self._dimensions.get((number, accounting))
        if found is None:
            found = self._dimensions[number, accounting] = dimensions.of(self._classes[number], accounting)
        return found

    def matches(self, number: int) -> tuple[Match, ...]:
        """Return, per role, how an empty node of the class serves one pod."""
        return self._matches[number]

    def trials(self, number: int, state: Ledger) -> tuple[tuple[Trial, ...], ...]:
        """Return, per role, what becomes of a ledger of the class with the role on it, by each option."""
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
        """Choose the currency that prices are compared in: that of most classes that serve; others count as unknown."""
        priced = Counter(
            node_class.currency
            for node_class, serves in zip(self._classes, self._serving, strict=True)
            if serves and node_class.cost_per_node_hour is not None
        )
        self._currency = min(priced, key=lambda currency: (-priced[currency], currency), default="")

    def floor(self, pools: Sequence[tuple[Pool, int]], accounting: Accounting) -> tuple[Price, int] | None:
        """Return price and newly opened nodes that no solution goes below, None when some role has no pool.

        Cost: no packing; a pool whose pods cannot stand beside the role's needs new nodes for all of them, any other is
        taken to need none.
        """
        roles = len(self._demand.roles)
        if len(pools) == 1 == roles:
            return self._pool_floor(pools[0][1], pools[0][0], 0, accounting)
        opened, amount, unknown = 0, Decimal(0), 0
        for index in range(roles):
            floors = [
                self._pool_floor(number, pool, index, accounting)
                for pool, number in pools
                if self._matches[number][index].options
            ]
            if not floors:
                return None
            # Roles may share the nodes they open, so the whole costs at least what its dearest role costs alone.
            price, nodes = min(floors) if roles == 1 else (min(floors)[0], min(nodes for _, nodes in floors))
            unknown, amount, opened = max(unknown, price[0]), max(amount, price[1]), max(opened, nodes)
        if roles > 1 and unknown:
            # One role's price may be unknown and the other's not: the sum is unknown, which is not below any known one.
            return ((0, Decimal(0)), 0)
        return ((unknown, amount), opened)

    def _pool_floor(self, number: int, pool: Pool, index: int, accounting: Accounting) -> tuple[Price, int]:
        role_pods = self._role_pods.get((number, index, accounting)) or self._role_pods_of(number, index, accounting)
        for role_pod in role_pods:
            for entry in pool.allocations:
                if role_pod.stands_beside(entry.shape):
                    return (FREE, 0)
        return role_pods[0].floor if len(role_pods) == 1 else min(role_pod.floor for role_pod in role_pods)

    def _role_pods_of(self, number: int, index: int, accounting: Accounting) -> tuple[_RolePod, ...]:
        role = self._demand.roles[index]
        what = self.dimensions(number, accounting)
        shapes = (shape_of(role, option) for option in self._matches[number][index].options)
        found = tuple(_RolePod(what, role, shape, self._price(number)) for shape in shapes)
        self._role_pods[number, index, accounting] = found
        return found

    def solve(self, pools: tuple[tuple[int, Ledger], ...]) -> Assignment | None:
        """Return the best way to put one replica on pools given as (class number, ledger), None when there is none."""
        if pools not in self._solutions:
            interruption.checkpoint()
            self._solutions[pools] = self._search(pools)
        return self._solutions[pools]

    def _search(self, pools: tuple[tuple[int, Ledger], ...]) -> Assignment | None:
        before = tuple(state for _, state in pools)
        best: Assignment | None = None
        order: tuple[object, ...] = ()
        for chosen, after in self._assignments(pools, before, 0):
            key = self._key(pools, chosen, after)
            rank = (key, tuple(assigned.pool for assigned in chosen))
            if best is None or rank < order:
                best, order = Assignment(chosen, after, key), rank
        return best

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

    def _key(
        self, pools: tuple[tuple[int, Ledger], ...], chosen: tuple[RoleAssignment, ...], after: tuple[Ledger, ...]
    ) -> tuple[Price, int, int]:
        unknown, amount, opened, left = 0, Decimal(0), 0, 0
        for index in sorted({assigned.pool for assigned in chosen}):
            number, before = pools[index]
            more = after[index].opened - before.opened
            opened += max(0, more)
            price = self._price(number)
            if more > 0:
                unknown = max(unknown, price[0])
                amount += price[1] * more
            left += after[index].free_devices
        return ((unknown, amount if not unknown else Decimal(0)), opened, left)

    def _price(self, number: int) -> Price:
        node_class = self._classes[number]
        if node_class.cost_per_node_hour is None or node_class.currency != self._currency:
            return (1, Decimal(0))
        return (0, Decimal(node_class.cost_per_node_hour))


class _RolePod:
    """A pod of one role on the nodes of one class: whom it can stand beside, and what it costs to stand alone."""

    __slots__ = ("_beside", "_vector", "_what", "floor")

    def __init__(self, what: Dimensions, role: RoleDemand, shape: PodShape, price: Price) -> None:
        self._what = what
        self._vector = what.charge(shape)
        self._beside: dict[PodShape, bool] = {}
        nodes = load.fewest_nodes(what.capacity, load.gang(self._vector, role.pods, role.nodes_per_worker))
        self.floor: tuple[Price, int] = ((price[0], price[1] * nodes), nodes)

    def stands_beside(self, other: PodShape) -> bool:
        """Return whether it and a pod of the other shape can stand on one node."""
        found = self._beside.get(other)
        if found is None:
            both = zip(self._vector, self._what.charge(other), self._what.capacity, strict=True)
            found = self._beside[other] = all(one + two <= have for one, two, have in both)
        return found


def shape_of(role: RoleDemand, option: Option) -> PodShape:
    """Return what one pod of the role takes when it is served so."""
    return PodShape(option.counted, role.cpu_millis, role.memory_bytes)
