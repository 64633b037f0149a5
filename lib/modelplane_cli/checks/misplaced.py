"""Unknown fields that stand elsewhere: what people write, and the place where it belongs.

A field of the same object that is written alike is proposed where the schema is read. Here are the words of engines,
of other controllers and of earlier ideas, which no likeness finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from modelplane.structural.problem import Cause, Path, Problem


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a thing: a `path` of a `kind`, and what to write there."""

    kind: str
    path: str
    example: str = ""


_DEPLOYMENT, _LLM, _SERVICE = "ModelDeployment", "LLMInference", "ModelService"
_CLUSTER, _CLASS, _GATEWAY = "InferenceCluster", "InferenceClass", "InferenceGateway"
_WORKERS, _NODES = "spec.workers.", "spec.nodeSelector."
_ENGINE = "spec.workers.template.spec.containers[]"
_MEMORY = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("70Gi")) >= 0'
_PRODUCT = 'device.attributes["gpu.nvidia.com"].productName == "NVIDIA H100 80GB HBM3"'

_TENSOR = Place(_DEPLOYMENT, "spec.workers.topology.tensor", "8")
_PIPELINE = Place(_DEPLOYMENT, "spec.workers.topology.pipeline", "2")
_DATA = Place(_DEPLOYMENT, "spec.workers.topology.data", "8")
_EXPERT = Place(_DEPLOYMENT, "spec.workers.topology.expert", "true")
_SELECTED = Place(_DEPLOYMENT, "spec.clusterSelector")
_REGION = Place(_DEPLOYMENT, "spec.clusterSelector.matchLabels", "{modelplane.ai/region: eu-west-1}")
_BY_NAME = Place(_DEPLOYMENT, "spec.clusterSelector.matchLabels", "{modelplane.ai/cluster: gke-us}")
_WANTS_MEMORY = Place(_DEPLOYMENT, "spec.nodeSelector.cel", _MEMORY)
_WANTS_PRODUCT = Place(_DEPLOYMENT, "spec.nodeSelector.cel", _PRODUCT)
_SPREAD = Place(_DEPLOYMENT, "spec.placement.spread", "[{topologyKey: modelplane.ai/region}]")
_REPLICAS = Place(_DEPLOYMENT, "spec.replicas", "2")
_URI = Place(_DEPLOYMENT, "spec.model.uri", "hf://Qwen/Qwen3-8B")
_HOST = Place(_SERVICE, "spec.host", "models.example.com")
_GROUP = Place(_SERVICE, "spec.endpoints[].selector.matchLabels", "{modelplane.ai/deployment: NAME}")
_CLUSTER_LABEL = Place(_CLUSTER, "metadata.labels", "{modelplane.ai/region: eu-west-1}")
_KUBECONFIG = Place(_CLUSTER, "spec.cluster.existing.secretRef", "{namespace: NS, name: NAME, key: kubeconfig}")
_DEVICES = Place(_CLASS, "spec.devices[].count", "8, and name the class in nodePools[].className")
_COUNT = Place(_CLASS, "spec.devices[].count", "8")
_CAPACITY = Place(_CLASS, "spec.devices[].capacity", "{memory: {value: 81559Mi}}")
_ATTRIBUTE = Place(_CLASS, "spec.devices[].attributes", "{productName: {string: NVIDIA H100 80GB HBM3}}")
_COST = Place(_CLASS, "spec.cost.perNodeHour", '"98.32"')
_LLM_LABELS = Place(_LLM, "spec.clusterSelector.matchLabels", "{modelplane.ai/region: eu-west-1}")
_LLM_GPU = Place(_LLM, "spec.gpu", "8")


def _each(place: Place, *words: str) -> dict[str, Place]:
    return dict.fromkeys(words, place)


def _engine(*fields: str) -> dict[str, Place]:
    return {field.lower().removesuffix("[]"): Place(_DEPLOYMENT, f"{_ENGINE}.{field}") for field in fields}


