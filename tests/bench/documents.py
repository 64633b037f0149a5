"""Generated fleets as the API server would hold them."""

from __future__ import annotations

import copy
from typing import Any

from modelplane import names
from modelplane.devices.model import AttributeKind, Claim, Device, NodeClass
from modelplane.placement.snapshot import Allocation, Cluster, Fleet, Pool
from tests.bench import fleets
from tests.support import fleet as small

Json = Any
_KINDS = {
    AttributeKind.STRING: "string",
    AttributeKind.INT: "int",
    AttributeKind.BOOL: "bool",
    AttributeKind.VERSION: "version",
}


def of(fleet: Fleet) -> list[Json]:
    """Return the InferenceClusters of the fleet, with what they published, and the InferenceClasses."""
    found = [*(_cluster(cluster) for cluster in fleet.clusters), *(_class(one) for one in fleets.classes())]
    for document in found:
        document["metadata"].update(_servers(document))
    return found


def deployment(replicas: int) -> Json:
    """Return a deployment that asks for what `fleets.demand` asks for."""
    made = small.model_deployment(replicas=replicas)
    made["spec"]["nodeSelector"] = {
        "devices": [
            {"name": request.name, "count": request.count, "selectors": [{"cel": text} for text in request.selectors]}
            for request in fleets.demand().roles[0].requests
        ]
    }
    made["spec"]["workers"]["topology"].update(tensor=8, pipeline=2)
    return made


def _servers(document: Json) -> Json:
    """Return what the API server adds to an object: Crossplane passes it on, who wrote which field included."""
    parts = (("kubectl", "spec", ""), ("apiextensions.crossplane.io/composite", "status", "status"))
    managed = [
        {
            "manager": manager,
            "operation": "Apply",
            "apiVersion": document["apiVersion"],
            "time": "2026-11-01T12:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {f"f:{part}": _owned(document[part])},
            **({"subresource": subresource} if subresource else {}),
        }
        for manager, part, subresource in parts
        if part in document
    ]
    return {
        "resourceVersion": "123456789",
        "generation": 3,
        "creationTimestamp": "2026-11-01T12:00:00Z",
        "managedFields": managed,
    }


def _owned(value: Json) -> Json:
    """Return the fields of a value as managedFields lists them; entries of a list are told apart by name or type."""
    if isinstance(value, dict):
        return {f"f:{key}": _owned(each) for key, each in value.items()}
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return {}
    keys = [next((key for key in ("name", "type") if key in each), None) for each in value]
    if None in keys:
        return {}
    rows = zip(keys, value, strict=True)
    return {f'k:{{"{key}":"{each[key]}"}}': {".": {}, **_owned(each)} for key, each in rows}


def _cluster(cluster: Cluster) -> Json:
    made = copy.deepcopy(small.inference_cluster(cluster.name))
    made["metadata"]["labels"] = dict(cluster.labels)
    made["spec"]["nodePools"] = [
        {"name": pool.name, "className": pool.class_name, "nodeCount": pool.nodes.declared} for pool in cluster.pools
    ]
    made["status"]["pools"] = [_pool(pool) for pool in cluster.pools]
    made["status"]["admitted"] = [f"team-{number}/model-{number}" for number in range(fleets.OTHERS_PER_CLUSTER)]
    return made


def _pool(pool: Pool) -> Json:
    return {
        "name": pool.name,
        "className": pool.class_name,
        "nodes": {"declared": pool.nodes.declared, "observed": pool.nodes.present},
        "allocations": [_allocation(entry) for entry in pool.allocations],
    }


def _allocation(entry: Allocation) -> Json:
    shape = entry.shape
    amounts = {"cpu": f"{shape.cpu_millis}m", "memory": str(shape.memory_bytes)}
    return {"pods": entry.pods, "devices": dict(shape.devices), **amounts}


def _class(node_class: NodeClass) -> Json:
    return {
        "apiVersion": names.API_VERSION,
        "kind": "InferenceClass",
        "metadata": {"name": node_class.name, "uid": f"uid-{node_class.name}"},
        "spec": {
            "devices": [_device(device) for device in node_class.devices],
            "node": {"cpu": f"{node_class.cpu_millis}m", "memory": str(node_class.memory_bytes)},
            "cost": {"perNodeHour": node_class.cost_per_node_hour, "currency": "USD"},
        },
    }


def _device(device: Device) -> Json:
    made: Json = {"name": device.name, "driver": device.driver, "claim": device.claim.value, "count": device.count}
    if device.claim is not Claim.SYNTHETIC:
        made["deviceClassName"] = device.device_class
    made["attributes"] = {name: {_KINDS[value.kind]: value.value} for name, value in device.attributes}
    made["capacity"] = {name: {"value": amount} for name, amount in device.capacity}
    return made
