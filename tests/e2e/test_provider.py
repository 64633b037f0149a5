"""provider-kubernetes between a function and a cluster that grants examples/rbac-workload.yaml and no more.

The functions are asked with the Objects as the provider left them: what is installed, what another client changed, and
what another client keeps writing, and whether pods of a deleted workload still end.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from modelplane_functions.exchange import Outcome
from tests.e2e import provider_pair
from tests.e2e.provider_pair import NAMESPACE, SECONDS, Document, Pair, Replica, applied
from tests.support import cluster_world, installation, kubeapi

HOLD_SECONDS = 10
CONTROLLERS = (
    *("deployment-controller", "replicaset-controller", "garbage-collector-controller"),
    "serviceaccount-controller",
)
OWN, OLDER, GANGS = "serving.kserve.io/v1alpha2", "serving.kserve.io/v1alpha1", "leaderworkerset.x-k8s.io/v1"

pytestmark = pytest.mark.slow


@pytest.fixture(name="pair")
def _pair(tmp_path: Path) -> Iterator[Pair]:
    with provider_pair.running(tmp_path) as made:
        yield made


def _backends(pair: Pair, running: cluster_world.Running) -> Document:
    """Return what the cluster's function says is installed, and let it be written."""
    running.children |= pair.read(running.compose())
    outcome = running.compose()
    running.cluster["status"] = dict(outcome.status)
    return {one["name"]: one for one in outcome.status["backends"]}


