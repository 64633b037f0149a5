"""ModelService: one URL in front of any number of endpoints.

Reads: the InferenceGateway (the named one, or all to find the only one), and the ModelEndpoints of its own namespace,
with one requirement for each group. Its Namespace, where a gateway allows namespaces by label.
Emits: an HTTPRoute and a BackendTrafficPolicy; with `auth` a SecurityPolicy; for a shared rule (failover by priority,
or more endpoints than a rule can list) the Backends and the HTTPRouteFilter that it refers to. For endpoints that no
one rule can hold, the same for each leg at the relay of the gateway. On a gateway of type EnvoyAI an AIGatewayRoute
instead of the HTTPRoute, and for each provider a Backend, an AIServiceBackend and, with a credential, a
BackendSecurityPolicy; then it reads the HTTPRoute that the AI gateway makes.
Reports: address, url, gateway, endpoints, backends; conditions Accepted, EndpointsReady and RouteReady.

The existing route is held while no gateway is found, while no endpoint is ready, and while the gateway cannot express
the spec. One with a host that another namespace holds is given up once the holder's route answers. Objects that a route
refers to are created before the route and removed after it. A service that moves to a gateway of another type keeps its
route until the new one is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.api import gateway_status, service_status
from modelplane.api import service as services
from modelplane.api.gateway_status import Verdict
from modelplane.errors import Unsupported
from modelplane.render import routing
from modelplane.render.manifest import Manifest
from modelplane.routing import features, relay
from modelplane.routing.model import Service
from modelplane.routing.plan import Plan
from modelplane_functions import hold, relay_legs, service_budgets, service_facts, service_forms, service_hosts
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
from modelplane_functions.service_forms import Form
from modelplane_functions.service_hosts import HostTaken

Json: TypeAlias = Any

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
        decided, manifests = _planned(facts, observed)
    except Unsupported as error:
        return _refused(observed, requirements, error, service)
    return _decided(observed, requirements, facts, decided, manifests)


def _planned(facts: Facts, observed: Observed) -> tuple[Plan, tuple[Manifest, ...]]:
    """Return the plan and the objects of its route. Raises: Unsupported, which names the gateway that cannot do it."""
    gateway = facts.gateway.gateway
    offered = features.features(gateway.type, gateway.version)
    if gateway.limiter is not None and gateway.limiter.is_ready:
        offered |= features.LIMITED[gateway.type]
    try:
        decided = relay.decide(facts.service, facts.groups, offered, gateway)
        decided = relay.without(decided, relay_legs.refused(observed, gateway, decided), facts.service, gateway.relay)
        manifests = service_forms.manifests(facts, decided, observed.children)
    except Unsupported as error:
        said = f'InferenceGateway "{gateway.name}", {features.title(gateway.type, gateway.version)}: {error.message}'
        raise Unsupported(said, reason=error.reason) from None
    return replace(decided, notes=(*decided.notes, *service_forms.notes(facts, decided))), manifests


# --- outcomes ---------------------------------------------------------------------------------------------------------


def _refused(
    observed: Observed, requirements: Mapping[str, Requirement], error: Unsupported, service: Service
) -> Outcome:
    """Return the held children, and the reason for the refusal."""
    message = error.message
    children = service_hosts.given_up(observed, hold.hold(observed.children, _held_readiness), error)
    children = service_budgets.counted(children, service.namespace, service_facts.gateway(service, observed))
    status = dict(_kept_status(observed))
    if {service_forms.HTTP.route, service_forms.AI.route} & children.keys():
        message += "; the existing route is kept as it is"
    elif isinstance(error, HostTaken):
        # The gateway knows by that name who asks for its hosts.
        status = {"gateway": error.gateway}
    accepted = Condition("Accepted", Truth.FALSE, error.reason, message)
    return Outcome(
        requirements=requirements,
        children=children,
        status=status,
        conditions=(
            accepted,
            Condition("EndpointsReady", Truth.UNKNOWN, "NotAccepted", "see Accepted"),
            Condition("RouteReady", Truth.UNKNOWN, "NotAccepted", "see Accepted"),
        ),
        events=_events(observed, accepted),
        ready=Ready.FALSE,
        ttl_seconds=_WAITING_SECONDS,
    )


def _decided(
    observed: Observed,
    requirements: Mapping[str, Requirement],
    facts: Facts,
    decided: Plan,
    manifests: tuple[Manifest, ...],
) -> Outcome:
    gateway = facts.gateway.gateway
    verdict = service_forms.verdict(service_forms.of(gateway), observed, gateway)
    children = _children(observed, facts, decided, manifests, verdict)
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


def _children(
    observed: Observed, facts: Facts, decided: Plan, manifests: tuple[Manifest, ...], verdict: Verdict
) -> dict[str, Child]:
    if not decided.targets:
        # A drained service wants no traffic. Otherwise no endpoint is ready, and the author did not ask for that.
        kept = {} if decided.is_drained else hold.hold(observed.children, _held_readiness)
        return service_budgets.counted(kept, facts.service.namespace, facts.gateway.gateway)
    gateway, form = facts.gateway.gateway, service_forms.of(facts.gateway.gateway)
    generated = observed.required.get(service_facts.GENERATED, ())
    step = _Step(form, relay_legs.waiting(observed, gateway, decided), generated)
    staged = _staged(observed.children, {manifest.key: manifest for manifest in manifests}, verdict, step)
    children = _left_behind(observed, form, verdict) | staged
    children |= relay_legs.children(observed, facts, decided, _staged_leg)
    return {**children, **relay_legs.leaving(observed, decided, children, verdict, _held_readiness)}


def _staged_leg(
    observed: Mapping[str, Resource], wanted: Mapping[str, Manifest], verdict: Verdict, waiting: frozenset[str]
) -> dict[str, Child]:
    return _staged(observed, wanted, verdict, _Step(waiting=waiting))


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of a rollout: the form of the route, the objects that are `waiting`, which it does not refer to yet, and
    the routes that the AI gateway has `generated` of it, which follow it with a delay.
    """

    form: Form = service_forms.HTTP
    waiting: frozenset[str] = frozenset()
    generated: Sequence[Resource] = ()


