"""Checks of a GKE cluster: what Google Cloud would refuse minutes later, and no schema catches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render import asked_version, ranges
from modelplane.render.clouds.gke import naming, pool_checks, settings
from modelplane.render.provisioning import Given, PoolSpec, Site

Check: TypeAlias = Callable[[Site, tuple[PoolSpec, ...]], Iterator[InvalidInput]]

_PROJECT = re.compile(r"[a-z][-a-z0-9]{4,28}[a-z0-9]")
_REGION = re.compile(r"[a-z]+(-[a-z]+)+[0-9]+")
_CLUSTER = re.compile(rf"[a-z]([-a-z0-9]{{0,{naming.CLUSTER_MAX - 2}}}[a-z0-9])?")
_ACCOUNT = re.compile(r"[^@\s]+@[^@\s]+\.gserviceaccount\.com")
# With 110 pods, the default, a node gets 256 addresses of pods.
_NODE_PREFIX = 24
_EXTERNAL_NAME = ("spec", "cluster", "externalName")
_SYSTEM_NODES = 3
_RESERVED_ADDRESSES = 4
_NETWORK_TEXTS = ("network", "subnetwork", "podRangeName", "serviceRangeName")
_LEAST_RANGE = {"nodeCidr": 29, "podCidr": 21, "serviceCidr": 27}


def problems(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    """Yield everything that Google Cloud would refuse, each once."""
    found = chain(
        *(_held(check(site, pools)) for check in _OF_SITE),
        *(_held_of(pool, check(site, pool)) for pool in pools for check in pool_checks.CHECKS),
        _same_names(pools),
    )
    said = set()
    for problem in found:
        if str(problem) not in said:
            said.add(str(problem))
            yield problem


def _held(found: Iterable[InvalidInput]) -> Iterator[InvalidInput]:
    """Yield the problems, and in place of a field that cannot be read its error."""
    try:
        yield from found
    except InvalidInput as unreadable:
        yield unreadable


def _held_of(pool: PoolSpec, found: Iterable[InvalidInput]) -> Iterator[InvalidInput]:
    """Yield the problems of a pool. A field of its recipe that cannot be read is named at the pool."""
    try:
        yield from found
    except InvalidInput as unreadable:
        is_of_cluster = unreadable.path[:2] in (("spec", "cluster"), ("spec", "nodePools"))
        yield unreadable if is_of_cluster else pool.at.wrong(f"class {pool.class_name}: {unreadable}")


def _project(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    project = settings.project(site)
    if _PROJECT.fullmatch(project) is None:
        yield site.settings.at("project").wrong(
            f"{project} is no project ID; write 6 to 30 lower-case letters, digits and hyphens, not its title or number"
        )


def _region(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    region = settings.region(site)
    if _REGION.fullmatch(region) is None:
        yield site.settings.at("region").wrong(
            f"{region} is no region; write one like us-central1, and zones like us-central1-b at the pools"
        )


def _network(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    given = site.settings
    for key in _NETWORK_TEXTS:
        yield from _held(_unreadable(given.at(key)))
    for one, other in (("network", "subnetwork"), ("subnetwork", "network")):
        if given.at(one).is_set and not given.at(other).is_set:
            yield given.at(other).wrong(f"is required with {one}; name both, or neither for a network of its own")
    if settings.has_own_network(site):
        for key in ("podRangeName", "serviceRangeName"):
            if given.at(key).is_set:
                yield given.at(key).wrong("names a range of an existing subnetwork; name network and subnetwork too")


def _existing_ranges(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    given = site.settings
    if settings.has_own_network(site):
        return
    if given.at("nodeCidr").is_set:
        yield given.at("nodeCidr").wrong("is that of the existing subnetwork; remove it")
    for by_name, by_range in (("podRangeName", "podCidr"), ("serviceRangeName", "serviceCidr")):
        if given.at(by_name).is_set and given.at(by_range).is_set:
            yield given.at(by_range).wrong(f"contradicts {by_name}, which names an existing range; keep one of both")
    if given.at("podRangeName").is_set != given.at("serviceRangeName").is_set:
        missing = "serviceRangeName" if given.at("podRangeName").is_set else "podRangeName"
        yield given.at(missing).wrong("is required beside the other name of a range; name both, or neither")


def _unreadable(field: Given) -> Iterator[InvalidInput]:
    if field.is_set:
        field.text()
    yield from ()


def _ranges(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    asked = settings.asked_ranges(site)
    for one, (key, _, _) in zip(asked, _fields(site), strict=True):
        least = _LEAST_RANGE[key]
        if one.addresses.prefixlen > least:
            yield one.field.wrong(f"the {one.word} {one.text} is too small; write /{least} or larger")
    yield from ranges.overlaps(asked)


def _fields(site: Site) -> tuple[tuple[str, str, str], ...]:
    own = settings.has_own_network(site)
    fields = (settings.NODE_RANGE, settings.POD_RANGE, settings.SERVICE_RANGE)
    return fields if own else tuple(field for field in fields[1:] if site.settings.at(field[0]).is_set)


def _room(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    """Yield an error for each range that has too few addresses for all nodes at once."""
    most = _SYSTEM_NODES + sum(pool.most if pool.declared is None else pool.declared for pool in pools)
    own = settings.has_own_network(site)
    if own or site.settings.at("podCidr").is_set:
        pods = settings.address_range(site, settings.POD_RANGE)
        room = pods.blocks(_NODE_PREFIX)
        if room < most:
            yield pods.field.wrong(
                f"{pods.text} has addresses for {room} nodes (256 each), but the pools may have {most} with the system "
                "pool; write a larger range or fewer nodes"
            )
    if own:
        nodes = settings.address_range(site, settings.NODE_RANGE)
        room = nodes.size - _RESERVED_ADDRESSES
        if room < most:
            yield nodes.field.wrong(
                f"{nodes.text} has addresses for {room} nodes, but the pools may have {most} with the system pool; "
                "write a larger range or fewer nodes"
            )


def _version(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    channel = site.settings.at("releaseChannel")
    if channel.is_set and channel.text() not in settings.CHANNELS:
        yield channel.wrong(f"{channel.text()} is no release channel; write one of {', '.join(settings.CHANNELS)}")
    field = settings.version_field(site)
    pinned = settings.pin(site)
    if pinned is not None and channel.is_set:
        yield field.wrong(
            f"{pinned.text} names a patch, which releaseChannel {channel.text()} would upgrade; write 1.{pinned.minor} "
            "as the least version of the channel, or remove releaseChannel to stay at the patch"
        )
    if pinned is not None and "-gke." not in pinned.text:
        yield field.wrong(
            f"{pinned.text} is no version of GKE; write all of it, like 1.35.1-gke.1396002, or the minor "
            f"1.{pinned.minor} alone"
        )
    yield from asked_version.too_old(field, pools)


def _names(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    name = site.external_name
    if name and _CLUSTER.fullmatch(name) is None:
        yield InvalidInput(
            f"{name} is no name of a cluster of GKE; write at most {naming.CLUSTER_MAX} lower-case letters, "
            "digits and hyphens that begin with a letter",
            path=_EXTERNAL_NAME,
        )


def _accounts(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    access = site.settings.at("access")
    if access.is_set and access.text() not in settings.ACCESS:
        yield access.wrong(f"{access.text()} is no kind of access; write {' or '.join(settings.ACCESS)}")
    account = site.settings.at("nodeServiceAccount")
    if account.is_set and _ACCOUNT.fullmatch(account.text()) is None:
        yield account.wrong(
            f"{account.text()} is no address of a service account; write one like "
            "nodes@my-project.iam.gserviceaccount.com"
        )


def _same_names(pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    for pool in pools:
        if pool.name == naming.SYSTEM_POOL:
            yield pool.at.wrong(
                f"the name {naming.SYSTEM_POOL} belongs to the pool of the controllers; give the pool another"
            )


_OF_SITE: Final[tuple[Check, ...]] = (
    _project,
    _region,
    _network,
    _existing_ranges,
    _ranges,
    _room,
    _version,
    _names,
    _accounts,
)
