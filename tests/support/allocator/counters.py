"""What is left of the counters that the devices of a pool share.

The books are kept as the allocator keeps them, which shows in three places. Before 1.37 they are kept per name of a
pool, so pools of one name share them whatever their driver, and what is drawn for a device that is then refused for
another cause (a taint, a constraint) is not given back while the allocation lasts. In every version one set that is
overdrawn by what is allocated already stops every device of its pool that draws from any set.

Source: k8s.io/dynamic-resource-allocation v0.36.2 and v0.37.2, structured allocator (incubating).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from modelplane.devices.amounts import nano
from tests.support.allocator.pools import Place, Pool
from tests.support.allocator.slices import Counters, DeviceId, Offer

Counter: TypeAlias = tuple[str, str]
"""A counter set and a counter in it."""


def entries(sets: Iterable[Counters]) -> Iterator[tuple[Counter, int]]:
    """Yield every counter with its amount in nano."""
    for counters in sets:
        for name, amount in counters.amounts:
            yield (counters.set_name, name), nano(amount)


class CounterBooks:
    """What is available and what is drawn, for one allocation."""

    def __init__(self, in_use: frozenset[DeviceId], *, by_driver: bool) -> None:
        self._in_use = in_use
        self._by_driver = by_driver
        self._available: dict[tuple[str, str], dict[Counter, int]] = {}
        self._drawn: dict[tuple[str, str], dict[Counter, int]] = {}

    def _key(self, pool: Pool) -> tuple[str, str]:
        return (pool.driver if self._by_driver else "", pool.name)

    def draw(self, place: Place) -> bool:
        """Return whether the counters the device needs were there; then they are drawn."""
        key = self._key(place.pool)
        available = self._available.get(key)
        if available is None:
            available = self._available[key] = self._opening(place.pool)
        drawn = self._drawn.setdefault(key, {})
        for counter, amount in entries(place.offer.draws):
            drawn[counter] = drawn.get(counter, 0) + amount
        if all(amount >= drawn.get(counter, 0) for counter, amount in available.items()):
            return True
        self.give_back(place)
        return False

    def give_back(self, place: Place) -> None:
        """Undo one draw of the device."""
        drawn = self._drawn.setdefault(self._key(place.pool), {})
        for counter, amount in entries(place.offer.draws):
            drawn[counter] = drawn.get(counter, 0) - amount

    def _opening(self, pool: Pool) -> dict[Counter, int]:
        """Return what the pool's sets hold, less what devices in use draw from them, wherever they are used."""
        available = dict(entries(pool.counter_sets))
        here: Iterable[tuple[DeviceId, Offer]] = [(place.device, place.offer) for place in pool.places]
        for device, offer in (*here, *pool.elsewhere):
            if device in self._in_use:
                for counter, amount in entries(offer.draws):
                    if counter in available:
                        available[counter] -= amount
        return available
