"""Nodes and ResourceSlices of a cluster as its observer counts them, and as provider-kubernetes reads them.

The observer's Deployment is applied with the rights as shipped. Its command runs as a process with the token of its own
service account, since no kubelet is here. kwok keeps the nodes, whose slices change under replicas that stand.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from modelplane.render import observer
from modelplane_functions.exchange import Outcome
from tests.conformance.scheduler import hardware
from tests.e2e import provider_pair, workload
from tests.e2e.provider_pair import SECONDS, Pair
from tests.support import controlplane, fleet, kubeapi, permissions
from tests.support.cluster_world import admitted
from tests.support.observed_nodes import Watched

pytestmark = pytest.mark.slow

Document = dict[str, Any]
SLICE = ("resource.k8s.io/v1", "ResourceSlice")
LOOKS_SECONDS = 1


@pytest.fixture(name="pair")
def _pair(tmp_path: Path) -> Iterator[Pair]:
    with provider_pair.running(tmp_path) as made:
        for one in permissions.documents(permissions.OBSERVER):
            made.cluster.api.apply(one)
        yield made


class _Cluster(Watched):
    """An InferenceCluster of two nodes with three replicas, whose Objects are the provider's."""

    def __init__(self, pair: Pair) -> None:
        super().__init__()
        self.pair = pair
        self.children = {key: one for key, one in self.children.items() if key not in (observer.KEY, observer.MAP_KEY)}

    def live(self) -> Outcome:
        """Return the answer to what is there now, and let it be written."""
        outcome = self.compose()
        found = {key: outcome.children[key] for key in (observer.KEY, observer.MAP_KEY)}
        self.pair.write(Outcome(children=found))
        self.cluster["status"] = copy.deepcopy(dict(outcome.status))
        self.children |= self.pair.read(Outcome(children=found))
        return outcome

    def remote(self, kind: str, name: str) -> Document | None:
        version = "apps/v1" if kind == "Deployment" else "v1"
        found: Document | None = self.pair.cluster.api.get(version, kind, name, observer.NAMESPACE)
        return found


def _observer(pair: Pair, folder: Path, deployment: Document) -> controlplane.Process:
    """Return the process that the kubelet would start for the Deployment that the provider has applied."""
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    path = f"/api/v1/namespaces/{observer.NAMESPACE}/serviceaccounts/{pod['serviceAccountName']}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
    token = pair.cluster.api.request("POST", path, request)["status"]["token"]
    account = folder / "account"
    account.mkdir()
    (account / "token").write_text(token)
    (account / "ca.crt").write_bytes((pair.cluster.folder / "ca.crt").read_bytes())
    question, where, _ = [one.replace("$$", "$") for one in container["args"]]
    command = (sys.executable, *container["command"][1:], question, where, str(LOOKS_SECONDS))
    environment = {
        **os.environ,
        "MODELPLANE_SERVER": pair.cluster.server,
        "MODELPLANE_ACCOUNT": str(account),
        "MODELPLANE_SEEN": str(folder / "seen"),
    }
    return controlplane.Process("observer", command, folder / "observer.log", environment)


def _has(cluster: _Cluster, nodes: Document, says: str = "") -> bool:
    outcome = cluster.live()
    told = next(one for one in outcome.conditions if one.type == "CapacityObserved")
    found = outcome.status["pools"][0]["nodes"]
    assert len(admitted(outcome)) == 3, "what stands stays"
    return found.items() >= nodes.items() and says in f"{told.reason}: {told.message}"


def _until(cluster: _Cluster, nodes: Document, says: str = "") -> None:
    kubeapi.until(partial(_has, cluster, nodes, says), seconds=2 * SECONDS, what=f"{nodes} and {says}")


def _change(pair: Pair, name: str, **device: Any) -> Document:
    """Let the driver publish the first device of a slice otherwise, and return the slice as it was."""
    found: Document = pair.cluster.api.get(*SLICE, name, None)
    changed = copy.deepcopy(found)
    changed["spec"]["devices"][0] |= device
    pair.cluster.api.merge(found, {"spec": {"devices": changed["spec"]["devices"]}})
    return found


WHOLE = {"declared": 2, "observed": 2, "ready": 2, "cordoned": 0, "allocatable": 2}


def _looks(cluster: _Cluster, deployment: Document, since: str) -> None:
    """Say whether the pod of the observer is ready, as its controller would; `since` when it is not."""
    condition = {"type": "Available", "status": "False" if since else "True", "reason": "Counted", "message": ""}
    condition["lastTransitionTime"] = since or "2026-01-01T00:00:00Z"
    status = {"conditions": [condition], "observedGeneration": 1}
    cluster.pair.cluster.api.merge(deployment, {"status": status}, subresource="status")


