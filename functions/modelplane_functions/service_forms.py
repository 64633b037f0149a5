"""The forms that the route of a service has, by type of gateway: an HTTPRoute, or an AIGatewayRoute.

A service that moves to a gateway of another type has both for a while. The objects of one form have keys that the other
has not, except Backends, whose keys and names derive from what is in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from modelplane import seen
from modelplane.api import ai_status, gateway_status
from modelplane.api.gateway_status import Verdict
from modelplane.render import ai_routing, routing, traffic
from modelplane.render.manifest import Manifest
from modelplane.routing import providers
from modelplane.routing.features import GatewayType
from modelplane.routing.model import Gateway
from modelplane.routing.plan import Plan
from modelplane_functions import hold
from modelplane_functions.exchange import Observed, Resource
from modelplane_functions.service_facts import GENERATED, Facts

_FILTERS = frozenset({routing.RULE_FILTER_KEY, routing.CIRCLE_FILTER_KEY})
_REFERRED = tuple(
    f"{key}-"
    for key in (routing.BACKEND_KEY, routing.AUTHORITIES_KEY, ai_routing.PROVIDER_KEY, ai_routing.CREDENTIAL_KEY)
)
_AI_KINDS = ("AIServiceBackend", "BackendSecurityPolicy")
_POLICIES = ("BackendTrafficPolicy", "SecurityPolicy")


@dataclass(frozen=True, slots=True)
class Form:
    """The composition keys of the route and its policies."""

    route: str
    traffic: str
    security: str

    @property
    def policies(self) -> tuple[str, str]:
        """Return the keys of the policies."""
        return self.traffic, self.security


HTTP = Form(routing.ROUTE_KEY, traffic.TRAFFIC_KEY, traffic.SECURITY_KEY)
AI = Form(ai_routing.ROUTE_KEY, ai_routing.TRAFFIC_KEY, ai_routing.SECURITY_KEY)


def of(gateway: Gateway) -> Form:
    """Return the form of the routes of a gateway."""
    return AI if gateway.type is GatewayType.ENVOY_AI else HTTP


def other(form: Form) -> Form:
    """Return the form of the other type of gateway."""
    return HTTP if form is AI else AI


def routes(children: Mapping[str, Resource]) -> tuple[Resource, ...]:
    """Return the routes among `children`, of either form."""
    return tuple(children[form.route] for form in (HTTP, AI) if form.route in children)


def manifests(facts: Facts, decided: Plan, children: Mapping[str, Resource]) -> tuple[Manifest, ...]:
    """Return the objects of a service's route, beside the `children` that exist.

    Raises: Unsupported if the gateway cannot express it.
    """
    gateway, standing = facts.gateway.gateway, hold.standing(children)
    if of(gateway) is AI:
        found = providers.gather(facts.service, facts.groups, decided)
        found = providers.arranged(found, _in_route(children, standing))
        return ai_routing.service_manifests(facts.service, gateway, decided, found, standing)
    return (
        *routing.service_manifests(facts.service, gateway, decided, standing),
        *traffic.service_manifests(facts.service, decided),
    )


def _in_route(children: Mapping[str, Resource], standing: Mapping[str, str]) -> list[str]:
    """Return the keys of the providers in the route that runs, in its order, without those whose Backend is refused."""
    prefix = f"{routing.BACKEND_KEY}-"
    keys = {
        name: key.removeprefix(prefix)
        for key, name in standing.items()
        if key.startswith(prefix) and stands(key, children[key])
    }
    rules = seen.objects(seen.at(children.get(ai_routing.ROUTE_KEY), "spec", "rules"))
    named = [seen.text(each.get("name")) for rule in rules for each in seen.objects(rule.get("backendRefs"))]
    return [keys[name] for name in named if name in keys]


def notes(facts: Facts, decided: Plan) -> tuple[str, ...]:
    """Return the notes that the form adds to those of a plan."""
    return providers.notes(facts.service, decided) if of(facts.gateway.gateway) is AI else ()


def verdict(form: Form, observed: Observed, gateway: Gateway) -> Verdict:
    """Return the verdict on the route."""
    running = observed.children.get(form.route)
    where = {"gateway_namespace": gateway.gateway_namespace, "gateway_name": gateway.gateway_name}
    if form is AI:
        generated = next(iter(observed.required.get(GENERATED, ())), None)
        return ai_status.route(running, generated, **where)
    return gateway_status.route(running, **where)


def is_referred(key: str) -> bool:
    """Return whether a route refers to the object of this key, or to what this object belongs to."""
    return key in _FILTERS or key.startswith(_REFERRED)


def stands(key: str, child: Resource | None) -> bool:
    """Return whether a route may refer to an object."""
    if child is None:
        return False
    # Envoy Gateway reads a Backend only while a route refers to it. Waiting for its acceptance would never end.
    return key in _FILTERS or judged(child).is_good is not False


def judged(child: Resource) -> Verdict:
    """Return the verdict on an object beside the route."""
    kind = str(child.get("kind"))
    if kind == "Backend":
        return gateway_status.backend(child)
    if kind in _POLICIES:
        return gateway_status.policy(child, kind)
    if kind in _AI_KINDS:
        return ai_status.accepted(child, kind)
    return Verdict(kind in {"HTTPRouteFilter", "ConfigMap"}, "Exists", "")
