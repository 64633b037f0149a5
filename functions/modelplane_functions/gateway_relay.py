"""The relay of an InferenceGateway: its objects, their readiness, and what its status says.

A listener goes only when the gateway's controller says that no route is attached to it. So a namespace that is taken
off the list, or a relay that is taken out of the spec, keeps its services until they have left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api import gateway_status
from modelplane.render import relay_gateway
from modelplane.routing.model import Gateway
from modelplane_functions import hold
from modelplane_functions.exchange import Child, Condition, Observed, Ready, Resource, Truth

Json: TypeAlias = Any

CONDITION = "Relay"


def children(gateway: Gateway, observed: Observed) -> dict[str, Child]:
    """Return the relay's objects. Those of a relay that is not wanted are held while routes are attached to it."""
    if gateway.relay is None:
        held = {key: observed.children[key] for key in relay_gateway.KEYS if key in observed.children}
        return hold.hold(held, _judge) if kept(gateway, observed) else {}
    return {
        manifest.key: Child(manifest.resource, _ready(observed.children.get(manifest.key)))
        for manifest in relay_gateway.manifests(gateway, kept(gateway, observed))
    }


def kept(gateway: Gateway, observed: Observed) -> tuple[str, ...]:
    """Return the namespaces that the spec does not list and that may still have routes at the relay."""
    running = observed.children.get(relay_gateway.GATEWAY_KEY)
    wanted = gateway.relay.namespaces if gateway.relay else ()
    return tuple(sorted(name for name in _listeners(running) if name not in wanted and _is_in_use(running, name)))


def status(gateway: Gateway, observed: Observed) -> dict[str, Json]:
    """Return the status that services read. The relay stands once programmed, as long as its Gateway is there."""
    running = observed.children.get(relay_gateway.GATEWAY_KEY)
    if gateway.relay is None or running is None:
        return {}
    was_ready = seen.text(seen.at(observed.status, "relay", "name")) == gateway.relay.name
    if not was_ready and not gateway_status.gateway(running).verdict.is_good:
        return {}
    return {"relay": {"name": gateway.relay.name, "host": gateway.relay.host}}


def conditions(gateway: Gateway, observed: Observed) -> Iterator[Condition]:
    """Yield whether services may use the relay, where one is wanted or kept."""
    left = ", ".join(kept(gateway, observed))
    if gateway.relay is None:
        if left:
            message = f"spec.relay is gone, and services of {left} still have routes there; it goes when they have left"
            yield Condition(CONDITION, Truth.TRUE, "InUse", message)
        return
    verdict = gateway_status.gateway(observed.children.get(relay_gateway.GATEWAY_KEY)).verdict
    listed = f"services of {', '.join(gateway.relay.namespaces)} may use the relay"
    if verdict.is_good:
        more = f"; those of {left} still have routes there and keep them" if left else ""
        yield Condition(CONDITION, Truth.TRUE, "Programmed", f"{listed}{more}")
        return
    known = Truth.FALSE if verdict.is_good is False else Truth.UNKNOWN
    yield Condition(CONDITION, known, verdict.reason, f"{listed} once it is programmed: {verdict.message}")


def _listeners(running: Resource | None) -> list[str]:
    """Return the names of the listeners that may be namespaces; no other was ever made here."""
    found = (seen.text(each.get("name")) for each in seen.objects(seen.at(running, "spec", "listeners")))
    return [name for name in found if names.is_label(name)]


def _is_in_use(running: Resource | None, name: str) -> bool:
    """Return whether routes may be attached to a listener: a status that does not say so is no zero."""
    for each in seen.objects(seen.at(running, "status", "listeners")):
        if each.get("name") == name:
            return seen.count(each.get("attachedRoutes")) != 0
    return True


def _ready(child: Mapping[str, Json] | None) -> Ready:
    return Ready.FALSE if child is None else _judge(child)


def _judge(child: Resource) -> Ready:
    kind = str(child.get("kind"))
    is_good: bool | None = True
    if kind == "Gateway":
        is_good = gateway_status.gateway(child).verdict.is_good
    elif kind == "ClientTrafficPolicy":
        is_good = gateway_status.policy(child, kind).is_good
    return Ready.TRUE if is_good else Ready.FALSE
