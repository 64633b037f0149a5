"""Checks of the node pools of an AKS cluster, with what their author may write in place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render.clouds.aks import naming, recipe
from modelplane.render.clouds.aks.recipe import SPOT_TAINT, wrong
from modelplane.render.provisioning import PoolSpec, Site

Check: TypeAlias = Callable[[Site, PoolSpec], Iterator[InvalidInput]]

ZONES = ("1", "2", "3")
_MOST_NODES = 1000
_DISKS = ("Ephemeral", "Managed")
_PRIORITIES = ("Regular", "Spot")
_DRIVERS = ("Install", "None")
_SYSTEMS = ("Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux", "AzureLinux3")
_DEFAULT_DISK_GIB = 128
_OWN_DOMAINS = ("kubernetes.io", "k8s.io", "kubernetes.azure.com")
_OPEN_PREFIXES = ("node.kubernetes.io/", "kubelet.kubernetes.io/")
_SIZE = re.compile(r"Standard_[A-Za-z0-9_]+")
_RESERVED, _PROXIMITY = "capacityReservationGroupId", "proximityPlacementGroupId"
_IN_COMPUTE = r"/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Compute/"
_IDENTIFIERS = {
    _RESERVED: re.compile(rf"{_IN_COMPUTE}capacityReservationGroups/[^/]+", re.IGNORECASE),
    _PROXIMITY: re.compile(rf"{_IN_COMPUTE}proximityPlacementGroups/[^/]+", re.IGNORECASE),
}


def _name(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    if pool.name == naming.SYSTEM_POOL:
        yield pool.at.wrong(f"the name {pool.name} belongs to the pool of the controllers; give the pool another")


def _zones(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    for zone in pool.zones:
        if zone not in ZONES:
            yield pool.at.at("zones").wrong(f'{zone} is no zone of Azure; write "1", "2" or "3"')
    if len(set(pool.zones)) != len(pool.zones):
        yield pool.at.at("zones").wrong("a zone is named twice; write each once")


def _count(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    given = pool.at
    scales = given.at("minNodeCount").is_set or given.at("maxNodeCount").is_set
    if given.at("nodeCount").is_set and scales:
        yield given.at("nodeCount").wrong(
            "stands beside minNodeCount or maxNodeCount, and AKS takes one kind; keep nodeCount for a fixed pool, or "
            "the other two for one that scales"
        )
    if pool.most > _MOST_NODES:
        yield given.wrong(
            f"up to {pool.most} nodes are more than the {_MOST_NODES} of a node pool of AKS; make more pools"
        )
    if pool.declared is None and pool.most < 1:
        yield given.at("maxNodeCount").wrong("AKS scales a pool to at least 1 node; write 1 or more, or nodeCount: 0")
    elif pool.declared is None and pool.least < 1 and pool.drivers:
        yield given.at("minNodeCount").wrong(
            "must be 1 or more: devices of the pool are claimed (DRA), and the autoscaler of AKS never wakes an empty "
            "pool for a claim, because a node that does not exist publishes no devices"
        )


def _size(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    asked = recipe.read(pool)
    if _SIZE.fullmatch(asked.size) is None:
        yield wrong(pool, "vmSize", f"{asked.size} is no size of Azure; write one like Standard_ND96isr_H200_v5")
    if asked.facts is None or not pool.devices:
        return
    others = set(pool.drivers) - {asked.facts.driver}
    if pool.drivers and asked.facts.driver not in pool.drivers:
        yield wrong(
            pool,
            "vmSize",
            f"{asked.size} has devices of {asked.facts.driver}, but the class claims those of "
            f"{', '.join(pool.drivers)}; correct spec.devices, or choose another vmSize",
        )
    # Network interfaces are devices beside them.
    elif pool.devices < asked.facts.devices if others else pool.devices != asked.facts.devices:
        yield wrong(
            pool,
            "vmSize",
            f"{asked.size} has {asked.facts.devices} devices, but the class declares {pool.devices}; correct "
            "spec.devices, or choose another vmSize",
        )


def _system(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    asked = recipe.read(pool)
    for field, value, words in (
        ("osSku", asked.os, _SYSTEMS),
        ("gpuDriver", asked.driver, _DRIVERS),
        ("osDiskType", asked.disk_type, _DISKS),
        ("priority", pool.recipe.at("priority").text("Regular"), _PRIORITIES),
    ):
        if value not in words:
            yield wrong(pool, field, f"{value} is unknown; write one of {', '.join(words)}")
    if asked.facts is not None and asked.os.startswith("AzureLinux"):
        yield wrong(pool, "osSku", f"{asked.os} has no driver for {asked.size}; write Ubuntu")
    if asked.is_amd and asked.driver == "Install":
        yield wrong(
            pool, "gpuDriver", "Install is a driver of NVIDIA; write None, and let AMD's operator install its own"
        )


def _disk(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    asked = recipe.read(pool)
    size = asked.disk_gib or _DEFAULT_DISK_GIB
    if asked.disk_type == recipe.EPHEMERAL and asked.facts is not None and size > asked.facts.temporary_gib:
        yield wrong(
            pool,
            "osDiskType",
            f"{asked.disk_type} does not fit: {asked.size} has {asked.facts.temporary_gib} GiB for it, and the disk "
            f"has {size}; write Managed, or a smaller diskSizeGiB",
        )


def _purchase(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    asked = recipe.read(pool)
    for field, pattern in _IDENTIFIERS.items():
        identifier = pool.recipe.at(field)
        if identifier.is_set and pattern.fullmatch(identifier.text()) is None:
            yield wrong(pool, field, f"{identifier.text()} is no resource ID of that kind; write the whole of it")
    if asked.is_spot and asked.reservation:
        yield wrong(pool, "priority", f"{recipe.SPOT} excludes {_RESERVED}; keep one way to buy the nodes")
    if asked.proximity and len(pool.zones) > 1:
        yield pool.at.at("zones").wrong(
            f"{len(pool.zones)} zones are named, but class {pool.class_name} places nodes close together "
            f"({_PROXIMITY}), which needs one zone; name one"
        )
    has_taint = any((one.key, one.value, one.effect) == _SPOT for one in pool.taints)
    if asked.is_spot and not has_taint:
        yield pool.at.at("taints").wrong(
            f"AKS taints spot capacity of class {pool.class_name}, and only taints that stand here are tolerated; add "
            f"{{key: {SPOT_TAINT.key}, value: {SPOT_TAINT.value}, effect: {SPOT_TAINT.effect}}}"
        )


def _labels(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    for key, _ in pool.labels:
        prefix, slash, _ = key.rpartition("/")
        is_own = any(prefix == domain or prefix.endswith(f".{domain}") for domain in _OWN_DOMAINS)
        if slash and is_own and not key.startswith(_OPEN_PREFIXES):
            yield pool.at.wrong(f"the label {key} is set by AKS alone; select the nodes by another label")


_SPOT = (SPOT_TAINT.key, SPOT_TAINT.value, SPOT_TAINT.effect)
CHECKS: Final[tuple[Check, ...]] = (_name, _zones, _count, _size, _system, _disk, _purchase, _labels)
"""The checks of one pool."""
