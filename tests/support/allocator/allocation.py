"""Which devices of one node serve the claims of a pod: the choice Kubernetes' own allocator makes.

`allocate` is the one way in. The answer is the allocator's first complete solution, not merely one that fits: pools
by driver and name, slices by name, devices as listed, requests in order, the devices of one request at rising places,
and the first of the alternatives that leads to the end. What the allocator's books forget while it goes back
(`counters`, `agreement`, `books`) is forgotten here too, since it changes what is found.

Source: k8s.io/dynamic-resource-allocation v0.36.2, structured allocator (incubating), and how v0.34.0, v0.35.0 and
v0.37.2 differ (`profiles`); checked against all four by the conformance suite. Known divergences: the allocator runs
until the scheduler's time is up, this one STEPS_MAX steps; a shared device's share id, which is random there, is left
out; and an amount of capacity that Go keeps in its big form (1.5Gi, but not 1536Mi) is overwritten there while it is
compared, so that it grows, and keeps its value here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from modelplane.errors import InvalidInput
from modelplane.units import Quantity
from tests.support.allocator import agreement, books, demands, nodes, pools, sharing, shortfall
from tests.support.allocator.books import Books
from tests.support.allocator.claims import DEVICES_MAX, Allocated, Claim, DeviceClass, Use
from tests.support.allocator.demands import Demand, Site, Wish
from tests.support.allocator.pools import Place, Pool, State
from tests.support.allocator.profiles import V1_36, Profile
from tests.support.allocator.slices import DeviceId, Node, NodeSelector, Requirement, Slice, Term
from tests.support.allocator.verdicts import (
    Abort,
    Aborted,
    AbortKind,
    Allocation,
    Assigned,
    ClaimAllocation,
    Unschedulable,
    Verdict,
)

__all__ = ["Abort", "Allocation", "Inventory", "Unschedulable", "Verdict", "allocate"]

STEPS_MAX = 200_000
"""Devices that are tried before the search gives up."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a cluster offers one node: its slices and classes, and what is in use already."""

    node: Node
    slices: tuple[Slice, ...]
    classes: tuple[DeviceClass, ...]
    allocated: Allocated = field(default_factory=Allocated)


def allocate(inventory: Inventory, claims: Iterable[Claim], profile: Profile = V1_36) -> Verdict:
    """Return the devices of every claim, or why there are none.

    Cost: exponential in the worst case, as the allocator's; bounded by STEPS_MAX.
    """
    wanted = tuple(claims)
    try:
        site = _site(inventory, profile)
        search = _Search(site, wanted, inventory.allocated)
        if search.run():
            return Allocation(
                tuple(_result(claim, picks, site) for claim, picks in zip(wanted, search.picks, strict=True))
            )
    except Aborted as error:
        return error.abort
    for pool in site.pools:
        if pool.state is State.INVALID and profile.waits_for_pools:
            return Unschedulable(f"pool {pool} is invalid: {pool.problem}; its driver has to publish it anew")
    return Unschedulable(search.shortfall())


def _site(inventory: Inventory, profile: Profile) -> Site:
    try:
        gathered = pools.gather(inventory.slices, inventory.node, profile)
    except InvalidInput as error:
        raise Aborted(AbortKind.NODE_SELECTOR, error.message) from None
    held: dict[DeviceId, dict[str, int]] = {}
    for use in inventory.allocated.shared:
        books.enter(held, use)
    classes = {one.name: one for one in inventory.classes}
    return Site(inventory.node, gathered, classes, profile, held)


class _TooManyDevices(Exception):
    """Ends a branch whose claim would hold more devices than it can, up to the last choice of an alternative."""


@dataclass(frozen=True, slots=True, eq=False)
class _Pick:
    """A device and what `_put_back` has to know: whether counters were drawn for it and it was shared before."""

    place: Place
    assigned: Assigned
    drew: bool
    was_shared: bool


