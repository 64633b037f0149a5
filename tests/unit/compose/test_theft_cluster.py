"""Whoever may edit a ModelReplica, its labels or its status takes nothing by it: what a cluster counts and keeps."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import names
from modelplane.api import admissions
from modelplane.api.fields import Field
from modelplane_functions import replicas
from modelplane_functions.exchange import Outcome, Truth
from tests.support import cluster_world, fleet
from tests.support.cluster_world import Running

Json = Any
FULL = 16


def known(outcome: Outcome) -> Any:
    return next(one for one in outcome.conditions if one.type == "CapacityKnown")


def unlabelled(replica: Json) -> None:
    del replica["metadata"]["labels"][names.LABEL_CLUSTER]


# --- what counts ------------------------------------------------------------------------------------------------------


def test_a_replica_without_its_label_counts_and_stays_admitted() -> None:
    running = Running(replicas=FULL)
    running.add("late-0")
    unlabelled(running.replicas[0])
    outcome = running.step()
    assert (
        len(cluster_world.admitted(outcome)),
        "llama-0" in cluster_world.admitted(outcome),
        cluster_world.pods(outcome),
    ) == (FULL, True, FULL)
    assert cluster_world.told(outcome, "refused") == {"late-0": "InsufficientDevices"}
    assert "ml-team/llama-0" in outcome.children["in-use"].resource["spec"]["reason"]
    assert running.compose().status == outcome.status, "and so it stays"


def test_a_replica_counts_until_it_and_its_workload_are_seen_to_be_gone() -> None:
    running = Running(replicas=FULL)
    gone = running.replicas.pop(0)
    running.others = [fleet.workload_of(gone, deletionTimestamp="2026-01-02T00:00:00Z")]
    running.add("late-0")
    outcome = running.step()
    assert cluster_world.pods(outcome) == FULL
    assert "llama-0" not in cluster_world.admitted(outcome)
    assert cluster_world.told(outcome, "refused") == {"late-0": "InsufficientDevices"}
    assert "in-use" in outcome.children, "its credentials are still needed"
    assert running.compose().status == outcome.status, "it counts for as long as that takes"
    running.others = []
    outcome = running.step()
    assert (cluster_world.pods(outcome), "late-0" in cluster_world.admitted(outcome)) == (FULL, True)
    assert "ml-team/llama-0" not in admissions.decode(Field(outcome.status))


def test_a_cluster_says_which_deleted_replicas_it_counts_and_until_when() -> None:
    running = Running(replicas=FULL)
    going = "2026-01-02T00:00:00Z"
    assert "deleted" not in known(running.step()).message
    running.replicas[1]["metadata"]["deletionTimestamp"] = going
    said = known(running.step())
    assert (said.status, said.reason) == (Truth.TRUE, "Counted")
    where = f"gone from cluster {running.cluster['metadata']['name']} (kubectl get pods "
    assert "; ml-team/llama-1 is deleted and stays counted until its workload and its pods are seen" in said.message
    assert where in said.message
    gone = running.replicas.pop(0)
    running.others = [fleet.workload_of(gone, deletionTimestamp=going)]
    outcome = running.step()
    assert "; ml-team/llama-0, ml-team/llama-1 are deleted and stay" in known(outcome).message
    assert cluster_world.pods(outcome) == FULL
    running.replicas.pop(0)
    running.others = []
    outcome = running.step()
    assert "deleted" not in known(outcome).message
    assert cluster_world.pods(outcome) == FULL - 2


@pytest.mark.parametrize("key", ["deployment", "leaderworkerset-prefill", "rayservice-0a1b2", "graph-0a1b2"])
def test_a_replica_of_any_backend_counts_until_its_workloads_are_seen_to_be_gone(key: str) -> None:
    """Only KServe's Object has a name that a cluster can ask for; Crossplane labels them all."""
    running = Running(replicas=FULL)
    gone = running.replicas.pop(0)
    left = fleet.workload_of(gone, labels={"crossplane.io/composite": "llama-0"})
    left["metadata"] |= {"name": f"llama-0-{key}", "annotations": {names.ANNOTATION_PURPOSE: "workload"}}
    route = copy.deepcopy(left)
    route["metadata"] |= {"name": "llama-0-route", "annotations": {names.ANNOTATION_PURPOSE: "route"}}
    running.others = [left, route]
    running.add("late-0")
    outcome = running.step()
    assert (cluster_world.pods(outcome), "llama-0" in cluster_world.admitted(outcome)) == (FULL, False)
    assert cluster_world.told(outcome, "refused") == {"late-0": "InsufficientDevices"}
    running.others = [route]
    outcome = running.step()
    assert (cluster_world.pods(outcome), "late-0" in cluster_world.admitted(outcome)) == (FULL, True), (
        "a route holds no device"
    )


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"annotations": None}, id="no annotations"),
        pytest.param({"annotations": {}}, id="emptied annotations"),
        pytest.param({"annotations": {names.ANNOTATION_PURPOSE: 7}}, id="a purpose of another type"),
        pytest.param({"annotations": {names.ANNOTATION_PURPOSE: "else"}}, id="an unknown purpose"),
        pytest.param({"annotations": [7]}, id="annotations of another type"),
        pytest.param({"ownerReferences": None}, id="no owner"),
        pytest.param({"ownerReferences": [{"controller": True}]}, id="an owner without a uid"),
        pytest.param({"ownerReferences": [{"controller": "true", "uid": 7}]}, id="an owner of other types"),
        pytest.param({"labels": {"crossplane.io/composite": "else"}}, id="the label of another replica"),
        pytest.param({"labels": None}, id="no labels"),
        pytest.param({"namespace": "else"}, id="another namespace"),
    ],
)
@pytest.mark.parametrize("asked_for", ["another spec", "a lost label", "a lost ledger"])
def test_hold_whatever_the_objects_of_a_replica_say_it_stays_admitted(metadata: Json, asked_for: str) -> None:
    """The Objects are asked for by label where a replica is not as its record says, and are no reason to drop it."""
    running = Running(replicas=FULL)
    left = fleet.workload_of(running.replicas[0], labels={"crossplane.io/composite": "llama-0"})
    left["metadata"] |= {"name": "llama-0-deployment", "annotations": {names.ANNOTATION_PURPOSE: "workload"}}
    left["metadata"] |= metadata
    running.others = [left]
    running.add("late-0")
    if asked_for == "another spec":
        grown(running.replicas[0])
    elif asked_for == "a lost label":
        unlabelled(running.replicas[0])
    else:
        running.cluster["status"] = {}
    children = set(running.children)
    outcome = running.step()
    assert (
        len(cluster_world.admitted(outcome)),
        "llama-0" in cluster_world.admitted(outcome),
        cluster_world.pods(outcome),
    ) == (FULL, True, FULL)
    assert cluster_world.told(outcome, "refused") == {"late-0": "InsufficientDevices"}
    assert children <= set(outcome.children)


