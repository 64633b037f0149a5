"""Partitions of physical devices that one node can hold at the same time.

A partitionable device consumes counters of one physical device, and its place decides which: a MIG slice takes specific
memory slices of its GPU. So sums do not decide what a node can hold. The physical devices of a family are equal and
independent (`physical`), so the loads of one are computed once (`loads`), and a node has a number of them.

A cluster never moves a device. It takes the first free place when a pod arrives, and can block a later pod. So there
are two questions: `holds` answers if a node can hold devices at all, `holds_as_they_come` if it can in every order.

The answers are exact or `Undecided`. Source: resource.k8s.io/v1 of Kubernetes 1.36 (sharedCounters, consumesCounters).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from math import factorial

from kubecel import caches
from modelplane import interruption
from modelplane.devices.physical import Family, Place, Vector

STATES_MAX = 50_000
"""Limit of the ways to partition one physical device."""
WAYS_MAX = 5_000
"""Limit of the ways to place devices of one kind on a physical device; MIG profiles of a GPU have up to 128."""
STEPS_MAX = 20_000
"""Limit of the physical devices that are filled in the search over one node."""
ORDERS = 24
"""Limit of the orders of arrival that are tried."""


class Undecided(Exception):
    """The search reached its limit; the caller must treat it as a no and report it."""


def loads(family: Family, kinds: Vector) -> tuple[Vector, ...]:
    """Return the maximal loads of one unit, as counts of the given kinds (positions in the family).

    Cost: once per distinct question and process, also if undecided. Raises: Undecided.
    """
    found = _loads(family, kinds)
    if found is None:
        raise Undecided
    return found


@caches.kept(4096)
def _loads(family: Family, kinds: Vector) -> tuple[Vector, ...] | None:
    try:
        return _fullest(_counts(family, kinds))
    except Undecided:
        return None


def _counts(family: Family, kinds: Vector) -> set[Vector]:
    """Return every load of one unit. Raises: Undecided."""
    states: dict[int, set[Vector]] = {family.empty: {()}}
    for kind in kinds:
        after: dict[int, set[Vector]] = {}
        for free, counts in states.items():
            interruption.checkpoint()
            for left, number in _ways(free, family.places[kind], family.guards):
                after.setdefault(left, set()).update((*count, number) for count in counts)
        states = after
        if sum(map(len, states.values())) > STATES_MAX:
            raise Undecided
    return {count for counts in states.values() for count in counts}


def _ways(free: int, places: tuple[Place, ...], guards: int) -> set[tuple[int, int]]:
    """Return every way to put devices of one kind at their places: what is then free, and how many they are."""
    found = {(free, 0)}
    for place in places:
        for left, number in tuple(found):
            rest = left
            for times in range(1, place.alike + 1):
                rest -= place.packed
                if rest & guards != guards:
                    break
                found.add((rest, number + times))
            if len(found) > WAYS_MAX:
                raise Undecided
    return found


def _fullest(counts: set[Vector]) -> tuple[Vector, ...]:
    """Return the counts that no other covers, the largest first."""
    kept: list[Vector] = []
    for count in sorted(counts, key=lambda one: (sum(one), one), reverse=True):
        if not any(all(mine <= other for mine, other in zip(count, one, strict=True)) for one in kept):
            kept.append(count)
    return tuple(kept)


def holds(family: Family, wanted: Vector) -> bool:
    """Return whether a node can hold the wanted number of devices of each kind of the family.

    Cost: once per distinct question and process, also if undecided. Raises: Undecided.
    """
    found = _holds(family, wanted)
    if found is None:
        raise Undecided
    return found


@caches.kept(65_536)
def _holds(family: Family, wanted: Vector) -> bool | None:
    try:
        return _is_held(family, wanted)
    except Undecided:
        return None


def _is_held(family: Family, wanted: Vector) -> bool:
    """Return what `holds` does. Raises: Undecided."""
    kinds = tuple(kind for kind, number in enumerate(wanted) if number)
    if not kinds:
        return True
    able = loads(family, kinds)
    if len(kinds) == 1:
        return wanted[kinds[0]] <= family.units * able[0][0]
    return _filling(family, kinds).fits(tuple(wanted[kind] for kind in kinds), family.units)


@caches.kept(1024)
def _filling(family: Family, kinds: Vector) -> _Filling:
    return _Filling(loads(family, kinds))


class _Filling:
    """A search over units.

    Some unit carries a device of the rarest remaining kind, and nothing is lost if that unit has a maximal load.
    """

    def __init__(self, able: tuple[Vector, ...]) -> None:
        self._able = able
        most = [max(load[kind] for load in able) for kind in range(len(able[0]))]
        self._rarest = sorted(range(len(most)), key=lambda kind: (most[kind], kind))
        self._most = most

    def fits(self, wanted: Vector, units: int) -> bool:
        """Return whether `wanted` fits into `units` empty units.

        Raises: Undecided.
        """
        # Nothing of an earlier question is used: it would be decided or not by what was asked before.
        self._known: dict[tuple[Vector, int], bool] = {}
        self._steps = STEPS_MAX
        return self._fits(wanted, units)

    def _fits(self, left: Vector, units: int) -> bool:
        first = next((kind for kind in self._rarest if left[kind]), None)
        if first is None:
            return True
        if any(number > units * most for number, most in zip(left, self._most, strict=True)):
            return False
        key = (left, units)
        known = self._known.get(key)
        if known is not None:
            return known
        interruption.checkpoint()
        self._steps -= 1
        if self._steps < 0:
            raise Undecided
        found = False
        for load in self._able:
            if load[first]:
                rest = tuple([number - more if number > more else 0 for number, more in zip(left, load, strict=True)])
                if self._fits(rest, units - 1):
                    found = True
                    break
        self._known[key] = found
        return found


@caches.kept(65_536)
def holds_as_they_come(family: Family, wanted: Vector) -> bool:
    """Return whether a node can hold the wanted number of devices of each kind in any order of arrival.

    Each device goes to the first free place of the first unit, which is the order of the allocator. Cost: `ORDERS`
    orders: all of up to four kinds; for more, a sample that has each kind last. Raises: Undecided.
    """
    kinds = [kind for kind, number in enumerate(wanted) if number]
    return holds(family, wanted) and all(_all_find_places(family, wanted, order) for order in _orders(kinds))


def _orders(kinds: list[int]) -> Iterator[tuple[int, ...]]:
    if factorial(len(kinds)) <= ORDERS:
        yield from permutations(kinds)
        return
    for shift in range(min(len(kinds), ORDERS // 2)):
        turned = (*kinds[shift:], *kinds[:shift])
        yield turned
        yield turned[::-1]


def _all_find_places(family: Family, wanted: Vector, order: tuple[int, ...]) -> bool:
    """Return whether the devices find places, kind by kind in `order`, each at the first unit that has one.

    Units in the same state stand in runs, so what is kept grows with the kinds and not with the units.
    """
    runs = [(family.empty, family.units)]
    for kind in order:
        missing = wanted[kind]
        after: list[tuple[int, int]] = []
        for free, units in runs:
            missing = _fill_run(family, kind, (free, units), missing, after)
        if missing:
            return False
        runs = after
    return True


def _fill_run(family: Family, kind: int, run: tuple[int, int], missing: int, after: list[tuple[int, int]]) -> int:
    """Append to `after` what becomes of a run of equal units that are filled in turn; return what is still missing."""
    free, units = run
    most_of_one = sum(place.alike for place in family.places[kind])
    full, rest = family.fill(free, kind, most_of_one)
    taken = most_of_one - rest
    filled = min(units, missing // taken) if taken else 0
    missing -= filled * taken
    units -= filled
    if filled:
        after.append((full, filled))
    if missing and units and taken:
        partly, missing = family.fill(free, kind, missing)
        after.append((partly, 1))
        units -= 1
    if units:
        after.append((free, units))
    return missing


def most(family: Family, kind: int) -> int:
    """Return the number of devices of one kind (a position in the family) on a node that holds nothing else.

    Raises: Undecided.
    """
    return family.units * max(load[0] for load in loads(family, (kind,)))


def most_at_once(family: Family) -> int:
    """Return the largest number of devices of all kinds together that a node can hold.

    Raises: Undecided.
    """
    return family.units * max(sum(load) for load in loads(family, tuple(range(len(family.kinds)))))


@caches.kept(4096)
def lies_in_its_own_way(family: Family, kind: int) -> bool:
    """Return whether devices of one kind can block each other, so that fewer find a place than a node can hold.

    Raises: Undecided.
    """
    alone = tuple(most(family, kind) if one == kind else 0 for one in range(len(family.kinds)))
    return not _all_find_places(family, alone, (kind,))


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The rules for parts of physical devices on a node of a class, compared by identity and made once per class.

    `node` are the amounts of an empty node in the leading dimensions that the rules cover. `axes` are the dimensions in
    which the kinds of each family are counted.
    """

    families: tuple[Family, ...]
    axes: tuple[Vector, ...]
    node: Vector
    as_they_come: bool = False
    """True if a node must be able to hold the devices in any order of arrival."""

    def matter(self, vectors: Iterable[Vector]) -> bool:
        """Return whether sums do not decide for pods of these sizes.

        That is the case for two kinds of a family, or for one whose devices can block each other.
        """
        sizes = tuple(vectors)
        for family, axes in zip(self.families, self.axes, strict=True):
            met = [kind for kind, axis in enumerate(axes) if any(size[axis] for size in sizes)]
            if len(met) > 1 or (met and lies_in_its_own_way(family, met[0])):
                return True
        return False

    def speak_of(self, axis: int) -> bool:
        """Return whether the dimension counts a device that shares counters with others."""
        return any(axis in axes for axes in self.axes)

    def allow(self, held: Vector) -> bool:
        """Return whether a node can hold the amounts.

        Raises: Undecided.
        """
        asked = holds_as_they_come if self.as_they_come else holds
        return all(
            asked(family, tuple(held[axis] for axis in axes))
            for family, axes in zip(self.families, self.axes, strict=True)
        )

    def times(self, free: Vector, vector: Vector, bound: int) -> int:
        """Return the number of pods of size `vector`, up to `bound`, that fit on a node with `free`.

        The sums already keep a pod that is charged a whole node alone. Raises: Undecided.
        """
        if not any(vector[axis] for axes in self.axes for axis in axes) or vector[: len(self.node)] == self.node:
            return bound
        held = tuple(have - left for have, left in zip(self.node, free, strict=False))
        low, high = 0, bound
        while low < high:
            middle = (low + high + 1) // 2 if high < bound else high
            if self.allow(tuple(one + middle * more for one, more in zip(held, vector, strict=False))):
                low = middle
            else:
                high = middle - 1
        return low


@caches.kept(4096)
def as_they_come(rules: Rules) -> Rules:
    """Return the rules for pods that arrive in any order and are never moved."""
    return replace(rules, as_they_come=True)
