"""Features of each type of gateway, against which a service is checked.

A feature outside the table is refused with a reason and never dropped. Source: the translator of Envoy Gateway v1.8 and
v1.9.0; the controller and the external processor of Envoy AI Gateway v1.0.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from modelplane.errors import InvalidInput, Unsupported


class GatewayType(StrEnum):
    """The types of gateway in the API."""

    ENVOY = "Envoy"
    ENVOY_AI = "EnvoyAI"


class Feature(StrEnum):
    """A feature that a service may use; the value is that of the gateway's status."""

    API_KEYS = "ApiKeys"
    BACKEND_CREDENTIALS = "BackendCredentials"
    """A separate credential for each endpoint of one rule."""
    BACKEND_HOST = "BackendHost"
    """A separate Host header for each endpoint of one rule."""
    BACKEND_PATH = "BackendPath"
    """A separate path for each endpoint of one rule."""
    CLIENT_NETWORKS = "ClientNetworks"
    CORS = "Cors"
    EJECTION = "OutlierEjection"
    FAILOVER = "Failover"
    """Standby endpoints, which receive requests only while the others are unhealthy."""
    FAILOVER_CREDENTIALS = "FailoverWithCredentialsPerEndpoint"
    """A separate credential and kind of address for each endpoint of a rule that fails over."""
    JWT = "Jwt"
    LOCALITY = "Locality"
    """Endpoints at the client's place before others."""
    MODEL_REWRITE = "ModelNameRewrite"
    """A separate model name in the request body for each endpoint."""
    MODEL_ROUTING = "ModelNameRouting"
    """The model in the request body names the service, so that the services of a namespace share a URL."""
    PREFIX_AFFINITY = "SessionAffinityByPrompt"
    """Requests whose prompts begin alike at the same endpoint."""
    PRIORITY_LEVELS = "PriorityLevels"
    """Standby endpoints for standby endpoints."""
    PROVIDER_SCHEMAS = "ProviderSchemas"
    """Endpoints of different APIs in one service: requests are translated."""
    RATE_LIMIT = "RateLimit"
    SHARED_RATE_LIMIT = "RateLimitOverAllProxies"
    """Limits that all proxies count together, and other limits for some clients."""
    SATURATION = "FailoverBySaturation"
    """A limit of the requests that an endpoint serves at a time; others go to the standby."""
    CLIENT_RATE_LIMIT = "RateLimitPerClient"
    REQUEST_SIZE = "RequestSize"
    AFFINITY = "SessionAffinity"
    WEIGHTED_AFFINITY = "SessionAffinityWithWeights"
    """Sessions that are divided by the weights of groups, or over endpoints with different credentials."""
    SLOW_START = "SlowStart"
    TOKEN_METERING = "TokenMetering"  # noqa: S105 - tokens of a model
    """Metrics of tokens by namespace, service and client."""
    USAGE_RATE_LIMIT = "TokenRateLimit"
    WEIGHTS = "Weights"


_COMMON = frozenset(
    {
        Feature.API_KEYS,
        Feature.BACKEND_CREDENTIALS,
        Feature.BACKEND_HOST,
        Feature.FAILOVER,
        Feature.JWT,
        Feature.RATE_LIMIT,
        Feature.WEIGHTS,
    }
)
FEATURES: Mapping[GatewayType, frozenset[Feature]] = {
    GatewayType.ENVOY: _COMMON
    | {
        Feature.AFFINITY,
        Feature.CLIENT_NETWORKS,
        Feature.CLIENT_RATE_LIMIT,
        Feature.CORS,
        Feature.EJECTION,
        Feature.LOCALITY,
        Feature.REQUEST_SIZE,
        Feature.SLOW_START,
        Feature.WEIGHTED_AFFINITY,
    },
    GatewayType.ENVOY_AI: _COMMON
    | {
        Feature.BACKEND_PATH,
        Feature.FAILOVER_CREDENTIALS,
        Feature.MODEL_REWRITE,
        Feature.MODEL_ROUTING,
        Feature.PRIORITY_LEVELS,
        Feature.PROVIDER_SCHEMAS,
        Feature.TOKEN_METERING,
    },
}

