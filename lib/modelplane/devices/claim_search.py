"""The allocator's search for one claim whose DeviceClasses are fixed. Source and divergences: see `matching`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from kubecel import interruption
from modelplane.devices import outcomes, partitions, physical, pins, sharing, supply
from modelplane.devices.model import Attribute, Claim, Constraint, Mode, NodeClass, Relation, Request
from modelplane.devices.outcomes import Miss, MissKind, Option, Pick
from modelplane.devices.physical import Vector
from modelplane.devices.selector import Outcome

CLAIM_MAX = 32
"""Limit of the devices of one claim (resource.k8s.io/v1, AllocationResultsMaxSize)."""

Group: TypeAlias = tuple[int, ...]
"""Indexes of the kinds of one DeviceClass, in the order the allocator reaches them."""
Taken: TypeAlias = tuple[tuple[int, int], ...]
"""The devices that serve one request: indexes of kinds, each with the number of its devices."""
Bound: TypeAlias = tuple[frozenset[Attribute] | None, ...]
"""Per constraint the values that all devices have, or those that are used; None before the first device."""


class Question(NamedTuple):
    """A node of a class, and the requests of one pod."""

    node_class: NodeClass
    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...]


class _Aborted(Exception):
    """Carries the allocator's abort out of the search; never leaves this module."""

    def __init__(self, miss: Miss) -> None:
        super().__init__(miss.request)
        self.miss = miss


