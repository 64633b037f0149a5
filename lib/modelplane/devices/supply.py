"""Supply of devices for requests by number alone, each among its own kinds.

The check lets one request take devices of several kinds, which a real request cannot. So a no is final, and a yes is
exact only if all requests want the same number. Cost: polynomial, about 10 ms for 32 requests on 32 kinds.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Vector: TypeAlias = tuple[int, ...]


class Want(NamedTuple):
    """A number of devices of any of the kinds."""

    number: int
    kinds: Vector


def suffices(free: Vector, wants: tuple[Want, ...], *, mixes: bool = False) -> bool:
    """Return whether all wants together can be filled from `free`, the number of devices of each kind.

    A kind counts for a want only if it can fill the whole want. If all wants have the same number, a kind counts in
    whole multiples of it. With `mixes` a want may take a part of a kind, and the answer is exact.
    """
    counts = {want.number for want in wants}
    if mixes:
        wants = tuple(Want(want.number, tuple(kind for kind in want.kinds if free[kind])) for want in wants)
        flow = _Flow(free, [want.kinds for want in wants])
        return all(flow.fill(position, want.number) for position, want in enumerate(wants))
    if len(counts) == 1:
        (unit,) = counts
        free = tuple(number // unit * unit for number in free)
    usable = [tuple(kind for kind in want.kinds if free[kind] >= want.number) for want in wants]
    if not all(usable):
        return False
    flow = _Flow(free, usable)
    return all(flow.fill(position, want.number) for position, want in enumerate(wants))


class _Flow:
    """Devices of kinds given to wants, moved from one to another while that makes room (Ford and Fulkerson)."""

    def __init__(self, free: Vector, usable: list[Vector]) -> None:
        self._left = list(free)
        self._usable = usable
        self._given: list[dict[int, int]] = [{} for _ in usable]

    def fill(self, want: int, missing: int) -> bool:
        """Return whether the want gets `missing` more devices."""
        while missing:
            moved = self._augment(want, missing)
            if not moved:
                return False
            missing -= moved
        return True

    def _augment(self, want: int, most: int) -> int:
        """Return how many devices came to the want along the shortest way from a kind that has some left."""
        came: dict[int, int] = {}
        """The want that would take devices of each kind."""
        gave: dict[int, int] = {want: -1}
        """The kind that each want would give up; the first gives up none."""
        queue = [want]
        for taker in queue:
            for kind in self._usable[taker]:
                if kind in came:
                    continue
                came[kind] = taker
                if self._left[kind]:
                    return self._move(kind, most, came, gave)
                for giver, given in enumerate(self._given):
                    if giver not in gave and given.get(kind):
                        gave[giver] = kind
                        queue.append(giver)
        return 0

    def _move(self, last: int, most: int, came: dict[int, int], gave: dict[int, int]) -> int:
        """Move as many devices as every step of the way lets through, back from `last`, and return their number."""
        steps: list[tuple[int, int]] = []
        amount, kind = min(most, self._left[last]), last
        while True:
            taker = came[kind]
            steps.append((taker, kind))
            kind = gave[taker]
            if kind < 0:
                break
            amount = min(amount, self._given[taker][kind])
        self._left[last] -= amount
        for taker, kind in steps:
            self._given[taker][kind] = self._given[taker].get(kind, 0) + amount
            if gave[taker] >= 0:
                self._given[taker][gave[taker]] -= amount
        return amount
