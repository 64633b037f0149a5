"""What a reader of the clusters sees: replicas, services, pods and claims by name."""

from __future__ import annotations

from typing import Any

from tests.e2e import inventory
from tests.e2e.machine import Machine
from tests.support import kubeapi

Document = dict[str, Any]

OURS = "modelplane.ai/v1alpha1"
OBJECT = ("kubernetes.m.crossplane.io/v1alpha1", "Object")
USAGE = ("protection.crossplane.io/v1beta1", "ClusterUsage")
KSERVE = ("serving.kserve.io/v1alpha2", "LLMInferenceService")
GROUP = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
ROUTE = ("gateway.networking.k8s.io/v1", "HTTPRoute")
CLAIM = ("resource.k8s.io/v1", "ResourceClaim")
NAMESPACE = "ml-team"
# What stays on purpose, as namespaces do: the preset that KServe looks up and does not ship. A namespace's replicas
# share it, so none may take it along (see the KServe backend).
KEPT = f"LLMInferenceServiceConfig.serving.kserve.io {NAMESPACE}/kserve-config-llm-worker-pipeline-parallel"


class View:
    """The clusters of a machine, read anew at every question."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.fleet = machine.fleet.api

    def ours(self, kind: str, name: str | None = None) -> list[Document]:
        """Return our objects of a kind, or the one of a name."""
        return [one for one in self.fleet.all_of(OURS, kind) if name in (None, one["metadata"]["name"])]

    def one(self, kind: str, name: str) -> Document:
        """Return one of our objects, {} when it is not there."""
        return next(iter(self.ours(kind, name)), {})

    def says(self, kind: str, name: str, condition: str) -> str:
        """Return `Status/Reason: message` of a condition of one of our objects."""
        found = kubeapi.condition(self.one(kind, name), condition)
        return f"{found.get('status')}/{found.get('reason')}: {found.get('message', '')}"

    def replicas(self, deployment: str) -> dict[str, Document]:
        """Return the replicas of a deployment that are not on their way out, by name."""
        return {
            one["metadata"]["name"]: one
            for one in self.ours("ModelReplica")
            if one["spec"]["deploymentRef"]["name"] == deployment and "deletionTimestamp" not in one["metadata"]
        }

    def serving(self, deployment: str) -> dict[str, str]:
        """Return the cluster of each replica of a deployment that serves, by name."""
        return {
            name: one["spec"]["clusterName"]
            for name, one in self.replicas(deployment).items()
            if kubeapi.condition(one, "Serving").get("status") == "True"
        }

    def endpoints(self, deployment: str) -> list[str]:
        """Return the names of the endpoints of a deployment."""
        labels = f"modelplane.ai/deployment={deployment}"
        return sorted(one["metadata"]["name"] for one in self.fleet.all_of(OURS, "ModelEndpoint", NAMESPACE, labels))

    def routed(self, service: str) -> list[str]:
        """Return the backends that the HTTPRoute of a service sends requests to."""
        route = self.fleet.get(*ROUTE, service, NAMESPACE)
        rules = (route or {"spec": {}})["spec"].get("rules", [])
        return sorted(one["name"] for rule in rules for one in rule.get("backendRefs", []) if one.get("weight", 1))

    def pods(self, cluster: str, replica: str | None = None) -> list[Document]:
        """Return the model pods of a cluster, or those of one replica."""
        labels = "modelplane.ai/replica" if replica is None else f"modelplane.ai/replica={replica}"
        return self.machine.planes[cluster].api.all_of("v1", "Pod", NAMESPACE, labels)

    def running(self) -> dict[str, str]:
        """Return the identity of everything that runs and is not on its way out: replicas, services and pods."""
        found = {f"ModelReplica {one['metadata']['name']}": _uid(one) for one in _staying(self.ours("ModelReplica"))}
        for name, plane in self.machine.workloads.items():
            if not plane.apiserver.is_running:
                continue
            for one in _staying(plane.api.all_of(*KSERVE)):
                found[f"{name} LLMInferenceService {one['metadata']['name']}"] = _uid(one)
            for one in _staying(self.pods(name)):
                found[f"{name} Pod {one['metadata']['name']}"] = _uid(one)
        return found

    def node(self, cluster: str, pod: Document) -> Document:
        """Return the labels of the node a pod stands on; {} while it stands on none."""
        name = pod["spec"].get("nodeName")
        node = self.machine.planes[cluster].api.get("v1", "Node", name) if name else None
        return dict((node or {"metadata": {}})["metadata"].get("labels", {}))

    def devices(self, cluster: str, pod: Document) -> list[str]:
        """Return the devices that a pod's claims were given, as `driver/pool/device`."""
        api = self.machine.planes[cluster].api
        found = []
        for status in pod.get("status", {}).get("resourceClaimStatuses") or []:
            claim = api.get(*CLAIM, status["resourceClaimName"], pod["metadata"]["namespace"]) or {}
            results = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
            found += [f"{one['driver']}/{one['pool']}/{one['device']}" for one in results]
        return sorted(found)

    def left(self) -> list[str]:
        """Return every object of any kind, on any cluster that answers, that was not there before the story began.

        Namespaces (see the inventory) and what is shared in one stay on purpose and are not told.
        """
        before = {*self.machine.before(), *(f"{name} {KEPT}" for name in self.machine.workloads)}
        return [one for one in inventory.of_all(self.machine.planes) if one not in before]


def _staying(documents: list[Document]) -> list[Document]:
    return [one for one in documents if "deletionTimestamp" not in one["metadata"]]


def _uid(document: Document) -> str:
    return str(document["metadata"]["uid"])
