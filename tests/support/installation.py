"""What is installed on a cluster before a story begins: definitions, and Crossplane with our API and our function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from modelplane.api import catalogue
from tests.conformance.tools import workshop
from tests.support import controlplane, crossplane, kubeapi

Document = dict[str, Any]

CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
CROSSPLANE_MODULE = "github.com/crossplane/crossplane/v2"
CROSSPLANE_NAMESPACE = "crossplane-system"
SYSTEM_NAMESPACE = "modelplane-system"
FUNCTION = "function-modelplane"
READY_SECONDS = 180
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def documents(*files: Path) -> Iterator[Document]:
    """Yield the documents of YAML files. Cost: seconds for a definition of two megabytes."""
    for file in files:
        # The C loader: the pure one takes a minute for what KServe defines.
        yield from (one for one in yaml.load_all(file.read_text(), Loader=yaml.CSafeLoader) if one)


def namespace(plane: controlplane.Plane, name: str) -> None:
    """Create a namespace; one that exists is fine."""
    plane.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def definitions(plane: controlplane.Plane, *names: str) -> None:
    """Install the CustomResourceDefinitions of projects, by their name in the workshop, and wait until they work."""
    found = [one for name in names for one in documents(*workshop.definitions(name))]
    apply_definitions(plane, found)


def apply_definitions(plane: controlplane.Plane, found: Iterable[Document]) -> None:
    """Apply CustomResourceDefinitions and wait until the API server serves them."""
    names = []
    for one in found:
        # What the generator wrote into `status` is refused by a strict apply, and is the server's to say.
        plane.api.apply({key: value for key, value in one.items() if key != "status"})
        names.append(one["metadata"]["name"])
    for name in names:
        await_served(plane, name)


def await_served(plane: controlplane.Plane, name: str) -> None:
    """Return once a definition is Established, and whoever asks what is served is told of its versions.

    A busy server tells of them seconds later, and a controller that starts meanwhile ends.
    """
    kubeapi.until(
        lambda: kubeapi.condition(plane.api.get(*CRD, name), "Established").get("status") == "True",
        seconds=READY_SECONDS,
        what=f"the definition {name}",
    )
    spec = plane.api.get(*CRD, name)["spec"]
    served = {one["name"] for one in spec["versions"] if one["served"]}
    kubeapi.until(
        lambda: served <= _discovered(plane, spec["group"], spec["names"]["kind"]),
        seconds=READY_SECONDS,
        what=f"the versions of the definition {name}",
    )


def _discovered(plane: controlplane.Plane, group: str, kind: str) -> set[str]:
    """Return the versions of the kind that the server tells clients of."""
    groups = plane.api.request("GET", "/apis", accept=DISCOVERY)["items"]
    return {
        version["version"]
        for found in groups
        if found["metadata"]["name"] == group
        for version in found["versions"]
        if any(one["responseKind"]["kind"] == kind for one in version["resources"])
    }


def crossplane_definitions(plane: controlplane.Plane) -> None:
    """Install the definitions of Crossplane itself."""
    root = workshop.module_files(crossplane.CORE_MODULE, CROSSPLANE_MODULE)
    apply_definitions(plane, documents(*sorted((root / "cluster" / "crds").glob("*.yaml"))))


def crossplane_core(plane: controlplane.Plane) -> controlplane.Process:
    """Install Crossplane's definitions and webhook, start its core as a process and return it.

    It runs without a package manager's runtime: functions are processes of the test.
    """
    crossplane_definitions(plane)
    namespace(plane, CROSSPLANE_NAMESPACE)
    folder = plane.issue("crossplane-client", "crossplane")
    certificates = plane.issue("crossplane-webhook", "crossplane")
    (port,) = controlplane.free_ports(1)
    process = plane.program(
        "crossplane",
        "core",
        "start",
        "--package-runtime=External",
        f"--webhook-port={port}",
        f"--tls-server-certs-dir={certificates}",
        f"--tls-client-certs-dir={folder}",
        f"--xpkg-cache-dir={plane.folder / 'xpkg'}",
        f"--namespace={CROSSPLANE_NAMESPACE}",
        # Port 0: the system chooses, so that several can run on one machine.
        "--metrics-port=0",
        # As our README asks for. Seen with the defaults (100 tokens, one back a second, two per change of a child):
        # scaling the quickstart to four and back opens the breaker of its ModelDeployment.
        "--circuit-breaker-burst=1000",
        "--circuit-breaker-refill-rate=10",
        "--health-probe-port=0",
    )
    controlplane.await_port(process, port)
    root = workshop.module_files(crossplane.CORE_MODULE, CROSSPLANE_MODULE)
    for document in documents(root / "cluster" / "webhookconfigurations" / "usage.yaml"):
        plane.api.apply(called_by_url(document, port, certificates))
    return process


def called_by_url(document: Document, port: int, certificates: Path) -> Document:
    """Return a webhook configuration that calls a process on loopback in place of a Service.

    Its name is all that is kept of its metadata.
    """
    bundle = controlplane.base64_of(certificates / "ca.crt")
    webhooks = []
    for webhook in document["webhooks"]:
        path = webhook["clientConfig"]["service"]["path"]
        config = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
        webhooks.append({**webhook, "clientConfig": config})
    return {**document, "metadata": {"name": document["metadata"]["name"]}, "webhooks": webhooks}


def function(plane: controlplane.Plane, target: str) -> None:
    """Make Crossplane call our function at `target` (host:port).

    What the package manager would write is written by hand and paused, so that it does not pull an image.
    """
    paused = {"crossplane.io/paused": "true"}
    image = "registry.example.com/modelplane/function-modelplane:v0.0.0"
    plane.api.apply(
        {
            "apiVersion": "pkg.crossplane.io/v1",
            "kind": "Function",
            "metadata": {"name": FUNCTION, "annotations": paused},
            "spec": {"package": image},
        }
    )
    revision: Document = {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "FunctionRevision",
        "metadata": {
            "name": f"{FUNCTION}-1",
            "annotations": paused,
            "labels": {"pkg.crossplane.io/package": FUNCTION},
        },
        "spec": {"desiredState": "Active", "image": image, "revision": 1},
    }
    plane.api.apply(revision)
    plane.api.merge(revision, {"status": {"endpoint": target, "capabilities": ["composition"]}}, subresource="status")


def provider_kubernetes(plane: controlplane.Plane) -> controlplane.Process:
    """Install provider-kubernetes and start it with watches, as our README asks for.

    Its webhook (9443) and metrics (8080) listen on fixed ports in this version, so one runs on a machine at a time.
    """
    definitions(plane, "provider-kubernetes")
    certificates = plane.issue("provider-kubernetes-webhook", "provider-kubernetes")
    (port,) = controlplane.free_ports(1)
    return plane.program(
        "provider-kubernetes",
        "--enable-watches",
        "--poll=1m",
        f"--health-probe-bind-addr=127.0.0.1:{port}",
        environment={"TLS_SERVER_CERTS_DIR": str(certificates)},
    )


def provider_helm(plane: controlplane.Plane, folder: Path) -> controlplane.Process:
    """Install provider-helm and start it with `folder/charts` as what it has pulled before.

    A chart that is not there is pulled from its repository.
    """
    definitions(plane, "provider-helm")
    (folder / "charts").mkdir(parents=True, exist_ok=True)
    # Helm keeps its own files below HOME.
    command = ("env", "-C", str(folder), str(workshop.program("provider-helm")), "--poll=10s", "--timeout=10m")
    environment = {"KUBECONFIG": str(plane.kubeconfig), "HOME": str(folder), "TLS_SERVER_CERTS_DIR": str(folder)}
    return plane.start(controlplane.Process("provider-helm", command, plane.folder / "provider-helm.log", environment))


def _is_established(plane: controlplane.Plane, name: str) -> bool:
    found = plane.api.get("apiextensions.crossplane.io/v2", "CompositeResourceDefinition", name)
    return kubeapi.condition(found, "Established").get("status") == "True"


def our_api(plane: controlplane.Plane) -> None:
    """Apply every CompositeResourceDefinition and Composition, and wait until Crossplane serves the kinds."""
    for kind in catalogue.kinds():
        plane.api.apply(dict(catalogue.definition(kind)))
        plane.api.apply(dict(catalogue.composition(kind)))
    for kind in catalogue.kinds():
        name = catalogue.definition(kind)["metadata"]["name"]
        await_served(plane, name)
        kubeapi.until(
            partial(_is_established, plane, name),
            seconds=READY_SECONDS,
            what=f"Crossplane to serve {name}",
        )
