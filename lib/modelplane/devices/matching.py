"""Matching of the requests of one pod with the devices of one node.

The search follows the allocator of Kubernetes. It takes requests in order, devices by driver and in listed order, and
selectors in order up to the first that is false. It evaluates a selector only when it reaches it, and a CEL error ends
the whole claim. Parts of one physical device exclude each other (`partitions`). Unlike the allocator, the search also
chooses the DeviceClass of each request: it is that of the bound device. A DeviceClass is assumed to select exactly the
devices that name it.

The search is bounded in steps, not in seconds, so that the same input has the same answer everywhere. A search that
reaches its limit without an option returns `MissKind.UNDECIDED`, which a caller treats as a no and reports.

Source: k8s.io/dynamic-resource-allocation v0.36.2, structured allocator. Known divergence: one kind of device serves a
request, while the allocator may mix kinds of one DeviceClass. Such a node is refused and never over-committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, product
from typing import TypeAlias

from kubecel import caches
from modelplane import interruption
from modelplane.devices import partitions, physical, selector, supply
from modelplane.devices.hints import advice
from modelplane.devices.model import Attribute, Claim, Constraint, Device, NodeClass, Request
from modelplane.devices.selector import Outcome

OPTIONS_MAX = 16
"""Limit of the options of a node; only classes with many similar kinds have more."""
COMBINATIONS_MAX = 256
"""Limit of the combinations of DeviceClasses for the requests."""
STEPS_MAX = 4096
"""Limit of the steps in all combinations together, about 0.1 s; 0.5 s where each step is checked by `supply`."""
WANTED_SHOWN = 8
"""Limit of the requests that a message lists."""

Group: TypeAlias = tuple[int, ...]
"""Indexes of the kinds of one DeviceClass, in the order of the allocator."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The outcome of all selectors, and for an ABORT the selector that failed and its error."""

    outcome: Outcome
    expression: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Pick:
    """One request bound to one kind of device."""

    request: str
    device: str
    count: int


@dataclass(frozen=True, slots=True)
class Option:
    """A way to serve a pod.

    `picks` has one entry per request, in order. `counted` are its devices by name, without Synthetic ones.
    """

    picks: tuple[Pick, ...]
    counted: tuple[tuple[str, int], ...]


class MissKind(StrEnum):
    """The kind of reason why even an empty node of a class cannot serve a pod."""

    SELECTOR_ERROR = "selector error"
    NO_MATCH = "no match"
    TOO_FEW = "too few"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Miss:
    """The reason why no option exists. `request` is empty when several requests together cause it."""

    kind: MissKind
    request: str
    detail: str


@dataclass(frozen=True, slots=True)
class Match:
    """The options in the order of the allocator, or the reason why there is none."""

    options: tuple[Option, ...]
    miss: Miss | None = None


def check(requests: tuple[Request, ...]) -> None:
    """Check that every selector compiles.

    Raises: InvalidSelector (the author's fault).
    """
    for request in requests:
        for expression in request.selectors:
            selector.compile(expression)


@caches.kept(65_536)
def answer(selectors: tuple[str, ...], device: Device) -> Selected:
    """Return the outcome of the selectors on one device. Cost: once per distinct (selectors, device) and process.

    Raises: InvalidSelector (the author's fault).
    """
    for expression in selectors:
        interruption.checkpoint()
        verdict = selector.compile(expression).evaluate(device)
        if verdict.aborts:
            return Selected(Outcome.ABORT, expression, verdict.cause)
        if not verdict.matches:
            return Selected(Outcome.NO_MATCH, expression)
    return Selected(Outcome.MATCH)


@caches.kept(8192)
def match(node_class: NodeClass, requests: tuple[Request, ...], constraints: tuple[Constraint, ...] = ()) -> Match:
    """Return the options of an empty node of the class for one pod.

    Raises: InvalidSelector (the author's fault).
    """
    kinds = node_class.devices
    groups = _groups(kinds)
    eligible = []
    for request in requests:
        serving = [group for group in groups if any(_outcome(request, kinds[i]) is Outcome.MATCH for i in group)]
        if not serving:
            return Match((), _unmatched(request, groups, kinds))
        if all(kinds[i].count < request.count for group in serving for i in group if _serves(request, kinds[i])):
            return Match((), _too_few(request, serving, kinds))
        eligible.append(serving)
    return _searched(node_class, requests, constraints, eligible)


def _searched(
    node_class: NodeClass,
    requests: tuple[Request, ...],
    constraints: tuple[Constraint, ...],
    eligible: list[list[Group]],
) -> Match:
    """Return what the search over every choice of DeviceClasses finds, as far as its bounds let it look."""
    options: dict[tuple[tuple[str, int], ...], Option] = {}
    aborted: Miss | None = None
    steps = Steps(STEPS_MAX)
    for number, combination in enumerate(product(*eligible)):
        if number == COMBINATIONS_MAX or steps.is_over:
            steps.is_over = True
            break
        claim = _Claim(node_class, requests, constraints, combination, steps)
        for option in islice(claim.options(), OPTIONS_MAX):
            options.setdefault(option.counted, option)
        aborted = aborted or claim.aborted
    if options:
        return Match(tuple(options.values())[:OPTIONS_MAX])
    if aborted is None and steps.is_over:
        return Match((), _undecided(requests))
    return Match((), aborted or _unserved(node_class, requests, constraints))


