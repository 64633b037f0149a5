"""What a route carries: which endpoints, with which weights, in which form.

Two forms exist because Envoy Gateway offers per-endpoint credentials and hosts, or failover by health, and never both
in one rule. `PER_ENDPOINT` refers to the endpoints' own backends and sets Host and credential on each; the split is
exact and ignores health. `SHARED` puts all endpoints into one cluster of Envoy, which sets the Host of the endpoint
it chose, ejects unhealthy ones and falls back to the next priority; it needs one credential and one kind of address
for all.
Source: Envoy Gateway v1.9.0 `NeedsClusterPerSetting`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from modelplane import names
from modelplane.errors import Unsupported
from modelplane.routing import weights
from modelplane.routing.features import Feature
from modelplane.routing.model import Credential, Endpoint, Group, HealthCheck, Service, Tls

# Source: Gateway API v1.6.1, HTTPRouteRule.backendRefs; Envoy Gateway v1.9.0, Backend.spec.endpoints and .fallback.
MAX_BACKENDS = 16
MAX_ENDPOINTS_PER_BACKEND = 256
PRIORITY_LEVELS = 2


class Variant(StrEnum):
    """The form of the rule."""

    PER_ENDPOINT = "PerEndpoint"
    SHARED = "Shared"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An endpoint that a selector matched. `endpoint` None: it cannot be read, and `problem` says why.

    `is_silent`: it does not say whether it is ready, which is not the same as no. `credential_name` is the filter that
    sets its credential, where it says so. `is_unrecorded`: it is ready, cannot be read, and nothing says how it was
    when it could.
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
    """One endpoint of the route. `group` counts from 0 as in the service; `weight` is this endpoint's own part of the
    rule.
    """

    endpoint: Endpoint
    backend_name: str
    group: int
    weight: int
    priority: int
    credential_name: str = ""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Endpoints of one group that share one backend of the service's own (`SHARED` only).

    `key` is stable while the group's selector is; `standby` receives requests only while the others are unhealthy.
    """

    key: str
    endpoints: tuple[Endpoint, ...]
    weight: int
    standby: bool
    tls: Tls | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A route that the gateway can carry. `targets` empty: no endpoint is ready, and what runs is to be kept.

    `prefix` is the path in front of the API's own, the same for all. `notes` are sentences for people. `is_complete`:
    every group that is to receive requests has endpoints, all are ready, and none has a problem; `is_drained`: no group
    is.
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


def assign(groups: Sequence[Sequence[Candidate]]) -> tuple[tuple[Candidate, ...], ...]:
    """Return the groups without repetition: an endpoint that several selectors match belongs to the first, as in a
    list of rules; sorted by name inside each group.
    """
    seen: set[str] = set()
    result: list[tuple[Candidate, ...]] = []
    for group in groups:
        fresh = {candidate.name: candidate for candidate in group if candidate.name not in seen}
        seen.update(fresh)
        result.append(tuple(fresh[name] for name in sorted(fresh)))
    return tuple(result)


def decide(service: Service, matched: Sequence[Sequence[Candidate]], offered: frozenset[Feature]) -> Plan:
    """Return the route of `service` over the candidates that each of its groups matched.

    Raises: Unsupported when the gateway cannot express it; its reason is a condition's reason, its message says what
    to change.
    """
    groups = assign(matched)
    drained = [group.weight == 0 for group in service.groups]
    wanted = [() if gone else candidates for gone, candidates in zip(drained, groups, strict=True)]
    known = [candidate.endpoint for group in wanted for candidate in group if candidate.endpoint]
    _check_wishes(service, offered)
    _check_uniform(known, offered)
    ready = [
        tuple(candidate for candidate in candidates if candidate.ready and candidate.endpoint) for candidates in wanted
    ]
    levels = sorted({group.priority for group, gone in zip(service.groups, drained, strict=True) if not gone})
    is_shared = len(levels) > 1 or sum(map(len, ready)) > MAX_BACKENDS
    if is_shared:
        _check_shared(known, levels, offered)
    targets = _targets(service.groups, ready)
    alike = {endpoint.health for endpoint in known}
    credentials = {endpoint.credential for endpoint in known}
    return Plan(
        variant=Variant.SHARED if is_shared else Variant.PER_ENDPOINT,
        prefix=known[0].url.prefix if known else "",
        targets=targets,
        bundles=_bundles(service.groups, targets) if is_shared else (),
        credential=next(iter(credentials)) if is_shared and len(credentials) == 1 else None,
        health=next(iter(alike)) if len(alike) == 1 else None,
        matched=sum(map(len, groups)),
        ready=sum(candidate.ready for group in groups for candidate in group),
        notes=(*_notes(service, groups, ready), *_unchecked(known, is_shared=is_shared)),
        is_complete=all(
            gone or (bool(candidates) and all(each.ready and not each.problem for each in candidates))
            for gone, candidates in zip(drained, groups, strict=True)
        ),
        is_drained=all(drained),
    )


def _check_wishes(service: Service, offered: frozenset[Feature]) -> None:
    for wish, feature, field in (
        (service.auth is not None, Feature.API_KEYS, "spec.auth"),
        (service.rate_limit is not None, Feature.RATE_LIMIT, "spec.rateLimit"),
    ):
        if wish and feature not in offered:
            raise Unsupported(
                f"{field} needs {feature}, which this gateway does not offer; remove it", reason="NotOffered"
            )


