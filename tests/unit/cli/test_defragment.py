"""Moves by which what is missing fits: said by `explain`, rehearsed by `simulate --defragment`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from modelplane import placement
from modelplane_cli.output import models
from tests.support import planning as given

Json = Any

GOLDEN = Path(__file__).parents[2] / "golden" / "simulate"


def scattered() -> list[Json]:
    """A small replica came first and took the cheap node of eight; a large one waits, and a node of four is free."""
    small, large = given.deployment("small", replicas=1, tensor=4), given.deployment("large", replicas=1, tensor=8)
    small["spec"]["priority"] = 5
    return [
        given.node_class("h100-8x", price="10"),
        given.node_class("h100-4x", price="20", count=4),
        given.cluster("a", nodes=1),
        given.cluster("b", nodes=1, class_name="h100-4x"),
        small,
        large,
    ]


def in_a_row() -> list[Json]:
    """The small one may only go where another stands, which has to go first; and a third has no place at all."""
    objects = scattered()
    objects[3]["metadata"]["labels"]["tier"] = "near"
    objects[4]["spec"]["clusterSelector"] = {
        "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["far"]}]
    }
    there = given.deployment("there", replicas=1, tensor=4)
    there["spec"] |= {
        "priority": 9,
        "clusterSelector": {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
    }
    far = given.cluster("c", nodes=1, class_name="l40s-4x", tier="far")
    return [
        *objects,
        far,
        there,
        given.node_class("l40s-4x", price="90", count=4),
        given.deployment("never", replicas=1, tensor=16),
    ]


def run(tmp_path: Path, command: str, objects: list[Json], *arguments: str) -> given.Run:
    return given.run(command, given.written(tmp_path, "now", *objects), *arguments, "-n", "ml-team")


def test_explain_names_the_move_and_what_else_would_help(tmp_path: Path) -> None:
    ran = run(tmp_path, "explain", scattered(), "md/large", "-o", "json")
    assert ran.code == 1
    said = ran.json
    models.adapter("explain").validate_python(said)
    assert said["closest"]["wouldFitIf"] == "ml-team/small-0 moved from a/gpu to b/gpu"
    assert (said["closest"]["cluster"], said["closest"]["pool"]) == ("a", "gpu")
    assert said["closest"]["misses"] == ["InsufficientDevices: want 1 node x 8 gpu, has 0 nodes x 8 gpu free"]
    assert said["otherwise"]["wouldFitIf"].startswith("pool gpu had nodes of another class")
    (step,) = said["moves"]["steps"]
    assert (step["deployment"], step["replica"], step["makesWay"]) == ("small", "small-0", False)
    assert (step["from"], step["to"]) == (
        {"cluster": "a", "pools": ["gpu"]},
        {"cluster": "b", "pools": ["gpu"]},
    )


def test_nothing_is_searched_where_nothing_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(placement, "smallest_moves", never)
    ran = run(tmp_path, "explain", scattered(), "md/small", "-o", "json")
    assert (ran.code, ran.json["moves"], ran.json["otherwise"]) == (0, None, None)


@pytest.mark.parametrize(("name", "objects"), [("one-move", scattered()), ("in-a-row", in_a_row())])
def test_a_table_that_a_person_can_read(
    tmp_path: Path, request: pytest.FixtureRequest, name: str, objects: list[Json]
) -> None:
    shown = run(tmp_path, "simulate", objects, "--defragment").out
    golden = GOLDEN / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


def test_the_same_for_a_machine(tmp_path: Path) -> None:
    ran = run(tmp_path, "simulate", in_a_row(), "--defragment", "-o", "json")
    models.adapter("simulate").validate_python(ran.json)
    found = ran.json["defragment"]
    moves = [(one["step"], one["replica"], one["to"]["cluster"]) for one in found["rounds"][0]["moves"]]
    assert moves == [(1, "there-0", "c"), (2, "small-0", "b")]
    assert found["rounds"][0]["thenFits"] == [{"cluster": "a", "pools": ["gpu"]}]
    assert found["left"] == [{"namespace": "ml-team", "name": "never", "count": 1, "decided": True}]
    assert (ran.code, found["fits"]) == (1, False)


def test_nothing_missing_is_nothing_to_move(tmp_path: Path) -> None:
    ran = run(tmp_path, "simulate", scattered()[:-1], "--defragment")
    assert ran.code == 0
    assert ran.out == "every replica has a place, so no replica has to move\n"


def allowed(one: Json) -> Json:
    one["spec"]["placement"] = {"rebalance": "Allowed"}
    return one


@pytest.mark.parametrize(
    ("mover", "asker", "steps"),
    [
        pytest.param(True, True, ["small-1 is placed", "small-1 serves", "small-0 is", "large-0 serves"], id="both"),
        pytest.param(False, True, [], id="the one that stands in the way does not"),
        pytest.param(True, False, [], id="the one that waits does not ask"),
        pytest.param(False, False, [], id="neither"),
    ],
)
def test_a_replica_makes_room_only_where_it_is_allowed(
    tmp_path: Path,
    mover: bool,  # noqa: FBT001 - a parameter of the case
    asker: bool,  # noqa: FBT001 - a parameter of the case
    steps: list[str],
) -> None:
    """Through the real functions: asked for, offered, succeeded, and only then gone."""
    *fleet, small, large = scattered()
    late = given.written(tmp_path, "late", allowed(large) if asker else large)
    ran = run(tmp_path, "simulate", [*fleet, allowed(small) if mover else small], "--add", late, "-o", "json")
    (step,) = ran.json["steps"]
    said = [sentence for stage in step["stages"] for sentence in stage]
    found = [next(i for i, sentence in enumerate(said) if one in sentence) for one in steps]
    assert found == sorted(found)
    assert ran.code == (0 if steps else 1)
    moved = {one["replica"]: one["why"] for one in step["moved"]}
    assert moved == ({"small-0": "cluster a asked it to leave, so that another replica fits"} if steps else {})
    assert step["lost"] == []