class _Search:
    """The search over claims, requests, alternatives and devices."""

    def __init__(self, site: Site, claims: tuple[Claim, ...], allocated: Allocated) -> None:
        self._site = site
        self._claims = claims
        self._wishes: tuple[tuple[Wish, ...], ...] = demands.wishes(claims, site)
        served, self._barrier = _served(site)
        self._places = [place for pool in served for place in pool.places]
        rule = site.profile.distinct
        self._agreements = [
            [agreement.of(one, rule, narrows=site.profile.narrows) for one in claim.constraints] for claim in claims
        ]
        self._books = Books(allocated, site.held, undoes=site.profile.undoes)
        self._steps = STEPS_MAX
        self._missing = shortfall.Record()
        self.picks: tuple[list[_Pick], ...] = tuple([] for _ in claims)

    def run(self) -> bool:
        """Return whether there is a solution; `picks` holds it.

        Raises: Aborted.
        """
        try:
            return self._request(0, 0) if self._claims else True
        except _TooManyDevices:
            text = f"claim {self._claims[0].name} would hold more than {DEVICES_MAX} devices, whatever is chosen"
            raise Aborted(AbortKind.TOO_MANY_DEVICES, text) from None

    def shortfall(self) -> str:
        """Return what the search lacked where it came furthest."""
        if self._steps <= 0:
            return f"no devices found in {STEPS_MAX} steps on node {self._site.node.name}; ask with fewer constraints"
        return self._missing.text(self._site.node.name, [claim.name for claim in self._claims])

    def _request(self, claim: int, index: int) -> bool:
        """Return whether all requests from the given one on, and all further claims, are served."""
        if index == len(self._wishes[claim]):
            try:
                return claim + 1 == len(self._wishes) or self._request(claim + 1, 0)
            except _TooManyDevices:
                return False  # another choice for this claim may leave the next one with fewer
        wish = self._wishes[claim][index]
        if not wish.is_prioritized:
            return self._devices(wish.demands[0], (claim, index + 1), 0, 0)
        all_too_many = True
        for demand in wish.demands:
            try:
                if self._devices(demand, (claim, index + 1), 0, 0):
                    return True
            except _TooManyDevices:
                continue
            all_too_many = False
        if all_too_many:
            raise _TooManyDevices
        return False

    def _devices(self, demand: Demand, after: tuple[int, int], number: int, start: int) -> bool:
        """Return whether the demand gets its devices from `number` on, at places from `start` on, and all after it."""
        if demand.every is not None and not demand.every:
            self._missing.note(demand, 0, shortfall.NONE_MEANT)
            return False
        if number >= demand.count:
            return self._request(*after)
        if len(self.picks[demand.claim]) + demand.count - number > DEVICES_MAX:
            self._missing.note(demand, number, shortfall.TOO_MANY)
            raise _TooManyDevices
        if demand.every is not None:
            following = demand if self._site.profile.keeps_alternative else self._first_of(demand)
            return self._take(demand, demand.every[number]) and self._go_on(demand, after, number + 1, 0, following)
        self._missing.begin(demand, number)
        for position in range(start, len(self._places)):
            if self._steps <= 0:
                return False
            place = self._places[position]
            if not self._offers(demand, place, number) or not self._take(demand, place):
                continue
            if self._go_on(demand, after, number + 1, position + 1, demand):
                return True
        if self._barrier is not None:
            text = f"pool {self._barrier} is invalid: {self._barrier.problem}; its driver has to publish it anew"
            raise Aborted(AbortKind.INVALID_POOL, text)
        return False

    def _first_of(self, demand: Demand) -> Demand:
        """Return the first alternative of the same request, which versions before 1.36 go on with by mistake."""
        return self._wishes[demand.claim][demand.position].demands[0]

    def _go_on(self, demand: Demand, after: tuple[int, int], number: int, start: int, following: Demand) -> bool:
        """Return whether the rest is served beside the device just taken; it is put back otherwise."""
        try:
            done = self._devices(following, after, number, start)
        except _TooManyDevices:
            self._put_back(demand)
            raise
        if not done:
            self._put_back(demand)
        return done

    def _offers(self, demand: Demand, place: Place, number: int) -> bool:
        """Return whether the device is free for the demand, is meant by it, and has the capacity."""
        if self._books.is_taken(place.device, demand):
            self._missing.note(demand, number, shortfall.IN_USE)
            return False
        if not demands.is_meant(demand, place, self._site):
            self._missing.note(demand, number, shortfall.NOT_MEANT)
            return False
        if not demands.has_room(demand, place, self._books.taking(place.device), self._site):
            self._missing.note(demand, number, shortfall.NO_CAPACITY)
            return False
        return True

    def _take(self, demand: Demand, place: Place) -> bool:
        """Return whether the device is taken.

        Before 1.37, of a device that is refused half-way, the counters stay drawn; and where capacity is what is
        missing at the end (only where all devices are wanted) the constraints and the books keep it too. Raises:
        Aborted where all devices are wanted and a constraint forbids one.
        """
        self._steps -= 1
        offer, profile = place.offer, self._site.profile
        shared = profile.consumable_capacity and offer.kind.allow_multiple_allocations
        if self._is_taken(demand, place, shared=shared):
            return self._refused(demand, shortfall.IN_USE)
        if offer.draws and not profile.partitionable:
            return self._refused(demand, shortfall.NOT_MEANT)
        was_shared = shared and self._books.is_shared_already(place.device)
        drew = bool(offer.draws) and not was_shared
        if drew and not self._books.counters.draw(place):
            return self._refused(demand, shortfall.NO_COUNTERS)
        why = self._objection(demand, place)
        if why:
            if drew and profile.undoes:
                self._books.counters.give_back(place)
            return self._refused(demand, why)
        use = Use(place.device, self._consumed(demand, place) if shared else ())
        if shared:
            self._books.share(use)
        else:
            self._books.take(place.device, demand.claim)
        assigned = _assigned(demand, place, use, shared=shared)
        if not profile.reports_tolerations:
            assigned = replace(assigned, tolerations=())
        self.picks[demand.claim].append(_Pick(place, assigned, drew, was_shared))
        return True

    def _objection(self, demand: Demand, place: Place) -> str:
        """Return why a device that is free, and whose counters are there, is not taken; nothing when it is."""
        profile = self._site.profile
        if profile.taints and _is_kept_away(demand, place):
            return shortfall.TAINTED
        if not self._agrees(demand, place):
            return shortfall.DISAGREES
        if demands.has_room(demand, place, self._books.taking(place.device), self._site):
            return ""
        if profile.undoes:
            for one in self._agreements[demand.claim]:
                one.dismiss(demand.names)
        elif not (profile.consumable_capacity and place.offer.kind.allow_multiple_allocations):
            self._books.take(place.device, demand.claim)
        return shortfall.NO_CAPACITY

    def _is_taken(self, demand: Demand, place: Place, *, shared: bool) -> bool:
        return not (shared and demand.is_admin) and self._books.is_taken(place.device, demand)

    def _refused(self, demand: Demand, why: str) -> bool:
        number = sum(pick.assigned.request == demand.name for pick in self.picks[demand.claim])
        self._missing.note(demand, number, why)
        return False

    def _agrees(self, demand: Demand, place: Place) -> bool:
        kept = self._agreements[demand.claim]
        for position, one in enumerate(kept):
            if one.admit(demand.names, place.offer.kind):
                continue
            if demand.every is not None:
                name = self._claims[demand.claim].name
                text = f"claim {name}, request {demand.name}: wants all devices and {place.device} breaks a constraint"
                raise Aborted(AbortKind.CONSTRAINT_OF_ALL, text)
            for earlier in kept[:position]:
                earlier.dismiss(demand.names)
            return False
        return True

    def _consumed(self, demand: Demand, place: Place) -> tuple[tuple[str, Quantity], ...]:
        exact = self._site.profile.exact_ranges
        return sharing.taken(place.offer, demand.request.capacity or (), exact=exact) or ()

    def _put_back(self, demand: Demand) -> None:
        """Undo the last `_take`. Before 1.37, what a shared device drew from counters stays drawn."""
        pick = self.picks[demand.claim].pop()
        place, undoes = pick.place, self._site.profile.undoes
        for one in self._agreements[demand.claim]:
            one.dismiss(demand.names)
        if pick.assigned.shared:
            self._books.unshare(Use(place.device, pick.assigned.consumed), keeps=undoes and pick.was_shared)
        else:
            self._books.put_back(place.device, demand.claim)
        if pick.drew and (undoes or not pick.assigned.shared):
            self._books.counters.give_back(place)


