"""The files of a ModelCache on the disks of nodes, given to KServe's controllers: what they report and mount.

Nothing is downloaded: the agent of a node is not run, and its report is written here.
Source: KServe v0.20.0, its two controllers built from its module and run as processes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from modelplane import names
from modelplane.render import node_files
from modelplane.render.backends import kserve
from modelplane.render.node_files import NodeFiles
from modelplane.render.progress import Phase
from modelplane.workload import cached
from modelplane.workload.cached import Source
from modelplane.workload.model import Model, Replica
from modelplane.workload.site import ClusterFacts
from tests.conformance.tools import workshop
from tests.e2e import handed
from tests.e2e.handed import NAMESPACE, SECONDS
from tests.e2e.workload import KSERVE, KSERVE_NAMESPACE
from tests.support import controlplane, installation, kubeapi
from tests.support import replicas as build

Document = dict[str, Any]

pytestmark = pytest.mark.slow

FACTS = ClusterFacts("kserve", "modelplane", names.SYSTEM_NAMESPACE)
OPERATOR = handed.To(kserve, FACTS, lambda _: "workload")
GROUP, POOL = "h100-disks", "h100"
SOURCE = Source("hf://microsoft/phi-4", "a" * 40)
NAME = cached.claim_name("phi-4", "0123456789abcdef")
FILES = NodeFiles(NAMESPACE, NAME, "phi-4", "kserve", SOURCE, "32Gi", GROUP)
VERSION = "serving.kserve.io/v1alpha1"


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    for plane in handed.running(tmp_path_factory, "kserve", "node-files"):
        controlplane.save(plane)
        command = (sys.executable, "-m", "tests.e2e.gateways", str(plane.folder))
        environment = {"PYTHONPATH": str(workshop.REPOSITORY)}
        plane.start(controlplane.Process("gateways", command, plane.folder / "gateways.log", environment))
        _enable(plane)
        yield plane


def _enable(plane: controlplane.Plane) -> None:
    """Enable KServe's localModel as its chart does, and make a group of the nodes of one pool."""
    installation.definitions(plane, "kserve-inferenceservices")
    configuration = plane.api.get("v1", "ConfigMap", "inferenceservice-config", KSERVE_NAMESPACE)
    said = configuration["data"]["localModel"].replace('"enabled": false', '"enabled": true')
    plane.api.merge(configuration, {"data": {"localModel": said}})
    installation.namespace(plane, "kserve-localmodel-jobs")
    port, health = controlplane.free_ports(2)
    certificates = plane.issue("localmodel/k8s-webhook-server/serving-certs", "localmodel")
    process = plane.program(
        "localmodel",
        f"--webhook-port={port}",
        f"--health-probe-addr=127.0.0.1:{health}",
        "--metrics-addr=0",
        environment={"TMPDIR": str(plane.folder / "localmodel"), "POD_NAMESPACE": KSERVE_NAMESPACE},
    )
    controlplane.await_port(process, port)
    root = workshop.source("kserve-localmodel", KSERVE)
    for document in installation.documents(root / "config" / "webhook" / "localmodel" / "manifests.yaml"):
        document["metadata"].pop("creationTimestamp", None)
        plane.api.apply(installation.called_by_url(document, port, certificates))
    term = {"matchExpressions": [{"key": "modelplane.ai/pool", "operator": "In", "values": [POOL]}]}
    volume = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Ti"},
        "storageClassName": "local-models",
        "volumeMode": "Filesystem",
        "local": {"path": "/models"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Ti"}},
        "storageClassName": "local-models",
    }
    spec = {"storageLimit": "1Ti", "persistentVolumeSpec": volume, "persistentVolumeClaimSpec": claim}
    plane.api.apply({"apiVersion": VERSION, "kind": "LocalModelNodeGroup", "metadata": {"name": GROUP}, "spec": spec})


def _replica(name: str) -> Replica:
    role = build.role(workers=2, pool=POOL)
    uri = f"{cached.NODE_SCHEME}://{SOURCE.node_uri}"
    return build.replica(role, name=name, namespace=NAMESPACE, model=Model("phi-4", uri))


def _files(plane: controlplane.Plane) -> Any:
    return plane.api.get(VERSION, node_files.KIND[1], NAME, NAMESPACE)


def _judged(plane: controlplane.Plane) -> Any:
    return node_files.judge(_files(plane), GROUP, "")


def _downloaded(plane: controlplane.Plane, count: int) -> None:
    """Write what the agents of so many nodes say once they hold the files."""
    found = plane.api.all_of(VERSION, "LocalModelNode")
    for one in sorted(found, key=lambda node: str(node["metadata"]["name"]))[:count]:
        status = {"modelStatus": {f"{NAMESPACE}/{NAME}": "ModelDownloaded"}}
        plane.api.merge(one, {"status": status}, subresource="status")


