"""The picker of inference extension v1.5.0 loads the configurations we render, with the rights we render and no others.

It knows the plugins of unified replicas whose metrics it reads. Those that llm-d's own picker alone knows (roles,
`active-request-scorer`) are left out here; a configuration that holds one is refused: what is loaded is really read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modelplane.render.backends import llmd
from modelplane.workload.model import Replica
from tests.support import controlplane, installation, live
from tests.support import llmd as shapes

Document = dict[str, Any]

# llm-d renamed the group and left the fields; its picker reads both.
THEIRS, OURS = "inference.networking.x-k8s.io/v1alpha1", "llm-d.ai/v1alpha1"
SEVERAL = shapes.SHAPES["several workers"]
START_SECONDS = 60


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    live.needs("picker", "go")
    with controlplane.running(tmp_path_factory.mktemp("picker"), "picker") as plane:
        installation.definitions(plane, "inference-extension", "gateway-api")
        yield plane


def _applied(plane: controlplane.Plane, replica: Replica) -> dict[str, Document]:
    """Create what the picker needs of a replica's objects, and return all of them by key."""
    found = {one.key: dict(one.resource) for one in llmd.render(replica, shapes.WATCHED)}
    for key in ("namespace", "picker-account", "picker-role", "picker-rights", "picker-config", "pool"):
        plane.api.apply(found[key])
    return found


def _started(plane: controlplane.Plane, found: dict[str, Document], folder: Path, text: str) -> controlplane.Process:
    """Start the picker as its pod would: as its service account, with the arguments of its container that it knows."""
    account = found["picker-account"]["metadata"]
    path = f"/api/v1/namespaces/{account['namespace']}/serviceaccounts/{account['name']}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = plane.api.request("POST", path, request)["status"]["token"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kubeconfig").write_text(controlplane.kubeconfig(plane.server, plane.folder / "ca.crt", token))
    (folder / "config.yaml").write_text(text)
    container = found["picker"]["spec"]["template"]["spec"]["containers"][0]
    arguments = [one for one in container["args"] if not one.startswith(("--config-file", "--tracing"))]
    ports = controlplane.free_ports(3)
    process = controlplane.Process(
        f"epp-{folder.name}",
        (
            str(_program()),
            *arguments,
            f"--config-file={folder / 'config.yaml'}",
            "--tracing=false",
            f"--grpc-port={ports[0]}",
            f"--grpc-health-port={ports[1]}",
            f"--metrics-port={ports[2]}",
        ),
        folder / "epp.log",
        {"KUBECONFIG": str(folder / "kubeconfig")},
    )
    plane.start(process)
    return process


def _program() -> Path:
    from tests.conformance.tools import workshop  # noqa: PLC0415 - built only where the suite runs

    return workshop.program("epp")


def _log(process: controlplane.Process, word: str) -> str:
    """Return the picker's log once it holds the word, or once the picker has ended."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        text = process.log.read_text()
        if word in text or not process.is_running:
            return text
        time.sleep(0.2)
    return process.log.read_text()


def _text(found: dict[str, Document]) -> str:
    return str(found["picker-config"]["data"]["config.yaml"])


def test_the_configuration_is_loaded_with_the_rights_of_its_account(
    cluster: controlplane.Plane, tmp_path: Path
) -> None:
    found = _applied(cluster, SEVERAL)
    process = _started(cluster, found, tmp_path / "loaded", _text(found).replace(OURS, THEIRS))
    # It listens for gateways once it has read its pool, the pods and the priorities.
    said = _log(process, '"name":"ext-proc","port"')
    assert process.is_running, process.tail()
    assert "InferencePool" in said
    assert "forbidden" not in said


def test_a_plugin_that_it_does_not_know_stops_it(cluster: controlplane.Plane, tmp_path: Path) -> None:
    found = _applied(cluster, shapes.SHAPES["apart"])
    process = _started(cluster, found, tmp_path / "refused", _text(found).replace(OURS, THEIRS))
    assert "plugin type 'prefill-filter' is not registered" in _log(process, "is not registered")
