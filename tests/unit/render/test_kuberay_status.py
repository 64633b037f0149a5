"""KubeRay: what a RayService says of a replica, seen, half seen and assumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.render import progress
from modelplane.render.backend import Observation
from modelplane.render.backends import kuberay
from modelplane.render.progress import Known, Phase
from modelplane.workload.model import Replica, Role
from tests.support import kuberay as shapes

ONE = shapes.SHAPES["one node"]  # three workers
SPLIT = shapes.SHAPES["disaggregated"]  # three for decode, five for prefill
GANGS = shapes.SHAPES["pipeline"]  # two of two pods
ROUTED = {
    "status": {
        "parents": [
            {"conditions": [{"type": "Accepted", "status": "True"}, {"type": "ResolvedRefs", "status": "True"}]}
        ]
    }
}
NOWHERE = {
    "status": {
        "parents": [
            {
                "conditions": [
                    {"type": "Accepted", "status": "True"},
                    {"type": "ResolvedRefs", "status": "False", "reason": "BackendNotFound", "message": "no Service"},
                ]
            }
        ]
    }
}


def _condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


READY = _condition("Ready", "True", "NonZeroServeEndpoints", "Number of serve endpoints is greater than 0")
INITIALIZING = _condition("Ready", "False", "Initializing", "RayService is initializing")
TIMEOUT = _condition("Ready", "False", "InitializingTimeout", "RayService failed to become ready within 2h")
INVALID = _condition("Ready", "False", "ValidationFailed", "The RayService spec is invalid: no")


def _cluster(state: str = "", message: str = "", deployments: Any = None, conditions: Any = ()) -> dict[str, Any]:
    found: dict[str, Any] = {"rayClusterName": "llama-0-abc-x1y2z", "rayClusterStatus": {"conditions": [*conditions]}}
    if state:
        application = {"status": state, "message": message, "serveDeploymentStatuses": deployments or {}}
        found["applicationStatuses"] = {"llm": application}
    return found


def _service(condition: Any = READY, active: Any = None, pending: Any = None, **status: Any) -> dict[str, Any]:
    given = {"observedGeneration": 2, "conditions": [] if condition is None else [condition]}
    if active is not None:
        given["activeServiceStatus"] = active
    if pending is not None:
        given["pendingServiceStatus"] = pending
    return {"kind": "RayService", "metadata": {"generation": 2}, "status": {**given, **status}}


RUNNING = _cluster("RUNNING")
ENGINE, INGRESS = "LLMServer:llama", "OpenAiIngress"


def _observed(replica: Replica, workload: Mapping[str, Any] | None, route: Any = ROUTED) -> Observation:
    return kuberay.observe(replica, {shapes.key(replica): workload, "route": route})


def _judged(replica: Replica, workload: Mapping[str, Any] | None, route: Any = ROUTED) -> progress.Progress:
    return progress.judge(replica, _observed(replica, workload, route), before={}, has_address=True)


@pytest.mark.parametrize(
    ("replica", "workload", "phase", "known", "says"),
    [
        pytest.param(ONE, None, Phase.STARTING, Known.UNKNOWN, "has not been observed yet", id="not seen"),
        pytest.param(
            ONE, _service(None, observedGeneration=None), Phase.STARTING, Known.UNKNOWN,
            "has processed generation 0 of 2", id="nobody has looked at it",
        ),
        pytest.param(
            ONE, _service(INITIALIZING, pending=_cluster()), Phase.STARTING, Known.NO,
            "0 of 3 decode workers are ready", id="the first cluster comes",
        ),
        pytest.param(
            ONE,
            _service(INITIALIZING, pending=_cluster(conditions=[
                _condition("HeadPodReady", "False", "ErrImagePull", "containers with unready status: [head]"),
            ])),
            Phase.STARTING, Known.NO, "the Ray head is not ready: ErrImagePull: containers", id="the head's image",
        ),
        pytest.param(
            ONE,
            _service(INITIALIZING, pending=_cluster(conditions=[
                _condition("ReplicaFailure", "True", "FailedCreateWorkerPod", 'pods "x" is forbidden: exceeded quota'),
            ])),
            Phase.FAILED, Known.NO, "pods cannot be created: FailedCreateWorkerPod: pods", id="a quota",
        ),
        pytest.param(
            ONE, _service(INITIALIZING, pending=_cluster("DEPLOYING", "")), Phase.STARTING, Known.NO,
            "application llm is DEPLOYING", id="the application is deployed",
        ),
        pytest.param(
            ONE,
            _service(INITIALIZING, pending=_cluster("DEPLOY_FAILED", "2 of 2 are UNHEALTHY.", {
                ENGINE: {"status": "DEPLOY_FAILED", "message": "RuntimeError: No such model"},
                INGRESS: {"status": "HEALTHY", "message": ""},
            })),
            Phase.FAILED, Known.NO, "LLMServer:llama is DEPLOY_FAILED: RuntimeError: No such model",
            id="the engine fails",
        ),
        pytest.param(
            ONE, _service(TIMEOUT), Phase.FAILED, Known.NO,
            "within 2h; KubeRay has abandoned it; delete ModelReplica llama-0", id="given up",
        ),
        pytest.param(
            ONE, _service(INVALID, observedGeneration=1), Phase.FAILED, Known.NO,
            "The RayService spec is invalid: no", id="refused by the operator, which then observes no generation",
        ),
        pytest.param(
            ONE, _service(active=RUNNING, numServeEndpoints=3), Phase.RUNNING, Known.YES, "3 of 3",
            id="complete",
        ),
        pytest.param(
            ONE, _service(active=RUNNING, numServeEndpoints=3, observedGeneration=1), Phase.DEGRADED, Known.NO,
            "generation 1 of 2", id="of an older generation",
        ),
        pytest.param(
            ONE, _service(active=_cluster("DEPLOYING", "", {ENGINE: {"status": "UPDATING"}}), numServeEndpoints=2),
            Phase.DEGRADED, Known.NO, "2 of 3 decode workers are ready", id="one is restarted",
        ),
        pytest.param(
            ONE,
            _service(active=_cluster("UNHEALTHY", "", {ENGINE: {"status": "UNHEALTHY", "message": "out of memory"}}),
                     numServeEndpoints=1),
            Phase.DEGRADED, Known.NO, "out of memory", id="one is broken and the others answer",
        ),
        pytest.param(
            ONE, _service(_condition("Ready", "False", "ZeroServeEndpoints"), active=_cluster("DEPLOYING")),
            Phase.STARTING, Known.NO, "0 of 3", id="nothing answers any more",
        ),
        pytest.param(
            GANGS, _service(active=_cluster("DEPLOYING"), numServeEndpoints=3), Phase.DEGRADED, Known.NO,
            "1 of 2 decode workers are ready", id="pods of a gang are one worker",
        ),
        pytest.param(
            SPLIT, _service(active=RUNNING, numServeEndpoints=8), Phase.RUNNING, Known.YES, "5 of 5 prefill",
            id="both roles",
        ),
        pytest.param(
            SPLIT,
            _service(INITIALIZING, pending=_cluster("DEPLOYING", "", {
                "Prefill:llama": {"status": "HEALTHY"}, "Decode:llama": {"status": "UPDATING"},
            })),
            Phase.STARTING, Known.NO, "0 of 3 decode workers are ready, 5 of 5 prefill workers are ready",
            id="one role",
        ),
    ],
)  # fmt: skip
def test_phase_and_reason(
    replica: Replica, workload: Mapping[str, Any] | None, phase: Phase, known: Known, says: str
) -> None:
    route = None if workload is None else ROUTED if phase in (Phase.RUNNING, Phase.DEGRADED) else NOWHERE
    found = _judged(replica, workload, route)
    assert (found.phase, found.workload.known) == (phase, known)
    assert says in found.workload.message


def test_before_the_first_cluster_is_ready_the_route_leads_nowhere() -> None:
    found = _judged(ONE, _service(INITIALIZING, pending=_cluster("RUNNING")), NOWHERE)
    assert (found.serving.known, found.serving.reason) == (Known.NO, "BackendNotFound")


@pytest.mark.parametrize(
    "status",
    [
        None,
        "text",
        [],
        {"conditions": "text", "activeServiceStatus": "text"},
        {"conditions": [None, 1], "activeServiceStatus": {"applicationStatuses": ["RUNNING"]}},
        {"activeServiceStatus": {"applicationStatuses": {"llm": "RUNNING"}}},
        {"activeServiceStatus": {"applicationStatuses": {"llm": {"status": 1, "serveDeploymentStatuses": [1]}}}},
        {"pendingServiceStatus": {"rayClusterName": "x", "rayClusterStatus": {"conditions": {"type": 1}}}},
    ],
)
def test_a_status_of_any_form_is_no_error_and_no_yes(status: Any) -> None:
    for replica in (ONE, SPLIT):
        found = _observed(replica, {"kind": "RayService", "metadata": {}, "status": status})
        assert not found.is_ready
        assert found.workers == {}


def test_an_object_of_other_contents_says_nothing() -> None:
    """The one before it is still there while its Object goes."""
    found = kuberay.observe(ONE, {"rayservice-0123456789": _service(active=RUNNING), "route": ROUTED})
    assert (found.is_ready, found.workers) == (False, {})


# --- assumed ----------------------------------------------------------------------------------------------------------


@shapes.every_shape
def test_what_is_assumed_is_seen_as_running(replica: Replica) -> None:
    workload = shapes.workload(replica)
    assumed = {**workload, "status": kuberay.assume(workload, "gateway", lambda *_: True)}
    found = _observed(replica, assumed)
    assert found.is_ready
    assert found.workers == {bound.spec.role: bound.spec.workers for bound in replica.roles}
    assert (str(workload["apiVersion"]).split("/")[0], workload["kind"]) in kuberay.KINDS


@pytest.mark.parametrize("replica", [ONE, GANGS, SPLIT], ids=["one node", "gangs", "disaggregated"])
def test_nothing_runs_without_what_it_claims(replica: Replica) -> None:
    workload = shapes.workload(replica)
    found = _observed(replica, {**workload, "status": kuberay.assume(workload, "gateway", lambda *_: False)})
    assert not found.is_ready
    assert set(found.workers.values()) == {0}
    assert Role.DECODE in found.workers
