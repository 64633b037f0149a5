"""A workload cluster: scheduler, kwok nodes with devices, a Gateway that is adopted, and what its backends need.

That is LeaderWorkerSet and KServe, KAITO, or KubeRay's operator with a stand-in that answers it for the dashboards of
heads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from modelplane import names
from tests.conformance.scheduler import hardware
from tests.conformance.tools import workshop
from tests.e2e import kueue
from tests.support import controlplane, installation, kubeapi

Document = dict[str, Any]

KSERVE = "github.com/kserve/kserve"
LWS = "sigs.k8s.io/lws"
KWOK = "sigs.k8s.io/kwok"
KSERVE_NAMESPACE = "kserve"
LWS_NAMESPACE = "lws-system"
KWOK_ANNOTATION = "kwok.x-k8s.io/node"

# Nodes here are kwok's and never leave; without kubelets the three would only evict.
CONTROLLERS = ("*", "-node-lifecycle-controller", "-node-ipam-controller", "-taint-eviction-controller")


def install(plane: controlplane.Plane, cluster: Document, classes: list[Document]) -> None:
    """Make a control plane into the workload cluster that an InferenceCluster describes, and wait until it works."""
    plane.controller_manager(*CONTROLLERS)
    plane.scheduler()
    # The last two belong to the gateway of a cluster that asks its clients for a certificate.
    installation.definitions(
        plane, "gateway-api", "inference-extension", "prometheus-operator", "istio", "cert-manager", "envoy-gateway"
    )
    installation.namespace(plane, names.SYSTEM_NAMESPACE)
    _hardware(plane, cluster, classes)
    _storage(plane, cluster)
    _gateway(plane)
    backends = frozenset(cluster["spec"].get("backends", ("KServe",)))
    if backends & {"KServe", "Native", "LLMD"}:
        _leader_worker_set(plane)
    if "KServe" in backends:
        _kserve(plane)
    if "KubeRay" in backends:
        _kuberay(plane)
    if "KAITO" in backends:
        _kaito(plane)
    if cluster["spec"].get("scheduler", {}).get("type") == "Kueue":
        kueue.install(plane)


def _storage(plane: controlplane.Plane, cluster: Document) -> None:
    """Give the cluster the class that its weights are stored in; Kubernetes' own binder and provisioner serve it."""
    name = cluster["spec"].get("storage", {}).get("weightsClassName")
    if name is None:
        return
    plane.api.apply(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": "kubernetes.io/host-path",
        }
    )


def _kaito(plane: controlplane.Plane) -> None:
    """Start KAITO's controllers for nodes that are there already; the cloud says which table of machines they load."""
    installation.definitions(plane, "kaito")
    plane.program(
        "kaito",
        "--webhook=false",
        "--node-provisioner=byo",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
        environment={"CLOUD_PROVIDER": "azure", "RELEASE_NAMESPACE": "kaito-workspace"},
    )


def _kuberay(plane: controlplane.Plane) -> None:
    """Start KubeRay's operator, and what stands in for the dashboards that it asks over the network."""
    installation.definitions(plane, "kuberay")
    controlplane.save(plane)
    (port,) = controlplane.free_ports(1)
    command = (sys.executable, "-m", "tests.e2e.ray_dashboard", str(plane.folder), str(port))
    environment = {"PYTHONPATH": str(workshop.REPOSITORY)}
    dashboards = plane.start(controlplane.Process("dashboards", command, plane.folder / "dashboards.log", environment))
    controlplane.await_port(dashboards, port)
    plane.program(
        "kuberay",
        "--metrics-addr=0",
        "--health-probe-bind-address=0",
        "--enable-leader-election=false",
        # Only what it asks without TLS goes there: the dashboards, and not the API server.
        environment={"HTTP_PROXY": f"http://127.0.0.1:{port}"},
    )


def _hardware(plane: controlplane.Plane, cluster: Document, classes: list[Document]) -> None:
    by_name = {one["metadata"]["name"]: one for one in classes}
    for document in hardware.device_classes(classes):
        plane.api.apply(document)
    for document in hardware.nodes(cluster, by_name, plane.name):
        if document["kind"] == "Node":
            document["metadata"]["annotations"] = {KWOK_ANNOTATION: "fake"}
        hardware.stand(plane.api, document)
    kwok(plane)


