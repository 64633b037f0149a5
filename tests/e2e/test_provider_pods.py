"""Why the pods of a replica do not start, as provider-kubernetes reads it from the cluster, with the rights as shipped.

Nothing runs here that would start pods: their statuses are written as kubelets and controllers write them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from modelplane import names
from modelplane.topology.shape import Topology
from tests.e2e import provider_pair
from tests.e2e.provider_pair import COLLECTION, NAMESPACE, OBJECT, SECONDS, Document, Pair, Replica, applied
from tests.support import installation, kubeapi, permissions, replica_world

pytestmark = pytest.mark.slow


@pytest.fixture(name="pair")
def _pair(tmp_path: Path) -> Iterator[Pair]:
    with provider_pair.running(tmp_path) as made:
        yield made


def _pod(name: str, replica: str) -> Document:
    metadata = {
        "name": name,
        "namespace": NAMESPACE,
        "labels": {names.LABEL_REPLICA: replica, names.LABEL_ROLE: "decode"},
    }
    claims = [{"name": "devices", "request": "gpu"}]
    spec = {
        "containers": [{"name": "main", "image": "vllm/vllm-openai:nonsense", "resources": {"claims": claims}}],
        "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "decode"}],
        "automountServiceAccountToken": False,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _ill(pair: Pair, name: str, status: Document, replica: str = "llama-0") -> None:
    """Make a pod on the cluster whose status is as a kubelet or a scheduler would leave it."""
    made = pair.cluster.api.create(_pod(name, replica))
    pair.cluster.api.merge(made, {"status": status}, subresource="status")


def _counted(replica: Replica, ready: int) -> None:
    """Write the status of the workload as its controller would."""
    found = replica.remote()
    counts = {"replicas": 1, "updatedReplicas": 1, "readyReplicas": ready}
    available = {"type": "Available", "status": "True" if ready else "False", "reason": "Counted", "message": ""}
    available["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    status = {**counts, "conditions": [available]}
    if found["kind"] == "Deployment":
        status |= {"observedGeneration": found["metadata"]["generation"], "availableReplicas": ready}
    replica.pair.cluster.api.merge(found, {"status": status}, subresource="status")


def _says(replica: Replica, text: str) -> bool:
    return text in replica_world.message(replica.step(), "WorkloadReady")


def _members(pair: Pair) -> list[Document]:
    found = pair.control.api.all_of(*OBJECT)
    return [one for one in found if one["spec"]["forProvider"]["manifest"]["kind"] == "Pod"]


WAITING = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "vllm/vllm-openai:nonsense"'}
PULLING = {
    "containerStatuses": [
        {
            "name": "main",
            "image": "vllm/vllm-openai:nonsense",
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": {"waiting": WAITING},
        }
    ]
}
NO_ROOM = "0/3 nodes are available: 3 cannot allocate all claims."
WITHOUT_ROOM = {
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": NO_ROOM}]
}


_DEVICE = {"resourceID": "gpu.nvidia.com/node-1/gpu-3", "health": "Unhealthy"}
UNHEALTHY = {
    "containerStatuses": [
        {
            **PULLING["containerStatuses"][0],
            "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
            "allocatedResourcesStatus": [{"name": "claim:devices/gpu", "resources": [_DEVICE]}],
        }
    ]
}


def _grant(pair: Pair, *, pods: bool) -> None:
    """Apply the roles of the cluster, as they are shipped or without the right to read pods."""
    for one in permissions.documents(*permissions.WORKLOAD):
        if one["kind"] == "ClusterRole":
            rules = [rule for rule in one["rules"] if pods or "pods" not in rule["resources"]]
            pair.cluster.api.apply({**one, "rules": rules})


def test_why_a_pod_does_not_start_is_told_while_it_does_not(pair: Pair) -> None:
    pair.control.controller_manager("garbage-collector-controller")
    _grant(pair, pods=False)
    replica = Replica(pair, kinds=(COLLECTION[1],))
    pair.connect(replica.outcome.children["deployment"].resource["spec"]["providerConfigRef"]["name"])
    kubeapi.until(partial(applied, replica), seconds=SECONDS, what="the Deployment to be applied")
    metadata = {"name": "default", "namespace": NAMESPACE}
    pair.cluster.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    _ill(pair, "llama-0-a", PULLING)
    _ill(pair, "llama-1-a", WITHOUT_ROOM, replica="llama-1")
    assert pair.control.api.all_of(*COLLECTION) == []
    _counted(replica, 0)
    kubeapi.until(partial(_says, replica, "pods is forbidden"), seconds=SECONDS, what="the refusal to be told")
    _grant(pair, pods=True)
    told = f"container main of pod llama-0-a cannot start, ImagePullBackOff: {WAITING['message']}"
    kubeapi.until(partial(_says, replica, told), seconds=SECONDS, what="the error of the image to be told")
    (member,) = _members(pair)
    assert member["spec"]["managementPolicies"] == ["Observe"]
    generation = replica.remote()["metadata"]["generation"]

    pair.cluster.api.delete(_pod("llama-0-a", "llama-0"))
    _ill(pair, "llama-0-b", WITHOUT_ROOM)
    told = f"pod llama-0-b is not scheduled: {NO_ROOM}"
    kubeapi.until(partial(_says, replica, told), seconds=2 * SECONDS, what="the next pod's error to be told")

    _counted(replica, 1)
    kubeapi.until(lambda: "pods" not in replica.step().children, seconds=SECONDS, what="the collection to be left out")
    for one in pair.control.api.all_of(*COLLECTION):
        pair.control.api.delete(one)  # as Crossplane does
    kubeapi.until(lambda: not _members(pair), seconds=SECONDS, what="the members to go")
    left = {one["metadata"]["name"] for one in pair.cluster.api.all_of("v1", "Pod")}
    assert left == {"llama-0-b", "llama-1-a"}
    assert replica.remote()["metadata"]["generation"] == generation


def test_an_unhealthy_device_and_a_gang_without_all_its_pods_are_told(pair: Pair) -> None:
    installation.definitions(pair.cluster, "lws")
    replica = Replica(pair, kinds=(COLLECTION[1],), topology=Topology(tensor=8, pipeline=3))
    pair.connect(replica.outcome.children[replica.workload].resource["spec"]["providerConfigRef"]["name"])
    kubeapi.until(partial(applied, replica), seconds=SECONDS, what="the LeaderWorkerSet to be applied")
    metadata = {"name": "default", "namespace": NAMESPACE}
    pair.cluster.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    for name in ("llama-0-0", "llama-0-0-1"):
        _ill(pair, name, {})
    _counted(replica, 0)
    told = "2 of 3 pods of decode exist, and a worker of several nodes starts with all of its pods"
    kubeapi.until(partial(_says, replica, told), seconds=SECONDS, what="the gang to be told")
    assert replica_world.conditions(replica.outcome)["WorkloadReady"] == ("False", "GangIncomplete")
    _ill(pair, "llama-0-0-2", UNHEALTHY)
    told = "container main of pod llama-0-0-2 has an unhealthy device: gpu.nvidia.com/node-1/gpu-3 (claim:devices/gpu)"
    kubeapi.until(partial(_says, replica, told), seconds=2 * SECONDS, what="the device to be told")
    assert replica_world.conditions(replica.outcome)["WorkloadReady"] == ("False", "DeviceUnhealthy")
