"""Partitions of physical devices that one node can hold at the same time.

A partitionable device consumes counters of one physical device, and its place decides which: a MIG slice takes specific
memory slices of its GPU. So sums do not decide what a node can hold. The physical devices of a family are equal and
independent (`physical`), so the loads of one are computed once (`loads`), and a node has a number of them.

A cluster never moves a device. It takes a free place when a pod arrives, and can block a later pod. So there are two
questions: `holds` answers if a node can hold devices at all, `in_the_way` which loads of a unit can block a device.

The answers are exact or `Undecided`. Source: resource.k8s.io/v1 of Kubernetes 1.36 (sharedCounters, consumesCounters).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kubecel import caches, interruption
from modelplane.devices.physical import Family, Place, Vector

STATES_MAX = 50_000
"""Limit of the ways to partition one physical device."""
WAYS_MAX = 5_000
"""Limit of the ways to place devices of one kind on a physical device; MIG profiles of a GPU have up to 128."""
STEPS_MAX = 20_000
"""Limit of the physical devices that are filled in the search over one node."""


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
    return {count for counts in _states(family, kinds).values() for count in counts}


def _states(family: Family, kinds: Vector) -> dict[int, set[Vector]]:
    """Return every free part of one unit that loads can leave, with those loads. Raises: Undecided."""
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
    return states


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
    return _Filling(able).fits(tuple(wanted[kind] for kind in kinds), family.units)


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


def in_the_way(family: Family, kinds: Vector, wanted: Vector, number: int = 1) -> tuple[Vector, ...]:
    """Return the minimal loads of one unit, as counts of `kinds`, that can block `number` devices of a wanted kind.

    A load may be at any of its places, since devices that are gone may have left it there. Cost: once per distinct
    question and process, also if undecided. Raises: Undecided.
    """
    found = _in_the_way(family, kinds, wanted, number)
    if found is None:
        raise Undecided
    return found


@caches.kept(4096)
def _in_the_way(family: Family, kinds: Vector, wanted: Vector, number: int) -> tuple[Vector, ...] | None:
    try:
        found = {count for kind in wanted for count in _in_the_way_of(family, kinds, kind, number)}
    except Undecided:
        return None
    return _smallest(found)


def _in_the_way_of(family: Family, kinds: Vector, kind: int, number: int) -> Iterator[Vector]:
    """Yield every load that can leave places for fewer than `number` devices of one kind. Raises: Undecided."""
    places, guards = family.places[kind], family.guards
    own = kinds.index(kind) if kind in kinds else None
    rest = tuple(one for one in kinds if one != kind)
    for free, counts in _states(family, rest).items():
        for left, taken, unused in _ways_and_places(free, places if own is not None else (), guards):
            if _room(left, unused if own is not None else places, guards, number) < number:
                for count in counts:
                    yield count if own is None else (*count[:own], taken, *count[own:])


def _ways_and_places(free: int, places: tuple[Place, ...], guards: int) -> set[tuple[int, int, tuple[Place, ...]]]:
    """Return the ways of `_ways`, each with the places that are not used up. Raises: Undecided."""
    found: set[tuple[int, int, tuple[Place, ...]]] = {(free, 0, ())}
    for place in places:
        after = {(left, number, (*unused, place)) for left, number, unused in found}
        for left, number, unused in found:
            rest = left
            for times in range(1, place.alike + 1):
                rest -= place.packed
                if rest & guards != guards:
                    break
                kept = (replace(place, alike=place.alike - times),) if times < place.alike else ()
                after.add((rest, number + times, (*unused, *kept)))
            if len(after) > WAYS_MAX:
                raise Undecided
        found = after
    return found


def _room(free: int, places: tuple[Place, ...], guards: int, enough: int) -> int:
    """Return the number of devices for which the free part has places; `enough` 1 asks for one. Raises: Undecided."""
    if enough == 1:
        return int(any((free - place.packed) & guards == guards for place in places if place.alike))
    return max(number for _, number in _ways(free, places, guards))


def _smallest(counts: Iterable[Vector]) -> tuple[Vector, ...]:
    """Return the counts that contain no other, in ascending order."""
    kept: list[Vector] = []
    for count in sorted(counts, key=lambda one: (sum(one), one)):
        if not any(all(mine >= other for mine, other in zip(count, one, strict=True)) for one in kept):
            kept.append(count)
    return tuple(kept)


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


def lies_in_its_own_way(family: Family, kind: int) -> bool:
    """Return whether devices of one kind can block each other, so that fewer find a place than a node can hold.

    Raises: Undecided.
    """
    (fullest,) = loads(family, (kind,))
    return min(sum(load) for load in in_the_way(family, (kind,), (kind,))) < fullest[0]


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """A kind of device that pods share, `units` of them on a node.

    `axis` is the dimension that counts its allocations, `axes` are those of its capacities, `capacity` is what one
    device has of each.
    """

    axis: int
    axes: Vector
    units: int
    capacity: Vector

    def each(self, size: Vector) -> Vector:
        """Return the amounts of each allocation of a pod, which are equal."""
        return tuple(size[axis] // size[self.axis] for axis in self.axes)

    def times(self, size: Vector, most: int) -> int:
        """Return the number of pods of one size that an empty node takes, at most `most`."""
        if not size[self.axis]:
            return most
        if size[self.axis] > self.units:
            return 0
        bounds = [have // want for have, want in zip(self.capacity, self.each(size), strict=True) if want]
        return min([most, *[self.units * bound // size[self.axis] for bound in bounds]])


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The rules for parts of physical devices on a node of a class, compared by identity and made once per class.

    `node` are the amounts of an empty node in the leading dimensions that the rules cover. `axes` are the dimensions in
    which the kinds of each family are counted. `bounds` is the number of dimensions after those of `node` in which sums
    only bound what the rules decide.
    """

    families: tuple[Family, ...]
    axes: tuple[Vector, ...]
    node: Vector
    bounds: int = 0
    shared: tuple[Shared, ...] = ()

    def matter(self, vectors: Iterable[Vector]) -> bool:
        """Return whether sums do not decide for pods of these sizes.

        That is the case for two kinds of a family, or for one whose devices can block each other.
        """
        sizes = tuple(vectors)
        if any(size[kind.axis] for kind in self.shared for size in sizes):
            return True
        for family, axes in zip(self.families, self.axes, strict=True):
            met = [kind for kind, axis in enumerate(axes) if any(size[axis] for size in sizes)]
            if len(met) > 1 or (met and lies_in_its_own_way(family, met[0])):
                return True
        return False

    def speak_of(self, axis: int) -> bool:
        """Return whether the dimension counts a device that shares counters with others."""
        return any(axis in axes for axes in self.axes)

    def decide(self, axis: int) -> bool:
        """Return whether the rules, not the sums, decide in the dimension."""
        if any(axis == kind.axis for kind in self.shared):
            return True
        return self.speak_of(axis) or 0 <= axis - len(self.node) < self.bounds

    def allow(self, held: Vector) -> bool:
        """Return whether a node can hold the amounts.

        Raises: Undecided.
        """
        return all(
            holds(family, tuple(held[axis] for axis in axes))
            for family, axes in zip(self.families, self.axes, strict=True)
        )

    def carry(self, size: Vector) -> bool:
        """Return whether an empty node carries one pod. Raises: Undecided."""
        return self.allow(size) and all(kind.times(size, 1) for kind in self.shared)

    def times(self, free: Vector, vector: Vector, bound: int) -> int:
        """Return the number of pods of size `vector`, up to `bound`, that fit on a node with `free`.

        The sums already keep a pod that is charged a whole node alone. Raises: Undecided.
        """
        for kind in self.shared:
            bound = kind.times(vector, bound)
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
