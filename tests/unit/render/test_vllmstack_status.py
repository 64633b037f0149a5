"""VLLMStack: what a VLLMRuntime and its Deployment say of a replica, seen, half seen and assumed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.render import progress
from modelplane.render.backend import Observation
from modelplane.render.backends import vllmstack
from modelplane.render.backends.vllmstack import service
from modelplane.render.progress import Known, Phase
from modelplane.workload.model import Role
from tests.support import production_stack
from tests.support import vllmstack as shapes

Json = Any

THREE = shapes.SHAPES["several workers"]
RUNTIME = shapes.runtime(THREE)
ROUTED = {
    "status": {
        "parents": [
            {"conditions": [{"type": "Accepted", "status": "True"}, {"type": "ResolvedRefs", "status": "True"}]}
        ]
    }
}


def _condition(kind: str, status: str, reason: str = "", message: str = "", **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message, **more}


AVAILABLE = _condition("Available", "True", "MinimumReplicasAvailable")
LATE = _condition(
    "Progressing", "False", "ProgressDeadlineExceeded", "ReplicaSet has timed out progressing.",
    lastUpdateTime="2026-11-22T10:10:00Z",
)  # fmt: skip
QUOTA = _condition("ReplicaFailure", "True", "FailedCreate", 'pods "x" is forbidden: exceeded quota')


def _deployment(up: int = 3, updated: int = 3, generation: int = 1, conditions: Json = (AVAILABLE,)) -> dict[str, Json]:
    made = production_stack.stored(production_stack.deployment(RUNTIME))
    made["metadata"]["generation"] = 2
    status = {"observedGeneration": 1 + generation, "conditions": list(conditions), "replicas": max(up, updated)}
    counts = {"readyReplicas": up, "availableReplicas": up, "updatedReplicas": updated}
    made["status"] = {**status, **{key: count for key, count in counts.items() if count}}
    if up < 3 and max(up, updated):
        made["status"]["unavailableReplicas"] = 3 - up
    return made


def _runtime(made: Json = None, **status: Json) -> dict[str, Json]:
    found = copy.deepcopy(RUNTIME)
    said = production_stack.status(made) if made is not None else {}
    if said or status:
        found["status"] = {**said, **status}
    return found


def _observed(runtime: Mapping[str, Json] | None, made: Mapping[str, Json] | None, route: Json = ROUTED) -> Observation:
    objects = {shapes.key(THREE): runtime, service.KEY_DEPLOYMENT: made, "route": route}
    return vllmstack.observe(THREE, objects)


def _judged(runtime: Json, made: Json) -> progress.Progress:
    return progress.judge(THREE, _observed(runtime, made), before={}, has_address=True)


def _both(made: Json, **status: Json) -> tuple[Json, Json]:
    return _runtime(made, **status), made


def _other_digest() -> dict[str, Json]:
    made = _deployment()
    made["spec"]["template"]["metadata"]["annotations"]["modelplane.ai/configuration"] = "another"
    return made


@pytest.mark.parametrize(
    ("seen", "phase", "known", "says"),
    [
        pytest.param((None, None), Phase.STARTING, Known.UNKNOWN, "has not been observed yet", id="not seen"),
        pytest.param(
            (_runtime(), None), Phase.STARTING, Known.UNKNOWN, "has not reported on it", id="nobody has looked at it"
        ),
        pytest.param(
            (_runtime(), _deployment(up=0)), Phase.STARTING, Known.NO, "the operator's log", id="the operator panics"
        ),
        pytest.param(
            _both(_deployment(up=0)), Phase.STARTING, Known.NO, "0 of 3 decode workers are ready", id="pods start"
        ),
        pytest.param(_both(_deployment()), Phase.RUNNING, Known.YES, "3 of 3", id="all run"),
        pytest.param((_runtime(_deployment()), None), Phase.RUNNING, Known.YES, "3 of 3", id="no Deployment seen"),
        pytest.param(_both(_deployment(up=2)), Phase.DEGRADED, Known.NO, "2 of 3", id="one is lost"),
        pytest.param(
            _both(_other_digest()), Phase.DEGRADED, Known.NO, "the last change has not reached the Deployment",
            id="a change that the operator has not seen",
        ),
        pytest.param(
            _both(_deployment(generation=0)), Phase.DEGRADED, Known.NO, "has processed generation 1 of 2",
            id="a change that the cluster has not seen",
        ),
        pytest.param(
            _both(_deployment(up=0, updated=0, conditions=[QUOTA])), Phase.FAILED, Known.NO,
            'pods "x" is forbidden: exceeded quota', id="a quota",
        ),
        pytest.param(
            _both(_deployment(up=0, conditions=[LATE]), lastUpdated="2026-11-22T10:10:01Z"), Phase.STARTING, Known.NO,
            "pods do not become ready", id="Kubernetes' deadline is too early",
        ),
        pytest.param(
            _both(_deployment(up=0, conditions=[LATE]), lastUpdated="2026-11-22T10:45:19Z"), Phase.STARTING, Known.NO,
            "pods do not become ready", id="a second before the operator's own",
        ),
        pytest.param(
            _both(_deployment(up=0, conditions=[LATE]), lastUpdated="2026-11-22T10:45:20Z"), Phase.FAILED, Known.NO,
            "pods do not become ready", id="after it",
        ),
        pytest.param(
            _both(_deployment(up=0, conditions=[LATE]), lastUpdated="2026-11-22T10:45:20"), Phase.STARTING, Known.NO,
            "pods do not become ready", id="a time without a zone is none",
        ),
    ],
)  # fmt: skip
def test_the_state(seen: tuple[Json, Json], phase: Phase, known: Known, says: str) -> None:
    found = _judged(*seen)
    assert (found.phase, found.workload.known) == (phase, known)
    assert says in found.workload.message


def test_a_deployment_that_is_only_named_says_nothing() -> None:
    """As in a world without a cluster, where nobody has made it."""
    named = shapes.rendered(THREE)[service.KEY_DEPLOYMENT].resource
    found = _observed(_runtime(_deployment()), {**named, "status": {"conditions": [QUOTA], "replicas": 1}})
    assert found.is_ready
    assert found.problems == ()


@pytest.mark.parametrize("spoilt", [None, "", 3, [], {}, {"modelStatus": 3}, {"modelStatus": "Ready", "replicas": "x"}])
def test_a_status_that_cannot_be_read_is_not_known(spoilt: Json) -> None:
    found = _observed({**RUNTIME, "status": spoilt}, None)
    assert not found.is_ready
    assert found.workers in ({}, {Role.DECODE: 0})


def test_more_workers_than_wanted_are_no_more_workers() -> None:
    """The count was lowered, and the pods of before are still there."""
    found = _observed(_runtime(modelStatus="Ready", availableReplicas=5, updatedReplicas=5, replicas=5), None)
    assert found.workers == {Role.DECODE: 3}
    assert not found.is_ready


@shapes.every_shape
def test_the_assumed_status_is_that_of_a_running_replica(replica: Any) -> None:
    made = shapes.runtime(replica)
    assumed = {**made, "status": vllmstack.assume(made, "gateway", lambda *_: False)}
    found = vllmstack.observe(replica, {shapes.key(replica): assumed, "route": ROUTED})
    assert found.is_ready
    assert found.is_routed
    assert found.problems == ()
    assert found.workers == {Role.DECODE: replica.roles[0].spec.workers}
