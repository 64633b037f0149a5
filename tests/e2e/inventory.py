"""Everything that stands on a cluster, by the API server's own list of what it serves.

No kind is named to be looked for. Not counted are namespaces (we never delete one, others may live in it) with what
Kubernetes puts into each by itself, and what is written all the time without anybody's wish (events, leases).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from tests.support import controlplane, kubeapi

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
NOT_COUNTED = frozenset({"Namespace", "Event", "Lease"})
OF_EVERY_NAMESPACE = frozenset({"ConfigMap kube-root-ca.crt", "ServiceAccount default"})


def of_all(planes: Mapping[str, controlplane.Plane]) -> list[str]:
    """Return `cluster Kind.group namespace/name` of every object, sorted; a cluster that is stopped shows nothing.

    Cost: a list of every kind of every cluster, seconds.
    """
    running = {name: plane for name, plane in planes.items() if plane.apiserver.is_running}
    with ThreadPoolExecutor(len(planes)) as pool:
        found = pool.map(lambda plane: list(_objects(plane.api)), running.values())
        return sorted(f"{name} {one}" for name, objects in zip(running, found, strict=True) for one in objects)


def kinds(found: list[str]) -> dict[str, list[str]]:
    """Return which kinds of objects are among the found, by cluster."""
    by_cluster: dict[str, set[str]] = {}
    for cluster, kind, _ in (one.split(" ") for one in found):
        by_cluster.setdefault(cluster, set()).add(kind.split(".")[0])
    return {cluster: sorted(by_cluster[cluster]) for cluster in sorted(by_cluster)}


def _objects(api: kubeapi.Api) -> Iterator[str]:
    for kind, path in _served(api):
        # A kind that the API server keeps no objects of may answer with null instead of a list.
        for one in api.request("GET", path, accept=METADATA)["items"] or ():
            meta = one["metadata"]
            if f"{kind} {meta['name']}" not in OF_EVERY_NAMESPACE:
                yield f"{kind} {meta.get('namespace', '')}/{meta['name']}"


def _served(api: kubeapi.Api) -> Iterator[tuple[str, str]]:
    """Yield each kind that can be listed with the path of its list, in the first version that its group has it in."""
    for root in ("/api", "/apis"):
        for group in api.request("GET", root, accept=DISCOVERY)["items"]:
            name = group["metadata"].get("name", "")
            seen: set[str] = set()
            for version in group["versions"]:
                for one in version.get("resources", []):
                    kind = one["responseKind"]["kind"]
                    if "list" in one["verbs"] and kind not in NOT_COUNTED | seen:
                        seen.add(kind)
                        path = f"{root}/{name}/{version['version']}" if name else f"{root}/{version['version']}"
                        yield f"{kind}.{name}" if name else kind, f"{path}/{one['resource']}"
