"""Documents of a fleet whose clusters are created: one cluster of two pools, and a model on it."""

from __future__ import annotations

from typing import Any

from modelplane.api import cloud_parts
from tests.support import fleet, routing

Document = dict[str, Any]


def documents(source: str, block: Document, recipe: Document) -> list[Document]:
    """Return the documents for a cloud with the block of its settings and the recipe of its class."""
    name = cloud_parts.block_of(source)
    node_class = fleet.inference_class()
    node_class["spec"]["provisioning"] = {"provider": source, name: dict(recipe)}
    cluster = fleet.inference_cluster("a", nodes=2)
    cluster.pop("status")
    cluster["spec"].pop("stack")  # by default one is installed on what is created
    cluster["spec"]["cluster"] = {"source": source, name: dict(block)}
    (pool,) = cluster["spec"]["nodePools"]
    zone = {"GKE": "us-central1-a", "EKS": "us-east-2a", "AKS": "1"}[source]
    pool["zones"] = [zone]
    cluster["spec"]["nodePools"] = [{**pool, "name": "first"}, {**pool, "name": "second", "nodeCount": 1}]
    deployment = fleet.model_deployment(replicas=2)
    deployment.pop("status", None)
    # By default the gateway of the cluster lets in whoever shows the certificate of one of these.
    door = routing.inference_gateway(address="")
    door.pop("status", None)
    return [node_class, cluster, deployment, door]
