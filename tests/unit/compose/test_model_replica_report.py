"""ModelReplica: what it reports of its workload, its workers and its address, and which transitions it tells."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.workload.model import Replica, Role
from modelplane_functions.exchange import Outcome, Ready
from tests.support import replica_world as world
from tests.support import replicas as build


def _report(value: Replica | None = None, *, change: Any = None, cluster: Any = None, status: Any = None) -> Outcome:
    document, children = world.running(value)
    if change is not None:
        change(children)
    if status is not None:
        document["status"] = status
    return world.compose(document, cluster or world.cluster(), children=children)


def test_a_replica_that_serves_with_all_workers_is_running() -> None:
    outcome = _report()
    assert outcome.status["rendered"]["objects"].keys() > {"workload"}
    assert {key: value for key, value in outcome.status.items() if key != "rendered"} == {
        "phase": "Running",
        "cluster": "gke-us",
        "workers": {"decode": {"desired": 1, "ready": 1}},
        "address": {
            "host": "llama-0.ml-team.modelplane.internal",
            "address": "gateway.gke-us.example.com",
            "port": 80,
            "scheme": "http",
        },
    }
    assert world.conditions(outcome) == {
        "Admitted": ("True", "Admitted"),
        "WorkloadReady": ("True", "AllWorkersReady"),
        "Serving": ("True", "Serving"),
        "StatusStale": ("False", "Fresh"),
        "Fits": ("True", "Fits"),
    }
    assert outcome.ready is Ready.TRUE
    assert all(child.ready is Ready.TRUE for child in outcome.children.values())


def _remote(children: Any, key: str = "workload") -> Any:
    return children[key]["status"]["atProvider"]["manifest"]


def _set_condition(key: str, kind: str, **fields: str) -> Any:
    def change(children: Any) -> None:
        conditions = _remote(children, key)["status"]["conditions"]
        conditions[:] = [entry for entry in conditions if entry["type"] != kind] + [{"type": kind, **fields}]

    return change


def _workers(decode: int, prefill: int | None = None) -> Any:
    def change(children: Any) -> None:
        workloads = _remote(children)["status"]["workloads"]
        workloads["primary"]["readyReplicas"] = decode
        if prefill is not None:
            workloads["prefill"]["readyReplicas"] = prefill

    return change


def _unsynced(key: str, text: str) -> Any:
    def change(children: Any) -> None:
        children[key]["status"]["conditions"] = [{"type": "Synced", "status": "False", "message": text}]

    return change


def _unseen(*keys: str) -> Any:
    def change(children: Any) -> None:
        for key in keys:
            del children[key]["status"]["atProvider"]

    return change


def _somebodys(children: Any) -> None:
    """Let the workload be of somebody else, whose status is good, and let the cluster refuse to change it."""
    _unsynced("workload", 'update failed: "llama-0" is forbidden: an object of this name is there already')(children)
    _remote(children)["metadata"]["labels"] = {"app": "theirs"}


def _no_parents(children: Any) -> None:
    _remote(children, "route")["status"]["parents"] = []


def _old_generation(children: Any) -> None:
    _remote(children)["metadata"]["generation"] = 2


THREE = world.replica(world.role(workers=3))


@pytest.mark.parametrize(
    ("value", "change", "phase", "workload", "serving"),
    [
        pytest.param(
            THREE, _workers(2), "Degraded", ("False", "WorkersStarting"), ("True", "Serving"), id="two of three"
        ),
        pytest.param(
            THREE, _workers(0), "Starting", ("False", "WorkersStarting"), ("False", "NoReadyWorker"), id="none"
        ),
        pytest.param(
            THREE, _workers(9), "Running", ("True", "AllWorkersReady"), ("True", "Serving"), id="a surge is not counted"
        ),
        pytest.param(
            None,
            _set_condition(
                "workload", "PresetsCombined", status="False", reason="ConfigNotFound", message="no preset x"
            ),
            "Degraded",
            ("False", "ConfigNotFound"),
            ("True", "Serving"),
            id="Ready without its presets is not ready (v0.20)",
        ),
        pytest.param(
            THREE,
            lambda children: (
                _workers(0)(children),
                _set_condition("workload", "PresetsCombined", status="False", reason="ConfigNotFound", message="x")(
                    children
                ),
            ),
            "Failed",
            ("False", "ConfigNotFound"),
            ("False", "NoReadyWorker"),
            id="what waiting does not mend is failed",
        ),
        pytest.param(
            None, _old_generation, "Degraded", ("False", "NotProcessed"), ("True", "Serving"), id="an older generation"
        ),
        pytest.param(
            None, _no_parents, "Starting", ("True", "AllWorkersReady"), ("Unknown", "RouteNotProcessed"), id="no route"
        ),
        pytest.param(
            None,
            _unseen("workload"),
            "Starting",
            ("Unknown", "NotObserved"),
            ("Unknown", "NotObserved"),
            id="the workload is not seen",
        ),
        pytest.param(
            None,
            _unseen("route"),
            "Starting",
            ("True", "AllWorkersReady"),
            ("Unknown", "RouteNotObserved"),
            id="the route is not seen",
        ),
        pytest.param(
            None,
            _unsynced("workload", "update failed: admission webhook denied the request: size is immutable"),
            "Degraded",
            ("False", "NotApplied"),
            ("True", "Serving"),
            id="a change the cluster refuses leaves what runs",
        ),
        pytest.param(
            None,
            _somebodys,
            "Failed",
            ("False", "NotApplied"),
            ("Unknown", "NotObserved"),
            id="an object of somebody else says nothing of the replica",
        ),
    ],
)
def test_progress(
    value: Replica | None, change: Any, phase: str, workload: tuple[str, str], serving: tuple[str, str]
) -> None:
    outcome = _report(value, change=change)
    found = world.conditions(outcome)
    assert (outcome.status["phase"], found["WorkloadReady"], found["Serving"]) == (phase, workload, serving)
    assert (outcome.ready is Ready.TRUE) == (phase == "Running")


def test_workers_seen_last_stand_while_nothing_is_seen() -> None:
    assert _report(THREE, change=_unseen("workload")).status["workers"] == {"decode": {"desired": 3, "ready": 3}}


def test_workers_of_both_roles_are_counted() -> None:
    value = world.replica(world.role(workers=3), world.role(Role.PREFILL, workers=5))
    outcome = _report(value, change=_workers(3, 4))
    assert outcome.status["workers"] == {"decode": {"desired": 3, "ready": 3}, "prefill": {"desired": 5, "ready": 4}}
    assert "4 of 5 prefill workers are ready" in world.message(outcome, "WorkloadReady")


def test_a_cluster_that_cannot_be_read_is_said_to_be_stale_and_not_broken() -> None:
    outcome = _report(change=_unsynced("workload", "observe failed: cannot get object: dial tcp: i/o timeout"))
    assert world.conditions(outcome)["StatusStale"] == ("True", "ClusterUnreachable")
    assert "i/o timeout" in world.message(outcome, "StatusStale")
    assert outcome.status["phase"] == "Running"


def test_secrets_that_may_be_missing_are_named_until_a_worker_is_ready() -> None:
    env = [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf-token", "key": "token"}}}]
    template = build.template(engine={"env": env}, imagePullSecrets=[{"name": "pull"}])
    value = world.replica(world.role(pod_template=template))
    said = world.message(_report(value, change=_workers(0)), "WorkloadReady")
    assert "must exist in namespace ml-team of cluster gke-us: hf-token, pull" in said
    assert "hf-token" not in world.message(_report(value), "WorkloadReady")


def test_an_address_that_blinks_is_kept() -> None:
    outcome = _report(cluster=world.without(world.cluster(), "status", "gateway"))
    assert outcome.status["address"]["address"] == "gateway.gke-us.example.com"
    assert world.conditions(outcome)["Serving"] == ("True", "Serving")


@pytest.mark.parametrize(
    ("before", "change", "events"),
    [
        pytest.param("Running", None, [], id="nothing happened"),
        pytest.param("Starting", None, ["Normal Running"], id="came up"),
        pytest.param("Running", _workers(0), ["Warning Starting"], id="went down"),
        pytest.param("Running", _workers(2), ["Warning Degraded"], id="lost a worker"),
        pytest.param("Starting", _workers(2), ["Normal Degraded"], id="on its way up"),
    ],
)
def test_events_tell_transitions_only(before: str, change: Any, events: list[str]) -> None:
    document, _ = world.running(THREE)
    outcome = _report(THREE, change=change, status={**document["status"], "phase": before})
    assert [f"{event.severity} {event.reason}" for event in outcome.events] == events


def test_hold_children_whose_remote_state_is_not_seen() -> None:
    outcome = _report(change=_unseen("workload", "route", "namespace"))
    assert outcome.children.keys() >= {"namespace", "workload", "route"}
