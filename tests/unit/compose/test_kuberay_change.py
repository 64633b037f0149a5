"""A change of what runs with KubeRay: in place where KubeRay applies it, else another RayService, never two at once."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane.render import objects
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key
from tests.support import rendering
from tests.support.rendering import again, ours

Json = Any
DEPLOYMENT = ours("ModelDeployment", "qwen3-8b", "ml-team")
DEVICES = 8


def _world(workers: int) -> World:
    documents = [
        copy.deepcopy(one)
        for one in rendering.example("backends/kuberay")
        if one["kind"] != "ModelDeployment" or one["metadata"]["name"] == "qwen3-8b"
    ]
    for one in documents:
        if one["kind"] == "ModelDeployment":
            one["spec"]["workers"]["count"] = workers
    return rendering.world(documents)


def _services(world: World) -> list[Json]:
    found = [world.store.get(key) or {} for key in world.store.of_kind("kubernetes.m.crossplane.io", "Object")]
    return [dict(objects.unwrap(one)) for one in found if objects.unwrap(one).get("kind") == "RayService"]


def _names(world: World) -> list[str]:
    return [one["metadata"]["name"] for one in _services(world)]


def _changed(change: Callable[[Json], None]) -> Any:
    def apply(found: dict[Key, Json]) -> None:
        change(found[DEPLOYMENT]["spec"]["workers"])

    return apply


def _image(workers: Json) -> None:
    workers["template"]["spec"]["containers"][0]["image"] = "rayproject/ray-llm:2.61.0-py312-cu129"


def _flags(workers: Json) -> None:
    workers["template"]["spec"]["containers"][0]["args"] = ["--max-model-len=8192"]


def _fewer(workers: Json) -> None:
    workers["count"] -= 1


def _status(world: World) -> Json:
    return (world.store.get(DEPLOYMENT) or {})["status"]


def test_where_there_is_room_a_successor_comes_first() -> None:
    before = _world(workers=2)
    after = again(before, change=_changed(_image))
    assert not after.settled.record.bugs
    (old,), (new,) = _names(before), _names(after)
    assert new.rpartition("-")[0] == "qwen3-8b-1"
    assert old.rpartition("-")[0] == "qwen3-8b-0"
    assert _status(after)["readyReplicas"] == 1


@pytest.mark.parametrize("change", [_image, _fewer])
def test_on_a_full_pool_another_object_takes_the_place(change: Callable[[Json], None]) -> None:
    before = _world(workers=DEVICES)
    after = again(before, change=_changed(change))
    assert not after.settled.record.bugs
    (old,), (new,) = _names(before), _names(after)
    assert old != new
    assert {name.rpartition("-")[0] for name in (old, new)} == {"qwen3-8b-0"}
    assert ("2.61.0" in str(_services(after))) == (change is _image)
    assert _status(after)["readyReplicas"] == 1


def test_what_kuberay_applies_changes_the_object_that_is_there() -> None:
    before = _world(workers=DEVICES)
    after = again(before, change=_changed(_flags))
    assert not after.settled.record.bugs
    assert _names(after) == _names(before)
    assert _services(after) != _services(before)
    assert not after.settled.record.deletions


def test_a_cluster_that_changes_replaces_nothing() -> None:
    def apply(found: dict[Key, Json]) -> None:
        for key, one in found.items():
            if key.kind == "InferenceCluster":
                one["spec"]["nodePools"][1]["nodeSelector"] = {"example.com/pool": "l4"}

    before = _world(workers=2)
    after = again(before, change=apply)
    assert _services(after) == _services(before)
    assert not after.settled.record.deletions
