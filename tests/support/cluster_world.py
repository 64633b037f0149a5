"""An InferenceCluster with admitted replicas, as its function sees it: a running state that is easy to break."""

from __future__ import annotations

import copy
from typing import Any

from modelplane import names
from modelplane.render import objects, pod_collection
from modelplane_functions import deployment_sight, quotas
from modelplane_functions.compose import inference_cluster, model_deployment
from modelplane_functions.exchange import Observed, Outcome
from tests.support import exchange, fleet

Json = Any


def replicas_of(deployment: Json, cluster: Json) -> list[Json]:
    """Return the ModelReplicas a deployment proposes when `cluster` is all there is, as Crossplane makes them."""
    required = {
        deployment_sight.CLUSTERS: (cluster,),
        deployment_sight.CLASSES: (fleet.inference_class(),),
        deployment_sight.NAMESAKES: (),
        deployment_sight.RULES: (),
        quotas.QUOTAS: (),
    }
    outcome = model_deployment.compose(Observed(deployment, {}, required))
    found = sorted((child.resource for child in outcome.children.values()), key=lambda r: r["metadata"]["name"])
    return [
        fleet.controlled(replica, deployment, creationTimestamp=f"2026-01-01T00:00:{number:02}Z")
        for number, replica in enumerate(found)
    ]


def gateway_manifest(address: str | None = "gateway.a.example.com") -> Json:
    """Return the cluster's own Gateway as it is read there."""
    manifest: Json = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "modelplane", "namespace": names.SYSTEM_NAMESPACE},
        "spec": {
            "listeners": [
                {"name": "http", "protocol": "HTTP", "port": 8080},
                {"name": "tls", "protocol": "HTTPS", "port": 8443},
            ]
        },
        "status": {},
    }
    if address is not None:
        manifest["status"]["addresses"] = [{"type": "Hostname", "value": address}]
    return manifest


def synced(status: str, message: str = "") -> list[Json]:
    """Return the condition with which provider-kubernetes says how its last look at an object went."""
    reason = "ReconcileSuccess" if status == "True" else "ReconcileError"
    return [{"type": "Synced", "status": status, "reason": reason, **({"message": message} if message else {})}]


def served(child: Json) -> Json:
    """Return the status of an Object whose manifest was read on the cluster."""
    return {"atProvider": {"manifest": child["spec"]["forProvider"]["manifest"]}, "conditions": synced("True")}


LISTED = [{"type": "Synced", "status": "True"}, {"type": "Ready", "status": "True", "reason": "Available"}]
"""What a collection says once the provider has listed what it selects."""


def pod(replica: str, number: int = 0, phase: str = "Running", namespace: str = "ml-team") -> Json:
    """Return a pod of a replica as it is read on its cluster."""
    metadata = {"name": f"{replica}-{number}", "namespace": namespace, "labels": {names.LABEL_REPLICA: replica}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"phase": phase}}


def member(collection: Json, seen: Json, *, uid: str = "") -> Json:
    """Return the Object that a provider makes of a listed pod; `seen` is None for a pod that was not read yet."""
    name, metadata = collection["metadata"]["name"], collection["metadata"]
    owner = {"apiVersion": pod_collection.API_VERSION, "kind": pod_collection.KIND, "name": name}
    status = {"atProvider": {"manifest": seen}, "conditions": synced("True")} if seen else {}
    return {
        "apiVersion": objects.API_VERSION,
        "kind": objects.KIND,
        "metadata": {
            "name": f"{name}-{'0' if seen is None else seen['metadata']['name']}",
            "namespace": metadata["namespace"],
            "labels": pod_collection.membership(name),
            "ownerReferences": [{**owner, "uid": uid or metadata["uid"]}],
        },
        "spec": {"managementPolicies": ["Observe"]},
        "status": status,
    }