def _stand(pair: Pair) -> None:
    """Let nodes and slices of the class stand on the cluster, kept by kwok."""
    for one in hardware.nodes(fleet.inference_cluster("a"), {"h100-8x": fleet.inference_class()}, "a"):
        if one["kind"] == "Node":
            one["metadata"]["annotations"] = {workload.KWOK_ANNOTATION: "fake"}
        hardware.stand(pair.cluster.api, one)
    workload.kwok(pair.cluster)


def _applied(cluster: _Cluster) -> Document:
    """Return the Deployment of the observer once the provider has applied it and its ConfigMap."""

    def is_there() -> bool:
        cluster.live()
        there = [cluster.remote("Deployment", observer.NAME), cluster.remote("ConfigMap", observer.MAP_NAME)]
        return all(one is not None for one in there)

    kubeapi.until(is_there, seconds=3 * SECONDS, what="the observer to be applied")
    found = cluster.remote("Deployment", observer.NAME)
    assert found is not None
    return found


def _written(cluster: _Cluster) -> Document:
    found = cluster.remote("ConfigMap", observer.MAP_NAME)
    assert found is not None
    return found


def _devices_change(cluster: _Cluster) -> None:
    """Taint a device, let one publish less memory, and let the devices of a node go."""
    api = cluster.pair.cluster.api
    taint = {"key": "gpu.nvidia.com/xid", "effect": "NoSchedule"}
    before = _change(cluster.pair, "a-gpu-0-gpu", taints=[taint])
    _until(cluster, {"ready": 2, "allocatable": 1}, "1 of them tainted")
    api.merge(before, {"spec": {"devices": before["spec"]["devices"]}})
    _until(cluster, WHOLE, "Observed")
    before = _change(cluster.pair, "a-gpu-1-gpu", capacity={"memory": {"value": "80Gi"}})
    _until(cluster, WHOLE, 'capacity memory of device "gpu" is 81559Mi in the class and 80Gi on 1 device')
    api.delete(before)
    _until(cluster, {"observed": 2, "allocatable": 1}, "1 node with 0 of 8 gpu")


def _nothing_is_written_while_nothing_changes(cluster: _Cluster, seen: Path) -> None:
    written, looked = _written(cluster), seen.stat().st_mtime
    more = looked + 3 * LOOKS_SECONDS
    kubeapi.until(lambda: seen.stat().st_mtime > more, seconds=SECONDS, what="three more looks")
    assert _written(cluster)["metadata"]["resourceVersion"] == written["metadata"]["resourceVersion"]
    assert len(written["data"]["observation"]) < 1000, "two nodes are one or two shapes"


def _refused(pair: Pair) -> None:
    """Take the right to read ConfigMaps from the credentials of the control plane."""
    role = permissions.of_kind(permissions.documents(*permissions.WORKLOAD), "ClusterRole")["modelplane-workloads"]
    pair.cluster.api.apply({**role, "rules": [one for one in role["rules"] if "configmaps" not in one["resources"]]})


def test_what_is_on_the_cluster_bounds_new_replicas_and_moves_none(pair: Pair, tmp_path: Path) -> None:
    cluster, api = _Cluster(pair), pair.cluster.api
    pair.connect(cluster.compose().children[observer.KEY].resource["spec"]["providerConfigRef"]["name"])
    _stand(pair)
    deployment = _applied(cluster)
    process = pair.cluster.start(_observer(pair, tmp_path, deployment))
    _until(cluster, {"declared": 2}, "has not looked")
    _looks(cluster, deployment, "")
    _until(cluster, WHOLE, "Observed")

    node = api.get("v1", "Node", "a-gpu-0", None)
    api.merge(node, {"spec": {"unschedulable": True}})
    _until(cluster, {"cordoned": 1, "allocatable": 1}, "1 node cordoned")
    api.merge(node, {"spec": {"unschedulable": None}})
    _until(cluster, WHOLE, "Observed")
    _devices_change(cluster)
    _nothing_is_written_while_nothing_changes(cluster, tmp_path / "seen")
    api.delete(api.get("v1", "Node", "a-gpu-1", None))
    _until(cluster, {"observed": 1, "allocatable": 1})

    process.stop()
    _looks(cluster, deployment, "2026-01-02T00:00:00Z")
    _until(cluster, {"observed": 1, "allocatable": 1}, "has not looked since 2026-01-02T00:00:00Z")
    written = _written(cluster)
    _refused(pair)
    api.delete(written)
    _until(cluster, {"observed": 1, "allocatable": 1}, "the last known numbers hold")
