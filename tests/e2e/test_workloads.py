"""What every example leads to on a cluster, given to the real controllers: its pods run where they were placed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from modelplane import names
from modelplane.api import replica as replicas
from modelplane.render import claims
from modelplane.workload.model import ResolvedRequest
from modelplane_functions import changed_pods
from tests.conformance.scheduler import hardware
from tests.conformance.tools import workshop
from tests.e2e import workload
from tests.support import controlplane, examples, installation, kubeapi, live, rendered

Document = dict[str, Any]

KINDS = ("LLMInferenceService", "Deployment", "LeaderWorkerSet", "RayService", "InferenceSet")
READY_SECONDS = 180
SERVED_SECONDS = 30
# Our variables, and those of LeaderWorkerSet's webhook that they are made of.
GANG = {
    "MODELPLANE_LEADER_ADDRESS": "LWS_LEADER_ADDRESS",
    "MODELPLANE_RANK": "LWS_WORKER_INDEX",
    "MODELPLANE_WORLD_SIZE": "LWS_GROUP_SIZE",
}
# Whose operators can be built from no source that a registry serves: `tests/conformance/manifests` puts what is
# rendered for them to a real API server, and docs/backends.md says what was not run.
WITHOUT_OPERATOR = {"dynamo", "vllmstack", "kai", "volcano"}
# Clusters that have room to spare and nothing to run.
IDLE = {("autoscaling", "gke-us"), ("scaling", "gke-us")}

pytestmark = pytest.mark.slow


def _clusters() -> list[Any]:
    return [
        pytest.param(folder, one, id=f"{folder.name}-{one['metadata']['name']}")
        for folder in map(examples.EXAMPLES.joinpath, examples.fleets())
        if folder.name not in WITHOUT_OPERATOR
        for one in _documents(folder, "InferenceCluster")
    ]


def _documents(folder: Path, kind: str) -> list[Document]:
    return [one for one in installation.documents(*sorted(folder.glob("*.yaml"))) if one["kind"] == kind]


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[controlplane.Plane]:
    live.needs("workloads", "go")
    with controlplane.running(tmp_path / "cluster", "cluster") as plane:
        yield plane


@pytest.mark.parametrize(("folder", "cluster"), _clusters())
def test_the_cluster_runs_what_we_render(plane: controlplane.Plane, folder: Path, cluster: Document) -> None:
    name = cluster["metadata"]["name"]
    settled = rendered.folder(folder)
    manifests = [one for place, one in rendered.workloads(settled) if place == name]
    assert (not manifests) == ((folder.name, name) in IDLE), "what is placed where has changed"
    if not manifests:
        return
    workload.install(plane, cluster, _documents(folder, "InferenceClass"))
    _report_gateways(plane)
    for document in sorted(manifests, key=lambda one: one["kind"] != "Namespace"):
        plane.api.apply(document)
    for document in installation.documents(*sorted((folder / "on-the-cluster").glob("*.yaml"))):
        plane.api.apply(document)
    rendered_ones = [one for one in manifests if one["kind"] in KINDS]
    workloads = kubeapi.until(
        lambda: [_found(plane, one) for one in rendered_ones],
        seconds=READY_SECONDS, what="workloads that are ready", enough=_are_ready,
    )  # fmt: skip
    for found in workloads:
        _check_pods(plane, found)
    for one in settled.objects():
        if one["kind"] == "ModelReplica" and one["spec"]["clusterName"] == name and _is_admitted(one):
            _check_current(plane, one)


def _is_admitted(replica: Document) -> bool:
    return kubeapi.condition(replica, "Admitted").get("status") == "True"


def _check_current(plane: controlplane.Plane, document: Document) -> None:
    """The pods of a replica are told apart from those that it had with other devices, whoever made them."""
    replica, labels = replicas.decode(document), f"{names.LABEL_REPLICA}={document['metadata']['name']}"
    pods = plane.api.all_of("v1", "Pod", replica.namespace, labels)
    most = {bound.spec.role: bound.spec.pods for bound in replica.roles}
    now = [claims.claimed(bound) for bound in replica.roles]
    assert changed_pods.are_current(replica.name, now, most, pods)
    others = [claims.claimed(replace(bound, devices=_others(bound.devices))) for bound in replica.roles]
    assert not changed_pods.are_current(replica.name, others, most, pods)


def _others(devices: tuple[ResolvedRequest, ...]) -> tuple[ResolvedRequest, ...]:
    """Return twice as many devices, of another class where all of a node are claimed."""
    return tuple(replace(one, count=2 * one.count, device_class=f"{one.device_class}.other") for one in devices)


def _found(plane: controlplane.Plane, document: Document) -> Document:
    metadata = document["metadata"]
    found = plane.api.get(document["apiVersion"], document["kind"], metadata["name"], metadata["namespace"])
    assert found is not None, metadata
    return dict(found)


def _report_gateways(plane: controlplane.Plane) -> None:
    controlplane.save(plane)
    command = (sys.executable, "-m", "tests.e2e.gateways", str(plane.folder))
    environment = {"PYTHONPATH": str(workshop.REPOSITORY)}
    plane.start(controlplane.Process("gateways", command, plane.folder / "gateways.log", environment))


def _are_ready(workloads: list[Document]) -> bool:
    return bool(workloads) and all(map(_is_up, workloads))


def _is_up(workload_: Document) -> bool:
    if workload_["kind"] == "LLMInferenceService":
        said = [kubeapi.condition(workload_, kind).get("status") for kind in ("Ready", "PresetsCombined")]
        return said == ["True", "True"]
    if workload_["kind"] == "RayService":
        applications = workload_.get("status", {}).get("activeServiceStatus", {}).get("applicationStatuses", {})
        states = {one["status"] for one in applications.values()}
        return kubeapi.condition(workload_, "Ready").get("status") == "True" and states == {"RUNNING"}
    ready: int = workload_.get("status", {}).get("readyReplicas", 0)
    wanted: int = workload_["spec"]["replicas"]
    return ready == wanted


def _check_pods(plane: controlplane.Plane, workload_: Document) -> None:
    """As many pods as our arithmetic says, each running on a node of its pool with what it claims."""
    namespace = workload_["metadata"]["namespace"]
    pods = plane.api.all_of("v1", "Pod", namespace, _selector(workload_))
    expected = list(hardware.pods(workload_, "unused"))
    assert len(pods) == len(expected), [pod["metadata"]["name"] for pod in pods]
    for pod in pods:
        assert pod["status"]["phase"] == "Running", pod["status"]
        if _is_picker(workload_):
            continue
        pool = pod["metadata"]["labels"].get("modelplane.ai/pool")
        if pool is None:
            assert pod["metadata"]["labels"]["ray.io/node-type"] == "head"
            continue
        assert f"-{pool}-" in pod["spec"]["nodeName"], (pool, pod["spec"]["nodeName"])
        _check_claims(plane, pod)
    if workload_["kind"] in {"Deployment", "LeaderWorkerSet", "InferenceSet"} and not _is_picker(workload_):
        _check_served(plane, workload_, pods)
    if workload_["kind"] == "LeaderWorkerSet":
        _check_gangs(workload_, pods)
    if workload_["kind"] == "RayService":
        _check_ray(plane, workload_, pods)


def _is_picker(workload_: Document) -> bool:
    return "modelplane.ai/picker" in workload_["spec"].get("selector", {}).get("matchLabels", {})


def _selector(workload_: Document) -> str:
    """Return the labels of the pods of a workload: of a role of its replica, or of its picker."""
    if _is_picker(workload_):
        (label,) = workload_["spec"]["selector"]["matchLabels"].items()
        return "=".join(label)
    labels = workload_["metadata"]["labels"]
    kinds = ("modelplane.ai/replica", "modelplane.ai/role")
    return ",".join(f"{kind}={labels[kind]}" for kind in kinds if kind in labels)


def _check_claims(plane: controlplane.Plane, pod: Document) -> None:
    """Each claim of the pod is allocated on its node."""
    statuses = pod["status"].get("resourceClaimStatuses", [])
    assert len(statuses) == len(pod["spec"].get("resourceClaims", []))
    for status in statuses:
        name = status["resourceClaimName"]
        claim = plane.api.get("resource.k8s.io/v1", "ResourceClaim", name, pod["metadata"]["namespace"])
        assert claim is not None, name
        results = claim["status"]["allocation"]["devices"]["results"]
        assert {one["pool"].startswith(f"{pod['spec']['nodeName']}-") for one in results} == {True}, results


def _check_served(plane: controlplane.Plane, workload_: Document, pods: list[Document]) -> None:
    """The Service of a workload leads to one ready pod of each worker, and to no other. Prefill has none."""
    metadata = workload_["metadata"]
    if metadata["labels"]["modelplane.ai/role"] == "prefill":
        return
    leaders = {
        pod["metadata"]["name"]
        for pod in pods
        if pod["metadata"]["labels"].get("leaderworkerset.sigs.k8s.io/worker-index", "0") == "0"
    }
    assert len(leaders) == workload_["spec"]["replicas"]
    _await_served(plane, metadata["namespace"], f"{metadata['labels']['modelplane.ai/replica']}-http", leaders)


def _await_served(plane: controlplane.Plane, namespace: str, service: str, expected: set[str]) -> None:
    """Wait until a Service leads to these pods alone: its controller learns that they are ready after their owner."""
    kubeapi.until(
        lambda: _served(plane, namespace, service),
        seconds=SERVED_SECONDS,
        what=f"endpoints of {service} that are {sorted(expected)}",
        enough=lambda found: found == expected,
    )


def _served(plane: controlplane.Plane, namespace: str, service: str) -> set[str]:
    """Return the names of the pods that are ready endpoints of a Service."""
    selector = f"kubernetes.io/service-name={service}"
    slices = plane.api.all_of("discovery.k8s.io/v1", "EndpointSlice", namespace, selector)
    return {one["targetRef"]["name"] for found in slices for one in found.get("endpoints") or () if _is_ready(one)}


def _is_ready(endpoint: Document) -> bool:
    return bool(endpoint["conditions"]["ready"])


def _check_gangs(workload_: Document, pods: list[Document]) -> None:
    """The pods of a gang know leader, rank and size, from variables that stand before those that use them."""
    size, metadata = workload_["spec"]["leaderWorkerTemplate"]["size"], workload_["metadata"]
    places = []
    for pod in pods:
        env = pod["spec"]["containers"][0]["env"]
        order = [one["name"] for one in env]
        said = {one["name"]: one.get("value", "") for one in env}
        for ours, theirs in GANG.items():
            assert said[ours] == f"$({theirs})"
            assert order.index(theirs) < order.index(ours)
        group = pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"]
        assert said["LWS_LEADER_ADDRESS"] == f"{metadata['name']}-{group}.{metadata['name']}.{metadata['namespace']}"
        assert said["LWS_GROUP_SIZE"] == str(size)
        places.append((group, said["LWS_WORKER_INDEX"]))
    groups = range(workload_["spec"]["replicas"])
    assert sorted(places) == sorted((str(group), str(rank)) for group in groups for rank in range(size))


def _check_ray(plane: controlplane.Plane, workload_: Document, pods: list[Document]) -> None:
    """The Service that KubeRay made leads to every worker pod, and those of one gang stand on nodes of their own."""
    metadata = workload_["metadata"]
    workers = [pod for pod in pods if pod["metadata"]["labels"]["ray.io/node-type"] == "worker"]
    named = {pod["metadata"]["name"] for pod in workers}
    _await_served(plane, metadata["namespace"], f"{metadata['name']}-serve-svc", named)
    gangs: dict[str, set[str]] = {}
    for pod in workers:
        labels, line = pod["metadata"]["labels"], pod["spec"]["containers"][0]["args"][0]
        group = next(
            one for one in workload_["spec"]["rayClusterConfig"]["workerGroupSpecs"]
            if one["groupName"] == labels["ray.io/group"]
        )  # fmt: skip
        assert f" --num-gpus={group['rayStartParams']['num-gpus']} " in line
        if gang := labels.get("ray.io/worker-group-replica-name"):
            nodes = gangs.setdefault(gang, set())
            assert pod["spec"]["nodeName"] not in nodes
            nodes.add(pod["spec"]["nodeName"])
            assert len(nodes) <= group["numOfHosts"]