class Running:
    """A cluster of two nodes with three replicas admitted."""

    def __init__(self, replicas: int = 3, nodes: int = 2) -> None:
        self.cluster = fleet.inference_cluster("a", nodes=nodes)
        self.classes = [fleet.inference_class()]
        self.deployment = fleet.model_deployment(replicas=replicas)
        self.replicas = replicas_of(self.deployment, self.cluster)
        self.cluster.pop("status")
        self.children: dict[str, Json] = {}
        self.forged: list[Json] = []
        """Replicas that name a controller which does not refer to them."""
        self.others: list[Json] = []
        """Whatever else there is: Objects of workloads, further deployments."""
        self.kinds: set[str] | None = None
        """The kinds that the control plane serves, None for a caller that does not say."""
        self.minute: int | None = None
        for _ in range(3):
            self.step()

    def compose(self) -> Outcome:
        """Return what the function decides."""
        deployment = fleet.referring(self.deployment, [one for one in self.replicas if one not in self.forged])
        # A server decodes what it receives. Tests change their documents, and a cache may still hold parts of these.
        store = copy.deepcopy([*self.replicas, *self.classes, deployment, *self.others])
        return exchange.settle(
            inference_cluster.compose,
            self.cluster,
            children=self.children,
            store=store,
            kinds=self.kinds,
            minute=self.minute,
        )

    def add(self, name: str, **spec: Json) -> Json:
        """Return a further replica of the deployment that asks for a place: as the first, but for `spec`."""
        late: Json = copy.deepcopy(self.replicas[0])
        late["metadata"] |= {"name": name, "uid": f"uid-mr-{name}", "creationTimestamp": "2026-01-02T00:00:00Z"}
        late["spec"] |= spec
        late.pop("status", None)
        self.replicas.append(late)
        return late

    def deploy(self, **workers: Json) -> None:
        """Let the deployment, and with it every replica, say something else of its workers."""
        for document in (self.deployment, *self.replicas):
            document["spec"]["workers"] = {**copy.deepcopy(document["spec"]["workers"]), **workers}

    def step(self) -> Outcome:
        """Return what the function decides, and let it be written."""
        outcome, before = self.compose(), self.children
        self.children = {key: copy.deepcopy(dict(child.resource)) for key, child in outcome.children.items()}
        for key, child in self.children.items():
            if child["kind"] == pod_collection.KIND:
                # A child is applied: its spec is ours, its uid and what its provider says of it stay.
                child["metadata"]["uid"] = f"uid-{key}"
                child["status"] = before.get(key, {}).get("status", {})
        if "gateway" in self.children:  # a cluster that is created is reached later
            self.children["gateway"]["status"] = {
                "atProvider": {"manifest": gateway_manifest()},
                "conditions": [{"type": "Synced", "status": "True", "reason": "ReconcileSuccess"}],
            }
        for key, child in self.children.items():
            if key.startswith("serves-"):
                child["status"] = served(child)
        self.cluster["status"] = dict(outcome.status)
        return outcome

    def lists(self, *pods: Json, conditions: Json = LISTED) -> None:
        """Let provider-kubernetes list these pods for each collection that selects their replicas."""
        self.others = [one for one in self.others if "owned-by-collection" not in str(one["metadata"].get("labels"))]
        for collection in self.collections():
            collection["status"] = {"conditions": copy.deepcopy(conditions)}
            asked = collection["spec"]["observeObjects"]
            (expression,) = asked["selector"]["matchExpressions"]
            for pod in pods:
                metadata = pod["metadata"]
                if (
                    metadata["namespace"] == asked["namespace"]
                    and metadata["labels"][names.LABEL_REPLICA] in expression["values"]
                ):
                    self.others.append(member(collection, pod))

    def collections(self) -> list[Json]:
        """Return the collections that the cluster has composed."""
        return [child for child in self.children.values() if child["kind"] == pod_collection.KIND]

    def says(self, api_version: str, status: Json) -> None:
        """Let the Object that looks for an API version have this status."""
        group, _, version = api_version.partition("/")
        self.children[f"serves-{version}.{group}"]["status"] = status


def told(outcome: Outcome, where: str) -> dict[str, str]:
    """Return the reason of each replica in `refused` or `pending` of the cluster's status."""
    return {one["replica"].removeprefix("ml-team/"): one["reason"] for one in outcome.status[where]}


def message(outcome: Outcome, where: str) -> str:
    """Return the message of the only replica there."""
    (one,) = outcome.status[where]
    return str(one["message"])


def admitted(outcome: Outcome) -> list[str]:
    """Return the names of the admitted replicas."""
    return [key.removeprefix("ml-team/") for key in outcome.status["admitted"]]


def pods(outcome: Outcome) -> int:
    """Return how many pods the ledger of the first pool counts."""
    return sum(entry["pods"] for entry in outcome.status["pools"][0]["allocations"])
