"""A ModelCache on the disks of nodes: what KServe is given, what is told of it, and which replicas can mount it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from modelplane.api import model_cache
from modelplane.api import replica as replicas
from modelplane.errors import InvalidInput
from modelplane.render import node_files
from modelplane.render.backends import kserve, selection
from modelplane.workload import cached
from modelplane.workload.model import Replica
from modelplane_functions.compose import model_cache_copy, model_deployment
from modelplane_functions.exchange import Outcome
from tests.support import any_backend, caches, exchange, fleet, replica_world
from tests.support import kserve as shapes
from tests.support import replicas as build

Json = Any
GROUP = "h100-disks"
ON_NODES = {"nodeGroup": GROUP}
CACHE = caches.cache(storage=ON_NODES)
KEY = caches.key_of(CACHE)
URI = f"hf://owner/model:{caches.COMMIT}"
CLUSTERS = (fleet.inference_cluster("a"), fleet.inference_class())


def a_copy(**spec: Json) -> Json:
    found = model_cache.decode(CACHE)
    made = model_cache.Copy("ml-team", "llama-a", "llama", "a", KEY, found.source, found.size, found.storage)
    encoded = model_cache.encode_copy(made)
    encoded["spec"] |= spec
    return encoded


def ask(composite: Json, children: Json = None, store: Any = CLUSTERS) -> Outcome:
    return exchange.settle(model_cache_copy.compose, composite, children=children or {}, store=store)


def reported(nodes: Json, uid: str = "uid-1", **synced: Json) -> dict[str, Json]:
    """Return the children with what KServe says of the nodes."""
    children: dict[str, Json] = {key: copy.deepcopy(one.resource) for key, one in ask(a_copy()).children.items()}
    files = children[node_files.KEY]
    manifest = files["spec"]["forProvider"]["manifest"]
    seen = {**manifest, "metadata": {**manifest["metadata"], "uid": uid}, "status": nodes}
    conditions = [{"type": "Synced", "status": "True", **synced}]
    files["status"] = {"atProvider": {"manifest": seen} if uid else {}, "conditions": conditions}
    return children


COMPLETE = {"copies": {"total": 2, "available": 2}, "nodeStatus": {"n1": "NodeDownloaded", "n2": "NodeDownloaded"}}


def ready() -> tuple[Json, dict[str, Json]]:
    children = reported(COMPLETE)
    outcome = ask(a_copy(), children)
    assert outcome.status["phase"] == "Ready"
    return {**a_copy(), "status": outcome.status}, children


# --- a copy -----------------------------------------------------------------------------------------------------------


def test_kserve_is_given_the_commit_and_no_pod_of_ours_fetches() -> None:
    children = ask(a_copy()).children
    assert sorted(children) == ["namespace", node_files.KEY]
    manifest = children[node_files.KEY].resource["spec"]["forProvider"]["manifest"]
    assert (manifest["kind"], manifest["metadata"]["namespace"]) == ("LocalModelNamespaceCache", "ml-team")
    assert manifest["spec"] == {"sourceModelUri": URI, "modelSize": "100Gi", "nodeGroups": [GROUP]}


def test_no_class_of_storage_is_needed() -> None:
    assert "weightsClassName" not in str(CLUSTERS)
    assert ask(a_copy()).status["reason"] == "NoNodes"


def test_retained_files_outlive_their_copy() -> None:
    kept = ask(a_copy(retention="Retain")).children[node_files.KEY].resource
    assert "Delete" not in kept["spec"]["managementPolicies"]


FAILED = {"copies": {"total": 2, "available": 1, "failed": 1}, "nodeStatus": {"n2": "NodeDownloadError"}}
NOT_SERVED = {"status": "False", "message": 'no matches for kind "LocalModelNamespaceCache"'}


@pytest.mark.parametrize(
    ("status", "synced", "phase", "reason", "says"),
    [
        pytest.param({}, {}, "Pending", "NoNodes", "localModel is enabled in", id="nothing-yet"),
        pytest.param({"copies": {}}, {}, "Pending", "NoNodes", GROUP, id="no-node-of-the-group"),
        pytest.param({"copies": {"total": 2}}, {}, "Staging", "Fetching", "0 of 2 nodes", id="all-fetch"),
        pytest.param(FAILED, {}, "Failed", "NodesFailed", "on n2 the download of KServe", id="one-has-failed"),
        pytest.param(COMPLETE, {}, "Ready", None, "complete", id="complete"),
        pytest.param({}, NOT_SERVED, "Pending", "NotApplied", "no matches for kind", id="kserve-is-without"),
        pytest.param("gone", {}, "Pending", "NoNodes", GROUP, id="of-another-type"),
        pytest.param({"copies": {"total": "2", "available": "2"}}, {}, "Pending", "NoNodes", GROUP, id="texts"),
        pytest.param({"copies": {"total": 0, "available": 0}}, {}, "Pending", "NoNodes", GROUP, id="of-none"),
    ],
)
def test_the_progress_of_the_nodes_is_told(
    status: Json, synced: Json, phase: str, reason: str | None, says: str
) -> None:
    told = ask(a_copy(), reported(status, **synced)).status
    assert (told["phase"], told.get("reason"), says in told["message"] or phase == "Ready") == (phase, reason, True)


@pytest.mark.parametrize("later", [{"copies": {"total": 3, "available": 2}}, {}, FAILED, "gone"])
def test_complete_files_stay_complete_when_another_node_comes(later: Json) -> None:
    composite, _ = ready()
    assert ask(composite, reported(later)).status["phase"] == "Ready"


def test_files_that_were_lost_are_waited_for_again() -> None:
    composite, _ = ready()
    assert ask(composite, reported({}, uid="uid-2")).status["phase"] == "Pending"


def _without_provider() -> Json:
    made = fleet.inference_cluster("a")
    del made["status"]["providerConfigRef"]
    return made


@pytest.mark.parametrize("store", [(), ({**CLUSTERS[0], "spec": {"nodePools": "none"}},), (_without_provider(),)])
def test_nothing_is_removed_while_an_input_is_wrong(store: Any) -> None:
    composite, children = ready()
    outcome = ask(composite, children, store)
    assert outcome.children.keys() == children.keys()
    assert outcome.status["phase"] == "Ready"


# --- its key ----------------------------------------------------------------------------------------------------------


def test_files_elsewhere_have_another_key() -> None:
    """So an edit of the place is one of the source: other files beside, and replicas that are replaced one by one."""
    places: tuple[Json, ...] = ({}, {"nodeGroup": GROUP}, {"nodeGroup": "l4-disks"})
    assert len({caches.key_of(caches.cache(storage=one)) for one in places}) == len(places)


def test_other_storage_leaves_the_key() -> None:
    assert caches.key_of(caches.cache(storage={"className": "nfs"})) == caches.key_of(caches.cache())


# --- replicas ---------------------------------------------------------------------------------------------------------


def deployed(cache: Json, children: Json = None, **spec: Json) -> Outcome:
    composite = fleet.model_deployment(replicas=1)
    composite["spec"] |= {"modelCacheRef": {"name": caches.NAME}, **spec}
    store = (*CLUSTERS, *([] if cache is None else [cache]))
    return exchange.settle(model_deployment.compose, composite, children=children or {}, store=store)


def told(phase: str = "Ready", cache: Json = CACHE) -> Json:
    return caches.told(cache, [("a", caches.key_of(cache), phase)])


def of(outcome: Outcome) -> Any:
    (only,) = [one.resource for key, one in outcome.children.items() if key.startswith("replica-")]
    return only


def test_a_replica_says_which_files_kserve_is_to_mount() -> None:
    spec = of(deployed(told()))["spec"]
    assert (spec["backend"], spec["cacheKey"], spec["cacheUri"]) == ("KServe", KEY, URI)


def test_a_replica_of_a_claim_has_no_uri() -> None:
    assert "cacheUri" not in of(deployed(told(cache=caches.cache())))["spec"]


@pytest.mark.parametrize("cache", [None, {**CACHE, "spec": {}}, {**CACHE, "spec": {"source": 7, "size": "1Gi"}}])
def test_a_replica_keeps_its_files_while_the_cache_cannot_be_read(cache: Json) -> None:
    first = of(deployed(told()))
    owner = fleet.model_deployment(replicas=1)
    children = {f"replica-{first['metadata']['name']}": fleet.controlled(first, owner)}
    again = of(deployed(cache, children))
    assert again["spec"] == first["spec"]


def test_another_backend_is_refused_with_what_to_use() -> None:
    for name in sorted(selection.BACKENDS):
        replica = replace(any_backend.plain(name)[0], model_cache="llama", cache_key=KEY, cache_uri=URI)
        workload = replace(any_backend.workload(replica), cache_key=KEY, cache_uri=URI)
        if name == "KServe":
            selection.check(workload, name)
            continue
        with pytest.raises(InvalidInput, match="modelCacheRef") as refused:
            selection.check(workload, name)
        assert "use" in str(refused.value)


def test_a_deployment_that_names_another_backend_is_refused_at_its_cache() -> None:
    with pytest.raises(InvalidInput, match=r"spec\.modelCacheRef.*storage\.nodeGroup"):
        deployed(told(), backend="Native")


def replica() -> Replica:
    made = build.replica(build.role(), namespace="ml-team")
    return replace(made, model_cache="llama", cache_key=KEY, cache_uri=URI)


def test_a_replica_is_read_as_it_was_written() -> None:
    assert replicas.decode(replicas.encode(replica())) == replica()


def test_kserve_loads_by_the_uri_and_the_engine_reads_the_mount() -> None:
    service = next(one for one in kserve.render(cached.mounted(replica()), shapes.FACTS) if one.key == "workload")
    spec = service.resource["spec"]
    assert spec["model"]["uri"] == URI
    assert "storageInitializer" not in spec, "KServe mounts nothing where it is switched off"
    (engine,) = spec["template"]["containers"]
    assert "/mnt/models" in (*engine["command"], *engine["args"])
    assert "persistentVolumeClaim" not in str(spec["template"]), "the claim is KServe's to name"


def test_a_replica_waits_for_the_nodes() -> None:
    one = replica_world.replica(model_cache="llama", cache_key=KEY, cache_uri=URI)
    waiting = caches.told(CACHE, [(replica_world.CLUSTER, KEY, "Staging")])
    outcome = replica_world.compose(replica_world.composite(one), replica_world.cluster(), waiting)
    assert not outcome.children
    assert "ModelCache llama" in replica_world.message(outcome, "WorkloadReady")
