"""An InferenceCluster with admitted replicas, as its function sees it: a running state that is easy to break."""

from __future__ import annotations

import copy
from typing import Any

from modelplane import names
from modelplane_functions import deployment_facts
from modelplane_functions.compose import inference_cluster, model_deployment
from modelplane_functions.exchange import Observed, Outcome
from tests.support import exchange, fleet

Json = Any


def replicas_of(deployment: Json, cluster: Json) -> list[Json]:
    """Return the ModelReplicas a deployment proposes when `cluster` is all there is, as Crossplane makes them."""
    required = {
        deployment_facts.CLUSTERS: (cluster,),
        deployment_facts.CLASSES: (fleet.inference_class(),),
        deployment_facts.NAMESAKES: (),
        deployment_facts.RULES: (),
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
        for _ in range(3):
            self.step()

    def compose(self) -> Outcome:
        """Return what the function decides."""
        deployment = fleet.referring(self.deployment, [one for one in self.replicas if one not in self.forged])
        # A server decodes what it receives. Tests change their documents, and a cache may still hold parts of these.
        store = copy.deepcopy([*self.replicas, *self.classes, deployment, *self.others])
        return exchange.settle(inference_cluster.compose, self.cluster, children=self.children, store=store)

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
        outcome = self.compose()
        self.children = {key: copy.deepcopy(dict(child.resource)) for key, child in outcome.children.items()}
        self.children["gateway"]["status"] = {
            "atProvider": {"manifest": gateway_manifest()},
            "conditions": [{"type": "Synced", "status": "True", "reason": "ReconcileSuccess"}],
        }
        self.cluster["status"] = dict(outcome.status)
        return outcome
