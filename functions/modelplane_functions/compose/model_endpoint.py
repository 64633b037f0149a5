"""ModelEndpoint: an address that answers model requests, registered with the gateway.

Reads: its own Backend and credential filter, as observed children. An endpoint written by hand also reads the
InferenceGateways, which restrict where requests may be sent.
Emits: an Envoy Gateway Backend, with `auth` an HTTPRouteFilter that sets the credential, and with
`tls.caCertificates` a ConfigMap of them, which is there before the Backend refers to it and as long as it does.
Reports: backendName, ready (routes may use it: it exists and was not refused), inForce (the spec that its objects were
made from; a service routes to it while the spec cannot be read); conditions EndpointResolved and Reachable.

This function never reads the credential. Envoy Gateway takes it from the Secret's key `credential`, which must hold the
whole value of the header, for example `Bearer sk-...`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from modelplane import names, seen
from modelplane.api import endpoint as endpoints
from modelplane.api import gateway as gateways
from modelplane.api import gateway_status
from modelplane.api.gateway_status import Verdict
from modelplane.errors import InvalidInput, Unsupported
from modelplane.render import routing
from modelplane.routing import providers
from modelplane.routing.egress import Rules
from modelplane.routing.model import AuthScheme, Endpoint
from modelplane_functions import hold
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
from modelplane_functions.memory.resources import recall

GATEWAYS = "gateways"
_SETTLED_SECONDS = 600
_WAITING_SECONDS = 60


def compose(observed: Observed) -> Outcome:
    """Return the endpoint's objects for the gateway.

    Raises: InvalidInput when the endpoint's author must change something. Everything is held then.
    """
    endpoint = endpoints.decode(observed.composite)
    requirements = {} if endpoint.is_composed else {GATEWAYS: Requirement(names.API_VERSION, "InferenceGateway")}
    if not requirements.keys() <= observed.required.keys():
        return Outcome(requirements=requirements)
    endpoints.check_egress(endpoint, _rules(observed))
    verdict = _verdict(endpoint, observed)
    was_ready = observed.status.get("ready") is True
    is_draining = endpoints.is_draining(observed.composite)
    exists = _exists(endpoint, observed)
    # A missing status is no refusal. Envoy Gateway reads a Backend only while a route refers to it, so an endpoint that
    # waited for its status would wait for ever. That includes one that was refused and has been corrected since.
    is_usable = verdict.is_good is not False
    is_ready = (was_ready or exists) and is_usable and not is_draining
    children = {
        manifest.key: Child(
            manifest.resource,
            _ready(manifest.key in observed.children and (is_usable or manifest.key != routing.BACKEND_KEY)),
        )
        for manifest in routing.endpoint_manifests(endpoint)
    }
    staged = _staged(observed, children)
    is_applied = staged[routing.BACKEND_KEY] is children[routing.BACKEND_KEY]
    return Outcome(
        requirements=requirements,
        children=staged,
        status={
            **_names(endpoint, observed),
            "ready": is_ready,
            "inForce": endpoints.in_force(observed.composite) if is_applied else observed.status.get("inForce") or {},
        },
        conditions=(_resolved(endpoint), _reachable(verdict)),
        events=() if is_draining else _events(is_ready=is_ready, was_ready=was_ready, verdict=verdict),
        ready=_ready(exists and is_usable),
        ttl_seconds=_SETTLED_SECONDS if verdict.is_good else _WAITING_SECONDS,
    )


def _staged(observed: Observed, wanted: Mapping[str, Child]) -> dict[str, Child]:
    """Return the children of this step. A Backend refuses all requests while the authorities that it names are missing.

    So they are there before an existing Backend refers to them, and until it does not.
    """
    standing, trusted = observed.children.get(routing.BACKEND_KEY), observed.children.get(routing.AUTHORITIES_KEY)
    children = dict(wanted)
    if routing.AUTHORITIES_KEY in wanted and trusted is None and standing is not None:
        children[routing.BACKEND_KEY] = Child(hold.held(standing), Ready.FALSE)
    if routing.AUTHORITIES_KEY not in wanted and trusted is not None and _trusts(standing, hold.name_of(trusted)):
        children[routing.AUTHORITIES_KEY] = Child(hold.held(trusted), Ready.TRUE)
    return children


def _trusts(backend: Resource | None, name: str) -> bool:
    named = seen.objects(seen.at(backend, "spec", "tls", "caCertificateRefs"))
    return any(one.get("name") == name for one in named)


def _names(endpoint: Endpoint, observed: Observed) -> dict[str, str]:
    """Return the names that routes refer to. An existing object keeps the name that an earlier version gave it."""
    told = {"backendName": (routing.BACKEND_KEY, routing.backend_name(endpoint.name))}
    if endpoint.credential is not None:
        told["credentialName"] = (routing.CREDENTIAL_KEY, routing.credential_filter_name(endpoint.name))
    return {field: hold.name_of(observed.children.get(key)) or derived for field, (key, derived) in told.items()}


def _rules(observed: Observed) -> list[Rules]:
    """Return the egress rules of each gateway. A gateway that cannot be read has the default rules."""
    found = []
    for document in sorted(observed.required.get(GATEWAYS, ()), key=lambda each: str(each["metadata"]["name"])):
        try:
            found.append(recall(document, "state", partial(gateways.state, document)).gateway.egress)
        except (InvalidInput, Unsupported):
            found.append(Rules(gateway=str(document["metadata"]["name"])))
    return found


def _exists(endpoint: Endpoint, observed: Observed) -> bool:
    """Return whether every object exists that a route needs to reach the endpoint."""
    return all(manifest.key in observed.children for manifest in routing.endpoint_manifests(endpoint))


def _verdict(endpoint: Endpoint, observed: Observed) -> Verdict:
    if endpoint.credential is not None and routing.CREDENTIAL_KEY not in observed.children:
        return gateway_status.unseen("HTTPRouteFilter with the endpoint's credential")
    return gateway_status.backend(observed.children.get(routing.BACKEND_KEY))


def _ready(is_ready: bool | None) -> Ready:  # noqa: FBT001 - a conversion, its one argument is its subject
    return Ready.TRUE if is_ready else Ready.FALSE


def _resolved(endpoint: Endpoint) -> Condition:
    url = endpoint.url
    place = f"{url.scheme} {url.host} port {url.port}"
    if url.prefix:
        place += f" under {url.prefix}"
    parts = [place]
    if endpoint.host is not None and endpoint.host != url.host:
        parts.append(f"the Host header is {endpoint.host}")
    if endpoint.credential is not None:
        value = "Bearer <key>" if endpoint.credential.scheme is AuthScheme.BEARER else "<key>"
        parts.append(
            f"header {endpoint.credential.header} is set from Secret {endpoint.credential.secret}, which must exist in "
            f'this namespace and hold the whole header value "{value}" under the key {endpoints.CREDENTIAL_KEY}, and '
            f"for a gateway of type EnvoyAI the key alone under {providers.API_KEY}"
        )
    return Condition("EndpointResolved", Truth.TRUE, "Resolved", "; ".join(parts))


def _reachable(verdict: Verdict) -> Condition:
    if verdict.is_good:
        return Condition("Reachable", Truth.TRUE, "BackendAccepted", "the gateway accepted the endpoint as a backend")
    if verdict.is_good is None:
        hint = " (Envoy Gateway reports on a Backend once a route refers to it)" if verdict.reason == "Waiting" else ""
        return Condition("Reachable", Truth.UNKNOWN, verdict.reason, verdict.message + hint)
    return Condition("Reachable", Truth.FALSE, verdict.reason, verdict.message or "the gateway refused the backend")


def _events(*, is_ready: bool, was_ready: bool, verdict: Verdict) -> tuple[Event, ...]:
    if is_ready and not was_ready:
        return (Event(Severity.NORMAL, "EndpointReady", "routes can send requests to the endpoint"),)
    if was_ready and not is_ready:
        return (Event(Severity.WARNING, "EndpointRefused", verdict.message),)
    return ()
