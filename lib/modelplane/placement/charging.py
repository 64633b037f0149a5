"""Charges: the amounts that a replica takes of the limits of a quota, by the pools and classes that it holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from modelplane.devices import selector
from modelplane.devices.model import NodeClass
from modelplane.placement.snapshot import Accounting, Holding, PodShape, Pool
from modelplane.workload.allowance import MILLIONTH, Limit, Measure

Amounts = tuple[Fraction, ...]
"""An amount for each limit of a quota, in its order."""


class Charge(NamedTuple):
    """The amount of each limit. `unknown` says of a limit why its amount is not known, empty where it is."""

    amounts: Amounts
    unknown: tuple[str, ...]

    def beyond(self, held: Charge) -> Charge:
        """Return the charge beside one that is counted already."""
        pairs = zip(self.amounts, held.amounts, strict=True)
        return self._replace(amounts=tuple(max(Fraction(0), amount - had) for amount, had in pairs))


class Charger:
    """The prices of one quota. Each class is read once, while the object lives."""

    def __init__(self, limits: tuple[Limit, ...]) -> None:
        self.limits = limits
        self._counting: dict[tuple[int, int], tuple[NodeClass, frozenset[str]]] = {}

    def of(self, holdings: Iterable[Holding], pools: Mapping[str, Pool], accounting: Accounting) -> Charge:
        """Return the charge of one replica with these holdings. Devices of an unknown class count for every limit.

        Under `Accounting.NODE` a pod takes all devices of the kinds that it holds.
        """
        held = list(holdings)
        found = [self._charge(index, limit, held, pools, accounting) for index, limit in enumerate(self.limits)]
        return Charge(tuple([amount for amount, _ in found]), tuple([why for _, why in found]))

    def _charge(
        self, index: int, limit: Limit, held: list[Holding], pools: Mapping[str, Pool], accounting: Accounting
    ) -> tuple[Fraction, str]:
        if limit.measure is Measure.REPLICAS:
            return Fraction(1), ""
        total, unknown = Fraction(0), ""
        for holding in held:
            pool = pools.get(holding.pool)
            node_class = None if pool is None else pool.node_class
            if limit.measure is Measure.COST:
                price = _price(limit, node_class)
                if price is None:
                    unknown = unknown or _unpriced(limit, holding.pool, pool)
                else:
                    total += price * _nodes(holding, node_class, accounting)
            elif limit.class_name and pool is not None:
                total += _devices(holding, node_class, accounting, None) if pool.class_name == limit.class_name else 0
            else:
                counting = None if node_class is None or not limit.selectors else self._selected(index, node_class)
                total += _devices(holding, node_class, accounting, counting)
        return (total // MILLIONTH * MILLIONTH if limit.measure is Measure.COST else total), unknown

    def _selected(self, index: int, node_class: NodeClass) -> frozenset[str]:
        """Return the devices of the class that the selectors of a limit select. An expression that fails does not."""
        known = self._counting.get((index, id(node_class)))
        if known is None:
            texts = self.limits[index].selectors
            names = frozenset(
                device.name
                for device in node_class.devices
                if all(selector.written(text).evaluate(device).matches for text in texts)
            )
            known = self._counting[index, id(node_class)] = (node_class, names)
        return known[1]


def _devices(
    holding: Holding, node_class: NodeClass | None, accounting: Accounting, counting: frozenset[str] | None
) -> Fraction:
    """Return the devices of a holding that count, all of them where `counting` is None."""
    of_node = _of_node(node_class) if accounting is Accounting.NODE else {}
    return Fraction(
        sum(
            max(count, of_node.get(name, 0)) * holding.pods
            for name, count in holding.shape.devices
            if counting is None or name in counting
        )
    )


def _of_node(node_class: NodeClass | None) -> dict[str, int]:
    return {} if node_class is None else {device.name: device.count for device in node_class.devices}


def _price(limit: Limit, node_class: NodeClass | None) -> Fraction | None:
    """Return the price of a node per hour, None where it is not known in the currency of the limit."""
    if node_class is None or node_class.cost_per_node_hour is None or node_class.currency != limit.currency:
        return None
    return Fraction(node_class.cost_per_node_hour)


def _unpriced(limit: Limit, name: str, pool: Pool | None) -> str:
    if pool is None:
        return f"the class of pool {name} is not known, so its cost is not"
    return f"InferenceClass {pool.class_name} has no cost in {limit.currency}; set its spec.cost"


def _nodes(holding: Holding, node_class: NodeClass | None, accounting: Accounting) -> Fraction:
    """Return the number of nodes that a holding is worth: of each pod the largest part of a node that it takes."""
    if node_class is None or accounting is Accounting.NODE:
        return Fraction(holding.pods)
    return holding.pods * _part(holding.shape, node_class)


def _part(shape: PodShape, node_class: NodeClass) -> Fraction:
    """Return the part of a node that one pod takes; all of it where nothing tells."""
    of_node = _of_node(node_class)
    parts = [Fraction(count, of_node[name]) for name, count in shape.devices if of_node.get(name)]
    for taken, whole in ((shape.cpu_millis, node_class.cpu_millis), (shape.memory_bytes, node_class.memory_bytes)):
        if whole:
            parts.append(Fraction(taken, whole))
    return min(Fraction(1), max(parts)) if parts else Fraction(1)