def _groups(kinds: tuple[Device, ...]) -> tuple[Group, ...]:
    """Return the kinds by what a claim can name.

    A DeviceClass, an extended resource, or (Synthetic) nothing but the kind itself.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for index, kind in enumerate(kinds):
        named = {Claim.DRA: kind.device_class, Claim.DEVICE_PLUGIN: kind.resource_name, Claim.SYNTHETIC: kind.name}
        groups.setdefault((kind.claim, named[kind.claim]), []).append(index)
    return tuple(tuple(sorted(group, key=lambda i: (kinds[i].driver, i))) for group in groups.values())


def _outcome(request: Request, kind: Device) -> Outcome:
    return answer(request.selectors, kind).outcome


def _serves(request: Request, kind: Device) -> bool:
    return _outcome(request, kind) is Outcome.MATCH


class _Aborted(Exception):
    """The abort of the allocator inside the search; it never leaves this module."""

    def __init__(self, request: Request, kind: Device) -> None:
        super().__init__(request.name)
        self.miss = _failure(request, kind)


class Steps:
    """The remaining steps of one search. `is_over` is True after a step was taken and none was left."""

    def __init__(self, most: int) -> None:
        self._left = most
        self.is_over = False

    def take(self) -> bool:
        """Take a step and return whether one was left."""
        interruption.checkpoint()
        self._left -= 1
        self.is_over |= self._left < 0
        return not self.is_over


class _Claim:
    """The allocator's search for one claim whose DeviceClasses are fixed.

    From the first dead end on, a choice is followed only where the requests after it could be met if nothing but
    numbers counted (`supply`). That changes no answer and leaves no dead ends where all requests want equally many, so
    the search is then as long as the claim. It is not asked where a device may abort, since the allocator could come to
    that in what would be left out.
    """

    def __init__(
        self,
        node_class: NodeClass,
        requests: tuple[Request, ...],
        constraints: tuple[Constraint, ...],
        groups: tuple[Group, ...],
        steps: Steps,
    ) -> None:
        self._kinds = node_class.devices
        self._families = physical.of(node_class)
        self._requests = requests
        self._constraints = constraints
        self._groups = groups
        self._seen: set[tuple[int, tuple[int, ...], tuple[Attribute | None, ...]]] = set()
        self._steps = steps
        self._wants: tuple[supply.Want, ...] | None = None
        self._met_dead_end = False
        self.aborted: Miss | None = None

    def options(self) -> Iterator[Option]:
        """Return each way to serve the claim, the allocator's own first, up to the first device that would abort it."""
        free = tuple(kind.count for kind in self._kinds)
        try:
            for chosen in self._choose(0, free, (None,) * len(self._constraints)):
                yield self._option(chosen)
        except _Aborted as abort:
            self.aborted = abort.miss

    def _choose(
        self, position: int, free: tuple[int, ...], shared: tuple[Attribute | None, ...]
    ) -> Iterator[tuple[int, ...]]:
        if position == len(self._requests):
            yield ()
            return
        if (position, free, shared) in self._seen:
            return
        self._seen.add((position, free, shared))
        if self._met_dead_end and not self._can_be_met(position, free):
            return
        found = False
        for index, rest, values in self._next(position, free, shared):
            for tail in self._choose(position + 1, rest, values):
                found = True
                yield (index, *tail)
        self._met_dead_end |= not found

    def _next(
        self, position: int, free: tuple[int, ...], shared: tuple[Attribute | None, ...]
    ) -> Iterator[tuple[int, tuple[int, ...], tuple[Attribute | None, ...]]]:
        """Yield each kind that serves a request, with what is then free and bound, in the allocator's order."""
        request = self._requests[position]
        for index in self._groups[position]:
            if not free[index]:
                continue
            if not self._steps.take():
                return
            outcome = _outcome(request, self._kinds[index])
            if outcome is Outcome.ABORT:
                raise _Aborted(request, self._kinds[index])
            values = self._shared(request, self._kinds[index], shared)
            if outcome is Outcome.NO_MATCH or free[index] < request.count or values is None:
                continue
            rest = (*free[:index], free[index] - request.count, *free[index + 1 :])
            if self._is_held(rest):
                yield index, rest, values

    def _can_be_met(self, position: int, free: tuple[int, ...]) -> bool:
        """Return whether the requests from `position` on find enough devices, each of its own kinds, by number."""
        if self._wants is None:
            self._wants = self._numbers()
        return not self._wants or supply.suffices(free, self._wants[position:])

    def _numbers(self) -> tuple[supply.Want, ...]:
        """Return what each request wants of which kinds; nothing where a device may abort."""
        wants = []
        for request, group in zip(self._requests, self._groups, strict=True):
            outcomes = {index: _outcome(request, self._kinds[index]) for index in group}
            if Outcome.ABORT in outcomes.values():
                return ()
            serving = tuple(index for index, outcome in outcomes.items() if outcome is Outcome.MATCH)
            wants.append(supply.Want(request.count, serving))
        return tuple(wants)

    def _is_held(self, free: tuple[int, ...]) -> bool:
        """Return whether the physical devices can be parted into what is taken; what is not decided counts as no."""
        try:
            return all(
                partitions.holds(family, tuple(self._kinds[kind].count - free[kind] for kind in family.kinds))
                for family in self._families
            )
        except partitions.Undecided:
            return False

    def _shared(
        self, request: Request, kind: Device, shared: tuple[Attribute | None, ...]
    ) -> tuple[Attribute | None, ...] | None:
        """Return the values the constraints are bound to once `kind` serves the request, None where it breaks one."""
        values = list(shared)
        for position, constraint in enumerate(self._constraints):
            if constraint.requests and request.name not in constraint.requests:
                continue
            value = kind.attribute(constraint.match_attribute)
            if value is None or values[position] not in (None, value):
                return None
            values[position] = value
        return tuple(values)

    def _option(self, chosen: tuple[int, ...]) -> Option:
        counted: dict[str, int] = {}
        picks = []
        for request, index in zip(self._requests, chosen, strict=True):
            kind = self._kinds[index]
            picks.append(Pick(request.name, kind.name, request.count))
            if kind.claim is not Claim.SYNTHETIC:
                counted[kind.name] = counted.get(kind.name, 0) + request.count
        return Option(tuple(picks), tuple(sorted(counted.items())))


