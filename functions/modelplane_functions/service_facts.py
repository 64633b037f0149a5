"""The inputs of a service's route, decoded from what its composer observed.

They are the gateway, and for each group the endpoints that its selector matches, as the existing route uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from modelplane import names, seen
from modelplane.api import endpoint as endpoints
from modelplane.api import gateway as gateways
from modelplane.api import service as services
from modelplane.api import tenants
from modelplane.api.fields import Field
from modelplane.api.gateway import GatewayState
from modelplane.errors import InvalidInput, Unsupported
from modelplane.render import ai_routing, routing, traffic
from modelplane.routing import model_hosts, wishes
from modelplane.routing.egress import Rules
from modelplane.routing.features import GatewayType
from modelplane.routing.model import Gateway, Service
from modelplane.routing.plan import Candidate
from modelplane.workload import tenancy
from modelplane.workload.tenancy import Access
from modelplane_functions import allowed_namespaces, service_hosts
from modelplane_functions.exchange import Observed, Requirement, Resource
from modelplane_functions.memory.resources import recall

GATEWAYS = "gateways"
GENERATED = "generated-route"
"""The HTTPRoute that the AI gateway makes of the route of a service."""
_GROUP = "endpoints-"
_DEFAULT_GATEWAY = "default"


@dataclass(frozen=True, slots=True)
class Facts:
    """The decoded inputs of the decision."""

    service: Service
    gateway: GatewayState
    groups: tuple[tuple[Candidate, ...], ...]
    kept: str = ""
    """The reason why the gateway would give the service no route, where it has one and keeps it."""


def requirements(service: Service, observed: Observed) -> dict[str, Requirement]:
    """Return the objects that must be fetched. The keys derive from the selectors, so the order of groups is free.

    The Namespace is among them once a gateway in sight allows namespaces by their labels, and the HTTPRoute of an AI
    gateway once there is one.
    """
    needed = {GATEWAYS: Requirement(names.API_VERSION, "InferenceGateway", name=service.gateway or None)}
    for group in service.groups:
        needed[_group_key(group.selector.text())] = Requirement(
            names.API_VERSION,
            "ModelEndpoint",
            labels=dict(group.selector.match_labels),
            namespace=service.namespace,
        )
    if _may_be_generated(observed):
        needed[GENERATED] = Requirement(
            routing.GATEWAY_API_VERSION,
            "HTTPRoute",
            name=ai_routing.route_name(service.name),
            namespace=service.namespace,
        )
    rules = (tenants.readable(one) for one in observed.required.get(GATEWAYS, ()))
    return needed | allowed_namespaces.requirements(rules, (service.namespace,))


def read(service: Service, observed: Observed) -> Facts:
    """Return the decoded inputs. Every required object must have been fetched.

    Raises: Unsupported when there is no gateway that can carry the service as it is written.
    """
    state = _counted(_gateway(service, observed), observed)
    kept = _check_namespace(service, state, observed)
    facts = Facts(service, state, _groups(service, observed, state.gateway.egress), kept)
    if state.gateway.type is GatewayType.ENVOY_AI:
        facts = replace(facts, service=model_hosts.placed(service, state.gateway))
    else:
        service_hosts.check(service, state.gateway, observed)
    services.check_egress(service, state.gateway.egress)
    wishes.check_addresses(service, state.gateway)
    return facts


def _counted(gateway: GatewayState, observed: Observed) -> GatewayState:
    """Return the gateway with a rate limit service that is ready where a policy of the service counts with it already.

    A status of the gateway that says nothing for a moment must not take a limit or a budget away.
    """
    limiter = gateway.gateway.limiter
    policies = [observed.children.get(key) for key in (traffic.TRAFFIC_KEY, ai_routing.TRAFFIC_KEY)]
    is_in_use = any(
        seen.at(each, "spec", "rateLimit", "global") or seen.at(each, "spec", "mergeType") for each in policies
    )
    if limiter is None or limiter.is_ready or not is_in_use:
        return gateway
    return replace(gateway, gateway=replace(gateway.gateway, limiter=replace(limiter, is_ready=True)))


def gateway(service: Service, observed: Observed) -> Gateway | None:
    """Return the gateway of a service that is refused, None where there is none that can be read."""
    try:
        return _counted(_gateway(service, observed), observed).gateway
    except Unsupported:
        return None


def routes(observed: Observed) -> tuple[Resource, ...]:
    """Return the routes of the service that exist, of whatever type of gateway; two while it moves between gateways."""
    keys = (routing.ROUTE_KEY, ai_routing.ROUTE_KEY)
    return tuple(observed.children[key] for key in keys if key in observed.children)


def _may_be_generated(observed: Observed) -> bool:
    """Return whether a gateway in sight, or the route that runs, is of the AI gateway."""
    return ai_routing.ROUTE_KEY in observed.children or any(
        GatewayType.ENVOY_AI in (seen.at(one, "spec", "type"), seen.at(one, "status", "type"))
        for one in observed.required.get(GATEWAYS, ())
    )


def _group_key(selector: str) -> str:
    return _GROUP + names.digest(selector)


def _groups(service: Service, observed: Observed, rules: Rules) -> tuple[tuple[Candidate, ...], ...]:
    """Return the endpoints that each selector matches, without those of other namespaces and those that are leaving."""
    carried = _carried(observed)
    return tuple(
        tuple(
            _heard(_candidate(resource, rules, is_carried=resource["metadata"]["name"] in carried), carried)
            for resource in observed.required[_group_key(group.selector.text())]
            if _is_eligible(resource, service.namespace)
            and group.selector.matches(resource["metadata"].get("labels") or {})
        )
        for group in service.groups
    )


def _candidate(resource: Resource, rules: Rules, *, is_carried: bool) -> Candidate:
    """Return the endpoint as a candidate. It is read once for the same rules."""

    def read() -> tuple[Rules, bool, Candidate]:
        return rules, is_carried, endpoints.candidate(resource, rules, is_carried=is_carried)

    return recall(resource, "candidate", read, lambda known: known[:2] == (rules, is_carried))[2]


def _heard(candidate: Candidate, carried: Mapping[str, str]) -> Candidate:
    """Return the candidate. One without a status is taken as the existing route uses it.

    Raises: Unsupported for a candidate that the existing route uses, that is refused now, and that has no record of the
    spec in force. A new route would drop it.
    """
    if candidate.is_unrecorded and candidate.name in carried:
        raise Unsupported(
            f"endpoint {candidate.name}: {candidate.problem}; correct or delete it, and the route is updated",
            reason="EndpointRefused",
        )
    if not candidate.is_silent or candidate.endpoint is None or candidate.name not in carried:
        return candidate
    problem = candidate.problem or "its status does not report whether it is ready; it is kept in the existing route"
    return replace(candidate, ready=True, backend_name=carried[candidate.name], problem=problem)


def _carried(observed: Observed) -> dict[str, str]:
    """Return the Backends, by endpoint, that receive requests through the existing route."""
    in_use = {name for route in routes(observed) for name in references(route)}
    if not in_use:
        return {}
    shares = any(key.startswith(f"{routing.BACKEND_KEY}-") for key in observed.children)
    told = [
        (seen.text(entry.get("endpoint")), seen.text(entry.get("backendName")), seen.count(entry.get("weight")))
        for entry in seen.objects(observed.status.get("backends"))
    ]
    return {name: backend for name, backend, weight in told if weight and (shares or backend in in_use)}


def _is_eligible(resource: Resource, namespace: str) -> bool:
    metadata = resource["metadata"]
    is_leaving = metadata.get("deletionTimestamp") or endpoints.is_draining(resource)
    return metadata.get("namespace") == namespace and not is_leaving


def _gateway(service: Service, observed: Observed) -> GatewayState:
    """Return the gateway of the service.

    Raises: Unsupported when there is none, or when there are several and the service names none.
    """
    found = {str(resource["metadata"]["name"]): resource for resource in observed.required[GATEWAYS]}
    if service.gateway:
        chosen = service.gateway
    elif len(found) == 1:
        chosen = next(iter(found))
    else:
        chosen = _DEFAULT_GATEWAY
    if chosen not in found:
        raise _no_gateway(service, sorted(found))
    try:
        state = recall(found[chosen], "state", partial(gateways.state, found[chosen]))
        declared = recall(found[chosen], "gateway", partial(gateways.decode, found[chosen]))
    except (InvalidInput, Unsupported) as error:
        raise Unsupported(f'InferenceGateway "{chosen}" is not usable: {error}', reason="GatewayInvalid") from None
    return state.at(declared) if _is_attached(observed, declared) else state


def _is_attached(observed: Observed, gateway: Gateway) -> bool:
    """Return whether a route that runs is attached to the Gateway that its author declares.

    No status leads it elsewhere then: a Gateway is never renamed, so one that says so was written by somebody else.
    """
    own = (gateway.gateway_namespace, gateway.gateway_name)
    return any(
        (parent.get("namespace"), parent.get("name")) == own
        for route in routes(observed)
        for parent in seen.objects(seen.at(route, "spec", "parentRefs"))
    )


def _no_gateway(service: Service, found: list[str]) -> Unsupported:
    if service.gateway:
        return Unsupported(
            f'InferenceGateway "{service.gateway}" in spec.gatewayRef does not exist; create it or name another',
            reason="GatewayNotFound",
        )
    if found:
        return Unsupported(
            f"there are several InferenceGateways ({', '.join(found)}) and none is named {_DEFAULT_GATEWAY!r}; "
            "name one in spec.gatewayRef.name",
            reason="AmbiguousGateway",
        )
    return Unsupported("no InferenceGateway exists; ask the platform team to create one", reason="GatewayNotFound")


def _check_namespace(service: Service, state: GatewayState, observed: Observed) -> str:
    """Return why a service that has a route would get none now, empty where it may have one.

    Raises: Unsupported for a service without a route whose namespace is not allowed, or not known to be.
    """
    labels = allowed_namespaces.labels(observed, service.namespace)
    access = tenancy.access(state.gateway.tenants, service.namespace, labels)
    if access is Access.ALLOWED:
        return ""
    said = f'InferenceGateway "{state.gateway.name}": {tenancy.refusal(access, service.namespace)}'
    if routes(observed):
        return said
    if access is Access.UNKNOWN:
        raise Unsupported(f"{said}; the service waits for it", reason=allowed_namespaces.UNKNOWN)
    raise Unsupported(f"{said}; ask the platform team to allow it", reason=allowed_namespaces.NOT_ALLOWED)


def references(route: Resource) -> frozenset[str]:
    """Return the names of the Backends (or providers of the same names) and filters that a route's rules refer to.

    Raises: InvalidInput for a route that cannot be read. The objects it may refer to are not touched then.
    """
    return frozenset(
        name
        for rule in Field(route).at("spec", "rules").items()
        for name in (
            *(ref.at("name").text("") for ref in rule.at("backendRefs").items()),
            *(each.at("extensionRef", "name").text("") for each in rule.at("filters").items()),
        )
    )
