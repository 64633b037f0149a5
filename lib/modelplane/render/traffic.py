"""Traffic policies for LLM traffic, which has long streams, a long delay before the first token, and large prompts.

The defaults of the gateway are too small for it (a route timeout of 15 s, a stream idle timeout of 5 min, buffers of 32
KiB, 1024 parallel requests). Source: Envoy Gateway v1.9.0 (BackendTrafficPolicy, ClientTrafficPolicy, SecurityPolicy).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import routing
from modelplane.render.manifest import Manifest
from modelplane.routing import relay
from modelplane.routing.model import ApiKeys, Gateway, HealthCheck, Jwt, Retries, Service
from modelplane.routing.plan import Plan, Variant

Json: TypeAlias = Any

TRAFFIC_KEY = "traffic-policy"
SECURITY_KEY = "security-policy"
CLIENT_KEY = "client-policy"

# A prompt of a million tokens is a few megabytes of JSON, and images are sent inside it. Bodies above the limit are
# not retried and are refused where a filter buffers them.
BUFFER = "32Mi"
_CONNECT_TIMEOUT = "5s"
_IDLE_CONNECTION = "3600s"
# Streams last minutes, so that many stand open at once; the limit is per proxy and cluster, against runaways only.
_PARALLEL_MAX = 65536
_PENDING_MAX = 16384


def service_manifests(service: Service, plan: Plan) -> tuple[Manifest, ...]:
    """Return the policies on a service's route: the traffic policy and, if requested, the security policy."""
    policies = [Manifest(TRAFFIC_KEY, _policy("BackendTrafficPolicy", service, _traffic(service, plan)))]
    if service.auth is not None:
        policies.append(Manifest(SECURITY_KEY, _policy("SecurityPolicy", service, _security(service.auth))))
    return tuple(policies)


def client_manifest(gateway: Gateway) -> Manifest:
    """Return the policy for the client side of the gateway."""
    return Manifest(
        CLIENT_KEY,
        {
            "apiVersion": routing.ENVOY_VERSION,
            "kind": "ClientTrafficPolicy",
            "metadata": {"name": gateway.gateway_name, "namespace": gateway.gateway_namespace},
            "spec": {
                "targetRefs": [{"group": routing.GATEWAY_API, "kind": "Gateway", "name": gateway.gateway_name}],
                "connection": {"bufferLimit": BUFFER},
                "http2": {"initialStreamWindowSize": "16Mi", "initialConnectionWindowSize": "24Mi"},
                "timeout": {
                    "http": {
                        "requestReceivedTimeout": "0s",
                        "streamIdleTimeout": _IDLE_CONNECTION,
                        "idleTimeout": _IDLE_CONNECTION,
                    }
                },
            },
        },
    )


def _policy(kind: str, service: Service, spec: Mapping[str, Json]) -> Mapping[str, Json]:
    target = {"group": routing.GATEWAY_API, "kind": "HTTPRoute", "name": service.name}
    return {
        "apiVersion": routing.ENVOY_VERSION,
        "kind": kind,
        "metadata": {
            "name": service.name,
            "namespace": service.namespace,
            "labels": {names.LABEL_SERVICE: service.name},
        },
        "spec": {"targetRefs": [target], **spec},
    }


def _traffic(service: Service, plan: Plan) -> Mapping[str, Json]:
    spec: dict[str, Json] = {
        "connection": {"bufferLimit": BUFFER},
        "timeout": {
            "tcp": {"connectTimeout": _CONNECT_TIMEOUT},
            "http": {
                "requestTimeout": service.timeouts.request,
                "streamIdleTimeout": service.timeouts.idle,
                "connectionIdleTimeout": _IDLE_CONNECTION,
            },
        },
        "tcpKeepalive": {"idleTime": "60s", "interval": "20s", "probes": 3},
        "circuitBreaker": {
            "maxConnections": _PARALLEL_MAX,
            "maxParallelRequests": plan.max_parallel or _PARALLEL_MAX,
            "maxPendingRequests": _PENDING_MAX,
        },
        "loadBalancer": {"type": "LeastRequest"},
    }
    if plan.variant is Variant.SHARED:
        spec["healthCheck"] = _health(plan.health)
    if service.retries.attempts and (service.retries.triggers or service.retries.status_codes):
        spec["retry"] = _retry(service.retries, plan)
    if service.rate_limit is not None:
        limit = {"requests": service.rate_limit.requests, "unit": service.rate_limit.unit}
        spec["rateLimit"] = {"type": "Local", "local": {"rules": [{"limit": limit}]}}
    return spec


def _retry(asked: Retries, plan: Plan) -> Mapping[str, Json]:
    retries = relay.outer(asked) if plan.variant is Variant.RELAYED else asked
    triggers = list(retries.triggers)
    on: dict[str, Json] = {"triggers": triggers}
    if retries.status_codes:
        triggers.append("retriable-status-codes")
        on["httpStatusCodes"] = list(retries.status_codes)
    retry: dict[str, Json] = {"numRetries": retries.attempts, "retryOn": on}
    if plan.is_one_cluster:
        # A second attempt goes to the standby at once, instead of waiting until the first level is found unhealthy.
        retry["numAttemptsPerPriority"] = 1
    return retry


def _health(active: HealthCheck | None) -> Mapping[str, Json]:
    """Return the checks of a shared cluster: endpoints that fail requests are left out for a while, and those that
    fail the active check until they pass it. Without `panicThreshold: 0` Envoy would go back to all when most are
    unhealthy.
    """
    checks: dict[str, Json] = {
        "panicThreshold": 0,
        "passive": {
            "interval": "2s",
            "baseEjectionTime": "20s",
            "maxEjectionPercent": 100,
            "consecutive5XxErrors": 3,
            "consecutiveGatewayErrors": 2,
            "consecutiveLocalOriginFailures": 1,
            "splitExternalLocalOriginErrors": True,
        },
    }
    if active is not None:
        checks["active"] = {
            "type": "HTTP",
            "http": {"path": active.path},
            "interval": active.interval,
            "timeout": active.timeout,
            "unhealthyThreshold": 3,
            "healthyThreshold": 1,
        }
    return checks


def _security(auth: ApiKeys | Jwt) -> Mapping[str, Json]:
    """Return who may call; `sanitize` keeps a caller's key from every endpoint."""
    if isinstance(auth, ApiKeys):
        return {
            "apiKeyAuth": {
                "credentialRefs": [{"group": "", "kind": "Secret", "name": auth.secret}],
                "extractFrom": [{"headers": [auth.header]}],
                "sanitize": True,
            }
        }
    provider: dict[str, Json] = {"name": "caller", "issuer": auth.issuer, "remoteJWKS": {"uri": auth.jwks_uri}}
    if auth.audiences:
        provider["audiences"] = list(auth.audiences)
    return {"jwt": {"providers": [provider]}}