PLACES: Final[Mapping[str, Mapping[str, Place]]] = {
    _DEPLOYMENT: {
        **_each(_TENSOR, "gpu", "gpus", "gpucount", "numgpus", "gpuspernode", "gpusperreplica", "tp", "tpsize"),
        **_each(_TENSOR, "tensorparallel", "tensorparallelsize", "tensorparallelism", "accelerators"),
        **_each(_PIPELINE, "pipelineparallel", "pipelineparallelsize", "pipelineparallelism", "pp", "ppsize", "nodes"),
        **_each(_DATA, "dataparallel", "dataparallelsize", "dataparallelism", "dp", "dpsize"),
        **_each(_EXPERT, "expertparallel", "enableexpertparallel", "expertparallelism", "ep"),
        **_each(_WANTS_MEMORY, "gpumemory", "memory", "vram", "minmemory", "mingpumemory"),
        **_each(_WANTS_PRODUCT, "gputype", "gpumodel", "gpuproduct", "accelerator", "acceleratortype"),
        **_each(_SELECTED, "clusterselector", "clusteraffinity", "clusterlabels"),
        **_each(_REGION, "region", "regions", "zone", "zones", "matchlabels"),
        **_each(_BY_NAME, "cluster", "clusters", "clustername", "clusternames", "clusterref"),
        **_each(_SPREAD, "spread", "topologykey", "topologyspreadconstraints", "spreadconstraints", "antiaffinity"),
        **_each(Place(_DEPLOYMENT, "spec.placement.strategy", "Pack"), "strategy", "placementstrategy"),
        **_each(Place(_DEPLOYMENT, "spec.nodeSelector"), "workers.nodeselector"),
        **_each(Place(_DEPLOYMENT, "spec.tolerations"), "tolerations"),
        **_each(Place(_DEPLOYMENT, "spec.priority", "100"), "priority", "priorityclassname"),
        **_each(_REPLICAS, "replicas"),
        **_each(Place(_DEPLOYMENT, "spec.scaling.min", "1"), "minreplicas", "minreplicacount"),
        **_each(Place(_DEPLOYMENT, "spec.scaling.max", "6"), "maxreplicas", "maxreplicacount"),
        **_each(Place(_DEPLOYMENT, "spec.scaling", "{max: 6, target: {requests: 16}}"), "autoscaling", "scaling"),
        **_each(
            Place(_DEPLOYMENT, "spec.modelCacheRef", "{name: NAME}"), "cache", "modelcache", "cacheref", "cachename"
        ),
        **_each(Place(_DEPLOYMENT, "spec.workers.count", "2"), "workers.replicas", "workercount", "workersperreplica"),
        **_each(Place(_DEPLOYMENT, "spec.placement.maxReplicasPerCluster", "1"), "placement.maxreplicas"),
        **_each(_URI, "uri", "modeluri", "modelid", "storageuri", "repository", "modelpath"),
        **_each(Place(_DEPLOYMENT, "spec.model.name", "qwen3-8b"), "modelname", "servedmodelname"),
        **_each(Place(_DEPLOYMENT, "spec.engine.type", "vllm"), "runtime", "enginetype", "framework"),
        **_each(Place(_DEPLOYMENT, "spec.workers.topology"), "topology", "parallelism", "parallelspec"),
        **_each(Place(_DEPLOYMENT, "spec.workers.template"), "template", "podtemplate"),
        **_each(Place(_DEPLOYMENT, _ENGINE), "containers", "container"),
        **_each(Place(_DEPLOYMENT, "spec.workers.template.spec.volumes"), "volumes"),
        **_engine("image", "args", "command", "env", "envFrom", "resources", "ports", "volumeMounts"),
        **_each(_HOST, "host", "hostname", "url", "ingress"),
        **_each(Place(_SERVICE, "spec.endpoints[].weight", "95"), "weight", "traffic"),
    },
    _LLM: {
        **_each(_LLM_GPU, "tensor", "tp", "tensorparallel", "tensorparallelsize", "gpucount", "numgpus"),
        **_each(_LLM_LABELS, "region", "regions", "zone", "zones", "matchlabels", "placement"),
        **_each(Place(_LLM, "spec.model", "Qwen/Qwen3-8B"), "uri", "modeluri", "modelname", "modelid", "repository"),
        **_each(Place(_LLM, "spec.host", "models.example.com"), "hostname", "url", "ingress"),
        **_each(Place(_LLM, "spec.clusterName", "gke-us"), "clusters", "clusterref"),
        **_each(_REPLICAS, "replicas"),
        **_each(Place(_LLM, "spec.scaling.min", "1"), "minreplicas", "minreplicacount"),
        **_each(Place(_LLM, "spec.scaling.max", "6"), "maxreplicas", "maxreplicacount"),
        **_each(Place(_LLM, "spec.scaling", "{max: 6, target: {requests: 16}}"), "autoscaling", "scaling"),
        **_each(Place(_LLM, "spec.modelCacheRef", "{name: NAME}"), "cache", "modelcache", "cacheref", "cachename"),
        **_each(_PIPELINE, "pipeline", "pipelineparallelsize", "nodes"),
        **_each(_WANTS_MEMORY, "gpumemory", "memory", "vram", "nodeselector"),
        **_each(_WANTS_PRODUCT, "gputype", "gpumodel", "accelerator"),
        **_engine("args", "command", "env", "resources", "volumeMounts"),
    },
    _SERVICE: {
        **_each(_GROUP, "deployment", "deployments", "deploymentref", "selector", "matchlabels", "modeldeployment"),
        **_each(Place(_SERVICE, "spec.endpoints", "[{selector: ..., weight: 95}]"), "backends", "targets", "routes"),
        **_each(Place(_SERVICE, "spec.endpoints[].weight", "95"), "weight", "weights", "traffic"),
        **_each(_HOST, "hostname", "hostnames", "hosts", "url"),
        **_each(Place(_SERVICE, "spec.auth.apiKeys.secretRef", "{name: NAME}"), "apikeys", "apikey", "secretref"),
        **_each(Place(_SERVICE, "spec.auth.jwt"), "jwt", "oidc"),
        **_each(Place(_SERVICE, "spec.timeouts.request", "600s"), "timeout", "requesttimeout"),
        **_each(Place(_SERVICE, "spec.rateLimit.requests"), "requestspersecond", "requestsperminute", "rpm"),
    },
    _CLUSTER: {
        **_each(_CLUSTER_LABEL, "region", "zone", "labels", "location"),
        **_each(_KUBECONFIG, "kubeconfig", "secretref", "kubeconfigsecretref", "credentials"),
        **_each(_DEVICES, "gpu", "gpus", "gputype", "devices", "gpuspernode", "accelerator"),
        **_each(Place(_CLUSTER, "spec.nodePools[].nodeCount", "4"), "nodes", "replicas", "size"),
        **_each(Place(_CLUSTER, "spec.nodePools[].minNodeCount", "0"), "min", "minnodes", "minsize"),
        **_each(Place(_CLUSTER, "spec.nodePools[].maxNodeCount", "8"), "max", "maxnodes", "maxsize"),
        **_each(Place(_CLUSTER, "spec.nodePools[].nodeSelector", "{KEY: VALUE}"), "nodepools.labels", "nodelabels"),
        **_each(Place(_CLUSTER, "spec.nodePools[].zones", "[us-central1-a]"), "nodepools.zone", "nodepools.region"),
        **_each(Place(_CLUSTER, "spec.cluster.existing.kubernetesVersion", '"1.34"'), "kubernetesversion", "version"),
        **_each(_COST, "cost", "price", "pernodehour"),
    },
    _CLASS: {
        **_each(_COUNT, "gpu", "gpus", "gpucount", "gpuspernode", "numgpus"),
        **_each(_CAPACITY, "memory", "gpumemory", "vram"),
        **_each(_ATTRIBUTE, "productname", "product", "gputype", "gpumodel", "model", "architecture"),
        **_each(_COST, "price", "priceperhour", "pernodehour", "costperhour", "hourlycost"),
        **_each(Place(_CLASS, "spec.node.cpu", '"192"'), "cpu", "cpus", "vcpus"),
        **_each(Place(_CLASS, "spec.node.memory", "2000Gi"), "nodememory", "ram"),
    },
    _GATEWAY: {
        **_each(Place(_GATEWAY, "spec.gateway.hostname", "models.example.com"), "host", "hostname", "domain"),
        **_each(Place(_GATEWAY, "spec.gateway.className", "eg"), "gatewayclassname", "classname"),
        **_each(Place(_GATEWAY, "spec.gateway.tls.certificateRefs", "[{name: NAME}]"), "certificate", "tls"),
        **_each(Place(_GATEWAY, "spec.endpoints.allowedHosts", "[api.example.com]"), "allowedhosts"),
        **_each(Place(_GATEWAY, "spec.endpoints.allowedCIDRs", "[10.0.0.0/8]"), "allowedcidrs"),
    },
}
"""The places by kind and by the word that people write, in small letters without dashes, or that with its parent."""


