"""InferenceCluster with a queue whose quota is read: what is observed, what it allows, and what it never takes away."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.api import inference_class, inference_cluster
from modelplane_functions.exchange import Outcome, Ready
from tests.support import fleet
from tests.support.cluster_world import Running, synced

Json = Any


def _running(limit: Json = 24, kind: str = "KAI", replicas: int = 3) -> Running:
    running = Running(replicas)
    running.cluster["spec"]["scheduler"] = {"type": kind, "queueName": "serving", "quota": {"resource": "gpu"}}
    running.step()
    _says(running, limit)
    return running


def _says(running: Running, limit: Json) -> None:
    child = running.children["queue"]
    manifest = copy.deepcopy(child["spec"]["forProvider"]["manifest"])
    manifest["spec"] = {"resources": {"gpu": {"limit": limit}}}
    child["status"] = {"atProvider": {"manifest": manifest}, "conditions": synced("True")}


def _refused(outcome: Outcome) -> dict[str, str]:
    return {one["replica"]: one["reason"] for one in outcome.status["refused"]}


def test_the_queue_is_only_observed_and_its_quota_is_published() -> None:
    running = _running()
    outcome = running.compose()
    assert outcome.children["queue"].resource["spec"]["managementPolicies"] == ["Observe"]
    assert outcome.status["queue"] == {"name": "serving", "limit": 24, "held": 3}
    assert outcome.ready is Ready.TRUE


def test_nothing_is_admitted_past_the_quota_and_what_is_admitted_stays() -> None:
    running = _running(4)
    running.add("llama-8")
    running.add("llama-9")
    outcome = running.compose()
    assert outcome.status["admitted"] == ["ml-team/llama-0", "ml-team/llama-1", "ml-team/llama-2", "ml-team/llama-8"]
    assert _refused(outcome) == {"ml-team/llama-9": "QueueQuota"}
    assert "a quota of 4 devices" in outcome.status["refused"][0]["message"]
    smaller = _running(1).compose()
    assert len(smaller.status["admitted"]) == 3
    assert smaller.status["queue"] == {"name": "serving", "limit": 1, "held": 3}


@pytest.mark.parametrize(
    ("status", "says"),
    [
        pytest.param({"conditions": synced("False", "observe failed: it does not exist")}, "create it", id="absent"),
        pytest.param(
            {"conditions": synced("False", "queues is forbidden")}, "apply examples/rbac-workload.yaml", id="forbidden"
        ),
        pytest.param({}, "", id="not read yet"),
        pytest.param({"conditions": 7, "atProvider": []}, "", id="odd"),
    ],
)
def test_a_quota_that_cannot_be_read_holds(status: Json, says: str) -> None:
    running = _running(3)
    running.cluster["status"] = dict(running.compose().status)
    running.children["queue"]["status"] = status
    running.add("llama-9")
    outcome = running.compose()
    assert outcome.status["queue"]["limit"] == 3
    assert _refused(outcome) == {"ml-team/llama-9": "QueueQuota"}
    told = next(one.message for one in outcome.conditions if one.type == "CapacityKnown")
    assert says in told


def test_without_a_limit_nobody_is_bound() -> None:
    running = _running(-1)
    running.add("llama-9")
    outcome = running.compose()
    assert outcome.status["queue"] == {"name": "serving", "held": 4}
    assert not outcome.status["refused"]


def test_no_quota_is_read_where_none_is_named() -> None:
    running = Running()
    running.cluster["spec"]["scheduler"] = {"type": "KAI", "queueName": "serving"}
    outcome = running.compose()
    assert "queue" not in outcome.children
    assert "queue" not in outcome.status


@pytest.mark.parametrize(
    ("scheduler", "counts", "says"),
    [
        pytest.param("Kueue", {"minNodeCount": 0, "maxNodeCount": 2}, "Kueue admits no claim before", id="empty"),
        pytest.param("Kueue", {"minNodeCount": 1, "maxNodeCount": 2}, "", id="one node"),
        pytest.param("Kueue", {"nodeCount": 2}, "", id="fixed"),
        pytest.param("KAI", {"minNodeCount": 0, "maxNodeCount": 2}, "", id="another scheduler"),
    ],
)
@pytest.mark.parametrize("claim", ["DRA", "DevicePlugin"])
def test_kueue_must_see_a_device_before_it_admits_a_claim(
    scheduler: str, counts: dict[str, int], says: str, claim: str
) -> None:
    document = fleet.inference_cluster("a")
    document["spec"]["scheduler"] = {"type": scheduler, "queueName": "serving"}
    (pool,) = document["spec"]["nodePools"]
    pool.pop("nodeCount", None)
    document["spec"]["nodePools"] = [{**pool, **counts}]
    hardware = fleet.inference_class()
    (device,) = hardware["spec"]["devices"]
    if claim == "DevicePlugin":
        device.pop("deviceClassName", None)
        device |= {"claim": claim, "resourceName": "nvidia.com/gpu"}
    known = inference_class.decode(hardware)
    decoded = inference_cluster.decode(document, {known.name: known})
    (found,) = decoded.pools
    assert found.node_class is not None
    (seen,) = found.node_class.devices
    assert (says in seen.unpublished) if says and claim == "DRA" else not seen.unpublished
