"""InferenceGateway: wire to domain, and what a service reads of its status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.routing import features
from modelplane.routing.features import GatewayType
from modelplane.routing.model import Gateway

Json: TypeAlias = Any

ENVOY_GATEWAY_VERSION = "v1.9.0"


@dataclass(frozen=True, slots=True)
class GatewayState:
    """A gateway and the address it was given, empty while it has none."""

    gateway: Gateway
    address: str


def decode(document: Mapping[str, Json]) -> Gateway:
    """Return the gateway that an InferenceGateway describes.

    Raises: InvalidInput with the field's full path (the author's fault), Unsupported for a version that is too old.
    """
    root = Field(document)
    name = root.at("metadata", "name").text()
    spec = root.at("spec")
    envoy, gateway = spec.at("envoyGateway"), spec.at("gateway")
    certificates = tuple(ref.at("name").text() for ref in gateway.at("tls", "certificateRefs").items())
    if gateway.at("tls").is_set and not certificates:
        raise gateway.at("tls", "certificateRefs").wrong("needs at least one Secret with certificate and key")
    port = gateway.at("port").integer(443 if certificates else 80)
    if not 1 <= port <= 65535:
        raise gateway.at("port").wrong("must be between 1 and 65535")
    return Gateway(
        name=name,
        type=spec.at("type").choice(GatewayType, GatewayType.ENVOY),
        gateway_name=gateway.at("name").text(name),
        gateway_namespace=gateway.at("namespace").text(names.SYSTEM_NAMESPACE),
        port=port,
        version=_version(envoy.at("version")),
        install=envoy.at("install").flag(default=True),
        hostname=gateway.at("hostname").text(""),
        class_name=gateway.at("className").text(""),
        certificates=certificates,
        grants=_grants(gateway.at("hosts")),
    )


def state(document: Mapping[str, Json]) -> GatewayState:
    """Return the gateway with what its status says: its address, and the Gateway object that really stands.

    Raises: as `decode`.
    """
    gateway, status = decode(document), Field(document).at("status")
    standing = replace(
        gateway,
        gateway_namespace=status.at("gatewayRef", "namespace").text(gateway.gateway_namespace),
        gateway_name=status.at("gatewayRef", "name").text(gateway.gateway_name),
    )
    return GatewayState(standing, status.at("address").text(""))


def _version(field: Field) -> str:
    version = field.text(ENVOY_GATEWAY_VERSION)
    try:
        features.check_version(version)
    except InvalidInput as error:
        raise error.under(*field.path) from None
    return version


def _grants(field: Field) -> Mapping[str, tuple[str, ...]]:
    return {
        item.at("host").text(): tuple(sorted(namespace.text() for namespace in item.at("namespaces").items()))
        for item in field.items()
    }
