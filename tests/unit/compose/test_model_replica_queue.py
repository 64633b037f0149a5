"""ModelReplica on a cluster with a queue: what is put on its objects, when it is queued, and what a change does."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from modelplane.api import replica as replicas
from modelplane.render import pod_collection
from modelplane.topology.shape import Topology
from modelplane.workload.model import Replica
from modelplane_functions.exchange import Outcome, Ready
from tests.support import replica_world as world
from tests.support import replicas as build

Json = Any
QUEUE = "kueue.x-k8s.io/queue-name"
UNREADY = {
    "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1,
    "conditions": [
        {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"},
        {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "has timed out"},
    ],
}  # fmt: skip
READY = {
    "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
    "conditions": [{"type": "Available", "status": "True"}],
}  # fmt: skip
GANGS_READY = {**READY, "conditions": [{"type": "Available", "status": "True"}]}
SYNCED = {"conditions": [{"type": "Synced", "status": "True"}, {"type": "Ready", "status": "True"}]}


def cluster(scheduler: Json = None, **status: Json) -> Json:
    document = world.cluster(**status)
    document["spec"]["scheduler"] = scheduler or {"type": "Kueue", "queueName": "serving"}
    return document


def native(*, gang: bool = False, **fields: Json) -> Replica:
    shape = Topology(tensor=8, pipeline=2) if gang else Topology()
    return world.replica(world.role(topology=shape), backend="Native", **fields)


class Queued:
    """A replica of Native in a queue of Kueue, whose object has this status."""

    def __init__(self, value: Replica, status: Json, scheduler: Json = None) -> None:
        self.cluster = cluster(scheduler)
        self.document = world.composite(value)
        self.key = "leaderworkerset" if value.roles[0].spec.topology.is_gang else "deployment"
        first = world.compose(self.document, self.cluster)
        self.children = world.applied(first, {self.key: status})
        self.document["status"] = dict(first.status)
        self.members: list[Json] = []

    def compose(self) -> Outcome:
        kinds = (pod_collection.KIND,)
        store = (self.cluster, *self.members)
        outcome = world.compose(self.document, *store, children=self.children, kinds=kinds)
        self.document["status"] = dict(outcome.status)
        return outcome

    def read(self, *entries: Json, queue: Json = None, absent: bool = False, pods: tuple[Json, ...] = ()) -> Outcome:
        """Let Crossplane make what reads the queue and the pods, and the provider read them."""
        made = self.compose().children
        for key, found in (("queue-entries", entries), ("pods", pods)):
            collection = copy.deepcopy(dict(made[key].resource))
            collection["metadata"]["uid"] = f"uid-{key}"
            collection["status"] = SYNCED
            self.children[key] = collection
            self.members += [member(collection, index, one) for index, one in enumerate(found)]
        read = copy.deepcopy(dict(made["queue"].resource))
        manifest = read["spec"]["forProvider"]["manifest"]
        gone = {"type": "Synced", "status": "False", "message": "observe failed: external resource does not exist"}
        read["status"] = (
            {"conditions": [gone]} if absent else {**SYNCED, "atProvider": {"manifest": {**manifest, **(queue or {})}}}
        )
        self.children["queue"] = read
        return self.compose()


def member(collection: Json, index: int, manifest: Json) -> Json:
    name = collection["metadata"]["name"]
    return {
        "apiVersion": pod_collection.API_VERSION,
        "kind": "Object",
        "metadata": {
            "name": f"{name}-{index:07}",
            "namespace": "ml-team",
            "labels": {"kubernetes.crossplane.io/owned-by-collection": name},
            "ownerReferences": [{"kind": pod_collection.KIND, "name": name, "uid": collection["metadata"]["uid"]}],
        },
        "spec": {"managementPolicies": ["Observe"]},
        "status": {**SYNCED, "atProvider": {"manifest": manifest}},
    }


def workload(*conditions: Json, **status: Json) -> Json:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "w", "namespace": "ml-team"},
        "status": {"conditions": list(conditions), **status},
    }  # fmt: skip


def said(kind: str, status: str, reason: str = "", message: str = "") -> Json:
    return {"type": kind, "status": status, "reason": reason, "message": message}


GATED = {
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "llama-0-a", "namespace": "ml-team", "labels": {"modelplane.ai/replica": "llama-0"}},
    "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]},
    "status": {"conditions": [said("PodScheduled", "False", "SchedulingGated", "gated")]},
}  # fmt: skip
PENDING = said("QuotaReserved", "False", "Pending", "couldn't assign flavors: insufficient unused quota, 8 more needed")


# --- what is rendered -------------------------------------------------------------------------------------------------


def test_the_queue_stands_on_the_object_and_the_namespace_is_kueues() -> None:
    outcome = world.compose(world.composite(native(priority=7)), cluster(
        {"type": "Kueue", "queueName": "serving", "priorityClasses": [
            {"minimum": 0, "name": "low"}, {"minimum": 5, "name": "high"}, {"minimum": 9, "name": "never"}]}
    ))  # fmt: skip
    bare = {key: child.resource["spec"]["forProvider"]["manifest"] for key, child in outcome.children.items()}
    assert bare["deployment"]["metadata"]["labels"][QUEUE] == "serving"
    assert bare["deployment"]["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "high"
    assert QUEUE not in bare["deployment"]["spec"]["template"]["metadata"]["labels"], "Kueue's webhooks write it there"
    assert bare["namespace"]["metadata"]["labels"]["modelplane.ai/managed"] == "true"


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        pytest.param("KAI", ("labels", "kai.scheduler/queue"), id="KAI"),
        pytest.param("Volcano", ("annotations", "scheduling.volcano.sh/queue-name"), id="Volcano"),
    ],
)
@pytest.mark.parametrize("gang", [False, True], ids=["one node", "gang"])
def test_other_schedulers_are_named_in_the_pods(kind: str, place: tuple[str, str], *, gang: bool) -> None:
    found = world.compose(
        world.composite(native(gang=gang, priority=3)),
        cluster({"type": kind, "queueName": "serving", "priorityClasses": [{"minimum": 0, "name": "low"}]}),
    )
    key = "leaderworkerset" if gang else "deployment"
    bare = found.children[key].resource["spec"]["forProvider"]["manifest"]
    field, name = place
    assert bare["metadata"][field][name] == "serving"
    spec = bare["spec"]
    gangs = spec.get("leaderWorkerTemplate")
    templates = [spec["template"]] if gangs is None else [gangs["leaderTemplate"], gangs["workerTemplate"]]
    for template in templates:
        assert template["metadata"][field][name] == "serving"
        assert template["spec"]["schedulerName"] == {"KAI": "kai-scheduler", "Volcano": "volcano"}[kind]
        assert template["spec"]["priorityClassName"] == "low"


# --- queued -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "reason", "says"),
    [
        pytest.param([workload(PENDING)], "QueuePending", "insufficient unused quota, 8 more needed", id="pending"),
        pytest.param([workload()], "QueuePending", "has not looked at it yet", id="no conditions"),
        pytest.param(
            [workload(said("QuotaReserved", "False", "Inadmissible", "no flavor"))], "QueueRefuses", "no flavor",
            id="inadmissible",
        ),
        pytest.param(
            [workload(said("Evicted", "True", "Preempted", "Preempted to accommodate a workload"), PENDING)],
            "Preempted", "Preempted to accommodate a workload", id="preempted",
        ),
        pytest.param(
            [workload(said("Evicted", "True", "Deactivated", "x"), PENDING)], "QueueRefuses", "spec.active",
            id="deactivated",
        ),
        pytest.param(
            [workload(said("QuotaReserved", "True"), admissionChecks=[{"name": "prov", "state": "Retry"}])],
            "AdmissionCheck", "AdmissionCheck prov is Retry", id="a check",
        ),
        pytest.param(
            [workload(said("Admitted", "True"), said("QuotaReserved", "True")), workload(PENDING)],
            "QueuePending", "(1 of 2 Workloads of the replica wait)", id="one of two",
        ),
        pytest.param(
            [workload(said("QuotaReserved", "False", "Suspended", "held"))], "QueueStopped", "held", id="stopped"
        ),
    ],
)  # fmt: skip
def test_a_replica_waits_with_the_words_of_its_queue_and_has_not_failed(
    entries: list[Json], reason: str, says: str
) -> None:
    outcome = Queued(native(), UNREADY).read(*entries)
    assert outcome.status["phase"] == "Queued"
    assert world.conditions(outcome)["WorkloadReady"] == ("False", reason)
    assert says in world.message(outcome, "WorkloadReady")
    assert "timed out" not in world.message(outcome, "WorkloadReady")


def test_a_queue_that_does_not_exist_is_told_by_us() -> None:
    outcome = Queued(native(), UNREADY).read(workload(), absent=True)
    assert world.conditions(outcome)["WorkloadReady"] == ("False", "QueueMissing")
    assert "LocalQueue ml-team/serving does not exist" in world.message(outcome, "WorkloadReady")
    inactive = {"status": {"conditions": [said("Active", "False", "ClusterQueueDoesNotExist", "no such queue")]}}
    outcome = Queued(native(), UNREADY).read(workload(), queue=inactive)
    assert world.conditions(outcome)["WorkloadReady"] == ("False", "QueueMissing")
    assert "no such queue" in world.message(outcome, "WorkloadReady")


def test_gated_pods_without_a_workload_say_what_to_configure() -> None:
    outcome = Queued(native(), UNREADY).read(pods=(GATED,))
    assert outcome.status["phase"] == "Queued"
    assert "labelKeysToCopy" in world.message(outcome, "WorkloadReady")


def test_what_is_admitted_and_fails_has_failed() -> None:
    outcome = Queued(native(), UNREADY).read(workload(said("Admitted", "True"), said("QuotaReserved", "True")))
    assert outcome.status["phase"] == "Failed"


def test_the_queue_is_read_only_while_workers_are_not_ready() -> None:
    queued = Queued(native(), UNREADY)
    outcome = queued.read(workload(PENDING))
    assert {"queue", "queue-entries", "pods"} <= outcome.children.keys()
    assert outcome.children["queue"].resource["spec"]["managementPolicies"] == ["Observe"]
    assert outcome.children["queue"].ready is Ready.TRUE
    queued.children["deployment"]["status"]["atProvider"]["manifest"]["status"] = READY
    outcome = queued.compose()
    assert outcome.status["phase"] == "Running"
    assert not {"queue", "queue-entries", "pods"} & outcome.children.keys()


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, {"conditions": 3}, {"conditions": [{"type": [], "status": {}}]}])
def test_odd_entries_are_no_error(odd: Json) -> None:
    for kind in ("Kueue", "KAI", "Volcano"):
        queued = Queued(native(gang=True), UNREADY, {"type": kind, "queueName": "serving"})
        entry = {"kind": "Workload" if kind == "Kueue" else "PodGroup", "status": odd, "metadata": odd}
        pod = {"kind": "Pod", "metadata": GATED["metadata"], "spec": odd, "status": odd}
        outcome = queued.read(entry, queue={"status": odd, "spec": odd}, pods=(pod,))
        assert outcome.status["phase"] in ("Queued", "Starting", "Failed")


# --- changes ----------------------------------------------------------------------------------------------------------


def _edited(queued: Queued, value: Replica) -> Outcome:
    """Let the deployment change the replica, and the cluster admit it."""
    document = replicas.encode(value)
    queued.document["spec"] = document["spec"]
    return queued.compose()


def _asking(value: Replica, cpu: str, *args: str) -> Replica:
    (bound,) = value.roles
    engine = {"resources": {"requests": {"cpu": cpu}}, "args": list(args)}
    return replace(value, roles=(replace(bound, spec=replace(bound.spec, template=build.template(engine=engine))),))


def test_a_frozen_change_of_a_gang_makes_it_anew_and_any_other_changes_it_in_place() -> None:
    value = _asking(native(gang=True), "8")
    queued = Queued(value, GANGS_READY)
    assert queued.compose().status["phase"] == "Running"
    flags = _edited(queued, _asking(value, "8", "--max-num-seqs=8"))
    assert "leaderworkerset" in flags.children
    shape = _edited(queued, _asking(value, "9"))
    assert "leaderworkerset" not in shape.children, "it is deleted now"
    assert {"namespace", "service", "route"} <= shape.children.keys()
    assert "made anew" in world.message(shape, "WorkloadReady")
    # While it goes, and once it is gone, the new one is asked for.
    queued.children["leaderworkerset"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert "leaderworkerset" in queued.compose().children
    del queued.children["leaderworkerset"]
    again = queued.compose().children["leaderworkerset"].resource["spec"]["forProvider"]["manifest"]
    template = again["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    assert template["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "9"


@pytest.mark.parametrize(
    "scheduler",
    [
        pytest.param({"type": "Kueue", "queueName": "other"}, id="another queue"),
        pytest.param({"type": "KAI", "queueName": "other"}, id="another scheduler"),
        pytest.param({"type": "None"}, id="none"),
        pytest.param(
            {"type": "Kueue", "queueName": "serving", "priorityClasses": [{"minimum": 0, "name": "x"}]}, id="a class"
        ),
    ],
)
@pytest.mark.parametrize("gang", [False, True], ids=["one node", "gang"])
def test_another_queue_of_the_cluster_changes_nothing_that_runs(scheduler: Json, *, gang: bool) -> None:
    queued = Queued(native(gang=gang), GANGS_READY)
    before = queued.compose()
    assert before.status["phase"] == "Running"
    queued.cluster["spec"]["scheduler"] = scheduler
    after = queued.compose()
    assert after.status["phase"] == "Running"
    assert after.children[queued.key].resource["spec"] == before.children[queued.key].resource["spec"]
    assert after.children.keys() == before.children.keys()


def test_a_backend_that_cannot_be_queued_is_held_where_it_runs_and_not_started_elsewhere() -> None:
    value = world.replica(backend="KubeRay")
    refused = world.compose(world.composite(value), cluster())
    assert not refused.children
    assert "KubeRay cannot be queued by Kueue" in world.message(refused, "WorkloadReady")
    first = world.compose(world.composite(value), world.cluster())
    children = world.applied(first)
    held = world.compose(world.composite(value, first.status), cluster(), children=children)
    assert held.children.keys() == children.keys()
    for key, child in held.children.items():
        assert child.resource["spec"] == children[key]["spec"]
