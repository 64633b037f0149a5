"""IP addresses and networks.

Source: pkg/cel/library/{ip,cidr}.go of k8s.io/apiserver v0.36.2 over Go's net/netip. Addresses with a zone and
IPv4 addresses written as IPv6 are refused there.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from kubecel.values.errors import Err, no_such_overload
from kubecel.values.runtime import Opaque, Value

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_V4: Final = re.compile(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}")


class Network:
    """An address and the length of a prefix. The address may have bits beyond the prefix."""

    __slots__ = ("address", "bits")

    def __init__(self, address: _Address, bits: int) -> None:
        self.address = address
        self.bits = bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and self.address == other.address and self.bits == other.bits

    def __hash__(self) -> int:
        return hash((self.address, self.bits))

    def __str__(self) -> str:
        return f"{self.address}/{self.bits}"

    def masked(self, bits: int) -> int:
        """Return the first `bits` bits of the address as a number."""
        return int(self.address) >> (self.address.max_prefixlen - bits)


def _parsed(text: str) -> _Address:
    """Return the address.

    Raises: ValueError with a reason.
    """
    if ":" not in text:
        if not _V4.fullmatch(text):
            raise ValueError(f'ParseAddr("{text}"): unable to parse IP')
        return ipaddress.IPv4Address(text)
    if "%" in text:
        raise ValueError(f'IP address "{text}" with zone value is not allowed')
    address = ipaddress.IPv6Address(text)
    if address.ipv4_mapped is not None:
        raise ValueError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


def _ip_value(address: _Address) -> Opaque:
    return Opaque("net.IP", address, address.max_prefixlen // 8)


def _cidr_value(network: Network) -> Opaque:
    return Opaque("net.CIDR", network, -(-network.bits // 8))


def _address(text: Value) -> Value:
    if type(text) is not str:
        return no_such_overload()
    try:
        return _ip_value(_parsed(text))
    except ValueError as error:
        return Err(f'IP Address "{text}" parse error during conversion from string: {error}')


def _network(text: Value) -> Value:
    if type(text) is not str:
        return no_such_overload()
    written, slash, length = text.rpartition("/")
    try:
        if not slash or not re.fullmatch("0|[1-9][0-9]{0,2}", length):
            raise ValueError(f'netip.ParsePrefix("{text}"): bad prefix length')
        address = _parsed(written)
        if int(length) > address.max_prefixlen:
            raise ValueError(f'netip.ParsePrefix("{text}"): prefix length out of range')
    except ValueError as error:
        return Err(f"network address parse error during conversion from string: {error}")
    return _cidr_value(Network(address, int(length)))


def _of_network(value: Value) -> Value:
    if type(value) is Opaque and value.type_name == "net.CIDR":
        return _ip_value(value.value.address)
    return no_such_overload()


def _canonical(text: Value) -> Value:
    address = _address(text)
    return address if isinstance(address, Err) else str(address.value) == text


def _is(parse: Callable[[Value], Value]) -> Callable[[Value], Value]:
    return lambda text: no_such_overload() if type(text) is not str else not isinstance(parse(text), Err)


def _of(type_name: str, read: Callable[[Any], Value]) -> Callable[[Value], Value]:
    def result(value: Value) -> Value:
        known = type(value) is Opaque and value.type_name == type_name
        return read(value.value) if known else no_such_overload()

    return result


def _contains(parse: Callable[[Value], Value], type_name: str) -> Callable[[Value, Value], Value]:
    def contains(value: Value, other: Value) -> Value:
        if type(value) is not Opaque or value.type_name != "net.CIDR":
            return no_such_overload()
        if type(other) is str:
            other = parse(other)
        if type(other) is not Opaque or other.type_name != type_name:
            return other if isinstance(other, Err) else no_such_overload()
        outer: Network = value.value
        inner = other.value if isinstance(other.value, Network) else Network(other.value, other.value.max_prefixlen)
        same_family = outer.address.max_prefixlen == inner.address.max_prefixlen
        return same_family and outer.bits <= inner.bits and outer.masked(outer.bits) == inner.masked(outer.bits)

    return contains


def _masked(network: Network) -> Opaque:
    rest = network.address.max_prefixlen - network.bits
    return _cidr_value(Network(type(network.address)(int(network.address) >> rest << rest), network.bits))


def _link_local_multicast(address: _Address) -> bool:
    if address.version == 4:
        return int(address) >> 8 == 0xE00000
    return (int(address) >> 112) & 0xFF0F == 0xFF02


def _global_unicast(address: _Address) -> bool:
    if address.version == 4 and int(address) in (0, 0xFFFFFFFF):
        return False
    excluded = address.is_unspecified or address.is_loopback or address.is_multicast or _link_local(address)
    return not excluded


def _link_local(address: _Address) -> bool:
    if address.version == 4:
        return int(address) >> 16 == 0xA9FE
    return int(address) >> 118 == 0xFE80 >> 6


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "ip": _address,
    "cidr_ip": _of_network,
    "isIP": _is(_address),
    "ip.isCanonical": _canonical,
    "family": _of("net.IP", lambda address: address.version),
    "isUnspecified": _of("net.IP", lambda address: address.is_unspecified),
    "isLoopback": _of("net.IP", lambda address: address.is_loopback),
    "isLinkLocalMulticast": _of("net.IP", _link_local_multicast),
    "isLinkLocalUnicast": _of("net.IP", _link_local),
    "isGlobalUnicast": _of("net.IP", _global_unicast),
    "cidr": _network,
    "isCIDR": _is(_network),
    "containsIP": _contains(_address, "net.IP"),
    "containsCIDR": _contains(_network, "net.CIDR"),
    "prefixLength": _of("net.CIDR", lambda network: network.bits),
    "masked": _of("net.CIDR", _masked),
}
