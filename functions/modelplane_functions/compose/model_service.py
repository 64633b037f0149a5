"""ModelService: one URL in front of any number of endpoints.

Reads: the InferenceGateway (the named one, or all to find the only one), and the ModelEndpoints of its own namespace,
with one requirement for each group. Its Namespace, where a gateway allows namespaces by label.
Emits: an HTTPRoute and a BackendTrafficPolicy; with `auth` a SecurityPolicy; for a shared rule (failover by priority,
or more endpoints than a rule can list) the Backends and the HTTPRouteFilter that it refers to. For endpoints that no
one rule can hold, the same for each leg at the relay of the gateway.
Reports: address, url, gateway, endpoints, backends; conditions Accepted, EndpointsReady and RouteReady.

The existing route is held while no gateway is found, while no endpoint is ready, and while the gateway cannot express
the spec. Objects that a route refers to are created before the route and removed after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.api import gateway_status, service_status
from modelplane.api import service as services
from modelplane.api.gateway_status import Verdict
from modelplane.errors import Unsupported
from modelplane.render import routing, traffic
from modelplane.render.manifest import Manifest
from modelplane.routing import features, relay
from modelplane.routing.plan import Plan
from modelplane_functions import hold, relay_legs, service_facts
from modelplane_functions.exchange import (
    Child,
    Condition,
    Event,
    Observed,
    Outcome,
    Ready,
    Requirement,
    Resource,
    Severity,
    Truth,
)
from modelplane_functions.service_facts import Facts

Json: TypeAlias = Any

_FILTERS = frozenset({routing.RULE_FILTER_KEY, routing.CIRCLE_FILTER_KEY})
_SETTLED_SECONDS = 600
_WAITING_SECONDS = 60


def compose(observed: Observed) -> Outcome:
    """Return the route of the service, and why an endpoint is missing from it.

    Raises: InvalidInput when the service's author must change something. Everything is held then.
    """
    service = services.decode(observed.composite)
    requirements = service_facts.requirements(service, observed)
    if not requirements.keys() <= observed.required.keys():
        return Outcome(requirements=requirements)
    try:
        facts = service_facts.read(service, observed)
        gateway = facts.gateway.gateway
        decided = _planned(facts)
    except Unsupported as error:
        return _refused(observed, requirements, error)
    return _decided(
        observed, requirements, facts, relay.without(decided, relay_legs.refused(observed, gateway, decided))
    )


def _planned(facts: Facts) -> Plan:
    """Return the plan. Raises: Unsupported, which names the gateway that cannot do it."""
    gateway = facts.gateway.gateway
    offered = features.features(gateway.type, gateway.version)
    try:
        return relay.decide(facts.service, facts.groups, offered, gateway)
    except Unsupported as error:
        said = f'InferenceGateway "{gateway.name}", {features.title(gateway.type, gateway.version)}: {error.message}'
        raise Unsupported(said, reason=error.reason) from None


# --- outcomes ---------------------------------------------------------------------------------------------------------


def _refused(observed: Observed, requirements: Mapping[str, Requirement], error: Unsupported) -> Outcome:
    """Return the held children, and the reason for the refusal."""
    message = error.message
    if routing.ROUTE_KEY in observed.children:
        message += "; the existing route is kept as it is"
    accepted = Condition("Accepted", Truth.FALSE, error.reason, message)
    return Outcome(
        requirements=requirements,
        children=hold.hold(observed.children, _held_readiness),
        status=_kept_status(observed),
        conditions=(
            accepted,
            Condition("EndpointsReady", Truth.UNKNOWN, "NotAccepted", "see Accepted"),
            Condition("RouteReady", Truth.UNKNOWN, "NotAccepted", "see Accepted"),
        ),
        events=_events(observed, accepted),
        ready=Ready.FALSE,
        ttl_seconds=_WAITING_SECONDS,
    )


def _decided(observed: Observed, requirements: Mapping[str, Requirement], facts: Facts, decided: Plan) -> Outcome:
    gateway = facts.gateway.gateway
    verdict = gateway_status.route(
        observed.children.get(routing.ROUTE_KEY),
        gateway_namespace=gateway.gateway_namespace,
        gateway_name=gateway.gateway_name,
    )
    children = _children(observed, facts, decided, verdict)
    conditions = (
        _accepted(facts, decided),
        _endpoints_ready(observed, decided),
        _route_ready(observed, children, facts, decided, verdict),
    )
    is_ready = all(condition.status is Truth.TRUE for condition in conditions) and all(
        child.ready is Ready.TRUE for child in children.values()
    )
    return Outcome(
        requirements=requirements,
        children=children,
        status=service_status.encode(facts.service, facts.gateway, facts.groups, decided, _kept_status(observed)),
        conditions=conditions,
        events=_events(observed, conditions[-1]),
        ready=Ready.TRUE if is_ready else Ready.FALSE,
        ttl_seconds=_SETTLED_SECONDS if is_ready else _WAITING_SECONDS,
    )


def _children(observed: Observed, facts: Facts, decided: Plan, verdict: Verdict) -> dict[str, Child]:
    if not decided.targets:
        # A drained service wants no traffic. Otherwise no endpoint is ready, and the author did not ask for that.
        return {} if decided.is_drained else hold.hold(observed.children, _held_readiness)
    wanted = {
        manifest.key: manifest
        for manifest in (
            *routing.service_manifests(facts.service, facts.gateway.gateway, decided, hold.standing(observed.children)),
            *traffic.service_manifests(facts.service, decided),
        )
    }
    waiting = relay_legs.waiting(observed, facts.gateway.gateway, decided)
    children = _staged(observed.children, wanted, verdict, waiting)
    return {
        **children,
        **relay_legs.children(observed, facts, decided, _staged),
        **relay_legs.leaving(observed, decided, children, verdict, _held_readiness),
    }


def _staged(
    observed: Mapping[str, Resource],
    wanted: Mapping[str, Manifest],
    verdict: Verdict,
    waiting: frozenset[str] = frozenset(),
) -> dict[str, Child]:
    """Return the children of this step of a rollout that loses no request.

    Objects that the new route refers to exist before the route changes, and those that are `waiting` are not referred
    to yet. Objects that the existing route refers to stay until it no longer does.
    """
    running = observed.get(routing.ROUTE_KEY)
    unmade = {key for key in wanted if _is_referred(key) and not _stands(key, observed.get(key))} | waiting
    if traffic.SECURITY_KEY in wanted and traffic.SECURITY_KEY not in observed:
        unmade.add(traffic.SECURITY_KEY)
    children = {
        key: Child(manifest.resource, _readiness(key, observed.get(key), verdict)) for key, manifest in wanted.items()
    }
    if running is not None and any(_is_referred(key) for key in unmade):
        children[routing.ROUTE_KEY] = Child(hold.held(running))
    elif running is None and (traffic.SECURITY_KEY in unmade or waiting):
        # Without its policy the route would be open to everyone for a moment, and without its legs it has no endpoint.
        del children[routing.ROUTE_KEY]
    if running is not None:
        names_in_use = service_facts.references(running)
        for key, child in sorted(observed.items()):
            if key not in wanted and _is_referred(key) and child["metadata"]["name"] in names_in_use:
                children[key] = Child(hold.held(child), _held_readiness(child))
    for key in sorted(children):
        # The authorities that a Backend trusts stay while it does: without them it refuses all requests.
        trusted = routing.authorities_key(key)
        if trusted not in children and trusted in observed and key in observed:
            children[trusted] = Child(hold.held(observed[trusted]), Ready.TRUE)
    return children


def _is_referred(key: str) -> bool:
    return key in _FILTERS or key.startswith((f"{routing.BACKEND_KEY}-", f"{routing.AUTHORITIES_KEY}-"))


def _stands(key: str, child: Resource | None) -> bool:
    if child is None:
        return False
    # Envoy Gateway reads a Backend only while a route refers to it. Waiting for its acceptance would never end.
    return not key.startswith(f"{routing.BACKEND_KEY}-") or gateway_status.backend(child).is_good is not False


def _readiness(key: str, child: Resource | None, route: Verdict) -> Ready:
    if key == routing.ROUTE_KEY:
        return _truth(route)
    return Ready.FALSE if child is None else _held_readiness(child)


def _held_readiness(child: Resource) -> Ready:
    """Return the readiness of an observed child by its kind. A route is FALSE, because its gateway is unknown."""
    kind = str(child.get("kind"))
    if kind == "Backend":
        return _truth(gateway_status.backend(child))
    if kind in {"BackendTrafficPolicy", "SecurityPolicy"}:
        return _truth(gateway_status.policy(child, kind))
    return Ready.TRUE if kind in {"HTTPRouteFilter", "ConfigMap"} else Ready.FALSE


def _truth(verdict: Verdict) -> Ready:
    return Ready.TRUE if verdict.is_good else Ready.FALSE


# --- reports ----------------------------------------------------------------------------------------------------------


def _kept_status(observed: Observed) -> Mapping[str, Json]:
    return {key: value for key, value in observed.status.items() if key != "conditions"}


def _accepted(facts: Facts, decided: Plan) -> Condition:
    if facts.kept:
        return Condition("Accepted", Truth.TRUE, "RouteKept", f"{facts.kept}; the service keeps the route that it has")
    paying = sorted({target.endpoint.name for target in decided.targets if target.endpoint.credential is not None})
    if facts.service.auth is None and paying:
        return Condition(
            "Accepted",
            Truth.TRUE,
            "OpenToAll",
            f"every client of the gateway can use the credentials of {', '.join(paying[:5])}; set spec.auth",
        )
    return Condition("Accepted", Truth.TRUE, "Accepted", "the gateway can express the service")


def _endpoints_ready(observed: Observed, decided: Plan) -> Condition:
    notes = "; ".join(decided.notes)
    counts = f"{decided.ready} of {decided.matched} matching endpoints are ready"
    if decided.is_drained:
        return Condition("EndpointsReady", Truth.FALSE, "Drained", f"all groups have weight 0; {counts}")
    if not decided.targets:
        reason = "NoReadyEndpoints" if decided.matched else "NoEndpoints"
        kept = "; the existing route is kept as it is" if routing.ROUTE_KEY in observed.children else ""
        return Condition("EndpointsReady", Truth.FALSE, reason, f"{counts}{kept}; {notes}")
    if decided.is_complete:
        return Condition("EndpointsReady", Truth.TRUE, "AllReady", "; ".join(filter(None, (counts, notes))))
    return Condition("EndpointsReady", Truth.FALSE, "PartiallyReady", "; ".join(filter(None, (counts, notes))))


def _route_ready(
    observed: Observed, children: Mapping[str, Child], facts: Facts, decided: Plan, route: Verdict
) -> Condition:
    """Return whether requests reach the endpoints, from the verdicts over the route and every object that it needs."""
    behind = list(relay_legs.verdicts(observed, facts.gateway.gateway, decided))
    if routing.ROUTE_KEY not in children:
        for verdict in behind:
            if verdict.is_good is False:
                return Condition("RouteReady", Truth.FALSE, verdict.reason, verdict.message)
        if relay_legs.waiting(observed, facts.gateway.gateway, decided):
            message = "the route is created once the gateway has accepted those of its endpoints at the relay"
            return Condition("RouteReady", Truth.UNKNOWN, "WaitingForRelay", message)
        if decided.targets:
            message = "the route is created once its SecurityPolicy exists"
            return Condition("RouteReady", Truth.UNKNOWN, "WaitingForPolicy", message)
        message = "no endpoint can receive requests; see EndpointsReady"
        return Condition("RouteReady", Truth.FALSE, "NoRoute", message)
    verdicts = [route, *_needs(observed, children), *behind]
    for verdict in verdicts:
        if verdict.is_good is False:
            return Condition("RouteReady", Truth.FALSE, verdict.reason, verdict.message)
    for verdict in verdicts:
        if verdict.is_good is None:
            return Condition("RouteReady", Truth.UNKNOWN, verdict.reason, verdict.message)
    return Condition("RouteReady", Truth.TRUE, route.reason, route.message)


def _needs(observed: Observed, children: Mapping[str, Child]) -> Iterable[Verdict]:
    for key in sorted(children):
        child = observed.children.get(key)
        if key in {traffic.TRAFFIC_KEY, traffic.SECURITY_KEY}:
            yield gateway_status.policy(child, str(children[key].resource["kind"]))
        elif key.startswith(f"{routing.BACKEND_KEY}-"):
            yield gateway_status.backend(child)


def _events(observed: Observed, condition: Condition) -> tuple[Event, ...]:
    """Return an event when a condition becomes true or stops being true."""
    before = seen.condition(observed.status, condition.type)
    was_good, is_good = seen.verdict(before) is True, condition.status is Truth.TRUE
    if was_good == is_good:
        return ()
    if is_good:
        return (Event(Severity.NORMAL, condition.type, condition.message),)
    return (Event(Severity.WARNING, condition.reason, condition.message),)
