"""The host of a service, which no other namespace may have on the same gateway."""

from __future__ import annotations

from modelplane import seen
from modelplane.errors import Unsupported
from modelplane.render import ai_routing, routing
from modelplane.routing import holding, hosts
from modelplane.routing.model import Gateway, Holder, Service
from modelplane_functions.exchange import Child, Observed, Resource


class HostTaken(Unsupported):
    """A refusal of a host that another namespace holds, or that nobody holds yet.

    `is_answered`: a route of the holder answers. `is_behind`: the service has a route with the host, too.
    """

    def __init__(
        self, message: str, *, reason: str, gateway: str, is_answered: bool = False, is_behind: bool = False
    ) -> None:
        super().__init__(message, reason=reason)
        self.gateway = gateway
        self.is_answered = is_answered
        self.is_behind = is_behind


def check(service: Service, gateway: Gateway, observed: Observed) -> None:
    """Return when the service may use its host. Raises: Unsupported when it may not."""
    if not service.host:
        return
    if not hosts.is_allowed(service.host, service.namespace, hostname=gateway.hostname, grants=gateway.grants):
        raise Unsupported(
            f'InferenceGateway "{gateway.name}" does not let namespace {service.namespace} use host {service.host}; '
            f"use {_offers(service, gateway)}, or ask the platform team to grant it in spec.gateway.hosts",
            reason="HostNotAllowed",
        )
    holder = gateway.holders.get(service.host)
    if holder is not None:
        _check_holder(service, gateway, observed, holder)
    elif service.host in holding.shared(gateway) and _running(service, gateway, observed) is None:
        # What runs goes on: it is among what the gateway decides from.
        raise HostTaken(
            f'InferenceGateway "{gateway.name}" lets several namespaces use host {service.host}, and has not recorded '
            "yet which of them holds it; the service waits for that",
            reason="WaitingForHost",
            gateway=gateway.name,
        )


def _check_holder(service: Service, gateway: Gateway, observed: Observed, holder: Holder) -> None:
    """Raises: HostTaken when another namespace holds the host.

    A record that names the service's own route is wrong about the namespace, and takes nothing from it.
    """
    running = _running(service, gateway, observed)
    is_own = running is not None and holder.route == seen.text(seen.at(running, "metadata", "uid"))
    if holder.namespace == service.namespace or (is_own and holder.route):
        return
    raise HostTaken(
        f'host {service.host} of InferenceGateway "{gateway.name}" is held by namespace {holder.namespace}, which had '
        f"it first; use {_offers(service, gateway)}, or wait until no service and no route of {holder.namespace} has "
        "this host",
        reason="HostHeld",
        gateway=gateway.name,
        is_answered=bool(holder.route),
        is_behind=running is not None,
    )


def _running(service: Service, gateway: Gateway, observed: Observed) -> Resource | None:
    """Return the route of the service that has its host on this gateway."""
    route = observed.children.get(routing.ROUTE_KEY)
    parent = (gateway.gateway_namespace, gateway.gateway_name)
    is_there = any(
        (one.get("namespace"), one.get("name")) == parent for one in seen.objects(seen.at(route, "spec", "parentRefs"))
    )
    found = seen.at(route, "spec", "hostnames")
    return route if is_there and isinstance(found, list | tuple) and service.host in found else None


def given_up(observed: Observed, kept: dict[str, Child], error: Unsupported) -> dict[str, Child]:
    """Return the children that a refused service keeps.

    A route that lies behind that of the holder answers nobody. It goes, so that it never gets in the holder's way; then
    its policies and what it referred to. Other routes of the service are kept.
    """
    if not isinstance(error, HostTaken) or not error.is_answered:
        return kept
    if error.is_behind:
        return {key: child for key, child in kept.items() if key != routing.ROUTE_KEY}
    return kept if {routing.ROUTE_KEY, ai_routing.ROUTE_KEY} & observed.children.keys() else {}


def _offers(service: Service, gateway: Gateway) -> str:
    """Return the hosts that the namespace may use beside the refused one, in words."""
    own = f"a name ending in .{service.namespace}.{hosts.domain(gateway.hostname)}" if gateway.hostname else ""
    granted = sorted(
        host
        for host, allowed in gateway.grants.items()
        if service.namespace in allowed and host != service.host and _is_free(host, service, gateway)
    )
    return " or ".join(part for part in (own, ", ".join(granted)) if part) or "no host (it is reached by path)"


def _is_free(host: str, service: Service, gateway: Gateway) -> bool:
    holder = gateway.holders.get(host)
    return holder is None or holder.namespace == service.namespace
