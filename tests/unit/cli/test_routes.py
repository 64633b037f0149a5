"""Services in a plan: their URL, the share of each group and cluster, and the endpoints, before and after."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import planning as given

Json = Any
FOLDER = Path(__file__).parents[2] / "golden" / "plan"
GATEWAY = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "InferenceGateway",
    "metadata": {"name": "default"},
    "spec": {"type": "Envoy"},
}


def service(*groups: tuple[str, int, int]) -> Json:
    """Return a service over deployments with their weight and priority."""
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelService",
        "metadata": {"name": "chat", "namespace": "ml-team"},
        "spec": {
            "endpoints": [
                {
                    "selector": {"matchLabels": {"modelplane.ai/deployment": name}},
                    "weight": weight,
                    "priority": priority,
                }
                for name, weight, priority in groups
            ]
        },
    }


def world(*groups: tuple[str, int, int]) -> list[Json]:
    canary = given.deployment("llama-canary", replicas=1)
    canary["spec"]["model"]["name"] = "llama"
    return [
        given.node_class(price="10"),
        given.cluster("a"),
        given.cluster("b", nodes=1),
        given.deployment("llama", replicas=3),
        canary,
        GATEWAY,
        service(*groups),
    ]


CANARY = world(("llama", 95, 0), ("llama-canary", 5, 0))


def plan(tmp_path: Path, now: list[Json], before: list[Json], *arguments: str) -> given.Run:
    there = given.written(tmp_path, "there", *before)
    return given.run("plan", given.written(tmp_path, "here", *now), "--against", there, *arguments)


def shares(route: Json) -> list[tuple[float, float]]:
    return [(group["shareBefore"], group["share"]) for group in route["groups"]]


def test_a_flipped_canary_is_a_change(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    flipped = world(("llama", 5, 0), ("llama-canary", 95, 0))
    ran = plan(tmp_path, flipped, CANARY)
    assert ran.code == 0
    golden = FOLDER / "canary-flipped.txt"
    if request.config.getoption("--update-golden"):
        golden.write_text(ran.out, encoding="utf-8")
    assert ran.out == golden.read_text(encoding="utf-8")
    (route,) = plan(tmp_path, flipped, CANARY, "-o", "json").json["routes"]
    assert (route["change"], shares(route)) == ("changed", [(0.95, 0.05), (0.05, 0.95)])


def test_a_selector_that_matches_nothing_is_a_no_and_is_corrected(tmp_path: Path) -> None:
    ran = plan(tmp_path, world(("llama", 95, 0), ("llama-canry", 5, 0)), CANARY, "-o", "json")
    assert ran.code == 1
    (route,) = ran.json["routes"]
    assert "modelplane.ai/deployment=llama-canry matches no endpoint; others get that share" in route["message"]
    assert route["message"].endswith("did you mean modelplane.ai/deployment=llama-canary?")
    assert shares(route) == [(0.95, 1.0), (0.0, 0.0), (0.05, 0.0)], "the group that is gone comes last"
    assert (route["endpointsBefore"]["ready"], route["endpoints"]["ready"]) == (4, 3)


@pytest.mark.parametrize(
    ("edit", "code", "change", "said"),
    [
        pytest.param(lambda objects: objects[:-1], 0, "removed", "", id="a deleted service is meant"),
        pytest.param(
            lambda objects: [*objects[:-1], service(("nobody", 1, 0))],
            1,
            "changed",
            "no endpoint receives requests: modelplane.ai/deployment=nobody matches no endpoint",
            id="no endpoint at all",
        ),
        pytest.param(
            lambda objects: [*objects[:-1], service(("llama", 0, 0), ("llama-canary", 0, 0))],
            0,
            "changed",
            "",
            id="drained by its author",
        ),
        pytest.param(
            lambda objects: [*objects[:3], *objects[4:]],
            1,
            "changed",
            "modelplane.ai/deployment=llama matches no endpoint",
            id="its deployment is deleted",
        ),
        pytest.param(lambda objects: objects, 0, "retained", "", id="nothing changes"),
        pytest.param(
            lambda objects: [*objects[:-1], service(("llama", 1, 0), ("llama", 1, 1), ("llama", 1, 2))],
            1,
            "changed",
            "TooManyPriorities",
            id="refused by the gateway",
        ),
    ],
)
def test_a_change_of_a_service(
    tmp_path: Path, edit: Callable[[list[Json]], list[Json]], code: int, change: str, said: str
) -> None:
    ran = plan(tmp_path, edit(copy.deepcopy(CANARY)), CANARY, "-o", "json")
    (route,) = ran.json["routes"]
    assert (ran.code, route["change"]) == (code, change)
    assert said in route["message"]
    assert bool(said) is bool(route["message"])


def test_shares_are_by_cluster_and_a_standby_has_none(tmp_path: Path) -> None:
    objects = world(("llama", 1, 0), ("llama-canary", 1, 1))
    (route,) = given.run("plan", given.written(tmp_path, "now", *objects), "-o", "json").json["routes"]
    assert [group["share"] for group in route["groups"]] == [1.0, 0.0]
    first = route["groups"][0]["clusters"]
    assert {one["cluster"] for one in first} == {"a", "b"}
    assert sum(one["share"] for one in first) == pytest.approx(1, abs=1e-5)
    assert sum(one["ready"] for one in first) == 3


@pytest.mark.parametrize(
    ("event", "code"),
    [
        pytest.param(("--scale", "ml-team/llama-canary=0"), 1, id="a group without endpoints"),
        pytest.param(("--scale", "ml-team/llama=4"), 0, id="one more endpoint"),
        pytest.param(("--drain", "b"), 0, id="a drain moves the share"),
    ],
)
def test_a_step_shows_the_routes_that_change(tmp_path: Path, event: tuple[str, ...], code: int) -> None:
    file = given.written(tmp_path, "now", *CANARY)
    ran = given.run("simulate", file, *event, "-o", "json")
    assert ran.code == code
    (step,) = ran.json["steps"]
    assert [route["change"] for route in step["routes"]] == ["changed"]
    assert "\n  route ml-team/chat  http://" in given.run("simulate", file, *event).out
