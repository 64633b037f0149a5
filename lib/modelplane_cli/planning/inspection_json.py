"""The state of a service, an endpoint, a cluster or a cache as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeAlias

from modelplane_cli.planning import routes
from modelplane_cli.planning.cache_state import CacheState
from modelplane_cli.planning.capacity import PoolUse
from modelplane_cli.planning.inspection import Backend, EndpointState, ServiceState, State, Tenant
from modelplane_cli.planning.observed import PoolSight, QueueSight
from modelplane_cli.planning.routes import RouteRow
from modelplane_cli.simulator.verdict import Failure

Json: TypeAlias = Any
_DIGITS = 6


def encode(state: State) -> dict[str, Json]:
    """Return the state as JSON."""
    start = {
        "kind": state.key.kind,
        "namespace": state.key.namespace,
        "name": state.key.name,
        "message": state.message,
        "asWanted": state.is_as_wanted,
    }
    if isinstance(state, ServiceState):
        row = routes.encode(RouteRow(None, state.route))
        return {
            **start,
            "url": row["url"],
            "rules": list(state.rules),
            "groups": row["groups"],
            "endpoints": [_encode_backend(one) for one in state.backends],
            "causes": _encode(state.causes),
        }
    if isinstance(state, EndpointState):
        one = state.backend
        return {
            **start,
            "url": state.url or None,
            "cluster": one.cluster or None,
            "replica": one.replica or None,
            "ready": one.is_ready,
            "services": [{"name": name, "share": _number(share)} for name, share in state.services],
            "causes": _encode(one.causes),
        }
    if isinstance(state, CacheState):
        return {
            **start,
            "source": state.source or None,
            "usedBy": list(state.users),
            "clusters": [
                {
                    "cluster": one.cluster,
                    "phase": one.phase,
                    "claim": one.claim or None,
                    "current": one.is_current,
                    "reason": one.reason,
                    "message": one.message,
                    "causes": _encode(one.causes),
                }
                for one in state.copies
            ],
            "causes": _encode(state.causes),
        }
    return {
        **start,
        "taints": list(state.taints),
        "capacity": state.capacity,
        "pools": [_encode_pool(use) for use in state.pools],
        "observed": [_encode_sight(one) for one in state.observed],
        "queue": _encode_queue(state.queue),
        "replicas": [_encode_tenant(one) for one in state.tenants],
        "causes": _encode(state.causes),
    }


def _encode(found: Iterable[Failure]) -> list[dict[str, Json]]:
    return [encode_cause(cause) for cause in found]


def encode_cause(cause: Failure) -> dict[str, Json]:
    """Return a cause as JSON."""
    return {
        "kind": cause.about.kind,
        "namespace": cause.about.namespace,
        "name": cause.about.name,
        "condition": cause.condition,
        "status": cause.status,
        "reason": cause.reason,
        "message": cause.message,
        "since": cause.since or None,
    }


def _encode_backend(one: Backend) -> dict[str, Json]:
    return {
        "name": one.name,
        "cluster": one.cluster or None,
        "replica": one.replica or None,
        "ready": one.is_ready,
        "share": _number(one.share),
        "causes": _encode(one.causes),
    }


def _encode_pool(use: PoolUse) -> dict[str, Json]:
    return {
        "pool": use.pool,
        "class": use.class_name,
        "nodes": use.nodes,
        "nodesUsed": use.nodes_used,
        "nodesGrowable": use.growable,
        "devices": {
            name: {"total": one.total, "used": one.used, "free": one.free} for name, one in sorted(use.devices.items())
        },
    }


def _encode_sight(one: PoolSight) -> dict[str, Json]:
    return {
        "pool": one.pool,
        "declared": one.declared,
        "observed": one.observed,
        "ready": one.ready,
        "cordoned": one.cordoned,
        "allocatable": one.allocatable,
        "growable": one.growable,
        "devices": {each.name: {"observed": each.observed, "allocatable": each.allocatable} for each in one.devices},
    }


def _encode_queue(one: QueueSight | None) -> dict[str, Json] | None:
    return None if one is None else {"name": one.name, "limit": one.limit, "held": one.held, "left": one.left}


def _encode_tenant(one: Tenant) -> dict[str, Json]:
    return {
        "namespace": one.namespace,
        "name": one.name,
        "admission": one.admission,
        "reason": one.reason,
        "message": one.message,
        "cause": None if one.cause is None else encode_cause(one.cause),
    }


def _number(share: Fraction) -> float:
    return round(float(share), _DIGITS)
