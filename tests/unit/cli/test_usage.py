"""`modelplane free` and `modelplane top`: every device is counted once, idle pools included."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support import planning as given
from tests.support import rendering

Json = Any
EXAMPLES = rendering.ROOT / "examples"


def cluster(name: str, region: str) -> Json:
    found = given.cluster(name)
    found["metadata"]["labels"]["modelplane.ai/region"] = region
    return found


def world() -> list[Json]:
    other = given.deployment("small", replicas=2)
    other["metadata"]["namespace"] = "chat"
    return [
        given.node_class(price="16"),
        cluster("a", "eu"),
        cluster("b", "eu"),
        given.tainted(cluster("c", "us"), "NoSchedule"),
        given.deployment("llama", replicas=1, tensor=8),
        other,
    ]


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> str:
    return given.written(tmp_path, "now", *world())


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        pytest.param("class", [("h100-8x", 38, 16, 10, 48, 3)], id="class"),
        pytest.param("region", [("eu", 22, 0, 10, 32, 2), ("us", 16, 16, 0, 16, 1)], id="region"),
    ],
)
def test_free_devices_by_group(file: str, by: str, expected: list[Any]) -> None:
    rows = given.run("free", file, "--by", by, "-o", "json").json["rows"]
    keys = ("group", "free", "tainted", "used", "total")
    assert [(*(row[key] for key in keys), len(row["clusters"])) for row in rows] == expected


def test_an_idle_pool_is_shown_and_groups_add_up(file: str) -> None:
    found = {by: given.run("free", file, "--by", by, "-o", "json").json["rows"] for by in ("class", "cluster", "pool")}
    assert [(row["group"], row["nodesIdle"]) for row in found["cluster"] if row["group"] == "c"] == [("c", 2)]
    assert [row["group"] for row in found["pool"]] == ["a/gpu", "b/gpu", "c/gpu"]
    for key in ("free", "used", "total", "nodes", "nodesIdle", "pools"):
        assert len({sum(row[key] for row in rows) for rows in found.values()}) == 1, key


def test_devices_of_a_cluster_that_allows_some_namespaces_are_told_apart(tmp_path: Path) -> None:
    objects = world()
    objects[2]["spec"]["allowedNamespaces"] = {"names": ["x"]}
    file = given.written(tmp_path, "now", *objects)
    rows = given.run("free", file, "--by", "cluster", "-o", "json").json["rows"]
    assert [(row["group"], row["free"], row["restricted"]) for row in rows] == [
        ("a", 6, 0),
        ("b", 16, 16),
        ("c", 16, 0),
    ]
    said = given.run("free", file).out
    assert "RESTRICTED" in said
    assert "RESTRICTED" not in given.run("free", given.written(tmp_path, "open", *world())).out


def test_free_agrees_with_the_pools_of_a_plan(file: str) -> None:
    planned = given.run("plan", file, "-o", "json").json["pools"]
    rows = given.run("free", file, "--by", "pool", "-o", "json").json["rows"]
    assert {f"{one['cluster']}/{one['pool']}": one["devices"]["gpu"]["free"] for one in planned} == {
        row["group"]: row["free"] for row in rows
    }


def test_holders_by_deployment_and_namespace(file: str) -> None:
    rows = given.run("top", file, "-o", "json").json["rows"]
    found = [(row["namespace"], row["name"], row["placed"], row["devices"][0]["count"], row["cost"]) for row in rows]
    assert found == [
        ("ml-team", "llama", 1, 8, {"USD": "16.00"}),
        ("chat", "small", 2, 2, {"USD": "4.00"}),
    ]
    spaces = given.run("top", file, "--by", "namespace", "-o", "json").json["rows"]
    assert [(row["namespace"], row["name"], row["deployments"]) for row in spaces] == [
        ("ml-team", None, 1),
        ("chat", None, 1),
    ]


def test_holders_hold_what_is_used(file: str) -> None:
    held = sum(one["count"] for row in given.run("top", file, "-o", "json").json["rows"] for one in row["devices"])
    assert held == sum(row["used"] for row in given.run("free", file, "-o", "json").json["rows"]) == 10


def test_tables_for_people(file: str) -> None:
    assert given.run("free", file).out == (
        "CLASS    DEVICE  FREE  TAINTED  USED  TOTAL  IDLE NODES  NODES  CLUSTERS\n"
        "h100-8x  gpu       38       16    10     48           3      6         3\n"
        "TAINTED devices are free, but only for what tolerates the taint of their cluster\n"
    )
    assert given.run("top", file).out == (
        "NAMESPACE  DEPLOYMENT  REPLICAS  PODS  CLASS    DEVICE  HELD  SHARE  PER HOUR\n"
        "ml-team    llama       1 of 1       1  h100-8x  gpu        8  16.7%  16.00 USD\n"
        "chat       small       2 of 2       2  h100-8x  gpu        2  4.2%   4.00 USD\n"
    )


def test_what_is_unknown_is_a_row_and_no_error(tmp_path: Path) -> None:
    objects = copy.deepcopy(world())[1:]
    del objects[0]["metadata"]["labels"]
    file = given.written(tmp_path, "now", *objects)
    rows = given.run("free", file, "--by", "region", "-o", "json")
    assert rows.code == 0
    assert [(row["group"], row["class"], row["device"]) for row in rows.json["rows"]] == [
        ("", "h100-8x", None),
        ("eu", "h100-8x", None),
        ("us", "h100-8x", None),
    ]
    assert "no region" in given.run("free", file, "--by", "region").out
    assert [row["placed"] for row in given.run("top", file, "-o", "json").json["rows"]] == [0, 0]
    empty = given.written(tmp_path, "empty", given.node_class())
    assert (given.run("free", empty).out, given.run("top", empty).out) == ("no pool\n", "no ModelDeployment\n")


@pytest.mark.parametrize("example", ["quickstart", "mig", "devices", "disaggregated"])
@pytest.mark.parametrize("command", [("free", "--by", "pool"), ("top",), ("top", "--by", "namespace")], ids=" ".join)
def test_answers_are_of_their_shape(command: tuple[str, ...], example: str) -> None:
    ran = given.run(command[0], str(EXAMPLES / example), *command[1:], "-o", "json")
    assert (ran.code, bool(ran.json["rows"])) == (0, True)
    schema = given.run("schema", "--output", command[0]).json
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(ran.json)) == []
