"""The status that KAITO gives an InferenceSet whose pods come up, for worlds without a cluster.

A pod whose claim template is not there stays pending, and so its member is not ready.
Source: KAITO v0.11.0 (pkg/inferenceset/inferenceset_controller.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.render import claims
from modelplane.render.backend import IsThere
from modelplane.render.backends.kaito import service

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

KINDS = frozenset({("kaito.sh", service.KIND.name)})


def assume(resource: Resource, gateway: str, is_there: IsThere) -> dict[str, Json]:
    """Return the status of a set whose members are all ready, or whose pods wait for what they claim."""
    metadata, spec = resource["metadata"], resource.get("spec") or {}
    inference = (spec.get("template") or {}).get("inference") or {}
    pod = (inference.get("template") or {}).get("spec") or {}
    is_up = not claims.missing((pod,), str(metadata.get("namespace") or ""), is_there)
    count = spec.get("replicas")
    wanted = 1 if count is None else int(count)
    ready = wanted if is_up else 0
    condition = {
        "type": "InferenceSetReady",
        "status": "True" if is_up else "False",
        "reason": "inferencesetReady" if is_up else "inferencesetNotReady",
        "message": f"inferenceset is {'' if is_up else 'not '}ready, {ready}/{wanted} replicas are ready",
    }
    return {
        "replicas": wanted,
        "readyReplicas": ready,
        "selector": f"{service.LABEL_SET}={metadata['name']}",
        "conditions": [condition],
    }