def rivals(selectors: tuple[str, ...], device: Device, node_class: NodeClass) -> tuple[Device, ...]:
    """Return the other matching kinds of the node in the same DeviceClass, which a claim for the device may get."""
    return tuple(
        other
        for other in node_class.devices
        if other is not device
        and (other.claim, other.device_class) == (Claim.DRA, device.device_class)
        and answer(selectors, other).outcome is Outcome.MATCH
    )


def _unmatched(request: Request, groups: tuple[Group, ...], kinds: tuple[Device, ...]) -> Miss:
    """Return why no device serves the request by its selectors.

    An error counts when it happened on devices the selectors are about: those whose driver they name, or all when
    they name none.
    """
    text = " ".join(request.selectors)
    named = [group for group in groups if any(kinds[i].driver in text for i in group)]
    for group in named or groups:
        for index in group:
            if _outcome(request, kinds[index]) is Outcome.ABORT:
                return _failure(request, kinds[index])
    return Miss(MissKind.NO_MATCH, request.name, f'no device matches request "{request.name}"')


def _failure(request: Request, kind: Device) -> Miss:
    found = answer(request.selectors, kind)
    detail = f'selector of request "{request.name}" fails on {kind.name}: {found.cause}, in {found.expression}'
    meant = advice.of_names((found.expression,), kind)
    if meant:
        detail = f"{detail}; {meant}"
    return Miss(MissKind.SELECTOR_ERROR, request.name, detail)


def _too_few(request: Request, serving: list[Group], kinds: tuple[Device, ...]) -> Miss:
    """Return why no kind of device has enough for the request.

    The allocator goes on to the next one, which may abort.
    """
    for group in serving:
        for index in group:
            if _outcome(request, kinds[index]) is Outcome.ABORT:
                return _failure(request, kinds[index])
    counts = [f"{kinds[i].count} {kinds[i].name}" for group in serving for i in group if _serves(request, kinds[i])]
    have = ", ".join(counts)
    detail = f'request "{request.name}" wants {request.count} devices on one node, which has {have}'
    return Miss(MissKind.TOO_FEW, request.name, detail)


def _unserved(node_class: NodeClass, requests: tuple[Request, ...], constraints: tuple[Constraint, ...]) -> Miss:
    """Return why requests that each have enough matching devices find no place on one node together."""
    if constraints and match(node_class, requests).options:
        names = ", ".join(sorted(constraint.match_attribute for constraint in constraints))
        return Miss(MissKind.NO_MATCH, "", f"no devices of one node agree on {names}")
    return Miss(MissKind.TOO_FEW, "", f"one node cannot serve {_wanted(requests)} together")


def _undecided(requests: tuple[Request, ...]) -> Miss:
    """Return that the search ended at its bound."""
    detail = (
        f"the search for one node that serves {_wanted(requests)} together was undecided after {STEPS_MAX} steps; use "
        "fewer requests, or selectors that match fewer kinds of device"
    )
    return Miss(MissKind.UNDECIDED, "", detail)


def _wanted(requests: tuple[Request, ...]) -> str:
    shown = ", ".join(f"{request.name} x {request.count}" for request in requests[:WANTED_SHOWN])
    return shown if len(requests) <= WANTED_SHOWN else f"{shown} and {len(requests) - WANTED_SHOWN} more"