class Steps:
    """The remaining steps of one question. `is_over` is True after a step was wanted and none remained."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most
        self.is_over = False

    @property
    def taken(self) -> int:
        """Return the number of steps that were taken."""
        return self._most - max(0, self._left)

    def take(self) -> bool:
        """Return whether a step remained."""
        interruption.checkpoint()
        self._left -= 1
        self.is_over |= self._left < 0
        return not self.is_over


class ClaimSearch:
    """The allocator's search for one claim whose DeviceClasses are fixed.

    From the first dead end on, a choice is followed only where the requests after it could be met if nothing but
    numbers counted (`supply`). That changes no answer and leaves no dead ends where all requests want equally many, so
    the search is then as long as the claim. It is not asked where a device may abort, since the allocator could come to
    that in what would be left out.

    Without `mixes` one kind serves a request of mode ExactCount; with it several may.
    """

    def __init__(self, question: Question, groups: tuple[Group, ...], steps: Steps, *, mixes: bool = False) -> None:
        self._class, self._requests, self._constraints = question
        self._kinds = self._class.devices
        self._families = physical.of(self._class)
        self._groups = groups
        self._seen: set[tuple[int, Vector, Bound]] = set()
        self._steps = steps
        self._mixes = mixes
        self._wants: tuple[supply.Want, ...] | None = None
        self._met_dead_end = mixes
        self.aborted: Miss | None = None

    def options(self) -> Iterator[Option]:
        """Return each way to serve the claim, the allocator's own first, up to the first device that would abort it."""
        free = tuple(kind.count for kind in self._kinds)
        try:
            for chosen in self._choose(0, free, (None,) * len(self._constraints)):
                if self._fits_a_claim(chosen):
                    yield self._option(chosen)
        except _Aborted as abort:
            self.aborted = abort.miss

    def _choose(self, position: int, free: Vector, bound: Bound) -> Iterator[tuple[Taken, ...]]:
        if position == len(self._requests):
            yield ()
            return
        if (position, free, bound) in self._seen:
            return
        self._seen.add((position, free, bound))
        if self._met_dead_end and not self._can_be_met(position, free):
            return
        found = False
        request = self._requests[position]
        following = self._next if request.mode is Mode.EXACT_COUNT and not self._mixes else self._several
        for taken, rest, values in following(position, free, bound):
            for tail in self._choose(position + 1, rest, values):
                found = True
                yield (taken, *tail)
        self._met_dead_end |= not found

    def _next(self, position: int, free: Vector, bound: Bound) -> Iterator[tuple[Taken, Vector, Bound]]:
        """Yield each kind that serves a request, with what is then free and bound, in the allocator's order."""
        request = self._requests[position]
        for index in self._groups[position]:
            if not free[index]:
                continue
            if not self._steps.take():
                return
            outcome = outcomes.of(request, self._kinds[index])
            if outcome is Outcome.ABORT:
                raise _Aborted(outcomes.failure(request, self._kinds[index]))
            values = self._bound(request, ((index, request.count),), bound)
            if outcome is Outcome.NO_MATCH or free[index] < request.count or values is None:
                continue
            rest = (*free[:index], self._left(index, free[index] - request.count), *free[index + 1 :])
            if self._is_held(rest):
                yield ((index, request.count),), rest, values

    def _left(self, index: int, number: int) -> int:
        """Return how many devices of a kind are left for other requests; none of one that pods share."""
        return 0 if self._kinds[index].is_shared else number

    def _several(self, position: int, free: Vector, bound: Bound) -> Iterator[tuple[Taken, Vector, Bound]]:
        """Yield what `_next` yields, of several kinds at once."""
        request = self._requests[position]
        splits = self._all(position, free) if request.mode is Mode.ALL else self._splits(position, free)
        for taken in splits:
            if request.mode is Mode.EXACT_COUNT and not self._can_be_told(request, taken):
                continue
            values = self._bound(request, taken, bound)
            if values is None:
                if request.mode is Mode.ALL:
                    raise _Aborted(self._disagreement(request))
                continue
            rest = list(free)
            for index, number in taken:
                rest[index] = self._left(index, rest[index] - number)
            if self._is_held(tuple(rest)):
                yield taken, tuple(rest), values

    def _all(self, position: int, free: Vector) -> Iterator[Taken]:
        """Yield every device that the request means; nothing where one of them is in use or tainted.

        The allocator asks all of them before it takes any.
        """
        request = self._requests[position]
        meant = []
        for index in self._groups[position]:
            if not self._steps.take():
                return
            kind = self._kinds[index]
            if outcomes.of(request, kind) is Outcome.ABORT:
                raise _Aborted(outcomes.failure(request, kind))
            if outcomes.is_meant(request, kind):
                meant.append(index)
        if sum(self._kinds[index].count for index in meant) < request.count or not meant:
            return
        if any(self._kinds[index].is_shared for index in meant):
            return
        if all(free[index] == self._published(index) for index in meant) and not any(
            outcomes.taint(request, self._kinds[index]) for index in meant
        ):
            yield tuple((index, free[index]) for index in meant)

    def _published(self, index: int) -> int:
        """Return how many devices of a kind a driver publishes for one node, in use or not."""
        for family in self._families:
            if index in family.kinds:
                places = family.places[family.kinds.index(index)]
                return family.units * sum(place.alike for place in places)
        return self._kinds[index].count

    def _splits(self, position: int, free: Vector) -> Iterator[Taken]:
        """Yield each way to take the devices of a request from its kinds, as many of the first as there are first."""
        request = self._requests[position]
        serving = []
        for index in self._groups[position]:
            outcome = outcomes.of(request, self._kinds[index])
            if outcome is Outcome.ABORT:
                raise _Aborted(outcomes.failure(request, self._kinds[index]))
            if outcome is Outcome.MATCH and free[index]:
                serving.append(index)
        yield from self._split(tuple(serving), free, request.count)

    def _split(self, serving: Vector, free: Vector, missing: int) -> Iterator[Taken]:
        if not missing:
            yield ()
            return
        if sum(free[index] for index in serving) < missing or not self._steps.take():
            return
        first, rest = serving[0], serving[1:]
        for number in range(min(missing, free[first]), -1, -1):
            for tail in self._split(rest, free, missing - number):
                yield ((first, number), *tail) if number else tail

    def _can_be_told(self, request: Request, taken: Taken) -> bool:
        """Return whether each kind of a mixture can be asked for by itself, and by a claim."""
        if len(taken) == 1:
            return True
        kinds = [self._kinds[index] for index, _ in taken]
        if any(kind.is_shared for kind in kinds):
            return False
        return all(kind.claim is Claim.DRA and pins.tell_apart(request.selectors, kind, self._class) for kind in kinds)

    def _can_be_met(self, position: int, free: Vector) -> bool:
        """Return whether the requests from `position` on find enough devices, each of its own kinds, by number."""
        if self._wants is None:
            self._wants = self._numbers()
        return not self._wants or supply.suffices(free, self._wants[position:], mixes=self._mixes)

    def _numbers(self) -> tuple[supply.Want, ...]:
        """Return the number and kinds that each request wants; nothing where a device may abort or all are wanted."""
        wants = []
        for request, group in zip(self._requests, self._groups, strict=True):
            answers = {index: outcomes.of(request, self._kinds[index]) for index in group}
            if Outcome.ABORT in answers.values() or request.mode is Mode.ALL:
                return ()
            serving = tuple(index for index, outcome in answers.items() if outcome is Outcome.MATCH)
            wants.append(supply.Want(request.count, serving))
        return tuple(wants)

    def _is_held(self, free: Vector) -> bool:
        """Return whether the physical devices can be parted into what is taken; what is not decided counts as no."""
        try:
            return all(
                partitions.holds(family, tuple(self._kinds[kind].count - free[kind] for kind in family.kinds))
                for family in self._families
            )
        except partitions.Undecided:
            return False

    def _bound(self, request: Request, taken: Taken, bound: Bound) -> Bound | None:
        """Return the values that bind the constraints once `taken` serves the request, None where it breaks one."""
        if not self._constraints:
            return bound
        values = list(bound)
        for position, constraint in enumerate(self._constraints):
            if constraint.requests and request.name not in constraint.requests:
                continue
            for index, number in taken:
                value = self._kinds[index].attribute(constraint.attribute)
                if value is None:
                    return None
                merged = _merged(constraint.relation, values[position], value.values(), number)
                if merged is None:
                    return None
                values[position] = merged
        return tuple(values)

    def _fits_a_claim(self, chosen: tuple[Taken, ...]) -> bool:
        """Return whether one claim can hold so many devices; those of other ways to reach a pod are in no claim."""
        claimed = 0
        for taken in chosen:
            for index, number in taken:
                if self._kinds[index].claim is Claim.DRA:
                    claimed += number
        return claimed <= CLAIM_MAX

    def _disagreement(self, request: Request) -> Miss:
        detail = f'request "{request.name}" wants all devices, and they break a constraint: the allocator ends there'
        return Miss(MissKind.NO_MATCH, request.name, detail)

    def _option(self, chosen: tuple[Taken, ...]) -> Option:
        counted: dict[str, int] = {}
        picks, parts = [], []
        for request, taken in zip(self._requests, chosen, strict=True):
            for index, number in taken:
                kind = self._kinds[index]
                picks.append(Pick(request.name, kind.name, number))
                if kind.claim is not Claim.SYNTHETIC:
                    counted[kind.name] = counted.get(kind.name, 0) + number
                if kind.is_shared:
                    parts.append(sharing.Part(kind.name, number, sharing.share(request, kind) or ()))
        return Option(tuple(picks), tuple(sorted(counted.items())), consumed=sharing.consumed(parts))


def _merged(
    relation: Relation, held: frozenset[Attribute] | None, values: frozenset[Attribute], number: int
) -> frozenset[Attribute] | None:
    """Return the values that bind a constraint beside `number` further devices, None where these break it.

    Devices match that have a value in common, and differ that have none. Devices of one kind are alike, so two of them
    differ in nothing.
    """
    if relation is Relation.MATCH:
        return (values if held is None else held & values) or None
    used = held or frozenset()
    return None if number > 1 or not values.isdisjoint(used) else used | values
