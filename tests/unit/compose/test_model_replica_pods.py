"""ModelReplica: the errors of its pods are asked for while workers are not ready, and disturb nothing."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.render import pod_collection
from modelplane_functions.exchange import Kind, Outcome, Ready
from tests.support import replica_world as world

Json = Any
ODD: tuple[Json, ...] = (
    None,
    True,
    7,
    "x",
    [],
    [None],
    {},
    {"conditions": 3},
    {"conditions": [{"type": [], "status": {}}]},
)
COLLECTIONS = ("ObservedObjectCollection",)
AVAILABLE = {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"}
DEPLOYMENT: Json = {
    "observedGeneration": 1,
    "replicas": 1,
    "updatedReplicas": 1,
    "unavailableReplicas": 1,
    "conditions": [
        AVAILABLE,
        {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"},
    ],
}
LATE = {
    "type": "Progressing",
    "status": "False",
    "reason": "ProgressDeadlineExceeded",
    "message": "ReplicaSet has timed out",
}


class Starting:
    """A replica of Native whose Deployment has no ready pod."""

    def __init__(self, backend: str = "Native", status: Json = None) -> None:
        self.value = world.replica(backend=backend)
        self.document = world.composite(self.value)
        first = world.compose(self.document, world.cluster())
        self.children = world.applied(first, {"deployment": status or DEPLOYMENT})
        self.members: list[Json] = []
        self.kinds: Any = COLLECTIONS

    def compose(self) -> Outcome:
        store = (world.cluster(), *self.members)
        outcome = world.compose(self.document, *store, children=self.children, kinds=self.kinds)
        self.document["status"] = dict(outcome.status)
        return outcome

    def collect(self, *pods: Json, **status: Json) -> Outcome:
        """Let Crossplane make the collection, and the provider its members."""
        made = copy.deepcopy(dict(self.compose().children["pods"].resource))
        made["metadata"]["uid"] = "uid-collection"
        made["status"] = status or {"conditions": [{"type": "Synced", "status": "True"}]}
        self.children["pods"] = made
        self.members = [member(index, pod) for index, pod in enumerate(pods)]
        return self.compose()

    @property
    def deployment(self) -> Json:
        return self.children["deployment"]["status"]["atProvider"]["manifest"]


def member(index: int, pod: Json, uid: str = "uid-collection", **synced: str) -> Json:
    owner = {"apiVersion": pod_collection.API_VERSION, "kind": pod_collection.KIND, "name": "llama-0-pods", "uid": uid}
    return {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {
            "name": f"llama-0-pods-{index:07}",
            "namespace": "ml-team",
            "labels": {"kubernetes.crossplane.io/owned-by-collection": "llama-0-pods"},
            "ownerReferences": [owner],
        },
        "spec": {"managementPolicies": ["Observe"]},
        "status": {
            "conditions": [{"type": "Synced", "status": "True", **synced}],
            "atProvider": {"manifest": pod},
        },
    }


def pod(name: str = "llama-0-a", reason: str = "ImagePullBackOff", message: str = "no such image") -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml-team", "labels": {"modelplane.ai/replica": "llama-0"}},
        "status": {
            "containerStatuses": [
                {"name": "main", "ready": False, "state": {"waiting": {"reason": reason, "message": message}}}
            ]
        },
    }


CAUSE = "container main of pod llama-0-a cannot start, ImagePullBackOff: no such image"


def test_a_replica_that_runs_asks_for_nothing() -> None:
    document, children = world.running()
    outcome = world.compose(document, world.cluster(), children=children, kinds=COLLECTIONS)
    assert outcome.kinds == {}
    assert outcome.requirements.keys() == {"cluster"}
    assert "pods" not in outcome.children


def test_nothing_is_asked_before_workers_are_counted() -> None:
    starting = Starting()
    starting.children = {}
    outcome = starting.compose()
    assert outcome.children and outcome.kinds == {} and "pods" not in outcome.children


@pytest.mark.parametrize("kinds", [None, ()], ids=["not-said", "not-served"])
def test_without_the_kind_on_the_control_plane_nothing_is_made(kinds: Any) -> None:
    starting = Starting()
    starting.kinds = kinds
    outcome = starting.compose()
    assert outcome.kinds == {"pod-collections": Kind(pod_collection.API_VERSION, "ObservedObjectCollection")}
    assert outcome.children.keys() == starting.children.keys()


def test_a_collection_is_made_beside_what_is_there() -> None:
    starting = Starting()
    starting.kinds = None
    without = starting.compose()
    starting.kinds = COLLECTIONS
    outcome = starting.compose()
    assert {key: one for key, one in outcome.children.items() if key != "pods"} == without.children
    made = outcome.children["pods"]
    assert made.ready is Ready.TRUE
    assert made.resource == {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "ObservedObjectCollection",
        "metadata": {"name": "llama-0-pods", "namespace": "ml-team"},
        "spec": {
            "observeObjects": {
                "apiVersion": "v1",
                "kind": "Pod",
                "namespace": "ml-team",
                "selector": {"matchLabels": {"modelplane.ai/replica": "llama-0"}},
            },
            "providerConfigRef": {"kind": "ClusterProviderConfig", "name": "modelplane-gke-us"},
        },
    }


def test_the_first_error_of_the_pods_is_told() -> None:
    outcome = Starting().collect(pod())
    assert world.conditions(outcome)["WorkloadReady"] == ("False", "ImagePullBackOff")
    assert world.message(outcome, "WorkloadReady") == f"0 of 1 decode workers are ready; {CAUSE}"
    assert outcome.status["phase"] == "Starting"


def test_a_deadline_that_only_counts_is_told_after_the_cause() -> None:
    starting = Starting(status={**DEPLOYMENT, "conditions": [AVAILABLE, LATE]})
    before = starting.compose()
    assert world.conditions(before)["WorkloadReady"] == ("False", "ProgressDeadlineExceeded")
    outcome = starting.collect(pod())
    assert world.conditions(outcome)["WorkloadReady"] == ("False", "ImagePullBackOff")
    assert world.message(outcome, "WorkloadReady").startswith(f"{CAUSE}; pods do not become ready")
    assert outcome.status["phase"] == "Failed"


def test_what_the_operator_says_itself_comes_first() -> None:
    quota = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded quota"}
    outcome = Starting(status={**DEPLOYMENT, "conditions": [quota]}).collect(pod())
    assert world.conditions(outcome)["WorkloadReady"] == ("False", "FailedCreate")
    assert world.message(outcome, "WorkloadReady") == "pods cannot be created: exceeded quota"


def test_the_collection_stays_while_the_cluster_is_not_seen_and_goes_when_workers_are_ready() -> None:
    starting = Starting()
    first = starting.collect(pod())
    seen = starting.children["deployment"]["status"].pop("atProvider")
    assert starting.compose().children.keys() == first.children.keys()
    starting.children["deployment"]["status"]["atProvider"] = seen
    starting.deployment["status"] = {
        "observedGeneration": 1,
        "conditions": [{"type": "Available", "status": "True"}],
        **dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), 1),
    }
    outcome = starting.compose()
    assert world.conditions(outcome)["WorkloadReady"] == ("True", "AllWorkersReady")
    assert first.children.keys() - outcome.children.keys() == {"pods"}
    assert outcome.requirements.keys() >= {"cluster"}


def test_the_collection_is_held_while_the_cluster_is_missing() -> None:
    starting = Starting()
    starting.collect(pod())
    outcome = world.compose(starting.document, *starting.members, children=starting.children, kinds=COLLECTIONS)
    assert outcome.children.keys() == starting.children.keys()
    assert "ImagePullBackOff" in world.message(outcome, "WorkloadReady")


@pytest.mark.parametrize(
    "passed_over",
    [
        member(0, pod(), uid="uid-of-an-earlier-collection"),
        member(0, pod(), status="False", message="observe failed: external resource does not exist"),
        member(0, {**pod(), "kind": "Secret"}),
        member(0, {**pod(), "metadata": {**pod()["metadata"], "namespace": "other-team"}}),
    ],
    ids=["of-another-collection", "gone", "no-pod", "of-another-namespace"],
)
def test_what_is_no_pod_of_the_replica_is_passed_over(passed_over: Json) -> None:
    starting = Starting()
    plain = world.message(starting.compose(), "WorkloadReady")
    starting.collect()
    starting.members = [passed_over]
    assert world.message(starting.compose(), "WorkloadReady") == plain


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        (
            "error fetching objects for GVK /v1, Kind=PodList: pods is forbidden: User cannot list resource",
            "examples/rbac-workload.yaml on the cluster",
        ),
        (
            'cannot create observed object: objects.kubernetes.m.crossplane.io "a" is forbidden: policy denied request',
            "examples/rbac on the control plane",
        ),
    ],
    ids=["on-the-cluster", "on-the-control-plane"],
)
def test_what_does_not_let_pods_be_read_is_told(said: str, remedy: str) -> None:
    outcome = Starting().collect(conditions=[{"type": "Synced", "status": "False", "message": said}])
    told = world.message(outcome, "WorkloadReady")
    assert f"provider-kubernetes cannot read them: {said}" in told
    assert told.endswith(f"apply {remedy}")


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("part", ["metadata", "spec", "status", "member", "members"])
def test_an_odd_collection_or_member_loses_nothing(part: str, odd: Json) -> None:
    starting = Starting()
    before = starting.collect(pod())
    if part == "member":
        starting.members[0]["status"] = odd
    elif part == "members":
        starting.members[0]["metadata"]["ownerReferences"] = odd
    elif part != "metadata":
        starting.children["pods"][part] = odd
    else:
        starting.children["pods"]["metadata"]["uid"] = odd
    outcome = starting.compose()
    assert outcome.children == before.children
