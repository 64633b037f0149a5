"""A change of what runs with VLLMStack: the VLLMRuntime that is there, or another one where a label changes."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key
from tests.support import changes, production_stack
from tests.support.changes import Change
from tests.support.rendering import again

Json = Any
STACK = changes.Running("vllmstack", "VLLMRuntime", "qwen3-8b")
DEVICES = 16
"""Those of the pool: with as many workers nothing comes up beside what runs."""
_image = changes.image("lmcache/vllm-openai:v0.3.14")


def _world(workers: int) -> World:
    return STACK.world(workers, _small)


def _small(workers: Json) -> None:
    """Ask for as many pods as the CPU of the nodes has room for."""
    workers["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1"


def _labels(workers: Json) -> None:
    workers["template"]["metadata"] = {"labels": {"team": "b"}}


def _ready(world: World) -> int:
    found: int = STACK.status(world)["readyReplicas"]
    return found


def test_where_there_is_room_a_successor_comes_first() -> None:
    before = _world(workers=2)
    after = STACK.after(before, _image)
    (old,), (new,) = (STACK.objects(world) for world in (before, after))
    names = [one["metadata"]["labels"]["modelplane.ai/replica"] for one in (old, new)]
    assert names == ["qwen3-8b-0", "qwen3-8b-1"]
    assert _ready(after) == 1


@pytest.mark.parametrize("change", [changes.flags, _image, changes.fewer])
def test_on_a_full_pool_the_object_that_is_there_changes(change: Change) -> None:
    before = _world(workers=DEVICES)
    after = STACK.after(before, change)
    (old,), (new,) = (STACK.objects(world) for world in (before, after))
    assert old["metadata"]["name"] == new["metadata"]["name"]
    found = production_stack.stored(production_stack.deployment(old))
    made = production_stack.updated(found, new)
    assert made == production_stack.stored(production_stack.deployment(new))
    assert (made["spec"]["template"] == found["spec"]["template"]) == (change is changes.fewer)
    assert not after.settled.record.deletions
    assert _ready(after) == 1


def test_on_a_full_pool_another_label_is_another_object_in_the_same_place() -> None:
    before = _world(workers=DEVICES)
    after = STACK.after(before, _labels)
    (old,), (new,) = (STACK.objects(world) for world in (before, after))
    assert old["metadata"]["name"] != new["metadata"]["name"]
    assert new["metadata"]["labels"] == {**old["metadata"]["labels"], "team": "b"}
    assert _ready(after) == 1


def test_a_cluster_that_changes_replaces_nothing() -> None:
    before = _world(workers=2)
    assert STACK.replaces_nothing(before, 0, nodeSelector={"example.com/pool": "l40s"}, taints=[])


def test_a_pool_whose_devices_are_claimed_is_none_for_it() -> None:
    """The class is edited: what runs stays as it is, and nothing more is placed there."""

    def apply(found: dict[Key, Json]) -> None:
        for key, one in found.items():
            if key.kind == "InferenceClass" and key.name == "l40s-8x":
                (device,) = one["spec"]["devices"]
                del device["resourceName"]
                device |= {"claim": "DRA", "deviceClassName": "gpu.nvidia.com"}
        found[STACK.deployment]["spec"]["replicas"] = 2

    before = _world(workers=2)
    after = again(before, change=apply)
    assert STACK.objects(after) == STACK.objects(before)
    (scheduled,) = (one for one in STACK.status(after)["conditions"] if one["type"] == "ReplicasScheduled")
    assert scheduled["message"].startswith("1 of 2 replicas are placed")