def kwok(plane: controlplane.Plane) -> None:
    """Start what stands in for the kubelets of the nodes with its annotation: their pods run, as far as status goes."""
    (port,) = controlplane.free_ports(1)
    stages = workshop.source("kwok", KWOK) / "kustomize" / "stage"
    files = sorted([*stages.glob("node/fast/node-*.yaml"), *stages.glob("pod/fast/pod-*.yaml")])
    plane.program(
        "kwok",
        f"--kubeconfig={plane.kubeconfig}",
        *(f"--config={file}" for file in files),
        "--manage-all-nodes=false",
        f"--manage-nodes-with-annotation-selector={KWOK_ANNOTATION}=fake",
        f"--server-address=127.0.0.1:{port}",
        "--node-ip=127.0.0.1",
    )


def _gateway(plane: controlplane.Plane) -> None:
    plane.api.apply(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "GatewayClass",
            "metadata": {"name": "envoy"},
            "spec": {"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
        }
    )
    plane.api.apply(
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": "modelplane", "namespace": names.SYSTEM_NAMESPACE},
            "spec": {
                "gatewayClassName": "envoy",
                "listeners": [
                    {
                        "name": "http",
                        "port": 80,
                        "protocol": "HTTP",
                        "allowedRoutes": {"namespaces": {"from": "All"}},
                    }
                ],
            },
        }
    )


def _leader_worker_set(plane: controlplane.Plane) -> None:
    installation.definitions(plane, "lws")
    installation.namespace(plane, LWS_NAMESPACE)
    root = workshop.source("lws", LWS)
    port, health = controlplane.free_ports(2)
    certificates = plane.issue("lws-webhook", "lws")
    configuration = {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"port": port, "certDir": str(certificates)},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "127.0.0.1:0"},
    }
    file = plane.folder / "lws.yaml"
    file.write_text(yaml.safe_dump(configuration))
    process = plane.program("lws", f"--config={file}")
    controlplane.await_port(process, port)
    for document in installation.documents(root / "config" / "webhook" / "manifests.yaml"):
        for webhook in document["webhooks"]:
            if webhook["rules"][0]["resources"] == ["pods"]:
                # As in the release: only pods of its own.
                its_own = {"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"}
                webhook["objectSelector"] = {"matchExpressions": [its_own]}
        document["metadata"]["name"] = f"lws-{document['metadata']['name']}"
        plane.api.apply(installation.called_by_url(document, port, certificates))


def _kserve(plane: controlplane.Plane) -> None:
    installation.definitions(plane, "kserve", "kserve-localmodel")
    installation.namespace(plane, KSERVE_NAMESPACE)
    root = workshop.source("kserve", KSERVE)
    config = next(iter(installation.documents(root / "config" / "configmap" / "inferenceservice.yaml")))
    plane.api.apply({**config, "metadata": {**config["metadata"], "namespace": KSERVE_NAMESPACE}})
    port, health = controlplane.free_ports(2)
    # The controller takes its certificate from the temporary folder and nowhere else.
    certificates = plane.issue("kserve/k8s-webhook-server/serving-certs", "kserve")
    process = plane.program(
        "llmisvc",
        f"--webhook-port={port}",
        f"--health-probe-addr=127.0.0.1:{health}",
        "--metrics-addr=0",
        environment={"TMPDIR": str(plane.folder / "kserve"), "POD_NAMESPACE": KSERVE_NAMESPACE},
    )
    controlplane.await_port(process, port)
    for document in installation.documents(root / "config" / "webhook" / "llmisvc" / "manifests.yaml"):
        plane.api.apply(installation.called_by_url(document, port, certificates))
    for document in installation.documents(*_presets(root)):
        document["metadata"]["namespace"] = KSERVE_NAMESPACE
        kubeapi.until(
            partial(plane.api.apply, document),
            seconds=60,
            what=f"KServe's preset {document['metadata']['name']}",
        )


def _presets(root: Path) -> Iterator[Path]:
    return (file for file in sorted((root / "config" / "llmisvcconfig").glob("config-*.yaml")))
