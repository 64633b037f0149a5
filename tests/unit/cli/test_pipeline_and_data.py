"""Pipeline and data parallelism at once: the clusters choose a backend that can do both, or each one says why not."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane_cli.simulator.offline import World
from tests.support import rendered

Json = Any
FRONTIER = Path(__file__).parents[3] / "examples" / "frontier"


def _world(*backends: str) -> World:
    documents = [one for path in sorted(FRONTIER.glob("*.yaml")) for one in yaml.safe_load_all(path.read_text()) if one]
    for one in documents:
        if one["kind"] == "InferenceCluster":
            one["spec"]["backends"] = list(backends)
            for pool in one["spec"]["nodePools"]:
                pool |= {"nodeCount": 16}
                pool.pop("maxNodeCount", None)
        if one["kind"] == "ModelDeployment":
            one["spec"].pop("backend", None)
            one["spec"]["workers"]["topology"] = {"tensor": 8, "pipeline": 2, "data": 2}
    return rendered.world(copy.deepcopy(documents))


def _deployment(world: World) -> Json:
    return next(one for one in world.objects() if one["kind"] == "ModelDeployment")


@pytest.mark.parametrize("order", [("KServe", "Native"), ("Native", "KServe"), ("KServe", "Native", "LLMD")])
def test_the_first_backend_that_can_do_both_is_chosen(order: tuple[str, ...]) -> None:
    status = _deployment(_world(*order))["status"]
    assert (status["backend"], status["unscheduledReplicas"]) == ("Native", 0)


def test_each_backend_says_why_not() -> None:
    found = _deployment(_world("KServe", "KubeRay"))
    said = str(found["status"]["conditions"])
    for name in ("KServe", "KubeRay"):
        assert (
            f"{name}: spec.workers.topology.pipeline: pipeline 2 and data 2 cannot both be above 1 with {name}" in said
        )
