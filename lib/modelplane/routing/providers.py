"""Providers: the endpoints of a service that an AI gateway treats alike.

Envoy AI Gateway chooses an endpoint, and then writes path, credential and model name for it. It does so for each
provider, so that endpoints of any path, key and model stand behind one rule, in one cluster of Envoy, with failover
between them. Two things follow, both of which would otherwise send one provider's key to another:

- All providers of a rule have host names. For addresses Envoy Gateway streams the endpoints apart from the cluster,
  where the AI gateway cannot mark them, and it treats all like the first provider. With both kinds Envoy Gateway splits
  the cluster, and the AI gateway treats none. One provider alone may have addresses: all its endpoints are alike.
- A rule has one provider for each group and set of settings, not for each endpoint. So replicas are one provider.

Source: Envoy AI Gateway v1.0.0 (`maybeModifyCluster`), Envoy Gateway v1.9.0 (`NeedsClusterPerSetting`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from modelplane import names, words
from modelplane.errors import Unsupported
from modelplane.routing.model import Api, AuthScheme, Credential, Endpoint, Service, Tls
from modelplane.routing.plan import MAX_BACKENDS, MAX_ENDPOINTS_PER_BACKEND, Candidate, Plan, Target, assign, shared_tls
from modelplane.routing.url import AddressKind

API_KEY = "apiKey"
"""The key of a Secret that the AI gateway reads; its value is the key alone, without "Bearer "."""


class KeyHeader(StrEnum):
    """The headers in which the AI gateway can send a key."""

    AUTHORIZATION = "authorization"
    X_API_KEY = "x-api-key"
    API_KEY = "api-key"


@dataclass(frozen=True, slots=True)
class Provider:
    """Endpoints of one group that share every setting. `api` is the one that they are asked in.

    `key` is stable while the selector of the group and the settings are. `priority` counts the levels of the service
    from 0, without gaps, as Envoy does.
    """

    key: str
    endpoints: tuple[Endpoint, ...]
    weight: int
    priority: int

    @property
    def api(self) -> Api:
        """Return the API that requests are translated to: OpenAI where the endpoints have it."""
        return spoken(self.endpoints[0])

    @property
    def prefix(self) -> str:
        """Return the path before that of the API."""
        return self.endpoints[0].url.prefix

    @property
    def model(self) -> str | None:
        """Return the model name that is written into requests, None to leave it."""
        return self.endpoints[0].model

    @property
    def credential(self) -> Credential | None:
        """Return the credential that is set."""
        return self.endpoints[0].credential

    @property
    def tls(self) -> Tls | None:
        """Return the check of the certificate, with the authorities of all endpoints where these are given."""
        return shared_tls(self.endpoints)


def spoken(endpoint: Endpoint) -> Api:
    """Return the API in which an endpoint is asked; requests of both can be translated to OpenAI."""
    return Api.OPENAI if Api.OPENAI in endpoint.apis else Api.ANTHROPIC


def gather(service: Service, matched: Sequence[Sequence[Candidate]], decided: Plan) -> tuple[Provider, ...]:
    """Return the providers of the route, in the order of the groups; those that receive no requests have no weight.

    Checked are all endpoints that a group with a weight matches, so that nothing depends on which of them are ready.
    Raises: Unsupported with the reason of a condition and a correction.
    """
    known = [
        (index, candidate.endpoint)
        for index, candidates in enumerate(assign(matched))
        for candidate in candidates
        if candidate.endpoint is not None
    ]
    wanted = [(index, endpoint) for index, endpoint in known if service.groups[index].weight]
    for _, endpoint in wanted:
        _check_credential(endpoint)
    _check_addresses(wanted)
    idle: dict[tuple[int, str], list[Endpoint]] = {}
    for index, endpoint in known:
        idle.setdefault((index, _settings(endpoint)), []).append(endpoint)
    busy: dict[tuple[int, str], list[Target]] = {}
    for target in decided.targets:
        busy.setdefault((target.group, _settings(target.endpoint)), []).append(target)
    levels = sorted({group.priority for group in service.groups})
    shared = _shared_factors(service, busy)
    is_named = all(target.endpoint.address_kind is AddressKind.FQDN for target in decided.targets)
    found = tuple(
        Provider(
            key=names.digest("provider", service.groups[index].selector.text(), settings),
            endpoints=tuple(target.endpoint for target in busy.get((index, settings), ())) or tuple(endpoints),
            weight=sum(target.weight for target in busy.get((index, settings), ())) // shared[index],
            priority=levels.index(service.groups[index].priority),
        )
        for (index, settings), endpoints in idle.items()
        if (index, settings) in busy or (is_named and _may_be_idle(endpoints[0]))
    )
    counted = [each for each in found if each.weight]
    if len(counted) > MAX_BACKENDS or any(len(each.endpoints) > MAX_ENDPOINTS_PER_BACKEND for each in counted):
        raise Unsupported(
            f"the service needs {len(counted)} providers, the largest with "
            f"{max(len(each.endpoints) for each in counted)} endpoints; a rule of the AI gateway allows {MAX_BACKENDS} "
            f"of {MAX_ENDPOINTS_PER_BACKEND}; split the service",
            reason="TooManyEndpoints",
        )
    return found


def _shared_factors(service: Service, busy: Mapping[tuple[int, str], Sequence[Target]]) -> tuple[int, ...]:
    """Return for each group the greatest number that divides the weights of all providers of its priority.

    Without it the weights of a route would follow the number of replicas, although the shares do not.
    """
    by_level: dict[int, int] = {}
    for (index, _), targets in busy.items():
        level = service.groups[index].priority
        by_level[level] = math.gcd(by_level.get(level, 0), sum(target.weight for target in targets))
    return tuple(by_level.get(group.priority) or 1 for group in service.groups)


def arranged(providers: Sequence[Provider], standing: Sequence[str]) -> tuple[Provider, ...]:
    """Return the providers of a route that has those of the keys `standing` now, in their order, and the new ones last.

    The AI gateway names a provider by its place in the route, and its processors learn of names later than Envoy does.
    So a place changes only when a provider before it is removed, and one that has no requests for a while is not: it
    stays without a weight.
    """
    by_key = {each.key: each for each in providers}
    stay = [by_key[key] for key in standing if key in by_key]
    new = [each for each in providers if each.key not in standing and each.weight]
    if len(stay) + len(new) > MAX_BACKENDS:
        stay = [each for each in stay if each.weight]
    return (*stay, *new)


def notes(service: Service, decided: Plan) -> tuple[str, ...]:
    """Return notes on the APIs, the models and the keys of the route."""
    targets = [target.endpoint for target in decided.targets]
    made = []
    alone = sorted(each.name for each in targets if spoken(each) is Api.ANTHROPIC)
    if alone and len(alone) < len(targets):
        made.append(
            f"{words.first(alone, 5)} has only the Anthropic API, to which the AI gateway translates no request of the "
            "OpenAI API; call this service with the Anthropic API, which works for all"
        )
    unnamed = sorted(each.name for each in targets if each.model is None)
    if unnamed:
        made.append(
            f"{words.first(unnamed, 5)} is sent the model name {service.name}, because spec.model.name is not set there"
        )
    secrets = sorted({each.credential.secret for each in targets if each.credential is not None})
    if secrets:
        made.append(f"the AI gateway reads a key without a prefix, under {API_KEY} of Secret {words.first(secrets, 5)}")
    return tuple(made)


def _check_credential(endpoint: Endpoint) -> None:
    if endpoint.credential is not None and not _is_offered(endpoint.credential):
        raise Unsupported(
            f"endpoint {endpoint.name}: the AI gateway sends a key as a Bearer token, or in the header "
            f"{KeyHeader.X_API_KEY} or {KeyHeader.API_KEY}, and not in {endpoint.credential.header} with scheme "
            f"{endpoint.credential.scheme}; use one of these, or an InferenceGateway of type Envoy",
            reason="CredentialNotOffered",
        )


def _is_offered(credential: Credential) -> bool:
    header = credential.header.lower()
    if header == KeyHeader.AUTHORIZATION:
        return credential.scheme is AuthScheme.BEARER
    return header in set(KeyHeader)


def _may_be_idle(endpoint: Endpoint) -> bool:
    """Return whether an endpoint may stand in a rule without a weight, beside any other."""
    is_named = endpoint.address_kind is AddressKind.FQDN
    return is_named and (endpoint.credential is None or _is_offered(endpoint.credential))


def _check_addresses(known: Sequence[tuple[int, Endpoint]]) -> None:
    settings = {(index, _settings(endpoint)) for index, endpoint in known}
    addressed = sorted(endpoint.name for _, endpoint in known if endpoint.address_kind is not AddressKind.FQDN)
    if addressed and len(settings) > 1:
        raise Unsupported(
            f"{words.first(addressed, 5)} has an IP address, and the endpoints of the service differ in group, path, "
            "credential, model, API, TLS or kind of address; the AI gateway tells such endpoints apart by host name "
            "only; use host names for all, or an InferenceGateway of type Envoy",
            reason="AddressKindConflict",
        )


def _settings(endpoint: Endpoint) -> str:
    """Return all that the gateway sets for an endpoint, as a text."""
    return repr(
        (
            endpoint.url.prefix,
            str(spoken(endpoint)),
            endpoint.model,
            endpoint.credential and (endpoint.credential.secret, endpoint.credential.header.lower()),
            endpoint.tls
            and (
                endpoint.tls.sni,
                [(ref.kind, ref.name) for ref in endpoint.tls.authorities],
                endpoint.tls.insecure_skip_verify,
                # Other authorities for the same name change a provider in place.
                *(("given",) if endpoint.tls.bundle else ()),
            ),
            str(endpoint.address_kind),
        )
    )
