"""The status of Kubernetes' own workloads that come up.

Source: Kubernetes apps/v1, LeaderWorkerSet v0.10.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]


def deployment(resource: Resource) -> dict[str, Json]:
    """Return the status of a Deployment whose replicas are all available."""
    replicas = _replicas(resource.get("spec") or {})
    return {
        "observedGeneration": 1,
        "replicas": replicas,
        "updatedReplicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
        "conditions": [_condition("Available", "True", "MinimumReplicasAvailable")],
    }


def leader_worker_set(resource: Resource) -> dict[str, Json]:
    """Return the status of a LeaderWorkerSet whose groups are all ready."""
    replicas = _replicas(resource.get("spec") or {})
    return {
        "observedGeneration": 1,
        "replicas": replicas,
        "readyReplicas": replicas,
        "updatedReplicas": replicas,
        "conditions": [_condition("Available", "True", "AllGroupsReady")],
    }


def _replicas(spec: Mapping[str, Json]) -> int:
    count = spec.get("replicas")
    return 1 if count is None else int(count)


def _condition(kind: str, status: str, reason: str) -> dict[str, Json]:
    return {"type": kind, "status": status, "reason": reason}
