"""`modelplane explain` of services, endpoints and clusters: what is not as wanted, and what it stands on."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from modelplane_cli.output import inspection_text, models
from modelplane_cli.output.screen import Screen
from modelplane_cli.planning import inspection
from modelplane_cli.simulator.store import Key
from tests.support import planning as given
from tests.support import rendering
from tests.unit.cli.test_routes import world

Json = Any
SINCE = "2026-11-23T01:02:03Z"
REFUSED = "observe failed: connection refused"


@pytest.fixture(scope="module")
def settled() -> list[Json]:
    """Return a fleet as a control plane holds it: `llama` on the clusters a and b, and a canary. All is well."""
    store = rendering.world(world(("llama", 95, 0), ("llama-canary", 5, 0))).store
    found = [copy.deepcopy(store.get(key) or {}) for key in store]
    for one in found:
        one["metadata"].get("annotations", {}).pop("render.modelplane.ai/assumed", None)
    return found


def explain(tmp_path: Path, objects: list[Json], subject: str) -> given.Run:
    file = tmp_path / "fleet.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return given.run("explain", str(file), subject, "-n", "ml-team", "-o", "json")


def text(tmp_path: Path, subject: str) -> str:
    return given.run("explain", str(tmp_path / "fleet.json"), subject, "-n", "ml-team").out


def changed(objects: list[Json], kind: str, name: str) -> tuple[list[Json], Json]:
    """Return a copy of the objects, and in it the one of that name."""
    copied = copy.deepcopy(objects)
    (found,) = (one for one in copied if (one["kind"], one["metadata"]["name"]) == (kind, name))
    return copied, found


def unreachable(objects: list[Json], cluster: str) -> list[Json]:
    """Return the objects where nothing of a cluster is read any more."""
    found = copy.deepcopy(objects)
    for one in found:
        if one["kind"] == "Object" and one["spec"]["providerConfigRef"]["name"] == f"modelplane-{cluster}":
            said = {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": REFUSED}
            one["status"]["conditions"] = [{**said, "lastTransitionTime": SINCE}]
    return found


@pytest.mark.parametrize("subject", ["ms/chat", "modelservice/chat", "me/llama-0", "ic/a", "InferenceClusters/b"])
def test_what_is_as_wanted_has_no_cause(tmp_path: Path, settled: list[Json], subject: str) -> None:
    found = explain(tmp_path, settled, subject)
    assert (found.code, found.err) == (0, "")
    assert found.json["asWanted"] is True
    assert found.json["causes"] == []
    models.adapter("explain").validate_python(found.json)
    assert "!" not in text(tmp_path, subject)


def test_the_shares_of_endpoints_are_those_of_their_groups(tmp_path: Path, settled: list[Json]) -> None:
    found = explain(tmp_path, settled, "ms/chat").json
    assert [group["share"] for group in found["groups"]] == [0.95, 0.05]
    assert sum(one["share"] for one in found["endpoints"]) == pytest.approx(1, abs=1e-5)
    for one in found["endpoints"]:
        (selected,) = explain(tmp_path, settled, f"me/{one['name']}").json["services"]
        assert selected == {"name": "chat", "share": one["share"]}


def test_a_url_is_explained_by_the_cluster_that_does_not_answer(tmp_path: Path, settled: list[Json]) -> None:
    objects = unreachable(settled, "b")
    cluster = explain(tmp_path, objects, "ic/b")
    assert cluster.code == 1
    assert cluster.json["causes"][0]["condition"] == "ClusterReady"
    assert REFUSED in cluster.json["causes"][0]["message"]
    assert "ClusterReady is False (Unreachable)" in cluster.json["message"]
    endpoint = explain(tmp_path, objects, "me/llama-0").json
    about = [(one["kind"], one["name"]) for one in endpoint["causes"]]
    if not endpoint["asWanted"]:
        assert about[0] == ("InferenceCluster", "b"), "what stands deepest is first"
    for found in (cluster.json, endpoint):
        models.adapter("explain").validate_python(found)
    assert "! ic/b ClusterReady is False (Unreachable)" in text(tmp_path, "ic/b")


def test_pods_that_do_not_start_explain_the_endpoint_and_the_service(tmp_path: Path, settled: list[Json]) -> None:
    objects, workload = changed(settled, "Object", "llama-0-workload")
    status = workload["status"]["atProvider"]["manifest"]["status"]
    for one in status["conditions"]:
        one |= {
            "status": "False",
            "reason": "ImagePullBackOff",
            "message": "no such image",
            "lastTransitionTime": SINCE,
        }
    status["workloads"]["primary"]["readyReplicas"] = 0
    service = explain(tmp_path, objects, "ms/chat")
    assert service.code == 1
    first, *others = service.json["endpoints"]
    assert (first["name"], first["ready"], first["share"]) == ("llama-0", False, 0.0)
    assert all(one["ready"] and not one["causes"] for one in others)
    assert (first["causes"][0]["kind"], first["causes"][0]["name"]) == ("ModelReplica", "llama-0")
    assert service.json["message"] == "3 of 4 endpoints are ready"
    assert ("ModelDeployment", "llama") in {(one["kind"], one["name"]) for one in service.json["causes"]}
    endpoint = explain(tmp_path, objects, "me/llama-0")
    assert (endpoint.code, endpoint.out) == (2, "")
    assert "a replica has one while it serves: explain mr/llama-0" in endpoint.err
    shown = text(tmp_path, "ms/chat")
    assert "mr/llama-0 -n ml-team" in shown, "the next command is named"
    tenants = {one["name"]: one["cause"] for one in explain(tmp_path, objects, "ic/b").json["replicas"]}
    assert tenants.pop("llama-0")["kind"] == "ModelReplica"
    assert set(tenants.values()) == {None}


@pytest.mark.parametrize(
    ("selected", "said"),
    [
        pytest.param("lama", "modelplane.ai/deployment=lama matches no endpoint; did you mean", id="a misspelt name"),
        pytest.param("zzz", "modelplane.ai/deployment=zzz matches no endpoint", id="a name like no other"),
    ],
)
def test_a_service_that_selects_nothing_says_so(tmp_path: Path, selected: str, said: str) -> None:
    found = explain(tmp_path, world((selected, 1, 0)), "ms/chat")
    assert found.code == 1
    assert found.json["message"].startswith(f"no endpoint receives requests: {said}")
    assert found.json["endpoints"] == []
    models.adapter("explain").validate_python(found.json)


@pytest.mark.parametrize(
    ("kind", "name", "subject"),
    [
        pytest.param("ModelService", "chat", "ms/chat", id="service"),
        pytest.param("ModelEndpoint", "llama-1", "me/llama-1", id="endpoint"),
        pytest.param("InferenceCluster", "a", "ic/a", id="cluster"),
    ],
)
def test_what_the_control_plane_cannot_reconcile_is_said_though_a_rehearsal_can(
    tmp_path: Path, settled: list[Json], kind: str, name: str, subject: str
) -> None:
    objects, one = changed(settled, kind, name)
    said = {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": "cannot run function"}
    others = [condition for condition in one["status"]["conditions"] if condition["type"] != "Synced"]
    one["status"]["conditions"] = [*others, {**said, "lastTransitionTime": SINCE}]
    found = explain(tmp_path, objects, subject)
    assert (found.code, found.json["asWanted"]) == (1, False)
    assert (found.json["causes"][0]["message"], found.json["causes"][0]["since"]) == ("cannot run function", SINCE)
    models.adapter("explain").validate_python(found.json)


def test_a_service_over_a_deployment_that_fits_nowhere_names_it(tmp_path: Path) -> None:
    objects = world(("llama", 1, 0))
    (deployment,) = (one for one in objects if one["metadata"]["name"] == "llama")
    deployment["spec"]["workers"]["topology"] = {"tensor": 64}
    found = explain(tmp_path, objects, "ms/chat").json
    about = {(one["kind"], one["name"]) for one in found["causes"]}
    assert about == {("ModelService", "chat"), ("ModelDeployment", "llama")}, "and not the canary"
    assert "md/llama" in text(tmp_path, "ms/chat")


def test_an_endpoint_that_no_service_selects_says_so(tmp_path: Path) -> None:
    found = explain(tmp_path, world(("llama-canary", 1, 0)), "me/llama-0")
    assert found.code == 0
    assert "no ModelService selects it" in found.json["message"]


def test_replicas_that_a_cluster_refuses_come_first_with_its_words(tmp_path: Path, settled: list[Json]) -> None:
    objects, placed = changed(settled, "ModelReplica", "llama-0")
    for number in range(7):
        other = copy.deepcopy(placed)
        other["metadata"] |= {"name": f"other-{number}", "uid": f"uid-other-{number}"}
        for part in ("ownerReferences", "annotations"):
            other["metadata"].pop(part, None)
        del other["status"]
        other["spec"].get("crossplane", {}).pop("resourceRefs", None)
        objects.append(other)
    found = explain(tmp_path, objects, "ic/b")
    assert found.code == 1
    admissions = [one["admission"] for one in found.json["replicas"]]
    assert admissions == sorted(admissions, key=lambda one: one == "Admitted")
    refused = [one for one in found.json["replicas"] if one["admission"] == "Refused"]
    assert [one["reason"] for one in refused] == ["NotControlled"] * 7
    assert all("other-" in one["name"] and one["message"] for one in refused)
    models.adapter("explain").validate_python(found.json)


def test_a_cluster_whose_class_is_gone_is_explained_without_pools_counts(tmp_path: Path, settled: list[Json]) -> None:
    objects = [one for one in settled if one["kind"] != "InferenceClass"]
    found = explain(tmp_path, objects, "ic/a")
    assert found.code == 1
    assert any("does not exist; create it" in one["message"] for one in found.json["causes"])
    assert [pool["devices"] for pool in found.json["pools"]] == [{}]
    models.adapter("explain").validate_python(found.json)


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        pytest.param("ic/aa", "no InferenceCluster aa; did you mean a?", id="a cluster that is not there"),
        pytest.param(
            "ms/chatt", "no ModelService chatt in namespace ml-team; did you mean ml-team/chat?", id="a service"
        ),
        pytest.param("mc/x", "no ModelCache x in namespace ml-team; there is none", id="a cache"),
        pytest.param("iq/x", "iq/x is not a KIND/NAME: write md/NAME, mr/NAME, ms/NAME", id="another kind"),
        pytest.param("ms/", "ms/ is not a KIND/NAME", id="no name"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(tmp_path: Path, settled: list[Json], subject: str, said: str) -> None:
    found = explain(tmp_path, settled, subject)
    assert (found.code, found.out) == (2, "")
    assert said in found.err


# --- caches -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cached() -> list[Json]:
    """Return the fleet of the example of caches as a control plane holds it."""
    store = rendering.world(rendering.example("cache")).store
    found = [copy.deepcopy(store.get(key) or {}) for key in store]
    for one in found:
        one["metadata"].get("annotations", {}).pop("render.modelplane.ai/assumed", None)
    return found


def test_a_cache_names_its_clusters_and_its_users(tmp_path: Path, cached: list[Json]) -> None:
    found = explain(tmp_path, cached, "mc/llama-70b")
    assert (found.code, found.err) == (0, "")
    assert found.json["message"] == "2 of 2 clusters hold the files"
    assert {one["cluster"]: one["phase"] for one in found.json["clusters"]} == {"eks-us": "Ready", "gke-us": "Ready"}
    assert found.json["usedBy"]
    assert found.json["source"].startswith("hf://meta-llama/Llama-3.3-70B-Instruct@")
    models.adapter("explain").validate_python(found.json)
    assert "eks-us" in text(tmp_path, "modelcache/llama-70b")


def test_a_cluster_that_does_not_answer_explains_a_cache_that_is_not_there(tmp_path: Path, cached: list[Json]) -> None:
    objects = unreachable(cached, "eks-us")
    for one in objects:
        if one["kind"] in ("ModelCache", "ModelCacheCopy"):
            del one["status"]
        elif one["metadata"]["name"].startswith("llama-70b-eks-us-"):
            del one["status"]["atProvider"]
    found = explain(tmp_path, objects, "mc/llama-70b")
    assert found.code == 1
    waiting, complete = found.json["clusters"]
    assert (waiting["cluster"], waiting["causes"][0]["kind"]) == ("eks-us", "InferenceCluster")
    assert (complete["phase"], complete["causes"]) == ("Ready", [])
    assert found.json["message"] == "1 of 2 clusters hold the files; not complete on eks-us"
    models.adapter("explain").validate_python(found.json)
    assert " ic/eks-us" in text(tmp_path, "mc/llama-70b")


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_the_screen(settled: list[Json], width: int) -> None:
    objects, workload = changed(unreachable(settled, "a"), "Object", "llama-0-workload")
    for one in workload["status"]["atProvider"]["manifest"]["status"]["conditions"]:
        one |= {"status": "False", "reason": "ImagePullBackOff", "message": "no such image " * 30}
    there = rendering.world(objects)
    for kind, namespace, name in (
        ("ModelService", "ml-team", "chat"),
        ("ModelEndpoint", "ml-team", "llama-0"),
        ("InferenceCluster", "", "a"),
        ("InferenceCluster", "", "b"),
    ):
        state = inspection.of(there, Key("modelplane.ai", kind, namespace, name))
        lines = inspection_text.text(state, Screen(width=width)).splitlines()
        assert max(map(len, lines)) <= width, (kind, name)
