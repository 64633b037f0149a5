"""Devices asked for by the name of a device plugin, where a DeviceClass has that name (`extendedResourceName`).

kube-scheduler of 1.36 claims them by DRA on nodes without such a plugin. The ledger counts the same number of devices:
what we place is bound, and where the pool is full nothing more is.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from modelplane.devices.model import Device, NodeClass
from tests.conformance.scheduler import fleets, hardware, judge
from tests.support import controlplane, published

Document = dict[str, Any]

CASES, FIRST = 30, 800_000
DEVICES, NODES = 8, 2
RESOURCE, DRIVER = "example.com/accelerator", "accelerator.example.com"
SIZES = (1, 2, 4, 8)

pytestmark = pytest.mark.slow


def device_class() -> Document:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": DRIVER},
        "spec": {
            "selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}],
            "extendedResourceName": RESOURCE,
        },
    }


def case(seed: int, wanted: list[Document]) -> judge.Case:
    """Return the case of these deployments on two nodes of which no plugin says anything, but a DRA driver does."""
    device = {"name": "gpu", "driver": DRIVER, "claim": "DevicePlugin", "resourceName": RESOURCE, "count": DEVICES}
    node_class = {
        "apiVersion": fleets.API_VERSION,
        "kind": "InferenceClass",
        "metadata": {"name": "c"},
        "spec": {"devices": [device]},
    }
    cluster = fleets.cluster("c0", {"name": "p0", "className": "c", "nodeCount": NODES})
    made = judge.case(seed, [node_class, cluster, *wanted])
    behind = NodeClass("c", (Device("gpu", DRIVER, DEVICES, device_class=DRIVER),))
    made.machines = []
    for one in hardware.nodes(cluster, {"c": {"spec": {"devices": []}}}, judge.where(seed, "c0")):
        made.machines += [one, *published.slices(behind, one["metadata"]["name"])]
    return made


def drawn(seed: int) -> list[Document]:
    """Return more deployments than find room."""
    dice = random.Random(seed)  # noqa: S311  chance, not secrecy
    return [_deployment(f"d{at}", dice.choice(SIZES), dice.randint(1, 3), f"s{seed}") for at in range(4)]


def _deployment(name: str, devices: int, replicas: int, namespace: str) -> Document:
    engine = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": fleets.API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "model": {"name": name, "uri": "hf://Qwen/Qwen3-8B"},
            "nodeSelector": {"cel": f'device.driver == "{DRIVER}"'},
            "workers": {"topology": {"tensor": devices}, "template": {"spec": {"containers": [engine]}}},
        },
    }


@pytest.fixture(scope="module")
def judged(plane: controlplane.Plane) -> list[judge.Case]:
    plane.api.create(device_class())
    cases = [case(seed, drawn(seed)) for seed in range(FIRST, FIRST + CASES)]
    judge.judge(plane, cases)
    return cases


def test_what_is_placed_is_bound_by_claims_that_the_scheduler_makes(judged: list[judge.Case]) -> None:
    pods = [pod for one in judged for pod in one.pods.values()]
    assert len(pods) > 3 * CASES
    for pod in pods:
        assert pod["spec"].get("nodeName"), (pod["metadata"], pod["status"])
        assert pod["status"]["extendedResourceClaimStatus"]["requestMappings"], pod["status"]


def test_a_full_pool_takes_nothing_more(plane: controlplane.Plane) -> None:
    seed = FIRST - 1
    one = case(seed, [_deployment("d0", DEVICES, NODES + 1, f"s{seed}")])
    assert len(one.replicas) == NODES
    stand = [*one.running, *one.placed]
    more = next(made for made in stand if made["kind"] == "LLMInferenceService")
    more = {**more, "metadata": {**more["metadata"], "name": "more"}}
    one.rounds = [judge.Round([], stand), judge.Round([], [more])]
    judge.judge_rounds(plane, [one])
    assert [list(turn.bound.values()) for turn in one.rounds] == [[True] * NODES, [False]]