@pytest.mark.parametrize(
    "owner",
    [
        pytest.param({"name": "else-0", "uid": "uid-of-somebody-else"}, id="of another replica"),
        pytest.param({"name": "llama-0", "uid": "uid-of-an-earlier-one"}, id="of an earlier replica of the name"),
    ],
)
def test_a_workload_that_is_not_the_replicas_keeps_nothing(owner: Json) -> None:
    running = Running(replicas=FULL)
    gone = running.replicas.pop(0)
    other = copy.deepcopy(gone)
    other["metadata"] |= owner
    running.others = [fleet.workload_of(other, name="llama-0-workload")]
    assert cluster_world.pods(running.compose()) == FULL - 1


# --- what was admitted is what is admitted ----------------------------------------------------------------------------


def grown(document: Json, count: int = 9) -> None:
    document["spec"]["workers"] = {**document["spec"]["workers"], "count": count}


def test_an_admitted_replica_that_somebody_edits_keeps_what_it_had() -> None:
    running = Running(replicas=FULL)
    before = copy.deepcopy(running.cluster["status"])
    grown(running.replicas[0])
    outcome = running.step()
    assert cluster_world.told(outcome, "pending") == {"llama-0": "NotAsDeployed"}
    assert {**outcome.status, "pending": []} == before
    assert outcome.events == ()


