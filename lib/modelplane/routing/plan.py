"""Plan of a route: its endpoints, their weights, and the form of the rule.

Envoy Gateway supports either credentials and hosts per endpoint or failover by health in one rule, so there are two
forms, and `relay` has a third for what neither can hold. `PER_ENDPOINT` refers to the Backend of each endpoint and sets
its Host and credential. The split is exact and ignores health. `SHARED` puts all endpoints into one Envoy cluster,
which sets the Host of the chosen endpoint, ejects unhealthy ones and falls back to the next priority. It needs one
credential and one kind of address for all endpoints. Source: Envoy Gateway v1.9.0 `NeedsClusterPerSetting`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from modelplane import names, words
from modelplane.errors import Unsupported
from modelplane.routing import sharing, weights, wishes
from modelplane.routing.features import Feature
from modelplane.routing.model import Credential, Endpoint, Group, HealthCheck, Service, Tls
from modelplane.workload import authorities

# Source: Gateway API v1.6.1, HTTPRouteRule.backendRefs; Envoy Gateway v1.9.0, Backend.spec.endpoints and .fallback.
MAX_BACKENDS = sharing.MAX_BACKENDS
MAX_ENDPOINTS_PER_BACKEND = 256
PRIORITY_LEVELS = 2
# A route has sixteen rules, one of them for requests of no known place.
MAX_AREAS = 15


class Variant(StrEnum):
    """The form of the rule."""

    PER_ENDPOINT = "PerEndpoint"
    SHARED = "Shared"
    RELAYED = "Relayed"
    """A shared rule whose Backends all are the relay, which has a shared rule for each leg."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An endpoint that a selector matched. `endpoint` is None if it is invalid, and `problem` is the reason.

    A candidate that `is_silent` does not report whether it is ready. `credential_name` is the filter that sets its
    credential, if its status names one. A candidate that `is_unrecorded` is ready but invalid, and its status has no
    earlier valid form.
    """

    name: str
    ready: bool
    backend_name: str = ""
    endpoint: Endpoint | None = None
    problem: str = ""
    is_silent: bool = False
    credential_name: str = ""
    is_unrecorded: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """An endpoint of the route. `group` is the index of its group; `weight` is its own weight in the rule."""

    endpoint: Endpoint
    backend_name: str
    group: int
    weight: int
    priority: int
    credential_name: str = ""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The endpoints of one group that share one Backend of the service (`SHARED` only).

    `key` is stable while the selector of the group is. A `standby` receives requests only while the others are
    unhealthy.
    """

    key: str
    endpoints: tuple[Endpoint, ...]
    weight: int
    standby: bool
    tls: Tls | None


@dataclass(frozen=True, slots=True)
class Leg:
    """Endpoints of one group that one rule can hold (`RELAYED` only), with the `plan` of their route at the relay.

    `key` is stable while the selector of the group and what the endpoints have in common are. `host` is the name by
    which the service's rule asks the relay for the leg.
    """

    key: str
    name: str
    host: str
    weight: int
    priority: int
    plan: Plan

    @property
    def is_chain(self) -> bool:
        """Return whether it stands for all endpoints from its priority on: its plan asks the relay for other legs."""
        return self.plan.variant is Variant.RELAYED


