"""Checks of a cluster and of its pools before anything is made: what the schema lets through and EKS refuses.

Shape: each check yields errors with the path of the field and what to write. None is raised: a field of a wrong type is
one more error.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator

from modelplane.errors import InvalidInput
from modelplane.render.clouds.eks import pool_checks, settings, subnets
from modelplane.render.provisioning import PoolSpec, Site

LEAST_MINOR = 34
"""The first minor version of Kubernetes that serves resource.k8s.io/v1."""

_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-[0-9]")
_ARN = re.compile(r"arn:aws(-cn|-us-gov)?:iam::[0-9]{12}:role/[\w+=,.@/-]{1,512}")
_SUBNET = re.compile(r"subnet-[0-9a-f]{8,17}")
# Source: EKS API reference, KubernetesNetworkConfigRequest: a range of these three, from /12 to /24.
_PRIVATE_RANGES = tuple(ipaddress.IPv4Network(one) for one in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
_SERVICE_PREFIXES = range(12, 25)


def problems(site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
    """Yield everything that EKS would refuse, before anything is made. No error is raised."""
    for check in _OF_SITE:
        yield from caught(check(site))
    for pool in pools:
        for check_pool in pool_checks.CHECKS:
            yield from caught(check_pool(site, pool))


def caught(errors: Iterator[InvalidInput]) -> Iterator[InvalidInput]:
    """Yield the errors, and the one that ends the check because a field has a wrong type."""
    try:
        yield from errors
    except InvalidInput as error:
        yield error


def _region(site: Site) -> Iterator[InvalidInput]:
    name = settings.region(site)
    if _REGION.fullmatch(name) is None:
        yield site.settings.at("region").wrong(f"{name!r} is no region; write one such as us-east-2 (not a zone)")


def _version(site: Site) -> Iterator[InvalidInput]:
    field = site.settings.at("kubernetesVersion")
    text, minor = settings.version(site), settings.minor(site)
    if text and minor is None:
        yield field.wrong(
            f"{text!r} is no version that EKS takes; write the minor version alone, for example 1.{LEAST_MINOR}"
        )
    elif minor is not None and minor < LEAST_MINOR:
        yield field.wrong(f"{text} does not serve the devices API (resource.k8s.io/v1); write 1.{LEAST_MINOR} or later")


def _zones(site: Site) -> Iterator[InvalidInput]:
    if not settings.has_own_network(site):
        return
    field, region = site.settings.at("zones"), settings.region(site)
    for zone in field.texts():
        if not subnets.letter(region, zone):
            yield field.wrong(f'"{zone}" is no zone of {region}; write one such as {region}a')
    zones = settings.control_zones(site)
    if len(zones) < settings.LEAST_ZONES:
        there = f"only {zones[0]} is" if zones else "none is"
        yield field.wrong(
            f"EKS needs subnets in at least {settings.LEAST_ZONES} zones of {region}, and {there} named; "
            f"write for example zones: [{region}a, {region}b]"
        )
    if settings.has_private_nodes(site) and not field.is_set:
        yield field.wrong(
            "privateNodes needs the zones of the control plane, because its NAT gateway never moves; "
            f"write for example zones: [{region}a, {region}b]"
        )


def _given_network(site: Site) -> Iterator[InvalidInput]:
    ids = site.settings.at("subnetIds").texts()
    for one in ids:
        if _SUBNET.fullmatch(one) is None:
            yield site.settings.at("subnetIds").wrong(
                f"{one!r} is no subnet; write its id, for example subnet-0a1b2c3d4e5f67890"
            )
    of_zone = settings.zone_subnets(site)
    if not ids:
        if of_zone:
            yield site.settings.at("zoneSubnetIds").wrong(
                "says in which zones given subnets lie, and none is given; list them in subnetIds, or remove it"
            )
        return
    if len(ids) < settings.LEAST_ZONES:
        yield site.settings.at("subnetIds").wrong(
            f"EKS needs subnets in at least {settings.LEAST_ZONES} zones, and one is named; add one in another zone"
        )
    yield from _given_zones(site, ids)
    for key in ("cidrBlock", "zones", "privateNodes"):
        if site.settings.at(key).is_set:
            yield site.settings.at(key).wrong(
                "describes a network that is made, and subnetIds names one that exists; remove one of them"
            )


def _given_zones(site: Site, ids: tuple[str, ...]) -> Iterator[InvalidInput]:
    for zone, subnet in settings.zone_subnets(site).items():
        if subnet not in ids:
            yield site.settings.at("zoneSubnetIds", zone).wrong(f"{subnet} is not in subnetIds; add it there")
        if not subnets.letter(settings.region(site), zone):
            yield site.settings.at("zoneSubnetIds", zone).wrong(f'"{zone}" is no zone of {settings.region(site)}')


def _addresses(site: Site) -> Iterator[InvalidInput]:
    own = settings.has_own_network(site)
    network, services = settings.cidr(site), settings.service_cidr(site)
    field = site.settings.at("cidrBlock")
    if own and not subnets.SHORTEST_PREFIX <= network.prefixlen <= subnets.LONGEST_PREFIX:
        yield field.wrong(
            f"{network} must be from /{subnets.SHORTEST_PREFIX} to /{subnets.LONGEST_PREFIX}: a VPC takes no more, and "
            f"every pod needs an address of its zone's subnet; write for example {settings.DEFAULT_CIDR}"
        )
    if services is None:
        return
    field = site.settings.at("serviceCidrBlock")
    if services.prefixlen not in _SERVICE_PREFIXES or not any(services.subnet_of(one) for one in _PRIVATE_RANGES):
        yield field.wrong(
            f"{services} must be a range of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, from /12 to /24; "
            "write for example 172.20.0.0/16"
        )
    if own and services.overlaps(network):
        yield field.wrong(
            f"{services} overlaps with {network}, the range of the network (cidrBlock); write another, "
            "for example 172.20.0.0/16"
        )


def _roles(site: Site) -> Iterator[InvalidInput]:
    for key in ("roleArn", "nodeRoleArn"):
        field = site.settings.at(key)
        if field.is_set and _ARN.fullmatch(field.text()) is None:
            yield field.wrong(
                f"{field.text()!r} is no role; write its ARN, for example arn:aws:iam::123456789012:role/name"
            )
    admins = site.settings.at("adminRoleArns")
    for arn in admins.texts():
        if _ARN.fullmatch(arn) is None:
            yield admins.wrong(f"{arn!r} is no role; write its ARN, for example arn:aws:iam::123456789012:role/name")


def _system(site: Site) -> Iterator[InvalidInput]:
    system, field = settings.system(site), site.settings.at("systemPool")
    if not 1 <= system.nodes <= settings.MOST_SYSTEM_NODES:
        yield field.at("nodeCount").wrong(
            f"must be from 1 to {settings.MOST_SYSTEM_NODES}: controllers run there, and no model; not {system.nodes}"
        )
    if system.instance_type in pool_checks.GPU_TYPES:
        yield field.at("instanceType").wrong(
            f"{system.instance_type} has GPUs, and no model runs in this pool; "
            f"write one without, for example {settings.DEFAULT_SYSTEM_TYPE}"
        )


def _choices(site: Site) -> Iterator[InvalidInput]:
    way = settings.access(site)
    if way not in (settings.TOKEN, settings.WEB_IDENTITY):
        yield site.settings.at("access").wrong(f"{way!r} is not one of {settings.TOKEN}, {settings.WEB_IDENTITY}")
    field = site.settings.at("storageDrivers")
    for driver in field.texts():
        if driver not in (settings.EBS, settings.EFS):
            yield field.wrong(f"{driver!r} is not one of {settings.EBS}, {settings.EFS}")
    settings.has_autoscaler(site)
    settings.has_private_nodes(site)


_OF_SITE: tuple[Callable[[Site], Iterator[InvalidInput]], ...] = (
    _region, _version, _zones, _given_network, _addresses, _roles, _system, _choices,
)  # fmt: skip
