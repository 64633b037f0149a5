"""What stands, by arithmetic of its own: devices against nodes, what ran, and where the gateway sends requests.

Nothing here asks the library. Pods are counted from the manifests that were written to the workload clusters, and
devices from the claims and limits of those pods; nodes and their devices are what the platform declared.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from tests.attack.plane import Plane

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
        asked = sorted((count for _, count in pods(plane, place) if count), reverse=True)
        free = [devices for devices, nodes in _pools(plane, cluster) for _ in range(nodes)]
        for count in asked:
            # First fit of the largest: exact where sizes divide each other, as those of the attacks do.
            node = next((index for index, left in enumerate(free) if left >= count), None)
            if node is None:
                raise Taken(
                    f"{place} runs pods of {asked} devices on nodes of {_pools(plane, cluster)} (devices, nodes)"
                )
            free[node] -= count


def _pools(plane: Plane, cluster: Json) -> list[tuple[int, int]]:
    """Return devices of a node and nodes of each pool, as they are declared."""
    found = []
    for pool in cluster["spec"]["nodePools"]:
        node_class = plane.get("InferenceClass", "", pool["className"])
        found.append((sum(one.get("count", 1) for one in node_class["spec"]["devices"]), pool["nodeCount"]))
    return found


def pods(plane: Plane, place: str) -> Iterator[tuple[str, int]]:
    """Yield the workload and the devices of every pod that is to run on a workload cluster."""
    standing = plane.remote.get(place, {})
    for (kind, namespace, name), one in standing.items():
        spec = one.manifest.get("spec") or {}
        for template, count in _templates(kind, spec):
            devices = _devices(template, namespace, standing)
            for _ in range(count):
                yield f"{kind} {name}", devices


def _templates(kind: str, spec: Json) -> Iterator[tuple[Json, int]]:
    """Yield the pod specs of a workload, each with how many pods it makes."""
    if kind == "Deployment":
        yield spec["template"]["spec"], spec.get("replicas", 1)
    elif kind == "LeaderWorkerSet":
        group, replicas = spec["leaderWorkerTemplate"], spec.get("replicas", 1)
        leader = group.get("leaderTemplate") or group["workerTemplate"]
        yield leader["spec"], replicas
        yield group["workerTemplate"]["spec"], replicas * (group.get("size", 1) - 1)
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


def _devices(pod: Json, namespace: str, standing: Mapping[Any, Any]) -> int:
    """Return the devices that one pod gets: by its claims, and by the limits of its containers."""
    total = 0
    for claim in pod.get("resourceClaims") or ():
        template = standing.get(("ResourceClaimTemplate", namespace, claim.get("resourceClaimTemplateName")))
        if template is None:
            raise Taken(f"a pod claims {claim}, which nobody rendered")
        for request in template.manifest["spec"]["spec"]["devices"]["requests"]:
            exactly = request.get("exactly") or request["firstAvailable"][0]
            if exactly.get("allocationMode") == "All":
                raise Taken("a pod claims all devices of its node, which no attack here asks for")
            total += exactly.get("count", 1)
    for container in [*(pod.get("containers") or ()), *(pod.get("initContainers") or ())]:
        limits = (container.get("resources") or {}).get("limits") or {}
        total += sum(int(value) for key, value in limits.items() if not key.startswith(_PLAIN_RESOURCES))
    return total


def classes(plane: Plane, place: str) -> set[str]:
    """Return every DeviceClass that is claimed on a workload cluster."""
    return {
        (request.get("exactly") or request["firstAvailable"][0])["deviceClassName"]
        for (kind, _, _), one in plane.remote.get(place, {}).items()
        if kind == "ResourceClaimTemplate"
        for request in one.manifest["spec"]["spec"]["devices"]["requests"]
    }


# --- what ran ---------------------------------------------------------------------------------------------------------

_RUNS = ("LLMInferenceService", "Deployment", "LeaderWorkerSet", "ResourceClaimTemplate", "HTTPRoute")
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
