"""One valid document of each kind, and a way to say "the same, but"."""

from __future__ import annotations

import copy
from typing import Any

Json = Any
Path = tuple[str | int, ...]

GONE = object()
"""The value of a field that is left out."""

_HARDWARE = {"cel": 'device.driver == "gpu.nvidia.com"'}
_ENGINE = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0"}


def _namespaced(kind: str, name: str, spec: Json) -> dict[str, Json]:
    metadata = {"name": name, "namespace": "ml-team"}
    return {"apiVersion": "modelplane.ai/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def _cluster(kind: str, name: str, spec: Json) -> dict[str, Json]:
    return {"apiVersion": "modelplane.ai/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _workers() -> dict[str, Json]:
    return {"template": {"spec": {"containers": [dict(_ENGINE)]}}}


VALID: dict[str, dict[str, Json]] = {
    "InferenceClass": _cluster(
        "InferenceClass",
        "h200-8x",
        {
            "devices": [
                {
                    "name": "gpu",
                    "driver": "gpu.nvidia.com",
                    "deviceClassName": "gpu.nvidia.com",
                    "count": 8,
                    "attributes": {"architecture": {"string": "Hopper"}, "cudaComputeCapability": {"version": "9.0.0"}},
                    "capacity": {"memory": {"value": "143771Mi"}},
                }
            ],
            "node": {"cpu": "208", "memory": "2867Gi"},
            "cost": {"perNodeHour": "88.49"},
            "provisioning": {"provider": "GKE", "gke": {"machineType": "a3-ultragpu-8g"}},
        },
    ),
    "InferenceCluster": _cluster(
        "InferenceCluster",
        "gke-us",
        {
            "cluster": {"source": "Existing", "existing": {"secretRef": {"namespace": "fleet", "name": "gke-us"}}},
            "nodePools": [{"name": "frontier", "className": "h200-8x", "nodeCount": 4, "maxNodeCount": 8}],
            "observe": {"image": "registry.example.com/python:3.13"},
        },
    ),
    "BackendRules": _cluster(
        "BackendRules",
        "fleet",
        {"rules": [{"name": "split", "backend": "LLMD", "priority": 120, "when": "has(spec.prefill)"}]},
    ),
    "InferenceQuota": _cluster(
        "InferenceQuota",
        "team",
        {
            "namespaces": {"names": ["ml-team"], "matchLabels": {"example.com/tier": "production"}},
            "limits": {
                "devices": [
                    {"name": "h200", "className": "h200-8x", "count": 16},
                    {
                        "name": "hopper",
                        "selectors": [{"cel": 'device.attributes["gpu.nvidia.com"].architecture == "Hopper"'}],
                        "count": 32,
                    },
                ],
                "replicas": 8,
                "costPerHour": {"amount": "250.00", "currency": "USD"},
            },
            "borrowing": {"from": "production", "limit": {"h200": "8", "replicas": "4", "costPerHour": "100.50"}},
            "maxPriority": 100,
        },
    ),
    "CloudNetwork": _cluster(
        "CloudNetwork",
        "iowa",
        {
            "clusterName": "iowa",
            "provider": "GKE",
            "settings": {"project": "acme-inference", "region": "us-central1"},
        },
    ),
    "CloudCluster": _cluster(
        "CloudCluster",
        "iowa",
        {
            "clusterName": "iowa",
            "provider": "GKE",
            "settings": {"project": "acme-inference", "region": "us-central1"},
            "zones": ["us-central1-a"],
        },
    ),
    "CloudNodePool": _cluster(
        "CloudNodePool",
        "iowa-l4",
        {
            "clusterName": "iowa",
            "provider": "GKE",
            "settings": {"project": "acme-inference", "region": "us-central1"},
            "pool": {"name": "l4", "className": "l4", "nodeCount": 2, "labels": {"modelplane.ai/pool": "l4"}},
            "recipe": {"machineType": "g2-standard-12"},
            "drivers": ["gpu.nvidia.com"],
            "devices": 1,
        },
    ),
    "ServingStack": _cluster(
        "ServingStack",
        "gke-us",
        {
            "clusterName": "gke-us",
            "kubernetesConfig": {"kind": "ClusterProviderConfig", "name": "modelplane-gke-us"},
            "helmConfig": {"kind": "ClusterProviderConfig", "name": "modelplane-gke-us"},
            "components": [{"name": "kserve", "version": "v0.20.0"}, {"name": "dra", "variants": ["gpu.nvidia.com"]}],
        },
    ),
    "InferenceGateway": _cluster("InferenceGateway", "default", {"gateway": {"hostname": "*.models.example.com"}}),
    "ModelDeployment": _namespaced(
        "ModelDeployment", "llama", {"nodeSelector": dict(_HARDWARE), "workers": _workers()}
    ),
    "ModelReplica": _namespaced(
        "ModelReplica",
        "llama-0",
        {
            "deploymentRef": {"name": "llama"},
            "clusterName": "gke-us",
            "backend": "KServe",
            "pool": "frontier",
            "nodeSelector": dict(_HARDWARE),
            "devices": [
                {"name": "gpu", "device": "gpu", "claim": "DRA", "deviceClassName": "gpu.nvidia.com", "count": 8}
            ],
            "workers": _workers(),
        },
    ),
    "ModelService": _namespaced(
        "ModelService", "llama", {"endpoints": [{"selector": {"matchLabels": {"modelplane.ai/deployment": "llama"}}}]}
    ),
    "ModelEndpoint": _namespaced("ModelEndpoint", "together", {"url": "https://api.together.xyz"}),
    "LLMInference": _namespaced("LLMInference", "qwen", {"model": "Qwen/Qwen3-8B"}),
    "ModelCache": _namespaced("ModelCache", "llama", {"source": {"huggingFace": {"repo": "o/m"}}, "size": "300Gi"}),
    "ModelCacheCopy": _namespaced(
        "ModelCacheCopy",
        "llama-gke-us",
        {
            "cacheRef": {"name": "llama"},
            "clusterName": "gke-us",
            "key": "0123456789abcdef",
            "source": {"huggingFace": {"repo": "o/m"}},
            "size": "300Gi",
        },
    ),
}


def document(kind: str, *changes: tuple[Path, Json]) -> dict[str, Json]:
    """Return the valid document of a kind with values set, or left out (GONE), at paths."""
    changed = copy.deepcopy(VALID[kind])
    for path, value in changes:
        _set(changed, path, value if value is GONE else copy.deepcopy(value))
    return changed


def _set(node: Json, path: Path, value: Json) -> None:
    for index, key in enumerate(path[:-1]):
        if isinstance(node, dict) and key not in node:
            node[key] = [] if isinstance(path[index + 1], int) else {}
        elif isinstance(node, list) and isinstance(key, int) and key == len(node):
            node.append([] if isinstance(path[index + 1], int) else {})
        node = node[key]
    last = path[-1]
    if value is GONE:
        del node[last]
    elif isinstance(node, list) and last == len(node):
        node.append(value)
    else:
        node[last] = value
