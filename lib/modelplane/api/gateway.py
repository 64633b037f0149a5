"""InferenceGateway, decoded for routing, with the part of its status that a service reads."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api import gateway_limits, networks, tenants
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.routing import addresses, features, hosts
from modelplane.routing.access import AddressSource, ClientAddresses
from modelplane.routing.addresses import Network
from modelplane.routing.egress import Rules
from modelplane.routing.features import GatewayType
from modelplane.routing.model import AiGateway, Gateway, Holder, ProxyPolicy, Relay
from modelplane.workload import authorities

Json: TypeAlias = Any

ENVOY_GATEWAY_VERSION = "v1.9.0"
AI_GATEWAY_VERSION = "v1.0.0"
ENVOY_GATEWAY_NAMESPACE = "envoy-gateway-system"
# Source: Gateway API v1.6.1, Gateway.spec.listeners.
RELAY_NAMESPACES_MAX = 64


class ClientMode(StrEnum):
    """The certificate that a gateway shows to the gateways of clusters."""

    ISSUED = "Issued"
    """cert-manager issues one, which all endpoints see that ask for it."""
    NONE = "None"
    """The gateway shows none."""


@dataclass(frozen=True, slots=True)
class Client:
    """A gateway as the clusters' gateways see it: its identity, and the authorities (PEM) that sign for it.

    Until it `presents` its certificate it is refused by whoever asks for one.
    """

    name: str
    identity: str
    authorities: str
    presents: bool


@dataclass(frozen=True, slots=True)
class GatewayState:
    """A gateway and its address, empty while it has none."""

    gateway: Gateway
    address: str

    def at(self, declared: Gateway) -> GatewayState:
        """Return the same, standing where `declared` says, whatever the status says of that."""
        gateway = replace(
            self.gateway, gateway_namespace=declared.gateway_namespace, gateway_name=declared.gateway_name
        )
        return replace(self, gateway=gateway)


def decode(document: Mapping[str, Json]) -> Gateway:
    """Return the gateway of an InferenceGateway.

    Raises: InvalidInput with the field's full path (the author's fault), Unsupported for a version that is too old.
    """
    root = Field(document)
    name = root.at("metadata", "name").text()
    spec = root.at("spec")
    envoy, gateway = spec.at("envoyGateway"), spec.at("gateway")
    certificates = tuple(ref.at("name").text() for ref in gateway.at("tls", "certificateRefs").items())
    if gateway.at("tls").is_set and not certificates:
        raise gateway.at("tls", "certificateRefs").wrong("must have at least one Secret with a certificate and a key")
    port = gateway.at("port").integer(443 if certificates else 80)
    if not 1 <= port <= 65535:
        raise gateway.at("port").wrong("must be between 1 and 65535")
    hostname, grants = gateway.at("hostname").text(""), _grants(gateway.at("hosts"))
    version = _version(envoy.at("version"))
    relay = _relay(name, spec, version)
    own_hosts = (*_own_hosts(hostname, grants), *(_names_of(relay) if relay else ()))
    return Gateway(
        name=name,
        type=spec.at("type").choice(GatewayType, GatewayType.ENVOY),
        gateway_name=gateway.at("name").text(name),
        gateway_namespace=gateway.at("namespace").text(names.SYSTEM_NAMESPACE),
        port=port,
        version=version,
        install=envoy.at("install").flag(default=True),
        hostname=hostname,
        class_name=gateway.at("className").text(""),
        certificates=certificates,
        grants=grants,
        egress=_rules(name, spec.at("endpoints"), own_hosts),
        proxy_policy=_proxy_policy(spec.at("endpoints", "networkPolicy")),
        tenants=tenants.decode(root),
        relay=relay,
        client_addresses=_client_addresses(spec.at("clients")),
        place=names.place(root.at("metadata", "labels").members()),
        holders=_holders(document),
        ai=_ai(spec),
        limiter=gateway_limits.decode(
            spec.at("rateLimit"), spec.at("type").choice(GatewayType, GatewayType.ENVOY), version
        ),
    )


def state(document: Mapping[str, Json]) -> GatewayState:
    """Return the gateway with the address, the type and the existing Gateway object from its status.

    Raises: as `decode`.
    """
    gateway, status = decode(document), Field(document).at("status")
    standing = replace(
        gateway,
        type=_running_type(gateway, status),
        gateway_namespace=status.at("gatewayRef", "namespace").text(gateway.gateway_namespace),
        gateway_name=status.at("gatewayRef", "name").text(gateway.gateway_name),
    )
    if gateway.relay is not None:
        # Its name and Service follow from the name of the InferenceGateway, so the status says only that it stands.
        is_ready = status.at("relay", "name").text("") == gateway.relay.name
        standing = replace(standing, relay=replace(gateway.relay, is_ready=is_ready))
    if gateway.limiter is not None:
        limiter = replace(gateway.limiter, is_ready=gateway_limits.is_ready(status))
        standing = replace(standing, limiter=limiter)
    address = status.at("address").text("")
    if address:
        own = (*gateway.egress.own_hosts, _as_compared(address))
        standing = replace(standing, egress=replace(gateway.egress, own_hosts=own))
    return GatewayState(standing, address)


def client(document: Mapping[str, Json]) -> Client:
    """Return the gateway as the clusters' gateways see it. What its status does not say is not known."""
    name, told = seen.text(seen.at(document, "metadata", "name")), seen.at(document, "status", "clientCertificate")
    is_issued = seen.at(told, "mode") == ClientMode.ISSUED
    trusted = authorities.bundle([seen.text(seen.at(told, "authorities"))]) if is_issued else ""
    return Client(name, names.gateway_identity(name), trusted, bool(trusted) and seen.at(told, "presented") is True)


