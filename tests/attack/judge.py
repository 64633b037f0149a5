"""What stands, by arithmetic of its own: devices against nodes, what ran, and where the gateway sends requests.

Nothing here asks the library. Pods are counted from the manifests that were written to the workload clusters, and
devices from the claims and limits of those pods; nodes and their devices are what the platform declared.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from tests.attack.plane import Plane
from tests.support import nodes

Json = Any
_PLAIN_RESOURCES = ("cpu", "memory", "ephemeral-storage", "hugepages-")


class Taken(AssertionError):
    """Somebody took what is not theirs, or something that ran was lost."""


# --- devices against nodes --------------------------------------------------------------------------------------------


def within_capacity(plane: Plane) -> None:
    """Raise Taken when the pods of a workload cluster ask for more devices than its nodes have."""
    for cluster in plane.of_kind("InferenceCluster"):
        secret = cluster["spec"]["cluster"]["existing"]["secretRef"]
        place = f"{secret['namespace']}/{secret['name']}"
        asked = [asks for _, asks in asks_of_pods(plane, place) if asks]
        if not nodes.hold(_nodes(plane, cluster), asked):
            raise Taken(
                f"{place} runs pods that ask for {asked}, which the nodes of {cluster['spec']['nodePools']} lack"
            )


def _nodes(plane: Plane, cluster: Json) -> list[list[nodes.Device]]:
    """Return the devices of each node of a cluster, as they are declared."""
    found = []
    for pool in cluster["spec"]["nodePools"]:
        node_class = plane.get("InferenceClass", "", pool["className"])
        found += [nodes.devices(node_class) for _ in range(pool["nodeCount"])]
    return found


def pods(plane: Plane, place: str) -> Iterator[tuple[str, int]]:
    """Yield the workload and the number of devices of every pod that is to run on a workload cluster."""
    for workload, asks in asks_of_pods(plane, place):
        yield workload, sum(ask.count for ask in asks)


def asks_of_pods(plane: Plane, place: str) -> Iterator[tuple[str, tuple[nodes.Ask, ...]]]:
    """Yield the workload of every pod that is to run on a workload cluster, and what the pod asks of its node."""
    standing = plane.remote.get(place, {})
    for (kind, namespace, name), one in standing.items():
        spec = one.manifest.get("spec") or {}
        for template, count in _templates(kind, spec):
            asks = tuple(_asks(template, namespace, standing))
            for _ in range(count):
                yield f"{kind} {name}", asks


def _pods_of_component(component: Json) -> int:
    """Return the pods of a component of a graph of Dynamo."""
    return int(component.get("replicas", 1) * component.get("multinode", {}).get("nodeCount", 1))


def _templates(kind: str, spec: Json) -> Iterator[tuple[Json, int]]:
    """Yield the pod specs of a workload, each with how many pods it makes."""
    if kind == "Deployment":
        yield spec["template"]["spec"], spec.get("replicas", 1)
    elif kind == "LeaderWorkerSet":
        group, replicas = spec["leaderWorkerTemplate"], spec.get("replicas", 1)
        leader = group.get("leaderTemplate") or group["workerTemplate"]
        yield leader["spec"], replicas
        yield group["workerTemplate"]["spec"], replicas * (group.get("size", 1) - 1)
    elif kind == "RayService":
        cluster = spec["rayClusterConfig"]
        yield cluster["headGroupSpec"]["template"]["spec"], 1
        for group in cluster.get("workerGroupSpecs") or ():
            yield group["template"]["spec"], group.get("replicas", 1) * group.get("numOfHosts", 1)
    elif kind == "InferenceSet":
        yield spec["template"]["inference"]["template"]["spec"], spec.get("replicas", 1)
    elif kind == "VLLMRuntime":
        config = spec["deploymentConfig"]
        limits = {config["resources"]["gpuType"]: config["resources"]["gpu"]}
        yield {"containers": [{"resources": {"limits": limits}}]}, config.get("replicas", 1)
    elif kind == "DynamoGraphDeployment":
        yield from ((one["podTemplate"]["spec"], _pods_of_component(one)) for one in spec["components"])
    elif kind == "LLMInferenceService":
        yield from _roles(spec)
        if "prefill" in spec:
            yield from _roles(spec["prefill"])


def _roles(role: Json) -> Iterator[tuple[Json, int]]:
    replicas, template, worker = role.get("replicas", 1), role.get("template") or {}, role.get("worker")
    yield template, replicas
    if worker is not None:
        parallelism = role.get("parallelism") or {}
        across = parallelism.get("data", 1) // (parallelism.get("dataLocal") or 1)
        yield worker, replicas * (parallelism.get("pipeline", 1) * across - 1)


def _asks(pod: Json, namespace: str, standing: Mapping[Any, Any]) -> Iterator[nodes.Ask]:
    """Yield what one pod asks of its node: by its claims, and by the limits of its containers."""
    for claim in pod.get("resourceClaims") or ():
        template = standing.get(("ResourceClaimTemplate", namespace, claim.get("resourceClaimTemplateName")))
        if template is None:
            raise Taken(f"a pod claims {claim}, which nobody rendered")
        yield from map(nodes.of_request, template.manifest["spec"]["spec"]["devices"]["requests"])
    for container in [*(pod.get("containers") or ()), *(pod.get("initContainers") or ())]:
        limits = (container.get("resources") or {}).get("limits") or {}
        for key, value in limits.items():
            if not key.startswith(_PLAIN_RESOURCES):
                yield nodes.Ask(int(value))


def asked_of(plane: Plane, place: str, class_name: str) -> int:
    """Return how many devices of a DeviceClass the pods of a workload cluster claim."""
    standing, total = plane.remote.get(place, {}), 0
    for (kind, namespace, _), one in standing.items():
        for template, count in _templates(kind, one.manifest.get("spec") or {}):
            for claim in template.get("resourceClaims") or ():
                found = standing["ResourceClaimTemplate", namespace, claim["resourceClaimTemplateName"]]
                for request in found.manifest["spec"]["spec"]["devices"]["requests"]:
                    exactly = request.get("exactly") or request["firstAvailable"][0]
                    total += count * exactly.get("count", 1) * (exactly["deviceClassName"] == class_name)
    return total


def containers(value: Json) -> Iterator[Json]:
    """Yield every container of a manifest, wherever its kind keeps pods."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("containers", "initContainers") and isinstance(inner, list):
                yield from inner
            else:
                yield from containers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from containers(inner)


