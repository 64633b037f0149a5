"""A control plane with a fleet in it, and the real kube-state-metrics as its own service account on it."""

from __future__ import annotations

import copy
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from prometheus_client import parser

from modelplane import names
from modelplane.api import catalogue
from tests.support import controlplane, examples, installation, kubeapi, rendered

Json: TypeAlias = Any
Document = dict[str, Any]
FOLDER = examples.EXAMPLES / "metrics"
CONFIGURATION = FOLDER / "fleet-metrics.yaml"
ACCOUNT = "modelplane-fleet-metrics"
KINDS = tuple(
    one["groupVersionKind"]["kind"] for one in next(installation.documents(CONFIGURATION))["spec"]["resources"]
)
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample: its name, its labels but those that say of which kind of object it is, and its value."""

    name: str
    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Stage:
    """The control plane and the address of the metrics."""

    plane: controlplane.Plane
    address: str

    def samples(self) -> list[Sample]:
        """Return what kube-state-metrics says now."""
        with urllib.request.urlopen(f"http://{self.address}/metrics", timeout=_SECONDS) as answer:
            text = answer.read().decode()
        return [
            Sample(
                one.name,
                {key: said for key, said in one.labels.items() if not key.startswith("customresource_")},
                one.value,
            )
            for family in parser.text_string_to_metric_families(text)
            for one in family.samples
        ]

    def values(self, name: str, **labels: str) -> list[float]:
        """Return the values of the samples of this name that have at least these labels."""
        return [one.value for one in self.samples() if one.name == name and labels.items() <= one.labels.items()]

    def await_value(self, name: str, expected: float, **labels: str) -> None:
        """Return once the one sample with these labels has this value. Raises: TimeoutError with what it has."""
        kubeapi.until(
            lambda: self.values(name, **labels), seconds=_SECONDS, what=f"{name} {labels}",
            enough=lambda found: found == [expected],
        )  # fmt: skip

    def write(self, document: Document) -> None:
        """Create or change an object with its status, as a function would have written both."""
        bare = {key: copy.deepcopy(said) for key, said in document.items() if key != "status"}
        bare["metadata"] = {
            key: said for key, said in bare["metadata"].items() if key not in ("finalizers", "resourceVersion")
        }
        self.plane.api.apply(bare)
        self.plane.api.merge(document, {"status": document["status"]}, subresource="status")


def fleet() -> list[Document]:
    """Return the objects of our kinds to which the examples of a service and of a cache lead, and those of quotas."""
    found: dict[tuple[str, str, str], Document] = {}
    for folder, kinds in (("quickstart", KINDS), ("cache", KINDS), ("quota", ("InferenceQuota",))):
        for place, one in rendered.placed(rendered.folder(examples.EXAMPLES / folder)):
            if place == rendered.CONTROL_PLANE and one["kind"] in kinds and one["apiVersion"] == names.API_VERSION:
                metadata = one["metadata"]
                found[one["kind"], metadata.get("namespace", ""), metadata["name"]] = one
    return list(found.values())


def service(objects: Iterable[Document]) -> Document:
    """Return the service of the quickstart."""
    (found,) = (one for one in objects if one["kind"] == "ModelService" and one["metadata"]["name"] == "qwen3-8b")
    return found


@contextmanager
def running(folder: Path, objects: Iterable[Document]) -> Iterator[Stage]:
    """Yield a control plane with the objects and kube-state-metrics, which may do what examples/metrics grants."""
    with controlplane.running(folder, "metrics") as plane:
        installation.apply_definitions(plane, [dict(catalogue.derived(kind)) for kind in KINDS])
        installation.namespace(plane, names.SYSTEM_NAMESPACE)
        for document in installation.documents(FOLDER / "kube-state-metrics.yaml"):
            if document["kind"] != "Deployment":
                plane.api.apply(document)
        port, telemetry = controlplane.free_ports(2)
        stage = Stage(plane, f"127.0.0.1:{port}")
        for document in objects:
            if "namespace" in document["metadata"]:
                installation.namespace(plane, document["metadata"]["namespace"])
            stage.write(document)
        kubeconfig = folder / "kube-state-metrics.kubeconfig"
        kubeconfig.write_text(controlplane.kubeconfig(plane.server, folder / "ca.crt", _token(plane)))
        process = plane.program(
            "kube-state-metrics",
            *arguments(),
            f"--custom-resource-state-config-file={CONFIGURATION}",
            f"--kubeconfig={kubeconfig}",
            "--host=127.0.0.1",
            f"--port={port}",
            "--telemetry-host=127.0.0.1",
            f"--telemetry-port={telemetry}",
        )
        controlplane.await_port(process, port)
        yield stage


def arguments() -> list[str]:
    """Return the arguments of the shipped Deployment that are no paths."""
    (deployment,) = (
        one for one in installation.documents(FOLDER / "kube-state-metrics.yaml") if one["kind"] == "Deployment"
    )
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return [one for one in container["args"] if "file=" not in one]


def _token(plane: controlplane.Plane) -> str:
    path = plane.api.path("v1", "ServiceAccount", names.SYSTEM_NAMESPACE, ACCOUNT)
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    token: str = plane.api.request("POST", f"{path}/token", request)["status"]["token"]
    return token
