"""ModelReplica: what its cluster does not say is not known. Only what was seen takes something out of traffic."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from modelplane.topology.shape import Topology
from modelplane.workload.model import Replica, Role
from modelplane_functions.exchange import Outcome
from tests.support import replica_world as world

Json = Any

UNIFIED = world.replica(world.role(workers=3))
APART = world.replica(world.role(workers=2), world.role(Role.PREFILL, workers=3, topology=Topology(data=16)))
ODD: tuple[Json, ...] = (None, "", "x", [], ["x", None, {}], {}, {"x": {}}, 7, -1, 0.5, True, [[]])


def _remote(children: Json, key: str) -> Json:
    return children[key]["status"]["atProvider"]["manifest"]


def _paths(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in entries:
        yield from _paths(below, (*path, key))


def _put(root: Json, path: tuple[str | int, ...], value: Json) -> None:
    for key in path[:-1]:
        root = root[key]
    if value is None:
        del root[path[-1]]
    else:
        root[path[-1]] = copy.deepcopy(value)


def _truth(outcome: Outcome, kind: str) -> str:
    return world.conditions(outcome)[kind][0]


def _is_a_count(path: tuple[str | int, ...], value: Json) -> bool:
    return path[-1] == "readyReplicas" and value == 7


@pytest.mark.parametrize("value", [pytest.param(UNIFIED, id="unified"), pytest.param(APART, id="disaggregated")])
@pytest.mark.parametrize("key", ["workload", "route"])
def test_a_status_that_is_absent_or_of_another_type_is_never_a_no(value: Replica, key: str) -> None:
    document, children = world.running(value)
    paths = list(_paths(_remote(children, key)["status"], ("status",)))
    assert len(paths) > 8
    for path in paths:
        for odd in ODD:
            broken = copy.deepcopy(children)
            _put(_remote(broken, key), path, odd)
            outcome = world.compose(document, world.cluster(), children=broken)
            assert _truth(outcome, "Serving") != "False", (path, odd)
            assert outcome.children.keys() == children.keys(), (path, odd)
            assert outcome.status["workers"] == document["status"]["workers"] or _is_a_count(path, odd), (path, odd)
            back = world.compose({**document, "status": outcome.status}, world.cluster(), children=children)
            assert (back.status, back.children) == (document["status"], back.children), (path, odd)
            assert _truth(back, "Serving") == "True", (path, odd)


@pytest.mark.parametrize(
    "remote",
    [
        pytest.param({}, id="empty"),
        pytest.param({"status": None}, id="none"),
        pytest.param({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, id="a controller restarts"),
        pytest.param({"status": {"observedGeneration": 1, "conditions": []}}, id="nothing but a generation"),
    ],
)
def test_a_workload_without_a_word_is_not_known(remote: Json) -> None:
    document, children = world.running(UNIFIED)
    manifest = _remote(children, "workload")
    del manifest["status"]
    manifest.update(remote)
    outcome = world.compose(document, world.cluster(), children=children)
    found = world.conditions(outcome)
    assert (found["WorkloadReady"], found["Serving"]) == (("Unknown", "NotObserved"),) * 2
    assert outcome.status["workers"] == {"decode": {"desired": 3, "ready": 3}}


def test_a_role_that_is_not_spoken_of_keeps_its_count_beside_one_that_is() -> None:
    document, children = world.running(APART)
    del _remote(children, "workload")["status"]["workloads"]["prefill"]
    outcome = world.compose(document, world.cluster(), children=children)
    assert outcome.status["workers"]["prefill"]["ready"] == 3
    assert "the number of ready prefill workers" in world.message(outcome, "Serving")
    _remote(children, "workload")["status"]["workloads"]["primary"]["readyReplicas"] = 0
    gone = world.compose(document, world.cluster(), children=children)
    assert world.conditions(gone)["Serving"] == ("False", "NoReadyWorker")


@pytest.mark.parametrize(
    ("conditions", "serving"),
    [
        pytest.param({}, ("Unknown", "RouteNotProcessed"), id="no condition"),
        pytest.param({"Accepted": "True"}, ("Unknown", "RouteNotProcessed"), id="references not judged yet"),
        pytest.param({"Accepted": "Unknown", "ResolvedRefs": "True"}, ("Unknown", "RouteNotProcessed"), id="unknown"),
        pytest.param({"Accepted": "True", "ResolvedRefs": "False"}, ("False", "Why"), id="refused"),
        pytest.param({"Accepted": "False"}, ("False", "Why"), id="refused before all was judged"),
    ],
)
def test_a_route_is_out_of_traffic_when_a_gateway_refuses_it(
    conditions: dict[str, str], serving: tuple[str, str]
) -> None:
    document, children = world.running(UNIFIED)
    said = [{"type": kind, "status": status, "reason": "Why"} for kind, status in conditions.items()]
    _remote(children, "route")["status"]["parents"] = [{"conditions": said}]
    outcome = world.compose(document, world.cluster(), children=children)
    assert world.conditions(outcome)["Serving"] == serving


def test_what_a_gateway_said_of_an_older_route_is_not_about_this_one() -> None:
    document, children = world.running(UNIFIED)
    route = _remote(children, "route")
    route["metadata"]["generation"] = 2
    route["status"]["parents"][0]["conditions"] = [
        {"type": "Accepted", "status": "False", "observedGeneration": 1},
        {"type": "ResolvedRefs", "status": "True", "observedGeneration": 1},
    ]
    outcome = world.compose(document, world.cluster(), children=children)
    assert world.conditions(outcome)["Serving"] == ("Unknown", "RouteNotProcessed")


def test_two_blinks_and_back_end_where_they_began() -> None:
    document, children = world.running(UNIFIED)
    absent, wrong = copy.deepcopy(children), copy.deepcopy(children)
    del _remote(absent, "workload")["status"]
    _remote(wrong, "workload")["status"] = "x"
    del wrong["route"]["status"]["atProvider"]
    status = document["status"]
    for seen in (absent, wrong, absent, wrong):
        outcome = world.compose({**document, "status": status}, world.cluster(), children=seen)
        assert _truth(outcome, "Serving") == "Unknown"
        status = outcome.status
    back = world.compose({**document, "status": status}, world.cluster(), children=children)
    assert back.status == document["status"]
