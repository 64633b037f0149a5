"""The holders of the hosts that several namespaces may use: what a gateway reads to know them, and its record.

Services and routes are read in those namespaces alone, and nothing where each host has one namespace. Routes are read
once the Gateway exists: before that their kind may not be installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api import gateway_status
from modelplane.render import gateway as rendering
from modelplane.render import routing
from modelplane.routing import holding
from modelplane.routing.features import GatewayType
from modelplane.routing.holding import Claim
from modelplane.routing.model import Gateway, Holder
from modelplane.workload.tenancy import Access
from modelplane_functions import allowed_namespaces
from modelplane_functions.allowed_namespaces import Allowed
from modelplane_functions.exchange import Event, Observed, Requirement, Resource, Severity

Json: TypeAlias = Any

_SERVICES, _ROUTES = "services/", "routes/"


def requirements(gateway: Gateway, observed: Observed) -> dict[str, Requirement]:
    """Return the services and routes of the namespaces that share a host, and the Namespaces whose labels decide."""
    needed: dict[str, Requirement] = {}
    namespaces = _namespaces(gateway)
    for name in namespaces:
        needed[_SERVICES + name] = Requirement(names.API_VERSION, "ModelService", namespace=name)
        if rendering.GATEWAY_KEY in observed.children:
            needed[_ROUTES + name] = Requirement(routing.GATEWAY_API_VERSION, "HTTPRoute", namespace=name)
    return needed | allowed_namespaces.requirements([gateway.tenants], namespaces)


def read(gateway: Gateway, observed: Observed, parent: tuple[str, str]) -> tuple[Holder, ...]:
    """Return the holders of a gateway whose Gateway is `parent` (namespace, name).

    Every required object must have been fetched.
    """
    if gateway.type is not GatewayType.ENVOY:
        return ()
    namespaces = _namespaces(gateway)
    allowed = allowed_namespaces.read(observed, namespaces)
    claims = [claim for name in namespaces for claim in _claims(gateway, observed, name, parent)]
    return holding.decide(gateway, [one for one in claims if one.route or _may_ask(one, gateway, allowed)])


def events(gateway: Gateway, holders: Iterable[Holder]) -> Iterator[Event]:
    """Yield an event for each host that has another holder than before."""
    for one in holders:
        before = gateway.holders.get(one.host)
        if before is None or before.namespace != one.namespace:
            message = f"host {one.host} is held by namespace {one.namespace} (ModelService {one.service})"
            yield Event(Severity.NORMAL, "HostHeld", message)


def _namespaces(gateway: Gateway) -> tuple[str, ...]:
    if gateway.type is not GatewayType.ENVOY:
        return ()
    found = {name for users in holding.shared(gateway).values() for name in users}
    return tuple(sorted(found.union(one.namespace for one in gateway.holders.values())))


def _may_ask(claim: Claim, gateway: Gateway, allowed: Allowed) -> bool:
    """Return whether a service may be given a host; a holder whose labels are not known keeps what it has."""
    access = allowed.access(claim.namespace)
    before = gateway.holders.get(claim.host)
    is_holder = before is not None and before.namespace == claim.namespace
    return access is Access.ALLOWED or (is_holder and access is Access.UNKNOWN)


def _claims(gateway: Gateway, observed: Observed, namespace: str, parent: tuple[str, str]) -> Iterator[Claim]:
    for service in observed.required.get(_SERVICES + namespace, ()):
        host = holding.asked(seen.text(seen.at(service, "spec", "host")), namespace, gateway)
        if host and not seen.at(service, "metadata", "deletionTimestamp") and _asks(service, gateway.name):
            yield Claim(host, namespace, *_named(service))
    for route in observed.required.get(_ROUTES + namespace, ()):
        found = seen.at(route, "spec", "hostnames")
        is_one = isinstance(found, list | tuple) and parent in _parents(route, namespace)
        if not is_one or not _takes_all(route):
            continue
        uid = seen.text(seen.at(route, "metadata", "uid"))
        accepted = gateway_status.is_attached(route, gateway_namespace=parent[0], gateway_name=parent[1])
        for host in found:
            yield Claim(seen.text(host), namespace, *_named(route), route=uid or "unknown", accepted=accepted)


def _takes_all(route: Resource) -> bool:
    """Return whether a route has all paths of its hosts, as that of a service with a host has.

    Beside one that has some paths, as of services without a host, routes of other namespaces answer as well.
    """
    rules = seen.at(route, "spec", "rules")
    if not isinstance(rules, list | tuple) or not rules:
        return True
    return any(_is_any(match) for rule in seen.objects(rules) for match in _matches(rule))


def _matches(rule: Json) -> tuple[Json, ...]:
    """Return the matches of a rule, with the one that Gateway API gives to a rule without any."""
    return tuple(seen.objects(rule.get("matches"))) or ({},)


def _is_any(match: Json) -> bool:
    path = seen.at(match, "path")
    kind, value = seen.text(seen.at(path, "type")) or "PathPrefix", seen.text(seen.at(path, "value")) or "/"
    is_narrow = any(match.get(key) for key in ("headers", "queryParams", "method"))
    return (kind, value) == ("PathPrefix", "/") and not is_narrow


def _named(resource: Resource) -> tuple[str, str]:
    metadata = seen.at(resource, "metadata")
    return seen.text(seen.at(metadata, "name")), seen.text(seen.at(metadata, "creationTimestamp"))


def _asks(service: Resource, gateway: str) -> bool:
    """Return whether a service is one of this gateway: by its spec, else as its own status says it."""
    named = seen.text(seen.at(service, "spec", "gatewayRef", "name"))
    return (named or seen.text(seen.at(service, "status", "gateway"))) == gateway


def _parents(route: Resource, namespace: str) -> set[tuple[str, str]]:
    return {
        (seen.text(one.get("namespace")) or namespace, seen.text(one.get("name")))
        for one in seen.objects(seen.at(route, "spec", "parentRefs"))
    }
