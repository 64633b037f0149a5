"""`modelplane status`: what is not as wanted, worst first, and what it follows from."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from modelplane_cli.output import models, situation_text
from modelplane_cli.output.screen import Screen
from modelplane_cli.planning import situation
from modelplane_cli.simulator import definitions, offline
from tests.support import planning as given
from tests.support import rendering
from tests.unit.cli import test_inspection
from tests.unit.cli.test_inspection import changed, unreachable
from tests.unit.cli.test_routes import world

Json = Any
settled = test_inspection.settled


def after(objects: list[Json]) -> list[Json]:
    """Return the objects as a control plane writes them once it has looked."""
    store = rendering.world(objects).store
    return [copy.deepcopy(store.get(key) or {}) for key in store]


def unready(objects: list[Json], name: str = "llama-0") -> list[Json]:
    """Return the objects where the pods of a replica do not start."""
    found, workload = changed(objects, "Object", f"{name}-workload")
    status = workload["status"]["atProvider"]["manifest"]["status"]
    for one in status["conditions"]:
        one |= {"status": "False", "reason": "ImagePullBackOff", "message": "no such image"}
    status["workloads"]["primary"]["readyReplicas"] = 0
    return after(found)


def status(tmp_path: Path, objects: list[Json], *arguments: str, code: int = 1) -> Json:
    file = tmp_path / "fleet.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    found = given.run("status", str(file), *arguments, "-o", "json")
    assert found.code == code, found.err
    models.adapter("status").validate_python(found.json)
    return found.json


def said(found: Json) -> list[tuple[str, str, str, str | None]]:
    return [(one["severity"], one["kind"], one["name"], one["follows"]) for one in found["complaints"]]


def test_a_fleet_that_is_as_wanted_takes_one_line(tmp_path: Path, settled: list[Json]) -> None:
    found = status(tmp_path, settled, code=0)
    assert found["asWanted"] is True
    assert found["complaints"] == []
    assert found["counts"]["ModelReplica"] == 4
    (line,) = given.run("status", str(tmp_path / "fleet.json")).out.splitlines()
    assert line.startswith("all is as wanted: 1 InferenceClass, 2 InferenceCluster")


def test_a_cluster_that_does_not_answer_stands_for_what_is_on_it(tmp_path: Path, settled: list[Json]) -> None:
    found = status(tmp_path, after(unreachable(settled, "b")))
    assert said(found)[0] == ("Outage", "InferenceCluster", "b", None)
    assert {one[3] for one in said(found)} <= {"ic/b", None}
    assert not [one for one in said(found) if one[1] == "ModelReplica"], "they are as they were last seen"


def test_pods_that_do_not_start_explain_their_deployment_and_service(tmp_path: Path, settled: list[Json]) -> None:
    found = status(tmp_path, unready(settled))
    assert said(found) == [
        ("Degraded", "ModelReplica", "llama-0", None),
        ("Degraded", "ModelDeployment", "llama", "mr/llama-0"),
        ("Degraded", "ModelService", "chat", "mr/llama-0"),
    ]
    assert {one["explain"] for one in found["complaints"]} == {"mr/llama-0 -n ml-team"}
    assert "ImagePullBackOff" in found["complaints"][0]["message"] + found["complaints"][0]["reason"]
    shown = given.run("status", str(tmp_path / "fleet.json")).out
    assert shown.startswith("3 degraded, of ")


def test_a_service_without_any_endpoint_is_an_outage_and_comes_first(tmp_path: Path) -> None:
    found = status(tmp_path, after(world(("nobody", 1, 0))))
    assert said(found) == [("Outage", "ModelService", "chat", None)]
    assert "matches no endpoint" in found["complaints"][0]["message"]


def test_a_deployment_that_fits_nowhere_explains_itself_and_its_service(tmp_path: Path) -> None:
    objects = world(("llama", 1, 0))
    (deployment,) = (one for one in objects if one["metadata"]["name"] == "llama")
    deployment["spec"]["workers"]["topology"] = {"tensor": 64}
    found = status(tmp_path, after(objects))
    assert said(found) == [
        ("Outage", "ModelService", "chat", "md/llama"),
        ("Degraded", "ModelDeployment", "llama", None),
    ]


def test_what_is_being_deleted_waits_and_says_for_what(tmp_path: Path, settled: list[Json]) -> None:
    objects, placed = changed(settled, "ModelReplica", "llama-2")
    placed["metadata"] |= {"deletionTimestamp": "2026-11-23T01:02:03Z", "finalizers": ["foregroundDeletion"]}
    (one,) = status(tmp_path, objects)["complaints"]
    assert (one["severity"], one["condition"], one["since"]) == ("Waiting", "Deleted", "2026-11-23T01:02:03Z")
    assert "foregroundDeletion" in one["message"]


def test_a_cluster_that_has_become_too_small_is_said_though_nothing_moves(tmp_path: Path, settled: list[Json]) -> None:
    objects, cluster = changed(settled, "InferenceCluster", "b")
    (condition,) = (one for one in cluster["status"]["conditions"] if one["type"] == "CapacityKnown")
    condition |= {"reason": "OverCommitted", "message": "more is admitted than it can hold"}
    assert said(status(tmp_path, objects)) == [("Degraded", "InferenceCluster", "b", None)]


@pytest.mark.parametrize(
    ("namespace", "kinds"),
    [
        pytest.param("ml-team", {"ModelReplica", "ModelDeployment", "ModelService"}, id="its own"),
        pytest.param("chat", set(), id="another one"),
    ],
)
def test_one_namespace_sees_nothing_of_another(
    tmp_path: Path, settled: list[Json], namespace: str, kinds: set[str]
) -> None:
    found = status(tmp_path, unready(settled), "-n", namespace, code=1 if kinds else 0)
    assert {one["kind"] for one in found["complaints"]} == kinds
    assert ("InferenceCluster" in found["counts"]) is bool(kinds), "only the clusters of its replicas"


def test_documents_without_a_status_are_told_what_to_give(tmp_path: Path) -> None:
    found = given.run("status", given.written(tmp_path, "now", *world(("llama", 1, 0))))
    assert (found.code, found.out) == (2, "")
    assert "no document has a status, so nothing is known of what runs; give --context" in found.err


def test_nothing_at_all_is_told_what_to_give() -> None:
    found = given.run("status")
    assert found.code == 2
    assert "nothing to read" in found.err


@pytest.mark.parametrize("field", ["status", "conditions", "backends", "admitted", "metadata.finalizers", "labels"])
@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [7], [None], {"a": 1}], ids=repr)
def test_a_status_of_another_type_is_no_error_of_ours(
    tmp_path: Path, settled: list[Json], field: str, value: Json
) -> None:
    """Whoever has written it: an API server may hold what an older definition allowed."""
    objects = copy.deepcopy(unready(settled)) if field == "conditions" else copy.deepcopy(settled)
    for one in objects:
        if one["apiVersion"] != "modelplane.ai/v1alpha1":
            continue
        if field == "status":
            one["status"] = value
        elif field.startswith("metadata"):
            one["metadata"] |= {"finalizers": value, "deletionTimestamp": "2026-11-23T01:02:03Z"}
        elif field == "labels":
            one["metadata"]["labels"] = value
        else:
            one["status"][field] = value
    file = tmp_path / "fleet.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    found = given.run("status", str(file), "-o", "json")
    assert found.code in (0, 1, 2), found.err
    assert "internal error" not in found.err


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_the_screen(settled: list[Json], width: int) -> None:
    there = rendering.world(unready(unreachable(settled, "a")))
    objects = {key: there.store.get(key) or {} for key in there.store}
    found = situation.of(offline.unsettled(objects, definitions.builtin()), None)
    lines = situation_text.text(found, Screen(width=width)).splitlines()
    assert max(map(len, lines)) <= width


def test_replicas_that_ended_before_their_cluster_was_lost_follow_from_it(tmp_path: Path, settled: list[Json]) -> None:
    """Their own error is older than that, and nobody can say whether it still holds."""
    lost = after(unreachable(unready(settled), "b"))
    found = status(tmp_path, lost)
    follows = {one[2]: one[3] for one in said(found) if one[1] in ("ModelReplica", "ModelDeployment")}
    assert follows == {"llama-0": "ic/b", "llama": "ic/b"}
    assert {one["explain"] for one in found["complaints"]} == {"ic/b"}


# --- explain without a name -------------------------------------------------------------------------------------------


def explained(path: Path, *arguments: str, code: int) -> Json:
    found = given.run("explain", *arguments, str(path), "-o", "json")
    assert found.code == code, found.err
    models.adapter("explain").validate_python(found.json)
    return found.json


def test_explain_without_a_name_lists_what_is_worth_explaining(tmp_path: Path) -> None:
    objects = world(("llama", 1, 0))
    (deployment,) = (one for one in objects if one["metadata"]["name"] == "llama")
    deployment["spec"]["workers"]["topology"] = {"tensor": 64}
    file = tmp_path / "fleet.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    found = explained(file, code=1)
    assert "md/llama -n ml-team" in [one["explain"] for one in found["complaints"]], "rehearsed: nothing has a status"
    assert "md/llama -n ml-team" in given.run("explain", str(file)).out
    assert explained(file, "-n", "elsewhere", code=0)["complaints"] == []


def test_explain_without_a_name_says_what_was_written(tmp_path: Path, settled: list[Json]) -> None:
    file = tmp_path / "fleet.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": after(unreachable(settled, "b"))}))
    found = explained(file, code=1)
    assert found == given.run("status", str(file), "-o", "json").json
    assert found["complaints"][0]["explain"].startswith("ic/")


def test_a_file_that_reads_like_a_subject_is_given_with_its_folder(
    tmp_path: Path, settled: list[Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "md").mkdir()
    (tmp_path / "md" / "fleet.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": settled}))
    monkeypatch.chdir(tmp_path)
    assert given.run("explain", "./md/fleet.json").code == 0
    found = given.run("explain", "md/fleet.json")
    assert (found.code, "nothing to read" in found.err) == (2, True), "read as a kind and a name"
