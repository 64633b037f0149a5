"""Fleets with the statuses that their functions wrote, as a control plane holds them, of any size.

Each object is a copy of what the real functions made in the quickstart, with other names, counts and places; the
library itself admits the replicas and encodes the ledgers. The same arguments give the same objects.
"""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from modelplane import names, placement
from modelplane.api import admissions, inference_class, inference_cluster
from modelplane.placement.snapshot import Accounting, Holding, NodeCounts, PodShape, Pool, ReplicaClaim
from modelplane.workload.model import Role
from tests.bench import arguments, fleets
from tests.support import planning

Json = Any
REGIONS = ("eu-west-1", "eu-north-1", "us-central1", "us-east-2", "ap-south-1", "ap-northeast-1")
CLASSES = {"h100-8x": ("88.00", 8), "a100-8x": ("40.80", 8), "l40s-4x": ("11.20", 4)}
NAMESPACES = (
    "search",
    "chat",
    "research",
    "agents",
    "vision",
    "speech",
    "batch",
    "trial",
    "code",
    "ads",
    "maps",
    "lab",
)
MODELS = ("llama-3-70b", "qwen3-8b", "mistral-24b", "qwen3-32b", "gemma-27b", "phi-4", "deepseek-r1-32b", "whisper-v3")
SIZES = (1, 1, 2, 2, 4, 8)
TOO_LARGE = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("180Gi")) >= 0'
PER_DEPLOYMENT, NODES, WAITING = 4, 6, 2


class Spot(NamedTuple):
    """A replica and where it stands."""

    namespace: str
    deployment: str
    name: str
    cluster: str
    pool: str
    devices: int

    @property
    def key(self) -> str:
        return names.qualified(self.namespace, self.name)


def objects(clusters: int, replicas: int, seed: int = 1) -> list[Json]:
    """Return classes, clusters, deployments, replicas, endpoints and services, each with its status."""
    ran = planning.run("render", "examples/quickstart", "-o", "json")
    settled = {one["kind"]: one for one in ran.json["items"]}
    classes = [_class(name, price, count) for name, (price, count) in CLASSES.items()]
    spots = list(_spots(clusters, replicas, fleets.Draw(seed)))
    by_cluster: dict[str, list[Spot]] = defaultdict(list)
    by_deployment: dict[tuple[str, str], list[Spot]] = defaultdict(list)
    for spot in spots:
        by_cluster[spot.cluster].append(spot)
        by_deployment[spot.namespace, spot.deployment].append(spot)
    found = [*classes, settled["InferenceGateway"]]
    found += [_cluster(settled, number, classes, by_cluster[_name(number)]) for number in range(clusters)]
    for (namespace, name), mine in by_deployment.items():
        found += _served(settled, namespace, name, mine)
    found += [_waiting(settled, namespace) for namespace in NAMESPACES[:WAITING]]
    return found


def main(given: Sequence[str] | None = None) -> int:
    """Write the objects as one JSON list; return 0."""
    made = arguments.parser("stated", __doc__, example="out/fleet.json --clusters 60 --replicas 300")
    made.add_argument("file", metavar="FILE", type=Path, help="where the list goes")
    made.add_argument("--clusters", type=arguments.positive, default=60, help="how many (%(default)s)")
    made.add_argument("--replicas", type=arguments.positive, default=300, help="how many (%(default)s)")
    options = made.parse_args(given)
    found = objects(options.clusters, options.replicas)
    options.file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": found}), encoding="utf-8")
    print(f"{len(found)} objects in {options.file}")
    return 0


def _name(number: int) -> str:
    region = REGIONS[number % len(REGIONS)]
    return f"{('eks', 'gke', 'dc')[number % 3]}-{region}-{number // len(REGIONS):02d}"


def _spots(clusters: int, replicas: int, draw: fleets.Draw) -> Iterator[Spot]:
    """Yield the places of replicas: four of a deployment on four clusters, as far as there is room."""
    left: dict[tuple[int, str], list[int]] = {}
    for number in range(replicas):
        kind, at = number // PER_DEPLOYMENT, number % PER_DEPLOYMENT
        if at == 0:
            size, pool = SIZES[draw.below(len(SIZES))], list(CLASSES)[draw.below(len(CLASSES))]
            first = draw.below(clusters)
        size = min(size, CLASSES[pool][1])
        for turn in range(clusters):
            cluster = (first + at * 7 + turn) % clusters
            nodes = left.setdefault((cluster, pool), [CLASSES[pool][1]] * NODES)
            open_ = next((one for one, free in enumerate(nodes) if free >= size), None)
            if open_ is not None:
                nodes[open_] -= size
                break
        namespace, name = NAMESPACES[kind % len(NAMESPACES)], f"{MODELS[kind % len(MODELS)]}-{kind // len(MODELS):03d}"
        yield Spot(namespace, name, f"{name}-{at}", _name(cluster), pool.partition("-")[0], size)