def test_an_admitted_replica_that_its_deployment_grows_is_refused_what_does_not_fit() -> None:
    running = Running(replicas=FULL)
    before = copy.deepcopy(running.cluster["status"])
    running.deploy(count=9)
    for other in running.replicas[1:]:
        grown(other, count=1)
    outcome = running.step()
    assert cluster_world.told(outcome, "refused") == {"llama-0": "InsufficientDevices"}
    assert {**outcome.status, "refused": []} == before
    assert [event.reason for event in outcome.events] == ["ReplicaRefused"]
    assert running.compose().events == ()


def test_what_its_deployment_changes_is_judged_anew_and_written_down_when_it_fits() -> None:
    running = Running(replicas=3)
    before = admissions.decode(Field(running.cluster["status"]))
    running.deploy(count=2)
    outcome = running.step()
    after = admissions.decode(Field(outcome.status))
    assert cluster_world.pods(outcome) == 6
    assert (outcome.status["refused"], outcome.status["pending"]) == ([], [])
    assert all(after[key].digest != before[key].digest for key in before)


def fewer(holding: Json) -> None:
    holding["pods"] = 0


def none(holding: Json) -> None:
    holding["devices"] = {}


def another(holding: Json) -> None:
    holding["devices"] = {"gpu": 8}


@pytest.mark.parametrize("edit", [fewer, none, another])
def test_a_record_of_the_spec_that_the_replica_has_counts_as_the_spec_says(edit: Callable[[Json], None]) -> None:
    """Whoever writes other holdings into the record frees nothing and takes nothing."""
    running = Running(replicas=FULL)
    running.add("late-0")
    before = copy.deepcopy(running.step().status)
    running.cluster["status"] = copy.deepcopy(before)
    for entry in running.cluster["status"]["admissions"]:
        for holding in entry["holdings"]:
            edit(holding)
    outcome = running.step()
    assert cluster_world.told(outcome, "refused") == {"late-0": "InsufficientDevices"}
    assert cluster_world.pods(outcome) == FULL
    told, written = (
        [{key: value for key, value in one.items() if key != "nodes"} for one in status["admissions"]]
        for status in (outcome.status, before)
    )
    assert told == written


def test_a_change_that_takes_no_more_is_admitted_on_a_pool_that_has_shrunk() -> None:
    """What runs is over-committed then by the platform; a new model is nobody's theft."""
    running = Running(replicas=FULL)
    running.cluster["spec"]["nodePools"][0]["nodeCount"] = 1
    running.step()
    for document in (running.deployment, running.replicas[0]):
        document["spec"]["model"] = {"name": "llama", "uri": "hf://meta-llama/another"}
    outcome = running.step()
    assert outcome.status["refused"] == []
    assert len(outcome.status["admissions"]) == 2


def test_a_move_to_another_pool_is_a_new_replica() -> None:
    running = Running(replicas=3)
    running.cluster["spec"]["nodePools"].append({"name": "more", "className": "h100-8x", "nodeCount": 1})
    running.replicas[0]["spec"]["pool"] = "more"
    outcome = running.step()
    assert cluster_world.told(outcome, "refused") == {"llama-0": "NoMatchingDevice"}
    assert cluster_world.pods(outcome) == 3


def test_another_replica_of_the_name_does_not_inherit_the_admission() -> None:
    running = Running(replicas=FULL)
    running.deploy(count=9)
    for other in running.replicas[1:]:
        grown(other, count=1)
    running.replicas[0]["metadata"]["uid"] = "uid-of-the-next"
    outcome = running.step()
    assert (len(cluster_world.admitted(outcome)), cluster_world.pods(outcome)) == (FULL - 1, FULL - 1)
    assert cluster_world.told(outcome, "refused") == {"llama-0": "InsufficientDevices"}