def test_what_is_installed_is_seen_and_holds_while_the_cluster_is_away(pair: Pair) -> None:
    running = cluster_world.Running()
    running.cluster["spec"]["backends"] = ["KServe", "Native"]
    running.cluster["status"].pop("backends")
    first = running.compose()
    running.children = {key: one for key, one in running.children.items() if not key.startswith("serves-")}
    pair.connect(first.children["gateway"].resource["spec"]["providerConfigRef"]["name"])
    assert _backends(pair, running)["KServe"] == {"name": "KServe"}
    pair.write(first)

    def until(want: Document) -> None:
        kubeapi.until(lambda: _backends(pair, running) == want, seconds=SECONDS, what=f"{want}")

    none = {"name": "KServe", "installed": False, "served": False, "missing": [OWN, GANGS]}
    native = {"name": "Native", "installed": True, "served": True}
    until({"KServe": none, "Native": {**native, "missing": [GANGS]}})
    installation.definitions(pair.cluster, "kserve", "lws")
    every = {"name": "KServe", "installed": True, "served": True, "versions": [OWN, OLDER, GANGS]}
    until({"KServe": every, "Native": {**native, "versions": [GANGS]}})
    sizes = [len(str(one)) for key, one in running.children.items() if key.startswith("serves-")]
    assert max(sizes) < 8_000, sizes
    (definition,) = (
        one
        for one in pair.cluster.api.all_of("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        if one["metadata"]["name"] == "leaderworkersets.leaderworkerset.x-k8s.io"
    )
    pair.cluster.api.delete(definition)
    until(
        {
            "KServe": {**every, "versions": [OWN, OLDER], "missing": [GANGS]},
            "Native": {**native, "missing": [GANGS]},
        }
    )
    before = running.cluster["status"]["backends"]
    pair.cluster.apiserver.stop()
    kubeapi.until(lambda: _is_away(pair, first), seconds=SECONDS, what="the provider to notice")
    _backends(pair, running)
    assert running.cluster["status"]["backends"] == before


def _is_away(pair: Pair, outcome: Outcome) -> bool:
    found = [kubeapi.condition(one, "Synced") for key, one in pair.read(outcome).items() if key.startswith("serves-")]
    return all("exist" not in one.get("message", "") and one["status"] == "False" for one in found)


def _told(outcome: Outcome) -> list[str]:
    return [one.message for one in outcome.events if one.reason == "DriftReverted"]


def _conflict(outcome: Outcome) -> str:
    return next((one.message for one in outcome.conditions if one.type == "FieldConflict" and one.status == "True"), "")


def _is_told(replica: Replica) -> bool:
    replica.step()
    child = replica.children["deployment"]
    noted = kubeapi.condition(child, "Synced").get("observedGeneration") == child["metadata"]["generation"]
    return bool(noted and child["spec"].get("managementPolicies") == ["Observe", "Create", "Delete"])


def test_an_edit_on_the_cluster_is_put_back_and_told_and_a_fight_is_left(pair: Pair) -> None:
    replica = Replica(pair)
    pair.connect(replica.outcome.children["deployment"].resource["spec"]["providerConfigRef"]["name"])
    kubeapi.until(partial(applied, replica), seconds=SECONDS, what="the Deployment to be applied")
    rendered = replica.grace()
    assert not _told(replica.step())
    told: list[str] = []

    def heard(count: int) -> bool:
        told.extend(_told(replica.step()))
        return len(told) == count

    for count in (1, 2, 3):
        time.sleep(1.1)  # managedFields count seconds, and what is put back within one is told as one
        replica.edit(rendered + count)
        kubeapi.until(lambda: replica.grace() == rendered, seconds=SECONDS, what="the edit to be put back")
        kubeapi.until(partial(heard, count), seconds=SECONDS, what="a word of it")
    assert told[0] == "deployment was changed on the cluster by another client; the rendered fields are put back"
    assert "3 times within 10 minutes" in _conflict(replica.outcome)
    kubeapi.until(partial(_is_told, replica), seconds=SECONDS, what="the provider to know that the fields are left")
    replica.edit(rendered + 9)

    def left() -> bool:
        said = _conflict(replica.step())
        return "spec.template.spec.terminationGracePeriodSeconds written by" in said

    kubeapi.until(left, seconds=SECONDS, what="the conflict to be told with its field")
    assert replica.grace() == rendered + 9
    replica.edit(rendered)
    kubeapi.until(lambda: not _conflict(replica.step()), seconds=SECONDS, what="the conflict to end")
    replica.step()
    replica.edit(rendered + 20)
    kubeapi.until(lambda: replica.grace() == rendered, seconds=SECONDS, what="the next edit to be put back")


# --- the end of pods --------------------------------------------------------------------------------------------------


def test_the_object_of_a_workload_stays_until_its_pods_have_ended(pair: Pair) -> None:
    pair.cluster.controller_manager(*CONTROLLERS)
    replica = Replica(pair)
    pair.connect(replica.outcome.children["deployment"].resource["spec"]["providerConfigRef"]["name"])
    kubeapi.until(partial(applied, replica), seconds=SECONDS, what="the Deployment to be applied")
    api = pair.cluster.api

    def pods() -> list[Document]:
        return list(api.all_of("v1", "Pod", NAMESPACE))

    kubeapi.until(pods, seconds=SECONDS, what="a pod")
    for pod in pods():  # a pod of a node ends when its kubelet says so, and this one never does
        target = {"apiVersion": "v1", "kind": "Node", "name": "silent"}
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod["metadata"]["name"]},
            "target": target,
        }
        api.request("POST", f"{api.path_of(pod)}/binding", binding)
    replica.delete()
    kubeapi.until(
        lambda: all("deletionTimestamp" in one["metadata"] for one in pods()), seconds=SECONDS, what="pods to terminate"
    )
    time.sleep(HOLD_SECONDS)
    assert pods(), "they hold their devices"
    (child,) = (one for key, one in pair.read(replica.outcome).items() if key == "deployment")
    assert child["metadata"]["deletionTimestamp"], "and the ledger sees an Object of the workload"
    for pod in pods():
        api.delete(pod, seconds=0)
    kubeapi.until(
        lambda: "deployment" not in pair.read(replica.outcome), seconds=SECONDS, what="the Object of the workload to go"
    )
