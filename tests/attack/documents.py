"""The documents of the fleets that are attacked: one or two clusters of nodes with eight GPUs."""

from __future__ import annotations

import copy
from typing import Any

from tests.attack.plane import API_VERSION

Json = Any
TEAM = "ml-team"
SYSTEM = "modelplane-system"
GPU = "gpu.nvidia.com"
PLUGIN = "nvidia.com/gpu"
IMAGE = "vllm/vllm-openai:v0.23.0"


def document(kind: str, name: str, spec: Json, *, namespace: str = "", **metadata: Json) -> Json:
    """Return a document of our group."""
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name, **place, **metadata}, "spec": spec}


def node_class(name: str = "h100", *, count: int = 8, **device: Json) -> Json:
    """Return a class with one kind of device; None leaves a field out."""
    made = {"name": "gpu", "driver": GPU, "deviceClassName": GPU, "count": count}
    capacity = {"capacity": {"memory": {"value": "81559Mi"}}}
    told = {key: value for key, value in {**made, **capacity, **device}.items() if value is not None}
    return document("InferenceClass", name, {"devices": [told]})


def cluster(name: str = "east", *, nodes: int = 2, class_name: str = "h100", **spec: Json) -> Json:
    """Return a cluster of one pool; the name of its Secret is its own."""
    existing = {"secretRef": {"namespace": SYSTEM, "name": f"kubeconfig-{name}", "key": "kubeconfig"}}
    pool = {"name": "gpu", "className": class_name, "nodeCount": nodes}
    return document(
        "InferenceCluster",
        name,
        {"cluster": {"source": "Existing", "existing": existing}, "nodePools": [pool], **spec},
    )


def place(name: str = "east") -> str:
    """Return where the objects of a cluster stand."""
    return f"{SYSTEM}/kubeconfig-{name}"


def gateway(**spec: Json) -> Json:
    """Return the fleet's gateway."""
    return document("InferenceGateway", "default", {"type": "Envoy", **spec})


def template(**container: Json) -> Json:
    """Return the template of an engine's pods."""
    return {"spec": {"containers": [{"name": "engine", "image": IMAGE, **container}]}}


def deployment(name: str = "first", *, replicas: int = 2, gpus: int = 8, namespace: str = TEAM, **spec: Json) -> Json:
    """Return a deployment whose replicas have one pod of so many GPUs."""
    given = {
        "replicas": replicas,
        "model": {"name": "llama", "uri": "hf://meta-llama/Llama-3.1-8B-Instruct"},
        "nodeSelector": {"cel": "true"},
        "workers": {"topology": {"tensor": gpus}, "template": template()},
    }
    return document("ModelDeployment", name, {**given, **spec}, namespace=namespace)


def service(name: str = "first", *, namespace: str = TEAM, selector: Json = None, **spec: Json) -> Json:
    """Return a service over the endpoints of the deployment of its name, or those that are selected."""
    labels = {f"{API_VERSION.partition('/')[0]}/deployment": name} if selector is None else selector
    group = {"selector": {"matchLabels": labels}}
    return document("ModelService", name, {"endpoints": [group], **spec}, namespace=namespace)


def endpoint(name: str, url: str, *, namespace: str = TEAM, **spec: Json) -> Json:
    """Return an endpoint by hand, with a label of its name."""
    return document("ModelEndpoint", name, {"url": url, **spec}, namespace=namespace, labels={"endpoint": name})


def copied(replica: Json, name: str, *, is_owned: bool, **spec: Json) -> Json:
    """Return a ModelReplica by hand that reads as `replica`, with its controller or with none."""
    made = copy.deepcopy(replica)
    labels = made["metadata"]["labels"]
    owners = {"ownerReferences": made["metadata"]["ownerReferences"]} if is_owned else {}
    notes = {"annotations": {**made["metadata"]["annotations"]}}
    metadata = {"name": name, "namespace": made["metadata"]["namespace"], "labels": labels, **owners, **notes}
    return {**made, "metadata": metadata, "spec": {**made["spec"], "crossplane": {}, **spec}}
