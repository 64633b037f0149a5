"""What a workload cluster's Gateway controller reports, and the cloud's load balancers, by a loop; no traffic passes.

Run as `python -m tests.e2e.gateways [--balanced FOLDER]... [FOLDER...]`: folders of clusters whose Gateways have no
controller, and of clusters that have one and whose Services of type LoadBalancer need an address.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from modelplane_cli.simulator import assumed_routing
from tests.support import controlplane, kubeapi

Document = dict[str, Any]

GATEWAY_API = "gateway.networking.k8s.io/v1"
ENVOY = "gateway.envoyproxy.io/v1alpha1"
POOLS = "inference.networking.k8s.io/v1"
PERIOD_SECONDS = 1.0
UNANSWERED = (OSError, http.client.HTTPException, kubeapi.Refused)


def address(cluster: str) -> str:
    """Return the address of a cluster's gateway."""
    return f"gateway.{cluster}.example.com"


def main() -> None:
    """Report for ever; a cluster that does not answer is asked again."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--balanced", type=Path, action="append", default=[])
    parser.add_argument("reported", type=Path, nargs="*")
    folders = parser.parse_args()
    reported = [controlplane.load(folder) for folder in folders.reported]
    balanced = [controlplane.load(folder) for folder in folders.balanced]
    while True:
        for plane in reported:
            with contextlib.suppress(*UNANSWERED):
                for api_version, kind, status in _rules(plane):
                    with contextlib.suppress(*UNANSWERED):
                        _report(plane, api_version, kind, status)
        for plane in balanced:
            with contextlib.suppress(*UNANSWERED):
                _balance(plane)
        time.sleep(PERIOD_SECONDS)


def _balance(plane: controlplane.Plane) -> None:
    """Give an address to each Service that waits for one, as a cloud does."""
    for service in plane.api.all_of("v1", "Service"):
        if service["spec"].get("type") == "LoadBalancer" and not service["status"].get("loadBalancer"):
            status = {"loadBalancer": {"ingress": [{"hostname": address(plane.name)}]}}
            plane.api.merge(service, {"status": status}, subresource="status")


def _rules(plane: controlplane.Plane) -> list[tuple[str, str, Callable[[Document], Document]]]:
    def exists(group: str, kind: str, namespace: str, name: str) -> bool:
        return plane.api.get(f"{group}/v1alpha1", kind, name, namespace) is not None

    gateways = plane.api.all_of(GATEWAY_API, "Gateway")
    return [
        (GATEWAY_API, "GatewayClass", assumed_routing.gateway_class),
        (GATEWAY_API, "Gateway", lambda one: assumed_routing.gateway(one, address(plane.name))),
        (GATEWAY_API, "HTTPRoute", lambda one: assumed_routing.http_route(one, exists)),
        (POOLS, "InferencePool", lambda one: {"parents": [_accepted_by(gateway) for gateway in gateways]}),
        (ENVOY, "Backend", assumed_routing.backend),
        (ENVOY, "BackendTrafficPolicy", assumed_routing.policy),
        (ENVOY, "ClientTrafficPolicy", assumed_routing.policy),
        (ENVOY, "SecurityPolicy", assumed_routing.policy),
    ]


def _accepted_by(gateway: Document) -> Document:
    meta = gateway["metadata"]
    return {
        "parentRef": {
            "group": "gateway.networking.k8s.io",
            "kind": "Gateway",
            "name": meta["name"],
            "namespace": meta["namespace"],
        },
        "controllerName": assumed_routing.CONTROLLER,
        "conditions": [assumed_routing.condition(kind, kind) for kind in ("Accepted", "ResolvedRefs")],
    }


def _report(plane: controlplane.Plane, api_version: str, kind: str, status: Callable[[Document], Document]) -> None:
    for one in plane.api.all_of(api_version, kind):
        generation = one["metadata"]["generation"]
        if _seen(one.get("status") or {}) == generation:
            continue
        plane.api.merge(one, {"status": _stamped(status(one), generation)}, subresource="status")


def _seen(status: Any) -> int | None:
    """Return the generation that a status speaks of, None where it speaks of none."""
    return next((one["observedGeneration"] for one in _conditions(status) if "observedGeneration" in one), None)


def _conditions(value: Any) -> list[Document]:
    if isinstance(value, list):
        return [found for one in value for found in _conditions(one)]
    if not isinstance(value, dict):
        return []
    if "type" in value and "status" in value:
        return [value]
    return [found for one in value.values() for found in _conditions(one)]


def _stamped(value: Any, generation: int) -> Any:
    """Return a status with the generation and a time in every condition, as the definitions ask for."""
    if isinstance(value, list):
        return [_stamped(one, generation) for one in value]
    if not isinstance(value, dict):
        return value
    stamped = {key: _stamped(one, generation) for key, one in value.items()}
    if {"type", "status", "reason"} <= stamped.keys():
        stamped.setdefault("message", "")
        stamped |= {
            "observedGeneration": generation,
            "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
    return stamped


if __name__ == "__main__":
    main()