def placed(kind: str, problems: tuple[Problem, ...]) -> Iterator[Problem]:
    """Yield the problems of an object, an unknown field with the place where it belongs."""
    for problem in problems:
        said = _said(kind, problem.path) if problem.cause is Cause.UNKNOWN and problem.path else ""
        yield Problem(problem.path, said, problem.severity, problem.cause) if said else problem


def _said(kind: str, path: Path) -> str:
    """Return the message about an unknown field, empty where nothing better is known than what the schema says."""
    places = PLACES.get(kind, {})
    place = next((places[word] for word in _words(path) if word in places), None)
    if place is None:
        return ""
    key, where = str(path[-1]), place.path
    is_of_role = where.startswith((_WORKERS, _NODES))
    if not is_of_role and ("template" in path or "prefill" in path):
        return ""  # what a pod has under that name is something else
    if "prefill" in path:
        where = where.replace("spec.", "spec.prefill.", 1)
    example = f", for example {place.example}" if place.example else ""
    if place.kind == kind:
        return f'unknown field "{key}"; write {where}{example}'
    article = "an" if place.kind[0] in "IL" else "a"
    return f'unknown field "{key}"; {article} {place.kind} has it, as {where}{example}'


def _words(path: Path) -> Iterator[str]:
    """Yield the last name of a path with the one before it, and then by itself, as `PLACES` has them."""
    steps = [str(step).lower().replace("_", "").replace("-", "") for step in path if isinstance(step, str)]
    if len(steps) > 1:
        yield ".".join(steps[-2:])
    yield steps[-1]
