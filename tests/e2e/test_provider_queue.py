"""The queue of a replica as provider-kubernetes reads it from the cluster, with the rights as shipped.

Kueue does not run here: its definitions do, and a Workload is written as Kueue writes it (`test_kueue` has that).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from modelplane import names
from tests.e2e import provider_pair
from tests.e2e.provider_pair import COLLECTION, NAMESPACE, OBJECT, SECONDS, Document, Pair, Replica, applied
from tests.e2e.test_provider_pods import _counted
from tests.support import installation, kubeapi, replica_world

pytestmark = pytest.mark.slow

KUEUE = "kueue.x-k8s.io/v1beta2"
QUEUE = {"type": "Kueue", "queueName": "serving"}
NO_ROOM = (
    "couldn't assign flavors to pod set main: insufficient unused quota for modelplane.ai/gpu in flavor h100, 8 more"
)
WAITS = {
    "type": "QuotaReserved", "status": "False", "reason": "Pending", "message": NO_ROOM,
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}  # fmt: skip


@pytest.fixture(name="pair")
def _pair(tmp_path: Path) -> Iterator[Pair]:
    with provider_pair.running(tmp_path) as made:
        installation.definitions(made.cluster, "kueue")
        yield made


def _says(replica: Replica, reason: str, text: str) -> bool:
    outcome = replica.step()
    is_queued = outcome.status["phase"] == "Queued" and replica_world.conditions(outcome)["WorkloadReady"][1] == reason
    return is_queued and text in replica_world.message(outcome, "WorkloadReady")


def _workload(pair: Pair, name: str, replica: str) -> Document:
    """Make a Workload that waits, with the label that Kueue copies to it."""
    template = {"spec": {"containers": [{"name": "engine", "image": "x"}]}}
    made = pair.cluster.api.create(
        {
            "apiVersion": KUEUE,
            "kind": "Workload",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": {names.LABEL_REPLICA: replica}},
            "spec": {"queueName": "serving", "podSets": [{"name": "main", "count": 1, "template": template}]},
        }
    )
    pair.cluster.api.merge(made, {"status": {"conditions": [WAITS]}}, subresource="status")
    return dict(made)


def test_what_a_replica_waits_for_is_read_and_let_go_when_it_runs(pair: Pair) -> None:
    pair.control.controller_manager("garbage-collector-controller")
    replica = Replica(pair, kinds=(COLLECTION[1],), queue=QUEUE)
    pair.connect(replica.outcome.children["deployment"].resource["spec"]["providerConfigRef"]["name"])
    kubeapi.until(partial(applied, replica), seconds=2 * SECONDS, what="the Deployment to be applied")
    assert replica.remote()["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "serving"
    _counted(replica, 0)
    missing = "LocalQueue ml-team/serving does not exist"
    kubeapi.until(partial(_says, replica, "QueueMissing", missing), seconds=SECONDS, what="the queue to be missed")

    metadata = {"name": "serving", "namespace": NAMESPACE}
    queue = {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": metadata, "spec": {"clusterQueue": "ml-team"}}
    pair.cluster.api.apply(queue)
    _workload(pair, "deployment-llama-0", "llama-0")
    _workload(pair, "deployment-llama-1", "llama-1")
    kubeapi.until(partial(_says, replica, "QueuePending", NO_ROOM), seconds=2 * SECONDS, what="the queue's own words")

    _counted(replica, 1)
    read = {"pods", "queue", "queue-entries"}
    kubeapi.until(lambda: not read & replica.step().children.keys(), seconds=SECONDS, what="nothing more to be read")
    for one in pair.control.api.all_of(*COLLECTION):
        pair.control.api.delete(one)  # as Crossplane does
    for one in pair.control.api.all_of(*OBJECT):
        if one["spec"]["forProvider"]["manifest"]["kind"] == "LocalQueue":
            pair.control.api.delete(one)
    kubeapi.until(
        lambda: [one for one in pair.control.api.all_of(*OBJECT) if _is_of_kueue(one)],
        seconds=SECONDS, what="what was read to go", enough=lambda left: not left,
    )  # fmt: skip
    assert {one["metadata"]["name"] for one in pair.cluster.api.all_of(KUEUE, "Workload")} == {
        "deployment-llama-0", "deployment-llama-1",
    }  # fmt: skip
    assert pair.cluster.api.get(KUEUE, "LocalQueue", "serving", NAMESPACE) is not None


def _is_of_kueue(one: Document) -> bool:
    return bool(one["spec"]["forProvider"]["manifest"]["kind"] in ("LocalQueue", "Workload"))
