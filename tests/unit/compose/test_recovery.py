"""Replicas that their clusters keep down: the outage is recorded, offered, permitted, and moved successor first."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane import minutes, names
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import ReplicaClaim
from modelplane_functions import cluster_recovery
from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Observed, Outcome
from tests.support import cluster_world, exchange, fleet
from tests.support import replica_world as world
from tests.unit.compose import test_model_deployment
from tests.unit.compose import test_model_replica_queue as queues
from tests.unit.compose.test_model_replica_pods import COLLECTIONS, DEPLOYMENT, Starting, member

Json = Any
NOW = 29_600_000
RECOVERY = 30


# --- the outage of a replica ------------------------------------------------------------------------------------------


HEALTHY: Json = {
    "observedGeneration": 1,
    "replicas": 1,
    "updatedReplicas": 1,
    "readyReplicas": 1,
    "availableReplicas": 1,
    "conditions": [{"type": "Available", "status": "True"}],
}


class Replica(Starting):
    """A replica of Native that has served, and whose Deployment has no ready pod any more."""

    def __init__(self) -> None:
        self.minute: int | None = NOW
        super().__init__(status=HEALTHY)
        self.compose()
        assert self.compose().status["phase"] == "Running"
        self.deployment["status"] = DEPLOYMENT

    def compose(self) -> Outcome:
        store = (world.cluster(), *self.members)
        outcome = world.compose(self.document, *store, children=self.children, kinds=self.kinds, minute=self.minute)
        self.document["status"] = dict(outcome.status)
        return outcome


class Queued(queues.Queued):
    """A replica in a queue, at a time."""

    def compose(self) -> Outcome:
        store = (self.cluster, *self.members)
        kinds = COLLECTIONS
        outcome = world.compose(self.document, *store, children=self.children, kinds=kinds, minute=NOW)
        self.document["status"] = dict(outcome.status)
        return outcome

    def unready(self) -> None:
        self.children[self.key]["status"]["atProvider"]["manifest"]["status"] = queues.UNREADY


def _pod(**status: Json) -> Json:
    labels = {names.LABEL_REPLICA: "llama-0", names.LABEL_ROLE: "decode"}
    metadata = {"name": "llama-0-x", "namespace": "ml-team", "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": status}


def _disrupted(reason: str) -> Json:
    return _pod(conditions=[{"type": "DisruptionTarget", "status": "True", "reason": reason}])


UNSCHEDULABLE = _pod(
    conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}]
)
SCHEDULED = _pod(conditions=[{"type": "PodScheduled", "status": "True"}])
CRASHES = _pod(
    containerStatuses=[{"name": "engine", "ready": False, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]
)


@pytest.mark.parametrize(
    ("pod", "cause"),
    [
        pytest.param(_disrupted("DeletionByTaintManager"), "NodeLost", id="node"),
        pytest.param(_disrupted("DeletionByDeviceTaintManager"), "DeviceTainted", id="device"),
        pytest.param(UNSCHEDULABLE, "Unschedulable", id="unschedulable"),
        pytest.param(CRASHES, None, id="crashes"),
        pytest.param(_disrupted("PreemptionByScheduler"), None, id="another disruption"),
        pytest.param(_pod(conditions=7), None, id="odd"),
    ],
)
def test_the_outage_is_recorded_with_its_minute_and_cause(pod: Json, cause: str | None) -> None:
    replica = Replica()
    found = replica.collect(pod).status["down"]
    assert found == {"since": minutes.written(NOW), **({} if cause is None else {"cause": cause})}
    replica.minute = NOW + 7
    assert replica.compose().status["down"] == found
    replica.members = []
    assert replica.compose().status["down"] == found, "a pod that is gone takes no cause away"
    replica.deployment["status"] = HEALTHY
    assert "down" not in replica.compose().status


def test_pods_that_have_found_nodes_start_and_are_kept_down_no_more() -> None:
    replica = Replica()
    assert replica.collect(UNSCHEDULABLE).status["down"]["cause"] == "Unschedulable"
    replica.minute = NOW + 9
    found = replica.collect(UNSCHEDULABLE, SCHEDULED).status["down"]
    assert found == {"since": minutes.written(NOW), "cause": "Unschedulable"}, "one of them has no node"
    replica.minute = NOW + 12
    found = replica.collect(SCHEDULED, SCHEDULED).status["down"]
    assert found == {"since": minutes.written(NOW + 12)}, "it loads its model, which is no outage of the cluster"
    replica.minute = NOW + 20
    assert replica.compose().status["down"] == found
    replica.collect(UNSCHEDULABLE)
    replica.document["metadata"].setdefault("annotations", {})[names.ANNOTATION_MAY_RECOVER] = "true"
    replica.minute = NOW + 80
    found = replica.collect(SCHEDULED).status["down"]
    assert found == {"since": minutes.written(NOW + 12), "cause": "Unschedulable"}, "its successor loads as well"


def test_a_replica_that_cannot_be_seen_keeps_its_record_and_begins_none() -> None:
    replica = Replica()
    seen = copy.deepcopy(replica.children)
    for child in replica.children.values():
        child["status"] = {"conditions": [{"type": "Synced", "status": "False", "message": "connect failed: x"}]}
    assert replica.compose().status["down"] == {}, "it is not known to be down"
    replica.children = seen
    replica.minute = NOW + 9
    found = replica.compose().status["down"]
    assert found == {"since": minutes.written(NOW + 9)}, "from when it is known"
    for child in replica.children.values():
        child["status"] = {"conditions": [{"type": "Synced", "status": "False", "message": "connect failed: x"}]}
    assert replica.compose().status["down"] == found


def test_a_preempted_replica_is_kept_down_by_its_queue() -> None:
    queued = Queued(queues.native(), queues.READY)
    queued.compose()
    assert queued.compose().status["phase"] == "Running"
    queued.unready()
    evicted = queues.said("Evicted", "True", "Preempted", "Preempted to accommodate a workload")
    found = queued.read(queues.workload(evicted, queues.PENDING)).status
    assert found["phase"] == "Queued"
    assert found["down"] == {"since": minutes.written(NOW), "cause": "Preempted"}


def test_without_a_clock_or_before_it_served_no_outage_begins() -> None:
    replica = Replica()
    replica.minute = None
    assert "down" not in replica.compose().status
    fresh = Starting(status=DEPLOYMENT)
    assert (
        "down"
        not in world.compose(
            fresh.document, world.cluster(), children=fresh.children, kinds=COLLECTIONS, minute=NOW
        ).status
    )


def test_an_outage_of_a_time_to_come_begins_now() -> None:
    replica = Replica()
    found = replica.collect(_disrupted("DeletionByTaintManager")).status["down"]
    replica.minute = NOW - 5000
    found = replica.compose().status["down"]
    assert found == {"since": minutes.written(NOW - 5000), "cause": "NodeLost"}, "the clock was set back"
    replica.minute = None
    assert replica.compose().status["down"] == found


def test_a_record_that_somebody_wrote_is_no_record() -> None:
    replica = Replica()
    replica.document["status"]["down"] = {"since": "yesterday", "cause": "NodeLost"}
    assert replica.compose().status["down"] == {"since": minutes.written(NOW)}
    assert member(0, UNSCHEDULABLE)["kind"] == "Object"


# --- the deployment ---------------------------------------------------------------------------------------------------


class Deployment(test_model_deployment.Running):
    """Two replicas on two of six clusters."""

    def __init__(self, recovery: str | None = f"{RECOVERY}m") -> None:
        self.minute = NOW
        super().__init__()
        self.clusters += [fleet.inference_cluster(name) for name in "cdef"]
        if recovery is not None:
            self.deployment["spec"]["placement"]["recovery"] = recovery

    def compose(self) -> Outcome:
        return exchange.settle(
            model_deployment.compose, self.deployment, children=self.children,
            store=[*self.clusters, *self.classes], minute=self.minute,
        )  # fmt: skip

    def fails(self, name: str = "llama-0", cause: str = "NodeLost") -> None:
        """Let a replica be down since now."""
        child = self.children[f"replica-{name}"]
        child["status"]["down"] = {"since": minutes.written(NOW), "cause": cause}
        child["status"]["conditions"] = [
            {"type": one["type"], "status": "False", "reason": "Unschedulable"} for one in child["status"]["conditions"]
        ]

    def turn(self, name: str = "llama-0") -> None:
        """Let its cluster say that it is its turn."""
        where = self.children[f"replica-{name}"]["spec"]["clusterName"]
        cluster = next(one for one in self.clusters if one["metadata"]["name"] == where)
        cluster["status"]["recovering"] = [f"ml-team/{name}"]


def _offers(outcome: Outcome) -> list[str]:
    return [
        child.resource["metadata"]["name"]
        for child in outcome.children.values()
        if names.ANNOTATION_MAY_RECOVER in child.resource["metadata"].get("annotations", {})
    ]


def _replicas(outcome: Outcome) -> list[str]:
    return sorted(key.removeprefix("replica-") for key in outcome.children if key.startswith("replica-"))


def test_a_replica_is_offered_after_the_time_and_moves_when_it_is_its_turn() -> None:
    running = Deployment()
    running.fails()
    running.turn()
    running.minute = NOW + RECOVERY - 1
    early = running.compose()
    assert (_offers(early), _replicas(early)) == ([], ["llama-0", "llama-1"])
    running.minute = NOW + RECOVERY
    moved = running.compose()
    assert _offers(moved) == ["llama-0"]
    assert _replicas(moved) == ["llama-0", "llama-1", "llama-2"]
    successor = moved.children["replica-llama-2"].resource
    assert successor["metadata"]["annotations"][names.ANNOTATION_REPLACES] == "llama-0"
    assert successor["spec"]["clusterName"] not in ("a", "b")


def test_it_waits_for_its_turn() -> None:
    running = Deployment()
    running.fails()
    running.minute = NOW + RECOVERY
    outcome = running.compose()
    assert (_offers(outcome), _replicas(outcome)) == (["llama-0"], ["llama-0", "llama-1"])


@pytest.mark.parametrize(
    ("kind", "status"), [("StatusStale", "True"), ("WorkloadReady", "Unknown"), ("Serving", "Unknown")]
)
def test_a_replica_that_is_not_seen_begins_no_move(kind: str, status: str) -> None:
    running = Deployment()
    running.fails()
    running.turn()
    running.minute = NOW + RECOVERY
    told = running.children["replica-llama-0"]["status"]["conditions"]
    told[:] = [one for one in told if one["type"] != kind]
    told.append({"type": kind, "status": status, "reason": "ClusterUnreachable"})
    outcome = running.compose()
    assert (_offers(outcome), _replicas(outcome)) == ([], ["llama-0", "llama-1"])


@pytest.mark.parametrize("recovery", [None, "24h"])
def test_without_the_wish_nothing_moves(recovery: str | None) -> None:
    running = Deployment(recovery)
    running.fails()
    running.turn()
    running.minute = NOW + 60
    outcome = running.compose()
    assert (_offers(outcome), _replicas(outcome)) == ([], ["llama-0", "llama-1"])


def test_a_cluster_that_is_not_reached_is_no_cause() -> None:
    running = Deployment()
    running.fails()
    running.turn()
    running.minute = NOW + RECOVERY
    for cluster in running.clusters[:2]:
        cluster["status"]["conditions"][0]["status"] = "False"
    assert _replicas(running.compose()) == ["llama-0", "llama-1"]


def test_where_all_replicas_are_down_nothing_moves_and_it_is_said() -> None:
    running = Deployment()
    running.fails()
    running.fails("llama-1")
    running.turn()
    running.minute = NOW + RECOVERY
    outcome = running.compose()
    assert (_offers(outcome), _replicas(outcome)) == ([], ["llama-0", "llama-1"])
    told = next(one.message for one in outcome.conditions if one.type == "ReplicasScheduled")
    assert "no replica is moved for failures: 2 of 2 replicas of this deployment are down" in told


@pytest.mark.parametrize("recovery", ["4m", "0h", "1d", "m", "99999m", "5 m", "٥m"])
def test_a_time_that_is_none_is_refused(recovery: str) -> None:
    running = Deployment(recovery)
    with pytest.raises(InvalidInput, match="at least 5m"):
        running.compose()


# --- the cluster ------------------------------------------------------------------------------------------------------


class Cluster(cluster_world.Running):
    """A cluster with three replicas, some of which are offered."""

    def at(self, minute: int | None) -> Outcome:
        """Let it be that minute, and decide."""
        self.minute = minute
        return self.step()

    def offer(self, *replicas: str) -> None:
        for one in self.replicas:
            annotations = one["metadata"].setdefault("annotations", {})
            annotations.pop(names.ANNOTATION_MAY_RECOVER, None)
            if one["metadata"]["name"] in replicas:
                annotations[names.ANNOTATION_MAY_RECOVER] = "true"


def test_one_replica_of_a_cluster_has_its_turn_until_it_is_offered_no_more() -> None:
    cluster = Cluster()
    assert "recovering" not in cluster.step().status
    cluster.offer("llama-1", "llama-2")
    assert cluster.step().status["recovering"] == ["ml-team/llama-1"]
    cluster.offer("llama-0", "llama-1", "llama-2")
    assert cluster.step().status["recovering"] == ["ml-team/llama-1"]
    cluster.offer("llama-0", "llama-2")
    assert cluster.step().status["recovering"] == ["ml-team/llama-0"]
    cluster.offer()
    assert "recovering" not in cluster.step().status


def test_a_turn_that_is_not_over_after_an_hour_keeps_nobody_else_waiting() -> None:
    cluster = Cluster()
    cluster.offer("llama-0", "llama-1")
    status = {**cluster.at(NOW).status}
    assert status["recovering"] == ["ml-team/llama-0"]
    assert status["recoveringSince"] == minutes.written(NOW)
    assert cluster.at(NOW + 59).status["recovering"] == ["ml-team/llama-0"]
    late = cluster.at(NOW + 60).status
    assert late["recovering"] == ["ml-team/llama-0", "ml-team/llama-1"], "the first may be moving, and goes on"
    assert late["recoveringSince"] == minutes.written(NOW + 60)
    cluster.offer("llama-0", "llama-1", "llama-2")
    assert cluster.at(NOW + 61).status["recovering"] == ["ml-team/llama-0", "ml-team/llama-1"]
    assert cluster.at(None).status["recovering"] == ["ml-team/llama-0", "ml-team/llama-1"]
    assert cluster.at(NOW - 900).status["recoveringSince"] == minutes.written(NOW - 900), "the clock was set back"
    cluster.offer("llama-2")
    assert cluster.at(NOW - 899).status["recovering"] == ["ml-team/llama-2"]


@pytest.mark.parametrize("odd", [7, None, "llama-0", [7, {}, None], {"a": 1}])
def test_turns_that_cannot_be_read_are_none(odd: Json) -> None:
    claims = [ReplicaClaim(f"ns/{name}", (), holds=True, recovers=True) for name in "ab"]
    status = {"recovering": odd, "recoveringSince": odd}
    found = cluster_recovery.encode(Observed({"metadata": {"name": "a"}, "status": status}, minute=NOW), claims)
    assert found == {"recovering": ["ns/a"], "recoveringSince": minutes.written(NOW)}


def test_no_more_turns_are_published_than_the_definition_allows() -> None:
    claims = [ReplicaClaim(f"ns/r{number:02}", (), holds=True, recovers=True) for number in range(40)]
    status: Json = {}
    for hour in range(30):
        observed = Observed({"metadata": {"name": "a"}, "status": status}, minute=NOW + 60 * hour)
        status = cluster_recovery.encode(observed, claims)
        assert len(status["recovering"]) == min(hour + 1, 16)


def test_one_that_is_being_deleted_needs_no_turn() -> None:
    cluster = Cluster()
    cluster.offer("llama-0", "llama-1")
    assert cluster.step().status["recovering"] == ["ml-team/llama-0"]
    cluster.replicas[0]["metadata"]["deletionTimestamp"] = "2026-01-31T09:05:00Z"
    assert cluster.step().status["recovering"] == ["ml-team/llama-1"]


def test_who_is_not_admitted_has_no_turn() -> None:
    cluster = Cluster(replicas=16)
    cluster.add("llama-99")
    cluster.step()
    cluster.offer("llama-99")
    assert "recovering" not in cluster.step().status


def test_a_time_is_written_and_read() -> None:
    assert minutes.read(minutes.written(NOW)) == NOW
    assert [minutes.read(text) for text in ("", "2026", "2026-01-01T00:00:30Z", "x" * 99)] == [None] * 4
    assert [minutes.duration(text) for text in ("30m", "2h", "", "m", "-1m", "1.5h", "5s")] == [
        30, 120, None, None, None, None, None,
    ]  # fmt: skip
