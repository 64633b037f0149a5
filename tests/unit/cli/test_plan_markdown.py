"""`modelplane plan -o markdown` and `--exit-code`: a comment for a pull request, and the reasons that fail it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modelplane_cli.output import plan_markdown
from tests.support import planning as given
from tests.unit.cli import test_plan, test_routes

Json = Any
Edit = Callable[[list[Json]], list[Json]]
FOLDER = Path(__file__).parents[2] / "golden" / "plan"
REASONS = ("any", "disruption", "unplaced")


def fleet(tensor: int = 4) -> list[Json]:
    return [*test_plan.world(tensor=tensor), test_routes.GATEWAY, test_routes.service(("llama", 1, 0))]


def same(objects: list[Json]) -> list[Json]:
    return objects


def drained(objects: list[Json]) -> list[Json]:
    objects[2] = given.tainted(objects[2])
    return objects


def scaled(objects: list[Json]) -> list[Json]:
    objects[3]["spec"]["replicas"] = 9
    return objects


def edited_without_room(objects: list[Json]) -> list[Json]:
    objects[3]["spec"]["workers"]["template"]["spec"]["containers"][0]["args"] = ["--max-model-len=4096"]
    return objects


def edited_beside_another(objects: list[Json]) -> list[Json]:
    return [*edited_without_room(objects), given.deployment("other", replicas=1, tensor=8)]


def mistyped(objects: list[Json]) -> list[Json]:
    """Return the fleet with a service whose selector matches nothing any more."""
    objects[5] = test_routes.service(("lama", 1, 0))
    return objects


def another_empty(objects: list[Json]) -> list[Json]:
    """Return the fleet with one more service, which never had an endpoint."""
    more = test_routes.service(("lama", 1, 0))
    more["metadata"]["name"] = "more"
    return [*objects, more]


def without_service(objects: list[Json]) -> list[Json]:
    return objects[:5]


def deleted(objects: list[Json]) -> list[Json]:
    return [*objects[:3], objects[4]]


def full(edit: Edit) -> tuple[list[Json], list[Json]]:
    """Return a fleet without room for a successor, before and after."""
    before = fleet(tensor=8)
    before[3]["spec"]["replicas"] = 3
    return before, edit(copy.deepcopy(before))


def roomy(edit: Edit) -> tuple[list[Json], list[Json]]:
    before = fleet()
    return before, edit(copy.deepcopy(before))


def run(tmp_path: Path, states: tuple[list[Json], list[Json]], *arguments: str) -> given.Run:
    before, after = states
    there = given.written(tmp_path, "there", *before)
    return given.run("plan", given.written(tmp_path, "here", *after), "--against", there, *arguments)


@pytest.mark.parametrize(
    ("states", "disruption", "unplaced"),
    [
        pytest.param(roomy(same), 0, 0, id="nothing changes"),
        pytest.param(roomy(drained), 0, 0, id="moves, the successor serves first"),
        pytest.param(roomy(scaled), 0, 1, id="more replicas than have a place"),
        pytest.param(full(edited_without_room), 1, 0, id="restarts in place"),
        pytest.param(full(edited_beside_another), 1, 1, id="restarts, and others have no place"),
        pytest.param(full(drained), 0, 1, id="must leave and cannot: it still runs"),
        pytest.param(roomy(mistyped), 1, 0, id="a service loses its endpoints: requests that were served are not"),
        pytest.param(roomy(another_empty), 0, 1, id="a new service without endpoints: nobody used it"),
        pytest.param(roomy(without_service), 0, 0, id="a deleted service is not wanted"),
        pytest.param(roomy(deleted), 0, 0, id="a deleted deployment is not wanted"),
    ],
)
def test_exit_code_chooses_what_fails(
    tmp_path: Path, states: tuple[list[Json], list[Json]], disruption: int, unplaced: int
) -> None:
    codes = {
        reason: run(tmp_path, states, *(["--exit-code", reason] if reason else [])).code
        for reason in ("", "any", "disruption", "unplaced")
    }
    either = int(bool(disruption or unplaced))
    assert codes == {"": either, "any": either, "disruption": disruption, "unplaced": unplaced}


@pytest.mark.parametrize("output", ["table", "yaml", "json", "markdown"])
def test_the_exit_code_is_that_of_every_output(tmp_path: Path, output: str) -> None:
    codes = [run(tmp_path, roomy(mistyped), "-o", output, "--exit-code", reason).code for reason in REASONS]
    assert codes == [1, 1, 0]


@pytest.mark.parametrize("reason", REASONS)
def test_bad_input_is_2_whatever_fails(tmp_path: Path, reason: str) -> None:
    wrong = given.deployment()
    wrong["spec"]["replicas"] = "two"
    ran = given.run("plan", given.written(tmp_path, "wrong", wrong), "-o", "markdown", "--exit-code", reason)
    assert (ran.code, ran.out) == (2, "")
    assert "spec.replicas" in ran.err


def test_another_reason_is_refused() -> None:
    ran = given.run("plan", "x", "--exit-code", "never")
    assert ran.code == 2
    assert "'disruption'" in ran.err
    assert "'unplaced'" in ran.err
    assert "'any'" in ran.err


@pytest.mark.parametrize(
    ("name", "states"),
    [
        pytest.param("drained", roomy(drained), id="moves and the pools whose use changes"),
        pytest.param("restarted", full(edited_beside_another), id="what needs attention comes first"),
        pytest.param("mistyped", roomy(mistyped), id="a service without endpoints"),
        pytest.param("unchanged", roomy(same), id="nothing changes"),
    ],
)
def test_a_comment(
    tmp_path: Path, name: str, states: tuple[list[Json], list[Json]], request: pytest.FixtureRequest
) -> None:
    ran = run(tmp_path, states, "-o", "markdown")
    golden = FOLDER / f"{name}.md"
    if request.config.getoption("--update-golden"):
        golden.write_text(ran.out, encoding="utf-8")
    assert ran.out == golden.read_text(encoding="utf-8")
    assert ran.out.startswith(f"{plan_markdown.MARK}\n")


def test_without_a_change_it_says_what_is_placed(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    ran = given.run("plan", given.written(tmp_path, "now", *scaled(fleet())), "-o", "markdown")
    golden = FOLDER / "whole.md"
    if request.config.getoption("--update-golden"):
        golden.write_text(ran.out, encoding="utf-8")
    assert ran.out == golden.read_text(encoding="utf-8")
    assert ran.code == 1
