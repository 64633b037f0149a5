"""`modelplane explain`: why a replica is where it is, why it is nowhere else, and what would make one more fit."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.render.backends import selection
from modelplane_cli.planning import decision, explanation
from modelplane_cli.planning.replicas import Deployment
from tests.support import planning as given
from tests.support import rendering

Json = Any

WANTS_140 = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("140Gi")) >= 0'


def world(*, replicas: int = 2, tensor: int = 8, **nodes: int) -> list[Json]:
    clusters = [given.cluster(name, nodes=count) for name, count in (nodes or {"a": 2, "b": 2}).items()]
    return [given.node_class(), *clusters, given.deployment(replicas=replicas, tensor=tensor)]


def run(tmp_path: Path, objects: list[Json], subject: str = "md/llama", *arguments: str) -> given.Run:
    file = given.written(tmp_path, "now", *objects)
    return given.run("explain", file, subject, "-n", "ml-team", "-o", "json", *arguments)


def test_the_promised_shape(tmp_path: Path) -> None:
    ran = run(tmp_path, world(replicas=5))
    assert (ran.code, ran.err) == (1, "")
    said = ran.json
    assert (said["namespace"], said["name"]) == ("ml-team", "llama")
    assert said["message"].startswith("0/2 clusters fit: 2 not enough devices")
    assert [one["cluster"] for one in said["clusters"]] == ["a", "b"]
    first = said["clusters"][0]
    assert (first["fits"], first["reason"]) == (False, "InsufficientDevices")
    (pool,) = first["pools"]
    assert (pool["pool"], pool["role"], pool["fits"], pool["reason"]) == ("gpu", "decode", False, "InsufficientDevices")
    assert pool["detail"]
    assert said["closest"]["cluster"] in ("a", "b")
    assert said["closest"]["wouldFitIf"] == "pool gpu had 1 more free node"
    assert said["closest"]["misses"]


def test_what_would_make_it_fit_makes_it_fit(tmp_path: Path) -> None:
    objects = world(replicas=5)
    closest = run(tmp_path, objects).json["closest"]
    cluster = next(one for one in objects if one["metadata"]["name"] == closest["cluster"])
    cluster["spec"]["nodePools"][0]["nodeCount"] += 1
    assert run(tmp_path, objects).code == 0


def test_a_device_that_never_matches_is_named_with_what_it_has(tmp_path: Path) -> None:
    objects = world(replicas=1)
    objects[-1]["spec"]["nodeSelector"]["cel"] = WANTS_140
    ran = run(tmp_path, objects)
    assert ran.code == 1
    assert "81559Mi" in ran.json["message"]
    assert {one["reason"] for one in ran.json["clusters"]} == {"NoMatchingDevice"}
    assert "140Gi" in ran.json["closest"]["wouldFitIf"] or "81559Mi" in ran.json["closest"]["wouldFitIf"]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        pytest.param(
            {}, ("b", False, "Spread: it has 1 other replica of the deployment against 0"), id="spread over clusters"
        ),
        pytest.param(
            {"placement": {"strategy": "Pack"}},
            ("b", False, "Pack: it has 0 other replicas of the deployment against 1"),
            id="packed on one cluster",
        ),
    ],
)
def test_a_replica_is_where_it_is_for_a_reason(tmp_path: Path, edit: Json, expected: Json) -> None:
    objects = world(tensor=2)
    objects[-1]["spec"].update(edit)
    first = next(one for one in run(tmp_path, objects).json["replicas"] if one["cluster"] == "a")
    (rival,) = first["wouldAlsoFit"]
    assert (rival["cluster"], rival["preferred"], rival["why"]) == expected


def test_the_cheaper_cluster_comes_first(tmp_path: Path) -> None:
    objects = [
        given.node_class("dear", price="90.00"),
        given.node_class("cheap", price="30.00"),
        given.cluster("a", class_name="dear"),
        given.cluster("b", class_name="cheap"),
        given.deployment(replicas=1, tensor=8),
    ]
    (replica,) = run(tmp_path, objects).json["replicas"]
    assert replica["cluster"] == "b"
    (rival,) = replica["wouldAlsoFit"]
    assert rival["why"] == "its new nodes would cost 90.00 per hour against 30.00"


def test_a_replica_is_judged_as_if_it_were_not_there(tmp_path: Path) -> None:
    """The full fleet has no room for one more, and room for the very replica that fills it."""
    objects = world(replicas=2, a=1, b=1)
    assert all(not one["fits"] for one in run(tmp_path, objects).json["clusters"])
    ran = run(tmp_path, objects, "mr/llama-0")
    own = ran.json["replicas"][0]["cluster"]
    assert {one["cluster"]: one["fits"] for one in ran.json["clusters"]} == {own: True, "ab".replace(own, ""): False}
    assert ran.code == 0


def test_where_some_are_missing_the_others_still_stand_where_they_fit(tmp_path: Path) -> None:
    """The place of a replica taken away is free, and not taken at once by one of those that are missing."""
    objects = world(replicas=9)
    said = run(tmp_path, objects).json
    assert {one["fits"] for one in said["replicas"]} == {True}, "each would be placed there today"
    assert len(said["replicas"]) == 4
    one = run(tmp_path, objects, "mr/llama-0").json
    own = said["replicas"][0]["cluster"]
    assert [verdict["cluster"] for verdict in one["clusters"] if verdict["fits"]] == [own]
    limited = world(replicas=3)
    limited[-1]["spec"]["placement"] = {"maxReplicasPerCluster": 1}
    assert {one["fits"] for one in run(tmp_path, limited).json["replicas"]} == {True}


def test_what_a_cluster_refuses_today_is_kept_and_said(tmp_path: Path) -> None:
    objects = world(replicas=1, a=1)
    settled = rendering.world(objects)
    key = rendering.ours("InferenceCluster", "a")
    cordoned = settled.store.get(key) or {}
    taint = {"key": "cordon", "effect": "NoSchedule"}
    settled.store.put({**cordoned, "spec": {**cordoned["spec"], "taints": [taint]}})
    answer = explanation.deployment(decision.of(settled.store, Deployment("ml-team", "llama")))
    (standing,) = answer.standings
    assert standing.fits is not None
    assert (standing.fits.fits, str(standing.fits.reason)) == (False, "UntoleratedTaint")
    assert answer.plan.replicas[0].state == "retained"


@pytest.mark.parametrize("name", rendering.EXAMPLES)
def test_an_explanation_is_of_the_plan_that_was_composed(name: str) -> None:
    settled = rendering.world(rendering.example(name))
    for key in settled.store.of_kind("modelplane.ai", "ModelDeployment"):
        answer = explanation.deployment(decision.of(settled.store, Deployment(key.namespace, key.name)))
        status = (settled.store.get(key) or {})["status"]
        # What its cluster refused waits there without a place.
        placed = [one for one in answer.standings if one.replica.holds_place]
        assert {one.replica.name: one.replica.cluster for one in placed} == {
            placement["replica"]: placement["cluster"] for placement in status["placements"]
        }
        assert all(one.fits is not None and one.fits.fits for one in placed), "each would fit where it is"
        assert not any(rival.preferred for one in placed for rival in one.rivals), "and is best there"


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        pytest.param("md/lama", "no ModelDeployment lama in namespace ml-team; did you mean ml-team/llama?", id="name"),
        pytest.param("llama", "llama is not a KIND/NAME: write md/NAME, mr/NAME", id="no kind"),
        pytest.param("pod/llama", "pod/llama is not a KIND/NAME", id="unknown kind"),
        pytest.param(
            "mr/llama-7", "no ModelReplica llama-7 in namespace ml-team; did you mean ml-team/llama-", id="replica"
        ),
    ],
)
def test_a_subject_that_is_not_there(tmp_path: Path, subject: str, said: str) -> None:
    ran = run(tmp_path, world(), subject)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_path_that_is_not_there_is_no_subject_either(tmp_path: Path) -> None:
    path = given.written(tmp_path, "now", *world())
    ran = given.run("explain", f"{path}x")
    assert (ran.code, ran.out) == (2, "")
    assert f"{path}x is not a KIND/NAME: write md/NAME, mr/NAME, ms/NAME, me/NAME, ic/NAME or mc/NAME after" in ran.err
    assert "there is no such file either" in ran.err
    assert "nothing to read" not in ran.err


def test_a_replica_that_is_being_deleted_is_said_to_be(tmp_path: Path) -> None:
    """Its deployment is paused, so that it stays as it is observed."""
    objects = rendering.world(world()).objects()
    for one in objects:
        if one["kind"] == "ModelDeployment":
            one["metadata"] = {**one["metadata"], "annotations": {"crossplane.io/paused": "true"}}
        if (one["kind"], one["metadata"]["name"]) == ("ModelReplica", "llama-0"):
            one["metadata"] = {**one["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    ran = run(tmp_path, objects, "mr/llama-0")
    assert (ran.code, ran.out) == (2, "")
    assert "ModelReplica ml-team/llama-0: it is being deleted" in ran.err


def test_a_name_in_two_namespaces_has_to_be_chosen(tmp_path: Path) -> None:
    other = given.deployment()
    other["metadata"]["namespace"] = "other"
    file = given.written(tmp_path, "now", *world(), other)
    ran = given.run("explain", file, "md/llama")
    assert ran.code == 2
    assert "is in several namespaces, choose one with -n: ml-team/llama, other/llama" in ran.err


def test_a_selector_that_does_not_compile_is_said_instead(tmp_path: Path) -> None:
    objects = world()
    objects[-1]["spec"]["nodeSelector"]["cel"] = "device.capacity["
    ran = run(tmp_path, objects)
    assert (ran.code, ran.out) == (2, "")
    assert "ModelDeployment ml-team/llama: spec.nodeSelector.cel" in ran.err


@pytest.mark.parametrize("kind", ["md", "ModelDeployment", "modeldeployments.modelplane.ai"])
def test_a_kind_is_named_as_kubectl_names_it(tmp_path: Path, kind: str) -> None:
    assert run(tmp_path, world(), f"{kind}/llama").code == 0


def test_words_for_people(tmp_path: Path) -> None:
    file = given.written(tmp_path, "now", *world(replicas=5))
    ran = given.run("explain", file, "md/llama", "-n", "ml-team")
    assert ran.out.startswith("ModelDeployment ml-team/llama: 4 of 5 replicas placed\n")
    assert "one more replica:\n  0/2 clusters fit" in ran.out
    assert "closest is" in ran.out


def test_a_large_fleet_is_told_in_short(tmp_path: Path) -> None:
    clusters = [given.cluster(f"c{number:02}") for number in range(60)]
    file = given.written(tmp_path, "now", given.node_class(), *clusters, given.deployment(replicas=1))
    explained = given.run("explain", file, "md/llama", "-n", "ml-team").out
    assert "    54 more clusters also fit; -o json has them all" in explained
    assert "  and 10 more clusters; -o json has them all" in explained
    planned = given.run("plan", file).out
    assert "59 pools that hold nothing are left out; --all shows them, and `modelplane free` what is free" in planned
    assert sum(line.startswith("c") and "gpu" in line for line in planned.splitlines()) == 1


def test_what_was_added_to_the_command_line_is_shown(tmp_path: Path) -> None:
    said = run(tmp_path, world()).json["replicas"][0]["engineArguments"]
    assert said.startswith("decode: added ")
    assert "--tensor-parallel-size 8" in said
    file = given.written(tmp_path, "now", *world())
    assert given.run("explain", file, "md/llama", "-n", "ml-team").out.count("engine arguments: ") == 1


COLLECTION = {"apiVersion": "kubernetes.m.crossplane.io/v1alpha1", "kind": "ObservedObjectCollection"}
TOLD = "container engine of pod llama-0-a cannot start, ImagePullBackOff: no such image"


def _ill(objects: list[Json]) -> list[Json]:
    """Return the documents of a control plane on which the one pod of llama-0 cannot pull its image."""
    settled = rendering.world(objects)
    # What a control plane holds was observed there, and nothing of it is assumed.
    found = [copy.deepcopy(settled.store.get(key) or {}) for key in settled.store]
    for one in found:
        one["metadata"].get("annotations", {}).pop("render.modelplane.ai/assumed", None)
    (workload,) = (one for one in found if _carries(one) == "Deployment")
    waiting = {"reason": "ImagePullBackOff", "message": "no such image"}
    status = {"containerStatuses": [{"name": "engine", "ready": False, "state": {"waiting": waiting}}]}
    metadata = {"name": "llama-0-a", "namespace": "ml-team", "labels": {"modelplane.ai/replica": "llama-0"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    counts = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1}
    available = {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"}
    workload["status"]["atProvider"]["manifest"]["status"] = {**counts, "conditions": [available]}
    own = workload["metadata"]
    collection = {
        **COLLECTION,
        "metadata": {
            **{key: own[key] for key in ("namespace", "labels", "ownerReferences")},
            "name": "llama-0-pods",
            "uid": "uid-collection",
            "annotations": {"crossplane.io/composition-resource-name": "pods"},
        },
        "spec": {"observeObjects": {"apiVersion": "v1", "kind": "Pod"}},
        "status": {"conditions": [{"type": "Synced", "status": "True"}]},
    }
    member = {
        "apiVersion": COLLECTION["apiVersion"],
        "kind": "Object",
        "metadata": {
            "name": "llama-0-pods-0000001",
            "namespace": "ml-team",
            "labels": {"kubernetes.crossplane.io/owned-by-collection": "llama-0-pods"},
            "ownerReferences": [{**COLLECTION, "name": "llama-0-pods", "uid": "uid-collection"}],
        },
        "spec": {"managementPolicies": ["Observe"], "forProvider": {"manifest": pod}},
        "status": {
            "conditions": [{"type": "Synced", "status": "True"}],
            "atProvider": {"manifest": {**pod, "status": status}},
        },
    }
    return [*found, collection, member]


def _carries(document: Json) -> str:
    return str((document.get("spec") or {}).get("forProvider", {}).get("manifest", {}).get("kind"))


def test_why_its_pods_do_not_start_is_shown(tmp_path: Path) -> None:
    objects = world(replicas=1)
    for cluster in objects[1:-1]:
        cluster["spec"]["backends"] = ["Native"]
    ill = _ill(objects)
    for subject in ("md/llama", "mr/llama-0"):
        ran = run(tmp_path, ill, subject)
        (standing,) = ran.json["replicas"]
        assert standing["notReady"] == f"ImagePullBackOff: 0 of 1 decode workers are ready; {TOLD}", ran.err
        text = given.run("explain", str(tmp_path / "now.yaml"), subject, "-n", "ml-team").out
        assert text.count(f"    it is not ready: {standing['notReady']}\n") == 1
    assert run(tmp_path, objects).json["replicas"][0]["notReady"] == ""
    remarks = given.run("render", given.written(tmp_path, "ill", *ill)).out
    assert TOLD in remarks
    assert "StatusStale" not in remarks, "it complains of nothing"


def test_a_nominal_size_is_warned_of_where_it_keeps_a_replica_out(tmp_path: Path) -> None:
    objects = world(replicas=1)
    objects[-1]["spec"]["nodeSelector"]["cel"] = WANTS_140.replace("140Gi", "80Gi")
    ran = run(tmp_path, objects)
    assert "81559Mi" in ran.err
    assert "spec.nodeSelector.cel: warning:" in ran.err


@pytest.mark.parametrize("command", ["explain", "plan", "simulate", "validate"])
def test_every_answer_is_the_same_in_yaml(tmp_path: Path, command: str) -> None:
    file = given.written(tmp_path, "now", *world(replicas=5))
    arguments = {"explain": ["md/llama", "-n", "ml-team"], "simulate": ["--lose", "a"]}.get(command, [])
    texts = [given.run(command, file, *arguments, "-o", form) for form in ("json", "yaml")]
    assert texts[0].json == yaml.safe_load(texts[1].out)
    assert texts[0].code == texts[1].code


def test_the_vote_about_the_backend_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(selection.BACKENDS, "VLLMStack")
    objects = world()
    objects[1]["spec"]["backends"] = ["VLLMStack", "Native"]
    ran = run(tmp_path, objects)
    said = ran.json["backend"]
    assert (said["name"], said["reason"]) == ("KServe", "Kept")
    votes = {one["backend"]: one for one in said["vote"]}
    assert {name: one["clusters"] for name, one in votes.items()} == {"KServe": 1, "Native": 1, "VLLMStack": 0}
    assert votes["VLLMStack"]["refusal"].startswith('backend "VLLMStack" is not offered')
    text = given.run("explain", given.written(tmp_path, "again", *objects), "md/llama", "-n", "ml-team").out
    assert "  backend KServe was selected before and is kept\n" in text
    assert "    the clusters' vote today: KServe 1 vote, Native 1 vote\n" in text
    assert '    VLLMStack has no vote: backend "VLLMStack" is not offered' in text


def test_options_stand_anywhere_between_paths_and_subject(tmp_path: Path) -> None:
    path = given.written(tmp_path, "now", *world())
    every = (
        (path, "-n", "ml-team", "md/llama"),
        ("-n", "ml-team", path, "md/llama"),
        (path, "md/llama", "-n", "ml-team"),
    )
    answers = [given.run("explain", *arguments) for arguments in every]
    assert {(one.code, one.err) for one in answers} == {(0, "")}
    assert len({one.out for one in answers}) == 1
