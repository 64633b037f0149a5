"""Load balancing and health of the endpoints of a service's route.

Source: Envoy Gateway v1.9.0 (BackendTrafficPolicy.loadBalancer, .healthCheck).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.routing.balancing import AffinityType, Balancing, Ejection
from modelplane.routing.model import HealthCheck

Json: TypeAlias = Any


def load_balancer(balancing: Balancing) -> Mapping[str, Json]:
    """Return the load balancer: by the fewest open requests, which suits answers of any length, or by a hash."""
    if balancing.affinity is not None:
        hashed: dict[str, Json] = {"type": "SourceIP"}
        if balancing.affinity.type is AffinityType.HEADER:
            hashed = {"type": "Headers", "headers": [{"name": balancing.affinity.header}]}
        return {"type": "ConsistentHash", "consistentHash": hashed}
    chosen: dict[str, Json] = {"type": "LeastRequest"}
    if balancing.slow_start:
        chosen["slowStart"] = {"window": balancing.slow_start}
    return chosen


def health(active: HealthCheck | None, ejection: Ejection) -> Mapping[str, Json]:
    """Return the checks of a shared cluster: endpoints that fail requests are left out for a while, and those that
    fail the active check until they pass it. Without `panicThreshold: 0` Envoy would go back to all when most are
    unhealthy.
    """
    checks: dict[str, Json] = {
        "panicThreshold": 0,
        "passive": {
            "interval": ejection.interval,
            "baseEjectionTime": ejection.time,
            "maxEjectionPercent": ejection.percent,
            "consecutive5XxErrors": ejection.server_errors,
            "consecutiveGatewayErrors": ejection.gateway_errors,
            "consecutiveLocalOriginFailures": ejection.local_failures,
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
