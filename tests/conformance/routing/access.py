"""Services with every form of access and of choice among endpoints, for the translator and for a real Envoy."""

from __future__ import annotations

from typing import Any

from modelplane import names
from tests.support import routing

Json = Any

KEYS: Json = {"apiKeys": {"secretRef": {"name": "callers"}}}
JWT: Json = {"jwt": {"issuer": "https://issuer.example.com", "jwksUri": "https://issuer.example.com/keys"}}
DOOR = routing.inference_gateway(clients={"addressFrom": "Connection"})
"""A gateway that knows the addresses of its clients."""


def at(document: Json, region: str) -> Json:
    """Return the endpoint at a place."""
    document["metadata"]["labels"][names.LABEL_REGION] = region
    return document


EU = [at(routing.replica_endpoint(f"eu-{n}", "a", cluster=f"eu-{n}"), "eu") for n in range(2)]
US = [at(routing.replica_endpoint("us-0", "a", cluster="us-0"), "us")]
A = routing.group(deployment="a")
_A0 = routing.replica_endpoint("a-0", "a")
_A1 = routing.replica_endpoint("a-1", "a", cluster="west")
_B0 = routing.replica_endpoint("b-0", "b", cluster="north")

CASES: dict[str, tuple[Json, list[Json]]] = {
    "limit-per-key": (
        routing.model_service(A, auth=KEYS, rateLimit={"requests": 7, "unit": "Minute", "per": "Client"}),
        [_A0],
    ),
    "limit-per-token": (
        routing.model_service(A, auth=JWT, rateLimit={"requests": 7, "unit": "Minute", "per": "Client"}),
        [_A0],
    ),
    "networks": (
        routing.model_service(
            A, clients={"allowedCIDRs": ["10.0.0.0/8", "2001:db8::/32"], "deniedCIDRs": ["10.9.0.0/16"]}
        ),
        [_A0],
    ),
    "cors": (
        routing.model_service(
            A, auth=KEYS, cors={"allowOrigins": ["https://app.example"], "exposeHeaders": ["x-request-id"]}
        ),
        [_A0],
    ),
    "request-size": (routing.model_service(A, maxRequestSize="1Mi"), [_A0]),
    "locality": (routing.model_service(A, locality={}), [*EU, *US]),
    "affinity": (routing.model_service(A, affinity={}), [_A0, _A1]),
    "affinity-by-weight": (
        routing.model_service(
            routing.group(deployment="a", weight=90), routing.group(deployment="b", weight=10), affinity={}
        ),
        [_A0, _A1, _B0],
    ),
    "affinity-by-address": (routing.model_service(A, affinity={"type": "ClientAddress"}), [_A0, _A1]),
    "slow-start": (routing.model_service(A, slowStart={}), [_A0, _A1]),
    "ejection": (routing.model_service(A, ejection={"maxEjectionPercent": 50}), [_A0, _A1]),
}
