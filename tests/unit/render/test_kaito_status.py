"""KAITO: what an InferenceSet says of a replica, seen, half seen and assumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.render import progress
from modelplane.render.backend import Observation
from modelplane.render.backends import kaito
from modelplane.render.progress import Known, Phase
from modelplane.workload.model import Replica, Role
from tests.support import kaito as shapes

THREE = shapes.SHAPES["one node"]  # three workers
PLUGIN = shapes.SHAPES["device plugin"]
ROUTED = {
    "status": {
        "parents": [
            {"conditions": [{"type": "Accepted", "status": "True"}, {"type": "ResolvedRefs", "status": "True"}]}
        ]
    }
}
READY = {"type": "InferenceSetReady", "status": "True", "reason": "inferencesetReady", "message": "it is ready"}
CAUSE = "inferenceset is not ready, 0/3 replicas are ready (last reconcile error: quota (gpus) is used up)"


def _short(
    message: str = "inferenceset is not ready, 1/3 replicas are ready", reason: str = "inferencesetNotReady"
) -> Any:
    return {"type": "InferenceSetReady", "status": "False", "reason": reason, "message": message}


def _set(condition: Any = READY, **status: Any) -> dict[str, Any]:
    conditions = [] if condition is None else [condition]
    return {"kind": "InferenceSet", "metadata": {"generation": 2}, "status": {"conditions": conditions, **status}}


def _observed(replica: Replica, workload: Mapping[str, Any] | None, route: Any = ROUTED) -> Observation:
    return kaito.observe(replica, {shapes.key(replica): workload, "route": route})


def _judged(replica: Replica, workload: Mapping[str, Any] | None, route: Any = ROUTED) -> progress.Progress:
    return progress.judge(replica, _observed(replica, workload, route), before={}, has_address=True)


@pytest.mark.parametrize(
    ("workload", "phase", "known", "says"),
    [
        pytest.param(None, Phase.STARTING, Known.UNKNOWN, "has not been observed yet", id="not seen"),
        pytest.param(_set(None), Phase.STARTING, Known.UNKNOWN, "that KAITO's controllers run", id="nobody has looked"),
        pytest.param(
            _set(_short(), replicas=3), Phase.STARTING, Known.NO,
            "0 of 3 decode workers are ready; KAITO says why in the Workspaces of the set: kubectl get workspaces "
            "-n ml-team -l inferenceset.kaito.sh/created-by=llama-0-", id="none is ready",
        ),
        pytest.param(
            _set(_short(), replicas=3, readyReplicas=1), Phase.DEGRADED, Known.NO, "1 of 3 decode", id="one is ready"
        ),
        pytest.param(_set(replicas=3, readyReplicas=3), Phase.RUNNING, Known.YES, "3 of 3", id="all are"),
        pytest.param(
            _set(replicas=2, readyReplicas=2), Phase.DEGRADED, Known.NO, "2 of 3", id="more are wanted than it knows"
        ),
        pytest.param(
            _set(replicas=5, readyReplicas=5), Phase.DEGRADED, Known.NO, "3 of 3", id="fewer are wanted than it knows"
        ),
        pytest.param(
            _set(_short(), replicas=3, readyReplicas=3), Phase.DEGRADED, Known.NO, "3 of 3", id="not ready by itself"
        ),
        pytest.param(
            _set(_short(CAUSE), replicas=3), Phase.STARTING, Known.NO, "InferenceSet: quota (gpus) is used up; KAITO",
            id="the error of the last attempt",
        ),
        pytest.param(
            _set(_short("no pool", "inferencesetFailed"), replicas=3), Phase.FAILED, Known.NO,
            "InferenceSet: no pool", id="it has failed",
        ),
        pytest.param(
            _set(_short("Back-off pulling image", "ImagePullError"), replicas=3), Phase.FAILED, Known.NO,
            "InferenceSet: Back-off pulling image", id="an image",
        ),
        pytest.param(
            _set(_short("0/3 nodes are available", "Unschedulable"), replicas=3), Phase.STARTING, Known.NO,
            "InferenceSet: 0/3 nodes are available", id="nowhere to run",
        ),
    ],
)  # fmt: skip
def test_what_the_set_says(workload: Any, phase: Phase, known: Known, says: str) -> None:
    found = _judged(THREE, workload)
    assert (found.phase, found.workload.known) == (phase, known)
    assert says in found.workload.message


def test_the_reason_is_the_first_useful_one() -> None:
    assert _judged(THREE, _set(_short("x", "Unschedulable"), replicas=3)).workload.reason == "Unschedulable"
    assert _judged(THREE, _set(_short(), replicas=3)).workload.reason == "WorkersStarting"


@pytest.mark.parametrize(
    "status",
    [
        None,
        "running",
        [],
        {"conditions": "yes"},
        {"conditions": [None, {"type": 7}]},
        {"conditions": [READY], "readyReplicas": "3", "replicas": "3"},
        {"conditions": [{**READY, "status": ["True"]}], "readyReplicas": True},
        {"conditions": [{**READY, "status": "False", "message": {"a": 1}, "reason": 7}], "readyReplicas": -1},
    ],
)
def test_what_is_no_status_is_not_known_and_never_ready(status: Any) -> None:
    found = _judged(THREE, {"status": status})
    assert found.phase in (Phase.STARTING, Phase.FAILED)
    assert not found.workers.get(Role.DECODE)


@shapes.every_shape
def test_what_is_assumed_is_ready_and_waits_for_its_claims(replica: Replica) -> None:
    manifest = shapes.workload(replica)
    up = {**manifest, "status": kaito.assume(manifest, "gateway", lambda *_: True)}
    assert _judged(replica, up).phase is Phase.RUNNING
    alone = {**manifest, "status": kaito.assume(manifest, "gateway", lambda *_: False)}
    claims = "resourceClaims" in shapes.pod(replica)["spec"]
    assert _judged(replica, alone).phase is (Phase.STARTING if claims else Phase.RUNNING)


def test_a_route_that_is_not_taken_is_told() -> None:
    found = _judged(PLUGIN, _set(replicas=1, readyReplicas=1), route={"status": {}})
    assert found.serving.reason == "RouteNotProcessed"
