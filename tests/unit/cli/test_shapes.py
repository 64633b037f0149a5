"""The JSON that machines read: every promised key is there with its type; what was added is listed here too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench import files
from tests.support import planning as given
from tests.support import rendering

Json = Any


class Maybe:
    """A shape or null."""

    def __init__(self, shape: Json) -> None:
        self.shape = shape


class Each:
    """A map from any text to a shape."""

    def __init__(self, shape: Json) -> None:
        self.shape = shape


class Optional:
    """A key that may be missing."""

    def __init__(self, shape: Json) -> None:
        self.shape = shape


ANY = object()
PLACE = {"cluster": str, "pools": [str]}
CHANGE = {
    "change": str,
    "namespace": str,
    "deployment": str,
    "replica": str,
    "successor": Maybe(str),
    "from": Maybe(PLACE),
    "to": Maybe(PLACE),
    "interrupted": bool,
    "why": str,
}
OPERATION = {
    "document": {"kind": str, "namespace": Optional(str), "name": str},
    "op": str,
    "path": str,
    "value": Optional(ANY),
}
CLOSEST = {
    "cluster": str,
    "pool": str,
    "misses": [str],
    "wouldFitIf": str,
    "change": [OPERATION],
    "notInDocuments": [str],
}
REPLICA = {
    "name": str,
    "cluster": str,
    "admitted": bool,
    "serves": bool,
    "state": str,
    "note": str,
    "roles": [{"role": str, "pool": str, "nodes": int, "pods": int, "devicesPerPod": Each(int)}],
}
UNSCHEDULABLE = {
    "count": int,
    "message": str,
    "reasons": [{"reason": str, "clusters": int, "examples": [str], "detail": str}],
    "closest": Maybe(CLOSEST),
}
PLAN = {
    "deployments": [
        {
            "namespace": str,
            "name": str,
            "wanted": int,
            "placed": int,
            "backend": Maybe(str),
            "replicas": [REPLICA],
            "unschedulable": Maybe(UNSCHEDULABLE),
            "blocked": [str],
        }
    ],
    "pools": [
        {
            "cluster": str,
            "pool": str,
            "class": str,
            "nodes": int,
            "nodesUsed": int,
            "nodesGrowable": int,
            "devices": Each({"total": int, "used": int, "free": int, "usedBefore": int}),
        }
    ],
    "changes": [CHANGE],
    "cost": Each({"perHour": str, "perHourBefore": str, "perHourAllNodes": str}),
}
EXPLAIN = {
    "kind": str,
    "namespace": str,
    "name": str,
    "message": str,
    "placed": bool,
    "clusters": [
        {
            "cluster": str,
            "fits": bool,
            "reason": Maybe(str),
            "detail": str,
            "pools": [{"pool": str, "role": str, "fits": bool, "reason": Maybe(str), "detail": str}],
        }
    ],
    "closest": Maybe(CLOSEST),
    "noChange": Maybe(str),
    "replicas": [
        {
            "name": str,
            "cluster": str,
            "pools": Each(str),
            "admission": str,
            "note": str,
            "engineArguments": str,
            "fits": Maybe(bool),
            "wouldAlsoFit": [{"cluster": str, "preferred": bool, "why": str}],
            "wouldNotFit": [{"cluster": str, "reason": str, "detail": str}],
        }
    ],
    "blocked": [{"replica": str, "cause": str, "message": str}],
}
UNPLACED = {"namespace": str, "name": str, "count": int, "replicas": [str], "message": str}
STEP = {
    "event": str,
    "fits": bool,
    "moved": [CHANGE],
    "lost": [CHANGE],
    "unplaced": [UNPLACED],
    "changes": [CHANGE],
    "stages": [[str]],
}
HEADROOM = {
    "anyClusters": int,
    "largest": Maybe({"clusters": [str], "devices": int}),
    "singles": [{"cluster": str, "devices": int, "fits": bool, "unplaced": [UNPLACED]}],
    "tried": int,
    "rehearsed": int,
    "complete": bool,
}
SIMULATE = {"steps": [STEP], "after": PLAN, "headroom": Optional(HEADROOM)}
PROBLEM = {"file": str, "line": int, "document": int, "path": str, "message": str, "severity": str, "object": str}
VALIDATE = {"problems": [PROBLEM]}


def differences(found: Json, shape: Json, where: str = "$") -> list[str]:
    """Return where what was found is not of the shape."""
    if isinstance(shape, Maybe):
        return [] if found is None else differences(found, shape.shape, where)
    if shape is ANY:
        return []
    if isinstance(shape, type):
        return [] if type(found) is shape else [f"{where} is {found!r}, not {shape.__name__}"]
    if isinstance(shape, list):
        if not isinstance(found, list):
            return [f"{where} is {found!r}, not a list"]
        return [one for at, item in enumerate(found) for one in differences(item, shape[0], f"{where}[{at}]")]
    if not isinstance(found, dict):
        return [f"{where} is {found!r}, not a map"]
    if isinstance(shape, Each):
        return [one for key in found for one in differences(found[key], shape.shape, f"{where}.{key}")]
    missing = [
        f"{where}.{key} is missing" for key in shape if key not in found and not isinstance(shape[key], Optional)
    ]
    unknown = [f"{where}.{key} is not in this table" for key in found if key not in shape]
    inside = [
        one
        for key in found
        if key in shape
        for one in differences(
            found[key], shape[key].shape if isinstance(shape[key], Optional) else shape[key], f"{where}.{key}"
        )
    ]
    return missing + unknown + inside


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return documents of a fleet that is too small for one replica."""
    objects = [given.node_class(price="90.00"), given.cluster("a"), given.cluster("b")]
    objects.append(given.deployment(replicas=5, tensor=8))
    return given.written(tmp_path_factory.mktemp("full"), "now", *objects)


