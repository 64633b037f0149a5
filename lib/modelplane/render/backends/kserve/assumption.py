"""Assumed status of a KServe service that starts, for simulations without a cluster.

A service that the real controller would refuse for a reason visible in the documents does not start: a missing preset,
or a missing claim template.
Source: KServe v0.20.0 (pkg/controller/v1alpha2/llmisvc).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.render import claims
from modelplane.render.backend import IsThere

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

_GROUP = "serving.kserve.io"
_LWS = "leaderworkerset.x-k8s.io"


KINDS = frozenset({(_GROUP, "LLMInferenceService")})


def assume(resource: Resource, gateway: str, is_there: IsThere) -> dict[str, Json]:
    """Return the status of an LLMInferenceService with running pods, or with the reason why they cannot run."""
    namespace, name = str(resource["metadata"].get("namespace") or ""), str(resource["metadata"]["name"])
    spec = resource.get("spec") or {}
    lost = _missing_preset(spec, namespace, is_there)
    if lost:
        why = _condition("PresetsCombined", "False", "ConfigNotFound", f"{lost} is not found")
        return {"conditions": [why], "observedGeneration": 1}
    missing = _missing_claims(spec, namespace, is_there)
    url = f"http://{gateway}/{namespace}/{name}"
    conditions = [_condition("PresetsCombined", "True"), *_workload_conditions(spec, missing)]
    conditions += _router_conditions(spec)
    ready = "False" if missing else "True"
    conditions.append(_condition("Ready", ready, *(("WorkloadNotReady", missing) if missing else ())))
    return {
        "url": url,
        "observedGeneration": 1,
        "addresses": [{"name": "gateway-external", "url": url}],
        "conditions": sorted(conditions, key=lambda entry: str(entry["type"])),
        "workloads": _workloads(spec, name, is_up=not missing),
    }


def _replicas(spec: Mapping[str, Json]) -> int:
    count = spec.get("replicas")
    return 1 if count is None else int(count)


def _condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, Json]:
    made = {"type": kind, "status": status}
    if reason:
        made["reason"] = reason
    return {**made, "message": message} if message else made


def _missing_preset(spec: Mapping[str, Json], namespace: str, is_there: IsThere) -> str:
    """Return the preset that KServe ships with no release and that is not rendered either, empty if all is there."""
    prefill = spec.get("prefill")
    roles = [("decode-" if prefill else "", spec), *([("prefill-", prefill)] if prefill else [])]
    for role, part in roles:
        if part.get("worker") and (part.get("parallelism") or {}).get("pipeline"):
            name = f"kserve-config-llm-{role}worker-pipeline-parallel"
            places = (namespace, "kserve")
            if not any(is_there(_GROUP, "LLMInferenceServiceConfig", place, name) for place in places):
                return f"LLMInferenceServiceConfig {name}"
    return ""


def _missing_claims(spec: Mapping[str, Json], namespace: str, is_there: IsThere) -> str:
    """Return what pods would wait for: claim templates that are not rendered to the cluster."""
    parts = (spec, spec.get("prefill") or {})
    missing = claims.missing(
        (part.get(key) or {} for part in parts for key in ("template", "worker")), namespace, is_there
    )
    return f"pods wait for ResourceClaimTemplate {', '.join(missing)}" if missing else ""


def _workload_conditions(spec: Mapping[str, Json], missing: str) -> list[dict[str, Json]]:
    kinds = ["WorkerWorkloadReady" if spec.get("worker") else "MainWorkloadReady"]
    prefill = spec.get("prefill")
    if prefill:
        kinds.append("PrefillWorkerWorkloadReady" if prefill.get("worker") else "PrefillWorkloadReady")
    why = ("False", "PodsPending", missing) if missing else ("True",)
    return [_condition(kind, *why) for kind in [*kinds, "WorkloadsReady"]]


def _router_conditions(spec: Mapping[str, Json]) -> list[dict[str, Json]]:
    router = spec.get("router")
    if not router:
        return []
    kinds = ["RouterReady", "HTTPRoutesReady"]
    if (router.get("gateway") or {}).get("refs"):
        kinds.append("GatewaysReady")
    if "scheduler" in router:
        kinds += ["InferencePoolReady", "SchedulerWorkloadReady"]
    return [_condition(kind, "True") for kind in kinds]


def _workloads(spec: Mapping[str, Json], name: str, *, is_up: bool) -> dict[str, Json]:
    made: dict[str, Json] = {
        "primary": _workload(spec, name, "", is_up=is_up),
        "service": {"kind": "Service", "name": f"{name}-kserve-workload-svc"},
    }
    if spec.get("prefill"):
        made["prefill"] = _workload(spec["prefill"], name, "-prefill", is_up=is_up)
    if "scheduler" in (spec.get("router") or {}):
        made["scheduler"] = _child("apps", "Deployment", f"{name}-kserve-router-scheduler", 1)
    return made


def _workload(part: Mapping[str, Json], name: str, role: str, *, is_up: bool) -> dict[str, Json]:
    ready = _replicas(part) if is_up else 0
    if part.get("worker"):
        return _child(_LWS, "LeaderWorkerSet", f"{name}-kserve-mn{role}", ready)
    return _child("apps", "Deployment", f"{name}-kserve{role}", ready)


def _child(group: str, kind: str, name: str, ready: int) -> dict[str, Json]:
    return {"apiGroup": group, "kind": kind, "name": name, "readyReplicas": ready}
