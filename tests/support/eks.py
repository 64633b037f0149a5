"""Sites and pools of EKS, plain and by chance, and what they lead to in a world where Amazon makes everything."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from modelplane.api.fields import Field
from modelplane.render.clouds import eks
from modelplane.render.clouds.eks import sizes
from modelplane.render.manifest import Manifest
from modelplane.workload.created import NodeTaint, PoolSpec, Site

Json = Any
Observed = dict[str, Json]

REGION = "us-east-2"
A, B, C = (f"{REGION}{letter}" for letter in "abc")
ROLE = "arn:aws:iam::123456789012:role/platform"
BLOCK = "cr-0123456789abcdef0"
GIVEN: Json = {
    "subnetIds": ["subnet-0aaaaaaaaaaaaaaa0", "subnet-0bbbbbbbbbbbbbbb0"],
    "zoneSubnetIds": {A: "subnet-0aaaaaaaaaaaaaaa0", B: "subnet-0bbbbbbbbbbbbbbb0"},
}
"""The settings of a network that exists."""


def site(cluster: str = "ohio", *, pool_zones: tuple[str, ...] = (A,), **settings: Json) -> Site:
    """Return a site whose pools stand in `pool_zones`; a setting of None is left out."""
    block = {"region": REGION, "zones": [A, B], "kubernetesVersion": "1.34"} | settings
    written = {"spec": {"cluster": {"eks": {key: value for key, value in block.items() if value is not None}}}}
    return Site(cluster, Field(written).at("spec", "cluster", "eks"), pool_zones)


def pool(name: str = "l40s", *, recipe: Json = None, **changes: Json) -> PoolSpec:
    """Return a fixed pool of two nodes in one zone, of a class with four L40S that are claimed by DRA."""
    block = {"instanceType": "g6e.12xlarge"} | (recipe or {})
    entry = {"name": name, "className": "node"}
    plain = PoolSpec(
        name=name,
        class_name="node",
        at=Field({"spec": {"nodePools": {"0": entry}}}).at("spec", "nodePools", "0"),
        recipe=Field(block),
        declared=2,
        least=2,
        most=2,
        zones=(A,),
        labels=(("modelplane.ai/pool", name),),
        drivers=("gpu.nvidia.com",),
        devices=4,
    )
    return replace(plain, **changes)


def grown(name: str = "l40s", *, least: int = 1, most: int = 8, **changes: Json) -> PoolSpec:
    """Return a pool that scales."""
    return pool(name, declared=None, least=least, most=most, **changes)


def made(manifests: tuple[Manifest, ...]) -> Observed:
    """Return the managed resources as they are observed once Amazon has made them."""
    ready = [{"type": "Ready", "status": "True"}, {"type": "Synced", "status": "True"}]
    return {
        one.key: {**one.resource, "status": {"conditions": ready, "atProvider": eks.assumed(one.resource)}}
        for one in manifests
        if one.resource["kind"] != "Usage"
    }


def settled_cluster(where: Site) -> tuple[Manifest, ...]:
    """Return the resources of a cluster once everything that is waited for is there."""
    return eks.cluster(where, made(eks.cluster(where, {})))


def facts(where: Site) -> dict[str, str]:
    """Return the facts of the cluster once it is made."""
    return eks.facts(where, made(eks.cluster(where, {})))


def settled_pool(where: Site, of: PoolSpec, known: Mapping[str, str] | None = None) -> tuple[Manifest, ...]:
    """Return the resources of a pool once everything that is waited for is there."""
    told = facts(where) if known is None else known
    return eks.node_pool(where, of, told, made(eks.node_pool(where, of, told, {})))


def everything(where: Site, pools: tuple[PoolSpec, ...]) -> list[tuple[str, Manifest]]:
    """Return all resources of a site with the composite that each belongs to."""
    parts = {"network": eks.network(where), "cluster": settled_cluster(where), "config": (eks.config(where),)}
    parts |= {f"pool {one.name}": settled_pool(where, one) for one in pools}
    return [(part, manifest) for part, manifests in parts.items() for manifest in manifests]


# --- by chance --------------------------------------------------------------------------------------------------------

_REGIONS = ("us-east-2", "us-west-2", "eu-central-1", "cn-north-1", "us-gov-west-1")
_NAMES = ("a", "a-b", "b-c", "ohio", "a-cluster-whose-name-is-as-long-as-a-label-may-be".ljust(63, "x"))
_POOL_NAMES = ("c", "b-c", "l40s", "pool", "a-pool-whose-name-is-as-long-as-a-label-may-be".ljust(63, "x"))


def random_site(dice: random.Random) -> tuple[Site, tuple[PoolSpec, ...]]:
    """Return a site and its pools, which no check refuses."""
    region = dice.choice(_REGIONS)
    zones = [f"{region}{letter}" for letter in sorted(dice.sample("abcd", dice.randint(2, 4)))]
    settings: Json = {"region": region, "zones": zones, "kubernetesVersion": dice.choice((None, "1.34", "1.35"))}
    is_given, has_fabric = dice.random() < 0.3, dice.random() < 0.6
    if is_given:
        ids = [f"subnet-{dice.getrandbits(68):017x}" for _ in zones]
        settings |= {"zones": None, "subnetIds": ids, "zoneSubnetIds": dict(zip(zones, ids, strict=True))}
    else:
        settings["privateNodes"] = has_fabric
        settings["cidrBlock"] = dice.choice((None, "10.20.0.0/16", "192.168.0.0/20", "100.64.0.0/17"))
        settings["serviceCidrBlock"] = dice.choice((None, "172.20.0.0/16"))
    for key, values in _CHOICES.items():
        settings[key] = dice.choice(values)
    pools = tuple(
        _random_pool(dice, name, zones, has_fabric=has_fabric, grows=settings["autoscaler"])
        for name in dice.sample(_POOL_NAMES, dice.randint(1, 4))
    )
    where = site(
        dice.choice(_NAMES), pool_zones=tuple(sorted({zone for one in pools for zone in one.zones})), **settings
    )
    kept, other = dice.random() < 0.2, dice.choice(("", "", "legacy_EKS-1"))
    return replace(where, is_kept=kept, external_name=other), pools


_CHOICES: dict[str, tuple[Json, ...]] = {
    "roleArn": (None, ROLE),
    "nodeRoleArn": (None, ROLE),
    "access": (None, "Token", "WebIdentity"),
    "adminRoleArns": (None, [ROLE], [ROLE, f"{ROLE}-2"]),
    "storageDrivers": (None, ["EBS"], ["EFS"], ["EBS", "EFS"]),
    "autoscaler": (False, True),
    "systemPool": (None, {"instanceType": "m6i.large", "nodeCount": 1}),
    "providerConfigRef": (None, {"name": "aws-prod"}),
}


def _random_pool(dice: random.Random, name: str, zones: list[str], *, has_fabric: bool, grows: bool) -> PoolSpec:
    size = sizes.SIZES[dice.choice(sorted(sizes.SIZES))]
    recipe: Json = {"instanceType": size.name}
    if has_fabric and size.fabric:
        recipe["efaInterfaces"] = dice.choice((0, 1, size.fabric))
    capacity = dice.choice(("ON_DEMAND", "SPOT", "CAPACITY_BLOCK", None))
    if capacity is not None:
        recipe["capacityType"] = capacity
    if capacity == "CAPACITY_BLOCK" or (capacity != "SPOT" and dice.random() < 0.3):
        recipe["capacityReservationId"] = BLOCK
    recipe |= dice.choice(
        ({}, {"placementPolicy": "Cluster"}, {"placementGroup": "shared"}, {"placementPolicy": "None"})
    )
    recipe |= dice.choice(({}, {"diskSizeGiB": 500}, {"diskSizeGiB": 300, "diskThroughputMiB": 1000}))
    zonal = recipe.get("efaInterfaces", 0) or not {"capacityReservationId", "placementGroup"}.isdisjoint(recipe)
    one_zone = zonal or recipe.get("placementPolicy") == "Cluster"
    changes: Json = {
        "recipe": recipe,
        "zones": tuple(sorted(dice.sample(zones, 1 if one_zone else dice.randint(1, len(zones))))),
        "devices": size.gpus,
        "drivers": dice.choice(((), ("gpu.nvidia.com",))),
        "taints": dice.choice(
            ((), (NodeTaint("team", "a", "NoExecute"), NodeTaint("nvidia.com/gpu", "", "NoSchedule")))
        ),
        "labels": dice.choice(((), (("kubernetes.io/arch", "amd64"), ("modelplane.ai/pool", name), ("a/b", "c")))),
    }
    if capacity != "CAPACITY_BLOCK" and dice.random() < 0.5 and grows:
        return grown(name, least=dice.randint(1, 3), most=dice.randint(3, 9), **changes)
    count = dice.randint(0, 4)
    return pool(name, declared=count, least=count, most=count, **changes)