def _check_uniform(known: Sequence[Endpoint], offered: frozenset[Feature]) -> None:
    """Return when one rule can hold the endpoints, whatever its form."""
    if known and not set.intersection(*({*endpoint.apis} for endpoint in known)):
        listed = _by_value((endpoint.name, "/".join(sorted(endpoint.apis))) for endpoint in known)
        raise Unsupported(
            f"the endpoints have no API in common: {listed}; give those that differ a ModelService of their own",
            reason="NoCommonApi",
        )
    prefixes = {endpoint.url.prefix for endpoint in known}
    if len(prefixes) > 1 and Feature.BACKEND_PATH not in offered:
        listed = _by_value((endpoint.name, endpoint.url.prefix or "/") for endpoint in known)
        raise Unsupported(
            f"the endpoints' URLs differ in path: {listed}; a rule of this gateway rewrites to one path only; serve "
            "all under the "
            "same path, or give those that differ a ModelService of their own",
            reason="PathPrefixConflict",
        )
    models = {endpoint.model for endpoint in known if endpoint.model is not None}
    if len(models) > 1 and Feature.MODEL_REWRITE not in offered:
        listed = _by_value((endpoint.name, endpoint.model or "") for endpoint in known if endpoint.model is not None)
        raise Unsupported(
            f"the endpoints know different model names: {listed}; this gateway does not rewrite the model in a "
            "request; serve all "
            "under one name (ModelDeployment spec.model.name), or give those that differ a ModelService of their own",
            reason="ModelNameConflict",
        )


def _check_shared(known: Sequence[Endpoint], levels: Sequence[int], offered: frozenset[Feature]) -> None:
    """Return when the endpoints can share one cluster of Envoy."""
    cause = "failover by priority" if len(levels) > 1 else f"more than {MAX_BACKENDS} endpoints"
    if Feature.FAILOVER not in offered:
        raise Unsupported(
            f"{cause} is not offered by this gateway; use one priority and fewer endpoints", reason="NotOffered"
        )
    if len(levels) > PRIORITY_LEVELS:
        raise Unsupported(
            f"the groups have priorities {', '.join(map(str, levels))}; this gateway knows one level in use and one "
            "standby; use two",
            reason="TooManyPriorities",
        )
    if len({endpoint.credential for endpoint in known}) > 1 and Feature.FAILOVER_CREDENTIALS not in offered:
        listed = _by_value((endpoint.name, _credential_text(endpoint.credential)) for endpoint in known)
        raise Unsupported(
            f"{cause} needs the same credentials for all endpoints: {listed}; this gateway cannot change them when "
            "it moves a "
            "request on; use one Secret for all, or groups of the same priority",
            reason="CredentialConflict",
        )
    if len({endpoint.address_kind for endpoint in known}) > 1:
        listed = _by_value((endpoint.name, endpoint.address_kind.value) for endpoint in known)
        raise Unsupported(
            f"{cause} needs one kind of address for all endpoints: {listed}; this gateway would split them and "
            "ignore priorities; "
            "give each a host name",
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


def _bundles(groups: Sequence[Group], targets: Sequence[Target]) -> tuple[Bundle, ...]:
    """Return the targets gathered by group and TLS settings; the lowest priority that has any is the one in use."""
    gathered: dict[tuple[int, str], list[Target]] = {}
    for target in targets:
        gathered.setdefault((target.group, _tls_key(target.endpoint.tls)), []).append(target)
    in_use = min((target.priority for target in targets), default=0)
    bundles = []
    for (index, tls_key), members in gathered.items():
        endpoints = tuple(member.endpoint for member in members)
        bundles.append(
            Bundle(
                key=names.digest(groups[index].selector.text(), tls_key),
                endpoints=endpoints,
                weight=sum(member.weight for member in members),
                standby=members[0].priority > in_use,
                tls=endpoints[0].tls,
            )
        )
    if len(bundles) > MAX_BACKENDS or any(len(bundle.endpoints) > MAX_ENDPOINTS_PER_BACKEND for bundle in bundles):
        raise Unsupported(
            f"the service needs {len(bundles)} backends, the largest of "
            f"{max(len(bundle.endpoints) for bundle in bundles)} endpoints; "
            f"a rule holds {MAX_BACKENDS} of {MAX_ENDPOINTS_PER_BACKEND} each; use fewer groups, or the same tls "
            "settings for all",
            reason="TooManyEndpoints",
        )
    return tuple(bundles)


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


def _unchecked(known: Sequence[Endpoint], *, is_shared: bool) -> Iterable[str]:
    """Yield whose health checks are not made: a gateway has one for all the endpoints of a rule that fails over."""
    asked = _by_value((endpoint.name, "healthCheck") for endpoint in known if endpoint.health is not None)
    if asked and not is_shared:
        yield f"not used, since no endpoint stands by for another (priority): {asked}"
    elif asked and len({endpoint.health for endpoint in known}) > 1:
        yield f"not used, since the endpoints of one service share one and theirs differ: {asked}"


def _by_value(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names gathered by their value, at most five of each: `/: a, b; /openai: c`."""
    gathered: dict[str, list[str]] = {}
    for name, value in sorted(pairs):
        gathered.setdefault(value, []).append(name)
    return "; ".join(
        f"{value}: {', '.join(found[:5])}{f' and {len(found) - 5} more' if len(found) > 5 else ''}"
        for value, found in sorted(gathered.items())
    )


def _credential_text(credential: Credential | None) -> str:
    return f"{credential.header} from Secret {credential.secret}" if credential else "none"


def _tls_key(tls: Tls | None) -> str:
    if tls is None:
        return ""
    authorities = ",".join(f"{ref.kind}/{ref.name}" for ref in tls.authorities)
    return f"{tls.sni}|{authorities}|{tls.insecure_skip_verify}"
