"""Node pool of an AKS cluster, and the nodes that may be counted in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render.clouds.aks import control_plane, naming, recipe, settings, sizes, vnet
from modelplane.render.clouds.aks.recipe import SPOT_TAINT, Recipe
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

_MOST_PODS = 110
_DRAIN_MINUTES = 60


def node_pool(
    site: Site, pool: PoolSpec, facts: Mapping[str, str], observed: Mapping[str, Resource]
) -> tuple[Manifest, ...]:
    """Return the node pool. It needs no fact: what it refers to is found by the provider.

    Raises: InvalidInput for a field that its author must change.
    """
    asked = recipe.read(pool)
    spec: dict[str, Json] = {
        "kubernetesClusterIdRef": {"name": naming.resource(site)},
        "vmSize": asked.size,
        "mode": "User",
        "osType": "Linux",
        "osSku": asked.os,
        "gpuDriver": asked.driver,
        "osDiskType": asked.disk_type,
        "maxPods": _MOST_PODS,
        **_count(pool),
        **vnet.in_subnet(site),
        **_purchase(asked),
        "nodeLabels": _labels(pool, asked),
        "nodeTaints": _taints(pool, asked),
    }
    if not pool.devices:
        del spec["gpuDriver"]
    if asked.disk_gib:
        spec["osDiskSizeGb"] = asked.disk_gib
    if pool.zones:
        spec["zones"] = list(pool.zones)
    if asked.proximity:
        spec["proximityPlacementGroupId"] = asked.proximity
    if settings.pin(site):
        spec["orchestratorVersion"] = settings.pin(site)
    name = naming.resource(site, "pool", pool.name)
    kind = "KubernetesClusterNodePool"
    identity = Identity(POOL, control_plane.CONTAINERS, kind, name, naming.pool_name(pool.name))
    return (control_plane.without_late_initialization(managed(identity, spec, site=site)),)


def nodes(pool: PoolSpec, observed: Mapping[str, Resource]) -> Nodes:
    """Return the nodes that the provider reads, and those that AKS adds when pods wait.

    An empty pool is never woken: the autoscaler knows nothing of the devices of a node that does not exist. Spot
    capacity promises nothing.
    """
    count = seen.count(at_provider(observed.get(POOL), "nodeCount"))
    standing = pool.least if count is None else count
    if pool.is_fixed or standing == 0 or recipe.is_spot(pool):
        return Nodes(count)
    return Nodes(count, max(0, pool.most - (count or 0)))


def _count(pool: PoolSpec) -> dict[str, Json]:
    if pool.declared is not None:
        return {"autoScalingEnabled": False, "nodeCount": pool.declared}
    return {"autoScalingEnabled": True, "minCount": pool.least, "maxCount": pool.most}


def _purchase(asked: Recipe) -> dict[str, Json]:
    """Return how the nodes are bought, and how they are upgraded, which depends on it.

    Spot capacity takes no settings of upgrades ("Spot pools can't set max surge"), and what was reserved has no spare
    node to surge onto.
    """
    if asked.is_spot:
        return {"priority": recipe.SPOT, "evictionPolicy": "Delete", "spotMaxPrice": -1}
    settings_of_upgrades: dict[str, Json] = {"maxSurge": "1", "drainTimeoutInMinutes": _DRAIN_MINUTES}
    if not asked.reservation:
        return {"upgradeSettings": settings_of_upgrades}
    return {
        "capacityReservationGroupId": asked.reservation,
        "upgradeSettings": settings_of_upgrades | {"maxSurge": "0", "maxUnavailable": "1"},
    }


def _labels(pool: PoolSpec, asked: Recipe) -> dict[str, str]:
    labels = dict(pool.labels) | {names.LABEL_POOL: pool.name}
    if sizes.NVIDIA in pool.drivers:
        # The affinity of the DRA driver's chart.
        labels["nvidia.com/gpu.present"] = "true"
    if asked.is_spot:
        labels[SPOT_TAINT.key] = SPOT_TAINT.value
    return dict(sorted(labels.items()))


def _taints(pool: PoolSpec, asked: Recipe) -> list[str]:
    own = [SPOT_TAINT] if asked.is_spot else []
    if pool.devices:
        own.append(NodeTaint("amd.com/gpu" if asked.is_amd else "nvidia.com/gpu", "present", "NoSchedule"))
    authored = {(taint.key, taint.effect) for taint in pool.taints}
    kept = [taint for taint in own if (taint.key, taint.effect) not in authored]
    return [f"{taint.key}={taint.value}:{taint.effect}" for taint in (*kept, *pool.taints)]
