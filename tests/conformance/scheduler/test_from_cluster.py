"""`modelplane class from-cluster` over a real API server, through kubectl: the shapes of slices, as it stores them.

That it stores them shows that the documents in `tests/support/driver_slices.py` are slices that a driver may publish.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.scheduler import hardware
from tests.conformance.tools import workshop
from tests.support import controlplane, installation, live
from tests.support import driver_slices as drivers

Json = Any

EXAMPLES = workshop.REPOSITORY / "examples"
# A new Node is tainted as not ready until its kubelet reports, and no kubelet runs here.
READY = "--disable-admission-plugins=TaintNodesByCondition"
POOL = "cloud.google.com/gke-nodepool"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    """An API server alone."""
    live.needs("scheduler", "go")
    with controlplane.running(tmp_path_factory.mktemp("from-cluster"), arguments=(READY,)) as plane:
        for document in drivers.shipped():
            plane.api.create(document)
        yield plane


@pytest.fixture
def stands(plane: controlplane.Plane) -> Iterator[Any]:
    """Return what creates the nodes and slices of a test; they are deleted afterwards."""
    made: list[Json] = []

    def stand(documents: list[Json]) -> None:
        for document in documents:
            hardware.stand(plane.api, document)
            made.append(document)

    yield stand
    for document in made:
        plane.api.delete(document)


def described(plane: controlplane.Plane, *more: str) -> subprocess.CompletedProcess[str]:
    """Return what the command printed about the cluster."""
    return subprocess.run(
        [sys.executable, "-m", "modelplane_cli", "class", "from-cluster", "--context", "default", "-o", "json", *more],
        env={
            **os.environ,
            "KUBECONFIG": str(plane.kubeconfig),
            "PATH": f"{workshop.program('kubectl').parent}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )


def on(name: str, slices: list[Json], pool: str) -> list[Json]:
    """Return a node of a pool with its slices."""
    return [drivers.node(name, {POOL: pool}), *slices]


def each(driver: str, name: str, of: Any, count: int = 8) -> list[Json]:
    return [drivers.slice_(driver, name, [of(name, number) for number in range(count)])]


def test_the_slices_of_every_driver_are_stored_and_described(plane: controlplane.Plane, stands: Any) -> None:
    counters = {"name": "gpu-0-mutex", "counters": {"partition-mode": {"value": "1"}}}
    stands(
        [
            *on("h100-0", each(drivers.NVIDIA, "h100-0", drivers.nvidia_gpu), "h100"),
            *on("h100-1", each(drivers.NVIDIA, "h100-1", drivers.nvidia_gpu), "h100"),
            *[one for name in ("h100-0", "h100-1") for one in each(drivers.NET, name, drivers.nic)],
            *on("mig-0", drivers.nvidia_mig("mig-0", 4), "mig"),
            *on("fixed-0", each(drivers.NVIDIA, "fixed-0", drivers.nvidia_static_mig), "fixed"),
            *on("amd-0", each(drivers.AMD, "amd-0", drivers.amd_gpu), "amd"),
            *on(
                "parts-0",
                [
                    drivers.slice_(drivers.AMD, "parts-0", drivers.amd_partitions(0), of=2),
                    drivers.slice_(drivers.AMD, "parts-0", [], number=1, of=2, sharedCounters=[counters]),
                ],
                "parts",
            ),
            *on("intel-0", each(drivers.INTEL, "intel-0", lambda _, number: drivers.intel_gpu(number), 4), "intel"),
            *on("gaudi-0", each(drivers.GAUDI, "gaudi-0", drivers.gaudi), "gaudi"),
            *on("tpu-0", each(drivers.TPU, "tpu-0", drivers.tpu, 4), "tpu"),
            drivers.node("l40s-0", {POOL: "l40s", **drivers.GFD_LABELS}, resources={"nvidia.com/gpu": "4"}),
            drivers.node("cpu-0", {POOL: "cpu"}),
        ]
    )
    done = described(plane, "--cluster", "all")
    assert done.returncode == 0, done.stderr
    *classes, cluster = json.loads(done.stdout)["items"]
    pools = {pool["name"]: (pool["className"], pool["nodeCount"]) for pool in cluster["spec"]["nodePools"]}
    assert pools == {
        "h100": ("h100-80gb-hbm3-8x", 2),
        "mig": ("h100-80gb-hbm3-4x-mig", 1),
        "fixed": ("h100-80gb-hbm3-3g-40gb-8x", 1),
        "amd": ("mi300x-oam-8x", 1),
        "intel": ("max-1100-4x", 1),
        "gaudi": ("gaudi3-8x", 1),
        "tpu": ("v6e-4x", 1),
        "l40s": ("l40s-4x", 1),
    }
    assert {one["metadata"]["name"] for one in classes} == {name for name, _ in pools.values()}
    assert done.stderr.count("pods share it too, and a class has one of the two") == 2, done.stderr
    again = described(plane, "--cluster", "all")
    assert (again.stdout, again.stderr) == (done.stdout, done.stderr)


@pytest.mark.parametrize("example", ["quickstart", "mig", "devices"])
def test_the_classes_of_an_example_describe_the_nodes_made_of_them(
    plane: controlplane.Plane, stands: Any, tmp_path: Path, example: str
) -> None:
    documents = list(installation.documents(*sorted((EXAMPLES / example).glob("*.yaml"))))
    classes = {one["metadata"]["name"]: one for one in documents if one["kind"] == "InferenceClass"}
    (cluster, *_) = (one for one in documents if one["kind"] == "InferenceCluster")
    for document in hardware.device_classes(list(classes.values())):
        plane.api.apply(document)
    stands(list(hardware.nodes(cluster, classes, "here")))
    file = tmp_path / "classes.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(classes.values())}))
    done = described(plane, str(file), "--cluster", cluster["metadata"]["name"])
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["items"]
    declared = cluster["spec"]["nodePools"]
    assert sorted((pool["className"], pool["nodeCount"]) for pool in found["spec"]["nodePools"]) == sorted(
        (pool["className"], pool.get("nodeCount", pool.get("maxNodeCount"))) for pool in declared
    )


def test_a_pool_that_its_driver_updates_is_not_used(plane: controlplane.Plane, stands: Any) -> None:
    stands(on("n", each(drivers.NVIDIA, "n", drivers.nvidia_gpu), "n"))
    newer = drivers.slice_(drivers.NVIDIA, "n", [drivers.nvidia_gpu("n", 0)], generation=2, of=2)
    stands([newer])
    done = described(plane)
    assert (done.returncode, done.stdout) == (1, "")
    assert "generation 2 is incomplete: 1 of 2 slices are there; the driver is updating it" in done.stderr
