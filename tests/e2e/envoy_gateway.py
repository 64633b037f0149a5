"""Envoy Gateway's controller on the control plane: it reports on gateways, routes and policies, and makes the proxies.

It reads its certificate from a folder in the root of the file system and nowhere else, so it gets a root of its own:
a folder with the program, what it is linked with, its configuration and that certificate. Its ports are fixed as well
(18000, 18002, 19001), so one runs on a machine.

Source: Envoy Gateway v1.9.0; what its chart sets up is written by hand here.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.conformance.scheduler import hardware
from tests.conformance.tools import workshop
from tests.e2e import workload
from tests.support import controlplane, installation

Document = dict[str, Any]

NAME = "envoy-gateway"
NAMESPACE = "envoy-gateway-system"
CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
XDS_PORT = 18000
STARTS_SECONDS = 60


def install(plane: controlplane.Plane) -> None:
    """Start the controller, and what its proxies need: a scheduler, and a node that kwok keeps."""
    plane.scheduler()
    hardware.stand(plane.api, _node())
    workload.kwok(plane)
    start(plane)


def start(plane: controlplane.Plane, **settings: Any) -> controlplane.Process:
    """Start the controller alone, with `settings` beside those of its configuration.

    It reports on every object, and its proxies stay pods that nobody schedules.
    """
    installation.namespace(plane, NAMESPACE)
    program = workshop.program(NAME)
    _certificates(plane, program)
    root = _root(plane, program, settings)
    process = plane.start(
        controlplane.Process(
            NAME,
            (*within(root), f"/{NAME}", "server", "--config-path=/config.yaml"),
            plane.folder / f"{NAME}.log",
            {"KUBECONFIG": "/kubeconfig"},
        )
    )
    controlplane.await_port(process, XDS_PORT, seconds=STARTS_SECONDS)
    return process


def _certificates(plane: controlplane.Plane, program: Path) -> None:
    """Make the Secrets with the certificates of the controller and its proxies, as the chart's first job does."""
    done = subprocess.run(
        [str(program), "certgen", "--disable-topology-injector"],
        env={**os.environ, "KUBECONFIG": str(plane.kubeconfig), "ENVOY_GATEWAY_NAMESPACE": NAMESPACE},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=STARTS_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{NAME} certgen: {done.stderr}{done.stdout}"


def _root(plane: controlplane.Plane, program: Path, settings: Document) -> Path:
    root = plane.folder / f"{NAME}-root"
    for folder in ("certs", "tmp", "var/lib"):
        (root / folder).mkdir(parents=True)
    secret = plane.api.get("v1", "Secret", NAME, NAMESPACE)
    for name, content in secret["data"].items():
        (root / "certs" / name).write_bytes(base64.b64decode(content))
    shutil.copy(plane.kubeconfig, root / "kubeconfig")
    (root / "config.yaml").write_text(yaml.safe_dump({**_configuration(), **settings}))
    # A link, for the program has 190 MB; the cache and this folder are on one file system.
    os.link(program, root / NAME)
    bring_libraries(program, root)
    return root


def bring_libraries(program: Path, root: Path) -> None:
    """Copy the shared libraries of a program to where it looks for them within `root`."""
    for library in _linked_with(program):
        (root / library.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library.relative_to("/"))


def _linked_with(program: Path) -> Iterator[Path]:
    """Yield the shared libraries of a program; none when it is linked statically."""
    done = subprocess.run(["ldd", str(program)], capture_output=True, text=True, timeout=STARTS_SECONDS, check=False)
    return (Path(word) for line in done.stdout.splitlines() for word in line.split() if word.startswith("/"))


def within(root: Path) -> tuple[str, ...]:
    """Return the words before a command that make `root` its root folder."""
    if os.geteuid() == 0:
        return ("chroot", str(root))
    return ("unshare", "--map-root-user", f"--root={root}")


def _configuration() -> Document:
    kubernetes = {"leaderElection": {"disable": True}, "proxyTopologyInjector": {"disabled": True}}
    return {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "EnvoyGateway",
        "gateway": {"controllerName": CONTROLLER},
        "provider": {"type": "Kubernetes", "kubernetes": kubernetes},
        # As our InferenceGateway sets it where it installs the chart.
        "extensionApis": {"enableBackend": True},
        "admin": {"address": {"host": "127.0.0.1", "port": controlplane.free_ports(1)[0]}},
    }


def _node() -> Document:
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "20"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "proxies", "annotations": {workload.KWOK_ANNOTATION: "fake"}},
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }
