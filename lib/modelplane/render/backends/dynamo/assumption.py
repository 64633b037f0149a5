"""The status that Dynamo's operator gives a graph whose workers come up, for worlds without a cluster.

A component whose claim template is not there has pods that stay pending.
Source: internal/controller/dgd_workload_result.go of the operator 1.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.render import claims
from modelplane.render.backend import IsThere

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

KINDS = frozenset({("nvidia.com", "DynamoGraphDeployment")})


def assume(resource: Resource, gateway: str, is_there: IsThere) -> dict[str, Json]:
    """Return the status of a graph with running pods, or with those that wait for what they claim."""
    namespace, name = str(resource["metadata"].get("namespace") or ""), str(resource["metadata"]["name"])
    counts: dict[str, Json] = {}
    waiting: list[str] = []
    for component in (resource.get("spec") or {}).get("components") or ():
        spec = (component.get("podTemplate") or {}).get("spec") or {}
        is_up = not claims.missing((spec,), namespace, is_there)
        wanted = 1 if component.get("replicas") is None else int(component["replicas"])
        kind = "LeaderWorkerSet" if component.get("multinode") else "Deployment"
        up = wanted if is_up else 0
        counts[str(component["name"])] = {
            "componentKind": kind, "replicas": wanted, "updatedReplicas": wanted, "readyReplicas": up,
        }  # fmt: skip
        if not is_up:
            waiting.append(f"{name}-{component['name']}: {kind} is not ready")
    ready = _condition("True", "all_resources_are_ready", "All resources are ready")
    if waiting:
        ready = _condition("False", "some_resources_are_not_ready", f"Resources not ready: {'; '.join(waiting)}")
    state = "pending" if waiting else "successful"
    return {"observedGeneration": 1, "state": state, "conditions": [ready], "components": counts}


def _condition(status: str, reason: str, message: str) -> dict[str, Json]:
    return {"type": "Ready", "status": status, "reason": reason, "message": message}