def test_the_files_are_complete_when_every_node_of_the_group_holds_them(plane: controlplane.Plane) -> None:
    nodes = plane.api.all_of("v1", "Node", None, f"modelplane.ai/pool={POOL}")
    assert _judged(plane).reason == "NoNodes"
    plane.api.apply(handed.plain(node_files.manifest(FILES).resource))

    def told(available: int) -> None:
        wanted = f"{available} of {len(nodes)} nodes"
        kubeapi.until(
            lambda: _judged(plane), seconds=SECONDS, what=wanted, enough=lambda one: one.message.startswith(wanted)
        )

    told(0)
    assert not _judged(plane).is_ready
    (source,) = {one["spec"]["localModels"][0]["sourceModelUri"] for one in plane.api.all_of(VERSION, "LocalModelNode")}
    assert source == SOURCE.node_uri
    _downloaded(plane, 1)
    told(1)
    assert not _judged(plane).is_ready
    _downloaded(plane, len(nodes))
    told(len(nodes))
    assert _judged(plane).is_ready


def test_a_replica_mounts_the_files_of_its_node_and_runs(plane: controlplane.Plane) -> None:
    replica = _replica("phi-4-0")
    document = OPERATOR.apply(plane, replica)
    OPERATOR.until(plane, replica, document, Phase.RUNNING)
    spec = plane.api.get("apps/v1", "Deployment", "phi-4-0-kserve", NAMESPACE)["spec"]["template"]["spec"]
    assert "initContainers" not in spec, "nothing is downloaded into a pod"
    (claim,) = [one["persistentVolumeClaim"]["claimName"] for one in spec["volumes"] if "persistentVolumeClaim" in one]
    assert claim == f"{NAME}-{GROUP}"
    (engine,) = spec["containers"]
    (mount,) = [one for one in engine["volumeMounts"] if one["mountPath"] == "/mnt/models"]
    assert mount["readOnly"]
    assert mount["subPath"].startswith("models/")
    pods = plane.api.all_of("v1", "Pod", NAMESPACE, f"{names.LABEL_REPLICA}=phi-4-0")
    assert {f"-{POOL}-" in pod["spec"]["nodeName"] for pod in pods} == {True}
    using = _files(plane)["status"]["llmInferenceServices"]
    assert using == [{"name": "phi-4-0", "namespace": NAMESPACE}]

    # Applied again by provider-kubernetes, which knows nothing of KServe's labels: the pods stay.
    before = {pod["metadata"]["uid"] for pod in pods}
    OPERATOR.apply(plane, replica)
    OPERATOR.until(plane, replica, document, Phase.RUNNING)
    after = plane.api.all_of("v1", "Pod", NAMESPACE, f"{names.LABEL_REPLICA}=phi-4-0")
    assert {pod["metadata"]["uid"] for pod in after} == before


def test_a_service_of_another_namespace_does_not_see_them(plane: controlplane.Plane) -> None:
    installation.namespace(plane, "other-team")
    manifests = kserve.render(_replica("theirs"), FACTS)
    (service,) = (handed.plain(one.resource) for one in manifests if one.key == "workload")
    service["metadata"]["namespace"] = "other-team"
    plane.api.apply(service)
    found = plane.api.get(service["apiVersion"], service["kind"], "theirs", "other-team")
    assert "localmodel" not in str(found["metadata"].get("labels"))
    plane.api.delete(found)


def test_what_is_deleted_leaves_no_claim(plane: controlplane.Plane) -> None:
    service = plane.api.get("serving.kserve.io/v1alpha2", "LLMInferenceService", "phi-4-0", NAMESPACE)
    plane.api.delete(service)
    kubeapi.until(
        lambda: plane.api.all_of("v1", "Pod", NAMESPACE, f"{names.LABEL_REPLICA}=phi-4-0"),
        seconds=SECONDS, what="no pod", enough=lambda left: not left,
    )  # fmt: skip
    plane.api.delete(_files(plane))
    for one in plane.api.all_of(VERSION, "LocalModelNode"):
        kubeapi.until(
            lambda one=one: plane.api.get(VERSION, "LocalModelNode", one["metadata"]["name"]),  # type: ignore[misc]
            seconds=SECONDS, what="no file wanted on a node",
            enough=lambda node: not (node["spec"].get("localModels") or ()),
        )  # fmt: skip
        plane.api.merge(one, {"status": {"modelStatus": None}}, subresource="status")
    kubeapi.until(lambda: _files(plane), seconds=SECONDS, what="nothing left", enough=lambda left: left is None)
