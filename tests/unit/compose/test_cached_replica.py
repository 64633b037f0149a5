"""A replica that runs from a ModelCache: when it is rendered, what it mounts, and what it says of that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from modelplane.workload import cached
from modelplane.workload.model import Model
from tests.support import caches
from tests.support import replica_world as world

Json = Any
KEY, NEXT = caches.key_of(caches.cache()), "fedcba9876543210"
CLAIM = cached.claim_name(caches.NAME, KEY)


def a_replica(key: str = KEY) -> Any:
    return world.replica(model=Model("llama", "hf://owner/model"), model_cache=caches.NAME, cache_key=key)


def told(*entries: tuple[str, str, str], **more: Json) -> Json:
    resource = caches.told(caches.cache(), entries)
    for one in resource["status"]["clusters"]:
        one.update(more)
    return resource


READY = told((world.CLUSTER, KEY, "Ready"))


def running() -> tuple[Json, Json]:
    """Return a replica that runs from its cache, and its children."""
    wanted, status, children = a_replica(), None, dict[str, Json]()
    for _ in range(5):
        outcome = world.compose(world.composite(wanted, status), world.cluster(), READY, children=children)
        children, status = world.applied(outcome), outcome.status
    return world.composite(wanted, status), children


NOT_THERE = {
    "no-cache": (),
    "a-cache-that-says-nothing": (caches.cache(),),
    "of-another-cluster": (told(("elsewhere", KEY, "Ready")),),
    "of-another-key": (told((world.CLUSTER, NEXT, "Ready")),),
    "pending": (told((world.CLUSTER, KEY, "Pending")),),
    "staging": (told((world.CLUSTER, KEY, "Staging"), reason="Fetching", message="the files are fetched"),),
    "failed": (told((world.CLUSTER, KEY, "Failed"), reason="NoSpace", message="raise spec.size"),),
    "about-to-be-removed": (told((world.CLUSTER, KEY, "Retained"), reason="NotWanted"),),
    "a-status-of-another-type": ({**caches.cache(), "status": {"clusters": "all"}},),
}


@pytest.mark.parametrize("store", NOT_THERE.values(), ids=NOT_THERE)
def test_a_replica_waits_until_its_files_are_there(store: tuple[Json, ...]) -> None:
    outcome = world.compose(world.composite(a_replica()), world.cluster(), *store)
    assert not outcome.children
    assert "ModelCache llama" in world.message(outcome, "WorkloadReady")


def test_the_wait_names_the_cause_on_the_cluster() -> None:
    outcome = world.compose(world.composite(a_replica()), world.cluster(), *NOT_THERE["failed"])
    assert "raise spec.size" in world.message(outcome, "WorkloadReady")


@pytest.mark.parametrize("store", NOT_THERE.values(), ids=NOT_THERE)
def test_a_replica_that_runs_is_untouched_whatever_its_cache_says(store: tuple[Json, ...]) -> None:
    composite, children = running()
    outcome = world.compose(composite, world.cluster(), *store, children=children)
    desired = {key: child.resource["spec"] for key, child in outcome.children.items()}
    assert desired == {key: child["spec"] for key, child in children.items()}


def test_the_files_are_mounted_and_not_fetched() -> None:
    composite, children = running()
    service = children["workload"]["spec"]["forProvider"]["manifest"]
    assert service["spec"]["model"]["uri"] == f"pvc://{CLAIM}/{KEY}"
    assert composite["status"]["mountedCaches"] == [f"llama/{KEY}"]


def test_a_replica_without_a_key_fetches_its_model_and_asks_for_no_cache() -> None:
    outcome = world.compose(world.composite(a_replica("")), world.cluster())
    service = outcome.children["workload"].resource["spec"]["forProvider"]["manifest"]
    assert "pvc://" not in repr(service)
    assert "cache" not in outcome.requirements
    assert "mountedCaches" not in outcome.status


def test_after_a_change_both_keys_count_until_the_new_workers_are_ready() -> None:
    composite, children = running()
    changed = {**world.composite(a_replica(NEXT)), "status": composite["status"]}
    changed["metadata"]["generation"] = 2
    waits = world.compose(changed, world.cluster(), READY, children=children)
    kept = waits.children["workload"].resource["spec"]["forProvider"]["manifest"]
    assert kept["spec"]["model"]["uri"] == f"pvc://{CLAIM}/{KEY}"
    assert waits.status["mountedCaches"] == [f"llama/{KEY}"]
    both = told((world.CLUSTER, KEY, "Retained"), (world.CLUSTER, NEXT, "Ready"))
    moved = world.compose({**changed, "status": waits.status}, world.cluster(), both, children=children)
    assert moved.status["mountedCaches"] == [f"llama/{KEY}", f"llama/{NEXT}"]
    applied = world.applied(moved)
    settled = world.compose({**changed, "status": moved.status}, world.cluster(), both, children=applied)
    assert settled.status["mountedCaches"] == [f"llama/{NEXT}"]


def test_a_lost_record_is_read_from_what_runs() -> None:
    composite, children = running()
    changed = {**world.composite(a_replica(NEXT)), "status": {}}
    outcome = world.compose({**composite, **changed}, world.cluster(), READY, children=children)
    assert f"llama/{KEY}" in outcome.status["mountedCaches"]


@pytest.mark.parametrize(
    ("mode", "pods", "renders"),
    [
        pytest.param("ReadWriteOnce", 1, True, id="one-pod-of-one-node"),
        pytest.param("ReadWriteOnce", 2, False, id="two-pods-that-cannot-share-it"),
        pytest.param("ReadWriteMany", 2, True, id="two-pods-that-can"),
    ],
)
def test_a_claim_of_one_node_serves_one_pod(mode: str, pods: int, renders: bool) -> None:  # noqa: FBT001 - a table
    wanted = a_replica()
    (bound,) = wanted.roles
    wanted = replace(wanted, roles=(replace(bound, spec=replace(bound.spec, workers=pods)),))
    entry = told((world.CLUSTER, KEY, "Ready"), accessMode=mode)
    outcome = world.compose(world.composite(wanted), world.cluster(), entry)
    assert bool(outcome.children) is renders
    if not renders:
        assert "ReadWriteMany" in world.message(outcome, "WorkloadReady")
