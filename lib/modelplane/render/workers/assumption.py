"""The status that Kubernetes gives a workload whose pods start, for worlds without a cluster.

A pod whose claim template does not exist stays pending, so the workload is not available.
Source: Kubernetes v1.36 (apps/v1), LeaderWorkerSet v0.8.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane.render import claims
from modelplane.render.backend import IsThere

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

_DEPLOYMENT = ("apps", "Deployment")
_GANGS = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
KINDS = frozenset({_DEPLOYMENT, _GANGS})


def assume(resource: Resource, gateway: str, is_there: IsThere) -> dict[str, Json]:
    """Return the status of a Deployment or LeaderWorkerSet whose pods are ready, or wait for their claim templates."""
    spec = resource.get("spec") or {}
    namespace = str(resource["metadata"].get("namespace") or "")
    is_up = not claims.missing(_pods(spec), namespace, is_there)
    count = spec.get("replicas")
    replicas = 1 if count is None else int(count)
    if resource.get("kind") == _GANGS[1]:
        return _of_gangs(replicas, is_up=is_up)
    return _of_deployment(replicas, is_up=is_up)


def _pods(spec: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    gang = spec.get("leaderWorkerTemplate") or {}
    for template in (spec.get("template"), gang.get("leaderTemplate"), gang.get("workerTemplate")):
        if template:
            yield template.get("spec") or {}


def _of_deployment(replicas: int, *, is_up: bool) -> dict[str, Json]:
    counts = {"replicas": replicas, "updatedReplicas": replicas}
    if is_up:
        counts |= {"readyReplicas": replicas, "availableReplicas": replicas}
    reason = "MinimumReplicasAvailable" if is_up else "MinimumReplicasUnavailable"
    return {"observedGeneration": 1, **counts, "conditions": [_available(reason, is_up=is_up)]}


def _of_gangs(replicas: int, *, is_up: bool) -> dict[str, Json]:
    counts = {"replicas": replicas, "updatedReplicas": replicas}
    if is_up:
        counts["readyReplicas"] = replicas
    return {**counts, "conditions": [_available("AllGroupsReady" if is_up else "GroupsProgressing", is_up=is_up)]}


def _available(reason: str, *, is_up: bool) -> dict[str, Json]:
    return {"type": "Available", "status": "True" if is_up else "False", "reason": reason}
