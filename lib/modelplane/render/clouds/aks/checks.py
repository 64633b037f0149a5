"""Checks of an AKS cluster: what Azure would refuse minutes later, and no schema catches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render import asked_version, ranges
from modelplane.render.clouds.aks import naming, pool_checks, settings
from modelplane.render.provisioning import PoolSpec, Site

Check: TypeAlias = Callable[[Site, tuple[PoolSpec, ...]], Iterator[InvalidInput]]

_LOCATION = re.compile(r"[a-z][a-z0-9]*")
_GROUP = re.compile(r"[-\w.()]{0,89}[-\w()]")
_CLUSTER = re.compile(r"[A-Za-z0-9]([-_A-Za-z0-9]{0,61}[A-Za-z0-9])?")
_IN_GROUP = r"/subscriptions/[^/]+/resourceGroups/[^/]+/providers/"
_SUBNET = re.compile(rf"{_IN_GROUP}Microsoft\.Network/virtualNetworks/[^/]+/subnets/[^/]+", re.IGNORECASE)
_IDENTITY = re.compile(rf"{_IN_GROUP}Microsoft\.ManagedIdentity/userAssignedIdentities/[^/]+", re.IGNORECASE)
_EXTERNAL_NAME = ("spec", "cluster", "externalName")
# On an overlay each node gets 256 addresses of pods, whatever the number of its pods.
_NODE_PREFIX = 24
_SYSTEM_NODES = 3
_RESERVED_ADDRESSES = 5
_LEAST = {"networkCidr": 29, "nodeCidr": 29, "podCidr": 22, "serviceCidr": settings.LEAST_SERVICES}
_LARGEST_SERVICES = 12
_OWN_ONLY = ("networkCidr", "nodeCidr")


def problems(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    """Yield everything that Azure would refuse, each once."""
    found = chain(
        *(_held(check(site, pools)) for check in _OF_SITE),
        *(_held_of(pool, check(site, pool)) for pool in pools for check in pool_checks.CHECKS),
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


def _location(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    location = settings.location(site)
    if _LOCATION.fullmatch(location) is None:
        yield site.settings.at("location").wrong(
            f"{location} is no name of a location; write it in lower case and without spaces, like westeurope"
        )


def _group(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    group = settings.group(site)
    if group and _GROUP.fullmatch(group) is None:
        yield site.settings.at("resourceGroup").wrong(
            f"{group} is no name of a resource group; write at most 90 letters, digits, or -_.() that end in no period"
        )


def _identifiers(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    for key, pattern, end in (
        ("subnetId", _SUBNET, "Microsoft.Network/virtualNetworks/NETWORK/subnets/SUBNET"),
        ("identityId", _IDENTITY, "Microsoft.ManagedIdentity/userAssignedIdentities/IDENTITY"),
    ):
        yield from _held(_identifier(site, key, pattern, end))


def _identifier(site: Site, key: str, pattern: re.Pattern[str], end: str) -> Iterator[InvalidInput]:
    field = site.settings.at(key)
    if field.is_set and pattern.fullmatch(field.text()) is None:
        yield field.wrong(
            f"{field.text()} is no resource ID of that kind; write "
            f"/subscriptions/ID/resourceGroups/GROUP/providers/{end}"
        )


def _ranges(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    is_own = not settings.subnet(site)
    fields = (settings.NETWORK_RANGE, settings.NODE_RANGE, settings.POD_RANGE, settings.SERVICE_RANGE)
    for key in () if is_own else _OWN_ONLY:
        if site.settings.at(key).is_set:
            yield site.settings.at(key).wrong("is that of the existing network; remove it")
    asked = {field[0]: settings.address_range(site, field) for field in fields if is_own or field[0] not in _OWN_ONLY}
    for key, one in asked.items():
        if one.addresses.prefixlen > _LEAST[key]:
            yield one.field.wrong(f"the {one.word} {one.text} is too small; write /{_LEAST[key]} or larger")
    services = asked["serviceCidr"]
    if services.addresses.prefixlen < _LARGEST_SERVICES:
        yield services.field.wrong(
            f"the {services.word} {services.text} is too large; write /{_LARGEST_SERVICES} or smaller"
        )
    yield from ranges.overlaps([one for key, one in asked.items() if key != "nodeCidr"])
    if is_own and not asked["nodeCidr"].addresses.subnet_of(asked["networkCidr"].addresses):
        nodes, network = asked["nodeCidr"], asked["networkCidr"]
        wrong = nodes.field if nodes.field.is_set else network.field
        yield wrong.wrong(f"the {nodes.word} {nodes.text} is not within the {network.word} {network.text}")


def _room(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    """Yield an error for each range that has too few addresses for all nodes at once, with one more of each pool."""
    most = _SYSTEM_NODES + 1 + sum((pool.most if pool.declared is None else pool.declared) + 1 for pool in pools)
    pods = settings.address_range(site, settings.POD_RANGE)
    if pods.blocks(_NODE_PREFIX) < most:
        yield pods.field.wrong(
            f"{pods.text} has addresses for {pods.blocks(_NODE_PREFIX)} nodes (256 each), but {most} may be there "
            "during an upgrade, with the system pool; write a larger range or fewer nodes"
        )
    if settings.subnet(site):
        return
    nodes = settings.address_range(site, settings.NODE_RANGE)
    room = nodes.size - _RESERVED_ADDRESSES
    if room < most:
        yield nodes.field.wrong(
            f"{nodes.text} has addresses for {room} nodes, but {most} may be there during an upgrade, with the system "
            "pool; write a larger range or fewer nodes"
        )


def _version(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    channel = site.settings.at("upgradeChannel")
    if channel.is_set and channel.text() not in settings.CHANNELS:
        yield channel.wrong(f"{channel.text()} is no upgrade channel; write one of {', '.join(settings.CHANNELS)}")
    field, asked = settings.version_field(site), settings.asked(site)
    if asked is not None and channel.is_set:
        if asked.is_exact:
            yield field.wrong(
                f"{asked.text} names a patch, which upgradeChannel {channel.text()} would upgrade; write "
                f"1.{asked.minor}, or remove upgradeChannel to stay at the patch"
            )
        elif channel.text() != settings.PATCH:
            yield field.wrong(
                f"{asked.text} is a minor, which upgradeChannel {channel.text()} would upgrade; remove it, or write "
                f"upgradeChannel: {settings.PATCH}"
            )
    if asked is None and channel.is_set and channel.text() == settings.PATCH:
        yield field.wrong(
            f"is required with upgradeChannel {settings.PATCH}, which stays at a minor; write one like 1.35"
        )
    yield from asked_version.too_old(field, pools)


def _words(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    tier = site.settings.at("tier")
    if tier.is_set and tier.text() not in settings.TIERS:
        yield tier.wrong(f"{tier.text()} is no tier; write one of {', '.join(settings.TIERS)}")
    settings.system_size(site)
    name = site.external_name
    if name and _CLUSTER.fullmatch(name) is None:
        yield InvalidInput(
            f"{name} is no name of a cluster of AKS; write at most {naming.CLUSTER_MAX} letters, digits, hyphens and "
            "underscores that begin and end with a letter or digit",
            path=_EXTERNAL_NAME,
        )


_OF_SITE: Final[tuple[Check, ...]] = (_location, _group, _identifiers, _ranges, _room, _version, _words)
