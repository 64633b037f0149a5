"""Which pools of one cluster take the roles of one replica: an exact search over pools and device options.

Equal states are decided once: a cluster is its pools' states in name order, and a pool's state is its class and ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from modelplane.devices import matching
from modelplane.devices.matching import Match, Option
from modelplane.devices.model import NodeClass
from modelplane.placement import ledger
from modelplane.placement.ledger import Ledger
from modelplane.placement.model import Demand, PodShape, RoleDemand
from modelplane.placement.packing import Answer

Price: TypeAlias = tuple[int, Decimal]
"""(0, amount) when known in the reference currency, else (1, 0): a known price is preferred to an unknown one."""

FREE: Price = (0, Decimal(0))


@dataclass(frozen=True, slots=True)
class Seat:
    """One role on one pool of the cluster: the pool's position in name order, the devices used, and one pod's shape."""

    pool: int
    option: Option
    shape: PodShape


@dataclass(frozen=True, slots=True)
class Solution:
    """A seat per role, the ledgers of all pools with the replica on them, and how good it is (smaller is better).

    `key` is (price of the nodes newly opened, nodes newly opened, devices left free in the pools used).
    """

    seats: tuple[Seat, ...]
    ledgers: tuple[Ledger, ...]
    key: tuple[Price, int, int]


class Table:
    """What the demand makes of each class: found once per class object, and solutions once per state."""

    def __init__(self, demand: Demand, currency: str) -> None:
        self._demand = demand
        self._currency = currency
        self._numbers: dict[int, int] = {}
        self._classes: list[NodeClass] = []
        self._matches: list[tuple[Match, ...]] = []
        self._solutions: dict[tuple[tuple[int, Ledger], ...], Solution | None] = {}

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
        return number

    def node_class(self, number: int) -> NodeClass:
        """Return the class of a number."""
        return self._classes[number]

    def matches(self, number: int) -> tuple[Match, ...]:
        """Return, per role, how an empty node of the class serves one pod."""
        return self._matches[number]

    def serves(self, number: int) -> bool:
        """Return whether the class can serve any role at all."""
        return any(match.options for match in self._matches[number])

    def solve(self, pools: tuple[tuple[int, Ledger], ...]) -> Solution | None:
        """Return the best way to put one replica on pools given as (class number, ledger), None when there is none."""
        if pools not in self._solutions:
            self._solutions[pools] = self._search(pools)
        return self._solutions[pools]

    def _search(self, pools: tuple[tuple[int, Ledger], ...]) -> Solution | None:
        before = tuple(state for _, state in pools)
        best: Solution | None = None
        order: tuple[object, ...] = ()
        for seats, after in self._seatings(pools, before, 0):
            key = self._key(pools, seats, after)
            rank = (key, tuple(seat.pool for seat in seats))
            if best is None or rank < order:
                best, order = Solution(seats, after, key), rank
        return best

    def _seatings(
        self, pools: tuple[tuple[int, Ledger], ...], states: tuple[Ledger, ...], position: int
    ) -> Iterator[tuple[tuple[Seat, ...], tuple[Ledger, ...]]]:
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
                for seats, final in self._seatings(pools, rest, position + 1):
                    yield (Seat(index, option, shape), *seats), final

    def _key(
        self, pools: tuple[tuple[int, Ledger], ...], seats: tuple[Seat, ...], after: tuple[Ledger, ...]
    ) -> tuple[Price, int, int]:
        unknown, amount, opened, left = 0, Decimal(0), 0, 0
        for index in sorted({seat.pool for seat in seats}):
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


def shape_of(role: RoleDemand, option: Option) -> PodShape:
    """Return what one pod of the role takes when it is served so."""
    return PodShape(option.counted, role.cpu_millis, role.memory_bytes)
