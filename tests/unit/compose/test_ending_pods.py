"""A deleted replica counts until its pods are seen to be gone: the Objects of its workload may go before them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import names
from modelplane.api import admissions
from modelplane.api.fields import Field
from modelplane.render import pod_collection
from modelplane_functions import ending_pods
from modelplane_functions.exchange import Observed, Outcome
from tests.support import cluster_world, fleet, mutations
from tests.support.cluster_world import LISTED, Running, member, pod

Json = Any
FULL = 16
SERVED = {pod_collection.KIND}


def told(outcome: Outcome) -> str:
    return next(one.message for one in outcome.conditions if one.type == "CapacityKnown")


def counted(outcome: Outcome) -> set[str]:
    return {key.removeprefix("ml-team/") for key in admissions.decode(Field(outcome.status))}


def full(gone: int = 1) -> Running:
    """Return a full cluster from which this many replicas and the Objects of their workloads have gone."""
    running = Running(replicas=FULL)
    running.kinds = SERVED
    del running.replicas[:gone]
    return running


def test_a_replica_counts_until_its_last_pod_has_ended() -> None:
    running = Running(replicas=FULL)
    running.kinds = SERVED
    gone = running.replicas.pop(0)
    running.others = [fleet.workload_of(gone, deletionTimestamp="2026-01-02T00:00:00Z")]
    running.add("late-0")
    assert cluster_world.pods(running.step()) == FULL
    assert running.collections() == [], "while an Object of the workload exists, nobody looks for pods"
    running.others = []
    outcome = running.step()
    assert (cluster_world.pods(outcome), cluster_world.admitted(outcome).count("llama-0")) == (FULL, 0)
    (collection,) = running.collections()
    assert collection["metadata"]["namespace"] == names.SYSTEM_NAMESPACE, "the team's namespace may be gone"
    assert collection["spec"]["observeObjects"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": "ml-team",
        "selector": {"matchExpressions": [{"key": names.LABEL_REPLICA, "operator": "In", "values": ["llama-0"]}]},
    }
    running.lists(pod("llama-0", 0), pod("llama-0", 1))
    assert cluster_world.pods(running.step()) == FULL
    running.lists(pod("llama-0", 1))
    outcome = running.step()
    assert cluster_world.pods(outcome) == FULL
    assert "ml-team/llama-0 is deleted and stays counted until its workload and its pods" in told(outcome)
    assert cluster_world.told(outcome, "refused") == {"late-0": "InsufficientDevices"}
    assert running.compose().status == outcome.status, "it counts for as long as that takes"
    running.lists()
    outcome = running.step()
    assert (cluster_world.pods(outcome), "late-0" in cluster_world.admitted(outcome)) == (FULL, True)
    assert ("llama-0" in counted(outcome), running.collections()) == (False, [])
    assert running.compose().kinds == {}, "nothing is asked for any more"


def test_the_cluster_asks_again_soon_while_a_replica_ends() -> None:
    """Nobody is told when the last pod ends: without asking again its devices would be free minutes later."""
    running = full()
    settled = Running(replicas=FULL).step()
    assert (running.step().ttl_seconds, settled.ttl_seconds) == (30, 300)
    running.lists()
    running.step()
    assert running.step().ttl_seconds == 300


def test_a_collection_that_somebody_deletes_is_made_again() -> None:
    running = full()
    running.step()
    running.lists()
    (key,) = (key for key, one in running.children.items() if one["kind"] == pod_collection.KIND)
    del running.children[key]
    assert "llama-0" in counted(running.step())
    assert len(running.collections()) == 1


FAILED = [{"type": "Synced", "status": "False", "message": "connection refused"}, LISTED[1]]


def unread(collection: Json) -> list[Json]:
    return [member(collection, None)]


def not_found(collection: Json) -> list[Json]:
    made = member(collection, pod("llama-0"))
    made["status"]["conditions"] = cluster_world.synced("False", "observe failed: pods llama-0-0 does not exist")
    return [made]


def nobody(collection: Json) -> list[Json]:
    return []


@pytest.mark.parametrize(
    ("conditions", "members", "is_counted"),
    [
        pytest.param([], nobody, True, id="not listed yet"),
        pytest.param([LISTED[0]], nobody, True, id="no list has ended yet"),
        pytest.param(FAILED, nobody, True, id="the last list failed"),
        pytest.param(LISTED, unread, True, id="a pod that was not read may be anybody's"),
        pytest.param(
            LISTED, lambda one: [member(one, {"kind": "Pod", "metadata": {"name": "x"}})], True, id="no label"
        ),
        pytest.param(LISTED, lambda one: [member(one, pod("llama-0"))], True, id="a pod runs"),
        pytest.param(LISTED, lambda one: [member(one, pod("llama-0", phase="Pending"))], True, id="a pod waits"),
        pytest.param(LISTED, lambda one: [member(one, pod("llama-0", phase="Succeeded"))], False, id="a pod succeeded"),
        pytest.param(LISTED, lambda one: [member(one, pod("llama-0", phase="Failed"))], False, id="a pod failed"),
        pytest.param(LISTED, not_found, False, id="a pod was not found at the last attempt"),
        pytest.param(
            LISTED, lambda one: [member(one, pod("llama-0"), uid="other")], True, id="of an earlier collection"
        ),
        pytest.param(LISTED, lambda one: [member(one, pod("llama-9"))], False, id="a pod of another replica"),
        pytest.param(LISTED, nobody, False, id="none is left"),
    ],
)
def test_only_a_list_without_pods_frees_devices(
    conditions: Json, members: Callable[[Json], list[Json]], *, is_counted: bool
) -> None:
    running = full()
    running.step()
    running.lists(conditions=conditions)
    running.others = [one for collection in running.collections() for one in members(collection)]
    assert ("llama-0" in counted(running.step())) is is_counted


def test_replicas_found_together_share_a_collection_and_are_freed_apart() -> None:
    running = full(gone=2)
    running.step()
    assert len(running.collections()) == 1
    running.lists(pod("llama-1"))
    assert counted(running.step()) & {"llama-0", "llama-1"} == {"llama-1"}
    assert running.replicas.pop(0)["metadata"]["name"] == "llama-10"
    assert counted(running.step()) & {"llama-0", "llama-1", "llama-10"} == {"llama-1", "llama-10"}
    assert len(running.collections()) == 2, "what was listed before says nothing of a replica that went later"
    running.lists()
    assert counted(running.step()) & {"llama-1", "llama-10"} == set()
    running.step()
    assert running.collections() == []


def test_a_name_that_comes_and_goes_while_another_lingers_is_listed_anew() -> None:
    running = full(gone=2)
    running.step()
    running.lists(pod("llama-1"))
    running.step()
    running.add("llama-0")
    running.replicas[-1]["metadata"]["uid"] = "uid-of-the-second"
    running.lists(pod("llama-1"))
    assert "llama-0" in cluster_world.admitted(running.step())
    running.replicas.pop()
    assert "llama-0" in counted(running.step()), "its pods were never looked for"
    running.lists(pod("llama-0"), pod("llama-1"))
    assert {"llama-0", "llama-1"} <= counted(running.step())
    running.lists()
    assert not {"llama-0", "llama-1"} & counted(running.step())


def test_a_namespace_of_many_makes_few_collections() -> None:
    lingering = [f"{team}/r-{number}" for team in ("a", "b") for number in range(120)]
    cluster = Observed({"metadata": {"name": "c"}}, served={"pod-collections": True})
    made = dict(ending_pods.read(cluster).children(cluster, lingering, (), {"kind": "ProviderConfig", "name": "c"}))
    listed = [child.resource["spec"]["observeObjects"] for child in made.values()]
    assert sorted(one["namespace"] for one in listed) == ["a"] * 3 + ["b"] * 3
    found = {
        f"{one['namespace']}/{name}" for one in listed for name in one["selector"]["matchExpressions"][0]["values"]
    }
    assert found == set(lingering)
    assert all(len(child.resource["metadata"]["name"]) <= names.LABEL_MAX for child in made.values())


def longer(collection: Json) -> None:
    collection["spec"]["observeObjects"]["selector"]["matchExpressions"][0]["values"] = ["nobody"]


def elsewhere(collection: Json) -> None:
    collection["spec"]["observeObjects"]["namespace"] = "other"


def narrower(collection: Json) -> None:
    collection["spec"]["observeObjects"]["selector"]["matchLabels"] = {"no": "pod"}


def another_kind(collection: Json) -> None:
    collection["spec"]["observeObjects"]["kind"] = "ConfigMap"


@pytest.mark.parametrize("edit", [longer, elsewhere, narrower, another_kind])
def test_a_collection_that_lists_anything_else_is_not_believed(edit: Callable[[Json], None]) -> None:
    running = full()
    running.step()
    (collection,) = running.collections()
    before = copy.deepcopy(collection["spec"])
    running.lists()
    edit(collection)
    outcome = running.step()
    assert "llama-0" in counted(outcome)
    assert [one["spec"] for one in running.collections()] == [before]


def test_where_collections_are_not_served_the_replica_counts_and_that_is_told() -> None:
    running = full()
    running.kinds = set()
    outcome = running.step()
    assert ("llama-0" in counted(outcome), running.collections()) == (True, [])
    assert "the pods of ml-team/llama-0 cannot be listed: the control plane does not serve" in told(outcome)


def test_where_pods_may_not_be_listed_the_remedy_is_told() -> None:
    running = full()
    running.step()
    message = 'error fetching objects for GVK Pod: pods is forbidden: User "u" cannot list resource "pods"'
    running.lists(conditions=[{"type": "Synced", "status": "False", "message": message}])
    said = told(running.step())
    assert "cannot be listed: error fetching objects" in said
    assert said.endswith("apply examples/rbac-workload.yaml on the cluster")


def test_a_caller_that_cannot_say_what_is_served_gets_the_decision_of_the_objects_alone() -> None:
    running = full()
    running.kinds = None
    assert "llama-0" not in counted(running.step())


def test_another_replica_of_the_name_waits_until_the_pods_of_the_first_have_ended() -> None:
    running = Running(replicas=3)
    running.kinds = SERVED
    running.replicas[0]["metadata"]["uid"] = "uid-of-another"
    outcome = running.step()
    assert cluster_world.told(outcome, "pending") == {"llama-0": "NameInUse"}
    running.lists(pod("llama-0"))
    assert cluster_world.told(running.step(), "pending") == {"llama-0": "NameInUse"}
    running.lists()
    outcome = running.step()
    assert "llama-0" in cluster_world.admitted(outcome)


def test_pods_that_are_only_looked_for_do_not_protect_the_cluster_from_deletion() -> None:
    """On a cluster that is lost for good nobody sees them end, and its InferenceCluster can still be deleted."""
    running = full(gone=FULL)
    running.step()
    outcome = running.step()
    assert len(counted(outcome)) == FULL
    assert "in-use" not in outcome.children


def test_no_field_of_a_collection_frees_what_its_members_show() -> None:
    """Every change of every field: swapped, emptied, doubled, huge, foreign."""
    running = full()
    running.step()
    running.lists(pod("llama-0"))
    ((key, collection),) = ((key, one) for key, one in running.children.items() if one["kind"] == pod_collection.KIND)
    asked = 0
    for path in mutations.paths(collection):
        for mutation in mutations.every(collection, path):
            running.children[key] = mutation.applied(copy.deepcopy(collection))
            assert "llama-0" in counted(running.compose()), str(mutation)
            asked += 1
    assert asked > 300


def test_no_field_of_a_member_frees_what_it_shows_but_those_that_say_so() -> None:
    running = full()
    running.step()
    running.lists(pod("llama-0"))
    (at,) = (place for place, one in enumerate(running.others) if one["metadata"]["labels"])
    seen = running.others[at]
    freeing = set()
    for path in mutations.paths(seen):
        for mutation in mutations.every(seen, path):
            running.others[at] = mutation.applied(copy.deepcopy(seen))
            try:
                is_counted = "llama-0" in counted(running.compose())
            except (KeyError, TypeError, AttributeError):
                continue  # no API server has an object without kind, name or metadata to answer with
            if not is_counted:
                freeing.add(path)
    selected = {
        "labels",
        "apiVersion",
        "kind",
        "namespace",
    }  # by these the member is found, and its pod is of a replica
    assert {path for path in freeing if not (selected | {"phase"}) & set(path)} == {("metadata",)}
