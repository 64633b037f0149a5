"""Matching of the requests of one pod with the devices of one node.

The search follows the allocator of Kubernetes. It takes requests in order, devices by driver and in listed order, and
selectors in order up to the first that is false. It evaluates a selector only when it reaches it, and a CEL error ends
the whole claim. Parts of one physical device exclude each other (`partitions`). Unlike the allocator, the search also
chooses the DeviceClass of each request: it is that of the bound device. A DeviceClass is assumed to select exactly the
devices that name it.

If no single kind has enough devices for a request, several kinds of one DeviceClass serve it together, provided that
published values distinguish them. Each kind then is a request of its own in the claim, pinned to the kind, so that the
cluster allocates what is counted here. An alternative is pinned in the same way: the counted one is rendered.

Of a device that pods share an allocation takes a part of the capacity (`sharing`). A request takes parts of as many
devices as it counts, all of one kind, and no other request of the pod takes parts of that kind.

The search is bounded in steps, not in seconds, so that the same input has the same answer everywhere. A search that
reaches its limit without an option returns `MissKind.UNDECIDED`, which a caller treats as a no and reports.

Source: k8s.io/dynamic-resource-allocation v0.36.2, structured allocator. Known divergence: if one kind has enough
devices, the allocator may still mix kinds on a node that is partly in use. Such a node is refused and never
over-committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from typing import Any

from kubecel import caches
from modelplane import words
from modelplane.devices import outcomes, selector, versions
from modelplane.devices.claim_search import CLAIM_MAX, ClaimSearch, Group, Question, Steps
from modelplane.devices.model import Claim, Constraint, Device, Mode, NodeClass, Relation, Request
from modelplane.devices.outcomes import Match, Miss, MissKind, Option, Pick, Selected, answer
from modelplane.devices.selector import Outcome

__all__ = ["Match", "Miss", "MissKind", "Option", "Pick", "Selected", "answer", "check", "match"]

OPTIONS_MAX = 16
"""Limit of the options of a node; only classes with many similar kinds have more."""
COMBINATIONS_MAX = 256
"""Limit of the combinations of DeviceClasses for the requests."""
STEPS_MAX = 4096
"""Limit of the steps in all combinations together, about 0.1 s; 0.5 s where each step is checked by `supply`."""
CHOICES_MAX = 64
"""Limit of the choices of one alternative per request, among those that the class can serve one by one."""
RANKED_MAX = 64
"""Limit of the options of all choices of alternatives together."""
WANTED_SHOWN = 8
"""Limit of the requests that a message lists."""


def check(requests: tuple[Request, ...]) -> None:
    """Check that every selector compiles.

    Raises: InvalidSelector (the author's fault).
    """
    for request in requests:
        for one in request.each():
            for expression in one.selectors:
                selector.written(expression)


@caches.kept(8192)
def match(node_class: NodeClass, requests: tuple[Request, ...], constraints: tuple[Constraint, ...] = ()) -> Match:
    """Return how an empty node of the class serves one pod.

    Of requests with alternatives the options come by rank, those of the first alternatives first.
    Raises: InvalidSelector (the author's fault).
    """
    if any(request.alternatives for request in requests):
        return _ranked(node_class, requests, constraints)
    kinds = node_class.devices
    groups = _groups(kinds)
    eligible = []
    old = versions.lacking_of_all(constraints, node_class.kubernetes_minor)
    if old:
        return Match((), Miss(MissKind.KEPT_AWAY, "", old))
    for request in requests:
        old = versions.lacking(request, node_class)
        if old:
            return Match((), Miss(MissKind.KEPT_AWAY, request.name, f'request "{request.name}": {old}'))
        serving = _serving(request, groups, kinds)
        if not serving:
            return Match((), _unmatched(request, groups, kinds))
        if all(_number(request, group, kinds) < request.count for group in serving):
            return Match((), _too_few(request, serving, kinds))
        eligible.append(serving)
    question = Question(node_class, requests, constraints)
    found = _searched(question, eligible, mixes=False)
    if found.miss is None or found.miss.kind in (MissKind.SELECTOR_ERROR, MissKind.UNDECIDED):
        return found
    if _may_mix(eligible, kinds):
        mixed = _searched(question, eligible, mixes=True)
        miss = None if mixed.options else _unmixed(requests, eligible, kinds) or found.miss
        return Match(mixed.options, miss, found.steps + mixed.steps)
    return found


def _serving(request: Request, groups: tuple[Group, ...], kinds: tuple[Device, ...]) -> list[Group]:
    """Return the groups of which some kind serves the request. All of a DeviceClass is a matter of claims alone."""
    if request.mode is Mode.ALL:
        groups = tuple(group for group in groups if kinds[group[0]].claim is Claim.DRA)
    return [group for group in groups if any(outcomes.of(request, kinds[i]) is Outcome.MATCH for i in group)]


def _number(request: Request, group: Group, kinds: tuple[Device, ...]) -> int:
    """Return how many devices of a group one request can be served by: of one kind, of all where a claim may mix."""
    counts = [kinds[i].count for i in group if outcomes.of(request, kinds[i]) is Outcome.MATCH]
    return sum(counts) if kinds[group[0]].claim is Claim.DRA else max(counts)


def _may_mix(eligible: list[list[Group]], kinds: tuple[Device, ...]) -> bool:
    """Return whether some request finds several kinds in one DeviceClass."""
    return any(len(group) > 1 and kinds[group[0]].claim is Claim.DRA for serving in eligible for group in serving)


def _searched(question: Question, eligible: list[list[Group]], *, mixes: bool) -> Match:
    """Return what the search over every choice of DeviceClasses finds, as far as its bounds let it look."""
    options: dict[Any, Option] = {}
    aborted: Miss | None = None
    steps = Steps(STEPS_MAX)
    for number, combination in enumerate(product(*eligible)):
        if number == COMBINATIONS_MAX or steps.is_over:
            steps.is_over = True
            break
        search = ClaimSearch(question, combination, steps, mixes=mixes)
        for option in islice(search.options(), OPTIONS_MAX):
            options.setdefault(option.takes, option)
        aborted = aborted or search.aborted
    if options:
        return Match(tuple(options.values())[:OPTIONS_MAX], steps=steps.taken)
    if aborted is None and steps.is_over:
        return Match((), _undecided(question.requests), steps.taken)
    return Match((), aborted or _unserved(question), steps.taken)


# --- alternatives -----------------------------------------------------------------------------------------------------


def _ranked(node_class: NodeClass, requests: tuple[Request, ...], constraints: tuple[Constraint, ...]) -> Match:
    """Return the options of every choice of alternatives that a node of the class may serve, the best ranks first."""
    able: list[list[int]] = []
    for request in requests:
        places = [place for place, one in enumerate(request.each()) if match(node_class, (one,)).options]
        if not places:
            return Match((), _none_of(node_class, request))
        able.append(places)
    options: dict[Any, Option] = {}
    miss: Miss | None = None
    steps = 0
    for number, choice in enumerate(_choices(able)):
        if number == CHOICES_MAX or len(options) >= RANKED_MAX:
            miss = miss if options else _undecided(requests)
            break
        found = match(node_class, *chosen(requests, constraints, choice))
        miss = miss or found.miss
        steps += found.steps
        for option in found.options:
            options.setdefault(option.takes, _of_choice(option, requests, choice))
        if miss is not None and miss.kind is MissKind.UNDECIDED:
            break
    return Match(tuple(options.values())[:RANKED_MAX], None if options else miss, steps)


def chosen(
    requests: tuple[Request, ...], constraints: tuple[Constraint, ...], choice: tuple[int, ...]
) -> tuple[tuple[Request, ...], tuple[Constraint, ...]]:
    """Return the requests and constraints once each request is one of its alternatives, under its own name.

    A constraint on `request/alternative` says nothing of a request that another alternative serves.
    """
    named: dict[str, str] = {}
    plain = []
    for request, place in zip(requests, choice, strict=True):
        one = request.each()[place]
        named[request.name] = request.name
        if request.alternatives:
            named[f"{request.name}/{one.name}"] = request.name
            one = replace(one, name=request.name)
        plain.append(one)
    kept = []
    for constraint in constraints:
        speaks_of = tuple(dict.fromkeys(named[name] for name in constraint.requests if name in named))
        if speaks_of or not constraint.requests:
            kept.append(replace(constraint, requests=speaks_of))
    return tuple(plain), tuple(kept)


def _choices(able: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Yield one place per request, all sums of places from the least on, and of one sum as the allocator tries them."""
    for total in range(sum(places[0] for places in able), sum(places[-1] for places in able) + 1):
        yield from _choices_of(able, total)


def _choices_of(able: list[list[int]], total: int) -> Iterator[tuple[int, ...]]:
    if not able:
        if not total:
            yield ()
        return
    least = sum(places[0] for places in able[1:])
    most = sum(places[-1] for places in able[1:])
    for place in able[0]:
        if least <= total - place <= most:
            for tail in _choices_of(able[1:], total - place):
                yield (place, *tail)


def _of_choice(option: Option, requests: tuple[Request, ...], choice: tuple[int, ...]) -> Option:
    """Return the option with the alternatives that it is of."""
    served = {
        request.name: request.alternatives[place].name
        for request, place in zip(requests, choice, strict=True)
        if request.alternatives
    }
    picks = tuple(replace(pick, alternative=served.get(pick.request, "")) for pick in option.picks)
    return replace(option, picks=picks, rank=sum(choice))


def _none_of(node_class: NodeClass, request: Request) -> Miss:
    """Return the reason why no alternative of a request is served."""
    misses = [match(node_class, (one,)).miss for one in request.each()]
    if not request.alternatives:
        return misses[0] or Miss(MissKind.NO_MATCH, request.name, "")
    said = "; ".join(miss.detail for miss in misses if miss is not None)
    kinds = {miss.kind for miss in misses if miss is not None}
    kind = next(iter(kinds)) if len(kinds) == 1 else MissKind.NO_MATCH
    return Miss(kind, request.name, f'no alternative of request "{request.name}" is served: {said}')


# --- misses -----------------------------------------------------------------------------------------------------------


def _groups(kinds: tuple[Device, ...]) -> tuple[Group, ...]:
    """Return the kinds by what a claim can name.

    A DeviceClass, an extended resource, or (Synthetic) nothing but the kind itself.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for index, kind in enumerate(kinds):
        named = {Claim.DRA: kind.device_class, Claim.DEVICE_PLUGIN: kind.resource_name, Claim.SYNTHETIC: kind.name}
        groups.setdefault((kind.claim, named[kind.claim]), []).append(index)
    return tuple(tuple(sorted(group, key=lambda i: (kinds[i].driver, i))) for group in groups.values())


def _unmatched(request: Request, groups: tuple[Group, ...], kinds: tuple[Device, ...]) -> Miss:
    """Return why no device serves the request by its selectors.

    An error counts when it happened on devices the selectors are about: those whose driver they name, or all when
    they name none.
    """
    text = " ".join(request.selectors)
    named = [group for group in groups if any(kinds[i].driver in text for i in group)]
    for group in named or groups:
        for index in group:
            if outcomes.of(request, kinds[index]) is Outcome.ABORT:
                return outcomes.failure(request, kinds[index])
    away = _kept_away(request, kinds)
    if away:
        return Miss(MissKind.KEPT_AWAY, request.name, f'request "{request.name}": {away}')
    return Miss(MissKind.NO_MATCH, request.name, f'no device matches request "{request.name}"')


def _kept_away(request: Request, kinds: tuple[Device, ...]) -> str:
    """Return the obstacle between the request and the first device that its selectors match, empty if there is none."""
    matching = (kind for kind in kinds if answer(request.selectors, kind).outcome is Outcome.MATCH)
    return next((why for kind in matching if (why := outcomes.kept_away(request, kind))), "")


def _too_few(request: Request, serving: list[Group], kinds: tuple[Device, ...]) -> Miss:
    """Return why no kind of device has enough for the request.

    The allocator goes on to the next one, which may abort.
    """
    for group in serving:
        for index in group:
            if outcomes.of(request, kinds[index]) is Outcome.ABORT:
                return outcomes.failure(request, kinds[index])
    able = [i for group in serving for i in group if outcomes.of(request, kinds[i]) is Outcome.MATCH]
    have = ", ".join(f"{kinds[i].count} {kinds[i].name}" for i in able)
    detail = f'request "{request.name}" wants {request.count} devices on one node, which has {have}'
    return Miss(MissKind.TOO_FEW, request.name, detail)


def _unserved(question: Question) -> Miss:
    """Return why requests that each have enough matching devices find no place on one node together."""
    node_class, requests, constraints = question
    for request in requests:
        away = _kept_away(request, node_class.devices) if request.mode is Mode.ALL else ""
        if away:
            return Miss(MissKind.KEPT_AWAY, request.name, f'request "{request.name}" wants all devices: {away}')
    if constraints and match(node_class, requests).options:
        return Miss(MissKind.NO_MATCH, "", f"no devices of one node {_related(constraints)}")
    if sum(request.count for request in requests) > CLAIM_MAX:
        return Miss(MissKind.TOO_FEW, "", f"{_wanted(requests)} are more than the {CLAIM_MAX} devices of a claim")
    return Miss(MissKind.TOO_FEW, "", f"one node cannot serve {_wanted(requests)} together")


def _related(constraints: tuple[Constraint, ...]) -> str:
    """Return in words what the constraints ask."""
    words = {Relation.MATCH: "agree on", Relation.DISTINCT: "differ in"}
    said = []
    for relation, verb in words.items():
        attributes = sorted(one.attribute for one in constraints if one.relation is relation)
        if attributes:
            said.append(f"{verb} {', '.join(attributes)}")
    return " and ".join(said)


def _unmixed(requests: tuple[Request, ...], eligible: list[list[Group]], kinds: tuple[Device, ...]) -> Miss | None:
    """Return that several kinds would have to serve a request together, None where one kind has enough for each."""
    for request, serving in zip(requests, eligible, strict=True):
        if request.mode is Mode.EXACT_COUNT and all(kinds[i].count < request.count for group in serving for i in group):
            miss = _too_few(request, serving, kinds)
            together = (
                "several kinds serve it together only if published values distinguish them and constraints allow it"
            )
            return miss if miss.kind is MissKind.SELECTOR_ERROR else replace(miss, detail=f"{miss.detail}; {together}")
    return None


def _undecided(requests: tuple[Request, ...]) -> Miss:
    """Return that the search ended at its bound."""
    detail = (
        f"the search for one node that serves {_wanted(requests)} together was undecided after {STEPS_MAX} steps; use "
        "fewer requests, or selectors that match fewer kinds of device"
    )
    return Miss(MissKind.UNDECIDED, "", detail)


def _wanted(requests: tuple[Request, ...]) -> str:
    return words.first([f"{request.name} x {request.count}" for request in requests], WANTED_SHOWN)
