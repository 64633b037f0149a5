"""Access to a service: networks of its clients, browsers that may call it, and what a limit counts.

A client is who a key or a token names, never an address. The gateway writes its name into `CLIENT_HEADER` after it has
checked the key or token, and takes the header from every request before.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from enum import StrEnum

from modelplane.errors import InvalidInput
from modelplane.routing.addresses import Network

CLIENT_HEADER = "x-modelplane-client"

INTERNAL_HEADERS = (
    "x-data-parallel-host-port",
    "x-encoder-hosts-ports",
    "x-gateway-destination-endpoint",
    "x-gateway-destination-endpoint-subset",
    CLIENT_HEADER,
    "x-prefiller-host-port",
    "x-prefiller-url",
)
"""Headers by which routers inside a cluster find a pod, and our own. A client's own would choose where a request goes.

Source: Gateway API inference extension v1.6.0, llm-d router v0.10.0.
"""


class AddressSource(StrEnum):
    """The source from which the gateway knows the address of a client."""

    CONNECTION = "Connection"
    X_FORWARDED_FOR = "XForwardedFor"
    PROXY_PROTOCOL = "ProxyProtocol"


@dataclass(frozen=True, slots=True)
class ClientAddresses:
    """The source of addresses; `trusted_hops` are the proxies before the gateway that append to X-Forwarded-For."""

    source: AddressSource
    trusted_hops: int = 1


@dataclass(frozen=True, slots=True)
class Clients:
    """Networks that may call a service, all if `allowed` is empty, and those that may not although they are in one."""

    allowed: tuple[Network, ...] = ()
    denied: tuple[Network, ...] = ()


@dataclass(frozen=True, slots=True)
class Cors:
    """Pages that may call a service from a browser; `max_age` is the time for which a browser keeps the answer."""

    origins: tuple[str, ...]
    methods: tuple[str, ...] = ("GET", "POST", "OPTIONS")
    headers: tuple[str, ...] = ("Authorization", "Content-Type")
    exposed: tuple[str, ...] = ()
    max_age: str = "3600s"
    credentials: bool = False


class LimitScope(StrEnum):
    """The requests that are counted together: all of a service, or those of each client."""

    SERVICE = "Service"
    CLIENT = "Client"


def check_networks(clients: Clients) -> None:
    """Check that the networks do not contradict each other.

    Raises: InvalidInput when a network can never call although it is allowed, or nobody can (the author's fault).
    """
    for denied in _joined(clients.denied):
        if denied.prefixlen == 0:
            raise InvalidInput(
                f"deniedCIDRs: {denied} is every address; list the networks that may call in allowedCIDRs instead"
            )
        for allowed in clients.allowed:
            if contains(denied, allowed):
                raise InvalidInput(
                    f"{allowed} is in allowedCIDRs and inside {denied} of deniedCIDRs, so it can never call; take it "
                    "out of one of them, or deny a smaller network"
                )


def _joined(networks: tuple[Network, ...]) -> tuple[Network, ...]:
    """Return the same addresses in the fewest networks, so that two halves are recognised as the whole."""
    four = [each for each in networks if isinstance(each, ipaddress.IPv4Network)]
    six = [each for each in networks if isinstance(each, ipaddress.IPv6Network)]
    return (*ipaddress.collapse_addresses(four), *ipaddress.collapse_addresses(six))


def contains(outer: Network, inner: Network) -> bool:
    """Return whether every address of `inner` is in `outer`."""
    if isinstance(outer, ipaddress.IPv4Network):
        return isinstance(inner, ipaddress.IPv4Network) and inner.subnet_of(outer)
    return isinstance(inner, ipaddress.IPv6Network) and inner.subnet_of(outer)
