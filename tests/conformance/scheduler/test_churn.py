"""Deployments of one pool that are scaled up and down by chance: how many pods of what we promise wait for a node.

The pool is full most of the time. Pods of a round that go are gone before those of the round that come. Whole nodes
beside smaller pods are an estimate of where the cluster puts each (`placement/DESIGN.md`), so some may wait; the share
is held below a bound.

MODELPLANE_CASES says how many fleets (default 12, with 8 rounds each).
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from tests.conformance.scheduler import fleets, judge
from tests.support import controlplane

Document = dict[str, Any]

CASES = int(os.environ.get("MODELPLANE_CASES", "12"))
FIRST, BATCH = 600_000, 24
ROUNDS = 8
SIZES = (1, 1, 2, 2, 4, 4, 8)
HALVES = 599_999
WAITING_MAX = 0.03
"""The share of promised pods that may wait."""

pytestmark = pytest.mark.slow


def documents(nodes: int, sizes: Sequence[int], namespace: str) -> list[Document]:
    """Return a pool of nodes of eight devices, and a deployment for each size, without replicas."""
    spec = {"devices": [fleets.gpu(8, "81559Mi", "Hopper", "9.0.0")]}
    node_class = {
        "apiVersion": fleets.API_VERSION,
        "kind": "InferenceClass",
        "metadata": {"name": "h100"},
        "spec": spec,
    }
    cluster = fleets.cluster("c0", {"name": "p0", "className": "h100", "nodeCount": nodes})
    return [node_class, cluster, *(_deployment(f"d{n}", size, namespace) for n, size in enumerate(sizes))]


def _deployment(name: str, devices: int, namespace: str) -> Document:
    engine = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": fleets.API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": 0,
            "model": {"name": name, "uri": "hf://Qwen/Qwen3-8B"},
            "nodeSelector": {"cel": 'device.driver == "gpu.nvidia.com"'},
            "workers": {"topology": {"tensor": devices}, "template": {"spec": {"containers": [engine]}}},
        },
    }


def scaled(found: list[Document], replicas: Mapping[str, int]) -> list[Document]:
    """Return the documents with the deployments that are named scaled."""
    return [
        {**one, "spec": {**one["spec"], "replicas": replicas[one["metadata"]["name"]]}}
        if one["kind"] == "ModelDeployment" and one["metadata"]["name"] in replicas
        else one
        for one in found
    ]


def _drawn(dice: random.Random, found: list[Document]) -> dict[str, int]:
    names = [one["metadata"]["name"] for one in found if one["kind"] == "ModelDeployment"]
    return {name: dice.randint(0, 4) for name in dice.sample(names, dice.randint(2, 3))}


def case(seed: int) -> judge.Case:
    """Return a case in rounds, each of which settles after what was scaled in it."""
    dice = random.Random(seed)  # noqa: S311  chance, not secrecy
    made = judge.Case(seed, documents(dice.randint(2, 3), SIZES, f"s{seed}"))
    judge.play(made, [lambda found: scaled(found, _drawn(dice, found))] * ROUNDS)
    return made


def halves() -> judge.Case:
    """Return the case of two nodes that four pods fill by halves, of which one goes from each node."""
    made = judge.Case(HALVES, documents(2, (4, 4, 4, 4, 8), f"s{HALVES}"))
    steps = [{"d0": 1}, {"d1": 1}, {"d2": 1}, {"d3": 1}, {"d1": 0, "d3": 0}, {"d4": 1}]
    judge.play(made, [partial(scaled, replicas=replicas) for replicas in steps])
    return made


@pytest.fixture(scope="module")
def cases(plane: controlplane.Plane) -> list[judge.Case]:
    """All cases, judged."""
    found = [case(FIRST + number) for number in range(CASES)]
    for first in range(0, CASES, BATCH):
        judge.judge_rounds(plane, found[first : first + BATCH])
    return found


def test_two_halves_are_not_promised_as_a_whole_node(plane: controlplane.Plane) -> None:
    """Each half stands on a node of its own then; the whole node is refused, where it was promised and waited."""
    one = halves()
    judge.judge_rounds(plane, [one])
    assert not one.waited
    assert one.promised == 4


def test_few_promised_pods_wait(cases: list[judge.Case]) -> None:
    waited = sum(len(one.waited) for one in cases)
    promised = sum(one.promised for one in cases)
    found = f"{waited} of {promised} promised pods waited ({waited / promised:.2%}), in {len(cases)} fleets"
    assert waited <= WAITING_MAX * promised, found


def test_the_rounds_tell_something(cases: list[judge.Case]) -> None:
    """Replicas come and go in the fleets."""
    assert sum(one.promised for one in cases) > ROUNDS * len(cases)
    assert sum(bool(turn.gone) for one in cases for turn in one.rounds) > len(cases)
