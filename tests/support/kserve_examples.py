"""Three LLMInferenceServices that are valid against the CRDs of KServe v0.17 to v0.20, and the replicas that mean
them.

The services are transcriptions of hand-written examples: one node with tensor parallelism, a pipeline over two nodes,
and disaggregated prefill and decode. Names of claims and requests are the example's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modelplane.devices.model import Constraint
from modelplane.topology.shape import Topology
from modelplane.workload.model import Model, Replica, Role
from tests.support import replicas as build

_SHM = "dshm"


def _hf_token(*, optional: bool) -> dict[str, Any]:
    ref: dict[str, Any] = {"name": "hf-token", "key": "token"}
    if optional:
        ref["optional"] = True
    return {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": ref}}


def _shm(size: str) -> dict[str, Any]:
    return {"name": _SHM, "emptyDir": {"medium": "Memory", "sizeLimit": size}}


def _claims(*requests: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"spec": {"devices": {"requests": list(requests), **more}}}


def _request(count: int, *selectors: str) -> dict[str, Any]:
    exactly: dict[str, Any] = {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": count}
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": text}} for text in selectors]
    return {"name": "gpus", "exactly": exactly}


def _router() -> dict[str, Any]:
    return {
        "gateway": {"refs": [{"name": "inference-gateway", "namespace": "gateway-system"}]},
        "route": {},
        "scheduler": {},
    }


_79GI = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("79Gi")) >= 0'
_HOPPER = 'device.attributes["gpu.nvidia.com"].architecture == "Hopper"'
_140GI = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("140Gi")) >= 0'
_200_MEMORY = 143771 * 1024**2


def single_node() -> tuple[Replica, dict[str, Any], dict[Role, dict[str, Any]]]:
    """Return the replica, the service's spec and the claim specs of one pod with two GPUs."""
    replica = build.replica(
        build.role(
            topology=Topology(tensor=2),
            devices=(build.device("gpus", 2, selectors=(_79GI,)),),
            constraints=(Constraint("gpu.nvidia.com/productName", ("gpus",)),),
            pod_template=build.template(
                "vllm/vllm-openai:v0.19.1",
                engine={
                    "args": ["--max-model-len", "32768"],
                    "env": [_hf_token(optional=True)],
                    "resources": {"requests": {"cpu": "8", "memory": "64Gi"}, "limits": {"memory": "96Gi"}},
                },
            ),
        ),
        name="qwen3-32b",
        namespace="team-a",
        model=Model("qwen3-32b", "hf://Qwen/Qwen3-32B"),
    )
    spec = {
        "model": {"uri": "hf://Qwen/Qwen3-32B", "name": "qwen3-32b"},
        "storageInitializer": {"enabled": False},
        "replicas": 1,
        "parallelism": {"tensor": 2},
        "router": _router(),
        "template": {
            "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "decode"}],
            "containers": [
                {
                    "name": "main",
                    "image": "vllm/vllm-openai:v0.19.1",
                    "command": ["vllm", "serve"],
                    "args": [
                        *("Qwen/Qwen3-32B", "--served-model-name", "qwen3-32b", "publishers/team-a/models/qwen3-32b"),
                        *("--port", "8000", "--tensor-parallel-size", "2", "--max-model-len", "32768"),
                    ],
                    "env": [_hf_token(optional=True)],
                    "securityContext": {"runAsNonRoot": False},
                    "resources": {
                        "claims": [{"name": "gpus"}],
                        "requests": {"cpu": "8", "memory": "64Gi"},
                        "limits": {"memory": "96Gi"},
                    },
                    "startupProbe": {
                        "httpGet": {"path": "/health", "port": 8000, "scheme": "HTTP"},
                        "periodSeconds": 10,
                        "failureThreshold": 180,
                    },
                }
            ],
            "volumes": [_shm("16Gi")],
        },
    }
    constraint = {"requests": ["gpus"], "matchAttribute": "gpu.nvidia.com/productName"}
    return replica, spec, {Role.DECODE: _claims(_request(2, _79GI), constraints=[constraint])}


