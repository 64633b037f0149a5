"""The clusters of the story as processes on this machine, found again by a later command."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from modelplane import names
from tests.conformance.tools import workshop
from tests.e2e import envoy_gateway, inventory, workload
from tests.support import controlplane, functionserver, installation, kubeapi

Document = dict[str, Any]
Say = Callable[[str], None]

FOLDER = workshop.CACHE / "e2e"
EXAMPLE = workshop.REPOSITORY / "examples" / "quickstart"
# This checkout's code, also where the environment has another's installed.
SOURCES = os.pathsep.join(str(workshop.REPOSITORY / part) for part in ("", "lib", "functions"))
# The quickstart as it is applied here, for whoever applies it by hand.
APPLIED = FOLDER / "quickstart.yaml"
_NAMESPACE: Document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml-team"}}
FLEET = "fleet"
FUNCTION = "function"
GATEWAYS = "gateways"
SETTLED_SECONDS = 120


@dataclass
class Machine:
    """The control plane (`fleet`) and the workload clusters by name."""

    planes: dict[str, controlplane.Plane]

    @property
    def fleet(self) -> controlplane.Plane:
        """Return the control plane."""
        return self.planes[FLEET]

    @property
    def workloads(self) -> dict[str, controlplane.Plane]:
        """Return the workload clusters by name."""
        return {name: plane for name, plane in self.planes.items() if name != FLEET}

    def before(self) -> list[str]:
        """Return every object that was there when everything was installed and nothing applied yet."""
        found: list[str] = json.loads(_before(self.fleet).read_text())
        return found


def documents() -> list[Document]:
    """Return the documents of the quickstart, with Envoy Gateway found and not installed.

    Its chart brings a Deployment of a container image, and nothing here could run that: the controller is a process.
    """
    return [_adopted(one) for one in installation.documents(*sorted(EXAMPLE.glob("*.yaml")))]


def _adopted(document: Document) -> Document:
    if document["kind"] != "InferenceGateway":
        return document
    return {**document, "spec": {**document["spec"], "envoyGateway": {"install": False}}}


def of(kind: str) -> list[Document]:
    """Return the documents of the quickstart of one kind."""
    return [one for one in documents() if one["kind"] == kind]


def up(say: Say) -> Machine:
    """Return a machine that has just been brought up; what an earlier run left is taken down first.

    Cost: minutes, and some four gigabytes of memory.
    """
    down(say)
    shutil.rmtree(FOLDER, ignore_errors=True)
    clusters = of("InferenceCluster")
    planes = {name: controlplane.prepare(FOLDER / name, name) for name in (FLEET, *(_name(one) for one in clusters))}
    machine = Machine(planes)
    for plane in planes.values():
        plane.etcd.start()
        plane.apiserver.start()
        controlplane.save(plane)
    for plane in planes.values():
        plane.await_ready()
        say(f"{plane.name}: API server at {plane.server}")
    for cluster in clusters:
        workload.install(planes[_name(cluster)], cluster, of("InferenceClass"))
        controlplane.save(planes[_name(cluster)])
        say(f"{_name(cluster)}: scheduler, kwok nodes, LeaderWorkerSet and KServe run")
    _install_fleet(machine, say)
    for plane in planes.values():
        controlplane.save(plane)
        # One that found its port taken is gone by now, and everything would wait for it in vain.
        for process in plane.others.values():
            process.check()
    _note_before(machine, say)
    APPLIED.write_text(yaml.safe_dump_all([_NAMESPACE, *documents()], sort_keys=False))
    return machine


def _note_before(machine: Machine, say: Say) -> None:
    """Write down all that is there, once what was just installed makes nothing more."""
    found: list[str] = []

    def settled() -> bool:
        nonlocal found
        last, found = found, inventory.of_all(machine.planes)
        return found == last

    kubeapi.until(settled, seconds=SETTLED_SECONDS, what="what is installed to be at rest", every=2)
    _before(machine.fleet).write_text(json.dumps(found))
    say(f"{len(found)} objects are there, and nothing is applied yet")


def _before(fleet: controlplane.Plane) -> Path:
    return fleet.folder / "before.json"


def attach() -> Machine:
    """Return the machine an earlier run brought up. Raises: FileNotFoundError when there is none, or it has ended."""
    folders = sorted(file.parent for file in FOLDER.glob("*/plane.json"))
    if FLEET not in {folder.name for folder in folders}:
        raise FileNotFoundError(f"nothing is up in {FOLDER}; run `python -m tests.e2e up`")
    found = Machine({folder.name: controlplane.load(folder) for folder in folders})
    if not found.fleet.apiserver.is_running:
        # As after a restart of the computer: what is left is no fleet to play on.
        raise FileNotFoundError(f"what was up in {FOLDER} has ended; run `python -m tests.e2e up`")
    return found


def down(say: Say) -> None:
    """Stop everything that an earlier run brought up."""
    for file in sorted(FOLDER.glob("*/plane.json"), key=lambda file: file.parent.name != FLEET):
        controlplane.stop(controlplane.load(file.parent))
        file.unlink()
        say(f"{file.parent.name}: stopped")


def _name(document: Document) -> str:
    return str(document["metadata"]["name"])


def _install_fleet(machine: Machine, say: Say) -> None:
    fleet = machine.fleet
    fleet.controller_manager(*workload.CONTROLLERS)
    installation.definitions(fleet, "gateway-api", "envoy-gateway", "provider-helm")
    envoy_gateway.install(fleet)
    say("fleet: Envoy Gateway's controller runs")
    installation.provider_kubernetes(fleet)
    say("fleet: provider-kubernetes runs, with watches")
    target = start_function(fleet)
    installation.crossplane_core(fleet)
    installation.function(fleet, target)
    installation.our_api(fleet)
    say(f"fleet: Crossplane serves our kinds and calls the function at {target}")
    installation.namespace(fleet, names.SYSTEM_NAMESPACE)
    for name, plane in machine.workloads.items():
        fleet.api.apply(_secret(name, plane))
    fleet.start(
        controlplane.Process(
            GATEWAYS,
            (
                *(sys.executable, "-m", "tests.e2e.gateways", f"--balanced={fleet.folder}"),
                *(str(plane.folder) for plane in machine.workloads.values()),
            ),
            fleet.folder / "gateways.log",
            {"PYTHONPATH": SOURCES},
        )
    )


def start_function(fleet: controlplane.Plane) -> str:
    """Start the function server with mTLS on a port of its own, and return its address."""
    certificates = fleet.issue("function", "function-modelplane")
    (port,) = controlplane.free_ports(1)
    target = f"localhost:{port}"
    process = fleet.start(
        controlplane.Process(
            FUNCTION,
            (*functionserver.PRODUCTION, "--address", target, "--tls-certs-dir", str(certificates)),
            fleet.folder / "function.log",
            {"PYTHONPATH": SOURCES},
        )
    )
    controlplane.await_port(process, port)
    return target


def _secret(name: str, plane: controlplane.Plane) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": names.SYSTEM_NAMESPACE},
        "stringData": {"kubeconfig": plane.kubeconfig.read_text()},
    }


def begun() -> Say:
    """Return a way to say lines with the seconds since now before them."""
    start = time.monotonic()

    def say(line: str) -> None:
        sys.stdout.write(f"[{time.monotonic() - start:6.1f} s] {line}\n")
        sys.stdout.flush()

    return say
