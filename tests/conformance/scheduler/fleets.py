"""Random small fleets and deployments as documents; the seed says everything."""

from __future__ import annotations

import random
from typing import Any

Document = dict[str, Any]

API_VERSION = "modelplane.ai/v1alpha1"


def gpu(count: int, memory: str, architecture: str, compute: str) -> Document:
    """Return devices that are claimed by DRA."""
    return {
        "name": "gpu",
        "driver": "gpu.nvidia.com",
        "claim": "DRA",
        "deviceClassName": "gpu.nvidia.com",
        "count": count,
        "attributes": {"architecture": {"string": architecture}, "cudaComputeCapability": {"version": compute}},
        "capacity": {"memory": {"value": memory}},
    }


def _nic(count: int) -> Document:
    return {
        "name": "nic",
        "driver": "dra.net",
        "claim": "DRA",
        "deviceClassName": "dra.net",
        "count": count,
        "attributes": {"rdma": {"bool": True}, "resource.kubernetes.io/pcieRoot": {"string": "pci0000:00"}},
    }


_PLUGIN: Document = {
    "name": "gpu",
    "driver": "gpu.nvidia.com",
    "claim": "DevicePlugin",
    "resourceName": "nvidia.com/gpu",
    "count": 8,
    "attributes": {"architecture": {"string": "Hopper"}, "cudaComputeCapability": {"version": "9.0.0"}},
    "capacity": {"memory": {"value": "81559Mi"}},
}

_LINK: Document = {
    "name": "nvlink",
    "driver": "modelplane.ai",
    "claim": "Synthetic",
    "count": 1,
    "attributes": {"domains": {"int": 1}},
}

# Devices of one node and what pods may take of it.
_SHAPES: tuple[tuple[str, list[Document], Document], ...] = (
    ("h100", [gpu(8, "81559Mi", "Hopper", "9.0.0")], {"cpu": "64", "memory": "512Gi"}),
    ("h100-nic", [gpu(8, "81559Mi", "Hopper", "9.0.0"), _nic(4)], {"cpu": "64", "memory": "512Gi"}),
    ("a100", [gpu(4, "40960Mi", "Ampere", "8.0.0"), _LINK], {"cpu": "32", "memory": "256Gi"}),
    ("l4", [gpu(1, "23034Mi", "Ada Lovelace", "8.9.0")], {"cpu": "11", "memory": "42Gi"}),
    ("plugin", [_PLUGIN], {"cpu": "64", "memory": "512Gi"}),
)

# Most of these match some class and not another; the last two match nothing at all, one without and one with an error.
_SELECTORS = (
    'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("20Gi")) >= 0',
    'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0',
    'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("70Gi")) >= 0',
    'device.attributes["gpu.nvidia.com"].architecture == "Hopper"',
    'device.attributes["gpu.nvidia.com"].architecture != "Hopper"',
    'device.attributes["gpu.nvidia.com"].cudaComputeCapability.isGreaterThan(semver("8.8.0"))',
    'device.driver == "gpu.nvidia.com"',
    'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0',
    'device.attributes["gpu.nvidia.com"].nothing == "x"',
)
_LIKELIHOOD = (6, 3, 3, 2, 2, 2, 4, 1, 1)


def documents(seed: int) -> list[Document]:
    """Return one fleet with two to four deployments in the namespace `s<seed>`."""
    dice = random.Random(seed)  # noqa: S311  chance, not secrecy
    shapes = dice.sample(_SHAPES, dice.randint(1, 3))
    classes = [_class(name, devices, node) for name, devices, node in shapes]
    names = [one["metadata"]["name"] for one in classes]
    clusters = [_cluster(dice, f"c{number}", names) for number in range(dice.randint(1, 2))]
    deployments = [_deployment(dice, f"d{number}", f"s{seed}") for number in range(dice.randint(2, 4))]
    return [*classes, *clusters, *deployments]


def _class(name: str, devices: list[Document], node: Document) -> Document:
    return {
        "apiVersion": API_VERSION,
        "kind": "InferenceClass",
        "metadata": {"name": name},
        "spec": {"devices": devices, "node": node},
    }


def _cluster(dice: random.Random, name: str, classes: list[str]) -> Document:
    pools = [
        {"name": f"p{number}", "className": dice.choice(classes), "nodeCount": dice.randint(1, 3)}
        for number in range(dice.randint(1, 2))
    ]
    return cluster(name, *pools)


def cluster(name: str, *pools: Document) -> Document:
    """Return an InferenceCluster with the pools."""
    return {
        "apiVersion": API_VERSION,
        "kind": "InferenceCluster",
        "metadata": {"name": name},
        "spec": {
            "cluster": {"source": "Existing", "existing": {"secretRef": {"namespace": "fleet", "name": name}}},
            "nodePools": list(pools),
        },
    }


def _deployment(dice: random.Random, name: str, namespace: str) -> Document:
    devices = dice.choice((1, 1, 2, 4, 8))
    topology: Document = {"tensor": devices}
    if dice.random() < 0.25:
        topology["pipeline"] = 2
    requests = {"cpu": str(dice.choice((1, 4, 16))), "memory": f"{dice.choice((4, 24, 100))}Gi"}
    engine = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0", "resources": {"requests": requests}}
    return {
        "apiVersion": API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": dice.randint(1, 4),
            "model": {"name": name, "uri": "hf://Qwen/Qwen3-8B"},
            "placement": {"strategy": dice.choice(("Spread", "Pack"))},
            "nodeSelector": _node_selector(dice, devices),
            "workers": {
                "count": dice.choice((1, 1, 2)),
                "topology": topology,
                "template": {"spec": {"containers": [engine]}},
            },
        },
    }


def _node_selector(dice: random.Random, devices: int) -> Document:
    (selector,) = dice.choices(_SELECTORS, _LIKELIHOOD)
    if dice.random() < 0.6:
        return {"cel": selector}
    gpu: Document = {"name": "gpu", "count": devices, "selectors": [{"cel": selector}]}
    if dice.random() < 0.6:
        return {"devices": [gpu]}
    nic = {"name": "nic", "count": dice.randint(1, 2), "selectors": [{"cel": 'device.driver == "dra.net"'}]}
    chosen: Document = {"devices": [gpu, nic]}
    if dice.random() < 0.5:
        attribute = dice.choice(("resource.kubernetes.io/pcieRoot", "dra.net/rdma"))
        chosen["constraints"] = [{"matchAttribute": attribute, "requests": ["nic"]}]
    return chosen
