"""The status that the operator gives a VLLMRuntime whose pods come up, for worlds without a cluster.

Source: vllm-project/production-stack at a6c01db (updateStatus).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.render.backend import IsThere

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

KINDS = frozenset({("production-stack.vllm.ai", "VLLMRuntime")})


def assume(resource: Resource, gateway: str, is_there: IsThere) -> dict[str, Json]:
    """Return the status of a VLLMRuntime whose pods are all available."""
    count = ((resource.get("spec") or {}).get("deploymentConfig") or {}).get("replicas")
    replicas = 1 if count is None else int(count)
    counts = {"replicas": replicas, "updatedReplicas": replicas, "availableReplicas": replicas}
    return {"modelStatus": "Ready", **counts}