RELAYED = frozenset({Feature.BACKEND_PATH, Feature.FAILOVER_CREDENTIALS, Feature.PRIORITY_LEVELS, Feature.SATURATION})
"""The features that a relay adds, for the services of its namespaces."""
LIMITED: Mapping[GatewayType, frozenset[Feature]] = {
    GatewayType.ENVOY: frozenset({Feature.SHARED_RATE_LIMIT}),
    GatewayType.ENVOY_AI: frozenset({Feature.SHARED_RATE_LIMIT, Feature.USAGE_RATE_LIMIT}),
}
"""The features that a rate limit service adds."""
# Before it a hash chose the endpoint inside a cluster of Envoy, and chance the cluster. Source: Envoy Gateway v1.9.0.
SINCE: Mapping[Feature, tuple[int, int]] = {Feature.WEIGHTED_AFFINITY: (1, 9)}

# Below it Envoy Gateway takes no Host rewrite inside a backendRef, and replicas could not be told apart.
OLDEST_ENVOY_GATEWAY = (1, 8)
# Below it a route cannot keep from endpoints the hosts under which the relay was asked.
_OLDEST_WITH_RELAY = (1, 9)
# Below it there is no unit Week, and the shared limits of one listener are counted at all of them.
_OLDEST_WITH_LIMITS = (1, 9)
# The first with the API version v1beta1, which is stable since.
OLDEST_AI_GATEWAY = (1, 0)
_VERSION = re.compile(r"v([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})(?:[-+].*)?\Z")


def features(gateway: GatewayType, version: str = "") -> frozenset[Feature]:
    """Return the features that services of this gateway may use, by `version` of Envoy Gateway (empty: the newest)."""
    match = _VERSION.match(version)
    known = (int(match[1]), int(match[2])) if match else None
    return frozenset(
        feature for feature in FEATURES[gateway] if known is None or SINCE.get(feature, OLDEST_ENVOY_GATEWAY) <= known
    )


def title(gateway: GatewayType, version: str) -> str:
    """Return the name of a gateway's program as people know it; `version` is that of Envoy Gateway."""
    program = "Envoy AI Gateway with Envoy Gateway" if gateway is GatewayType.ENVOY_AI else "Envoy Gateway"
    return f"{program} {version} (type {gateway})"


def offers_relay(version: str) -> bool:
    """Return whether this version of Envoy Gateway supports the routes of a relay. It must have been checked."""
    return _is_since(version, _OLDEST_WITH_RELAY)


def offers_limits(version: str) -> bool:
    """Return whether this version of Envoy Gateway counts limits as they are written. It must have been checked."""
    return _is_since(version, _OLDEST_WITH_LIMITS)


def check_version(version: str) -> None:
    """Check that this version of Envoy Gateway supports the composed routes.

    Raises: InvalidInput for an invalid version, Unsupported for one that is too old.
    """
    if _minor(version, "v1.9.0") < OLDEST_ENVOY_GATEWAY:
        raise Unsupported(
            f"Envoy Gateway {version} cannot set a Host per endpoint, which distinguishes replicas; use "
            f"v{_text(OLDEST_ENVOY_GATEWAY)} or later",
            reason="UnsupportedGatewayVersion",
        )


def check_ai_version(version: str) -> None:
    """Check that this version of Envoy AI Gateway has the kinds that are composed.

    Raises: as `check_version`.
    """
    if _minor(version, "v1.0.0") < OLDEST_AI_GATEWAY:
        raise Unsupported(
            f"Envoy AI Gateway {version} does not serve aigateway.envoyproxy.io/v1beta1; use "
            f"v{_text(OLDEST_AI_GATEWAY)} or later",
            reason="UnsupportedGatewayVersion",
        )


def _is_since(version: str, oldest: tuple[int, int]) -> bool:
    match = _VERSION.match(version)
    return match is not None and (int(match[1]), int(match[2])) >= oldest


def _minor(version: str, example: str) -> tuple[int, int]:
    match = _VERSION.match(version)
    if not match:
        raise InvalidInput(f"{version!r} is not a version; write the released version, for example {example}")
    return int(match[1]), int(match[2])


def _text(version: tuple[int, int]) -> str:
    return ".".join(str(part) for part in version)
