"""Whoever writes a ModelReplica by hand takes nothing by it: who may ask a cluster for devices, and for which."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import names
from modelplane.api import admissions
from modelplane.api.fields import Field
from modelplane_functions import replicas
from tests.support import cluster_world, fleet
from tests.support.cluster_world import Running

Json = Any
FULL = 16


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
        assert (len(cluster_world.admitted(outcome)), cluster_world.pods(outcome)) == (3, 3)
        assert cluster_world.told(outcome, where) == {"made-0": "NotControlled"}
        assert len(cluster_world.message(outcome, where)) > 20
        assert [event.reason for event in outcome.events] == (["ReplicaRefused"] if where == "refused" else [])


def test_a_status_that_says_running_takes_no_place_on_a_full_cluster() -> None:
    """Written by hand, or a replica of a deployment whose status somebody wrote."""
    running = Running(replicas=FULL)
    running.add("late-0")["status"] = {"phase": "Running"}
    outcome = running.compose()
    assert (len(cluster_world.admitted(outcome)), cluster_world.pods(outcome)) == (FULL, FULL)
    assert cluster_world.told(outcome, "refused") == {"late-0": "InsufficientDevices"}


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
    assert (len(cluster_world.admitted(outcome)), cluster_world.pods(outcome)) == (FULL, FULL)


def test_a_lost_ledger_takes_no_edited_replica_for_what_runs() -> None:
    """What runs is not what the replica says, so nobody knows what it holds until its deployment has put it back."""
    running = Running(replicas=FULL)
    running.cluster.pop("status")
    edited, as_it_runs = running.replicas[0], copy.deepcopy(running.replicas[0]["spec"])
    rendered = {names.ANNOTATION_PURPOSE: "workload", names.ANNOTATION_RENDERED_FROM: replicas.asked(edited).digest}
    running.others = [fleet.workload_of(one, annotations=rendered) for one in running.replicas]
    running.add("late-0")
    edited["spec"]["devices"][0]["deviceClassName"] = "cheap.example.com"
    outcome = running.step()
    assert "llama-0" not in cluster_world.admitted(outcome)
    assert cluster_world.told(outcome, "pending")["late-0"] == "LedgerFrozen"
    assert len(cluster_world.admitted(outcome)) == FULL - 1
    edited["spec"] = as_it_runs
    outcome = running.step()
    assert "llama-0" in cluster_world.admitted(outcome)
    assert cluster_world.told(outcome, "refused") == {"late-0": "InsufficientDevices"}


def test_a_workload_counts_though_nobody_controls_its_replica_and_is_not_admitted_for_that() -> None:
    running = Running(replicas=3)
    made = running.add("made-0")
    made["metadata"].pop("ownerReferences")
    running.others = [fleet.workload_of(made)]
    outcome = running.step()
    assert (cluster_world.admitted(outcome), cluster_world.pods(outcome)) == (["llama-0", "llama-1", "llama-2"], 4)
    assert cluster_world.told(outcome, "refused") == {"made-0": "NotControlled"}
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
    assert cluster_world.told(outcome, "pending") == {"late-0": "NotAsDeployed"}
    assert cluster_world.pods(outcome) == 3


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
    assert "late-0" not in cluster_world.admitted(outcome)
    assert cluster_world.told(outcome, "refused") == {"late-0": "NoMatchingDevice"}
    assert cluster_world.message(outcome, "refused").startswith("gpu: ")


def test_a_cheap_device_does_not_claim_a_whole_one() -> None:
    """The ledger counts the device that is named; the claim takes whatever its DeviceClass and selectors allow."""
    running = Running(replicas=3)
    cheap = copy.deepcopy(running.classes[0]["spec"]["devices"][0])
    cheap |= {"name": "slice", "deviceClassName": "mig.nvidia.com", "count": 56}
    running.classes[0]["spec"]["devices"].append(cheap)
    late = running.add("late-0")
    late["spec"]["devices"][0] |= {"device": "slice"}
    outcome = running.compose()
    assert cluster_world.told(outcome, "refused") == {"late-0": "NoMatchingDevice"}
    assert "device_class" in cluster_world.message(outcome, "refused")


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
    assert cluster_world.admitted(outcome) == ["late-0"] * (not refused) + ["llama-0", "llama-1", "llama-2"]
    assert cluster_world.told(outcome, "refused") == refused