def _staged(
    observed: Mapping[str, Resource], wanted: Mapping[str, Manifest], verdict: Verdict, step: _Step
) -> dict[str, Child]:
    """Return the children of this step of a rollout that loses no request.

    Objects that the new route refers to exist before the route changes. Objects that an existing route refers to stay
    until it no longer does.
    """
    form, is_ai = step.form, step.form is service_forms.AI
    running = observed.get(form.route)
    unmade = step.waiting | {
        key for key in wanted if service_forms.is_referred(key) and not service_forms.stands(key, observed.get(key))
    }
    is_open = form.security in wanted and form.security not in observed
    children = {
        key: Child(manifest.resource, _readiness(key, form, observed.get(key), verdict))
        for key, manifest in wanted.items()
    }
    if running is not None and (unmade or (is_ai and is_open)):
        # With its policy an AI route gets another host, which must not be open before the policy exists.
        children[form.route] = Child(hold.held(running))
    elif running is None and (is_open or step.waiting or (is_ai and unmade)):
        # Without its policy the route would be open to everyone for a moment, without its legs it has no endpoint, and
        # without its credential a provider would be sent what the client sent.
        del children[form.route]
    routes = (*service_forms.routes(observed), *step.generated)
    names_in_use = {name for route in routes for name in service_facts.references(route)}
    for key, child in sorted(observed.items()):
        if key not in wanted and service_forms.is_referred(key) and child["metadata"]["name"] in names_in_use:
            children[key] = Child(hold.held(child), _held_readiness(child))
    for key in sorted(children):
        # The authorities that a Backend trusts stay while it does: without them it refuses all requests.
        trusted = routing.authorities_key(key)
        if trusted not in children and trusted in observed and key in observed:
            children[trusted] = Child(hold.held(observed[trusted]), Ready.TRUE)
    return children


