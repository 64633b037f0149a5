"""Egress rules: the addresses and names that the platform lets authors of endpoints and services use.

The gateway that follows a hand-written address runs inside the network of the platform. So public addresses and names
are allowed, and the platform allows others gateway by gateway. The rules do not apply to the endpoint of a replica,
because its deployment composes it with the address of the cluster's gateway.

The rules check only the text. A public name may resolve to a private address at any time; a network policy on the
gateway covers that.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from modelplane import names
from modelplane.errors import InvalidInput
from modelplane.routing import addresses
from modelplane.routing.addresses import Address, Network, Reach
from modelplane.routing.url import AddressKind

# Last labels under which no public name is. Source: RFC 6761, 6762, 8375, 9476; ICANN's reserved strings; what
# Kubernetes, clouds and offices use. No public one has a digit or, unless it is written in punycode, a dash; a
# namespace may, and "<service>.<namespace>" is a name inside the gateway's cluster.
_INTERNAL = frozenset(
    {
        *("alt", "arpa", "corp", "default", "domain", "home", "internal", "intranet", "invalid", "lan", "local"),
        *("localdomain", "localhost", "mail", "onion", "pod", "private", "svc"),
    }
)
_PUBLIC_LABEL = re.compile(r"(?:[a-z]{2,63}|xn--[-a-z0-9]+)\Z")
# Domains that answer with an address the name itself spells, or with the one of the machine that asks.
_SPELLED = (
    *("1u.ms", "backname.io", "ip6.name", "lacolhost.com", "local.gd", "localtest.me", "lvh.me", "nip.io"),
    *("rbndr.us", "sslip.io", "traefik.me", "vcap.me", "xip.io", "xip.name"),
    *("ddev.site", "fuf.me", "lcl.host", "lndo.site", "localho.st", "localhost.direct"),
)
# Each four numbers next to each other, as the last of "ec2-10-0-0-1" are.
_SPELLED_ADDRESS = re.compile(r"(?<![0-9])(?=([0-9]{1,3})[-.]([0-9]{1,3})[-.]([0-9]{1,3})[-.]([0-9]{1,3})(?![0-9]))")
_ASK = "or ask the platform team to add it to InferenceGateway {} spec.endpoints.{}"


@dataclass(frozen=True, slots=True)
class Rules:
    """The egress rules of one gateway. `own_hosts` are the names and addresses of the gateway itself.

    A host is a name, or "*." and a domain. A denied host stays denied even if it is also allowed. With `only_allowed`
    only listed hosts and networks are allowed. `nat64` are the prefixes with which the network translates IPv6 to IPv4.
    """

    gateway: str = ""
    allowed_hosts: tuple[str, ...] = ()
    allowed_networks: tuple[Network, ...] = ()
    denied_hosts: tuple[str, ...] = ()
    denied_networks: tuple[Network, ...] = ()
    only_allowed: bool = False
    nat64: tuple[ipaddress.IPv6Network, ...] = ()
    own_hosts: tuple[str, ...] = ()

    def check(self, namespace: str, kind: AddressKind, host: str) -> None:
        """Check that an author in `namespace` may use `host`. Raises: InvalidInput, with a correction."""
        if covers(self.own_hosts, host):
            raise InvalidInput(
                f"{host} is the fleet's own gateway {self.gateway}, which would send requests to itself; select the "
                "endpoints themselves in the ModelService"
            )
        if kind is AddressKind.IP:
            self._check_address(ipaddress.ip_address(host))
        else:
            self._check_name(namespace, host)

    def check_host(self, host: str) -> None:
        """Check that `host` may be sent as Host. Raises: InvalidInput if it is a name of this gateway."""
        if covers(self.own_hosts, host):
            raise InvalidInput(
                f"{host} is a name of the fleet's own gateway {self.gateway}; write the endpoint's own name"
            )

    def _check_address(self, address: Address) -> None:
        if addresses.within(address, self.denied_networks, self.nat64):
            raise InvalidInput(self._denied(str(address), "deniedCIDRs"))
        finding = addresses.find(address, self.nat64)
        if finding.reach is Reach.NOWHERE:
            raise InvalidInput(f"{address} cannot be routed to: {finding.why}")
        if addresses.within(address, self.allowed_networks, self.nat64):
            return
        if finding.reach is Reach.PRIVATE:
            raise InvalidInput(
                f"{address} cannot be routed to: {finding.why}; write a public address, {self._ask('allowedCIDRs')}"
            )
        if self.only_allowed:
            raise InvalidInput(self._unlisted(str(address), "allowedCIDRs"))

    def _check_name(self, namespace: str, host: str) -> None:
        if covers(self.denied_hosts, host):
            raise InvalidInput(self._denied(host, "deniedHosts"))
        if covers(self.allowed_hosts, host) or is_own(namespace, host):
            return
        if self.only_allowed:
            raise InvalidInput(self._unlisted(host, "allowedHosts"))
        why = next(self._suspicions(host), None)
        if why:
            raise InvalidInput(f"host {host} {why}; write a public name, {self._ask('allowedHosts')}")

    def _suspicions(self, host: str) -> Iterator[str]:
        labels = host.split(".")
        if labels[-1] in _INTERNAL or not _PUBLIC_LABEL.match(labels[-1]):
            yield f"is not a public name: .{labels[-1]} is internal to a network or to the gateway's cluster"
        if "svc" in labels[2:]:
            yield "has the form of a Kubernetes Service with another cluster domain"
        if covers([f"*.{domain}" for domain in _SPELLED] + list(_SPELLED), host):
            yield "belongs to a domain that resolves to the address spelled in the name"
        for match in _SPELLED_ADDRESS.finditer(host):
            octets = [int(octet) for octet in match.groups()]
            if max(octets) < 256:
                spelled = ipaddress.IPv4Address(bytes(octets))
                is_denied = addresses.within(spelled, self.denied_networks)
                is_open = addresses.within(spelled, self.allowed_networks)
                if is_denied or (addresses.find(spelled).reach is not Reach.PUBLIC and not is_open):
                    yield f"spells the address {spelled}, which is not public"

    def _denied(self, what: str, field: str) -> str:
        return f"{what} is denied by InferenceGateway {self._gateway} spec.endpoints.{field}"

    def _unlisted(self, what: str, field: str) -> str:
        return f"{what} is not listed, and the gateway allows only listed ones; {self._ask(field).removeprefix('or ')}"

    def _ask(self, field: str) -> str:
        return _ASK.format(self._gateway, field)

    @property
    def _gateway(self) -> str:
        return f'"{self.gateway}"' if self.gateway else "(there is none yet)"


def covers(listed: Sequence[str], host: str) -> bool:
    """Return whether `listed` has `host` or a wildcard that matches it."""
    return any(host == each or (each.startswith("*.") and host.endswith(each[1:])) for each in listed)


def is_own(namespace: str, host: str) -> bool:
    """Return whether `host` names a replica or a Service of `namespace` on the control plane."""
    return host.endswith(
        (f".{namespace}.{names.INTERNAL_DOMAIN}", f".{namespace}.svc", f".{namespace}.svc.cluster.local")
    )
