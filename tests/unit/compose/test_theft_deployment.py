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

    def __init__(self) -> None:
        super().__init__()
        for cluster in self.clusters:
            records = {}
            for child in self.children.values():
                if child["kind"] == "ModelReplica" and child["spec"]["clusterName"] == cluster["metadata"]["name"]:
                    found = replicas.decode(child)
                    uid = admissions.uid_of(child)
                    record = admissions.Record(uid, replicas.fingerprint(found), demand.held(found))
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
