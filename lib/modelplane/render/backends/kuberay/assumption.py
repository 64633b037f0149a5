"""The status that KubeRay gives a RayService whose application starts, for worlds without a cluster.

A pod whose claim template does not exist stays pending, and so does the application.
Source: KubeRay v1.6.2 (controllers/ray/rayservice_controller.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane.render import claims
from modelplane.render.backend import IsThere
from modelplane.render.backends.kuberay import serving

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

KINDS = frozenset({("ray.io", "RayService")})


def assume(resource: Resource, gateway: str, is_there: IsThere) -> dict[str, Json]:
    """Return the status of a RayService whose application runs, or whose pods wait for their claim templates."""
    config = (resource.get("spec") or {}).get("rayClusterConfig") or {}
    namespace = str(resource["metadata"].get("namespace") or "")
    is_up = not claims.missing(_pods(config), namespace, is_there)
    state = "RUNNING" if is_up else "DEPLOYING"
    found = {
        "rayClusterName": f"{resource['metadata']['name']}-00000",
        "applicationStatuses": {serving.APPLICATION: {"status": state, "serveDeploymentStatuses": {}}},
    }
    if is_up:
        ready = _condition("True", "NonZeroServeEndpoints", "Number of serve endpoints is greater than 0")
        return {"observedGeneration": 1, "numServeEndpoints": 1, "conditions": [ready], "activeServiceStatus": found}
    waiting = _condition("False", "Initializing", "RayService is initializing")
    return {"observedGeneration": 1, "conditions": [waiting], "pendingServiceStatus": found}


def _pods(config: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    for group in config.get("workerGroupSpecs") or ():
        yield (group.get("template") or {}).get("spec") or {}


def _condition(status: str, reason: str, message: str) -> dict[str, Json]:
    return {"type": "Ready", "status": status, "reason": reason, "message": message}
