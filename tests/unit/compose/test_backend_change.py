"""The backend of what runs: kept when its record is lost, changed by a move, and only where a cluster offers it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key
from tests.support import rendering
from tests.support.rendering import again, ours

Json = Any
DEPLOYMENT = ours("ModelDeployment", "qwen3-8b", "ml-team")


def _offering(*backends: str) -> World:
    documents = copy.deepcopy(rendering.example("quickstart"))
    for one in documents:
        if one["kind"] == "InferenceCluster":
            one["spec"]["backends"] = list(backends)
    return rendering.world(documents)


def _replicas(world: World) -> dict[str, str]:
    keys = world.store.of_kind("modelplane.ai", "ModelReplica")
    return {key.name: (world.store.get(key) or {})["spec"]["backend"] for key in keys}


def _status(world: World) -> Json:
    return (world.store.get(DEPLOYMENT) or {})["status"]


def _named(backend: str) -> Any:
    def change(objects: dict[Key, Json]) -> None:
        objects[DEPLOYMENT]["spec"]["backend"] = backend

    return change


def test_the_first_capable_one_of_the_clusters_is_taken_and_recorded() -> None:
    assert set(_replicas(_offering("Native", "KServe")).values()) == {"Native"}
    world = _offering("KServe", "Native")
    assert (set(_replicas(world).values()), _status(world)["backend"]) == ({"KServe"}, "KServe")


def test_a_named_backend_replaces_what_runs_by_replicas_of_other_names() -> None:
    before = _offering("KServe", "Native")
    after = again(before, change=_named("Native"))
    assert not after.settled.record.bugs
    assert _status(after)["backend"] == "Native"
    assert _status(after)["readyReplicas"] == 2
    assert set(_replicas(after).values()) == {"Native"}
    # A name may come again once its replica has gone, and never while it is there.
    assert len(after.settled.record.deletions) >= 2


def test_what_runs_stays_where_no_cluster_offers_the_named_one() -> None:
    before = _offering("KServe")
    after = again(before, change=_named("Native"))
    assert _replicas(after) == _replicas(before)
    assert _status(after)["readyReplicas"] == 2
    assert not after.settled.record.deletions


@pytest.mark.parametrize("lost", ["backend", "everything"])
def test_a_lost_record_moves_nothing(lost: str) -> None:
    """The clusters prefer another one by now, and the status no longer says what was chosen."""

    def change(objects: dict[Key, Json]) -> None:
        if lost == "everything":
            objects[DEPLOYMENT].pop("status")
        else:
            objects[DEPLOYMENT]["status"].pop("backend")
        for key, found in objects.items():
            if key.kind == "InferenceCluster":
                found["spec"]["backends"] = ["Native", "KServe"]

    before = _offering("KServe", "Native")
    after = again(before, change=change)
    assert _replicas(after) == _replicas(before)
    assert _status(after)["backend"] == "KServe"
    assert not after.settled.record.deletions


def test_without_a_cluster_no_choice_is_recorded() -> None:
    documents = [one for one in rendering.example("quickstart") if one["kind"] != "InferenceCluster"]
    assert "backend" not in _status(rendering.world(documents))
