"""Wishes of a service that depend on its gateway, each with what to write where the gateway cannot fulfil it."""

from __future__ import annotations

from collections.abc import Iterator

from modelplane.errors import Unsupported
from modelplane.routing.access import LimitScope
from modelplane.routing.balancing import AffinityType
from modelplane.routing.features import Feature
from modelplane.routing.model import Gateway, Jwt, Service

_ALTERNATIVES = {
    Feature.USAGE_RATE_LIMIT: (
        "it counts requests and does not read the usage in an answer; leave out tokens and budgets and limit requests "
        "with per: Client, bound the tokens of one answer in the engine (--max-model-len of vLLM), or use an "
        "InferenceGateway of type EnvoyAI with spec.rateLimit"
    ),
    Feature.CLIENT_RATE_LIMIT: "write countedBy: Gateway, so that its rate limit service counts, or per: Service",
    Feature.PREFIX_AFFINITY: (
        "it does not read prompts; write type: Header and let clients send the same value for prompts that begin "
        "alike, or use backend LLMD, whose picker compares prefixes among the workers of a replica"
    ),
}

_NO_SERVICE = (
    "its rate limit service is not there, or Envoy Gateway does not know it yet; the platform team names a Redis for "
    "it in spec.rateLimit of the InferenceGateway, whose condition RateLimit says how far it is; without it each proxy "
    "counts requests for itself (requests and unit alone)"
)


def check(service: Service, offered: frozenset[Feature]) -> None:
    """Check that the gateway offers what the service asks for.

    Raises: Unsupported, with an alternative.
    """
    for feature, field in _asked(service):
        if feature not in offered:
            alternative = _ALTERNATIVES.get(feature, "remove it")
            reason = "TokenLimitNotOffered" if feature is Feature.USAGE_RATE_LIMIT else "NotOffered"
            if feature is Feature.SHARED_RATE_LIMIT or (
                feature is Feature.USAGE_RATE_LIMIT and Feature.TOKEN_METERING in offered
            ):
                reason, alternative = "RateLimitServiceMissing", _NO_SERVICE
            raise Unsupported(
                f"{field} needs {feature}, which this gateway does not offer: {alternative}", reason=reason
            )


def _asked(service: Service) -> Iterator[tuple[Feature, str]]:
    limit, balancing = service.rate_limit, service.balancing
    affinity = balancing.affinity
    wishes = (
        (service.auth is not None, Feature.JWT if isinstance(service.auth, Jwt) else Feature.API_KEYS, "spec.auth"),
        (service.clients is not None, Feature.CLIENT_NETWORKS, "spec.clients"),
        (service.cors is not None, Feature.CORS, "spec.cors"),
        (bool(service.max_request_size), Feature.REQUEST_SIZE, "spec.maxRequestSize"),
        (limit is not None, Feature.RATE_LIMIT, "spec.rateLimit"),
        (
            limit is not None and limit.per is LimitScope.CLIENT and not limit.is_shared,
            Feature.CLIENT_RATE_LIMIT,
            "spec.rateLimit.per: Client",
        ),
        (limit is not None and limit.counts_tokens, Feature.USAGE_RATE_LIMIT, "a limit of tokens (spec.rateLimit)"),
        (limit is not None and limit.is_shared, Feature.SHARED_RATE_LIMIT, "a limit over all proxies (spec.rateLimit)"),
        (affinity is not None, Feature.AFFINITY, "spec.affinity"),
        (
            affinity is not None and affinity.type is AffinityType.PREFIX_HASH,
            Feature.PREFIX_AFFINITY,
            "spec.affinity.type: PrefixHash",
        ),
        (balancing.locality is not None, Feature.LOCALITY, "spec.locality"),
        (bool(balancing.slow_start), Feature.SLOW_START, "spec.slowStart"),
        (balancing.ejection is not None, Feature.EJECTION, "spec.ejection"),
    )
    yield from ((feature, field) for is_wanted, feature, field in wishes if is_wanted)


def check_addresses(service: Service, gateway: Gateway) -> None:
    """Check that the gateway knows the addresses of clients where the service decides by them.

    Raises: Unsupported. A load balancer shows its own address or a node's, which would let everybody in or nobody.
    """
    affinity = service.balancing.affinity
    if service.clients is not None:
        field = "spec.clients"
    elif affinity is not None and affinity.type is AffinityType.CLIENT_ADDRESS:
        field = "spec.affinity.type: ClientAddress"
    else:
        return
    if gateway.client_addresses is None:
        raise Unsupported(
            f'{field} needs the addresses of clients, and InferenceGateway "{gateway.name}" does not say from where it '
            "knows them; the platform team sets spec.clients.addressFrom there to Connection, XForwardedFor or "
            "ProxyProtocol, as its load balancer works",
            reason="ClientAddressUnknown",
        )
