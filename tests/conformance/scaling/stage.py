"""A control plane with our definition, one deployment on it, and its function, asked as Crossplane would ask it.

Crossplane itself is not here: its own suites show that it writes what the function composes. The replicas are placed on
clusters of documents; every other object is the server's.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modelplane import names
from modelplane.api import catalogue
from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Outcome
from tests.support import controlplane, exchange, fleet, installation, kubeapi

Document = dict[str, Any]
NAMESPACE, NAME = "ml-team", "llama"
SCALERS = {
    "scaled-object": ("keda.sh/v1alpha1", "ScaledObject"),
    "autoscaler": ("autoscaling/v2", "HorizontalPodAutoscaler"),
}
MODELPLANE = "modelplane-test"
STEP_SECONDS = 0.5


def as_written(resource: Document) -> None:
    """Change nothing."""


@dataclass
class Stage:
    """One deployment and what is composed for it."""

    plane: controlplane.Plane
    kinds: frozenset[str]
    store: list[Document]
    amend: Callable[[Document], None] = as_written
    """What a test shortens in a composed scaler: times, never what it reads or decides."""
    replicas: dict[str, Document] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)
    """The wanted numbers of replicas, each once it changed."""

    def deployment(self) -> Document:
        """Return the deployment as the server has it."""
        found: Document = self.plane.api.get(names.API_VERSION, "ModelDeployment", NAME, NAMESPACE)
        return found

    def scaler(self, key: str) -> Document | None:
        """Return a composed scaler as the server has it, None without one."""
        found: Document | None = self.plane.api.get(*SCALERS[key], NAME, NAMESPACE)
        return found

    def step(self) -> Outcome:
        """Ask the function, and write what it answers."""
        document = self.deployment()
        wanted = document["spec"]["replicas"]
        if not self.seen or self.seen[-1] != wanted:
            self.seen.append(wanted)
        children = dict(self.replicas)
        for key, (version, kind) in SCALERS.items():
            if self._serves(kind) and (found := self.scaler(key)) is not None:
                children[key] = {"apiVersion": version, "kind": kind, **found}
        outcome = exchange.settle(
            model_deployment.compose,
            document,
            children=children,
            store=[*self.store, *self._others()],
            kinds=self.kinds,
        )
        self.replicas = {
            key: fleet.controlled(dict(child.resource), document)
            for key, child in outcome.children.items()
            if key.startswith("replica")
        }
        self.plane.api.merge(document, {"status": outcome.status}, subresource="status")
        self._write(document, children, outcome)
        return outcome

    def _serves(self, kind: str) -> bool:
        return kind != "ScaledObject" or kind in self.kinds

    def _others(self) -> Iterator[Document]:
        for version, kind in SCALERS.values():
            if self._serves(kind):
                yield from self.plane.api.all_of(version, kind, NAMESPACE)

    def _write(self, document: Document, children: dict[str, Document], outcome: Outcome) -> None:
        for key in SCALERS:
            child = outcome.children.get(key)
            if child is not None:
                resource = copy.deepcopy(dict(child.resource))
                owner = {"apiVersion": names.API_VERSION, "kind": "ModelDeployment", "name": NAME, "controller": True}
                resource["metadata"]["ownerReferences"] = [{**owner, "uid": document["metadata"]["uid"]}]
                self.amend(resource)
                self.plane.api.apply(resource, owner=MODELPLANE)
            elif key in children:
                self.plane.api.delete(children[key])

    def until(self, holds: Callable[[], bool], *, seconds: float, what: str) -> None:
        """Step until it holds. Raises: AssertionError with what was wanted so far."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step()
            if holds():
                return
            time.sleep(STEP_SECONDS)
        raise AssertionError(f"{what} did not happen within {seconds:.0f} s; replicas were {self.seen}; {self.said()}")

    def stays(self, count: int, *, seconds: float) -> None:
        """Step for a time. Raises: AssertionError when another number of replicas is wanted meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step()
            assert self.seen[-1] == count, f"replicas were {self.seen}; {self.said()}"
            time.sleep(STEP_SECONDS)

    def wants(self, count: int) -> Callable[[], bool]:
        """Return whether so many replicas are wanted, as a question."""
        return lambda: bool(self.deployment()["spec"]["replicas"] == count)

    def said(self) -> str:
        """Return what the scalers say of themselves."""
        found = [self.scaler(key) for key, (_, kind) in SCALERS.items() if self._serves(kind)]
        found += self.plane.api.all_of("autoscaling/v2", "HorizontalPodAutoscaler", NAMESPACE)
        return "; ".join(str(one["status"].get("conditions")) for one in found if one is not None and "status" in one)


@contextmanager
def plane(folder: Path, *definitions: str) -> Iterator[controlplane.Plane]:
    """Yield a server that hands requests for external metrics on, with our definition of a ModelDeployment."""
    proxy = folder / "proxy"
    controlplane_authority = _authority(proxy)
    arguments = [
        f"--requestheader-client-ca-file={proxy / 'ca.crt'}",
        f"--proxy-client-cert-file={controlplane_authority / 'tls.crt'}",
        f"--proxy-client-key-file={controlplane_authority / 'tls.key'}",
        "--requestheader-allowed-names=",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
    ]
    with controlplane.running(folder, "scaling", arguments=arguments) as found:
        installation.apply_definitions(found, [dict(catalogue.derived("ModelDeployment"))])
        installation.definitions(found, *definitions)
        installation.namespace(found, NAMESPACE)
        installation.namespace(found, "keda")
        yield found


def _authority(folder: Path) -> Path:
    from tests.support import certificates  # noqa: PLC0415 - loads cryptography

    return certificates.authority("proxy").issue(folder, "front-proxy")


def autoscaling(found: controlplane.Plane) -> controlplane.Process:
    """Start the HPA controller, which looks every second."""
    return found.program(
        "kube-controller-manager",
        f"--kubeconfig={found.kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        "--controllers=horizontal-pod-autoscaler-controller",
        "--horizontal-pod-autoscaler-sync-period=1s",
    )


def external_metrics(found: controlplane.Plane, port: int) -> None:
    """Let the server ask a process on loopback for external metrics, and wait until it does."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "external-metrics", "namespace": "keda"}}
    found.api.apply({**service, "spec": {"type": "ExternalName", "externalName": "localhost"}})
    spec = {
        "service": {"name": "external-metrics", "namespace": "keda", "port": port},
        # The certificates of the tests are for localhost, and the server asks for the name of the Service.
        "insecureSkipTLSVerify": True,
        "group": "external.metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
    }
    name = "v1beta1.external.metrics.k8s.io"
    service_version = "apiregistration.k8s.io/v1"
    found.api.apply({"apiVersion": service_version, "kind": "APIService", "metadata": {"name": name}, "spec": spec})
    kubeapi.until(
        lambda: (
            kubeapi.condition(found.api.get(service_version, "APIService", name), "Available").get("status") == "True"
        ),
        seconds=60,
        what="external metrics to be served",
    )


def deployment(found: controlplane.Plane, scaling: Document) -> Document:
    """Create the deployment, as an author would: without replicas."""
    document = fleet.model_deployment(NAME)
    del document["spec"]["replicas"], document["metadata"]["uid"]
    document["spec"]["scaling"] = scaling
    return dict(found.api.create(document))


def around(address: str, services: Sequence[Document] = ()) -> list[Document]:
    """Return the documents beside the deployment: a fleet with room, and a gateway with its metrics."""
    gateway = {
        "apiVersion": names.API_VERSION,
        "kind": "InferenceGateway",
        "metadata": {"name": "default"},
        "spec": {"scaling": {"prometheus": {"address": address, "pollingSeconds": 5}}},
    }
    clusters = [fleet.inference_cluster("gke-us"), fleet.inference_cluster("gke-eu")]
    return [fleet.inference_class(), *clusters, gateway, *services]
