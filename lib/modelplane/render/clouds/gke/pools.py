"""Node pool of a GKE cluster, and the nodes that may be counted in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render.clouds.gke import control_plane, naming, recipe
from modelplane.render.clouds.gke.recipe import Recipe
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import (
    POOL,
    Identity,
    Nodes,
    NodeTaint,
    PoolSpec,
    Resource,
    Site,
    at_provider,
    managed,
)

Json: TypeAlias = Any

_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
# GKE adds it to a pool with devices itself, but only where another pool has none.
_DEVICE_TAINT = NodeTaint("nvidia.com/gpu", "present", "NoSchedule")
_RESERVATION_KEY = "compute.googleapis.com/reservation-name"

# GKE's own device plugin off, the affinity of the DRA driver's chart, and slices that the autoscaler knows of an empty
# pool. Without the last one a pool at zero never wakes.
_CLAIM_LABELS = {
    "gke-no-default-nvidia-gpu-device-plugin": "true",
    "nvidia.com/gpu.present": "true",
    "cloud.google.com/gke-nvidia-gpu-dra-driver": "true",
}
_NETWORK_LABELS = {"cloud.google.com/gke-networking-dra-driver": "true"}


def node_pool(
    site: Site, pool: PoolSpec, facts: Mapping[str, str], observed: Mapping[str, Resource]
) -> tuple[Manifest, ...]:
    """Return the node pool. It needs no fact: what it refers to is found by the provider.

    Raises: InvalidInput for a field that its author must change.
    """
    asked = recipe.read(pool)
    count, initial = _count(pool)
    spec: dict[str, Json] = {
        "clusterRef": {"name": naming.resource(site)},
        **count,
        **_upkeep(site, asked),
        "nodeConfig": _node(site, pool, asked),
    }
    if pool.zones:
        spec["nodeLocations"] = list(pool.zones)
    if asked.profile:
        spec["networkConfig"] = {"acceleratorNetworkProfile": asked.profile}
    if asked.is_compact:
        spec["placementPolicy"] = {"type": "COMPACT"}
    name = naming.resource(site, "pool", pool.name)
    identity = Identity(POOL, control_plane.CONTAINER, "NodePool", name, naming.pool_name(pool.name))
    first = {"initialNodeCount": initial} if initial else None
    return (managed(identity, spec, site=site, init_provider=first),)


def nodes(pool: PoolSpec, observed: Mapping[str, Resource]) -> Nodes:
    """Return the nodes that the provider reads, and those that GKE adds when pods wait.

    The provider reads the number per zone, rounded down, of a fixed pool and of one with spot capacity, which promises
    nothing. It does not read that of another pool that scales (ignoreNodeCountChanges), which counts up to its bound.
    """
    if not _is_read(pool):
        return Nodes(None, pool.most)
    each = seen.count(at_provider(observed.get(POOL), "nodeCount"))
    return Nodes(None if each is None else each * max(1, len(pool.zones)))


def _is_read(pool: PoolSpec) -> bool:
    return pool.is_fixed or pool.recipe.at("spot").flag(default=False)


def _count(pool: PoolSpec) -> tuple[dict[str, Json], int]:
    """Return the number of nodes, and the first number per zone of a pool that scales (0: what GKE begins with).

    The number of a fixed pool counts each zone, the bounds of one that scales count the pool.
    """
    zones = max(1, len(pool.zones))
    if pool.declared is not None:
        return {"nodeCount": pool.declared // zones}, 0
    first = -(-pool.least // zones)
    bounds = {"totalMinNodeCount": pool.least, "totalMaxNodeCount": pool.most, "locationPolicy": "ANY"}
    counted: dict[str, Json] = {"autoscaling": bounds}
    if not _is_read(pool):
        counted["ignoreNodeCountChanges"] = True
    return counted, first if first * zones <= pool.most else pool.least // zones


def _upkeep(site: Site, asked: Recipe) -> dict[str, Json]:
    kept = control_plane.upkeep(site)
    if asked.reservation:
        # There is no spare node to surge onto.
        kept["upgradeSettings"] = {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 1}
    return kept


def _node(site: Site, pool: PoolSpec, asked: Recipe) -> dict[str, Json]:
    given = pool.recipe
    node = control_plane.node_base(site, asked.machine)
    node["imageType"] = given.at("imageType").text("COS_CONTAINERD")
    node["labels"] = _labels(pool, asked)
    taints = _taints(pool, asked)
    if taints:
        node["taint"] = taints
    if given.at("diskSizeGiB").is_set:
        node["diskSizeGb"] = given.at("diskSizeGiB").integer()
    if asked.disk_type:
        node["diskType"] = asked.disk_type
    if asked.ssds:
        node["ephemeralStorageLocalSsdConfig"] = {"localSsdCount": asked.ssds}
    if asked.device_type:
        node["guestAccelerator"] = [_devices(given.at("driverVersion").text("Default"), asked)]
    if asked.facts is not None and asked.facts.has_gvnic:
        node["gvnic"] = {"enabled": True}
    return node | _purchase(pool, asked) | _images(pool)


def _devices(driver: str, asked: Recipe) -> dict[str, Json]:
    return {
        "type": asked.device_type,
        "count": asked.devices,
        "gpuDriverInstallationConfig": {"gpuDriverVersion": recipe.DRIVERS.get(driver, driver)},
    }


def _purchase(pool: PoolSpec, asked: Recipe) -> dict[str, Json]:
    """Return how the nodes are bought: spot, flex-start with its limit, from what was reserved, or on demand."""
    bought: dict[str, Json] = {}
    if asked.is_spot:
        bought["spot"] = True
    if asked.is_flex:
        bought |= {"flexStart": True, "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}
    if pool.recipe.at("maxRunSeconds").is_set:
        bought["maxRunDuration"] = f"{pool.recipe.at('maxRunSeconds').integer()}s"
    if asked.reservation:
        bought["reservationAffinity"] = {
            "consumeReservationType": "SPECIFIC_RESERVATION",
            "key": _RESERVATION_KEY,
            "values": [asked.reservation],
        }
    return bought


def _images(pool: PoolSpec) -> dict[str, Json]:
    """Return how container images come to a node: streamed, or with a disk that has them already."""
    disk = pool.recipe.at("imageCacheDisk").text("")
    streams = pool.recipe.at("imageStreaming").flag(default=bool(disk))
    found: dict[str, Json] = {"gcfsConfig": {"enabled": True}} if streams else {}
    if disk:
        found["secondaryBootDisks"] = [{"diskImage": disk, "mode": "CONTAINER_IMAGE_CACHE"}]
    return found


def _labels(pool: PoolSpec, asked: Recipe) -> dict[str, str]:
    labels = dict(pool.labels) | {names.LABEL_POOL: pool.name}
    if recipe.NVIDIA in pool.drivers:
        labels |= _CLAIM_LABELS
    if recipe.DRANET in pool.drivers or (asked.profile and pool.drivers):
        labels |= _NETWORK_LABELS
    return dict(sorted(labels.items()))


def _taints(pool: PoolSpec, asked: Recipe) -> list[dict[str, str]]:
    authored = {(taint.key, taint.effect) for taint in pool.taints}
    own = (_DEVICE_TAINT,) if asked.device_type and (_DEVICE_TAINT.key, _DEVICE_TAINT.effect) not in authored else ()
    return [
        {"key": taint.key, "value": taint.value, "effect": _EFFECTS[taint.effect]} for taint in (*own, *pool.taints)
    ]