def images(plane: Plane, place: str) -> Iterator[str]:
    """Yield the image of every container on a workload cluster."""
    for one in plane.remote.get(place, {}).values():
        for container in containers(one.manifest):
            yield str(container.get("image"))


def classes(plane: Plane, place: str) -> set[str]:
    """Return every DeviceClass that is claimed on a workload cluster."""
    return {
        (request.get("exactly") or request["firstAvailable"][0])["deviceClassName"]
        for (kind, _, _), one in plane.remote.get(place, {}).items()
        if kind == "ResourceClaimTemplate"
        for request in one.manifest["spec"]["spec"]["devices"]["requests"]
    }


# --- what ran ---------------------------------------------------------------------------------------------------------

_RUNS = (
    *("LLMInferenceService", "Deployment", "LeaderWorkerSet", "RayService", "InferenceSet", "VLLMRuntime"),
    *("ResourceClaimTemplate", "HTTPRoute"),
    *("InferencePool", "ConfigMap", "Service", "DynamoGraphDeployment"),
)
_SERVES = ("ModelEndpoint", "Backend", "HTTPRoute")


class Standing:
    """What ran when the attack began: it has to be there after every step, unchanged."""

    def __init__(self, plane: Plane) -> None:
        self._remote = {
            (place, key): repr(one.manifest.get("spec"))
            for place, found in plane.remote.items()
            for key, one in found.items()
            if key[0] in _RUNS
        }
        self._serving = {key for key in plane.objects if key[0] in _SERVES}
        self._led_to = {key: backends_of(plane.objects[key]) for key in plane.objects if key[0] == "HTTPRoute"}
        if not self._remote:
            raise AssertionError("nothing runs that could be lost; the attack proves nothing")

    def __call__(self, plane: Plane) -> None:
        """Raise Taken when something is gone or other than it was."""
        for (place, key), spec in self._remote.items():
            there = plane.remote.get(place, {}).get(key)
            if there is None:
                raise Taken(f"{key} is gone from {place}")
            if repr(there.manifest.get("spec")) != spec:
                raise Taken(f"{key} on {place} is not what ran")
        for key in self._serving - plane.objects.keys():
            raise Taken(f"{key} is gone")
        for key, backends in self._led_to.items():
            if lost := backends - backends_of(plane.objects[key]):
                raise Taken(f"{key} leads no longer to {sorted(lost)}")


