"""Causes that keep a replica down, as Kubernetes' own controllers write them into pods.

Pods have a finalizer, so that they can be looked at after their eviction. The tainted device is in a slice, and the
claim of the pod is allocated by hand: the eviction is what is asked about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from modelplane.render import outages
from modelplane.render.outages import Outage
from tests.support import controlplane, kubeapi, live
from tests.support.observed_nodes import GPU, device, resource_slice

pytestmark = pytest.mark.slow

Document = dict[str, Any]
SECONDS = 60
CLAIM = ("resource.k8s.io/v1", "ResourceClaim")


@pytest.fixture(name="plane")
def _plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    live.needs("operators", "go")
    with controlplane.running(tmp_path_factory.mktemp("outages"), "outages") as plane:
        plane.api.apply(_named("v1", "ServiceAccount", "default"))
        made = plane.api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0"}})
        plane.api.merge(made, {"spec": {"taints": None}})
        plane.controller_manager("taint-eviction-controller", "device-taint-eviction-controller")
        yield plane


def _named(version: str, kind: str, name: str) -> Document:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default"}}


def _pod(plane: controlplane.Plane, **spec: Any) -> Document:
    pod = _named("v1", "Pod", "engine")
    pod["metadata"]["finalizers"] = ["example.com/looked-at"]
    container: Document = {"name": "engine", "image": "x"}
    if "resourceClaims" in spec:
        container["resources"] = {"claims": [{"name": "gpu"}]}
    pod["spec"] = {"nodeName": "n0", "containers": [container], **spec}
    made: Document = plane.api.create(pod)
    return made


def _cause(plane: controlplane.Plane) -> Outage | None:
    return outages.cause([plane.api.get("v1", "Pod", "engine", "default")], "")


def test_a_taint_of_its_node_ends_a_pod_as_a_lost_node(plane: controlplane.Plane) -> None:
    _pod(plane)
    assert _cause(plane) is None
    # A node that is not ready gets such a taint too, which pods tolerate for five minutes by default.
    taint = {"key": "example.com/dead", "effect": "NoExecute"}
    plane.api.merge(plane.api.get("v1", "Node", "n0", None), {"spec": {"taints": [taint]}})
    kubeapi.until(lambda: _cause(plane) is Outage.NODE_LOST, seconds=SECONDS, what="the pod to be ended")


def test_a_taint_of_its_device_ends_a_pod_as_a_tainted_device(plane: controlplane.Plane) -> None:
    made = plane.api.create(resource_slice("n0", [device("gpu-0"), device("gpu-1")]))
    claim = _named(*CLAIM, "gpu")
    request = {"name": "gpu", "exactly": {"deviceClassName": GPU, "allocationMode": "ExactCount", "count": 1}}
    claim["spec"] = {"devices": {"requests": [request]}}
    allocated = plane.api.create(claim)
    pod = _pod(plane, resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
    result = {"request": "gpu", "driver": GPU, "pool": "n0", "device": "gpu-0"}
    reserved = {"resource": "pods", "name": "engine", "uid": pod["metadata"]["uid"]}
    status = {"allocation": {"devices": {"results": [result]}}, "reservedFor": [reserved]}
    plane.api.merge(allocated, {"status": status}, subresource="status")
    assert _cause(plane) is None
    tainted = [device("gpu-0", taints=[{"key": "gpu.nvidia.com/xid", "effect": "NoExecute"}]), device("gpu-1")]
    plane.api.merge(made, {"spec": {"devices": tainted}})
    kubeapi.until(lambda: _cause(plane) is Outage.DEVICE_TAINTED, seconds=SECONDS, what="the pod to be ended")
