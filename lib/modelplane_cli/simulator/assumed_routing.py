"""The statuses that Gateway API and Envoy Gateway give to objects that are in order.

Source: Gateway API v1.6 (status shapes), Envoy Gateway v1.9 (controller name, policy ancestors, BackendsAvailable).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]
Exists: TypeAlias = Callable[[str, str, str, str], bool]
"""(group, kind, namespace, name) -> whether such an object is there."""

GATEWAY_API = "gateway.networking.k8s.io"
ENVOY = "gateway.envoyproxy.io"
CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"

# Groups whose objects the routes of a control plane refer to and that are composed there; others may be anybody's.
_KNOWN_BACKENDS = frozenset({ENVOY})


def condition(kind: str, reason: str, message: str = "", *, status: str = "True") -> dict[str, Json]:
    """Return one condition of a Gateway API object."""
    made = {"type": kind, "status": status, "reason": reason}
    return {**made, "message": message} if message else made


def gateway_class(resource: Resource) -> dict[str, Json]:
    """Return the status of an accepted GatewayClass."""
    return {"conditions": [condition("Accepted", "Accepted")]}


def listener(name: str) -> dict[str, Json]:
    """Return a listener of this name, serving what such a name says."""
    if name.startswith("https"):
        return {"name": name, "port": 443, "protocol": "HTTPS"}
    return {"name": name, "port": 80, "protocol": "HTTP"}


def gateway(resource: Resource, address: str) -> dict[str, Json]:
    """Return the status of a programmed Gateway with one address."""
    ready = [condition("Accepted", "Accepted"), condition("Programmed", "Programmed")]
    listeners = (resource.get("spec") or {}).get("listeners") or []
    return {
        "addresses": [{"type": "Hostname", "value": address}],
        "conditions": ready,
        "listeners": [
            {
                "name": listener.get("name", ""),
                "attachedRoutes": 0,
                "supportedKinds": [{"group": GATEWAY_API, "kind": "HTTPRoute"}],
                "conditions": [*ready, condition("ResolvedRefs", "ResolvedRefs")],
            }
            for listener in listeners
        ],
    }


def http_route(resource: Resource, exists: Exists) -> dict[str, Json]:
    """Return the status of a route: accepted by each parent, with references resolved as far as the backends exist."""
    spec = resource.get("spec") or {}
    missing = sorted(set(_missing_backends(resource, spec, exists)))
    resolved = condition("ResolvedRefs", "ResolvedRefs")
    if missing:
        resolved = condition("ResolvedRefs", "BackendNotFound", f"not found: {', '.join(missing)}", status="False")
    parents = [
        {
            "parentRef": dict(parent),
            "controllerName": CONTROLLER,
            "conditions": [condition("Accepted", "Accepted"), resolved],
        }
        for parent in spec.get("parentRefs") or []
    ]
    return {"parents": parents}


def _missing_backends(resource: Resource, spec: Mapping[str, Json], exists: Exists) -> Iterable[str]:
    namespace = str(resource["metadata"].get("namespace") or "")
    for rule in spec.get("rules") or []:
        for reference in rule.get("backendRefs") or []:
            group, kind = str(reference.get("group") or ""), str(reference.get("kind") or "Service")
            where, name = str(reference.get("namespace") or namespace), str(reference.get("name"))
            if group in _KNOWN_BACKENDS and not exists(group, kind, where, name):
                yield f"{kind} {where}/{name}"


def backend(resource: Resource) -> dict[str, Json]:
    """Return the status of an accepted Envoy Gateway Backend."""
    return {"conditions": [condition("Accepted", "Accepted", "The Backend was accepted")]}


def policy(resource: Resource) -> dict[str, Json]:
    """Return the status of a policy that each of its targets accepted."""
    spec = resource.get("spec") or {}
    targets = spec.get("targetRefs") or ([spec["targetRef"]] if spec.get("targetRef") else [])
    namespace = resource["metadata"].get("namespace")
    return {
        "ancestors": [
            {
                "ancestorRef": {**({"namespace": namespace} if namespace else {}), **target},
                "controllerName": CONTROLLER,
                "conditions": [condition("Accepted", "Accepted", "Policy has been accepted.")],
            }
            for target in targets
        ]
    }
