"""Checks of the node pools of a GKE cluster, with what their author may write in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render.clouds.gke import machines, recipe, settings
from modelplane.render.clouds.gke.recipe import Recipe, wrong
from modelplane.render.provisioning import PoolSpec, Site

Check: TypeAlias = Callable[[Site, PoolSpec], Iterator[InvalidInput]]

_MOST_PER_ZONE = 1000
_LONGEST_SECONDS = 7 * 24 * 60 * 60
_SHORTEST_SECONDS = 600
_DRIVER, _PLACEMENT, _PROFILE = "driverVersion", "placementPolicy", "networkProfile"
_RESERVED, _SPOT, _FLEX, _RUN = "reservation", "spot", "flexStart", "maxRunSeconds"
_OWN_DOMAINS = ("kubernetes.io", "k8s.io", "cloud.google.com")
# Labels of these that authors of pods use and Kubernetes lets a kubelet set.
_OPEN_PREFIXES = ("node.kubernetes.io/", "kubelet.kubernetes.io/")


def _zones(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    region = settings.region(site)
    for zone in pool.zones:
        head, _, last = zone.rpartition("-")
        if head != region or len(last) != 1 or not last.isalpha():
            yield pool.at.at("zones").wrong(f"{zone} is no zone of {region}; write zones like {region}-b")
    if len(set(pool.zones)) != len(pool.zones):
        yield pool.at.at("zones").wrong("a zone is named twice; write each once")


def _count(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    given = pool.at
    scales = given.at("minNodeCount").is_set or given.at("maxNodeCount").is_set
    if given.at("nodeCount").is_set and scales:
        yield given.at("nodeCount").wrong(
            "stands beside minNodeCount or maxNodeCount, and GKE takes one kind; keep nodeCount for a fixed pool, or "
            "the other two for one that scales"
        )
    if pool.declared is not None and not pool.zones and pool.declared:
        yield given.at("zones").wrong(
            "is required with nodeCount, because GKE counts the nodes of each zone; name the zones that have the device"
        )
    zones = len(pool.zones)
    if pool.declared is not None and zones and pool.declared % zones:
        less, more = pool.declared // zones * zones, -(-pool.declared // zones) * zones
        yield given.at("nodeCount").wrong(
            f"{pool.declared} nodes cannot be spread evenly over {zones} zones, as GKE does; write "
            f"{f'{less} or ' if less else ''}{more}, or name fewer zones"
        )
    most = pool.most if pool.declared is None else pool.declared
    if most > _MOST_PER_ZONE * max(1, zones):
        yield given.wrong(
            f"up to {most} nodes in {max(1, zones)} zones are more than the {_MOST_PER_ZONE} per zone of a node pool "
            "of GKE; make more pools"
        )
    if pool.declared is None and pool.most < 1:
        yield given.at("maxNodeCount").wrong("GKE scales a pool to at least 1 node; write 1 or more, or nodeCount: 0")


def _device(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    asked = recipe.read(pool)
    facts = asked.facts
    if facts is None:
        if pool.devices and not asked.device_type:
            yield wrong(
                pool, "acceleratorType", f"is required, because the devices of {asked.machine} are not known here"
            )
        yield from _declared(pool, asked, asked.devices)
        return
    if asked.device_type != facts.device_type:
        yield wrong(
            pool,
            "acceleratorType",
            f"{asked.device_type} is not what {asked.machine} has; write {facts.device_type}, or remove it",
        )
    if asked.devices != facts.devices:
        yield wrong(
            pool,
            "acceleratorCount",
            f"{asked.devices} is not the {facts.devices} of {asked.machine}; write {facts.devices}, or remove it",
        )
    yield from _declared(pool, asked, facts.devices)


def _declared(pool: PoolSpec, asked: Recipe, count: int) -> Iterator[InvalidInput]:
    """Yield an error if the class declares another number of devices. Network interfaces are devices beside them."""
    others = set(pool.drivers) - {recipe.NVIDIA}
    differs = pool.devices < count if others else pool.devices != count
    if pool.devices and asked.device_type and differs:
        yield wrong(
            pool,
            "machineType",
            f"{asked.machine} has {count} devices, but the class declares {pool.devices}; correct spec.devices, or "
            "choose another machineType",
        )


def _driver(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    asked = pool.recipe.at(_DRIVER)
    if asked.is_set and asked.text() not in recipe.DRIVERS:
        yield wrong(pool, _DRIVER, f"{asked.text()} is unknown; write one of {', '.join(recipe.DRIVERS)}")


def _disks(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    asked = recipe.read(pool)
    if asked.facts is None:
        return
    if asked.ssds not in asked.facts.ssds:
        sizes = " or ".join(str(number) for number in asked.facts.ssds)
        yield wrong(pool, "localSsdCount", f"{asked.ssds} is not offered with {asked.machine}; write {sizes}")
    if asked.facts.has_hyperdisk_only and not asked.disk_type.startswith("hyperdisk-"):
        yield wrong(
            pool, "diskType", f"{asked.disk_type} does not fit {asked.machine}; write {asked.facts.disk}, or remove it"
        )
    streams = pool.recipe.at("imageStreaming")
    if pool.recipe.at("imageCacheDisk").is_set and not streams.flag(default=True):
        yield wrong(pool, "imageCacheDisk", "works only with imageStreaming; write true there, or remove one")


def _placement(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    asked = recipe.read(pool)
    policy = pool.recipe.at(_PLACEMENT).text("None")
    if policy not in ("None", recipe.COMPACT):
        yield wrong(pool, _PLACEMENT, f"{policy} is unknown; write None or {recipe.COMPACT}")
    if asked.is_compact and len(pool.zones) != 1:
        yield pool.at.at("zones").wrong(
            f"{len(pool.zones)} zones are named, but class {pool.class_name} places nodes close together "
            f"({_PLACEMENT} {recipe.COMPACT}), which needs exactly one; name one zone"
        )
    if not asked.profile:
        return
    if asked.profile != machines.RDMA_PROFILE:
        yield wrong(pool, _PROFILE, f"{asked.profile} is unknown; write {machines.RDMA_PROFILE}, or remove it")
    if asked.facts is not None and not asked.facts.has_rdma:
        yield wrong(pool, _PROFILE, f"does not fit {asked.machine}, which has no RDMA interfaces; remove it")
    if len(pool.zones) != 1:
        yield pool.at.at("zones").wrong(
            f"{len(pool.zones)} zones are named, but the RDMA network of class {pool.class_name} is in one zone; "
            "name one zone"
        )


def _purchase(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    asked = recipe.read(pool)
    chosen = [
        field
        for field, is_chosen in ((_SPOT, asked.is_spot), (_FLEX, asked.is_flex), (_RESERVED, asked.reservation))
        if is_chosen
    ]
    if len(chosen) > 1:
        yield wrong(pool, chosen[0], f"excludes {' and '.join(chosen[1:])}; keep one way to buy the nodes")
    if asked.is_flex and pool.is_fixed:
        yield pool.at.at("nodeCount").wrong(
            f"class {pool.class_name} starts nodes when capacity comes ({_FLEX}), which only a pool that scales can; "
            "write maxNodeCount in its place"
        )
    if asked.facts is not None and asked.facts.is_small_a3 and not (asked.is_spot or asked.is_flex):
        yield wrong(pool, "machineType", f"{asked.machine} is sold only with {_SPOT} or {_FLEX}; set one to true")
    run = pool.recipe.at(_RUN)
    if not run.is_set:
        return
    if not asked.is_flex:
        yield wrong(pool, _RUN, f"ends nodes that may be serving, and is taken only with {_FLEX}; remove it")
    if not _SHORTEST_SECONDS <= run.integer() <= _LONGEST_SECONDS:
        yield wrong(pool, _RUN, f"{run.integer()} is out of {_SHORTEST_SECONDS} to {_LONGEST_SECONDS} (seven days)")


def _labels(site: Site, pool: PoolSpec) -> Iterator[InvalidInput]:
    for key, _ in pool.labels:
        prefix, slash, _ = key.rpartition("/")
        is_own = any(prefix == domain or prefix.endswith(f".{domain}") for domain in _OWN_DOMAINS)
        if slash and is_own and not key.startswith(_OPEN_PREFIXES):
            yield pool.at.wrong(f"the label {key} is set by GKE alone; select the nodes by another label")


CHECKS: Final[tuple[Check, ...]] = (_zones, _count, _device, _driver, _disks, _placement, _purchase, _labels)
"""The checks of one pool."""
