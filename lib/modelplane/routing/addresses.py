"""Reach of an address: the public Internet, a private network, or the gateway itself, its node and its cloud.

An IPv6 address may embed an IPv4 address that a translator or a tunnel extracts. It has the reach of that address.
Source: IANA special-purpose address registries; RFC 6052 and RFC 8215 (NAT64), RFC 3056 (6to4), RFC 4380 (Teredo),
RFC 5214 (ISATAP), RFC 4291 (mapped and compatible). The tables are written out, since what `ipaddress` calls global
differs between versions of Python.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


class Reach(Enum):
    """The reach of an address. No endpoint can have a NOWHERE address, and no rule allows one."""

    PUBLIC = auto()
    PRIVATE = auto()
    NOWHERE = auto()


@dataclass(frozen=True, slots=True)
class Finding:
    """The reach of an address and the reason in words; the reason of a public one is empty."""

    reach: Reach
    why: str = ""


_METADATA = "it is a cloud's metadata service"
_TUNNEL = "it is an IPv6 form that carries an IPv4 address ({}); write the IPv4 address itself"
# The first that holds an address says why, so the narrow ones come first.
_NOWHERE: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", "the unspecified address is the gateway itself"),
    ("127.0.0.0/8", "a loopback address is the gateway itself"),
    ("169.254.0.0/16", "a link-local address belongs to the gateway's node (a cloud's metadata service, for example)"),
    ("100.100.100.200/32", _METADATA),
    ("168.63.129.16/32", _METADATA),
    ("192.0.0.0/24", "it is reserved for protocols, and a cloud's metadata service uses one of them"),
    ("192.88.99.0/24", "it is a relay of 6to4"),
    ("224.0.0.0/4", "a multicast or broadcast address is not a single endpoint"),
    ("255.255.255.255/32", "a multicast or broadcast address is not a single endpoint"),
    ("240.0.0.0/4", "it is reserved"),
    ("::/128", "the unspecified address is the gateway itself"),
    ("::1/128", "a loopback address is the gateway itself"),
    ("::/96", _TUNNEL.format("IPv4-compatible")),
    ("::ffff:0:0:0/96", _TUNNEL.format("IPv4-translated")),
    ("64:ff9b:1::/48", _TUNNEL.format("NAT64 of a local network")),
    ("100::/64", "it is a discard prefix"),
    ("2001::/32", _TUNNEL.format("Teredo")),
    ("2001::/23", "it is reserved for protocols"),
    ("2002::/16", _TUNNEL.format("6to4")),
    ("5f00::/16", "it is reserved for segment routing"),
    ("fd00:ec2::/32", _METADATA),
    ("fd20:ce::254/128", _METADATA),
    ("fe80::/10", "a link-local address belongs to the gateway's node"),
    ("fec0::/10", "a site-local address is a deprecated form of private address"),
    ("ff00::/8", "a multicast or broadcast address is not a single endpoint"),
)
_PRIVATE: tuple[tuple[str, str], ...] = tuple(
    (network, f"{network} is a private network")
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15", "fc00::/7")
)
_TABLES = tuple(
    (reach, ipaddress.ip_network(network), why)
    for reach, table in ((Reach.NOWHERE, _NOWHERE), (Reach.PRIVATE, _PRIVATE))
    for network, why in table
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# All that was ever given out; the rest is reserved by the IETF, and somebody may use a part of it inside.
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_ISATAP = (0x00005EFE, 0x02005EFE)
# Octets of the address that hold the IPv4 address, by the prefix's length: octet 8 is always zero. Source: RFC 6052.
_EMBEDDED = {
    32: (4, 5, 6, 7),
    40: (5, 6, 7, 9),
    48: (6, 7, 9, 10),
    56: (7, 9, 10, 11),
    64: (9, 10, 11, 12),
    96: (12, 13, 14, 15),
}
NAT64_LENGTHS = tuple(_EMBEDDED)

NODE_NETWORKS = tuple(network for reach, network, _ in _TABLES if reach is Reach.NOWHERE and network.prefixlen > 0)
"""The networks without endpoints, which a network policy keeps proxies from."""


def plain(address: Address) -> Address:
    """Return the IPv4 address of an IPv4-mapped IPv6 address (::ffff:a.b.c.d), and any other address unchanged."""
    return (isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped) or address


def find(address: Address, nat64: Sequence[ipaddress.IPv6Network] = ()) -> Finding:
    """Return the reach of `address`; `nat64` are the translation prefixes of the network besides 64:ff9b::/96."""
    found = [_find(each, nat64) for each in (plain(address), *embedded(address, nat64))]
    return max(found, key=lambda finding: finding.reach.value)


def embedded(address: Address, nat64: Sequence[ipaddress.IPv6Network] = ()) -> tuple[ipaddress.IPv4Address, ...]:
    """Return the IPv4 addresses to which a translator or a tunnel would forward traffic for `address`."""
    if not isinstance(address, ipaddress.IPv6Address):
        return ()
    octets = address.packed
    translated = [
        ipaddress.IPv4Address(bytes(octets[index] for index in _EMBEDDED[prefix.prefixlen]))
        for prefix in (_NAT64, *nat64)
        if address in prefix and prefix.prefixlen in _EMBEDDED
    ]
    if int.from_bytes(octets[8:12]) in _ISATAP:
        translated.append(ipaddress.IPv4Address(octets[12:]))
    return tuple(translated)


def within(address: Address, networks: Iterable[Network], nat64: Sequence[ipaddress.IPv6Network] = ()) -> bool:
    """Return whether `address`, or an IPv4 address embedded in it, is in one of `networks`."""
    forms = (plain(address), *embedded(address, nat64))
    return any(form.version == network.version and form in network for network in networks for form in forms)


def _find(address: Address, nat64: Sequence[ipaddress.IPv6Network]) -> Finding:
    for reach, network, why in _TABLES:
        if address.version == network.version and address in network:
            return Finding(reach, why)
    if isinstance(address, ipaddress.IPv6Address) and not any(
        address in network for network in (_GLOBAL_UNICAST, _NAT64, *nat64)
    ):
        return Finding(Reach.PRIVATE, f"no public address is outside {_GLOBAL_UNICAST}")
    return Finding(Reach.PUBLIC)
