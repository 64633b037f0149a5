"""Checks of one pool against the recipe of its class, its instance type, and the cluster that it stands in."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator

from modelplane.errors import InvalidInput
from modelplane.render.clouds.eks import cluster, images, launch_template, node_pool, settings, sizes, subnets
from modelplane.render.provisioning import PoolSpec, Site

GPU_TYPES = frozenset(sizes.SIZES)
_TYPE = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+")
_BLOCK_ID = re.compile(r"cr-[0-9a-f]{8,17}")
_NVIDIA = "gpu.nvidia.com"
_CAPACITY = ("ON_DEMAND", "SPOT", "CAPACITY_BLOCK")
_MOST_TAINTS = 50


def of_class(pool: PoolSpec, field: str, message: str) -> InvalidInput:
    """Return an error of a recipe, as one about the entry of the pool."""
    return pool.at.at("className").wrong(f'class "{pool.class_name}": spec.provisioning.eks.{field}: {message}')


def _name(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    if pool.name == cluster.SYSTEM:
        yield pool.at.at("name").wrong(
            f'"{cluster.SYSTEM}" is the pool for controllers that every cluster of EKS gets; name this one otherwise'
        )


def _type(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    name = pool.recipe.at("instanceType").text()
    if name in sizes.SIZES:
        return
    others = sizes.siblings(name)
    near = difflib.get_close_matches(name, sorted(sizes.SIZES), n=1)
    if others:
        yield of_class(pool, "instanceType", f"{name} does not exist; {sizes.family(name)} has {', '.join(others)}")
    elif _TYPE.fullmatch(name) is None:
        hint = near[0] if near else "p5.48xlarge"
        yield of_class(pool, "instanceType", f"{name!r} is no type of a node; write for example {hint}")


def _devices(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    """Yield an error where the class promises other devices than the instance type has.

    The devices of drivers other than NVIDIA's are not compared: network cards are among them.
    """
    size = sizes.SIZES.get(pool.recipe.at("instanceType").text())
    if size is None or pool.devices == 0 or any(driver != _NVIDIA for driver in pool.drivers):
        return
    has_whole = pool.devices == size.gpus
    are_slices = size.can_be_sliced and size.gpus < pool.devices <= size.most_devices and pool.devices % size.gpus == 0
    if has_whole or are_slices:
        return
    slices = f", or up to {size.most_devices} equal slices of them (MIG)" if size.can_be_sliced else ""
    yield of_class(
        pool,
        "instanceType",
        f"{size.name} has {size.gpus} {size.product}{slices}, and the class counts {pool.devices} devices; "
        "correct count in spec.devices, or name another type",
    )


def _image(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    name, kind = node_pool.image(pool), pool.recipe.at("instanceType").text()
    usual = images.default(kind, has_gpus=node_pool.has_gpus(pool))
    if name not in images.OFFERED:
        near = difflib.get_close_matches(name, images.OFFERED, n=1) or [usual]
        yield of_class(pool, "amiType", f"{name!r} is not offered; write for example {near[0]}")
        return
    if node_pool.has_gpus(pool) and not name.endswith("_NVIDIA"):
        yield of_class(pool, "amiType", f"{name} has no driver for GPUs; write {usual}, or leave it out")
    if images.is_arm(kind) != ("_ARM_64" in name):
        yield of_class(pool, "amiType", f"{name} is for other processors than those of {kind}; write {usual}")
    if name.startswith("BOTTLEROCKET") and pool.drivers:
        yield of_class(
            pool,
            "amiType",
            f"{name} brings a device plugin, which hands out the devices of the DRA driver a second time; "
            f"write {usual}, or leave it out",
        )
    if name.startswith("BOTTLEROCKET") and launch_template.is_needed(pool):
        yield of_class(pool, "amiType", f"{name} has its disk elsewhere than the launch template; write {usual}")


def _fabric(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    adapters = launch_template.adapters(pool)
    if adapters <= 0:
        return
    name = pool.recipe.at("instanceType").text()
    size = sizes.SIZES.get(name)
    if size is None:
        known = sorted(one for one, found in sizes.SIZES.items() if found.fabric)
        yield of_class(
            pool,
            "efaInterfaces",
            f"the network cards of {name} are unknown; leave it out, or use one of {', '.join(known)}",
        )
        return
    if adapters > size.fabric:
        most = f"at most {size.fabric}" if size.fabric else "no adapter; leave it out"
        yield of_class(pool, "efaInterfaces", f"{name} takes {most}, not {adapters}")
        return
    several = len(sizes.attachments(size, adapters)) > 1
    if several and settings.has_own_network(site) and not settings.has_private_nodes(site):
        yield site.settings.at("privateNodes").wrong(
            f'nodes of pool "{pool.name}" have {adapters} adapters, and EC2 gives no public address to a node with '
            "several network interfaces: it would reach no registry; write privateNodes: true (a NAT gateway, "
            "which costs by the hour and by the gigabyte), or subnetIds of subnets that have one"
        )


def _capacity(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    kind = pool.recipe.at("capacityType").text("ON_DEMAND")
    reserved = pool.recipe.at("capacityReservationId")
    if kind not in _CAPACITY:
        yield of_class(pool, "capacityType", f"{kind!r} is not one of {', '.join(_CAPACITY)}")
    if kind == "SPOT" and reserved.is_set:
        yield of_class(
            pool,
            "capacityReservationId",
            "spot nodes use no bought capacity; remove it, or write capacityType: ON_DEMAND",
        )
    if kind == "CAPACITY_BLOCK" and not reserved.is_set:
        yield of_class(
            pool,
            "capacityReservationId",
            "is required with capacityType: CAPACITY_BLOCK; write the id of the block (cr-...)",
        )
    if kind == "CAPACITY_BLOCK" and not pool.is_fixed:
        yield pool.at.at("nodeCount").wrong(
            "is required: a Capacity Block has a fixed number of nodes; write it instead of minNodeCount, maxNodeCount"
        )
    if reserved.is_set and _BLOCK_ID.fullmatch(reserved.text()) is None:
        yield of_class(
            pool, "capacityReservationId", f"{reserved.text()!r} is no id; write one such as cr-0123456789abcdef0"
        )


def _placement(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    policy = pool.recipe.at("placementPolicy").text("None")
    if policy not in ("None", launch_template.OWN_PLACEMENT):
        yield of_class(pool, "placementPolicy", f"{policy!r} is not one of None, {launch_template.OWN_PLACEMENT}")
    if policy == launch_template.OWN_PLACEMENT and pool.recipe.at("placementGroup").is_set:
        yield of_class(
            pool,
            "placementGroup",
            "names a group that exists, and placementPolicy: Cluster makes one; remove one of them",
        )


def _zones(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    field, region = pool.at.at("zones"), settings.region(site)
    for zone in pool.zones:
        if not subnets.letter(region, zone):
            yield field.wrong(f'"{zone}" is no zone of {region}; write one such as {region}a')
    own, of_zone = settings.has_own_network(site), settings.zone_subnets(site)
    for zone in pool.zones:
        if not own and of_zone and zone not in of_zone:
            yield field.wrong(
                f'"{zone}" has no subnet in spec.cluster.eks.zoneSubnetIds; add the one of subnetIds that lies in it'
            )
    why = _why_one_zone(pool)
    if why and len(pool.zones) != 1:
        yield field.wrong(f"{why}; write exactly one zone, not {len(pool.zones)}")
    elif own and not pool.zones:
        yield field.wrong(
            "is required: a pool keeps the subnets that it was made with; write one zone for pods that work together, "
            f"for example [{region}a]"
        )
    if pool.zones and not own and not of_zone:
        yield site.settings.at("zoneSubnetIds").wrong(
            f'pool "{pool.name}" names zones, and nothing says in which zones the given subnets lie; '
            f"write a subnet for each, for example {pool.zones[0]}: subnet-0a1b2c3d4e5f67890"
        )


def _why_one_zone(pool: PoolSpec) -> str:
    if settings.is_in_capacity_block(pool):
        return "a Capacity Block lies in one zone"
    if settings.is_reserved(pool):
        return "bought capacity lies in one zone"
    if launch_template.adapters(pool) > 0:
        return "adapters of EFA reach each other within one zone"
    return "a placement group lies in one zone" if launch_template.placement(pool) else ""


def _size(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    if pool.is_fixed or settings.is_in_capacity_block(pool):
        return
    if not settings.has_autoscaler(site):
        if pool.least == 0:
            yield pool.at.at("nodeCount").wrong(
                "is required: a pool of EKS does not grow by itself and would stay empty; write nodeCount, or "
                "spec.cluster.eks.autoscaler: true if a cluster autoscaler runs there"
            )
    elif pool.least == 0 and pool.drivers:
        yield pool.at.at("minNodeCount").wrong(
            f"must be at least 1: the devices of {', '.join(pool.drivers)} are unknown to the autoscaler until a node "
            "is there, so that a pool at zero never wakes; write minNodeCount: 1, or a fixed nodeCount"
        )


def _drivers(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    minor = settings.minor(site)
    if pool.drivers and minor is not None and minor < _DRA_MINOR:
        yield pool.at.at("className").wrong(
            f'class "{pool.class_name}" claims devices by DRA, which Kubernetes 1.{minor} does not serve; '
            f"write spec.cluster.eks.kubernetesVersion: 1.{_DRA_MINOR}, or later"
        )


_DRA_MINOR = 34


def _disk(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    """Yield errors about the disk. Source: Amazon EBS user guide, gp3: 125 to 2,000 MiB/s, up to 16,384 GiB or more."""
    field = pool.recipe.at("diskThroughputMiB")
    if field.is_set and not 125 <= field.integer() <= 2000:
        yield of_class(pool, "diskThroughputMiB", f"must be from 125 to 2000, not {field.integer()}")
    size = pool.recipe.at("diskSizeGiB")
    if size.is_set and size.integer() < 20:
        yield of_class(pool, "diskSizeGiB", f"must be at least 20, the size of the image; not {size.integer()}")


def _taints(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    if len(pool.taints) + 1 > _MOST_TAINTS:
        yield pool.at.at("taints").wrong(f"EKS takes at most {_MOST_TAINTS}, and adds one for GPUs; remove some")


CHECKS: tuple[Callable[[Site, PoolSpec], Iterator[InvalidInput]], ...] = (
    _name, _type, _devices, _image, _fabric, _capacity, _placement, _zones, _size, _drivers, _disk, _taints,
)  # fmt: skip
