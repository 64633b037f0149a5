"""A cloud that makes clusters, added from outside: one object with its interface, one entry in the registry."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane_cli.simulator import definitions
from modelplane_cli.simulator.offline import World
from tests.support import examples, rendered, toy_cloud
from tests.support.toy_cloud import BLOCK, RECIPE, SOURCE

Json = Any


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    toy_cloud.use(monkeypatch)


def _documents(**cluster: Json) -> list[Json]:
    """Return the quickstart with clusters that the toy makes."""
    written = rendered.written(examples.EXAMPLES / "quickstart", definitions.builtin())
    documents = [dict(one) for one in written.values()]
    for one in documents:
        if one["kind"] == "InferenceCluster":
            one["spec"] = {**one["spec"], "cluster": {"source": SOURCE, "aks": dict(BLOCK), **cluster}}
        if one["kind"] == "InferenceClass":
            one["spec"] = {**one["spec"], "provisioning": {"provider": SOURCE, "aks": dict(RECIPE)}}
    return documents


def _of(world: World, kind: str) -> list[Json]:
    return [one for one in world.objects() if one["kind"] == kind]


def test_replicas_run_on_the_clusters_that_it_makes() -> None:
    world = rendered.world(_documents())
    (deployment,) = _of(world, "ModelDeployment")
    assert deployment["status"]["readyReplicas"] == deployment["spec"]["replicas"]
    clusters = _of(world, "InferenceCluster")
    assert {one["status"]["cloud"]["phase"] for one in clusters} == {"Created"}
    assert len(_of(world, "Lawn")) == len(_of(world, "Box")) == len(clusters)
    pools = [pool for one in clusters for pool in one["spec"]["nodePools"]]
    assert len(_of(world, "Shelf")) == len(pools)


def test_a_part_stands_until_what_stands_on_it_is_gone() -> None:
    world = rendered.world(_documents())
    held = {
        (one["spec"]["of"]["kind"], one["spec"]["by"]["kind"]) for one in _of(world, "Usage") if "by" in one["spec"]
    }
    assert held >= {("Lawn", "Box"), ("Box", "Shelf")}


def test_what_the_cloud_would_refuse_is_refused_before_anything_is_made() -> None:
    world = rendered.world(_documents(aks={**BLOCK, "location": "nowhere"}))
    for cluster in _of(world, "InferenceCluster"):
        (said,) = [one for one in cluster["status"]["conditions"] if one["type"] == "Provisioned"]
        assert (said["status"], said["reason"]) == ("False", "Refused")
        assert "spec.cluster.aks.location: is not a place; write westeurope" in said["message"]
    assert not _of(world, "Lawn")
    assert not _of(world, "CloudNetwork")
