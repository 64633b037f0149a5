"""What the claims of a pod ask for, made ready for the search: classes looked up, limits and features checked.

Source: k8s.io/dynamic-resource-allocation v0.36.2, structured allocator. Checks come in the allocator's order, since
the first that fails names the cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from modelplane.errors import InvalidInput
from tests.support.allocator import nodes, sharing
from tests.support.allocator.claims import (
    DEVICES_MAX,
    Claim,
    ClaimRequest,
    DeviceClass,
    DeviceRequest,
    FirstAvailable,
    Mode,
    Relation,
)
from tests.support.allocator.pools import Place, Pool, State
from tests.support.allocator.profiles import Distinct, Profile
from tests.support.allocator.selection import selected
from tests.support.allocator.slices import DeviceId, Node
from tests.support.allocator.verdicts import Aborted, AbortKind


@dataclass(frozen=True, slots=True)
class Site:
    """Where devices are looked for.

    `held` is what others hold of shared devices, in nano. `meant` remembers which device is meant by which alternative
    of which request of which claim.
    """

    node: Node
    pools: tuple[Pool, ...]
    classes: Mapping[str, DeviceClass]
    profile: Profile
    held: Mapping[DeviceId, Mapping[str, int]]
    meant: dict[tuple[int, int, int, DeviceId], bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """One request, or one alternative of it: how many devices, and which they are where all are wanted."""

    claim: int
    position: int
    alternative: int
    request: DeviceRequest
    parent: str
    owners: tuple[tuple[str, tuple[str, ...]], ...]
    count: int
    every: tuple[Place, ...] | None = None

    @property
    def name(self) -> str:
        """How results and constraints call it."""
        return f"{self.parent}/{self.request.name}" if self.parent else self.request.name

    @property
    def names(self) -> tuple[str, str]:
        """The request, and the alternative where there are several."""
        return (self.parent, self.request.name) if self.parent else (self.request.name, "")

    @property
    def is_admin(self) -> bool:
        """Whether it may look at devices that others use."""
        return bool(self.request.admin_access)


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """The demands of one request, of which one has to be met; `is_prioritized` when there was a choice."""

    demands: tuple[Demand, ...]
    is_prioritized: bool

    @property
    def fewest(self) -> int:
        """The devices it takes at least."""
        return min(demand.count for demand in self.demands)


def wishes(claims: tuple[Claim, ...], site: Site) -> tuple[tuple[Wish, ...], ...]:
    """Return the wishes of each claim.

    Raises: Aborted with the claim's or the class's fault.
    """
    found = []
    for index, claim in enumerate(claims):
        of_claim: list[Wish] = []
        for position in range(len(claim.requests)):
            of_claim.append(_wish((index, position), claim, site))
            if site.profile.undoes:  # which counts as it goes, so that a later request's fault is not met
                _check_count(claim, of_claim)
        _check_count(claim, of_claim)
        _check_constraints(claim, site.profile)
        found.append(tuple(of_claim))
    site.meant.clear()  # what was remembered for the wrong alternative (`_every`) is not kept for the search
    return tuple(found)


def _check_count(claim: Claim, wishes: Iterable[Wish]) -> None:
    least = sum(wish.fewest for wish in wishes)
    if least > DEVICES_MAX:
        text = f"claim {claim.name} asks for {least} devices, a claim can hold {DEVICES_MAX}"
        raise Aborted(AbortKind.TOO_MANY_DEVICES, text)


def _wish(place: tuple[int, int], claim: Claim, site: Site) -> Wish:
    request: ClaimRequest = claim.requests[place[1]]
    alternatives = request.alternatives if isinstance(request, FirstAvailable) else (request,)
    parent = request.name if isinstance(request, FirstAvailable) else ""
    if parent and not site.profile.first_available:
        text = f"claim {claim.name}, request {parent}: firstAvailable is off in this version of Kubernetes"
        raise Aborted(AbortKind.FEATURE_OFF, text)
    if site.profile.refuses_capacity and any(one.capacity is not None for one in alternatives):
        text = f"claim {claim.name}, request {request.name}: amounts of capacity are off in this version of Kubernetes"
        raise Aborted(AbortKind.FEATURE_OFF, text)
    demands = tuple(
        _demand((*place, number), f"claim {claim.name}", one, parent, site) for number, one in enumerate(alternatives)
    )
    return Wish(demands, bool(parent))


def _demand(place: tuple[int, int, int], claim: str, request: DeviceRequest, parent: str, site: Site) -> Demand:
    subject = f"{claim}, request {request.name}"
    if request.admin_access is not None and not site.profile.admin_access:
        raise Aborted(AbortKind.FEATURE_OFF, f"{subject}: admin access is off in this version of Kubernetes")
    chosen = site.classes.get(request.device_class)
    if chosen is None:
        text = f"{subject}: there is no DeviceClass {request.device_class!r}; create it or name another"
        raise Aborted(AbortKind.UNKNOWN_CLASS, text)
    owners = ((f"class {chosen.name}", chosen.selectors), (subject, request.selectors))
    demand = Demand(*place, request, parent, owners, request.count)
    if request.mode is Mode.EXACT_COUNT:
        return demand
    every = _every(demand, subject, site)
    return Demand(*place, request, parent, owners, len(every), every)


def _every(demand: Demand, subject: str, site: Site) -> tuple[Place, ...]:
    """Return all devices the request means and could ever have, in use or not."""
    found = []
    # Before 1.36 what is meant by an alternative and by the one before it is remembered as one.
    named = demand if site.profile.keeps_alternative else replace(demand, alternative=max(0, demand.alternative - 1))
    for pool in site.pools:
        if pool.state is not State.READY:
            text = f"{subject} wants all devices, and pool {pool} is {pool.state}: {pool.problem}"
            raise Aborted(AbortKind.POOL_NOT_READY, text)
        for place in pool.places:
            if is_meant(named, place, site) and _could_serve(demand, place, site):
                found.append(place)
    return tuple(found)


def _could_serve(demand: Demand, place: Place, site: Site) -> bool:
    """Return whether the device has the capacity asked for; before 1.37 only one that others left enough of counts."""
    if site.profile.undoes:
        return _fits(demand, place, {}, site)
    return has_room(demand, place, {}, site)


def _check_constraints(claim: Claim, profile: Profile) -> None:
    for constraint in claim.constraints:
        if constraint.relation is Relation.DISTINCT and profile.distinct is Distinct.REFUSED:
            text = f"claim {claim.name}: distinctAttribute is off in this version of Kubernetes"
            raise Aborted(AbortKind.FEATURE_OFF, text)


def is_meant(demand: Demand, place: Place, site: Site) -> bool:
    """Return whether the device is one the request asks for, whoever uses it.

    Raises: Aborted for a selector that fails or a node selector that cannot be read.
    """
    if place.offer.needs_binding and not site.profile.binding_conditions:
        return False
    key = (demand.claim, demand.position, demand.alternative, place.device)
    known = site.meant.get(key)
    if known is None:
        known = site.meant[key] = _is_selected(demand, place, site)
    return known


def _is_selected(demand: Demand, place: Place, site: Site) -> bool:
    offer = place.offer
    kind, language = offer.kind, site.profile.language
    if kind.allow_multiple_allocations and not site.profile.shows_sharing:
        kind = replace(kind, allow_multiple_allocations=False)  # unknown there, so selectors read its default
    if not all(selected(owner, selectors, kind, language) for owner, selectors in demand.owners):
        return False
    if not place.slice.per_device_reach:
        return True
    try:
        return nodes.reaches(offer.reach, site.node)
    except InvalidInput as error:
        raise Aborted(AbortKind.NODE_SELECTOR, f"device {place.device}: {error.message}") from None


def has_room(demand: Demand, place: Place, taking: sharing.Amounts, site: Site) -> bool:
    """Return whether the capacity asked for is there beside what others hold and what is being taken."""
    if not site.profile.consumable_capacity:
        return True
    held = site.held.get(place.device, {})
    if taking:
        held = {name: held.get(name, 0) + taking.get(name, 0) for name in {*held, *taking}}
    return _fits(demand, place, held, site)


def _fits(demand: Demand, place: Place, held: sharing.Amounts, site: Site) -> bool:
    if not site.profile.consumable_capacity:
        return True
    try:
        return sharing.fits(place.offer, demand.request.capacity or (), held, exact=site.profile.exact_ranges)
    except InvalidInput as error:
        raise Aborted(AbortKind.CAPACITY, f"request {demand.name}, device {place.device}: {error.message}") from None
