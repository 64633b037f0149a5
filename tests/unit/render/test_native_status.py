"""Native: what a Deployment or a LeaderWorkerSet says of a replica, seen, half seen and assumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.render import progress
from modelplane.render.backend import Observation
from modelplane.render.backends import native
from modelplane.render.progress import Known, Phase
from modelplane.workload.model import Replica, Role
from tests.support import native as shapes

ONE = shapes.SHAPES["one node"]  # three workers
GANGS = shapes.SHAPES["pipeline"]  # two of two pods
ROUTED = {
    "status": {
        "parents": [
            {"conditions": [{"type": "Accepted", "status": "True"}, {"type": "ResolvedRefs", "status": "True"}]}
        ]
    }
}


def _condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


AVAILABLE = _condition("Available", "True", "MinimumReplicasAvailable")


def _counts(number: int) -> dict[str, int]:
    return dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), number)


def _deployment(**status: Any) -> dict[str, Any]:
    given = {"observedGeneration": 2, "conditions": [AVAILABLE]}
    return {"kind": "Deployment", "metadata": {"generation": 2}, "status": {**given, **status}}


def _gangs(**status: Any) -> dict[str, Any]:
    return {
        "kind": "LeaderWorkerSet",
        "metadata": {"generation": 2},
        "status": {"conditions": [_condition("Available", "True")], **status},
    }


def _observed(replica: Replica, workload: Mapping[str, Any] | None, route: Any = ROUTED) -> Observation:
    key = "leaderworkerset" if replica is GANGS else "deployment"
    return native.observe(replica, {key: workload, "route": route})


def _judged(replica: Replica, workload: Mapping[str, Any] | None, route: Any = ROUTED) -> progress.Progress:
    return progress.judge(replica, _observed(replica, workload, route), before={}, has_address=True)


DEADLINE = _condition("Progressing", "False", "ProgressDeadlineExceeded", 'ReplicaSet "a" has timed out progressing.')
QUOTA = _condition("ReplicaFailure", "True", "FailedCreate", 'pods "a" is forbidden: exceeded quota: gpus')


@pytest.mark.parametrize(
    ("replica", "workload", "phase", "known", "says"),
    [
        pytest.param(ONE, None, Phase.STARTING, Known.UNKNOWN, "has not been observed yet", id="not seen"),
        pytest.param(
            ONE,
            {"kind": "Deployment", "metadata": {"generation": 1}},
            Phase.STARTING,
            Known.UNKNOWN,
            "has processed generation 0 of 1",
            id="nobody has looked at it",
        ),
        pytest.param(
            ONE, _deployment(), Phase.STARTING, Known.NO, "0 of 3 decode workers are ready", id="none is ready"
        ),
        pytest.param(
            ONE, _deployment(**_counts(3)), Phase.RUNNING, Known.YES, "3 of 3 decode workers are ready", id="complete"
        ),
        pytest.param(
            ONE,
            _deployment(replicas=3, updatedReplicas=3, readyReplicas=1, availableReplicas=1),
            Phase.DEGRADED,
            Known.NO,
            "1 of 3 decode workers are ready",
            id="some",
        ),
        pytest.param(
            ONE,
            _deployment(**{**_counts(3), "updatedReplicas": 1}),
            Phase.DEGRADED,
            Known.NO,
            "3 of 3 decode workers are ready",
            id="the rest is of an older template",
        ),
        pytest.param(
            ONE,
            _deployment(**_counts(3), observedGeneration=1),
            Phase.DEGRADED,
            Known.NO,
            "has processed generation 1 of 2",
            id="of an older generation",
        ),
        pytest.param(
            ONE,
            _deployment(conditions=[DEADLINE]),
            Phase.FAILED,
            Known.NO,
            "see the events of the pods: ReplicaSet",
            id="they do not become ready",
        ),
        pytest.param(
            ONE,
            _deployment(conditions=[DEADLINE, QUOTA]),
            Phase.FAILED,
            Known.NO,
            'pods cannot be created: pods "a" is forbidden: exceeded quota: gpus',
            id="a quota",
        ),
        pytest.param(
            ONE,
            _deployment(conditions=[DEADLINE], observedGeneration=1),
            Phase.STARTING,
            Known.NO,
            "has processed generation 1 of 2",
            id="a failure of an older generation",
        ),
        pytest.param(GANGS, _gangs(**_counts(2)), Phase.RUNNING, Known.YES, "2 of 2", id="gangs complete"),
        pytest.param(
            GANGS,
            _gangs(replicas=2, updatedReplicas=2, conditions=[_condition("Progressing", "False")]),
            Phase.STARTING,
            Known.NO,
            "0 of 2",
            id="a gang has no condition for a failure",
        ),
        pytest.param(
            GANGS, _gangs(conditions=[]), Phase.STARTING, Known.UNKNOWN, "has not been observed yet", id="gangs unseen"
        ),
        pytest.param(
            GANGS,
            _gangs(**_counts(2), conditions=[_condition("Available", "False")]),
            Phase.DEGRADED,
            Known.NO,
            "2 of 2",
            id="gangs that are not available",
        ),
    ],
)
def test_phase_and_reason(
    replica: Replica, workload: Mapping[str, Any] | None, phase: Phase, known: Known, says: str
) -> None:
    found = _judged(replica, workload)
    assert (found.phase, found.workload.known) == (phase, known)
    assert says in found.workload.message


def test_a_route_that_is_not_taken_serves_nothing() -> None:
    refused = {"status": {"parents": [{"conditions": [_condition("Accepted", "False", "NotAllowed", "no")]}]}}
    found = _judged(ONE, _deployment(**_counts(3)), refused)
    assert (found.phase, found.serving.known, found.serving.reason) == (Phase.STARTING, Known.NO, "NotAllowed")


@pytest.mark.parametrize(
    "status",
    [
        None,
        "text",
        [],
        {"conditions": "text", "readyReplicas": "many"},
        {"conditions": [None, 1], "readyReplicas": -1},
        {"conditions": [AVAILABLE], "readyReplicas": True},
    ],
)
def test_a_status_of_any_form_is_no_error_and_no_yes(status: Any) -> None:
    for replica, kind in ((ONE, "Deployment"), (GANGS, "LeaderWorkerSet")):
        found = _observed(replica, {"kind": kind, "metadata": {}, "status": status})
        assert not found.is_ready
        assert found.workers == {}


# --- assumed ----------------------------------------------------------------------------------------------------------


@shapes.every_shape
def test_what_is_assumed_is_seen_as_running(replica: Replica) -> None:
    workload = shapes.workload(replica)
    assumed = {**workload, "status": native.assume(workload, "gateway", lambda *_: True)}
    found = native.observe(replica, {_key(replica): assumed, "route": ROUTED})
    assert found.is_ready
    assert found.workers == {Role.DECODE: replica.roles[0].spec.workers}
    assert (str(workload["apiVersion"]).split("/")[0], workload["kind"]) in native.KINDS


@pytest.mark.parametrize("replica", [ONE, GANGS], ids=["one node", "gangs"])
def test_nothing_runs_without_what_it_claims(replica: Replica) -> None:
    workload = shapes.workload(replica)
    assumed = {**workload, "status": native.assume(workload, "gateway", lambda *_: False)}
    found = native.observe(replica, {_key(replica): assumed, "route": ROUTED})
    assert not found.is_ready
    assert found.workers == {Role.DECODE: 0}


def _key(replica: Replica) -> str:
    return "leaderworkerset" if replica.roles[0].spec.topology.is_gang else "deployment"
