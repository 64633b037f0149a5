"""Random sites and pools of AKS, and everything that they lead to."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

from modelplane.render.clouds import aks
from modelplane.render.clouds.aks.recipe import SPOT_TAINT
from modelplane.render.clouds.aks.sizes import SIZES
from modelplane.render.manifest import Manifest
from modelplane.workload.created import PoolSpec, Site
from tests.support import sites

Json = Any

_GROUPS = "/subscriptions/5/resourceGroups/shared/providers"
_SETTINGS: Mapping[str, tuple[Json, ...]] = {
    "resourceGroup": ("shared",),
    "kubernetesVersion": ("1.34", "v1.36", "1.35.2", "1.33"),
    "upgradeChannel": ("patch", "stable", "rapid"),
    "subnetId": (f"{_GROUPS}/Microsoft.Network/virtualNetworks/n/subnets/nodes",),
    "identityId": (f"{_GROUPS}/Microsoft.ManagedIdentity/userAssignedIdentities/i",),
    "networkCidr": ("10.64.0.0/16", "10.0.0.0/9", "172.16.0.0/24"),
    "nodeCidr": ("10.64.0.0/20", "10.64.16.0/24", "172.16.0.0/24"),
    "podCidr": ("10.128.0.0/14", "10.192.0.0/20", "10.64.0.0/16"),
    "serviceCidr": ("10.96.0.0/16", "10.97.0.0/27", "10.128.0.0/16"),
    "tier": ("Free", "Premium"),
    "systemVmSize": ("Standard_D16ds_v5",),
    "providerConfigRef": ({"name": "azure"},),
}
_RECIPE: Mapping[str, tuple[Json, ...]] = {
    "osSku": ("Ubuntu", "AzureLinux"),
    "diskSizeGiB": (128, 500, 2000),
    "osDiskType": ("Ephemeral", "Managed"),
    "gpuDriver": ("Install", "None"),
    "priority": ("Regular", "Spot"),
    "capacityReservationGroupId": (f"{_GROUPS}/Microsoft.Compute/capacityReservationGroups/r",),
    "proximityPlacementGroupId": (f"{_GROUPS}/Microsoft.Compute/proximityPlacementGroups/p",),
}
# With digits first, with hyphens, long, and like a shortened one.
NAMES = (
    "a",
    "a-b",
    "b",
    "b-c",
    "c",
    "nodes",
    "0",
    "8x",
    "a" * 63,
    f"a-{'0' * 16}",
    "abcd01234567",
    "systemtmp",
    "a-pool",
)


def random_site(dice: random.Random) -> tuple[Site, tuple[PoolSpec, ...]]:
    """Return a site and its pools; often something is wrong with them."""
    site = sites.site(
        "aks",
        {"location": "swedencentral", **_some(dice, _SETTINGS)},
        cluster=dice.choice(NAMES),
        is_kept=dice.random() < 0.2,
        external_name=dice.choice(("", "", "prod-7")),
    )
    return site, tuple(_pool(dice, name) for name in dice.sample(NAMES, dice.randrange(4)))


def accepted_site(dice: random.Random) -> tuple[Site, tuple[PoolSpec, ...]]:
    """Return a random site with nothing wrong about it: the pools and settings that are refused are left out."""
    site, pools = random_site(dice)
    while list(aks.problems(site, ())):
        site, pools = random_site(dice)
    return site, tuple(pool for pool in pools if not list(aks.problems(site, (pool,))))


def everything(site: Site, pools: Iterable[PoolSpec]) -> list[Manifest]:
    """Return what is composed once the identity is made."""
    observed: dict[str, Json] = {}
    for _ in range(2):
        cluster = aks.cluster(site, observed)
        observed = {one.key: {**one.resource, "status": {"atProvider": aks.assumed(one.resource)}} for one in cluster}
    of_pools = (one for pool in pools for one in aks.node_pool(site, pool, {}, {}))
    return [*aks.network(site), *cluster, *of_pools]


def _pool(dice: random.Random, name: str) -> PoolSpec:
    size = dice.choice([*SIZES, "Standard_ND128isr_NDR_GB200_v6"])
    facts = SIZES.get(size)
    recipe = {"vmSize": size, **_some(dice, _RECIPE)}
    least = dice.randrange(4)
    is_claimed = dice.random() < 0.8
    return sites.pool(
        "aks",
        recipe,
        name=name,
        count=dice.choice((None, 0, 2, 12)),
        bounds=(least, least + dice.randrange(8)),
        zones=tuple(dice.sample(("1", "2", "3"), dice.choice((0, 0, 1, 2)))),
        taints=(SPOT_TAINT,) if recipe.get("priority") == "Spot" else (),
        drivers=((facts.driver,) if facts else sites.DRA) if is_claimed else (),
        devices=facts.devices if facts else 4,
    )


def _some(dice: random.Random, choices: Mapping[str, tuple[Json, ...]]) -> dict[str, Json]:
    return {key: dice.choice(values) for key, values in choices.items() if dice.random() < 0.25}
