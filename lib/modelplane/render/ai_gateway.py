"""Envoy AI Gateway on the control plane: its charts, the hooks by which Envoy Gateway asks it, and a client policy.

Source: Envoy AI Gateway v1.0.0 (charts ai-gateway-crds-helm and ai-gateway-helm, `envoy-gateway-values.yaml`), Envoy
Gateway v1.9.0 (EnvoyGateway, ClientTrafficPolicy), provider-helm v1.4.0 (Release).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import ai_routing, gateway, limits, traffic
from modelplane.render.manifest import NOTHING, Manifest
from modelplane.routing.features import GatewayType
from modelplane.routing.model import AiGateway, Gateway

Json: TypeAlias = Any

NAMESPACE = "envoy-ai-gateway-system"
SERVICE = "ai-gateway-controller"
PORT = 1063

DEFINITIONS_KEY = "ai-gateway-crds"
RELEASE_KEY = "ai-gateway"
USAGE_KEY = "usage-ai-gateway"

ANNOTATION_TYPE = f"{names.GROUP}/gateway-type"
"""On a Gateway: the type that its routes have. None means Envoy, since earlier versions knew no other."""

# Deleting the definitions would delete all routes, also those of others.
_KEPT = ("Create", "Observe", "Update", "LateInitialize")


def manifests(made: Gateway, ai: AiGateway, standing: Mapping[str, str] = NOTHING) -> tuple[Manifest, ...]:
    """Return the Releases of the AI gateway: its definitions, then its controller.

    Both are made through the ProviderConfig of Envoy Gateway's Release. `standing` has the names of existing objects.
    """
    config = {"kind": "ProviderConfig", "name": gateway.provider_config_name(made, standing)}
    version = {"repository": gateway.CHART_REPOSITORY, "version": ai.version}
    definitions = {
        "managementPolicies": list(_KEPT),
        "forProvider": {
            "chart": {"name": "ai-gateway-crds-helm", **version},
            "namespace": NAMESPACE,
            "wait": True,
        },
        "providerConfigRef": config,
    }
    controller = {
        "forProvider": {
            "chart": {"name": "ai-gateway-helm", **version},
            "namespace": NAMESPACE,
            "wait": True,
            "values": _values(),
        },
        "providerConfigRef": config,
    }
    return (
        _release(DEFINITIONS_KEY, _name(made, DEFINITIONS_KEY, standing), definitions),
        _release(RELEASE_KEY, _name(made, RELEASE_KEY, standing), controller),
    )


def usage(made: Gateway, standing: Mapping[str, str] = NOTHING) -> Manifest:
    """Return the Usage that keeps the AI gateway until the Gateway is gone, whose routes have its finalizers."""
    return gateway.usage_of(
        made,
        USAGE_KEY,
        _name(made, RELEASE_KEY, standing),
        "the routes of a Gateway are released by the AI gateway, so it is removed after them",
    )


def hooks() -> Mapping[str, Json]:
    """Return the part of Envoy Gateway's configuration by which it asks the AI gateway about what it sends to Envoy."""
    everything = {"includeAll": True}
    return {
        "hooks": {
            "xdsTranslator": {
                "translation": dict.fromkeys(("listener", "route", "cluster", "secret"), everything),
                "post": ["Translation", "Cluster", "Route"],
            }
        },
        "service": {"fqdn": {"hostname": f"{SERVICE}.{NAMESPACE}.svc.cluster.local", "port": PORT}},
    }


def with_hooks(release: Manifest) -> Manifest:
    """Return Envoy Gateway's Release with the hooks."""
    spec = release.resource["spec"]
    given = spec["forProvider"]
    configured = given["values"]["config"]["envoyGateway"]
    values = {"config": {"envoyGateway": {**configured, "extensionManager": hooks()}}}
    return Manifest(release.key, {**release.resource, "spec": {**spec, "forProvider": {**given, "values": values}}})


def front_door(made: Gateway) -> tuple[Manifest, ...]:
    """Return the class, the proxies and the Gateway, which says its type, and the policy for the client side.

    Headers by which the AI gateway speaks to itself and to its metrics are taken from clients before anything reads
    them.
    """
    client = traffic.client_manifest(made)
    headers = client.resource["spec"]["headers"]
    early = headers["earlyRequestHeaders"]
    removed = sorted({*early["remove"], *ai_routing.INTERNAL_HEADERS, *_OWN_HEADERS})
    early = {**early, "remove": removed}
    told = limits.namespace_header(made)
    if told is not None:
        early["set"] = [told]
    headers = {**headers, "earlyRequestHeaders": early}
    spec = {**client.resource["spec"], "headers": headers}
    return (
        *(_typed(each) if each.key == gateway.GATEWAY_KEY else each for each in gateway.front_door(made)),
        Manifest(client.key, {**client.resource, "spec": spec}),
    )


_OWN_HEADERS = (ai_routing.CLIENT_HEADER, ai_routing.SERVICE_HEADER)


def type_of(resource: Mapping[str, Json], status: Mapping[str, Json]) -> GatewayType:
    """Return the type that an observed Gateway was composed for: as it says itself, or the `status` of its composite.

    One of both is enough, since others may remove an annotation.
    """
    annotations = (resource.get("metadata") or {}).get("annotations") or {}
    told = (annotations.get(ANNOTATION_TYPE), status.get("type"))
    return GatewayType.ENVOY_AI if GatewayType.ENVOY_AI in told else GatewayType.ENVOY


def _typed(manifest: Manifest) -> Manifest:
    metadata = manifest.resource["metadata"]
    annotations = {**metadata.get("annotations", {}), ANNOTATION_TYPE: str(GatewayType.ENVOY_AI)}
    return Manifest(manifest.key, {**manifest.resource, "metadata": {**metadata, "annotations": annotations}})


def _values() -> Mapping[str, Json]:
    """Return the values of the chart.

    Pods of the proxies are not created without its webhook, so there are two of it. The Anthropic API has the path that
    its clients append to a base URL. Tokens are counted by service and by client.
    """
    labels = f"{ai_routing.SERVICE_HEADER}:modelplane.service,{ai_routing.CLIENT_HEADER}:modelplane.client"
    return {
        "controller": {"replicaCount": 2, "metricsRequestHeaderAttributes": labels},
        "endpointConfig": {"anthropic": ""},
        "envoyGateway": {"namespace": gateway.CHART_NAMESPACE},
    }


def _name(made: Gateway, key: str, standing: Mapping[str, str]) -> str:
    return standing.get(key) or names.bounded(made.name, key)


def _release(key: str, name: str, spec: Mapping[str, Json]) -> Manifest:
    metadata = {"name": name, "namespace": names.SYSTEM_NAMESPACE}
    return Manifest(key, {"apiVersion": gateway.HELM, "kind": "Release", "metadata": metadata, "spec": dict(spec)})
