"""InferenceGateway: the fleet's entry point on the control plane.

Reads: its own observed children, and the CertificateRequest in which cert-manager publishes its authority. Where
several namespaces may use one host, their ModelServices and HTTPRoutes (`gateway_hosts`).
Emits: with `install`, a provider-helm Release of Envoy Gateway with its provider config, and a Usage that protects the
Release until the Gateway is gone; the same for the AI gateway (`installed_ai`). Once the kinds of Envoy Gateway exist,
a GatewayClass (unless one is adopted), an EnvoyProxy, a Gateway and a ClientTrafficPolicy. On request, a NetworkPolicy
that blocks the proxies from networks without endpoints, a BackendTrafficPolicy on the Gateway with the budgets that the
rate limit service counts (`gateway_limits`), and a relay: a second EnvoyProxy, Gateway and ClientTrafficPolicy with
NetworkPolicies. With a client certificate its issuers and Certificates of cert-manager.
Reports: type, address, port, scheme, hostname, features, gatewayRef, clientCertificate, rateLimit, relay, hosts (who
holds a host that several may use; this function is the only writer of that record); conditions Accepted, Installed,
Programmed, ClientCertificateReady and RateLimit, which change nothing of the gateway's readiness, and, with a relay,
Relay.

A Gateway keeps the type that it was made with: the routes of one type are not those of another, and clients call them
in another way.

No object of Envoy Gateway's kinds is emitted before they are installed. An object of an unknown kind would keep
Crossplane from applying the Release that installs the kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane.api import gateway as gateways
from modelplane.api import gateway_status
from modelplane.api.gateway_status import GatewayAddress, Verdict
from modelplane.errors import Unsupported
from modelplane.render import ai_gateway, limits, traffic
from modelplane.render import gateway as rendering
from modelplane.render.manifest import Manifest
from modelplane.routing import features, model_hosts
from modelplane.routing.features import Feature, GatewayType
from modelplane.routing.model import Gateway, Holder
from modelplane_functions import gateway_hosts, gateway_identity, gateway_limits, gateway_relay, hold, installed_ai
from modelplane_functions.exchange import (
    Child,
    Condition,
    Event,
    Observed,
    Outcome,
    Ready,
    Requirement,
    Severity,
    Truth,
)

Json: TypeAlias = Any

_FRONT_DOOR = (rendering.CLASS_KEY, rendering.PROXY_KEY, rendering.GATEWAY_KEY, traffic.CLIENT_KEY)
_SETTLED_SECONDS = 600
_WAITING_SECONDS = 60
_HANDOVER_SECONDS = 5


def compose(observed: Observed) -> Outcome:
    """Return the children and the status of the gateway.

    Raises: InvalidInput or Unsupported when the gateway's author must change something. Everything is held then.
    """
    gateway = gateways.decode(observed.composite)
    requirements = gateway_identity.requirements(observed) | gateway_hosts.requirements(gateway, observed)
    if not requirements.keys() <= observed.required.keys():
        return Outcome(requirements=requirements)
    offered = features.features(gateway.type, gateway.version)
    try:
        _check_type(gateway, observed)
    except Unsupported as error:
        return _refused(observed, requirements, error)
    release = gateway_status.ready(observed.children.get(rendering.RELEASE_KEY), "Release")
    is_installed = _is_installed(gateway, observed, release)
    state = gateway_status.gateway(observed.children.get(rendering.GATEWAY_KEY))
    shown = gateway_identity.read(observed, gateway)
    gateway = replace(gateway, client_certificate=shown.secret)
    children = _children(gateway, observed, is_installed=is_installed)
    status = {**_status(gateway, observed, state, offered), "clientCertificate": shown.status}
    holders = gateway_hosts.read(gateway, observed, (status["gatewayRef"]["namespace"], status["gatewayRef"]["name"]))
    if holders:
        status["hosts"] = gateways.encode_holders(holders)
    conditions = (
        Condition("Accepted", Truth.TRUE, "Accepted", _accepted_for(gateway)),
        installed_ai.joined(
            _installed(gateway, observed, release, is_installed=is_installed), gateway, observed.children
        ),
        _programmed(state, str(status.get("address", ""))),
        *gateway_relay.conditions(gateway, observed),
    )
    beside = (*shown.conditions, *gateway_limits.conditions(gateway, observed))
    is_ready = all(condition.status is Truth.TRUE for condition in conditions) and all(
        child.ready is Ready.TRUE for child in children.values()
    )
    return Outcome(
        requirements=requirements,
        kinds=shown.kinds,
        children={**children, **shown.children},
        status=status,
        conditions=(*conditions, *beside),
        events=(*_events(observed, status), *gateway_hosts.events(gateway, holders)),
        ready=Ready.TRUE if is_ready else Ready.FALSE,
        ttl_seconds=_ttl(holders, is_settled=is_ready and _is_settled(beside)),
    )


def _ttl(holders: tuple[Holder, ...], *, is_settled: bool) -> int:
    if any(one.leaving for one in holders):
        return _HANDOVER_SECONDS
    return _SETTLED_SECONDS if is_settled else _WAITING_SECONDS


def _is_settled(beside: Iterable[Condition]) -> bool:
    return all(condition.status is Truth.TRUE for condition in beside)


def _accepted_for(gateway: Gateway) -> str:
    beside = f" and Envoy AI Gateway {gateway.ai.version}" if gateway.ai else ""
    return f"the gateway is accepted for Envoy Gateway {gateway.version}{beside}"


def _check_type(gateway: Gateway, observed: Observed) -> None:
    """Return when the gateway can have its type. Raises: Unsupported with the way to another type."""
    running = observed.children.get(rendering.GATEWAY_KEY)
    before = None if running is None else ai_gateway.type_of(running, observed.status)
    if before is not None and before is not gateway.type:
        raise Unsupported(
            f"the Gateway was made for type {before}, as are its clients and routes; write type: {before} again, "
            f"create another InferenceGateway of type {gateway.type}, and move ModelServices to it (spec.gatewayRef)",
            reason="TypeChanged",
        )
    if gateway.type is GatewayType.ENVOY_AI:
        model_hosts.check_gateway(gateway)
        limits.check(gateway)
        if gateway.relay is not None:
            raise Unsupported(
                f"a gateway of type {gateway.type} needs no relay: it changes path and credential with each endpoint; "
                "remove spec.relay, or use type Envoy",
                reason="RelayNotOffered",
            )


def _refused(observed: Observed, requirements: Mapping[str, Requirement], error: Unsupported) -> Outcome:
    message = error.message
    if rendering.GATEWAY_KEY in observed.children:
        message += "; what runs is kept as it is"
    return Outcome(
        requirements=requirements,
        children=hold.hold(observed.children),
        status={key: value for key, value in observed.status.items() if key != "conditions"},
        conditions=(Condition("Accepted", Truth.FALSE, error.reason, message),),
        ready=Ready.FALSE,
    )


def _is_installed(gateway: Gateway, observed: Observed, release: Verdict) -> bool:
    """Return whether the kinds exist that the objects need. Once these exist, the state of a Release has no effect."""
    if any(key in observed.children for key in _FRONT_DOOR):
        return True
    is_there = not gateway.install or release.is_good is True
    return is_there and installed_ai.may_be_used(gateway, observed.children)


def _children(gateway: Gateway, observed: Observed, *, is_installed: bool) -> dict[str, Child]:
    standing = hold.standing(observed.children)
    made = rendering.installation(gateway, standing) if gateway.install else ()
    manifests = [gateway_limits.configured(each, gateway, observed.children) for each in made]
    manifests = installed_ai.beside(manifests, gateway, observed.children, is_installed=is_installed)
    if is_installed:
        manifests += _front_door(gateway)
        manifests += rendering.proxy_policy(gateway)
        manifests += gateway_limits.manifests(gateway)
        if gateway.install:
            manifests.append(rendering.usage(gateway, standing))
    children = {
        manifest.key: Child(manifest.resource, _ready(manifest.key, observed.children.get(manifest.key)))
        for manifest in manifests
    }
    if not gateway.install:
        children = _kept_installation(observed) | children
    if is_installed:
        children |= gateway_relay.children(gateway, observed)
    return installed_ai.kept(observed.children) | children


def _front_door(gateway: Gateway) -> tuple[Manifest, ...]:
    if gateway.type is GatewayType.ENVOY_AI:
        return ai_gateway.front_door(gateway)
    return (*rendering.front_door(gateway), traffic.client_manifest(gateway))


def _kept_installation(observed: Observed) -> dict[str, Child]:
    """Return the children of an earlier installation. Switching `install` off must not uninstall it."""
    made = (
        rendering.PROVIDER_CONFIG_KEY,
        rendering.FORMER_PROVIDER_CONFIG_KEY,
        rendering.RELEASE_KEY,
        rendering.USAGE_KEY,
    )
    kept = {key: child for key, child in observed.children.items() if key in made}
    return {key: Child(child.resource, _ready(key, kept[key])) for key, child in hold.hold(kept).items()}


def _ready(key: str, child: Mapping[str, Json] | None) -> Ready:
    judged = {
        **dict.fromkeys(
            (rendering.RELEASE_KEY, ai_gateway.DEFINITIONS_KEY, ai_gateway.RELEASE_KEY),
            lambda: gateway_status.ready(child, "Release").is_good,
        ),
        rendering.CLASS_KEY: lambda: gateway_status.gateway_class(child).is_good,
        rendering.GATEWAY_KEY: lambda: gateway_status.gateway(child).verdict.is_good,
        traffic.CLIENT_KEY: lambda: gateway_status.policy(child, "ClientTrafficPolicy").is_good,
    }
    is_good = judged[key]() if key in judged else child is not None
    return Ready.TRUE if is_good else Ready.FALSE


def _status(
    gateway: Gateway, observed: Observed, state: GatewayAddress, offered: frozenset[Feature]
) -> Mapping[str, Json]:
    """Return the whole status. A known address stays while the Gateway has none."""
    status: dict[str, Json] = {
        "type": str(gateway.type),
        "port": gateway.port,
        "scheme": "https" if gateway.is_tls else "http",
        "features": sorted(feature.value for feature in offered | _added(gateway, observed)),
        "gatewayRef": _gateway_ref(gateway, observed),
        **gateway_relay.status(gateway, observed),
        **gateway_limits.status(gateway, observed),
    }
    address = state.address or str(observed.status.get("address") or "")
    if address:
        status["address"] = address
    if gateway.hostname:
        status["hostname"] = gateway.hostname
    return status


def _added(gateway: Gateway, observed: Observed) -> frozenset[Feature]:
    """Return the features that other parts add: the relay, and the rate limit service."""
    limited = features.LIMITED[gateway.type] if gateway_limits.is_ready(gateway, observed) else frozenset()
    return limited | (features.RELAYED if gateway.relay else frozenset())


def _gateway_ref(gateway: Gateway, observed: Observed) -> Mapping[str, str]:
    """Return the reference to the Gateway. A later change of the name in the spec does not rename an existing one."""
    metadata = (observed.children.get(rendering.GATEWAY_KEY) or {}).get("metadata") or {}
    return {
        "namespace": str(metadata.get("namespace") or gateway.gateway_namespace),
        "name": str(metadata.get("name") or gateway.gateway_name),
    }


def _installed(gateway: Gateway, observed: Observed, release: Verdict, *, is_installed: bool) -> Condition:
    if not gateway.install:
        if rendering.RELEASE_KEY in observed.children:
            return Condition(
                "Installed",
                Truth.TRUE,
                "Kept",
                "install is false; the existing Release is kept because its deletion would uninstall Envoy Gateway",
            )
        return Condition("Installed", Truth.TRUE, "Adopted", "install is false; Envoy Gateway is managed elsewhere")
    if release.is_good:
        message = f"chart gateway-helm {gateway.version} is installed"
        return Condition("Installed", Truth.TRUE, "ReleaseReady", message)
    if is_installed:
        message = f"the existing objects are kept: {release.message}"
        return Condition("Installed", Truth.UNKNOWN, release.reason, message)
    status = Truth.FALSE if release.is_good is False else Truth.UNKNOWN
    return Condition("Installed", status, release.reason, f"waiting for the Release: {release.message}")


def _programmed(state: GatewayAddress, address: str) -> Condition:
    if state.verdict.is_good and address:
        return Condition("Programmed", Truth.TRUE, "Programmed", f"the gateway has address {address}")
    if state.verdict.is_good:
        return Condition("Programmed", Truth.FALSE, "AddressNotAssigned", "the Gateway has no address yet")
    status = Truth.FALSE if state.verdict.is_good is False else Truth.UNKNOWN
    return Condition("Programmed", status, state.verdict.reason, state.verdict.message)


def _events(observed: Observed, status: Mapping[str, Json]) -> tuple[Event, ...]:
    address = status.get("address")
    if address and address != observed.status.get("address"):
        return (Event(Severity.NORMAL, "AddressAssigned", f"the gateway has address {address}"),)
    return ()