EXAMPLES = [str(rendering.ROOT / "examples" / name) for name in rendering.EXAMPLES]


@pytest.mark.parametrize("example", [*EXAMPLES, None], ids=[*rendering.EXAMPLES, "a fleet that is too small"])
def test_plan_is_of_its_shape(full: str, example: str | None) -> None:
    found = given.run("plan", example or full, "-o", "json").json
    assert differences(found, PLAN) == []
    if example is None:
        (row,) = found["deployments"]
        assert row["unschedulable"]["closest"]["change"], "every shape that may be null was seen with a value"


@pytest.mark.parametrize("subject", ["md/llama", "mr/llama-0"])
def test_explain_is_of_its_shape(full: str, subject: str) -> None:
    assert differences(given.run("explain", full, subject, "-o", "json").json, EXPLAIN) == []


@pytest.mark.parametrize(
    "happening",
    [
        pytest.param(["--drain", "a"], id="drain"),
        pytest.param(["--lose", "a"], id="lose"),
        pytest.param(["--scale", "ml-team/llama=1", "--drain", "b"], id="scale, drain"),
        pytest.param(["--scale", "ml-team/llama=2", "--headroom"], id="headroom"),
    ],
)
def test_simulate_is_of_its_shape(full: str, happening: list[str]) -> None:
    found = given.run("simulate", full, *happening, "-o", "json").json
    assert differences(found, SIMULATE) == []
    assert ("headroom" in found) is ("--headroom" in happening)


@pytest.mark.parametrize("replicas", [pytest.param("five", id="wrong"), pytest.param(1, id="right")])
def test_validate_is_of_its_shape(tmp_path: Path, replicas: Json) -> None:
    deployment = given.deployment()
    deployment["spec"]["replicas"] = replicas
    ran = given.run("validate", given.written(tmp_path, "now", deployment), "-o", "json")
    assert differences(json.loads(ran.out), VALIDATE) == []
    assert bool(ran.json["problems"]) is (replicas == "five")


def test_a_shape_that_differs_is_seen() -> None:
    found = {"file": 1, "line": "1", "document": 1, "path": "", "message": "", "more": True}
    assert differences(found, PROBLEM) == [
        "$.severity is missing",
        "$.object is missing",
        "$.more is not in this table",
        "$.file is 1, not str",
        "$.line is '1', not int",
    ]


# --- a plan equals what the functions compose ---------------------------------------------------------------------


@pytest.mark.parametrize("example", [*EXAMPLES, None], ids=[*rendering.EXAMPLES, "a fleet that is too small"])
def test_a_plan_equals_what_the_functions_compose(full: str, example: str | None) -> None:
    assert placements(example or full) == composed(example or full)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_plan_of_a_generated_fleet_equals_what_the_functions_compose(tmp_path: Path, seed: int) -> None:
    arguments = [str(tmp_path), "--clusters", "6", "--deployments", "9", "--seed", str(seed)]
    assert files.main(arguments) == 0
    planned = placements(str(tmp_path))
    assert planned == composed(str(tmp_path))
    assert len({cluster for _, _, cluster, _ in planned}) > 1


def placements(path: str) -> list[Json]:
    """Return the placements of a plan: namespace, name, cluster, and the pool of each role."""
    return sorted(
        (row["namespace"], one["name"], one["cluster"], {role["role"]: role["pool"] for role in one["roles"]})
        for row in given.run("plan", path, "-o", "json").json["deployments"]
        for one in row["replicas"]
    )


def composed(path: str) -> list[Json]:
    """Return the same of the ModelReplicas that `render` composes."""
    found = given.run("render", path, "-o", "json").json
    items = found["items"] if isinstance(found, dict) else found
    replicas = [one for one in items if one["kind"] == "ModelReplica"]
    return sorted(
        (
            one["metadata"]["namespace"],
            one["metadata"]["name"],
            one["spec"]["clusterName"],
            {
                "decode": one["spec"]["pool"],
                **({"prefill": one["spec"]["prefill"]["pool"]} if one["spec"].get("prefill") else {}),
            },
        )
        for one in replicas
    )
