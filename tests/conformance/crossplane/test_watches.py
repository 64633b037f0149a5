"""What Crossplane's core watches for a deployment: whom a change of a cluster, a class or a fleet calls.

Crossplane watches what a composite required last. A deployment whose replicas only stay requires their clusters alone,
so it is not called for another cluster. That is seen here in the calls of the real core, on a real API server.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import fleet, kubeapi, live, livefleet
from tests.support.livefleet import LiveFleet

Json = Any
NAMESPACE = "ml-team"
SETTLED_SECONDS = 180


def cluster(name: str, nodes: int = 2) -> Json:
    made = {key: copy.deepcopy(value) for key, value in fleet.inference_cluster(name, nodes=nodes).items()}
    del made["status"]
    made["metadata"] = {"name": name, "labels": {"only": name}}
    return made


def deployment(name: str, **spec: Json) -> Json:
    made = copy.deepcopy(fleet.model_deployment(name, replicas=1))
    made["metadata"] = {"name": name, "namespace": NAMESPACE}
    made["spec"] |= spec
    return made


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveFleet]:
    """Two deployments on a cluster each, which could be on any, and one that fits nowhere."""
    live.needs("crossplane-watches", "go")
    with livefleet.running(tmp_path_factory.mktemp("watches")) as running:
        running.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}])
        node_class = fleet.inference_class()
        node_class["metadata"] = {"name": node_class["metadata"]["name"]}
        running.apply([node_class, cluster("a"), cluster("b")])
        running.apply([deployment(f"on-{one}", clusterSelector={"matchLabels": {"only": one}}) for one in ("a", "b")])
        huge = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("900Gi")) >= 0'
        running.apply([deployment("pending", nodeSelector={"cel": huge})])
        kubeapi.until(
            lambda: (
                {one["metadata"]["name"]: one.get("status", {}).get("replicas") for one in found(running)}
                == {"on-a": 1, "on-b": 1, "pending": 0}
            ),
            seconds=SETTLED_SECONDS,
            what="both deployments to be placed",
        )
        running.rest()
        for one in found(running):
            if one["spec"].get("clusterSelector"):
                running.merge(one, {"spec": {"clusterSelector": None}})
        running.rest()
        assert places(running) == {"on-a-0": "a", "on-b-0": "b"}
        yield running


def places(running: LiveFleet) -> dict[str, str]:
    return {one["metadata"]["name"]: one["spec"]["clusterName"] for one in running.all_of("ModelReplica")}


def found(running: LiveFleet) -> list[Json]:
    return running.all_of("ModelDeployment")


def versions(running: LiveFleet) -> dict[str, str]:
    """Return the versions of all replicas and clusters, which a write that changes nothing leaves alone."""
    kinds = ("ModelReplica", "InferenceCluster")
    found = (one for kind in kinds for one in running.all_of(kind))
    return {f"{one['kind']} {one['metadata']['name']}": one["metadata"]["resourceVersion"] for one in found}


@pytest.mark.parametrize(("changed", "other"), [("b", "a"), ("a", "b")])
def test_a_cluster_calls_those_that_stand_on_it_and_those_that_wait(
    settled: LiveFleet, changed: str, other: str
) -> None:
    nodes = cluster(changed)["spec"]["nodePools"][0]
    calls = settled.after(lambda: settled.apply([edited(changed, {**nodes, "nodeCount": 3})]))
    assert calls.of("InferenceCluster") == {changed}
    assert f"{NAMESPACE}/on-{changed}" in calls.of("ModelDeployment")
    assert f"{NAMESPACE}/pending" in calls.of("ModelDeployment")
    assert f"{NAMESPACE}/on-{other}" not in calls.of("ModelDeployment")
    assert {one.rpartition("/")[2].rpartition("-")[0] for one in calls.of("ModelReplica")} <= {f"on-{changed}"}


def edited(name: str, pool: Json) -> Json:
    made = cluster(name)
    made["spec"]["nodePools"] = [pool]
    return made


def test_a_new_cluster_calls_only_who_waits(settled: LiveFleet) -> None:
    calls = settled.after(lambda: settled.apply([cluster("c")]))
    assert calls.of("ModelDeployment") == {f"{NAMESPACE}/pending"}
    assert calls.of("ModelReplica") == set()


def test_a_description_of_a_class_touches_no_replica_and_no_ledger(settled: LiveFleet) -> None:
    before = versions(settled)
    one = settled.all_of("InferenceClass")[0]
    calls = settled.after(lambda: settled.merge(one, {"spec": {"description": "as of today"}}))
    assert {"a", "b"} <= calls.of("InferenceCluster")
    assert calls.of("ModelReplica") == set()
    assert versions(settled) == before


def test_one_more_replica_calls_nobody_who_stands_elsewhere(settled: LiveFleet) -> None:
    one = next(one for one in found(settled) if one["metadata"]["name"] == "on-a")
    calls = settled.after(lambda: settled.merge(one, {"spec": {"replicas": 2}}))
    place = places(settled)["on-a-1"]
    assert calls.of("InferenceCluster") == {place}
    expected = {f"{NAMESPACE}/on-a", f"{NAMESPACE}/pending"} | ({f"{NAMESPACE}/on-b"} if place == "b" else set())
    assert calls.of("ModelDeployment") == expected
