"""What every example leads to on a cluster, given to the real KServe: its pods run where the replica was placed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.scheduler import hardware
from tests.conformance.tools import workshop
from tests.e2e import workload
from tests.support import controlplane, examples, installation, kubeapi, live, rendered

Document = dict[str, Any]

SERVICE = ("serving.kserve.io/v1alpha2", "LLMInferenceService")
READY_SECONDS = 180
# Clusters that have room to spare and nothing to run.
IDLE = {("autoscaling", "gke-us")}

pytestmark = pytest.mark.slow


def _clusters() -> list[Any]:
    return [
        pytest.param(folder, one, id=f"{folder.name}-{one['metadata']['name']}")
        for folder in map(examples.EXAMPLES.joinpath, examples.fleets())
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
def test_kserve_runs_what_we_render(plane: controlplane.Plane, folder: Path, cluster: Document) -> None:
    name = cluster["metadata"]["name"]
    manifests = [one for place, one in rendered.placed(rendered.folder(folder)) if place == name]
    assert (not manifests) == ((folder.name, name) in IDLE), "what is placed where has changed"
    if not manifests:
        return
    workload.install(plane, cluster, _documents(folder, "InferenceClass"))
    _report_gateways(plane)
    for document in sorted(manifests, key=lambda one: one["kind"] != "Namespace"):
        plane.api.apply(document)
    services = kubeapi.until(
        lambda: plane.api.all_of(*SERVICE), seconds=READY_SECONDS, what="services that are ready", enough=_are_ready
    )
    for service in services:
        _check_pods(plane, service)


def _report_gateways(plane: controlplane.Plane) -> None:
    controlplane.save(plane)
    command = (sys.executable, "-m", "tests.e2e.gateways", str(plane.folder))
    environment = {"PYTHONPATH": str(workshop.REPOSITORY)}
    plane.start(controlplane.Process("gateways", command, plane.folder / "gateways.log", environment))


def _are_ready(services: list[Document]) -> bool:
    return bool(services) and all(
        kubeapi.condition(one, "Ready").get("status") == "True"
        and kubeapi.condition(one, "PresetsCombined").get("status") == "True"
        for one in services
    )


def _check_pods(plane: controlplane.Plane, service: Document) -> None:
    """As many pods as our arithmetic says, each running on a node of its pool."""
    labels = f"modelplane.ai/replica={service['metadata']['name']}"
    pods = plane.api.all_of("v1", "Pod", service["metadata"]["namespace"], labels)
    expected = list(hardware.pods(service, "unused"))
    assert len(pods) == len(expected), [pod["metadata"]["name"] for pod in pods]
    for pod in pods:
        assert pod["status"]["phase"] == "Running", pod["status"]
        pool = pod["metadata"]["labels"]["modelplane.ai/pool"]
        assert f"-{pool}-" in pod["spec"]["nodeName"], (pool, pod["spec"]["nodeName"])