def _class(name: str, price: str, count: int) -> Json:
    made = planning.node_class(name, price=price)
    made["spec"]["devices"][0]["count"] = count
    return made


def _cluster(settled: Mapping[str, Json], number: int, classes: Sequence[Json], spots: Sequence[Spot]) -> Json:
    made = copy.deepcopy(settled["InferenceCluster"])
    name, region = _name(number), REGIONS[number % len(REGIONS)]
    made["metadata"] = {"name": name, "uid": f"u-{name}", "labels": {"modelplane.ai/region": region, "tier": "prod"}}
    known = [inference_class.decode(one) for one in classes]
    pools = tuple(Pool(one.name.partition("-")[0], one.name, one, NodeCounts(NODES)) for one in known)
    made["spec"]["nodePools"] = [{"name": p.name, "className": p.class_name, "nodeCount": NODES} for p in pools]
    holdings = {s.key: (Holding(Role.DECODE, s.pool, 1, PodShape((("gpu", s.devices),))),) for s in spots}
    claims = [ReplicaClaim(key, held) for key, held in holdings.items()]
    account = placement.admit(pools, Accounting.DEVICE, claims)
    records = {key: admissions.Record("u", "d", held, account.nodes[key]) for key, held in holdings.items()}
    made["status"] |= {
        "admitted": sorted(holdings),
        "admissions": admissions.encode(records),
        "pools": [inference_cluster.encode_pool(p, one) for p, one in zip(pools, account.pools, strict=True)],
    }
    return made


def _served(settled: Mapping[str, Json], namespace: str, name: str, spots: Sequence[Spot]) -> Iterator[Json]:
    deployment = _named(settled["ModelDeployment"], namespace, name)
    deployment["spec"]["replicas"] = len(spots)
    deployment["status"] |= {"replicas": len(spots), "placements": [_place(spot) for spot in spots]}
    yield deployment
    service = _named(settled["ModelService"], namespace, name)
    service["spec"]["endpoints"][0]["selector"] = {"matchLabels": {names.LABEL_DEPLOYMENT: name}}
    entry = service["status"]["backends"][0]
    service["status"]["backends"] = [{**entry, "backendName": s.name, "endpoint": s.name} for s in spots]
    service["status"]["url"] = f"https://models.example/{namespace}/{name}"
    yield service
    for spot in spots:
        for kind in ("ModelReplica", "ModelEndpoint"):
            yield _child(settled[kind], spot)


def _waiting(settled: Mapping[str, Json], namespace: str) -> Json:
    """Return a deployment of two replicas that want a device which no class has."""
    made = _named(settled["ModelDeployment"], namespace, "llama-4-maverick")
    made["spec"] |= {"replicas": 2, "nodeSelector": {"cel": TOO_LARGE}}
    message = "no cluster fits: no matching device"
    reason = {"reason": "NoMatchingDevice", "count": 1, "clusters": [_name(0)], "detail": "no device has 180Gi"}
    made["status"] |= {
        "replicas": 0, "placements": [], "unscheduledReplicas": 2,
        "unschedulable": {"message": message, "reasons": [reason]},
    }  # fmt: skip
    for one in made["status"]["conditions"]:
        if one["type"] in ("Ready", "ReplicasScheduled"):
            one |= {"status": "False", "reason": "Unschedulable", "message": message}
    return made


def _named(one: Json, namespace: str, name: str) -> Json:
    made = copy.deepcopy(one)
    made["metadata"] = {"name": name, "namespace": namespace, "uid": f"u-{namespace}-{name}", "labels": {"app": name}}
    return made


def _place(spot: Spot) -> Json:
    role = {"devices": spot.devices, "nodes": 1, "pool": spot.pool, "role": "decode"}
    return {"admitted": True, "cluster": spot.cluster, "ready": True, "replica": spot.name, "roles": [role]}


def _child(one: Json, spot: Spot) -> Json:
    made = _named(one, spot.namespace, spot.name)
    made["metadata"]["labels"] = {
        names.LABEL_CLUSTER: spot.cluster,
        names.LABEL_DEPLOYMENT: spot.deployment,
        names.LABEL_NAMESPACE: spot.namespace,
    }
    owner = {"apiVersion": names.API_VERSION, "kind": "ModelDeployment", "name": spot.deployment, "controller": True}
    made["metadata"]["ownerReferences"] = [{**owner, "uid": f"u-{spot.namespace}-{spot.deployment}"}]
    if one["kind"] == "ModelReplica":
        made["spec"] |= {"clusterName": spot.cluster, "pool": spot.pool, "deploymentRef": {"name": spot.deployment}}
        made["spec"]["devices"][0]["count"] = spot.devices
        made["spec"]["workers"]["topology"]["tensor"] = spot.devices
    return made


if __name__ == "__main__":
    raise SystemExit(main())
