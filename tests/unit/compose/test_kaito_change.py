"""A change of what runs with KAITO: a count in place, anything of the pods by another set, never two for one place."""

from __future__ import annotations

import pytest

from tests.support import changes

NAME = "llama-70b"
KAITO = changes.Running("kaito", "InferenceSet", NAME)
FULL = 3


def test_where_there_is_room_a_successor_comes_first() -> None:
    before = KAITO.world(workers=1)
    after = KAITO.after(before, changes.flags)
    (old,), (new,) = KAITO.objects(before), KAITO.objects(after)
    assert old["metadata"]["name"].startswith(f"{NAME}-0-")
    assert new["metadata"]["name"].startswith(f"{NAME}-1-")
    assert KAITO.status(after)["readyReplicas"] == 1


def test_on_a_full_pool_another_set_takes_the_place() -> None:
    before = KAITO.world(workers=FULL)
    after = KAITO.after(before, changes.flags)
    (old,), (new,) = KAITO.objects(before), KAITO.objects(after)
    assert old["metadata"]["name"] != new["metadata"]["name"]
    assert all(one["metadata"]["name"].startswith(f"{NAME}-0-") for one in (old, new))
    assert "--max-model-len=8192" in str(new)
    assert KAITO.status(after)["readyReplicas"] == 1


def test_on_a_full_pool_another_count_changes_the_set_that_is_there() -> None:
    before = KAITO.world(workers=FULL)
    after = KAITO.after(before, changes.fewer)
    (old,), (new,) = KAITO.objects(before), KAITO.objects(after)
    assert old["metadata"]["name"] == new["metadata"]["name"]
    assert (old["spec"]["replicas"], new["spec"]["replicas"]) == (FULL, FULL - 1)
    assert not after.settled.record.deletions


@pytest.mark.parametrize("pool", [0, 1])
def test_a_cluster_that_changes_replaces_nothing(pool: int) -> None:
    assert KAITO.replaces_nothing(KAITO.world(workers=2), pool, nodeSelector={"example.com/pool": "other"})
