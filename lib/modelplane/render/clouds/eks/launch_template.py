"""Launch template of a pool: what a NodeGroup has no field for.

A pool has one where it has Elastic Fabric Adapters, stands in a placement group, uses bought capacity, or wants a
faster disk. Type and disk then stand in the template alone, because EKS refuses them in both places. EKS also refuses
subnets, an instance profile, spot options and a shutdown behaviour in a template.

A template with network interfaces must name the security group of the cluster, or nodes never join. The group that EKS
makes lets everything through to itself, both ways, which is also what adapters need, so no other group is composed.

Source: EKS user guide, "Customize managed nodes with launch templates", "Use Capacity Blocks for ML with managed node
groups" and "View Amazon EKS security group requirements for clusters".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import provisioning
from modelplane.render.clouds.eks import kinds, settings, sizes
from modelplane.render.clouds.eks.cluster import FACT_SECURITY_GROUP
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import PoolSpec, Resource, Site

Json: TypeAlias = Any

TEMPLATE = "launch-template"
PLACEMENT = "placement-group"
OWN_PLACEMENT = "Cluster"
ADAPTERS_MAX = 128
"""The most adapters that the definition of InferenceClass takes. Each is rendered, so there is a bound here, too."""
_DISK = "/dev/xvda"
_DEFAULT_DISK_GIB = 100
_LEAST_IOPS, _IOPS_PER_MIB = 3000, 4


def is_needed(pool: PoolSpec) -> bool:
    """Return whether the pool needs a launch template."""
    recipe = pool.recipe
    return (
        adapters(pool) > 0
        or settings.is_reserved(pool)
        or placement(pool) != ""
        or recipe.at("diskThroughputMiB").is_set
    )


def adapters(pool: PoolSpec) -> int:
    """Return the number of Elastic Fabric Adapters of a node."""
    return pool.recipe.at("efaInterfaces").count(0, least=0, most=ADAPTERS_MAX)


def placement(pool: PoolSpec) -> str:
    """Return the placement group that the class names, `OWN_PLACEMENT` for one that is made, empty for none."""
    policy = pool.recipe.at("placementPolicy").text("None")
    return OWN_PLACEMENT if policy == OWN_PLACEMENT else pool.recipe.at("placementGroup").text("")


def placement_group(site: Site, pool: PoolSpec) -> Manifest | None:
    """Return the placement group that is made for the pool."""
    if pool.recipe.at("placementPolicy").text("None") != OWN_PLACEMENT:
        return None
    name = _name(site, pool)
    return kinds.made(
        site,
        kinds.PLACEMENT_GROUP,
        kinds.Part(PLACEMENT, ("pool", pool.name), external_name=name),
        {"strategy": "cluster"},
    )


def template(site: Site, pool: PoolSpec, facts: Mapping[str, str]) -> Manifest | None:
    """Return the template of a pool, None if it needs none or a fact for it is still unknown."""
    if not is_needed(pool):
        return None
    size = sizes.SIZES.get(pool.recipe.at("instanceType").text())
    attached = () if size is None else sizes.attachments(size, adapters(pool))
    group = facts.get(FACT_SECURITY_GROUP, "")
    if attached and not group:
        return None
    fields: dict[str, Json] = {
        "name": _name(site, pool),
        "updateDefaultVersion": True,
        "instanceType": pool.recipe.at("instanceType").text(),
        "blockDeviceMappings": [{"deviceName": _DISK, "ebs": _disk(pool)}],
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
        **_capacity(pool),
    }
    if placement(pool):
        own = placement(pool) == OWN_PLACEMENT and placement_group(site, pool) is not None
        fields["placement"] = {"groupName": _name(site, pool) if own else placement(pool)}
    if attached:
        fields["networkInterfaces"] = [_interface(one, group) for one in attached]
    return kinds.made(site, kinds.LAUNCH_TEMPLATE, kinds.Part(TEMPLATE, ("pool", pool.name)), fields)


def version(observed: Mapping[str, Resource]) -> str:
    """Return the newest version of the observed template, empty while it is unknown."""
    number = seen.count(provisioning.at_provider(observed.get(TEMPLATE), "latestVersion"))
    return "" if not number else str(number)


def _name(site: Site, pool: PoolSpec) -> str:
    return provisioning.part_name(site.cluster, "pool", pool.name)


def _interface(one: sizes.Attachment, group: str) -> dict[str, Json]:
    # The provider has booleans as texts here.
    return {
        "networkCardIndex": one.card,
        "deviceIndex": one.index,
        "interfaceType": one.kind,
        "securityGroups": [group],
        "deleteOnTermination": "true",
    }


def _disk(pool: PoolSpec) -> dict[str, Json]:
    size = pool.recipe.at("diskSizeGiB").integer(_DEFAULT_DISK_GIB)
    disk: dict[str, Json] = {"volumeSize": size, "volumeType": "gp3", "deleteOnTermination": "true"}
    if pool.recipe.at("diskThroughputMiB").is_set:
        # gp3 gives a quarter of a MiB/s for each operation.
        throughput = pool.recipe.at("diskThroughputMiB").integer()
        disk |= {"throughput": throughput, "iops": max(_LEAST_IOPS, _IOPS_PER_MIB * throughput)}
    return disk


def _capacity(pool: PoolSpec) -> dict[str, Json]:
    if not settings.is_reserved(pool):
        return {}
    target = {"capacityReservationId": pool.recipe.at("capacityReservationId").text()}
    fields: dict[str, Json] = {"capacityReservationSpecification": {"capacityReservationTarget": target}}
    if settings.is_in_capacity_block(pool):
        fields["instanceMarketOptions"] = {"marketType": "capacity-block"}
    return fields
