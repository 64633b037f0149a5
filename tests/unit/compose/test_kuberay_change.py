"""A change of what runs with KubeRay: in place where KubeRay applies it, else another RayService, never two at once."""

from __future__ import annotations

import pytest

from modelplane_cli.simulator.offline import World
from tests.support import changes
from tests.support.changes import Change

RAY = changes.Running("kuberay", "RayService", "qwen3-8b")
DEVICES = 8
_image = changes.image("rayproject/ray-llm:2.61.0-py312-cu129")


def _names(world: World) -> list[str]:
    return [one["metadata"]["name"] for one in RAY.objects(world)]


def test_where_there_is_room_a_successor_comes_first() -> None:
    before = RAY.world(workers=2)
    after = RAY.after(before, _image)
    (old,), (new,) = _names(before), _names(after)
    assert new.rpartition("-")[0] == "qwen3-8b-1"
    assert old.rpartition("-")[0] == "qwen3-8b-0"
    assert RAY.status(after)["readyReplicas"] == 1


@pytest.mark.parametrize("change", [_image, changes.fewer])
def test_on_a_full_pool_another_object_takes_the_place(change: Change) -> None:
    before = RAY.world(workers=DEVICES)
    after = RAY.after(before, change)
    (old,), (new,) = _names(before), _names(after)
    assert old != new
    assert {name.rpartition("-")[0] for name in (old, new)} == {"qwen3-8b-0"}
    assert ("2.61.0" in str(RAY.objects(after))) == (change is _image)
    assert RAY.status(after)["readyReplicas"] == 1


def test_what_kuberay_applies_changes_the_object_that_is_there() -> None:
    before = RAY.world(workers=DEVICES)
    after = RAY.after(before, changes.flags)
    assert _names(after) == _names(before)
    assert RAY.objects(after) != RAY.objects(before)
    assert not after.settled.record.deletions


def test_a_cluster_that_changes_replaces_nothing() -> None:
    assert RAY.replaces_nothing(RAY.world(workers=2), 1, nodeSelector={"example.com/pool": "l4"})
