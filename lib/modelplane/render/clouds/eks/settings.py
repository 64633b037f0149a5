"""Settings of spec.cluster.eks, read once.

Shape: each function takes a site; a setting of a wrong type raises InvalidInput with its path.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass

from modelplane.render.provisioning import Given, PoolSpec, Site

DEFAULT_CIDR = "10.0.0.0/16"
DEFAULT_SYSTEM_TYPE = "m7i.xlarge"
DEFAULT_SYSTEM_NODES = 2
MOST_SYSTEM_NODES = 3
TOKEN, WEB_IDENTITY = "Token", "WebIdentity"
EBS, EFS = "EBS", "EFS"
LEAST_ZONES = 2
"""A cluster of EKS has subnets in at least two zones."""

ZONES_OF_A_REGION = 8
"""The letters of zones that have a part of the address range, a to h; no region has more."""

_MINOR = re.compile(r"1\.(?P<minor>[0-9]{1,3})")


@dataclass(frozen=True, slots=True)
class System:
    """The pool for controllers, which serves no model."""

    instance_type: str
    nodes: int


def region(site: Site) -> str:
    """Return the region."""
    return site.settings.at("region").text()


def version(site: Site) -> str:
    """Return the Kubernetes version that the author asks for, empty if EKS chooses."""
    return site.settings.at("kubernetesVersion").text("")


def minor(site: Site) -> int | None:
    """Return the minor version of Kubernetes that the author asks for, None if EKS chooses or it is no version."""
    value = site.settings.at("kubernetesVersion").value
    found = _MINOR.fullmatch(value) if isinstance(value, str) else None
    return int(found["minor"]) if found else None


def partition(site: Site) -> str:
    """Return the partition of the region, as ARNs have it.

    Source: AWS General Reference, "Amazon Resource Names": aws, aws-cn for China, aws-us-gov for GovCloud.
    """
    name = region(site)
    return "aws-cn" if name.startswith("cn-") else "aws-us-gov" if name.startswith("us-gov-") else "aws"


def subnet_ids(site: Site) -> tuple[str, ...]:
    """Return the subnets that the author gives, none if the network is made."""
    return tuple(sorted(site.settings.at("subnetIds").texts()))


def has_own_network(site: Site) -> bool:
    """Return whether the network is made with the cluster."""
    return not site.settings.at("subnetIds").texts()


def zone_subnets(site: Site) -> Mapping[str, str]:
    """Return the given subnet of each zone. Raises: InvalidInput for anything but texts by zone."""
    field = site.settings.at("zoneSubnetIds")
    if not field.is_set:
        return {}
    if not isinstance(field.value, Mapping):
        raise field.wrong("must be an object: a subnet of subnetIds for each zone, for example us-east-2a: subnet-0a1b")
    return {zone: field.at(zone).text() for zone in sorted(field.value)}


def zones(site: Site) -> tuple[str, ...]:
    """Return the zones of the network, each once, sorted: those of the control plane and of all pools."""
    return tuple(sorted({*site.settings.at("zones").texts(), *site.zones}))


def control_zones(site: Site) -> tuple[str, ...]:
    """Return the zones of the control plane, which EKS never changes."""
    return tuple(sorted(set(site.settings.at("zones").texts()))) or tuple(sorted(set(site.zones)))


def cidr(site: Site) -> ipaddress.IPv4Network:
    """Return the address range of the network. Raises: InvalidInput for a text that is none."""
    return _network(site.settings.at("cidrBlock"), DEFAULT_CIDR)


def service_cidr(site: Site) -> ipaddress.IPv4Network | None:
    """Return the address range of Services, None if EKS chooses one. Raises: InvalidInput for a text that is none."""
    field = site.settings.at("serviceCidrBlock")
    return _network(field, "") if field.is_set else None


def _network(field: Given, default: str) -> ipaddress.IPv4Network:
    text = field.text(default)
    try:
        return ipaddress.IPv4Network(text)
    except ValueError:
        raise field.wrong(f"{text!r} is no IPv4 range; write for example {DEFAULT_CIDR}") from None


def has_private_nodes(site: Site) -> bool:
    """Return whether nodes stand in private subnets behind a NAT gateway."""
    return site.settings.at("privateNodes").flag(default=False)


def has_autoscaler(site: Site) -> bool:
    """Return whether an autoscaler runs on the cluster."""
    return site.settings.at("autoscaler").flag(default=False)


def access(site: Site) -> str:
    """Return how providers enter the cluster: with a token that is renewed, or with their own identity."""
    return site.settings.at("access").text(TOKEN)


def storage_drivers(site: Site) -> tuple[str, ...]:
    """Return the storage drivers to install, sorted."""
    return tuple(sorted(set(site.settings.at("storageDrivers").texts())))


def system(site: Site) -> System:
    """Return the pool for controllers."""
    pool = site.settings.at("systemPool")
    return System(pool.at("instanceType").text(DEFAULT_SYSTEM_TYPE), pool.at("nodeCount").integer(DEFAULT_SYSTEM_NODES))


def is_in_capacity_block(pool: PoolSpec) -> bool:
    """Return whether the nodes of the pool come from a Capacity Block."""
    return pool.recipe.at("capacityType").text("") == "CAPACITY_BLOCK"


def is_reserved(pool: PoolSpec) -> bool:
    """Return whether the nodes of the pool come from bought capacity, beyond which there is no spare node."""
    return is_in_capacity_block(pool) or pool.recipe.at("capacityReservationId").is_set
