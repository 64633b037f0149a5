"""The state of a replica from its graph: what is ready, what is served, what is wrong, and what nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.render import progress
from modelplane.render.backends import dynamo as backend
from modelplane.render.progress import Known, Phase
from modelplane.workload.model import Replica, Role
from tests.support import dynamo, kserve

Json = Any
BOTH = dynamo.SHAPES["disaggregated"]
ONE = dynamo.SHAPES["one node"]
ROUTED = {
    "kind": "HTTPRoute",
    "metadata": {"generation": 1},
    "status": {
        "parents": [
            {"conditions": [{"type": one, "status": "True", "reason": one} for one in ("Accepted", "ResolvedRefs")]}
        ]
    },
}


def _graph(state: str | None = "successful", *, ready: str | None = "True", **fields: Json) -> Json:
    """Return an observed graph; `counts` are the ready replicas of components."""
    counts = fields.pop("counts", {})
    condition = {
        "type": "Ready", "status": ready, "reason": fields.pop("reason", "all_resources_are_ready"),
        "message": fields.pop("message", "All resources are ready"),
    }  # fmt: skip
    status = {
        "observedGeneration": fields.pop("looked_at", 2),
        "components": {name: {"componentKind": "Deployment", "readyReplicas": count} for name, count in counts.items()},
        "conditions": [] if ready is None else [condition],
        **({} if state is None else {"state": state}),
    }
    return {"kind": "DynamoGraphDeployment", "metadata": {"generation": 2}, "status": status, **fields}


def _observe(graph: Json, replica: Replica = ONE, route: Json = ROUTED) -> Any:
    return backend.observe(replica, {dynamo.key(replica): graph, "route": route})


def _judge(graph: Json, replica: Replica = ONE, route: Json = ROUTED) -> Any:
    return progress.judge(replica, _observe(graph, replica, route), before={}, has_address=True)


def test_all_is_ready() -> None:
    found = _judge(_graph(counts={"frontend": 1, "prefill": 5, "decode": 3}), BOTH)
    assert found.phase is Phase.RUNNING
    assert found.workers == {Role.DECODE: 3, Role.PREFILL: 5}


def test_nothing_is_known_of_a_graph_that_is_not_observed() -> None:
    found = backend.observe(ONE, {dynamo.key(ONE): None})
    assert (found.workers, found.is_ready, found.is_routed) == ({}, False, None)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("insufficient_capacity", "InsufficientCapacity"),
        ("pods_not_ready", "PodsNotReady"),
        ("some_resources_are_not_ready", "ComponentsNotReady"),
        ("mixed_not_ready_reasons", "ComponentsNotReady"),
        ("updating", "Updating"),
        ("something_new", "NotReady"),
    ],
)
def test_the_reason_of_dynamo_comes_first_and_ends_by_waiting(reason: str, expected: str) -> None:
    graph = _graph("pending", ready="False", reason=reason, message="0/2 nodes", counts={"frontend": 1, "worker": 0})
    found = _judge(graph)
    assert found.phase is Phase.STARTING
    assert found.workload.reason == expected
    assert "0/2 nodes" in found.workload.message
    assert found.serving.reason == "NoReadyWorker"


def test_a_graph_without_a_status_is_not_known() -> None:
    """The definition defaults the state to initializing."""
    found = _judge({"kind": "DynamoGraphDeployment", "metadata": {"generation": 1}})
    assert found.workload.known is Known.UNKNOWN
    assert found.phase is Phase.STARTING
    assert "Dynamo's operator has processed generation 0 of 1" in found.workload.message


def test_a_state_of_an_older_generation_is_not_ready() -> None:
    found = _judge(_graph(looked_at=1, counts={"frontend": 1, "worker": 3}))
    assert found.workload.known is Known.NO
    assert found.workload.reason == "NotProcessed"
    assert found.phase is Phase.DEGRADED, "what runs is served"


@pytest.mark.parametrize(
    ("message", "phase"),
    [
        pytest.param('failed to get DeviceClass "gpu": not found', Phase.STARTING, id="it may come"),
        pytest.param(
            'Service "x" is invalid: metadata.name: Invalid value', Phase.FAILED, id="the next is refused too"
        ),
    ],
)
def test_a_failed_graph_says_why(message: str, phase: Phase) -> None:
    found = _judge(_graph("failed", ready="False", reason="reconcile_failed", message=message, counts={"worker": 0}))
    assert found.phase is phase
    assert message in found.workload.message
    assert found.workload.reason == "Failed"


def test_a_failed_graph_without_a_condition_is_a_problem_too() -> None:
    (problem,) = _observe(_graph("failed", ready=None)).problems
    assert (problem.reason, problem.is_final) == ("Failed", False)
    assert "no message" in problem.message


def test_some_workers_are_ready() -> None:
    graph = _graph("pending", ready="False", reason="pods_not_ready", counts={"frontend": 1, "worker": 2})
    found = _judge(graph)
    assert found.phase is Phase.DEGRADED
    assert found.workers == {Role.DECODE: 2}
    assert "2 of 3 decode workers are ready" in found.workload.message


def test_two_generations_are_no_more_workers_than_there_should_be() -> None:
    found = _observe(_graph(counts={"frontend": 1, "worker": 5}))
    assert found.workers == {Role.DECODE: 3}


def test_without_a_frontend_nothing_is_served() -> None:
    graph = _graph("pending", ready="False", reason="pods_not_ready", counts={"frontend": 0, "worker": 3})
    found = _judge(graph)
    assert found.serving.known is Known.NO
    assert found.serving.reason == "FrontendNotReady"
    assert found.phase is Phase.STARTING
    unknown = _observe(graph, route=None)
    assert unknown.is_routed is None, "a route that nobody reports on stays unknown"


def test_a_role_that_is_not_counted_is_unknown() -> None:
    found = _judge(_graph(counts={"frontend": 1, "decode": 3}), BOTH)
    assert found.workers == {Role.DECODE: 3}
    assert found.workload.known is Known.UNKNOWN


@pytest.mark.parametrize(
    "status",
    [
        pytest.param({"components": []}, id="a list of components"),
        pytest.param({"components": {"worker": 3}}, id="a number"),
        pytest.param({"components": {"worker": {"readyReplicas": "3"}}}, id="a text"),
        pytest.param({"conditions": {"Ready": True}, "state": 7, "observedGeneration": True}, id="other types"),
        pytest.param("ready", id="a word"),
        pytest.param(None, id="null"),
    ],
)
def test_a_status_of_any_type_is_no_error_and_no_worker(status: Json) -> None:
    found = _observe({"kind": "DynamoGraphDeployment", "metadata": {"generation": 1}, "status": status})
    assert found.workers == {}
    assert not found.is_ready


# --- what is assumed without a cluster --------------------------------------------------------------------------------


@dynamo.every_shape
def test_what_is_assumed_is_observed_as_running(replica: Replica) -> None:
    status = backend.assume(dynamo.workload(replica), "gateway", lambda *_: True)
    found = _judge({"kind": "DynamoGraphDeployment", "metadata": {"generation": 1}, "status": status}, replica)
    assert found.phase is Phase.RUNNING


def test_workers_wait_for_a_claim_template_that_is_not_there() -> None:
    status = backend.assume(dynamo.workload(BOTH), "gateway", lambda *one: "prefill" not in one[3])
    graph = {"kind": "DynamoGraphDeployment", "metadata": {"generation": 1}, "status": status}
    found = _judge(graph, BOTH)
    assert found.workers == {Role.DECODE: 3, Role.PREFILL: 0}
    assert found.workload.reason == "ComponentsNotReady"
    assert "-prefill: Deployment is not ready" in found.workload.message


def test_the_rule_of_readiness_is_that_of_the_observation() -> None:
    """The query of the Object and `observe` agree on what is ready."""
    from kubecel import rules  # noqa: PLC0415 - the engine is loaded for this test alone

    (manifest,) = (one for one in dynamo.rendered(ONE).values() if one.resource["kind"] == "DynamoGraphDeployment")
    query = rules.compile(manifest.readiness.cel, subject="object")
    for graph in (
        _graph(counts={"worker": 3}),
        _graph("pending", counts={"worker": 3}),
        _graph(ready="False", counts={"worker": 3}),
        _graph(looked_at=1, counts={"worker": 3}),
        _graph(ready=None),
        _graph(None),
        {"metadata": {"generation": 1}},
    ):
        assert query.evaluate(graph) is _observe(graph).is_ready


def test_facts_of_the_cluster_change_no_key() -> None:
    assert dynamo.key(ONE) in dynamo.rendered(ONE, kserve.FACTS)
