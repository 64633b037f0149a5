"""A deployment that names a ModelCache: where its replicas go, what they mount, and what an edit of the source does."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Outcome
from tests.support import caches, exchange, fleet

Json = Any
KEY = caches.key_of(caches.cache())
ANY: dict[str, str] = {}
FLEET = (fleet.inference_cluster("a"), fleet.inference_cluster("b"), fleet.inference_class())


def deployment(*, uri: bool = True, **spec: Json) -> Json:
    made = fleet.model_deployment(replicas=1)
    made["spec"] |= {"modelCacheRef": {"name": caches.NAME}, **spec}
    if not uri:
        del made["spec"]["model"]["uri"]
    return made


def staged(*clusters: str, phase: str = "Ready", mode: str = "ReadWriteMany", **cache: Json) -> Json:
    made = caches.cache(**cache)
    resource = caches.told(made, [(cluster, caches.key_of(made), phase) for cluster in clusters])
    for one in resource["status"]["clusters"]:
        one |= {"accessMode": mode, "reason": "Fetching", "message": "the files are fetched"}
    return resource


def ask(composite: Json, *cache: Json, children: Json = None) -> Outcome:
    return exchange.settle(model_deployment.compose, composite, children=children or {}, store=(*FLEET, *cache))


def replicas(outcome: Outcome) -> list[Json]:
    return [one.resource["spec"] for key, one in sorted(outcome.children.items()) if key.startswith("replica-")]


def scheduled(outcome: Outcome) -> Any:
    return next(one for one in outcome.conditions if one.type == "ReplicasScheduled")


def test_a_required_cache_keeps_replicas_from_clusters_without_it() -> None:
    (only,) = replicas(ask(deployment(), staged("b", labels=ANY)))
    assert (only["clusterName"], only["cacheKey"]) == ("b", KEY)


def test_where_no_cluster_holds_it_the_replica_waits_and_says_why() -> None:
    outcome = ask(deployment(), staged("a", "b", phase="Staging", labels=ANY))
    assert not replicas(outcome)
    assert scheduled(outcome).reason == "CacheNotReady"
    assert outcome.status["unschedulable"]["reasons"][0]["reason"] == "CacheNotReady"


def test_a_cache_that_follows_is_preferred_and_waited_for() -> None:
    assert replicas(ask(deployment(), staged("b")))[0]["clusterName"] == "b"
    (only,) = replicas(ask(deployment(), staged()))
    assert only["cacheKey"] == KEY


def test_a_preferred_cache_is_used_where_it_is_and_the_model_fetched_elsewhere() -> None:
    preferred = staged("b", placement="Prefer", labels=ANY)
    outcome = ask(deployment(replicas=2), preferred)
    assert {(one["clusterName"], one.get("cacheKey")) for one in replicas(outcome)} == {("b", KEY), ("a", None)}


def test_a_replica_that_fetches_goes_on_when_the_files_arrive() -> None:
    first = ask(deployment(replicas=2), staged("b", placement="Prefer", labels=ANY))
    children = {key: fleet.controlled(one.resource, deployment()) for key, one in first.children.items()}
    outcome = ask(deployment(replicas=2), staged("a", "b", placement="Prefer", labels=ANY), children=children)
    assert replicas(outcome) == replicas(first)


NO_CACHE = {
    "it-does-not-exist": (),
    "it-cannot-be-read": ({**caches.cache(), "spec": {"source": {}, "size": "1Gi"}},),
    "it-has-a-number-for-a-source": ({**caches.cache(), "spec": {"source": 7, "size": "1Gi"}},),
}


@pytest.mark.parametrize("store", NO_CACHE.values(), ids=NO_CACHE)
def test_without_a_usable_cache_nothing_new_is_placed_and_what_runs_is_kept(store: tuple[Json, ...]) -> None:
    outcome = ask(deployment(), *store)
    assert not replicas(outcome)
    assert "ModelCache llama" in scheduled(outcome).message
    first = ask(deployment(), staged("b", labels=ANY))
    children = {key: fleet.controlled(one.resource, deployment()) for key, one in first.children.items()}
    assert replicas(ask(deployment(), *store, children=children)) == replicas(first)


def test_a_source_that_changes_makes_the_replica_outdated_and_takes_nothing_away() -> None:
    first = ask(deployment(), staged("b", labels=ANY))
    children = {key: fleet.controlled(one.resource, deployment()) for key, one in first.children.items()}
    edited = caches.cache(labels=ANY, revision="b" * 40)
    waits = ask(deployment(), caches.told(edited, [("b", KEY, "Retained")]), children=children)
    assert children.keys() <= waits.children.keys()
    assert all(one["cacheKey"] in (KEY, caches.key_of(edited)) for one in replicas(waits))
    moved = ask(deployment(), caches.told(edited, [("b", caches.key_of(edited), "Ready")]), children=children)
    assert caches.key_of(edited) in {one["cacheKey"] for one in replicas(moved)}


@pytest.mark.parametrize(
    ("composite", "cache", "says"),
    [
        pytest.param(
            deployment(uri=False), staged("b", placement="Prefer", labels=ANY), "write model.uri", id="nothing-to-fetch"
        ),
        pytest.param(
            deployment(model={"name": "m", "uri": "pvc://c/p"}), staged("b"), "already names a volume", id="two-volumes"
        ),
        pytest.param(
            deployment(backend="VLLMStack"), staged("b"), "mounts no volume", id="a-backend-without-volumes"
        ),
        pytest.param(
            deployment(workers={**deployment()["spec"]["workers"], "count": 2}),
            staged("b", storage={"accessMode": "ReadWriteOnce"}), "ReadWriteMany", id="a-claim-that-cannot-be-shared",
        ),
    ],
)  # fmt: skip
def test_what_can_never_work_is_refused_at_its_field(composite: Json, cache: Json, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        ask(composite, cache)
    assert caught.value.path == ("spec", "modelCacheRef")


def test_a_claim_of_one_node_is_not_ready_for_several_pods() -> None:
    wanted = deployment(workers={**copy.deepcopy(deployment()["spec"]["workers"]), "count": 2})
    outcome = ask(wanted, staged("b", mode="ReadWriteOnce", labels=ANY))
    assert not replicas(outcome)