def backends_of(route: Json) -> set[str]:
    """Return the names of the Backends that a route sends requests to."""
    return {
        str(reference["name"])
        for rule in route["spec"].get("rules") or ()
        for reference in rule.get("backendRefs") or ()
        if reference.get("weight", 1)
    }


def matches(route: Json) -> Iterator[Json]:
    """Yield what a route answers to."""
    for rule in (route.get("spec") or {}).get("rules") or ():
        yield from rule.get("matches") or ({},)


def no_route_dangles(plane: Plane) -> None:
    """Raise Taken when a route of the control plane names a Backend that is not there."""
    for route in plane.of_kind("HTTPRoute"):
        for name in backends_of(route):
            if not plane.get("Backend", route["metadata"]["namespace"], name):
                raise Taken(f"route {route['metadata']['name']} points at Backend {name}, which is gone")


def one_writer_each(plane: Plane) -> None:
    """Raise Taken when two composites share an object: a remote one, or the credentials of a cluster."""
    for place, standing in plane.remote.items():
        for key, one in standing.items():
            if len(one.writers) > 1 and key[0] in _RUNS:
                raise Taken(f"{key} on {place} has {len(one.writers)} writers")
    for error in plane.errors:
        if "controlled by another" in error:
            raise Taken(error)


# --- where requests go ------------------------------------------------------------------------------------------------


def leads_outside(plane: Plane, *, inside: tuple[str, ...] = ()) -> None:
    """Raise Taken when a Backend leads to what is not public, or to a host of `inside`."""
    for backend in plane.of_kind("Backend"):
        for endpoint in backend["spec"]["endpoints"]:
            host = (endpoint.get("ip") or {}).get("address") or (endpoint.get("fqdn") or {}).get("hostname")
            if is_internal(str(host), inside):
                raise Taken(f"Backend {backend['metadata']['name']} leads to {host}")


def is_internal(host: str, inside: tuple[str, ...] = ()) -> bool:
    """Return whether a host is one of `inside`, an address that is not public, or a name inside a cluster."""
    name = host.strip("[]").rstrip(".").lower()
    if name in inside:
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        labels = name.split(".")
        return len(labels) == 1 or "svc" in labels or labels[-1] in ("local", "internal", "localhost", "default")
    return not address.is_global or any(not one.is_global for one in _inner(address))


def _inner(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    """Yield the IPv4 addresses that an IPv6 address may stand for."""
    if isinstance(address, ipaddress.IPv6Address):
        packed = address.packed
        if address.ipv4_mapped or packed[:12] == bytes(12) or packed[:4] == b"\x00\x64\xff\x9b":
            yield ipaddress.IPv4Address(packed[12:])
        if address.sixtofour:
            yield address.sixtofour


def host_is_ours(plane: Plane) -> None:
    """Raise Taken when a request may go on with the Host that its client sent."""
    for route in plane.of_kind("HTTPRoute"):
        for rule in route["spec"]["rules"]:
            for reference in rule.get("backendRefs") or ():
                filters = [*(rule.get("filters") or ()), *(reference.get("filters") or ())]
                if not _rewrites_host(plane, route, filters):
                    raise Taken(f"route {route['metadata']['name']} sends a client's own Host to {reference['name']}")


def _rewrites_host(plane: Plane, route: Json, filters: list[Json]) -> bool:
    for one in filters:
        if one["type"] == "URLRewrite" and one["urlRewrite"].get("hostname"):
            return True
        if one["type"] == "ExtensionRef":
            name = one["extensionRef"]["name"]
            found = plane.get("HTTPRouteFilter", route["metadata"]["namespace"], name).get("spec") or {}
            if (found.get("urlRewrite") or {}).get("hostname"):
                return True
    return False


def every_text(value: Json) -> Iterator[tuple[str, bool]]:
    """Yield every text of a document, and whether it is a key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, True
            yield from every_text(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from every_text(inner)
    elif isinstance(value, str):
        yield value, False