def _served(site: Site) -> tuple[list[Pool], Pool | None]:
    """Return the pools that serve devices, and the one, where there is one, at which the search ends for good."""
    if site.profile.waits_for_pools:
        return [pool for pool in site.pools if pool.state is State.READY], None
    served: list[Pool] = []
    for pool in site.pools:
        if pool.state is State.INVALID:
            return served, pool
        served.append(pool)
    return served, None


def _is_kept_away(demand: Demand, place: Place) -> bool:
    return any(
        taint.effect in ("NoSchedule", "NoExecute")
        and not any(one.tolerates(taint) for one in demand.request.tolerations)
        for taint in place.offer.taints
    )


def _assigned(demand: Demand, place: Place, use: Use, *, shared: bool) -> Assigned:
    return Assigned(
        request=demand.name,
        device=place.device,
        shared=shared,
        consumed=use.consumed,
        admin_access=demand.is_admin,
        tolerations=demand.request.tolerations,
        binding_conditions=place.offer.binding_conditions,
        binding_failure_conditions=place.offer.binding_failure_conditions,
    )


def _result(claim: Claim, picks: list[_Pick], site: Site) -> ClaimAllocation:
    return ClaimAllocation(
        claim.name,
        tuple(pick.assigned for pick in picks),
        _selector([pick.place for pick in picks], site),
    )


def _selector(places: list[Place], site: Site) -> NodeSelector | None:
    """Return which nodes can use all the devices, None for every node."""
    node = site.node
    expressions: list[Requirement] = []
    fields: list[Requirement] = []
    for place in places:
        reach = place.offer.reach if place.slice.per_device_reach else place.slice.reach
        if reach.node_name or (place.offer.binds_to_node and site.profile.names_bound_node):
            return (Term(fields=(Requirement(nodes.NAME_FIELD, "In", (node.name,)),)),)
        for term in reach.selector or ():
            _add(expressions, term.expressions)
            _add(fields, term.fields)
    return (Term(tuple(expressions), tuple(fields)),) if expressions or fields else None


def _add(known: list[Requirement], more: tuple[Requirement, ...]) -> None:
    for one in more:
        if not any((k.key, k.operator, set(k.values)) == (one.key, one.operator, set(one.values)) for k in known):
            known.append(one)
