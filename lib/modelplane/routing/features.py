"""What each type of gateway can express: the table a service is checked against.

A wish outside the table is refused with a reason and never dropped. Source: Envoy Gateway v1.8 and v1.9.0, by its
translator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from modelplane.errors import InvalidInput, Unsupported


class GatewayType(StrEnum):
    """The kinds of gateway in the API."""

    ENVOY = "Envoy"
    ENVOY_AI = "EnvoyAI"


class Feature(StrEnum):
    """One thing a service may ask of its gateway; the value is what the gateway's status shows."""

    API_KEYS = "ApiKeys"
    BACKEND_CREDENTIALS = "BackendCredentials"
    """A credential of its own for each endpoint of one rule."""
    BACKEND_HOST = "BackendHost"
    """A Host header of its own for each endpoint of one rule."""
    BACKEND_PATH = "BackendPath"
    """A path of its own for each endpoint of one rule."""
    FAILOVER = "Failover"
    """Endpoints that receive requests only while the others are unhealthy."""
    FAILOVER_CREDENTIALS = "FailoverWithCredentialsPerEndpoint"
    JWT = "Jwt"
    MODEL_REWRITE = "ModelNameRewrite"
    """The name of the model in the request's body, per endpoint."""
    RATE_LIMIT = "RateLimit"
    WEIGHTS = "Weights"


FEATURES: Mapping[GatewayType, frozenset[Feature]] = {
    GatewayType.ENVOY: frozenset(
        {
            Feature.API_KEYS,
            Feature.BACKEND_CREDENTIALS,
            Feature.BACKEND_HOST,
            Feature.FAILOVER,
            Feature.JWT,
            Feature.RATE_LIMIT,
            Feature.WEIGHTS,
        }
    ),
}

# Below it Envoy Gateway takes no Host rewrite inside a backendRef, and replicas could not be told apart.
OLDEST_ENVOY_GATEWAY = (1, 8)
_VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)(?:[-+].*)?\Z")


def features(gateway: GatewayType) -> frozenset[Feature]:
    """Return what services of this gateway may ask for.

    Raises: Unsupported for a type that is not offered, with what to use instead.
    """
    if gateway not in FEATURES:
        raise Unsupported(
            f"gateway type {gateway} is not offered: it needs a second controller and a sidecar that this version "
            "does not compose; "
            f"use type {GatewayType.ENVOY}, and give a service of its own to every endpoint that differs in path or "
            "model name",
            reason="UnsupportedGatewayType",
        )
    return FEATURES[gateway]


def check_version(version: str) -> None:
    """Return when this version of Envoy Gateway can carry our routes.

    Raises: InvalidInput when it is no version, Unsupported when it is too old.
    """
    match = _VERSION.match(version)
    if not match:
        raise InvalidInput(f"{version!r} is not a version; write it as released, for example v1.9.0")
    if (int(match[1]), int(match[2])) < OLDEST_ENVOY_GATEWAY:
        oldest = ".".join(str(part) for part in OLDEST_ENVOY_GATEWAY)
        raise Unsupported(
            f"Envoy Gateway {version} cannot set a Host per endpoint, which tells replicas apart; use v{oldest} or "
            "later",
            reason="UnsupportedGatewayVersion",
        )
