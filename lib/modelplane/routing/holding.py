"""The one holder of each host that several namespaces may use.

A gateway can have one namespace behind a host: of two routes of one host, the older one takes all requests of both. So
the gateway records who holds such a host, and services of the others get no route. The caller is the only writer of the
record, so a host never has two holders, however old the sight of those who read it is.

What answers decides: at first a host belongs to the namespace of the oldest route that the gateway has accepted. Where
there is no route it belongs to the oldest service that asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from modelplane.routing import hosts
from modelplane.routing.model import Gateway, Holder


@dataclass(frozen=True, slots=True)
class Claim:
    """A service that asks for a host, or with `route` (its uid) a route that has it.

    `name` is that of the object, `created` its time as text, `accepted` whether the gateway has accepted the route.
    """

    host: str
    namespace: str
    name: str
    created: str = ""
    route: str = ""
    accepted: bool = False


def users(host: str, gateway: Gateway) -> frozenset[str]:
    """Return the namespaces that may use a host: those with a grant, and the owner of the domain that it lies in.

    With a wildcard host name, services without a host have that of their namespace.
    """
    found = set(gateway.grants.get(host, ()))
    domain = f".{hosts.domain(gateway.hostname)}"
    if not gateway.hostname or not host.endswith(domain):
        return frozenset(found)
    owner = host.removesuffix(domain).split(".")
    is_owned = len(owner) > 1 or gateway.hostname.startswith("*.")
    return frozenset(found.union(owner[-1:] if is_owned else ()))


def asked(service: str, namespace: str, gateway: Gateway) -> str:
    """Return the host under which a service with `service` as spec.host is asked for, empty where that is no name."""
    if service or not gateway.hostname.startswith("*."):
        return service
    return f"{namespace}.{hosts.domain(gateway.hostname)}"


def shared(gateway: Gateway) -> dict[str, frozenset[str]]:
    """Return the hosts that several namespaces may use, with these."""
    found = {host: users(host, gateway) for host in sorted(gateway.grants)}
    return {host: namespaces for host, namespaces in found.items() if len(namespaces) > 1}


def decide(gateway: Gateway, claims: Iterable[Claim]) -> tuple[Holder, ...]:
    """Return the holders by host, from those that the gateway had before.

    A holder keeps its host while a service of its namespace asks for it or a route has it. Once neither is seen it is
    marked as leaving, and the next call gives the host to the next in line. So nobody loses a host because a list came
    back empty once. A host that one namespace alone may use has no record, once the holder is this one.
    """
    may_use, before = shared(gateway), gateway.holders
    by_host: dict[str, list[Claim]] = {host: [] for host in (*may_use, *before)}
    for claim in sorted(claims, key=_order):
        if claim.host in by_host:
            by_host[claim.host].append(claim)
    found = (_holder(host, before.get(host), by_host[host], may_use.get(host)) for host in sorted(by_host))
    return tuple(one for one in found if one is not None and not _is_alone(one, gateway))


def _is_alone(holder: Holder, gateway: Gateway) -> bool:
    return users(holder.host, gateway) == {holder.namespace}


def _holder(host: str, before: Holder | None, claims: list[Claim], may_use: frozenset[str] | None) -> Holder | None:
    """Return the holder of one host; None where nobody wants it, or where it is not shared any more."""
    valid = [one for one in claims if one.route or (may_use is not None and one.namespace in may_use)]
    if before is not None:
        own = [one for one in valid if one.namespace == before.namespace]
        if own:
            return _recorded(host, own, valid)
        if not before.leaving:
            return replace(before, route="", leaving=True)
    if not valid or may_use is None:
        return None
    first = valid[0].namespace
    return _recorded(host, [one for one in valid if one.namespace == first], valid)


def _recorded(host: str, own: list[Claim], everybody: list[Claim]) -> Holder:
    """Return the record. It names a route once the gateway has accepted it: others then give up theirs."""
    others = {one.namespace for one in everybody} - {own[0].namespace}
    route = own[0].route if own[0].accepted else ""
    return Holder(host, own[0].namespace, service=own[0].name, route=route, waiting=len(others))


def _order(claim: Claim) -> tuple[bool, bool, str, str, str]:
    """Return the order of claims: accepted routes, other routes, services; the oldest first, as Gateway API has it."""
    return (not claim.accepted, not claim.route, claim.created, claim.namespace, claim.name)