def _left_behind(observed: Observed, form: Form, verdict: Verdict) -> dict[str, Child]:
    """Return the route and the policies of the other form: the route until the new one is good, then the policies until
    the route is gone, because without them it would be open to everyone for a moment.
    """
    former = service_forms.other(form)
    if former.route not in observed.children:
        return {}
    keys = former.policies if verdict.is_good else (former.route, *former.policies)
    return hold.hold({key: observed.children[key] for key in keys if key in observed.children}, _held_readiness)


def _readiness(key: str, form: Form, child: Resource | None, route: Verdict) -> Ready:
    if key == form.route:
        return _truth(route)
    return Ready.FALSE if child is None else _held_readiness(child)


def _held_readiness(child: Resource) -> Ready:
    """Return the readiness of an observed child by its kind. A route is FALSE, because its gateway is unknown."""
    return _truth(service_forms.judged(child))


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
        kept = "; the existing route is kept as it is" if service_facts.routes(observed) else ""
        return Condition("EndpointsReady", Truth.FALSE, reason, f"{counts}{kept}; {notes}")
    if decided.is_complete:
        return Condition("EndpointsReady", Truth.TRUE, "AllReady", "; ".join(filter(None, (counts, notes))))
    return Condition("EndpointsReady", Truth.FALSE, "PartiallyReady", "; ".join(filter(None, (counts, notes))))


def _route_ready(
    observed: Observed, children: Mapping[str, Child], facts: Facts, decided: Plan, route: Verdict
) -> Condition:
    """Return whether requests reach the endpoints, from the verdicts over the route and every object that it needs."""
    gateway, form = facts.gateway.gateway, service_forms.of(facts.gateway.gateway)
    behind = list(relay_legs.verdicts(observed, gateway, decided))
    if form.route not in children:
        for verdict in behind:
            if verdict.is_good is False:
                return Condition("RouteReady", Truth.FALSE, verdict.reason, verdict.message)
        if relay_legs.waiting(observed, gateway, decided):
            message = "the route is created once the gateway has accepted those of its endpoints at the relay"
            return Condition("RouteReady", Truth.UNKNOWN, "WaitingForRelay", message)
        if decided.targets:
            needed = "its SecurityPolicy exists" if form is service_forms.HTTP else "its providers and policies exist"
            message = f"the route is created once {needed}"
            return Condition("RouteReady", Truth.UNKNOWN, "WaitingForPolicy", message)
        message = "no endpoint can receive requests; see EndpointsReady"
        return Condition("RouteReady", Truth.FALSE, "NoRoute", message)
    verdicts = [route, *_needs(observed, form, children), *behind]
    for verdict in verdicts:
        if verdict.is_good is False:
            return Condition("RouteReady", Truth.FALSE, verdict.reason, verdict.message)
    for verdict in verdicts:
        if verdict.is_good is None:
            return Condition("RouteReady", Truth.UNKNOWN, verdict.reason, verdict.message)
    return Condition("RouteReady", Truth.TRUE, route.reason, route.message)


def _needs(observed: Observed, form: Form, children: Mapping[str, Child]) -> Iterable[Verdict]:
    """Yield the verdicts over the policies, and over what the route that runs refers to.

    What a new route will refer to does not concern the one that runs, and no controller reports on it yet.
    """
    running = observed.children.get(form.route)
    in_use = service_facts.references(running) if running is not None else frozenset()
    for key in sorted(children):
        child = observed.children.get(key)
        is_in_use = service_forms.is_referred(key) and hold.name_of(child) in in_use
        if key in form.policies or (is_in_use and key != routing.RULE_FILTER_KEY):
            kind = str(children[key].resource["kind"])
            yield gateway_status.unseen(kind) if child is None else service_forms.judged(child)


def _events(observed: Observed, condition: Condition) -> tuple[Event, ...]:
    """Return an event when a condition becomes true or stops being true."""
    before = seen.condition(observed.status, condition.type)
    was_good, is_good = seen.verdict(before) is True, condition.status is Truth.TRUE
    if was_good == is_good:
        return ()
    if is_good:
        return (Event(Severity.NORMAL, condition.type, condition.message),)
    return (Event(Severity.WARNING, condition.reason, condition.message),)
