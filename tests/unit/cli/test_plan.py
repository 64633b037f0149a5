"""`modelplane plan`: placements, pools, cost, and the way from one state to another."""

from __future__ import annotations

import collections
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane_cli.planning import capacity, decision
from modelplane_cli.planning.replicas import Deployment
from tests.support import planning as given
from tests.support import rendering

FOLDER = Path(__file__).parents[2] / "golden" / "plan"
Json = Any
Edit = Callable[[list[Json]], list[Json]]


def world(replicas: int = 2, tensor: int = 8) -> list[Json]:
    return [
        given.node_class(price="10.50"),
        given.cluster("a"),
        given.cluster("b", nodes=1),
        given.deployment(replicas=replicas, tensor=tensor),
    ]


def test_a_plan_names_placements_pools_and_cost(tmp_path: Path) -> None:
    ran = given.run("plan", given.written(tmp_path, "now", *world()), "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    (row,) = ran.json["deployments"]
    assert {key: row[key] for key in ("namespace", "name", "wanted", "placed", "backend", "unschedulable")} == {
        "namespace": "ml-team",
        "name": "llama",
        "wanted": 2,
        "placed": 2,
        "backend": "KServe",
        "unschedulable": None,
    }
    first = row["replicas"][0]
    assert {key: first[key] for key in ("name", "admitted", "state")} == {
        "name": "llama-0",
        "admitted": True,
        "state": "new",
    }
    assert first["roles"] == [{"role": "decode", "pool": "gpu", "nodes": 1, "pods": 1, "devicesPerPod": {"gpu": 8}}]
    pools = {(pool["cluster"], pool["pool"]): pool for pool in ran.json["pools"]}
    assert pools["a", "gpu"]["class"] == "h100-8x"
    assert pools["a", "gpu"]["nodes"] == 2
    assert pools["a", "gpu"]["devices"] == {"gpu": {"total": 16, "used": 8, "free": 8, "usedBefore": 0}}
    assert ran.json["cost"] == {"USD": {"perHour": "21.00", "perHourBefore": "0.00", "perHourAllNodes": "31.50"}}
    assert [change["change"] for change in ran.json["changes"]] == ["created", "created"]


def test_what_does_not_fit_is_counted_with_its_reasons(tmp_path: Path) -> None:
    ran = given.run("plan", given.written(tmp_path, "now", *world(replicas=4)), "-o", "json")
    assert ran.code == 1
    (row,) = ran.json["deployments"]
    missing = row["unschedulable"]
    assert (row["wanted"], row["placed"], missing["count"]) == (4, 3, 1)
    assert missing["message"].startswith("0/2 clusters fit: 2 not enough devices")
    assert missing["reasons"] == [
        {
            "reason": "InsufficientDevices",
            "clusters": 2,
            "examples": ["a", "b"],
            "detail": missing["reasons"][0]["detail"],
        }
    ]
    assert missing["closest"]["wouldFitIf"] == "pool gpu had 1 more free node"


def _scaled_up(objects: list[Json]) -> list[Json]:
    objects[3]["spec"]["replicas"] = 3
    return objects


def _scaled_down(objects: list[Json]) -> list[Json]:
    objects[3]["spec"]["replicas"] = 1
    return objects


def _drained(objects: list[Json]) -> list[Json]:
    objects[2] = given.tainted(objects[2])
    return objects


def _cluster_gone(objects: list[Json]) -> list[Json]:
    return [one for one in objects if one["metadata"]["name"] != "b"]


def _edited(objects: list[Json]) -> list[Json]:
    objects[3]["spec"]["workers"]["template"]["spec"]["containers"][0]["args"] = ["--max-model-len=4096"]
    return objects


def _edited_one(objects: list[Json]) -> list[Json]:
    found = copy.deepcopy(objects)
    found[2]["spec"]["workers"]["template"]["spec"]["containers"][0]["args"] = ["--max-model-len=4096"]
    return found


def _deployment_gone(objects: list[Json]) -> list[Json]:
    return objects[:3]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        pytest.param(lambda objects: objects, [], id="nothing changed: nothing changes"),
        pytest.param(_scaled_up, [("created", "llama-2", "3 replicas are wanted", False)], id="scaled up"),
        pytest.param(_scaled_down, [("removed", "llama-1", "1 replica is wanted", False)], id="scaled down"),
        pytest.param(
            _drained,
            [("moved", "llama-0", "cluster b has the taint maintenance=true:NoExecute", False)],
            id="drained: the successor serves first",
        ),
        pytest.param(
            _cluster_gone,
            [("moved", "llama-0", "cluster b no longer exists", False)],
            id="cluster deleted: held until another serves",
        ),
        pytest.param(
            _edited,
            [
                ("moved", "llama-0", "it runs an earlier version of the deployment", False),
                ("moved", "llama-1", "it runs an earlier version of the deployment", False),
            ],
            id="edited template: one after the other, while there is room for one more",
        ),
        pytest.param(
            _deployment_gone,
            [
                ("removed", "llama-0", "ModelDeployment ml-team/llama does not exist any more", False),
                ("removed", "llama-1", "ModelDeployment ml-team/llama does not exist any more", False),
            ],
            id="deployment deleted",
        ),
    ],
)
def test_the_way_from_one_state_to_another(tmp_path: Path, edit: Edit, expected: list[Any]) -> None:
    there = given.written(tmp_path, "there", *world(tensor=4))
    here = given.written(tmp_path, "here", *edit(world(tensor=4)))
    ran = given.run("plan", here, "--against", there, "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    found = [(one["change"], one["replica"], one["why"], one["interrupted"]) for one in ran.json["changes"]]
    assert found == expected
    counts = collections.Counter(one["change"] for one in ran.json["changes"])
    summary = {kind: counts[kind] for kind in ("created", "moved", "rewritten", "removed", "lost")}
    assert ran.json["summary"] == {**summary, "interrupted": 0, "notPlaced": 0}


def test_what_changes_comes_first(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The summary, then the changed replicas, then the pools whose use changes; the rest with --all."""
    there = given.written(tmp_path, "there", *world(tensor=4))
    here = given.written(tmp_path, "here", *_drained(world(tensor=4)))
    ran = given.run("plan", here, "--against", there)
    golden = FOLDER / "drained.txt"
    if request.config.getoption("--update-golden"):
        golden.write_text(ran.out, encoding="utf-8")
    assert ran.out == golden.read_text(encoding="utf-8")
    whole = given.run("plan", here, "--against", there, "--all").out
    assert whole.startswith(ran.out.partition("\n\nCLUSTER")[0])
    assert "ml-team/llama  llama-1  retained" in whole
    assert "not shown" not in whole


def test_an_interruption_is_in_the_summary(tmp_path: Path) -> None:
    full = [given.node_class(price="2"), given.cluster("a", nodes=1), given.deployment(replicas=1, tensor=8)]
    there = given.written(tmp_path, "there", *full)
    ran = given.run("plan", given.written(tmp_path, "here", *_edited_one(full)), "--against", there)
    assert ran.code == 1
    assert ran.out.splitlines()[0] == "0 created, 0 moved, 1 rewritten, 1 interrupted, 0 lost; 2 USD per hour"


def test_an_edit_without_room_for_a_successor_interrupts_and_is_said_to(tmp_path: Path) -> None:
    full = [given.node_class(), given.cluster("a", nodes=1), given.deployment(replicas=1, tensor=8)]
    there = given.written(tmp_path, "there", *full)
    full[2]["spec"]["workers"]["template"]["spec"]["containers"][0]["args"] = ["--max-model-len=4096"]
    ran = given.run("plan", given.written(tmp_path, "here", *full), "--against", there, "-o", "json")
    assert ran.code == 1
    (change,) = ran.json["changes"]
    assert (change["change"], change["interrupted"]) == ("rewritten", True)


def test_a_drain_with_nowhere_to_go_is_a_no(tmp_path: Path) -> None:
    there = given.written(tmp_path, "there", *_cluster_gone(world(replicas=1)))
    objects = _cluster_gone(world(replicas=1))
    objects[1] = given.tainted(objects[1])
    ran = given.run("plan", given.written(tmp_path, "here", *objects), "--against", there, "-o", "json")
    assert ran.code == 1
    (row,) = ran.json["deployments"]
    (blocked,) = row["blocked"]
    assert blocked.startswith("llama-0 must move (cluster a has the taint maintenance=true:NoExecute) but cannot: ")


def test_a_selector_that_does_not_compile_is_told_and_nothing_moves(tmp_path: Path) -> None:
    there = given.written(tmp_path, "there", *world())
    broken = world()
    broken[3]["spec"]["nodeSelector"]["cel"] = "device.capacity["
    ran = given.run("plan", given.written(tmp_path, "here", *broken), "--against", there, "-o", "json")
    assert ran.code == 1
    (row,) = ran.json["deployments"]
    assert [replica["state"] for replica in row["replicas"]] == ["retained", "retained"]
    assert "spec.nodeSelector.cel" in row["unschedulable"]["message"]
    assert ran.json["changes"] == []


def test_observed_documents_are_what_was_before(tmp_path: Path) -> None:
    """A live control plane that is settled is left alone: replicas are retained, and pools hold what they held."""
    settled = rendering.world(rendering.example("quickstart"))
    live = tmp_path / "live.yaml"
    live.write_text(yaml.safe_dump_all(settled.objects()), encoding="utf-8")
    ran = given.run("plan", str(live), "-o", "json")
    assert ran.code == 0
    assert {replica["state"] for row in ran.json["deployments"] for replica in row["replicas"]} == {"retained"}
    assert ran.json["changes"] == []
    devices = [device for pool in ran.json["pools"] for device in pool["devices"].values()]
    assert all(device["used"] == device["usedBefore"] for device in devices)
    assert sum(device["used"] for device in devices) == 2


@pytest.mark.parametrize("name", rendering.EXAMPLES)
def test_a_plan_is_what_the_functions_compose(name: str) -> None:
    """The scheduler asked once more says what stands there, and pools publish what is counted here."""
    settled = rendering.world(rendering.example(name))
    for key in settled.store.of_kind("modelplane.ai", "ModelDeployment"):
        plan = decision.of(settled.store, Deployment(key.namespace, key.name)).plan()
        composed = {
            child.name: (settled.store.get(child) or {})["spec"]["clusterName"]
            for child in settled.children(key)
            if child.kind == "ModelReplica"
        }
        assert {placed.name: placed.cluster for placed in plan.replicas} == composed
        assert all(not placed.rewrite for placed in plan.replicas)
    published = {
        (key.name, pool["name"]): pool["free"]
        for key in settled.store.of_kind("modelplane.ai", "InferenceCluster")
        for pool in (settled.store.get(key) or {})["status"]["pools"]
    }
    counted = {
        use.key: {name: device.free for name, device in use.devices.items()} for use in capacity.pools(settled.store)
    }
    assert counted == published


def test_the_order_of_documents_never_matters(tmp_path: Path) -> None:
    forwards = given.run("plan", given.written(tmp_path, "a", *world()), "-o", "json")
    backwards = given.run("plan", given.written(tmp_path, "b", *reversed(world())), "-o", "json")
    assert forwards.out == backwards.out


def test_a_table_for_people(tmp_path: Path) -> None:
    ran = given.run("plan", given.written(tmp_path, "now", *world(replicas=4)))
    assert ran.out.startswith("DEPLOYMENT     REPLICA  STATE       CLUSTER  POOL  PODS  NODES  PER POD  PHASE\n")
    assert "ml-team/llama  1 of 4   NOT PLACED" in ran.out
    assert "! ml-team/llama: closest is" in ran.out
    assert "cost of the nodes in use: 31.50 USD per hour" in ran.out
    assert "CHANGE" not in ran.out, "without anything before, every replica is new and the table says so"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("plan", "nowhere.yaml"), "nowhere.yaml: does not exist", id="no such file"),
        pytest.param(("plan", "{ok}", "--against", "nowhere"), "nowhere: does not exist", id="no such baseline"),
        pytest.param(("plan", "{bad}"), "spec.replicas", id="a field the API server would refuse"),
    ],
)
def test_bad_input_is_one_line_each(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    bad = given.deployment()
    bad["spec"]["replicas"] = -1
    places = {"ok": given.written(tmp_path, "ok", *world()), "bad": given.written(tmp_path, "bad", bad)}
    ran = given.run(*(argument.format(**places) for argument in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_what_a_function_refused_is_said_once(tmp_path: Path) -> None:
    """Crossplane repeats it in Synced, which nobody needs to read again."""
    refused = given.deployment(replicas=1)
    refused["spec"]["nodeSelector"] = {"cel": 'device.driver.starsWith("gpu")'}
    file = given.written(tmp_path, "all", given.node_class(), given.cluster("a"), refused)
    (row,) = given.run("plan", file, "-o", "json").json["deployments"]
    assert row["unschedulable"]["message"].count("starsWith") <= 2, "in what is undeclared, and in what was meant"
    assert "pipeline step" not in row["unschedulable"]["message"]


def test_values_that_are_seldom_meant_are_warned_about(tmp_path: Path) -> None:
    """As `validate` says them: bytes of memory, and an image that changes by itself."""
    deployment = given.deployment(replicas=1)
    container = deployment["spec"]["workers"]["template"]["spec"]["containers"][0]
    container |= {"image": "vllm/vllm-openai", "resources": {"requests": {"memory": "400"}}}
    ran = given.run("plan", given.written(tmp_path, "now", given.node_class(), given.cluster("a"), deployment))
    assert ran.code == 0
    assert "containers[0].image: warning: vllm/vllm-openai has no tag" in ran.err
    assert "requests.memory: warning: 400 is 400 bytes; write 400Mi or 400Gi" in ran.err
