"""The AI gateway as it is when all is well: what it reports, and the HTTPRoutes that it makes of AIGatewayRoutes.

Source: Envoy AI Gateway v1.0.0 (`newHTTPRoute`, `newConditions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane_cli.simulator import assumed_routing
from modelplane_cli.simulator.assumed_routing import ENVOY, GATEWAY_API
from modelplane_cli.simulator.store import Key, Object, Store, key_of, uid_of

Json: TypeAlias = Any

AI_GATEWAY = "aigateway.envoyproxy.io"
KINDS = ("AIGatewayRoute", "AIServiceBackend", "BackendSecurityPolicy")


def accepted(resource: Mapping[str, Json]) -> dict[str, Json]:
    """Return the status of an object that the AI gateway has accepted."""
    return {"conditions": [assumed_routing.condition("Accepted", "ReconciliationSucceeded")]}


def make_routes(store: Store) -> list[Key]:
    """Make the HTTPRoute of each AIGatewayRoute, or bring it up to date; return those that changed."""
    changed = []
    for key in store.of_kind(AI_GATEWAY, "AIGatewayRoute"):
        route = store.get(key)
        if route is None:
            continue
        made = generated(key, route)
        before = store.get(key_of(made))
        if before is None or before.get("spec") != made["spec"]:
            store.put({**(before or {}), **made})
            changed.append(key_of(made))
    return changed


def generated(key: Key, route: Object) -> dict[str, Json]:
    """Return the HTTPRoute that the AI gateway makes of an AIGatewayRoute, which controls it."""
    spec = route["spec"]
    metadata = route["metadata"]
    owner = {
        "apiVersion": route["apiVersion"],
        "kind": route["kind"],
        "name": metadata["name"],
        "uid": metadata.get("uid") or uid_of(key),
        "controller": True,
    }
    rest = {
        "name": "route-not-found",
        "matches": [_under_root({})],
        "filters": [_filter("route-not-found-response", key)],
    }
    return {
        "apiVersion": f"{GATEWAY_API}/v1",
        "kind": "HTTPRoute",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata.get("namespace"),
            "labels": dict(metadata.get("labels") or {}),
            "ownerReferences": [owner],
        },
        "spec": {
            "parentRefs": spec.get("parentRefs") or [],
            "hostnames": spec.get("hostnames") or [],
            "rules": [*(_rule(rule, key) for rule in spec.get("rules") or []), rest],
        },
    }


def _rule(rule: Mapping[str, Json], key: Key) -> dict[str, Json]:
    return {
        "matches": [_under_root(match) for match in rule.get("matches") or []],
        "filters": [_filter("host-rewrite", key)],
        "timeouts": rule.get("timeouts") or {"request": "60s"},
        "backendRefs": [
            {"group": ENVOY, "kind": "Backend", "name": each["name"], "weight": each.get("weight", 1)}
            for each in rule.get("backendRefs") or []
        ],
    }


def _under_root(match: Mapping[str, Json]) -> dict[str, Json]:
    return {**match, "path": {"type": "PathPrefix", "value": "/"}}


def _filter(name: str, key: Key) -> dict[str, Json]:
    reference = {"group": ENVOY, "kind": "HTTPRouteFilter", "name": f"ai-eg-{name}-{key.name}"}
    return {"type": "ExtensionRef", "extensionRef": reference}
