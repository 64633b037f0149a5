"""The pools of devices that one node can use, in the order the allocator tries them.

Source: k8s.io/dynamic-resource-allocation v0.36.2, structured allocator. Older generations of a pool are passed over;
a pool of which a slice is missing is incomplete, and one that contradicts itself is invalid. Neither serves devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tests.support.allocator import nodes
from tests.support.allocator.profiles import Profile
from tests.support.allocator.slices import Counters, DeviceId, Node, Offer, Slice


class State(StrEnum):
    """Whether a pool serves devices."""

    READY = "ready"
    INCOMPLETE = "incomplete"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One device where it was published."""

    device: DeviceId
    offer: Offer
    slice: Slice
    pool: Pool


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The devices of one pool that the node can use.

    `elsewhere` are those only other nodes can use: what they hold of the pool's counters is missing here. `problem`
    says what is wrong with a pool that is not READY.
    """

    driver: str
    name: str
    state: State
    problem: str = ""
    places: list[Place] = field(default_factory=list)
    elsewhere: tuple[tuple[DeviceId, Offer], ...] = ()
    counter_sets: tuple[Counters, ...] = ()

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


def gather(slices: Sequence[Slice], node: Node, profile: Profile) -> tuple[Pool, ...]:
    """Return the pools with a slice for the node: sorted, those a pod has to wait for last.

    Raises: InvalidInput for a node selector that cannot be read.
    """
    found = []
    for newest in _newest(_relevant(slices, node, profile)).values():
        pool = _pool(newest, slices, profile)
        if pool is not None:
            found.append(pool)
    return tuple(sorted(found, key=lambda pool: (_waits(pool), pool.driver, pool.name)))


def _waits(pool: Pool) -> bool:
    return any(place.offer.needs_binding for place in pool.places)


def _relevant(slices: Sequence[Slice], node: Node, profile: Profile) -> Iterator[Slice]:
    """Yield the slices for the node; counter sets concern every node.

    From 1.36 on its own come before those of several nodes: which is first decides how many slices a pool has.
    """
    if profile.sorts_slices:
        slices = sorted(
            slices, key=lambda one: not one.reach.node_name or (bool(one.counter_sets) and profile.counters_for_all)
        )
    elif not profile.waits_for_pools:
        slices = sorted(slices, key=_has_waiting)
    for one in slices:
        if not profile.partitionable and (one.per_device_reach is not None or _is_unknown(one, profile)):
            continue
        if (one.counter_sets and profile.counters_for_all) or _concerns(one, node):
            yield one


def _is_unknown(one: Slice, profile: Profile) -> bool:
    """Return whether the slice is passed over; 1.34 knows counter sets only beside devices, and reads it as empty."""
    return bool(one.counter_sets) and profile.waits_for_pools


def _has_waiting(one: Slice) -> bool:
    return any(offer.needs_binding for offer in one.offers)


def _concerns(one: Slice, node: Node) -> bool:
    if one.reach.is_set:
        return nodes.reaches(one.reach, node)
    return bool(one.per_device_reach) and any(nodes.reaches(offer.reach, node) for offer in one.offers)


def _newest(slices: Iterable[Slice]) -> dict[tuple[str, str], list[Slice]]:
    """Return the slices of the newest generation of each pool."""
    found: dict[tuple[str, str], list[Slice]] = {}
    for one in slices:
        known = found.get(one.pool_id)
        if known is None or one.generation > known[0].generation:
            found[one.pool_id] = [one]
        elif one.generation == known[0].generation:
            known.append(one)
    return found


def _pool(newest: list[Slice], slices: Sequence[Slice], profile: Profile) -> Pool | None:
    """Return the pool, None when a newer generation of it is for other nodes only."""
    first = newest[0]
    if not profile.waits_for_pools:
        return _unwaited(newest)
    others: list[Slice] = []
    if len(newest) != first.slices_in_pool:
        all_of_pool = [one for one in slices if one.pool_id == first.pool_id and one.generation >= first.generation]
        if any(one.generation > first.generation for one in all_of_pool):
            return None
        if len(all_of_pool) != first.slices_in_pool:
            problem = f"{len(all_of_pool)} of its {first.slices_in_pool} slices are published"
            return Pool(first.driver, first.pool, State.INCOMPLETE, problem)
        names = {one.name for one in newest}
        others = [one for one in all_of_pool if one.name not in names]
    ordered = sorted(newest, key=lambda one: one.name) if profile.sorts_slices else newest
    return _checked(ordered, others, profile)


def _unwaited(slices: list[Slice]) -> Pool:
    """Return the pool of the slices for the node alone; one that is incomplete serves what it has."""
    first = slices[0]
    state, problem = State.READY, ""
    if len(slices) != first.slices_in_pool:
        state, problem = State.INCOMPLETE, f"{len(slices)} of its {first.slices_in_pool} slices are for the node"
    repeated = _repeated("device", (offer.name for one in slices for offer in one.offers))
    if repeated:
        return Pool(first.driver, first.pool, State.INVALID, repeated)
    return _placed(Pool(first.driver, first.pool, state, problem), slices)


def _placed(pool: Pool, slices: list[Slice]) -> Pool:
    for one in slices:
        ids = (DeviceId(pool.driver, pool.name, offer.name) for offer in one.offers)
        pool.places.extend(Place(device, offer, one, pool) for device, offer in zip(ids, one.offers, strict=True))
    return pool


def _checked(slices: list[Slice], others: list[Slice], profile: Profile) -> Pool:
    """Return the pool of complete slices, after what it says of itself was checked."""
    driver, name = slices[0].pool_id
    problem = _repeated("device", (offer.name for one in slices for offer in one.offers))
    publishing = slices if profile.counters_for_all else [*slices, *others]
    sets = tuple(counters for one in publishing for counters in one.counter_sets) if profile.partitionable else ()
    if profile.partitionable and not problem:
        problem = _repeated("counter set", (counters.set_name for counters in sets))
        for one in (*slices, *others):
            problem = problem or _unknown_counter(one, sets)
    if problem:
        return Pool(driver, name, State.INVALID, problem)
    return _placed(Pool(driver, name, State.READY, elsewhere=tuple(_elsewhere(others)), counter_sets=sets), slices)


def _elsewhere(slices: Iterable[Slice]) -> Iterator[tuple[DeviceId, Offer]]:
    for one in slices:
        for offer in one.offers:
            yield DeviceId(one.driver, one.pool, offer.name), offer


def _repeated(what: str, names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return f"{what} {name} is there twice"
        seen.add(name)
    return ""


def _unknown_counter(one: Slice, sets: tuple[Counters, ...]) -> str:
    known = {counters.set_name: {name for name, _ in counters.amounts} for counters in sets}
    for offer in one.offers:
        for draw in offer.draws:
            if draw.set_name not in known:
                return f"device {offer.name} draws from counter set {draw.set_name}, which the pool does not have"
            for name, _ in draw.amounts:
                if name not in known[draw.set_name]:
                    return f"device {offer.name} draws counter {name}, which set {draw.set_name} does not have"
    return ""