@dataclass(frozen=True, slots=True)
class Area:
    """A rule of its own for the requests of one place; the endpoints there come first, and all others stand by."""

    place: str
    bundles: tuple[Bundle, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a route that the gateway supports. Without `targets` no endpoint is ready, and the route is held.

    `prefix` is the path before that of the API, the same for all endpoints. `notes` are messages. A plan `is_complete`
    if every group that receives requests has endpoints, and all of them are ready and valid. It `is_drained` if no
    group receives requests. A relayed plan has `legs`, and the `token` by which the relay knows the service. Its
    endpoints serve `max_parallel` requests at a time through each proxy, 0 for any number.
    """

    variant: Variant
    prefix: str
    targets: tuple[Target, ...]
    bundles: tuple[Bundle, ...]
    credential: Credential | None
    health: HealthCheck | None
    matched: int
    ready: int
    notes: tuple[str, ...]
    is_complete: bool
    is_drained: bool
    legs: tuple[Leg, ...] = ()
    token: str = ""
    max_parallel: int = 0
    areas: tuple[Area, ...] = ()
    """The rules for the places that endpoints have, by place (`SHARED` with locality only)."""

    @property
    def is_one_cluster(self) -> bool:
        """Return whether the rule is one cluster of Envoy, which a filter inside a backendRef would split."""
        return self.variant is not Variant.PER_ENDPOINT

    @property
    def all_bundles(self) -> tuple[Bundle, ...]:
        """Return the bundles of every rule, each once."""
        every = [*self.bundles, *(bundle for area in self.areas for bundle in area.bundles)]
        return tuple({bundle.key: bundle for bundle in every}.values())


def assign(groups: Sequence[Sequence[Candidate]]) -> tuple[tuple[Candidate, ...], ...]:
    """Return the groups without duplicates: an endpoint belongs to the first group whose selector matches it.

    Each group is sorted by name.
    """
    seen: set[str] = set()
    result: list[tuple[Candidate, ...]] = []
    for group in groups:
        fresh = {candidate.name: candidate for candidate in group if candidate.name not in seen}
        seen.update(fresh)
        result.append(tuple(fresh[name] for name in sorted(fresh)))
    return tuple(result)


def decide(
    service: Service,
    matched: Sequence[Sequence[Candidate]],
    offered: frozenset[Feature],
    home: Mapping[str, str] | None = None,
) -> Plan:
    """Return the plan of the route of `service` over the candidates of each group. `home` is the gateway's own place.

    Raises: Unsupported if the gateway cannot express it, with the reason of a condition and a correction.
    """
    groups = assign(matched)
    drained = [group.weight == 0 for group in service.groups]
    wanted = [() if gone else candidates for gone, candidates in zip(drained, groups, strict=True)]
    known = [candidate.endpoint for group in wanted for candidate in group if candidate.endpoint]
    wishes.check(service, offered)
    _check_uniform(known, offered)
    ready = [
        tuple(candidate for candidate in candidates if candidate.ready and candidate.endpoint) for candidates in wanted
    ]
    levels = sorted({group.priority for group, gone in zip(service.groups, drained, strict=True) if not gone})
    cause = sharing.cause(service, known, levels, sum(map(len, ready)))
    # An AI gateway changes path, key and model for each endpoint behind the rule, and has this one form.
    is_shared = bool(cause) or Feature.MODEL_ROUTING in offered
    if is_shared:
        _check_shared(known, levels, offered, cause)
    sharing.check(service, cause, offered)
    targets = _targets(service.groups, ready)
    areas = _areas(service, ready) if is_shared else ()
    own = next((area for area in areas if area.place == sharing.home(service, home)), None)
    alike = {endpoint.health for endpoint in known}
    credentials = {endpoint.credential for endpoint in known}
    return Plan(
        variant=Variant.SHARED if is_shared else Variant.PER_ENDPOINT,
        prefix=known[0].url.prefix if known else "",
        targets=targets,
        bundles=own.bundles if own is not None else bundles(service.groups, targets) if is_shared else (),
        credential=next(iter(credentials)) if is_shared and len(credentials) == 1 else None,
        health=next(iter(alike)) if len(alike) == 1 else None,
        matched=sum(map(len, groups)),
        ready=sum(candidate.ready for group in groups for candidate in group),
        notes=(
            *_notes(service, groups, ready),
            # At a relay the endpoints of each leg have a check of their own.
            *(() if Feature.SATURATION in offered else unchecked(known, is_shared=is_shared)),
            *sharing.notes(service, [target.endpoint for target in targets], own.place if own else ""),
        ),
        is_complete=all(
            gone or (bool(candidates) and all(each.ready and not each.problem for each in candidates))
            for gone, candidates in zip(drained, groups, strict=True)
        ),
        is_drained=all(drained),
        areas=areas,
    )


def _check_uniform(known: Sequence[Endpoint], offered: frozenset[Feature]) -> None:
    """Return when one rule can hold the endpoints, whatever its form."""
    is_translated = Feature.PROVIDER_SCHEMAS in offered
    if known and not is_translated and not set.intersection(*({*endpoint.apis} for endpoint in known)):
        listed = _by_value((endpoint.name, "/".join(sorted(endpoint.apis))) for endpoint in known)
        raise Unsupported(
            f"the endpoints have no API in common: {listed}; use a separate ModelService for those that differ",
            reason="NoCommonApi",
        )
    prefixes = {endpoint.url.prefix for endpoint in known}
    if len(prefixes) > 1 and Feature.BACKEND_PATH not in offered:
        listed = _by_value((endpoint.name, endpoint.url.prefix or "/") for endpoint in known)
        raise Unsupported(
            f"the URLs of the endpoints differ in path: {listed}; a rule of this gateway rewrites to only one path; "
            "use one path for all, or a separate ModelService for those that differ",
            reason="PathPrefixConflict",
        )
    models = {endpoint.model for endpoint in known if endpoint.model is not None}
    if len(models) > 1 and Feature.MODEL_REWRITE not in offered:
        listed = _by_value((endpoint.name, endpoint.model or "") for endpoint in known if endpoint.model is not None)
        raise Unsupported(
            f"the endpoints have different model names: {listed}; this gateway does not rewrite the model in a "
            "request; use one name for all (ModelDeployment spec.model.name), or a separate ModelService for those "
            "that differ",
            reason="ModelNameConflict",
        )


def _check_shared(known: Sequence[Endpoint], levels: Sequence[int], offered: frozenset[Feature], cause: str) -> None:
    """Return when the endpoints can share one cluster of Envoy, which `cause` needs."""
    if Feature.FAILOVER not in offered:
        raise Unsupported(
            f"{cause} is not offered by this gateway; use one priority and fewer endpoints", reason="NotOffered"
        )
    if len(levels) > PRIORITY_LEVELS and Feature.PRIORITY_LEVELS not in offered:
        raise Unsupported(
            f"the groups have priorities {', '.join(map(str, levels))}; a rule of this gateway has two, one active and "
            "one standby",
            reason="TooManyPriorities",
        )
    if len({endpoint.credential for endpoint in known}) > 1 and Feature.FAILOVER_CREDENTIALS not in offered:
        listed = _by_value((endpoint.name, credential_text(endpoint.credential)) for endpoint in known)
        raise Unsupported(
            f"{cause} needs the same credentials for all endpoints: {listed}; this gateway cannot change them when "
            "it sends a request to another endpoint; use one Secret for all, or "
            f"{'groups of the same priority' if len(levels) > 1 else 'a separate ModelService for those that differ'}",
            reason="CredentialConflict",
        )
    # An AI gateway asks for more (`providers`).
    if len({endpoint.address_kind for endpoint in known}) > 1 and Feature.FAILOVER_CREDENTIALS not in offered:
        listed = _by_value((endpoint.name, endpoint.address_kind.value) for endpoint in known)
        raise Unsupported(
            f"{cause} needs one kind of address for all endpoints: {listed}; this gateway would split them and "
            "ignore priorities; use host names for all",
            reason="AddressKindConflict",
        )


def _targets(groups: Sequence[Group], ready: Sequence[Sequence[Candidate]]) -> tuple[Target, ...]:
    """Return the ready endpoints with exact weights, computed among the groups of each priority."""
    own: dict[int, int] = {}
    for level in {group.priority for group in groups}:
        indexes = [index for index, group in enumerate(groups) if group.priority == level]
        portions = [weights.Portion(groups[index].weight, len(ready[index])) for index in indexes]
        own.update(zip(indexes, weights.shares(portions), strict=True))
    return tuple(
        Target(
            candidate.endpoint,
            candidate.backend_name,
            index,
            own[index],
            groups[index].priority,
            candidate.credential_name,
        )
        for index, candidates in enumerate(ready)
        for candidate in candidates
        if candidate.endpoint is not None
    )


def _areas(service: Service, ready: Sequence[Sequence[Candidate]]) -> tuple[Area, ...]:
    """Return the rule of each place that a ready endpoint has. Weights hold among its endpoints, and among the rest."""
    locality = service.balancing.locality
    if locality is None:
        return ()
    key = locality.topology_key
    places = sorted({each.endpoint.place.get(key, "") for group in ready for each in group if each.endpoint} - {""})
    if len(places) > MAX_AREAS:
        raise Unsupported(
            f"the endpoints are at {len(places)} places by {key}; a route of this gateway has room for {MAX_AREAS} and "
            "one rule for other requests; use a topologyKey with fewer values, or several ModelServices",
            reason="TooManyPlaces",
        )

    def at(place: str, *, is_near: bool) -> tuple[Target, ...]:
        chosen = [
            [each for each in group if each.endpoint and (each.endpoint.place.get(key) == place) is is_near]
            for group in ready
        ]
        return _targets(service.groups, chosen)

    return tuple(
        Area(
            place,
            (
                *bundles(service.groups, at(place, is_near=True), (key, place, "near")),
                *bundles(service.groups, at(place, is_near=False), (key, place, "rest"), standby=True),
            ),
        )
        for place in places
    )


def bundles(
    groups: Sequence[Group], targets: Sequence[Target], of: Sequence[str] = (), *, standby: bool = False
) -> tuple[Bundle, ...]:
    """Return the targets gathered by group and TLS settings; the lowest priority that has any is the one in use.

    `of` tells the bundles of one rule from those of another. With `standby` all stand by.
    """
    gathered: dict[tuple[int, str], list[Target]] = {}
    for target in targets:
        gathered.setdefault((target.group, _tls_key(target.endpoint.tls)), []).append(target)
    in_use = min((target.priority for target in targets), default=0)
    found = []
    for (index, tls_key), members in gathered.items():
        endpoints = tuple(member.endpoint for member in members)
        found.append(
            Bundle(
                key=names.digest(groups[index].selector.text(), tls_key, *of),
                endpoints=endpoints,
                weight=sum(member.weight for member in members),
                standby=standby or members[0].priority > in_use,
                tls=shared_tls(endpoints),
            )
        )
    if len(found) > MAX_BACKENDS or any(len(bundle.endpoints) > MAX_ENDPOINTS_PER_BACKEND for bundle in found):
        raise Unsupported(
            f"the service needs {len(found)} Backends, the largest with "
            f"{max(len(bundle.endpoints) for bundle in found)} endpoints; a rule allows {MAX_BACKENDS} Backends of "
            f"{MAX_ENDPOINTS_PER_BACKEND} endpoints; use fewer groups, or the same tls settings for all",
            reason="TooManyEndpoints",
        )
    return tuple(found)


def _notes(
    service: Service, groups: Sequence[Sequence[Candidate]], ready: Sequence[Sequence[Candidate]]
) -> Iterable[str]:
    for index, group in enumerate(service.groups):
        problems = [f"{candidate.name}: {candidate.problem}" for candidate in groups[index] if candidate.problem]
        if problems:
            yield "; ".join(problems)
        if group.weight == 0:
            yield f"group {index} ({group.selector.text()}) is drained: its weight is 0"
        elif not ready[index]:
            found = (
                f"none of its {len(groups[index])} endpoints is ready" if groups[index] else "it matches no endpoint"
            )
            share = "; its share goes to the others" if any(ready) else ""
            yield f"group {index} ({group.selector.text()}): {found}{share}"


def unchecked(known: Sequence[Endpoint], *, is_shared: bool) -> Iterable[str]:
    """Yield whose health checks are not made: a gateway has one for all the endpoints of a rule that fails over."""
    asked = _by_value((endpoint.name, "healthCheck") for endpoint in known if endpoint.health is not None)
    if asked and not is_shared:
        yield f"health checks are ignored because no endpoint is a standby for another (priority): {asked}"
    elif asked and len({endpoint.health for endpoint in known}) > 1:
        yield f"health checks are ignored because the endpoints of a service share one and these differ: {asked}"


def _by_value(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names gathered by their value, at most five of each: `/: a, b; /openai: c`."""
    gathered: dict[str, list[str]] = {}
    for name, value in sorted(pairs):
        gathered.setdefault(value, []).append(name)
    return "; ".join(f"{value}: {words.first(found, 5)}" for value, found in sorted(gathered.items()))


def credential_text(credential: Credential | None) -> str:
    """Return the credential in words, the same for two endpoints only if their credentials are."""
    return f"{credential.header} from Secret {credential.secret}" if credential else "none"


def shared_tls(endpoints: Sequence[Endpoint]) -> Tls | None:
    """Return the settings of endpoints whose keys are equal: with the authorities of all, where these are given."""
    tls = endpoints[0].tls
    if tls is None or not tls.bundle:
        return tls
    return replace(tls, bundle=authorities.bundle(one.tls.bundle for one in endpoints if one.tls is not None))


def _tls_key(tls: Tls | None) -> str:
    if tls is None:
        return ""
    if tls.bundle:
        # Other authorities for the same name change a bundle in place.
        return f"{tls.sni}|given"
    listed = ",".join(f"{ref.kind}/{ref.name}" for ref in tls.authorities)
    return f"{tls.sni}|{listed}|{tls.insecure_skip_verify}"
