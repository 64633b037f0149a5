"""Clusters of a fleet as Nodes and ResourceSlices, and replicas as the pods that controllers would make of them.

Many clusters stand on one API server: a label keeps the nodes of each to its own pods, and nothing else is changed in
what we render.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from modelplane import names
from tests.support import kubeapi, production_stack

Document = dict[str, Any]

CLUSTER_LABEL = "conformance.modelplane.ai/cluster"
# What LeaderWorkerSet v0.8.0 writes on the pods of a group.
GROUP_LABEL = "leaderworkerset.sigs.k8s.io/group-index"


def device_classes(classes: list[Document]) -> Iterator[Document]:
    """Yield a DeviceClass for every driver, and type where its devices say one, that devices are claimed of."""
    types: dict[tuple[str, str], set[str | None]] = {}
    for one in classes:
        for device in one["spec"]["devices"]:
            if device.get("claim", "DRA") == "DRA":
                kind = device.get("attributes", {}).get("type", {}).get("string")
                types.setdefault((device["deviceClassName"], device["driver"]), set()).add(kind)
    for (name, driver), kinds in sorted(types.items()):
        expression = f'device.driver == "{driver}"'
        (kind,) = kinds if len(kinds) == 1 else (None,)
        if kind is not None:
            expression += f' && device.attributes["{driver}"].type == "{kind}"'
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": expression}}]},
        }


def nodes(cluster: Document, classes: Mapping[str, Document], where: str) -> Iterator[Document]:
    """Yield the Nodes and ResourceSlices of a cluster; `where` is unique among clusters of all cases."""
    for pool in cluster["spec"]["nodePools"]:
        spec = classes[pool["className"]]["spec"]
        labels = pool.get("nodeSelector") or {names.LABEL_POOL: pool["name"]}
        # A pool that says no number grows, and stands as large as it may become.
        for number in range(pool["nodeCount"] if "nodeCount" in pool else pool["maxNodeCount"]):
            name = f"{where}-{pool['name']}-{number}"
            yield node(name, {**labels, CLUSTER_LABEL: where, "kubernetes.io/hostname": name}, spec)
            yield from _slices(name, [one for one in spec["devices"] if "consumesCounters" not in one])
            yield from _parts(name, spec)


def stand(api: kubeapi.Api, document: Document) -> None:
    """Create a Node or a ResourceSlice; a Node is ready at once.

    The API server taints every new Node as not ready, and the node lifecycle controller, which would take that back
    when a kubelet reports, does not run here.
    """
    created = api.create(document)
    if document["kind"] == "Node":
        api.merge(created, {"spec": {"taints": None}})


def node(name: str, labels: dict[str, str], spec: Document) -> Document:
    """Return a Node that is ready, with what its class allows to be requested."""
    given = spec.get("node") or {}
    amounts = {"cpu": given.get("cpu", "256"), "memory": given.get("memory", "2048Gi"), "pods": "200"}
    for device in spec["devices"]:
        if device.get("claim") == "DevicePlugin":
            amounts[device["resourceName"]] = str(device.get("count", 1))
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [{"type": "Ready", "status": "True", "reason": "Conformance"}],
        },
    }


def _slices(node: str, devices: list[Document]) -> Iterator[Document]:
    for device in devices:
        if device.get("claim", "DRA") != "DRA":
            continue
        published = {key: device[key] for key in ("attributes", "capacity") if device.get(key)}
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{node}-{device['name']}"},
            "spec": {
                "driver": device["driver"],
                "nodeName": node,
                "pool": {"name": f"{node}-{device['name']}", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": f"{device['name']}-{n}", **published} for n in range(device.get("count", 1))],
            },
        }


def _parts(node: str, spec: Document) -> Iterator[Document]:
    """Yield the slices of devices that share a physical one: a pool per driver, counter sets in slices of their own."""
    parts = [one for one in spec["devices"] if "consumesCounters" in one]
    sets = {one["name"]: one for one in spec.get("sharedCounters", [])}
    counters = [
        {"name": f"{name}-{unit}", "counters": one["counters"]}
        for name, one in sets.items()
        for unit in range(one.get("count", 1))
    ]
    for driver in sorted({one["driver"] for one in parts}):
        devices = [made for one in parts if one["driver"] == driver for made in _published_parts(one, sets)]
        # As the NVIDIA driver sorts them: physical device by physical device, by name.
        devices.sort(key=lambda made: made["name"])
        contents = [{"devices": devices[i : i + 64]} for i in range(0, len(devices), 64)]
        contents += [{"sharedCounters": counters[i : i + 8]} for i in range(0, len(counters), 8)]
        pool = {"name": f"{node}-parts", "generation": 1, "resourceSliceCount": len(contents)}
        for number, content in enumerate(contents):
            yield {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"{node}-parts-{number:02}"},
                "spec": {"driver": driver, "nodeName": node, "pool": pool, **content},
            }


def _published_parts(device: Document, sets: Mapping[str, Document]) -> Iterator[Document]:
    published = {key: device[key] for key in ("attributes", "capacity") if device.get(key)}
    (takes,) = device["consumesCounters"]
    found = sets[takes["counterSet"]]
    amounts = takes.get("counters") or ({} if "placements" in takes else found["counters"])
    for unit in range(found.get("count", 1)):
        for place, whole in enumerate(takes.get("placements", [[]])):
            drawn = {**amounts, **{name: found["counters"][name] for name in whole}}
            consumed = {"counterSet": f"{takes['counterSet']}-{unit}", "counters": drawn}
            yield {"name": f"gpu-{unit}-{device['name']}-{place}", **published, "consumesCounters": [consumed]}


WORKLOADS = frozenset(
    {
        "LLMInferenceService",
        "Deployment",
        "LeaderWorkerSet",
        "RayService",
        "InferenceSet",
        "VLLMRuntime",
        "DynamoGraphDeployment",
    }
)
"""Kinds that controllers make pods of."""


def pods(workload: Document, where: str) -> Iterator[Document]:
    """Yield the pods of a workload, leaders before their workers."""
    if workload["kind"] == "LLMInferenceService":
        yield from _of_service(workload, where)
        return
    if workload["kind"] == "RayService":
        yield from _of_ray(workload, where)
        return
    if workload["kind"] == "InferenceSet":
        yield from _of_members(workload, where)
        return
    if workload["kind"] == "VLLMRuntime":
        yield from pods(production_stack.deployment(workload), where)
        return
    if workload["kind"] == "DynamoGraphDeployment":
        yield from _of_graph(workload, where)
        return
    spec = workload["spec"]
    gang = spec.get("leaderWorkerTemplate")
    for group in range(spec["replicas"]):
        for rank in range(1 if gang is None else gang["size"]):
            key = "leaderTemplate" if rank == 0 else "workerTemplate"
            template = spec["template"] if gang is None else gang[key]
            labels = template["metadata"]["labels"]
            yield _pod(workload, ("decode", group, rank), {"spec": template["spec"], "labels": labels}, where)


def _of_service(service: Document, where: str) -> Iterator[Document]:
    """Yield the pods of an LLMInferenceService.

    Source: KServe v0.20.0, which makes a Deployment of a template alone and a LeaderWorkerSet of a template with a
    worker, of `pipeline` or `data / dataLocal` pods.
    """
    spec = service["spec"]
    for role, part in (("decode", spec), ("prefill", spec.get("prefill"))):
        if part is None:
            continue
        shape = part.get("parallelism") or {}
        size = shape["data"] // shape.get("dataLocal", 1) if "data" in shape else shape.get("pipeline", 1)
        for group in range(part["replicas"]):
            for rank in range(size if "worker" in part else 1):
                template = part["template"] if rank == 0 else part["worker"]
                made = {"spec": template, "labels": _labels(service, role)}
                yield _pod(service, (role, group, rank), made, where)


def _of_ray(service: Document, where: str) -> Iterator[Document]:
    """Yield the pods of a RayService, its head first, as they are before KubeRay writes their commands and probes.

    Source: KubeRay v1.6.2, controllers/ray/common/pod.go.
    """
    cluster = service["spec"]["rayClusterConfig"]
    head = cluster["headGroupSpec"]["template"]
    yield _pod(service, ("head", 0, 0), {"spec": head["spec"], "labels": head["metadata"]["labels"]}, where)
    for group in cluster["workerGroupSpecs"]:
        name, template = group["groupName"], group["template"]
        for replica in range(group["replicas"]):
            labels = {**template["metadata"]["labels"], "ray.io/worker-group-replica-name": f"{name}-{replica}"}
            for rank in range(group.get("numOfHosts", 1)):
                yield _pod(service, (name, replica, rank), {"spec": template["spec"], "labels": labels}, where)


def _of_members(set_: Document, where: str) -> Iterator[Document]:
    """Yield the pod of each member of an InferenceSet, as KAITO's StatefulSet for the member has it.

    Source: KAITO v0.11.0, pkg/workspace/manifests (GenerateManifestWithPodTemplate).
    """
    template = set_["spec"]["template"]["inference"]["template"]
    terms = [
        {"key": key, "operator": "In", "values": [value]}
        for key, value in set_["spec"]["labelSelector"]["matchLabels"].items()
    ]
    required = {"nodeSelectorTerms": [{"matchExpressions": terms}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    labels = {**template["metadata"]["labels"], "inferenceset.kaito.sh/created-by": set_["metadata"]["name"]}
    for member in range(set_["spec"]["replicas"]):
        made = {"spec": {**template["spec"], "affinity": affinity}, "labels": labels}
        yield _pod(set_, ("decode", member, 0), made, where)


def _of_graph(graph: Document, where: str) -> Iterator[Document]:
    """Yield the pods of a DynamoGraphDeployment as they are before Dynamo's operator adds its variables and probes.

    Source: the operator of Dynamo 1.6, which without Grove makes a Deployment of a component, and a LeaderWorkerSet of
    one over nodes.
    """
    for component in graph["spec"]["components"]:
        template = component["podTemplate"]
        made = {"spec": template["spec"], "labels": template["metadata"]["labels"]}
        for replica in range(component["replicas"]):
            for rank in range(component.get("multinode", {}).get("nodeCount", 1)):
                group = {"leaderworkerset.sigs.k8s.io/group-key": f"{component['name']}-{replica}"}
                labels = {**made["labels"], **group} if "multinode" in component else made["labels"]
                yield _pod(graph, (component["name"], replica, rank), {**made, "labels": labels}, where)


def _pod(workload: Document, place: tuple[str, int, int], template: Document, where: str) -> Document:
    role, group, rank = place
    spec = copy.deepcopy(template["spec"])
    spec["nodeSelector"] = {**spec.get("nodeSelector", {}), CLUSTER_LABEL: where}
    meta = workload["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{meta['name']}-{role}-{group}-{rank}",
            "namespace": meta["namespace"],
            "labels": {
                **template["labels"],
                GROUP_LABEL: str(group),
                "conformance.modelplane.ai/replica": meta["name"],
            },
        },
        "spec": spec,
    }


def _labels(service: Document, role: str) -> dict[str, str]:
    """Return the labels of a role's pods. Source: KServe v0.20.0, which takes them from the role's own `labels`."""
    part = service["spec"]["prefill"] if role == "prefill" else service["spec"]
    return dict(part.get("labels", {}))
