"""Addresses of the subnets of a network that is made.

A zone has the eighth of the range that belongs to its letter, whatever other zones there are: a subnet never moves. The
lower half of it is the public subnet, the upper half the private one, which exists only where nodes are private.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Network

from modelplane.render.clouds.eks.settings import ZONES_OF_A_REGION

PUBLIC, PRIVATE = "subnet", "private-subnet"
"""The parts of the names of subnets."""

_EIGHTH = ZONES_OF_A_REGION.bit_length() - 1
LONGEST_PREFIX = 20
"""The smallest range: 254 addresses in each subnet, of which each pod has one."""
SHORTEST_PREFIX = 16
"""The largest range of a VPC. Source: Amazon VPC user guide, "VPC CIDR blocks"."""


def letter(region: str, zone: str) -> str:
    """Return the letter of a zone of the region, empty for any other zone, and for a local one (us-west-2-lax-1a)."""
    found = re.fullmatch(rf"{re.escape(region)}([a-z])", zone)
    return found[1] if found and ord(found[1]) - ord("a") < ZONES_OF_A_REGION else ""


def block(network: IPv4Network, zone_letter: str, part: str) -> str:
    """Return the range of a zone's subnet: `part` is PUBLIC or PRIVATE."""
    eighth = list(network.subnets(prefixlen_diff=_EIGHTH))[ord(zone_letter) - ord("a")]
    public, private = eighth.subnets(prefixlen_diff=1)
    return str(public if part == PUBLIC else private)
