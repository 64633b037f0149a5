"""Which devices and parts of devices are taken while one allocation is searched for.

Source: as `allocation`; what a version of the allocator forgets while it goes back is forgotten here too.
"""

from __future__ import annotations

from collections.abc import Mapping

from modelplane.devices.amounts import nano
from tests.support.allocator.claims import Allocated, Use
from tests.support.allocator.counters import CounterBooks
from tests.support.allocator.demands import Demand
from tests.support.allocator.slices import DeviceId


def enter(taken: dict[DeviceId, dict[str, int]], use: Use) -> None:
    """Add what a part of a shared device takes of its capacity, in nano."""
    entry = taken.setdefault(use.device, {})
    for name, amount in use.consumed:
        entry[name] = entry.get(name, 0) + nano(amount)


class Books:
    """What this allocation has taken so far, and what others hold.

    A shared device is not marked as taken; what is taken of its capacity is. That entry is closed when it comes to
    nothing, except where nothing was taken in the first place.
    """

    def __init__(self, allocated: Allocated, held: Mapping[DeviceId, Mapping[str, int]], *, undoes: bool) -> None:
        self._taken_by_others = allocated.devices
        self._held = held
        self._undoes = undoes
        self._claims: dict[DeviceId, set[int]] = {}
        self._capacity: dict[DeviceId, dict[str, int]] = {}
        self.counters = CounterBooks(allocated.devices | held.keys(), by_driver=undoes)

    def is_taken(self, device: DeviceId, demand: Demand) -> bool:
        """Return whether the device is out of reach; for admin access only one of the same claim is."""
        taking = self._claims.get(device, ())
        if demand.is_admin:
            return demand.claim in taking
        return device in self._taken_by_others or bool(taking)

    def taking(self, device: DeviceId) -> Mapping[str, int]:
        """Return the capacity this allocation takes of a shared device, in nano."""
        return self._capacity.get(device, {})

    def is_shared_already(self, device: DeviceId) -> bool:
        """Return whether somebody has a part of the device."""
        return device in self._held or device in self._capacity

    def take(self, device: DeviceId, claim: int) -> None:
        """Mark the device as taken by the claim."""
        self._claims.setdefault(device, set()).add(claim)

    def share(self, use: Use) -> None:
        """Take a part of the device."""
        enter(self._capacity, use)

    def put_back(self, device: DeviceId, claim: int) -> None:
        """Undo `take`."""
        self._claims.get(device, set()).discard(claim)

    def unshare(self, use: Use, *, keeps: bool) -> None:
        """Undo `share`; `keeps` says that somebody else has a part, whose entry stays even when it is nothing."""
        entry = self._capacity.get(use.device)
        if entry is None or not (use.consumed or self._undoes):
            return
        for name, amount in use.consumed:
            entry[name] -= nano(amount)
        if not any(entry.values()) and not keeps:
            del self._capacity[use.device]
