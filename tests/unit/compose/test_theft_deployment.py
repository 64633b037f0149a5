"""A deployment puts its replicas back as their cluster admitted them, and is stopped by nobody else's document."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import names
from modelplane.api import admissions
from modelplane.api import replica as replicas
from modelplane.errors import InvalidInput
from modelplane.placement import demand
from modelplane_functions.exchange import Outcome
from tests.unit.compose.test_model_deployment import Running

Json = Any
REPLICA = "replica-llama-0"


class Recorded(Running):
    """Two replicas that serve on two clusters, which have written down what they admitted."""

    def __init__(self, *, is_earlier: bool = False) -> None:
        super().__init__()
        self.record(is_earlier=is_earlier)

    def record(self, *, is_earlier: bool = False) -> None:
        """Let the clusters write down what stands, or as an earlier version did."""
        for cluster in self.clusters:
            records = {}
            for child in self.children.values():
                if child["kind"] == "ModelReplica" and child["spec"]["clusterName"] == cluster["metadata"]["name"]:
                    found = replicas.decode(child)
                    uid = admissions.uid_of(child)
                    says = "" if is_earlier else replicas.workload_digest(found)
                    held = demand.held(found)
                    record = admissions.Record(uid, replicas.fingerprint(found), held, workload=says)
                    records[names.qualified(found.namespace, found.name)] = record
            cluster["status"]["admissions"] = admissions.encode(records)

    @property
    def replica(self) -> Json:
        return self.children[REPLICA]


def told(outcome: Outcome) -> str:
    return next(condition.message for condition in outcome.conditions if condition.type == "ReplicasScheduled")


def _memory(spec: Json) -> None:
    container = spec["workers"]["template"]["spec"]["containers"][0]
    container["resources"]["requests"]["memory"] = "1e99999"


EDITS = [
    pytest.param(lambda spec: spec.update(devices=[]), id="devices emptied"),
    pytest.param(lambda spec: spec["devices"][0].update(count=8), id="more devices"),
    pytest.param(lambda spec: spec["devices"][0].update(deviceClassName="x"), id="another DeviceClass"),
    pytest.param(lambda spec: spec["workers"].update(count=9), id="nine times as much"),
    pytest.param(lambda spec: spec["workers"]["template"]["spec"]["containers"][0].update(image="x/y:1"), id="image"),
    pytest.param(lambda spec: spec.pop("model"), id="no model"),
    pytest.param(lambda spec: spec.update(pool="else"), id="another pool"),
    pytest.param(lambda spec: spec.update(backend="Native"), id="another backend"),
    pytest.param(_memory, id="what cannot be read"),
    pytest.param(lambda spec: spec.pop("pool"), id="no pool"),
]


@pytest.mark.parametrize("edit", EDITS)
def test_what_was_changed_is_put_back(edit: Callable[[Json], None]) -> None:
    running = Recorded()
    before = copy.deepcopy(running.compose().children)
    edit(running.replica["spec"])
    outcome = running.compose()
    assert outcome.children[REPLICA].resource["spec"] == before[REPLICA].resource["spec"]
    assert outcome.children.keys() == before.keys(), "nobody moves for it, and its endpoint stays"
    assert 'ModelReplica "llama-0" was changed by another client; its spec is restored' in told(outcome)


@pytest.mark.parametrize("edit", EDITS)
def test_what_cannot_be_made_again_is_kept_and_told_unless_it_is_ours(edit: Callable[[Json], None]) -> None:
    """The class says something else since, so the record cannot be made again: nothing is guessed."""
    running = Recorded()
    running.classes[0]["spec"]["devices"][0]["capacity"]["memory"]["value"] = "90Gi"
    spec = running.replica["spec"]
    edit(spec)
    written = copy.deepcopy(spec)
    outcome = running.compose()
    assert outcome.children[REPLICA].resource["spec"] == written
    assert "endpoint-llama-0" in outcome.children


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_moves_nobody_though_the_class_changed_since(edit: Callable[[Json], None]) -> None:
    """A record tells that the deployment still says what was admitted, whatever stands in the replica."""
    running = Recorded()
    running.classes[0]["spec"]["devices"][0]["capacity"]["memory"]["value"] = "90Gi"
    before = running.compose().children.keys()
    edit(running.replica["spec"])
    assert running.compose().children.keys() == before


@pytest.mark.parametrize("edit", EDITS)
def test_a_deployment_that_was_edited_is_rolled_out_whatever_was_written_into_its_replica(
    edit: Callable[[Json], None],
) -> None:
    running = Recorded()
    edit(running.replica["spec"])
    _image(running.deployment["spec"])
    outcome = running.compose()
    assert {"replica-llama-0", "replica-llama-1", "replica-llama-2"} <= outcome.children.keys(), "successor first"


def _image(spec: Json) -> None:
    spec["workers"]["template"]["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v0.24.0"


def unseen(running: Running) -> None:
    """Let the deployment read its clusters as they were before they admitted anybody."""
    for cluster in running.clusters:
        cluster["status"] |= {"admitted": [], "admissions": []}


def test_without_a_record_nothing_that_runs_moves_for_what_stands_in_it() -> None:
    running = Recorded()
    unseen(running)
    before = running.compose().children.keys()
    _image(running.replica["spec"])
    assert running.compose().children.keys() == before


def test_a_version_that_kept_no_records_admitted_by_name() -> None:
    running = Running()
    _image(running.deployment["spec"])
    assert "replica-llama-2" in running.compose().children


@pytest.mark.parametrize("phase", ["Starting", "Running"])
def test_a_move_that_has_begun_waits_while_the_record_cannot_be_read(phase: str) -> None:
    running = Recorded()
    _image(running.deployment["spec"])
    running.step()
    successor = running.children["replica-llama-2"]
    if phase == "Starting":
        successor["status"] = {"phase": phase}
    successor["metadata"]["creationTimestamp"] = "2026-01-02T00:00:00Z"
    unseen(running)
    outcome = running.compose()
    assert {"replica-llama-0", "replica-llama-1", "replica-llama-2"} <= outcome.children.keys()
    assert outcome.children.keys() == running.compose().children.keys()


@pytest.mark.parametrize("of_status", ["a phase that says so", "composed objects, where somebody wiped the status"])
def test_a_refusal_of_yesterday_removes_nothing_that_runs(of_status: str) -> None:
    running = Recorded()
    unseen(running)
    note = {"replica": "ml-team/llama-0", "reason": "InsufficientDevices", "message": "it was full"}
    running.clusters[0]["status"]["refused"] = [note]
    if "wiped" in of_status:
        del running.replica["status"]
        running.replica["spec"]["crossplane"] = {"resourceRefs": [{"kind": "Object", "name": "llama-0-workload"}]}
    assert REPLICA in running.compose().children
    del running.children["endpoint-llama-0"]
    assert REPLICA in running.compose().children


def test_our_own_change_is_not_taken_back_while_its_cluster_has_not_admitted_it() -> None:
    running = Recorded()
    for document in (running.deployment, *(running.children[f"replica-llama-{n}"] for n in (0, 1))):
        container = document["spec"]["workers"]["template"]["spec"]["containers"][0]
        container["image"] = "vllm/vllm-openai:v0.24.0"
    outcome = running.compose()
    assert outcome.children[REPLICA].resource["spec"] == running.replica["spec"]
    assert "changed" not in told(outcome)


@pytest.mark.parametrize("edit", [one for one in EDITS if "pool" not in str(one.id)])
def test_a_replica_that_was_never_admitted_is_written_anew(edit: Callable[[Json], None]) -> None:
    running = Running()
    before = copy.deepcopy(running.compose().children[REPLICA].resource["spec"])
    for cluster in running.clusters:
        cluster["status"]["admitted"] = []
    for child in running.children.values():
        child["status"]["phase"] = "Pending"
    edit(running.children[REPLICA]["spec"])
    assert running.compose().children[REPLICA].resource["spec"] == before


@pytest.mark.parametrize("label", [names.LABEL_CLUSTER, names.LABEL_DEPLOYMENT, names.LABEL_NAMESPACE])
def test_labels_are_put_back(label: str) -> None:
    running = Recorded()
    labels = copy.deepcopy(running.replica["metadata"]["labels"])
    del running.replica["metadata"]["labels"][label]
    assert running.compose().children[REPLICA].resource["metadata"]["labels"] == labels
    del running.replica["metadata"]["labels"]
    assert running.compose().children[REPLICA].resource["metadata"]["labels"] == labels


def test_fewer_replicas_than_none_are_refused() -> None:
    running = Recorded()
    running.deployment["spec"]["replicas"] = -1
    with pytest.raises(InvalidInput, match=r"spec\.replicas: must be at least 0, not -1"):
        running.compose()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda c: c["spec"].update(nodePools="x"), id="pools"),
        pytest.param(lambda c: c["spec"]["nodePools"].append(c["spec"]["nodePools"][0]), id="a pool twice"),
        pytest.param(lambda c: c["spec"]["nodePools"][0].update(name="../x"), id="a pool of a name that none can have"),
        pytest.param(lambda c: c["spec"].update(taints=[{"key": "x", "effect": "x"}]), id="taint"),
        pytest.param(lambda c: c["spec"].update(accounting="x"), id="accounting"),
        pytest.param(lambda c: c["status"].update(refused="x"), id="refused"),
        pytest.param(lambda c: c["status"].update(admitted=[1]), id="admitted"),
    ],
)
def test_a_cluster_that_cannot_be_read_is_named_and_keeps_its_replicas(damage: Callable[[Json], None]) -> None:
    running = Recorded()
    before = running.compose().children
    damage(running.clusters[0])
    outcome = running.compose()
    assert {key: one.resource for key, one in outcome.children.items()} == {k: o.resource for k, o in before.items()}
    assert 'InferenceCluster "a" cannot be read: ' in told(outcome)
    running.deployment["spec"]["replicas"] = 4
    replicas_now = [one.resource for key, one in running.compose().children.items() if key.startswith("replica-")]
    placed = [one["spec"]["clusterName"] for one in replicas_now]
    assert sorted(placed) == ["a", "b", "b", "b"], "what is new goes elsewhere"
