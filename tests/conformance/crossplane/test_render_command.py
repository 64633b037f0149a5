"""examples/render through Crossplane's own `composition render`, as its comment says, with the core that we built."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import crossplane, functionserver, gobinaries, live

FOLDER = gobinaries.REPOSITORY / "examples" / "render"
APIS = gobinaries.REPOSITORY / "apis"
SUITE = "crossplane-core"

Document = dict[str, Any]


@pytest.fixture(scope="module")
def cli() -> Path:
    live.needs(SUITE, "go")
    return crossplane.cli()


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    with functionserver.running(["--insecure"]) as server:
        yield server.target


Render = Callable[[str], list[Document]]
PLURALS = {"deployment": "modeldeployments", "cluster": "inferenceclusters", "service": "modelservices"}


@pytest.fixture(scope="module")
def render(cli: Path, target: str) -> Render:
    """Return the command as the example's comment has it, on our port."""
    return lambda name: run(cli, target, name, APIS / PLURALS[name])


def run(cli: Path, target: str, name: str, api: Path) -> list[Document]:
    done = subprocess.run(
        [
            str(cli),
            "composition",
            "render",
            str(FOLDER / f"{name}.yaml"),
            str(api / "composition.yaml"),
            str(FOLDER / "functions.yaml"),
            f"--xrd={api / 'definition.yaml'}",
            f"--required-resources={FOLDER / 'required.yaml'}",
            "--include-full-xr",
            f"--crossplane-binary={crossplane.binary()}",
            f"--function-annotations=render.crossplane.io/runtime-development-target={target}",
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


@pytest.mark.parametrize(
    ("name", "composed", "conditions"),
    [
        pytest.param(
            "deployment",
            {("ModelReplica", "qwen3-8b-0"), ("ModelReplica", "qwen3-8b-1")},
            {"ReplicasScheduled": "True", "ReplicasReady": "False", "BackendSelected": "True"},
            id="deployment: two replicas are proposed",
        ),
        pytest.param(
            "cluster",
            {
                ("ClusterProviderConfig", "modelplane-gke-us"),
                ("ClusterUsage", "modelplane-gke-us"),
                ("Object", "gke-us-gateway"),
                # the API versions that its backends need, which are only looked at
                ("Object", "gke-us-serves-v1alpha1.serving.kserve.io"),
                ("Object", "gke-us-serves-v1alpha2.serving.kserve.io"),
                ("Object", "gke-us-serves-v1.leaderworkerset.x-k8s.io"),
            },
            {"CapacityKnown": "True"},
            id="cluster: the replica is admitted",
        ),
        pytest.param(
            "service",
            {("HTTPRoute", "qwen3-8b"), ("BackendTrafficPolicy", "qwen3-8b")},
            {"Accepted": "True", "EndpointsReady": "True"},
            id="service: one endpoint is routed to",
        ),
    ],
)
def test_the_example(render: Render, name: str, composed: set[tuple[str, str]], conditions: dict[str, str]) -> None:
    whole, *children = render(name)
    assert {(one["kind"], one["metadata"]["name"]) for one in children} == composed
    truths = {one["type"]: one["status"] for one in whole["status"]["conditions"]}
    assert conditions.items() <= truths.items(), whole["status"]["conditions"]


def test_replicas_go_to_different_clusters(render: Render) -> None:
    _, *children = render("deployment")
    assert sorted(one["spec"]["clusterName"] for one in children) == ["eks-eu", "gke-us"]


def test_the_cluster_admits(render: Render) -> None:
    whole, *_ = render("cluster")
    assert whole["status"]["admitted"] == ["ml-team/chat-0"]
    assert whole["status"]["pools"][0]["free"] == {"gpu": 3}
