"""Whoever may edit a ModelReplica, its labels or its status takes nothing by it: what a cluster counts and admits.

Longer than most files: every attack plays on the same small cluster, whose helpers stand here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import names
from modelplane.api import admissions
from modelplane.api.fields import Field
from modelplane_functions import replicas
from modelplane_functions.exchange import Outcome
from tests.support import fleet
from tests.support.cluster_world import Running

Json = Any
FULL = 16


def told(outcome: Outcome, where: str) -> dict[str, str]:
    return {one["replica"].removeprefix("ml-team/"): one["reason"] for one in outcome.status[where]}


def message(outcome: Outcome, where: str) -> str:
    (one,) = outcome.status[where]
    return str(one["message"])


def admitted(outcome: Outcome) -> list[str]:
    return [key.removeprefix("ml-team/") for key in outcome.status["admitted"]]


def pods(outcome: Outcome) -> int:
    return sum(entry["pods"] for entry in outcome.status["pools"][0]["allocations"])


def unlabelled(replica: Json) -> None:
    del replica["metadata"]["labels"][names.LABEL_CLUSTER]


# --- what counts ------------------------------------------------------------------------------------------------------


def test_a_replica_without_its_label_counts_and_stays_admitted() -> None:
    running = Running(replicas=FULL)
    running.add("late-0")
    unlabelled(running.replicas[0])
    outcome = running.step()
    assert (len(admitted(outcome)), "llama-0" in admitted(outcome), pods(outcome)) == (FULL, True, FULL)
    assert told(outcome, "refused") == {"late-0": "InsufficientDevices"}
    assert "ml-team/llama-0" in outcome.children["in-use"].resource["spec"]["reason"]
    assert running.compose().status == outcome.status, "and so it stays"


def test_a_replica_counts_until_it_and_its_workload_are_seen_to_be_gone() -> None:
    running = Running(replicas=FULL)
    gone = running.replicas.pop(0)
    running.others = [fleet.workload_of(gone, deletionTimestamp="2026-01-02T00:00:00Z")]
    running.add("late-0")
    outcome = running.step()
    assert pods(outcome) == FULL
    assert "llama-0" not in admitted(outcome)
    assert told(outcome, "refused") == {"late-0": "InsufficientDevices"}
    assert "in-use" in outcome.children, "its credentials are still needed"
    assert running.compose().status == outcome.status, "it counts for as long as that takes"
    running.others = []
    outcome = running.step()
    assert (pods(outcome), "late-0" in admitted(outcome)) == (FULL, True)
    assert "ml-team/llama-0" not in admissions.decode(Field(outcome.status))


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
    assert pods(running.compose()) == FULL - 1


# --- what was admitted is what is admitted ----------------------------------------------------------------------------


def grown(document: Json, count: int = 9) -> None:
    document["spec"]["workers"] = {**document["spec"]["workers"], "count": count}


def test_an_admitted_replica_that_somebody_edits_keeps_what_it_had() -> None:
    running = Running(replicas=FULL)
    before = copy.deepcopy(running.cluster["status"])
    grown(running.replicas[0])
    outcome = running.step()
    assert told(outcome, "pending") == {"llama-0": "NotAsDeployed"}
    assert {**outcome.status, "pending": []} == before
    assert outcome.events == ()


def test_an_admitted_replica_that_its_deployment_grows_is_refused_what_does_not_fit() -> None:
    running = Running(replicas=FULL)
    before = copy.deepcopy(running.cluster["status"])
    running.deploy(count=9)
    for other in running.replicas[1:]:
        grown(other, count=1)
    outcome = running.step()
    assert told(outcome, "refused") == {"llama-0": "InsufficientDevices"}
    assert {**outcome.status, "refused": []} == before
    assert [event.reason for event in outcome.events] == ["ReplicaRefused"]
    assert running.compose().events == ()


def test_what_its_deployment_changes_is_judged_anew_and_written_down_when_it_fits() -> None:
    running = Running(replicas=3)
    before = admissions.decode(Field(running.cluster["status"]))
    running.deploy(count=2)
    outcome = running.step()
    after = admissions.decode(Field(outcome.status))
    assert pods(outcome) == 6
    assert (outcome.status["refused"], outcome.status["pending"]) == ([], [])
    assert all(after[key].digest != before[key].digest for key in before)


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
    assert told(outcome, "refused") == {"llama-0": "NoMatchingDevice"}
    assert pods(outcome) == 3


def test_another_replica_of_the_name_does_not_inherit_the_admission() -> None:
    running = Running(replicas=FULL)
    running.deploy(count=9)
    for other in running.replicas[1:]:
        grown(other, count=1)
    running.replicas[0]["metadata"]["uid"] = "uid-of-the-next"
    outcome = running.step()
    assert (len(admitted(outcome)), pods(outcome)) == (FULL - 1, FULL - 1)
    assert told(outcome, "refused") == {"llama-0": "InsufficientDevices"}


def test_another_replica_of_the_name_waits_while_the_workload_of_the_first_is_there() -> None:
    running = Running(replicas=3)
    running.others = [fleet.workload_of(running.replicas[0])]
    running.replicas[0]["metadata"]["uid"] = "uid-of-the-next"
    outcome = running.step()
    assert (admitted(outcome), pods(outcome)) == (["llama-1", "llama-2"], 3)
    assert told(outcome, "pending") == {"llama-0": "NameInUse"}
    running.others = []
    assert admitted(running.step()) == ["llama-0", "llama-1", "llama-2"]


@pytest.mark.parametrize("value", ["1e99999", "x", "-1", {"not": "a quantity"}, ["8Gi"]], ids=repr)
def test_what_cannot_be_read_freezes_its_own_holding_and_nobody_elses(value: Json) -> None:
    running = Running(replicas=FULL - 1)
    container = running.replicas[0]["spec"]["workers"]["template"]["spec"]["containers"][0]
    container["resources"]["requests"]["memory"] = value
    running.add("late-0")["spec"]["workers"] = copy.deepcopy(running.replicas[1]["spec"]["workers"])
    outcome = running.step()
    assert (len(admitted(outcome)), pods(outcome)) == (FULL, FULL), "it counts for what it was admitted with"
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


# --- who asks ---------------------------------------------------------------------------------------------------------


def _owned(field: str, value: Json) -> Callable[[Running, Json], None]:
    def change(running: Running, replica: Json) -> None:
        replica["metadata"]["ownerReferences"][0][field] = value
        running.forged.append(replica)

    return change


def _not_referred(running: Running, replica: Json) -> None:
    running.forged.append(replica)


def _other_deployment(running: Running, replica: Json) -> None:
    replica["spec"]["deploymentRef"] = {"name": "mistral"}


@pytest.mark.parametrize(
    ("forge", "where"),
    [
        pytest.param(lambda _, replica: replica["metadata"].pop("ownerReferences"), "refused", id="nobody's"),
        pytest.param(_owned("controller", value=False), "refused", id="owned and not controlled"),
        pytest.param(_owned("kind", "ConfigMap"), "refused", id="of another kind"),
        pytest.param(_owned("apiVersion", "apps/v1"), "refused", id="of another group"),
        pytest.param(_owned("name", "mistral"), "refused", id="of another deployment than it says"),
        pytest.param(_other_deployment, "refused", id="saying another deployment than its owner"),
        pytest.param(_owned("uid", "uid-of-an-earlier-one"), "pending", id="of a deployment that is not there"),
        pytest.param(_not_referred, "pending", id="not noted by Crossplane"),
    ],
)
def test_a_replica_written_by_hand_gains_nothing(forge: Callable[[Running, Json], None], where: str) -> None:
    running = Running(replicas=3)
    made = running.add("made-0")
    forge(running, made)
    for phase in (None, "Running", "Failed"):
        made["status"] = {"phase": phase} if phase else {}
        outcome = running.compose()
        assert (len(admitted(outcome)), pods(outcome)) == (3, 3)
        assert told(outcome, where) == {"made-0": "NotControlled"}
        assert len(message(outcome, where)) > 20
        assert [event.reason for event in outcome.events] == (["ReplicaRefused"] if where == "refused" else [])


def test_a_status_that_says_running_takes_no_place_on_a_full_cluster() -> None:
    """Written by hand, or a replica of a deployment whose status somebody wrote."""
    running = Running(replicas=FULL)
    running.add("late-0")["status"] = {"phase": "Running"}
    outcome = running.compose()
    assert (len(admitted(outcome)), pods(outcome)) == (FULL, FULL)
    assert told(outcome, "refused") == {"late-0": "InsufficientDevices"}


@pytest.mark.parametrize("phase", ["Running", None], ids=["and status says so", "and status says nothing"])
def test_what_runs_counts_again_when_the_ledger_is_lost(phase: str | None) -> None:
    """Its Object is there and is its own; nothing that runs is unseated by a status that was wiped."""
    running = Running(replicas=FULL)
    running.cluster["spec"]["nodePools"][0]["nodeCount"] = 1
    running.cluster.pop("status")
    for one in running.replicas:
        one["status"] = {"phase": phase} if phase else {}
    running.others = [fleet.workload_of(one) for one in running.replicas]
    outcome = running.step()
    assert (len(admitted(outcome)), pods(outcome)) == (FULL, FULL)


def test_a_workload_counts_though_nobody_controls_its_replica_and_is_not_admitted_for_that() -> None:
    running = Running(replicas=3)
    made = running.add("made-0")
    made["metadata"].pop("ownerReferences")
    running.others = [fleet.workload_of(made)]
    outcome = running.step()
    assert (admitted(outcome), pods(outcome)) == (["llama-0", "llama-1", "llama-2"], 4)
    assert told(outcome, "refused") == {"made-0": "NotControlled"}
    assert "ml-team/made-0" not in admissions.decode(Field(outcome.status))


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda spec: spec["workers"].update(count=9), id="more workers"),
        pytest.param(lambda spec: spec["workers"]["topology"].update(pipeline=2), id="more nodes"),
        pytest.param(lambda spec: spec.update(model={"name": "x"}), id="another model"),
        pytest.param(lambda spec: spec["workers"]["template"]["spec"].update(volumes=[]), id="another pod"),
        pytest.param(lambda spec: spec.update(prefill={"pool": "gpu", **spec}), id="a further role"),
    ],
)
def test_what_a_deployment_does_not_say_is_not_admitted_in_its_name(edit: Callable[[Json], None]) -> None:
    running = Running(replicas=3)
    late = running.add("late-0")
    late["spec"] = copy.deepcopy(late["spec"])
    edit(late["spec"])
    outcome = running.compose()
    assert told(outcome, "pending") == {"late-0": "NotAsDeployed"}
    assert pods(outcome) == 3


# --- for what ---------------------------------------------------------------------------------------------------------


def _other_class(device: Json) -> None:
    device["deviceClassName"] = "whole.gpu.example.com"


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param(lambda d: d.update(deviceClassName="whole.gpu.nvidia.com"), id="another DeviceClass"),
        pytest.param(lambda d: d.update(claim="Synthetic"), id="matched, never counted"),
        pytest.param(lambda d: d.update(claim="DevicePlugin", resourceName="nvidia.com/gpu"), id="by a device plugin"),
        pytest.param(lambda d: d.update(driver="else.example.com"), id="another driver"),
        pytest.param(lambda d: d.update(count=8), id="more than it requests"),
        pytest.param(lambda d: d.update(device="cheap"), id="a device the class does not have"),
        pytest.param(lambda d: d.update(selectors=[{"cel": "true"}]), id="any device of the DeviceClass"),
        pytest.param(lambda d: d.update(selectors=[]), id="no selector at all"),
        pytest.param(lambda d: d.update(memory="1Gi"), id="another memory"),
        pytest.param(lambda d: d.update(name="else"), id="for another request"),
    ],
)
def test_devices_that_are_not_as_the_class_says_are_refused(lie: Callable[[Json], None]) -> None:
    running = Running(replicas=3)
    late = running.add("late-0")
    late["spec"]["devices"] = copy.deepcopy(late["spec"]["devices"])
    lie(late["spec"]["devices"][0])
    outcome = running.compose()
    assert "late-0" not in admitted(outcome)
    assert told(outcome, "refused") == {"late-0": "NoMatchingDevice"}
    assert message(outcome, "refused").startswith("gpu: ")


def test_a_cheap_device_does_not_claim_a_whole_one() -> None:
    """The ledger counts the device that is named; the claim takes whatever its DeviceClass and selectors allow."""
    running = Running(replicas=3)
    cheap = copy.deepcopy(running.classes[0]["spec"]["devices"][0])
    cheap |= {"name": "slice", "deviceClassName": "mig.nvidia.com", "count": 56}
    running.classes[0]["spec"]["devices"].append(cheap)
    late = running.add("late-0")
    late["spec"]["devices"][0] |= {"device": "slice"}
    outcome = running.compose()
    assert told(outcome, "refused") == {"late-0": "NoMatchingDevice"}
    assert "device_class" in message(outcome, "refused")


@pytest.mark.parametrize(
    ("effect", "tolerations", "refused"),
    [
        pytest.param("NoExecute", [], {"late-0": "UntoleratedTaint"}, id="NoExecute"),
        pytest.param("NoSchedule", [], {"late-0": "UntoleratedTaint"}, id="NoSchedule"),
        pytest.param("PreferNoSchedule", [], {}, id="a preference refuses nobody"),
        pytest.param("NoExecute", [{"key": "drain", "operator": "Exists"}], {}, id="tolerated"),
    ],
)
def test_nobody_new_is_admitted_past_a_taint_of_the_cluster(effect: str, tolerations: Json, refused: Json) -> None:
    running = Running(replicas=3)
    running.cluster["spec"]["taints"] = [{"key": "drain", "effect": effect}]
    running.deployment["spec"]["tolerations"] = tolerations
    running.add("late-0")
    outcome = running.compose()
    assert admitted(outcome) == ["late-0"] * (not refused) + ["llama-0", "llama-1", "llama-2"]
    assert told(outcome, "refused") == refused


# --- from the version before ------------------------------------------------------------------------------------------


def test_what_an_earlier_version_admitted_stays_and_is_written_down() -> None:
    """Also what it admitted by hand or with devices that no class has: it runs. Next time it is as any other."""
    running = Running(replicas=FULL)
    del running.cluster["status"]["admissions"]
    running.replicas[0]["metadata"].pop("ownerReferences")
    running.replicas[1]["spec"]["devices"][0]["memory"] = "1Gi"
    outcome = running.step()
    assert (len(admitted(outcome)), pods(outcome)) == (FULL, FULL)
    assert outcome.status["refused"] == []
    assert len(admissions.decode(Field(outcome.status))) == FULL
    grown(running.replicas[0])
    assert told(running.step(), "refused") == {"llama-0": "NotControlled"}


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


def test_a_pool_that_is_listed_twice_is_refused_by_its_name() -> None:
    running = Running()
    running.cluster["spec"]["nodePools"] *= 2
    with pytest.raises(Exception, match=r'spec\.nodePools\[1\]\.name: pool "gpu" is listed twice'):
        running.compose()