def test_another_replica_of_the_name_waits_while_the_workload_of_the_first_is_there() -> None:
    running = Running(replicas=3)
    running.others = [fleet.workload_of(running.replicas[0])]
    running.replicas[0]["metadata"]["uid"] = "uid-of-the-next"
    outcome = running.step()
    assert (cluster_world.admitted(outcome), cluster_world.pods(outcome)) == (["llama-1", "llama-2"], 3)
    assert cluster_world.told(outcome, "pending") == {"llama-0": "NameInUse"}
    running.others = []
    assert cluster_world.admitted(running.step()) == ["llama-0", "llama-1", "llama-2"]


@pytest.mark.parametrize("value", ["1e99999", "x", "-1", {"not": "a quantity"}, ["8Gi"]], ids=repr)
def test_what_cannot_be_read_freezes_its_own_holding_and_nobody_elses(value: Json) -> None:
    running = Running(replicas=FULL - 1)
    container = running.replicas[0]["spec"]["workers"]["template"]["spec"]["containers"][0]
    container["resources"]["requests"]["memory"] = value
    running.add("late-0")["spec"]["workers"] = copy.deepcopy(running.replicas[1]["spec"]["workers"])
    outcome = running.step()
    assert (len(cluster_world.admitted(outcome)), cluster_world.pods(outcome)) == (FULL, FULL), (
        "it counts for what it was admitted with"
    )
    assert "ml-team/llama-0 cannot be read; the devices it was admitted with stay counted" in str(outcome.conditions)


@pytest.mark.parametrize(
    "value", ["1e300", "1e18", "9223372036854775807", "1n", "0.0001", 10**400], ids=lambda v: repr(v)[:20]
)
def test_what_was_written_down_is_read_again_whatever_its_size(value: Json) -> None:
    running = Running(replicas=3)
    template = copy.deepcopy(running.deployment["spec"]["workers"]["template"])
    template["spec"]["containers"][0]["resources"]["requests"] = {"memory": value, "cpu": value}
    running.deploy(template=template)
    outcome = running.step()
    records = admissions.decode(Field(outcome.status))
    assert records.keys() == set(outcome.status["admitted"])
    assert running.compose().status == outcome.status
    for replica in running.replicas:
        assert records[f"ml-team/{replica['metadata']['name']}"].holdings == replicas.asked(replica).holdings


# --- from the version before ------------------------------------------------------------------------------------------


def test_what_an_earlier_version_admitted_stays_and_is_written_down() -> None:
    """Also what it admitted by hand or with devices that no class has: it runs. Next time it is as any other."""
    running = Running(replicas=FULL)
    del running.cluster["status"]["admissions"]
    running.replicas[0]["metadata"].pop("ownerReferences")
    running.replicas[1]["spec"]["devices"][0]["memory"] = "1Gi"
    outcome = running.step()
    assert (len(cluster_world.admitted(outcome)), cluster_world.pods(outcome)) == (FULL, FULL)
    assert outcome.status["refused"] == []
    assert len(admissions.decode(Field(outcome.status))) == FULL
    grown(running.replicas[0])
    assert cluster_world.told(running.step(), "refused") == {"llama-0": "NotControlled"}


def test_five_hundred_replicas_are_written_down_in_little_room() -> None:
    running = Running(replicas=500, nodes=63)
    status = running.cluster["status"]
    assert len(status["admissions"]) == 1
    assert len(str(status["admissions"])) < 2 * len(str(status["admitted"]))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param("x", id="no list"),
        pytest.param([1], id="no entries"),
        pytest.param([{"digest": "x", "holdings": "x", "replicas": {"ml-team/llama-0": "1"}}], id="no holdings"),
        pytest.param([{"digest": "x", "holdings": [], "replicas": []}], id="no replicas"),
    ],
)
def test_records_that_cannot_be_read_are_written_anew(damage: Json) -> None:
    running = Running(replicas=3)
    before = copy.deepcopy(running.cluster["status"])
    running.cluster["status"]["admissions"] = damage
    assert running.compose().status == before