def pipeline() -> tuple[Replica, dict[str, Any], dict[Role, dict[str, Any]]]:
    """Return the same of one group of two pods with eight GPUs each."""
    resources = {"requests": {"cpu": "32", "memory": "512Gi"}, "limits": {"memory": "1Ti"}}
    replica = build.replica(
        build.role(
            topology=Topology(tensor=8, pipeline=2),
            devices=(build.device("gpus", 8, selectors=(_HOPPER, _140GI), memory_bytes=_200_MEMORY),),
            pod_template=build.template("vllm/vllm-openai:v0.19.1", engine={"resources": resources}),
        ),
        name="deepseek-r1",
        namespace="team-a",
        model=Model("deepseek-r1", "hf://deepseek-ai/DeepSeek-R1"),
    )
    gang = [
        *("--tensor-parallel-size", "8", "--pipeline-parallel-size", "2", "--nnodes", "$(LWS_GROUP_SIZE)"),
        *("--node-rank", "$(LWS_WORKER_INDEX)", "--master-addr", "$(LWS_LEADER_ADDRESS)"),
    ]
    names = ["--served-model-name", "deepseek-r1", "publishers/team-a/models/deepseek-r1", "--port", "8000"]
    probe = {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 10}

    def pod(args: list[str], **container: Any) -> dict[str, Any]:
        return {
            "terminationGracePeriodSeconds": 60,
            "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "decode"}],
            "containers": [
                {
                    "name": "main",
                    "image": "vllm/vllm-openai:v0.19.1",
                    "command": ["vllm", "serve"],
                    "args": ["deepseek-ai/DeepSeek-R1", *args, *gang],
                    "env": [{"name": "HF_HOME", "value": "/models"}],
                    "resources": {"claims": [{"name": "gpus"}], **resources},
                    "volumeMounts": [
                        {"name": _SHM, "mountPath": "/dev/shm"},
                        {"name": "model-cache", "mountPath": "/models"},
                    ],
                    **container,
                }
            ],
            "volumes": [_shm("64Gi"), {"name": "model-cache", "emptyDir": {}}],
        }

    spec = {
        "model": {"uri": "hf://deepseek-ai/DeepSeek-R1", "name": "deepseek-r1"},
        "storageInitializer": {"enabled": False},
        "replicas": 1,
        "parallelism": {"tensor": 8, "pipeline": 2},
        "router": _router(),
        "template": pod(
            names,
            ports=[{"name": "http", "containerPort": 8000, "protocol": "TCP"}],
            startupProbe={**probe, "failureThreshold": 360},
            readinessProbe=probe,
            livenessProbe={**probe, "periodSeconds": 30, "failureThreshold": 5},
        ),
        "worker": pod(["--headless"]),
    }
    return replica, spec, {Role.DECODE: _claims(_request(8, _HOPPER, _140GI))}


def disaggregated() -> tuple[Replica, dict[str, Any], dict[Role, dict[str, Any]]]:
    """Return the same of five prefill pods with two GPUs each and three decode pods with four."""
    image, resources = "ghcr.io/llm-d/llm-d-cuda:v0.8.0", {"requests": {"cpu": "16", "memory": "128Gi"}}
    template = build.template(image, engine={"env": [_hf_token(optional=False)], "resources": resources})
    replica = build.replica(
        build.role(workers=3, topology=Topology(tensor=4), devices=(build.device("gpus", 4),), pod_template=template),
        build.role(
            Role.PREFILL,
            workers=5,
            topology=Topology(tensor=2),
            devices=(build.device("gpus", 2),),
            pod_template=template,
        ),
        name="llama-70b",
        namespace="team-a",
        model=Model("llama-70b", "hf://meta-llama/Llama-3.3-70B-Instruct"),
    )

    def pod(role: Role, port: int, tensor: int, kv_role: str) -> dict[str, Any]:
        own_address = {"fieldRef": {"fieldPath": "status.podIP"}}
        return {
            "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": str(role)}],
            "containers": [
                {
                    "name": "main",
                    "image": image,
                    "command": ["vllm", "serve"],
                    "args": [
                        *("meta-llama/Llama-3.3-70B-Instruct", "--served-model-name", "llama-70b"),
                        *("publishers/team-a/models/llama-70b", "--port", str(port)),
                        *("--tensor-parallel-size", str(tensor)),
                        *("--kv-transfer-config", f'{{"kv_connector":"NixlConnector","kv_role":"{kv_role}"}}'),
                    ],
                    "env": [
                        {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": own_address},
                        _hf_token(optional=False),
                    ],
                    "resources": {"claims": [{"name": "gpus"}], **resources},
                    "startupProbe": {
                        "httpGet": {"path": "/health", "port": port, "scheme": "HTTP"},
                        "periodSeconds": 10,
                        "failureThreshold": 240,
                    },
                }
            ],
            "volumes": [_shm("32Gi")],
        }

    spec = {
        "model": {"uri": "hf://meta-llama/Llama-3.3-70B-Instruct", "name": "llama-70b"},
        "storageInitializer": {"enabled": False},
        "router": _router(),
        "replicas": 3,
        "parallelism": {"tensor": 4},
        "template": pod(Role.DECODE, 8001, 4, "kv_consumer"),
        "prefill": {
            "replicas": 5,
            "parallelism": {"tensor": 2},
            "template": pod(Role.PREFILL, 8000, 2, "kv_producer"),
        },
    }
    return replica, spec, {Role.DECODE: _claims(_request(4)), Role.PREFILL: _claims(_request(2))}
