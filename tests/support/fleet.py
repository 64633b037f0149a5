"""Documents of a small fleet, as the API server would hold them: valid, defaulted, and easy to break in one place."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from modelplane import names

Json = Any

H100_MEMORY = "81559Mi"
SELECTOR = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("70Gi")) >= 0'


def inference_class(name: str = "h100-8x", *, count: int = 8, memory: str = H100_MEMORY) -> dict[str, Json]:
    """Return a class of `count` NVIDIA GPUs per node."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": "InferenceClass",
        "metadata": {"name": name, "uid": f"uid-class-{name}"},
        "spec": {
            "devices": [
                {
                    "name": "gpu",
                    "driver": "gpu.nvidia.com",
                    "claim": "DRA",
                    "deviceClassName": "gpu.nvidia.com",
                    "count": count,
                    "attributes": {"architecture": {"string": "Hopper"}},
                    "capacity": {"memory": {"value": memory}},
                }
            ]
        },
    }


def inference_cluster(name: str, *, nodes: int = 2, class_name: str = "h100-8x", ready: bool = True) -> dict[str, Json]:
    """Return a cluster with one pool `gpu`, reachable and with nothing admitted."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": "InferenceCluster",
        "metadata": {"name": name, "uid": f"uid-cluster-{name}", "labels": {"modelplane.ai/region": f"region-{name}"}},
        "spec": {
            "cluster": {
                "source": "Existing",
                "existing": {"secretRef": {"namespace": names.SYSTEM_NAMESPACE, "name": name, "key": "kubeconfig"}},
            },
            "nodePools": [{"name": "gpu", "className": class_name, "nodeCount": nodes}],
            "backends": ["KServe"],
            "scheduler": {"type": "None"},
            "accounting": "Device",
            "stack": {"install": False},
            "gateway": {"name": "modelplane", "namespace": names.SYSTEM_NAMESPACE},
        },
        "status": {
            "gateway": {"address": f"gateway.{name}.example.com", "port": 80, "scheme": "http"},
            "providerConfigRef": {"kind": "ClusterProviderConfig", "name": f"modelplane-{name}"},
            "pools": [
                {
                    "name": "gpu",
                    "className": class_name,
                    "nodes": {"declared": nodes},
                    "allocations": [],
                    "free": {"gpu": 8 * nodes},
                }
            ],
            "admitted": [],
            "refused": [],
            "conditions": [
                {"type": "ClusterReady", "status": "True" if ready else "False", "reason": "Reachable"},
                {"type": "CapacityKnown", "status": "True", "reason": "Counted"},
            ],
        },
    }


def model_deployment(name: str = "llama", *, replicas: int = 2, selector: str = SELECTOR) -> dict[str, Json]:
    """Return a deployment of a one-GPU model."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": "ml-team", "uid": f"uid-md-{name}"},
        "spec": {
            "replicas": replicas,
            "model": {"name": name, "uri": "hf://meta-llama/Llama-3.1-8B-Instruct"},
            "placement": {"strategy": "Spread", "maxReplicasPerCluster": 0},
            "priority": 0,
            "nodeSelector": {"cel": selector},
            "workers": {
                "count": 1,
                "topology": {"tensor": 1, "pipeline": 1, "data": 1, "dataLocal": 1, "expert": False},
                "template": {
                    "spec": {
                        "containers": [
                            {
                                "name": "engine",
                                "image": "vllm/vllm-openai:v0.23.0",
                                "resources": {"requests": {"cpu": "8", "memory": "64Gi"}},
                            }
                        ]
                    }
                },
            },
        },
    }


def controlled(replica: Mapping[str, Json], deployment: dict[str, Json], **metadata: Json) -> dict[str, Json]:
    """Return the composed `replica` as Crossplane makes it: with a uid, and controlled by its deployment."""
    observed = copy.deepcopy(dict(replica))
    owner = deployment["metadata"]
    meta = observed["metadata"] = {**observed["metadata"], "namespace": owner["namespace"], **metadata}
    meta.setdefault("uid", f"uid-mr-{meta['name']}")
    meta["ownerReferences"] = [
        {
            "apiVersion": names.API_VERSION,
            "kind": "ModelDeployment",
            "name": owner["name"],
            "uid": owner["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    return observed


def referring(deployment: dict[str, Json], replicas: Iterable[dict[str, Json]]) -> dict[str, Json]:
    """Return the deployment with Crossplane's notes of the replicas that it composes for it."""
    references = [
        {"apiVersion": names.API_VERSION, "kind": "ModelReplica", "name": replica["metadata"]["name"]}
        for replica in replicas
        if any(
            owner["uid"] == deployment["metadata"]["uid"] for owner in replica["metadata"].get("ownerReferences") or ()
        )
    ]
    return {**deployment, "spec": {**deployment["spec"], "crossplane": {"resourceRefs": references}}}


def workload_of(replica: dict[str, Json], **metadata: Json) -> dict[str, Json]:
    """Return the Object of the replica's workload, which the replica controls."""
    meta = replica["metadata"]
    owner = {"apiVersion": names.API_VERSION, "kind": "ModelReplica", "name": meta["name"], "uid": meta["uid"]}
    return {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {
            "name": f"{meta['name']}-workload",
            "namespace": meta["namespace"],
            "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            **metadata,
        },
        "spec": {"forProvider": {"manifest": {"kind": "LLMInferenceService"}}},
    }


def serving(replica: dict[str, Json], cluster: dict[str, Json]) -> dict[str, Json]:
    """Return the composed `replica` as it is observed once it serves on `cluster`, which has admitted it."""
    observed = copy.deepcopy(replica)
    meta = observed["metadata"]
    meta.setdefault("namespace", "ml-team")
    meta["uid"] = f"uid-mr-{meta['name']}"
    meta["creationTimestamp"] = "2026-01-01T00:00:00Z"
    gateway = cluster["status"]["gateway"]
    observed["status"] = {
        "phase": "Running",
        "cluster": cluster["metadata"]["name"],
        "workers": {"decode": {"desired": 1, "ready": 1}},
        "address": {**gateway, "host": names.internal_host(meta["namespace"], meta["name"])},
        "conditions": [
            {"type": kind, "status": "True", "reason": "Test"}
            for kind in ("Admitted", "WorkloadReady", "Serving", "Ready", "Synced")
        ],
    }
    admitted = cluster["status"]["admitted"]
    key = names.qualified(meta["namespace"], meta["name"])
    if key not in admitted:
        admitted.append(key)
        admitted.sort()
    return observed


def ready(resource: dict[str, Json]) -> dict[str, Json]:
    """Return the composed `resource` as observed and Ready."""
    observed = copy.deepcopy(resource)
    observed["metadata"].setdefault("uid", f"uid-{observed['metadata']['name']}")
    observed.setdefault("status", {})["conditions"] = [{"type": "Ready", "status": "True", "reason": "Available"}]
    return observed
