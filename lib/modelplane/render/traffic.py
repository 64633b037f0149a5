"""Traffic policies for LLM traffic, which has long streams, a long delay before the first token, and large prompts.

The defaults of the gateway are too small for it (a route timeout of 15 s, a stream idle timeout of 5 min, buffers of 32
KiB, 1024 parallel requests). Source: Envoy Gateway v1.9.0 (BackendTrafficPolicy, ClientTrafficPolicy, SecurityPolicy).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import balancing, limits, routing, security
from modelplane.render.manifest import Manifest
from modelplane.routing import relay
from modelplane.routing.balancing import Ejection
from modelplane.routing.model import Gateway, Retries, Service
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
    guard = security.spec(service)
    if guard:
        policies.append(Manifest(SECURITY_KEY, _policy("SecurityPolicy", service, guard)))
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
                **security.client_side(gateway),
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
        "loadBalancer": balancing.load_balancer(service.balancing),
    }
    if plan.variant is Variant.SHARED:
        spec["healthCheck"] = balancing.health(plan.health, service.balancing.ejection or Ejection())
    if service.max_request_size:
        spec["requestBuffer"] = {"limit": service.max_request_size}
    if service.retries.attempts and (service.retries.triggers or service.retries.status_codes):
        spec["retry"] = _retry(service.retries, plan)
    if service.rate_limit is not None:
        limit = service.rate_limit
        spec["rateLimit"] = (
            limits.rate_limit(limit, service) if limit.is_shared else security.rate_limit(service.rate_limit)
        )
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
