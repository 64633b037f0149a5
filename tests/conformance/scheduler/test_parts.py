"""MIG slices and whole GPUs of the same GPUs: what we place is bound, what we refuse is not.

MODELPLANE_CASES says how many fleets (default 40). The class is that of the catalogue with fewer GPUs, so that fleets
are full.
"""

from __future__ import annotations

import copy
import os
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.scheduler import fleets, hardware, judge
from tests.support import controlplane, kubeapi

Document = dict[str, Any]

CASES = int(os.environ.get("MODELPLANE_CASES", "40"))
FIRST = 500_000
CATALOGUE = Path(__file__).resolve().parents[3] / "examples" / "classes" / "mig.yaml"
WHOLE = "whole.nvidia.com"
PROFILE = 'device.attributes["gpu.nvidia.com"].profile'
MEMORY = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity'
SELECTORS = (
    'device.attributes["gpu.nvidia.com"].type == "gpu"',
    *(f'{PROFILE} == "{name}"' for name in ("1g.10gb", "1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb")),
    f'device.attributes["gpu.nvidia.com"].type == "mig" && {MEMORY}("19Gi")) >= 0',
)

pytestmark = pytest.mark.slow


def gpus(number: int) -> Document:
    """Return the class with so many GPUs; its whole GPUs are a DeviceClass of their own here."""
    found = copy.deepcopy(_catalogue())
    found["metadata"]["name"] = f"mig-{number}"
    found["spec"]["sharedCounters"][0]["count"] = number
    found["spec"]["devices"][0]["deviceClassName"] = WHOLE
    return found


@cache
def _catalogue() -> Document:
    found: Document = yaml.safe_load(CATALOGUE.read_text())
    return found


def documents(seed: int) -> list[Document]:
    """Return a fleet of one or two nodes with one to three GPUs each, and two to four deployments."""
    dice = random.Random(seed)  # noqa: S311  chance, not secrecy
    number = dice.randint(1, 3)
    cluster = fleets.cluster("c0", {"name": "p0", "className": f"mig-{number}", "nodeCount": dice.randint(1, 2)})
    deployments = [_deployment(dice, f"d{index}", f"s{seed}") for index in range(dice.randint(2, 4))]
    return [gpus(number), cluster, *deployments]


def _deployment(dice: random.Random, name: str, namespace: str) -> Document:
    engine = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": fleets.API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": dice.randint(1, 5),
            "model": {"name": name, "uri": "hf://Qwen/Qwen3-0.6B"},
            "nodeSelector": {"cel": dice.choice(SELECTORS)},
            "workers": {
                "topology": {"tensor": dice.choice((1, 1, 1, 2))},
                "template": {"spec": {"containers": [engine]}},
            },
        },
    }


@pytest.fixture(scope="module")
def judged(plane: controlplane.Plane) -> list[judge.Case]:
    for document in hardware.device_classes([gpus(1)]):
        plane.api.apply(document)
    cases = [judge.case(seed, documents(seed)) for seed in range(FIRST, FIRST + CASES)]
    judge.judge(plane, cases)
    return cases


def test_what_we_place_is_bound(judged: list[judge.Case]) -> None:
    bound = 0
    for one in judged:
        for replica in one.replicas:
            pods = one.pods_of(replica["metadata"]["name"])
            assert pods
            for pod in pods:
                said = kubeapi.condition(pod, "PodScheduled")
                assert pod["spec"].get("nodeName"), f"{one.namespace} {pod['metadata']['name']}: {said}"
                bound += 1
    assert bound > 2 * CASES, bound


def test_what_we_refuse_is_not_bound(judged: list[judge.Case]) -> None:
    refused = 0
    for one in judged:
        for name in sorted(trial.name for trial in one.refused):
            pods = one.pods_of(name)
            refused += 1
            nodes = [pod["spec"].get("nodeName") for pod in pods]
            assert pods and not all(nodes), f"{one.namespace} {name} is refused and stands on {nodes}"
    assert refused > CASES / 5, refused