def _running_type(gateway: Gateway, status: Field) -> GatewayType:
    """Return the type of the Gateway that runs; one whose status names none was made by a version that knew one."""
    told = status.at("type")
    if told.is_set:
        return told.choice(GatewayType)
    return GatewayType.ENVOY if status.at("gatewayRef").is_set else gateway.type


def _ai(spec: Field) -> AiGateway | None:
    """Return the AI gateway: that of a gateway of its type, and one that stands beside a gateway of type Envoy."""
    field = spec.at("aiGateway")
    if not field.is_set and spec.at("type").text(GatewayType.ENVOY) != GatewayType.ENVOY_AI:
        return None
    version = _checked(field.at("version"), AI_GATEWAY_VERSION, features.check_ai_version)
    return AiGateway(version, install=field.at("install").flag(default=True))


def _version(field: Field) -> str:
    return _checked(field, ENVOY_GATEWAY_VERSION, features.check_version)


def _checked(field: Field, default: str, check: Callable[[str], None]) -> str:
    version = field.text(default)
    try:
        check(version)
    except InvalidInput as error:
        raise error.under(*field.path) from None
    return version


def _grants(field: Field) -> Mapping[str, tuple[str, ...]]:
    return {
        item.at("host").text(): tuple(sorted(namespace.text() for namespace in item.at("namespaces").items()))
        for item in field.items()
    }


def _holders(document: Mapping[str, Json]) -> Mapping[str, Holder]:
    """Return the recorded holders by host. An entry without a host or a namespace records nothing."""
    found = (
        Holder(
            seen.text(one.get("host")),
            seen.text(one.get("namespace")),
            service=seen.text(one.get("service")),
            route=seen.text(one.get("route")),
            leaving=one.get("leaving") is True,
            waiting=seen.count(one.get("waiting")) or 0,
        )
        for one in seen.objects(seen.at(document, "status", "hosts"))
    )
    return {one.host: one for one in found if one.host and one.namespace}


def encode_holders(holders: Iterable[Holder]) -> list[Json]:
    """Return the entries of status.hosts."""
    return [
        {
            "host": one.host,
            "namespace": one.namespace,
            "service": one.service,
            **({"route": one.route} if one.route else {}),
            **({"leaving": True} if one.leaving else {}),
            **({"waiting": one.waiting} if one.waiting else {}),
        }
        for one in holders
    ]


