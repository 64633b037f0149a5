"""LLMD: what workers, picker, pool and route say of a replica, seen, half seen and assumed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.render import progress
from modelplane.render.backend import Observation
from modelplane.render.backends import llmd
from modelplane.render.progress import Known, Phase
from modelplane.workload.model import Replica, Role
from tests.support import llmd as shapes

Json = Any

SEVERAL, APART = shapes.SHAPES["several workers"], shapes.SHAPES["apart"]
SGLANG, GANGS = shapes.SHAPES["SGLang apart"], shapes.SHAPES["gangs apart"]
ALONE = shapes.SHAPES["one worker"]
EVERY = (SEVERAL, APART, SGLANG, GANGS, ALONE)


def _condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


TAKEN = {"parents": [{"conditions": [_condition("Accepted", "True"), _condition("ResolvedRefs", "True")]}]}


def _up(replica: Replica) -> dict[str, Json]:
    """Return the objects of a replica that serves, as the provider has last seen them."""
    found: dict[str, Json] = {}
    for key, manifest in shapes.rendered(replica).items():
        resource = copy.deepcopy(dict(manifest.resource))
        group = str(resource["apiVersion"]).rpartition("/")[0]
        if (group, resource["kind"]) in llmd.KINDS:
            resource["status"] = llmd.assume(resource, "gateway", lambda *_: True)
        if key == "route":
            resource["status"] = TAKEN
        found[key] = resource
    return found


def _judged(replica: Replica, objects: Mapping[str, Json]) -> progress.Progress:
    return progress.judge(replica, llmd.observe(replica, objects), before={}, has_address=True)


def _down(objects: dict[str, Json], key: str, *conditions: Mapping[str, str]) -> dict[str, Json]:
    said = list(conditions) or [_condition("Available", "False")]
    objects[key]["status"] = {"observedGeneration": 1, "replicas": 1, "conditions": said}
    return objects


# --- up ---------------------------------------------------------------------------------------------------------------


@shapes.every_shape
def test_what_is_assumed_is_a_replica_that_serves(replica: Replica) -> None:
    found = _judged(replica, _up(replica))
    assert (found.phase, found.workload.known, found.serving.known) == (Phase.RUNNING, Known.YES, Known.YES)
    assert found.workers == {bound.spec.role: bound.spec.workers for bound in replica.roles}


@shapes.every_shape
def test_no_worker_runs_without_what_it_claims(replica: Replica) -> None:
    objects = _up(replica)
    claims = False
    for bound in replica.roles:
        resource = shapes.workload(replica, bound.spec.role)
        status = llmd.assume(resource, "gateway", lambda *_: False)
        claims = claims or not status.get("readyReplicas")
        objects[f"{resource['kind'].lower()}-{bound.spec.role}"]["status"] = status
    assert claims == any(key.startswith("claims-") for key in objects)
    assert (_judged(replica, objects).phase is Phase.STARTING) == claims


# --- the picker -------------------------------------------------------------------------------------------------------

DEADLINE = _condition("Progressing", "False", "ProgressDeadlineExceeded", "no picker came up")


@pytest.mark.parametrize(
    ("replica", "phase", "serving", "says"),
    [
        pytest.param(SEVERAL, Phase.DEGRADED, Known.YES, "requests go to any worker", id="open"),
        pytest.param(APART, Phase.DEGRADED, Known.YES, "requests go to any worker", id="open, apart"),
        pytest.param(SGLANG, Phase.STARTING, Known.NO, "requests are refused", id="closed"),
    ],
)
def test_a_picker_that_is_down_is_told_and_stops_what_it_stops(
    replica: Replica, phase: Phase, serving: Known, says: str
) -> None:
    for conditions in ((), (DEADLINE,)):
        found = _judged(replica, _down(_up(replica), "picker", *conditions))
        assert (found.phase, found.serving.known) == (phase, serving)
        assert (found.workload.known, found.workload.reason) == (Known.NO, "PickerNotReady")
        assert says in found.workload.message
        assert ("no picker came up" in found.workload.message) == bool(conditions)


def test_a_picker_that_nobody_has_seen_is_no_reason_to_stop() -> None:
    for replica, serving in ((SEVERAL, Known.YES), (SGLANG, Known.UNKNOWN)):
        for unseen in (None, {"kind": "Deployment", "metadata": {}}):
            found = _judged(replica, {**_up(replica), "picker": unseen})
            assert found.serving.known is serving
            assert found.workload.reason == "PickerNotObserved"


def test_a_replica_of_one_worker_waits_for_no_picker() -> None:
    found = _judged(ALONE, {**_up(ALONE), "picker": None, "pool": None})
    assert found.phase is Phase.RUNNING


# --- roles ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replica", "role", "phase", "serving"),
    [
        pytest.param(APART, "prefill", Phase.DEGRADED, Known.YES, id="vLLM prefills where it decodes"),
        pytest.param(SGLANG, "prefill", Phase.STARTING, Known.NO, id="SGLang does not"),
        pytest.param(APART, "decode", Phase.STARTING, Known.NO, id="nobody decodes"),
        pytest.param(SEVERAL, "decode", Phase.STARTING, Known.NO, id="nobody serves"),
    ],
)
def test_a_role_without_workers(replica: Replica, role: str, phase: Phase, serving: Known) -> None:
    found = _judged(replica, _down(_up(replica), f"deployment-{role}"))
    assert (found.phase, found.serving.known, found.workload.known) == (phase, serving, Known.NO)
    assert found.workers[Role(role)] == 0


def test_a_problem_of_a_role_says_whose_it_is() -> None:
    quota = _condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota: gpus")
    found = _judged(APART, _down(_up(APART), "deployment-prefill", quota))
    assert "prefill: pods cannot be created: exceeded quota: gpus" in found.workload.message
    assert found.phase is Phase.DEGRADED
    found = _judged(SGLANG, _down(_up(SGLANG), "deployment-prefill", quota))
    assert found.phase is Phase.FAILED


def test_gangs_are_counted_by_their_leaders() -> None:
    found = llmd.observe(GANGS, _up(GANGS))
    assert found.workers == {Role.DECODE: 2, Role.PREFILL: 3}


# --- the gateway ------------------------------------------------------------------------------------------------------


def _pool(*conditions: Mapping[str, str]) -> dict[str, Json]:
    return {"status": {"parents": [{"conditions": list(conditions)}]}}


@pytest.mark.parametrize(
    ("changed", "known", "reason"),
    [
        pytest.param({"pool": None}, Known.UNKNOWN, "RouteNotObserved", id="the pool is not seen"),
        pytest.param({"pool": {"status": {}}}, Known.UNKNOWN, "PoolNotProcessed", id="no gateway takes the pool"),
        pytest.param({"pool": _pool()}, Known.UNKNOWN, "PoolNotProcessed", id="a gateway says nothing"),
        pytest.param(
            {"pool": _pool(_condition("Accepted", "Unknown"))}, Known.UNKNOWN, "PoolNotProcessed", id="not decided"
        ),
        pytest.param(
            {"pool": _pool(_condition("Accepted", "False", "HTTPRouteNotAccepted", "no"))},
            Known.NO,
            "HTTPRouteNotAccepted",
            id="refused",
        ),
        pytest.param(
            {"pool": _pool(_condition("Accepted", "True"), _condition("ResolvedRefs", "False", "InvalidExtensionRef"))},
            Known.NO,
            "InvalidExtensionRef",
            id="no picker is found",
        ),
        pytest.param(
            {
                "pool": {
                    "status": {
                        "parents": [
                            {"conditions": [_condition("Accepted", "False", "NotAllowed")]},
                            {"conditions": [_condition("Accepted", "True")]},
                        ]
                    }
                }
            },
            Known.YES,
            "Serving",
            id="one of two gateways takes it",
        ),
        pytest.param({"route": None}, Known.UNKNOWN, "RouteNotObserved", id="the route is not seen"),
    ],
)
def test_requests_need_a_gateway_that_takes_route_and_pool(changed: Json, known: Known, reason: str) -> None:
    found = _judged(SEVERAL, {**_up(SEVERAL), **changed})
    assert (found.serving.known, found.serving.reason) == (known, reason)
    assert found.workload.known is Known.YES


def test_a_gateway_that_does_not_know_pools_does_not_learn_it_by_waiting() -> None:
    said = [
        _condition("Accepted", "True"),
        _condition("ResolvedRefs", "False", "InvalidKind", "InferencePool is not supported"),
    ]
    found = _judged(SEVERAL, {**_up(SEVERAL), "route": {"status": {"parents": [{"conditions": said}]}}})
    assert (found.phase, found.serving.known, found.serving.reason) == (Phase.FAILED, Known.NO, "InvalidKind")
    assert "InferencePool is not supported" in found.serving.message


# --- anything ---------------------------------------------------------------------------------------------------------

GARBAGE: tuple[Json, ...] = (
    None, "text", [], 7, {"conditions": "text"}, {"conditions": [None, 1], "readyReplicas": "many"},
    {"parents": "text"}, {"parents": [None, 3, {"conditions": {}}]}, {"parents": {"a": 1}},
)  # fmt: skip


@pytest.mark.parametrize("replica", EVERY)
def test_a_status_of_any_form_is_no_error_and_no_yes(replica: Replica) -> None:
    keys = [
        key for key in _up(replica) if key.startswith(("deployment-", "leaderworkerset-")) or key in ("pool", "route")
    ]
    for key in keys:
        for status in GARBAGE:
            objects = _up(replica)
            objects[key]["status"] = status
            found = _judged(replica, objects)
            assert found.phase is not Phase.RUNNING
            assert Known.NO not in (found.workload.known, found.serving.known)


def test_nothing_seen_is_nothing_known() -> None:
    for replica in EVERY:
        found = llmd.observe(replica, {})
        assert found == Observation({}, is_ready=False, is_routed=None, problems=found.problems, spare=found.spare)
        assert _judged(replica, {}).workload.known is Known.UNKNOWN
