"""Random fleets: every pod of a placed replica is bound to the pool we chose, no refused replica is bound whole.

Pods of deployments that came earlier stand on the clusters before, and each refused replica is tried alone.

MODELPLANE_CASES says how many fleets (default 300, four minutes).
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.conformance.scheduler import judge
from tests.support import controlplane, kubeapi

CASES = int(os.environ.get("MODELPLANE_CASES", "300"))
BATCH = 50

pytestmark = pytest.mark.slow

Judged = Callable[[int], judge.Case]


@pytest.fixture(scope="module")
def judged(plane: controlplane.Plane) -> Judged:
    """The judged case of a seed; a whole batch is judged when the first of it is asked for."""
    known: dict[int, judge.Case] = {}

    def ask(seed: int) -> judge.Case:
        if seed not in known:
            first = seed - seed % BATCH
            batch = [judge.case(one) for one in range(first, min(first + BATCH, CASES))]
            judge.judge(plane, batch)
            known.update({one.seed: one for one in batch})
        return known[seed]

    return ask


@pytest.mark.parametrize("seed", range(CASES))
def test_what_we_place_is_bound_on_the_pool_we_chose(judged: Judged, seed: int) -> None:
    one = judged(seed)
    for replica in one.replicas:
        name, spec = replica["metadata"]["name"], replica["spec"]
        pods = one.pods_of(name)
        assert pods, f"{name} is placed and has no pods"
        for pod in pods:
            node = pod["spec"].get("nodeName")
            assert node is not None, f"{pod['metadata']['name']}: {kubeapi.condition(pod, 'PodScheduled')}"
            assert node.startswith(f"{judge.where(seed, spec['clusterName'])}-{spec['pool']}-"), node


@pytest.mark.parametrize("seed", range(CASES))
def test_what_we_refuse_is_not_bound(judged: Judged, seed: int) -> None:
    one = judged(seed)
    for name in sorted(trial.name for trial in one.refused):
        pods = one.pods_of(name)
        assert pods
        nodes = [pod["spec"].get("nodeName") for pod in pods]
        assert None in nodes, f"{name} was refused and all its pods are bound: {nodes}"


def test_the_cases_tell_something() -> None:
    """Among the fleets there are placed and refused replicas, of one node and of several, and beside running ones."""
    cases = [judge.case(seed) for seed in range(min(CASES, 40))]
    assert sum(len(one.replicas) for one in cases) > len(cases) / 2
    assert any(one.refused for one in cases)
    beside = [one for one in cases if one.running]
    assert sum(bool(one.placed) for one in beside) > len(cases) / 8
    assert sum(bool(one.refused) for one in beside) > len(cases) / 8
    shapes = [replica["spec"]["workers"]["topology"] for one in cases for replica in one.replicas]
    assert any(shape.get("pipeline", 1) > 1 for shape in shapes)
    assert any(shape["tensor"] == 1 for shape in shapes)