def _own_hosts(hostname: str, grants: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names under which clients reach the gateway; namespaces own names under its domain."""
    domain = hosts.domain(hostname)
    return (*((domain, f"*.{domain}") if domain else ()), *sorted(grants))


def _as_compared(address: str) -> str:
    try:
        return str(addresses.plain(ipaddress.ip_address(address)))
    except ValueError:
        return address.lower().removesuffix(".")


def _client_addresses(field: Field) -> ClientAddresses | None:
    if not field.is_set:
        return None
    source = field.at("addressFrom").choice(AddressSource)
    hops = field.at("trustedHops")
    if hops.is_set and source is not AddressSource.X_FORWARDED_FOR:
        raise hops.wrong(f"counts proxies in X-Forwarded-For; remove it with addressFrom: {source}")
    return ClientAddresses(source, hops.count(1, least=1, most=8))


def _rules(name: str, field: Field, own_hosts: tuple[str, ...]) -> Rules:
    return Rules(
        gateway=name,
        allowed_hosts=tuple(sorted(field.at("allowedHosts").texts())),
        allowed_networks=networks.read_all(field.at("allowedCIDRs")),
        denied_hosts=tuple(sorted(field.at("deniedHosts").texts())),
        denied_networks=_denied(field.at("deniedCIDRs")),
        only_allowed=field.at("onlyAllowed").flag(default=False),
        nat64=tuple(_nat64(item) for item in field.at("nat64Prefixes").items()),
        own_hosts=own_hosts,
    )


def _denied(field: Field) -> tuple[Network, ...]:
    for item in field.items():
        if networks.read(item).prefixlen == 0:
            raise item.wrong("denies every address; set onlyAllowed: true and list the allowed addresses instead")
    return networks.read_all(field)


def _nat64(field: Field) -> ipaddress.IPv6Network:
    network = networks.read(field)
    if not isinstance(network, ipaddress.IPv6Network) or network.prefixlen not in addresses.NAT64_LENGTHS:
        lengths = ", ".join(map(str, addresses.NAT64_LENGTHS))
        raise field.wrong(f"must be an IPv6 prefix of length {lengths} (RFC 6052)")
    return network


def _proxy_policy(field: Field) -> ProxyPolicy | None:
    if not field.at("enabled").flag(default=False):
        return None
    return ProxyPolicy(_proxy_namespace(field))


def _proxy_namespace(field: Field) -> str:
    return field.at("namespace").text(ENVOY_GATEWAY_NAMESPACE)


def _relay(name: str, spec: Field, version: str) -> Relay | None:
    field = spec.at("relay")
    if not field.is_set:
        return None
    namespaces = tuple(sorted(set(field.at("namespaces").texts())))
    if not namespaces:
        raise field.at("namespaces").wrong("must have at least one namespace; remove relay to have none")
    if len(namespaces) > RELAY_NAMESPACES_MAX:
        raise field.at("namespaces").wrong(
            f"has {len(namespaces)} namespaces; the relay has a listener for each, and a Gateway allows "
            f"{RELAY_NAMESPACES_MAX}; use another InferenceGateway for the others"
        )
    if not features.offers_relay(version):
        raise field.wrong(f"needs Envoy Gateway v1.9.0 or later, and spec.envoyGateway.version is {version}")
    replicas = field.at("replicas").integer(2)
    if replicas < 1:
        raise field.at("replicas").wrong("must be 1 or more")
    # The name of a Service begins with a letter.
    own = names.bounded("relay", name)
    proxies = _proxy_namespace(spec.at("endpoints", "networkPolicy"))
    return Relay(own, namespaces, f"{own}.{proxies}.svc", proxies, replicas)


def _names_of(relay: Relay) -> tuple[str, ...]:
    """Return the names under which a pod reaches the relay."""
    service = f"{relay.name}.{relay.proxy_namespace}"
    return (service, f"*.{service}", relay.host, f"{relay.host}.cluster.local")
