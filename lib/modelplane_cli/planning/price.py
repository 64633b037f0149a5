"""The price of a plan: what the nodes of its pools cost per hour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, TypeAlias

from modelplane_cli.planning.capacity import PoolUse

Json: TypeAlias = Any
Price: TypeAlias = dict[str, tuple[Decimal, Decimal]]
"""The price of the nodes in use and of all existing nodes, by currency."""


def of(uses: Iterable[PoolUse]) -> Price:
    """Return the price per hour of the nodes in use and of all existing nodes, by currency."""
    found: Price = {}
    for use in uses:
        if use.cost_per_node_hour is None:
            continue
        used, present = found.get(use.currency, (Decimal(0), Decimal(0)))
        price = use.cost_per_node_hour
        found[use.currency] = (used + price * use.nodes_used, present + price * use.nodes)
    return dict(sorted(found.items()))


def encode(now: Iterable[PoolUse], before: Iterable[PoolUse]) -> dict[str, Json]:
    """Return the price now and before, by currency."""
    return dict(_encode(of(now), of(before)))


def _encode(now: Price, before: Price) -> Iterator[tuple[str, Json]]:
    nothing = (Decimal(0), Decimal(0))
    for currency in sorted(now.keys() | before.keys()):
        used, present = now.get(currency, nothing)
        yield (
            currency,
            {
                "perHour": str(used),
                "perHourBefore": str(before.get(currency, nothing)[0]),
                "perHourAllNodes": str(present),
            },
        )
