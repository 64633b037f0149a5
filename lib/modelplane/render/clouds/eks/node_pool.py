"""Node pool of EKS: a managed node group, with a launch template and a placement group where it needs them.

A node group does not scale by itself: its bounds only limit what an autoscaler may ask for. So a pool has its number of
nodes, and grows only where the author says that an autoscaler runs on the cluster.

The AL2023 images with NVIDIA's driver bring no device plugin, so the DRA driver is alone on a node, and they label
nodes nvidia.com/gpu.present themselves.

Source: EKS user guide, "Use Capacity Blocks for ML with managed node groups": EKS scales such a group to zero forty
minutes before the block ends, so its size is written once and then belongs to EKS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render import provisioning
from modelplane.render.clouds.eks import cluster, images, kinds, launch_template, roles, settings, sizes
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import POOL, Nodes, NodeTaint, PoolSpec, Resource, Site

Json: TypeAlias = Any

GPU_TAINT = NodeTaint("nvidia.com/gpu", "true", "NoSchedule")
_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
# Labels of these domains are set by Kubernetes and EKS, and a node group may not have them.
_OTHERS_LABELS = ("kubernetes.io", "k8s.io", "eks.amazonaws.com")
_NOT_THERE = frozenset({"CREATING", "CREATE_FAILED", "DELETING"})
_DESIRED = "desiredSize"


def node_pool(
    site: Site, pool: PoolSpec, facts: Mapping[str, str], observed: Mapping[str, Resource]
) -> tuple[Manifest, ...]:
    """Return the managed resources of a pool. The node group waits for the version of its template.

    Raises: InvalidInput for a setting of which `problems` speaks.
    """
    group = launch_template.placement_group(site, pool)
    template = launch_template.template(site, pool, facts)
    before = tuple(one for one in (group, template) if one is not None)
    if launch_template.is_needed(pool):
        version = launch_template.version(observed)
        if not version:
            return before
        name = kinds.reference(site, "pool", pool.name)["name"]
        how: dict[str, Json] = {"launchTemplate": {"name": name, "version": version}}
    else:
        how = {"instanceTypes": [pool.recipe.at("instanceType").text()]}
        if pool.recipe.at("diskSizeGiB").is_set:
            how["diskSize"] = pool.recipe.at("diskSizeGiB").integer()
    return (*before, _node_group(site, pool, facts, how))


def nodes(pool: PoolSpec, observed: Mapping[str, Resource]) -> Nodes:
    """Return the nodes that EKS reports: none while the node group is made, and those it is to have afterwards.

    A pool grows only where its number of nodes belongs to an autoscaler. Spot nodes and those of a Capacity Block are
    not promised, and a DRA pool at zero never grows, because no autoscaler knows the devices of a node that is not
    there.
    """
    standing = observed.get(POOL)
    size = provisioning.at_provider(standing, "scalingConfig", _DESIRED)
    whole = int(size) if isinstance(size, float) and size.is_integer() else size
    there = seen.count(whole)
    if there is None:
        return Nodes()
    if seen.text(provisioning.at_provider(standing, "status")) in _NOT_THERE:
        there = 0
    scales = seen.at(standing, "spec", "initProvider", "scalingConfig", _DESIRED) is not None
    is_promised = pool.recipe.at("capacityType").text("ON_DEMAND") == "ON_DEMAND"
    wakes = there > 0 or not pool.drivers
    growable = pool.most - there if scales and is_promised and wakes and not pool.is_fixed else 0
    return Nodes(there, max(0, growable))


def image(pool: PoolSpec) -> str:
    """Return the image family of the nodes: the author's, else the one for the instance type."""
    return pool.recipe.at("amiType").text(images.default(_type(pool), has_gpus=has_gpus(pool)))


def has_gpus(pool: PoolSpec) -> bool:
    """Return whether the nodes have GPUs, as far as the instance type or the class shows it."""
    name = _type(pool)
    return name in sizes.SIZES or (pool.devices > 0 and not images.has_neuron(name))


def _type(pool: PoolSpec) -> str:
    return pool.recipe.at("instanceType").text("")


def _node_group(site: Site, pool: PoolSpec, facts: Mapping[str, str], how: dict[str, Json]) -> Manifest:
    bounds, desired = _scaling(site, pool)
    is_reserved = settings.is_reserved(pool)
    fields: dict[str, Json] = {
        "clusterNameRef": kinds.reference(site),
        **roles.node_role(site),
        **cluster.node_subnets(site, pool.zones),
        "amiType": image(pool),
        "capacityType": pool.recipe.at("capacityType").text("ON_DEMAND"),
        **how,
        "scalingConfig": bounds,
        # Bought capacity has no spare node onto which an update could surge.
        "updateConfig": {"maxUnavailable": 1} | ({"updateStrategy": "MINIMAL"} if is_reserved else {}),
        "nodeRepairConfig": {"enabled": not is_reserved},
        "labels": _labels(pool),
        "taint": _taints(pool),
        **cluster.pool_version(site, facts.get(cluster.FACT_VERSION, "")),
    }
    part = kinds.Part(POOL, ("pool", pool.name), external_name=names.bounded(pool.name))
    return kinds.made(site, kinds.NODE_GROUP, part, fields, initial=desired)


def _scaling(site: Site, pool: PoolSpec) -> tuple[dict[str, Json], dict[str, Json] | None]:
    """Return the bounds, and apart from them the size that is written once where it then belongs to another."""
    size = pool.least if pool.declared is None else pool.declared
    if settings.is_in_capacity_block(pool):
        return {"minSize": 0, "maxSize": max(1, size)}, {"scalingConfig": {_DESIRED: size}}
    if pool.is_fixed or not settings.has_autoscaler(site):
        return {"minSize": size, _DESIRED: size, "maxSize": max(1, size)}, None
    return {"minSize": pool.least, "maxSize": max(1, pool.most)}, {"scalingConfig": {_DESIRED: size}}


def _labels(pool: PoolSpec) -> dict[str, str]:
    wanted = {key: value for key, value in pool.labels if not _is_of_others(key)}
    return dict(sorted((wanted | {names.LABEL_POOL: pool.name}).items()))


def _is_of_others(key: str) -> bool:
    domain = key.partition("/")[0] if "/" in key else ""
    return any(domain == one or domain.endswith(f".{one}") for one in _OTHERS_LABELS)


def _taints(pool: PoolSpec) -> list[dict[str, Json]]:
    own = (GPU_TAINT,) if has_gpus(pool) else ()
    wanted = {(one.key, one.effect): one for one in (*own, *pool.taints)}
    return [
        {"key": one.key, "effect": _EFFECTS[one.effect]} | ({"value": one.value} if one.value else {})
        for _, one in sorted(wanted.items())
    ]
