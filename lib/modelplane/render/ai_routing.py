"""A service as objects of Envoy AI Gateway: the model in the request chooses it, and each provider has its own path,
key and model name.

The AI gateway makes an HTTPRoute of each AIGatewayRoute, under the same name, and takes one that exists. So the name
has a dot, which no ModelService has, and never meets the HTTPRoute of a service on a gateway of another type.

Source: Envoy AI Gateway v1.0.0 (v1beta1), Envoy Gateway v1.9.0 (Backend, BackendTrafficPolicy, SecurityPolicy).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import limits, routing, traffic
from modelplane.render.manifest import NOTHING, Manifest
from modelplane.routing import access
from modelplane.routing.access import LimitScope
from modelplane.routing.model import Api, ApiKeys, Gateway, Jwt, Service
from modelplane.routing.plan import Plan
from modelplane.routing.providers import KeyHeader, Provider

Json: TypeAlias = Any

AI_GATEWAY = "aigateway.envoyproxy.io"
AI_VERSION = f"{AI_GATEWAY}/v1beta1"

ROUTE_KEY = "ai-route"
TRAFFIC_KEY = "ai-traffic-policy"
SECURITY_KEY = "ai-security-policy"
PROVIDER_KEY = "ai-provider"
CREDENTIAL_KEY = "ai-credential"

# Written by the AI gateway from the body; a client's own would choose a route before the body is read.
MODEL_HEADER = "x-ai-eg-model"
INTERNAL_HEADERS = (MODEL_HEADER, "x-ai-eg-original-path", "x-ai-eg-internal-req-id")
# Read by the AI gateway's metrics. The client's is written by the check of the caller, and reaches no provider.
SERVICE_HEADER = "x-modelplane-service"
CLIENT_HEADER = access.CLIENT_HEADER

_VERSION_PREFIX = "/v1"
_SCHEMAS = {Api.OPENAI: "OpenAI", Api.ANTHROPIC: "Anthropic"}
_KEYS = {
    KeyHeader.AUTHORIZATION: ("APIKey", "apiKey"),
    KeyHeader.X_API_KEY: ("AnthropicAPIKey", "anthropicAPIKey"),
    KeyHeader.API_KEY: ("AzureAPIKey", "azureAPIKey"),
}


def route_name(service: str) -> str:
    """Return the name of a service's AIGatewayRoute, and of the HTTPRoute that the AI gateway makes of it."""
    return f"{service}.ai"


def service_manifests(
    service: Service,
    gateway: Gateway,
    decided: Plan,
    providers: Sequence[Provider],
    standing: Mapping[str, str] = NOTHING,
) -> tuple[Manifest, ...]:
    """Return the route of a service, the objects of its providers, and the policies on the route.

    `standing` has the names of existing objects, by key; they are kept, and the route refers to them.
    """
    labels = {names.LABEL_SERVICE: service.name}
    named = {each.key: _name(service, each, standing) for each in providers}
    rendered = [Manifest(ROUTE_KEY, _route(service, gateway, providers, named, labels))]
    for each in providers:
        trusted = _trusted(service, each, standing)
        rendered += _provider(service, each, (named[each.key], trusted), labels)
        if each.tls is not None and each.tls.bundle:
            key = f"{routing.AUTHORITIES_KEY}-{each.key}"
            rendered.append(routing.authorities_config(key, service.namespace, trusted, labels, each.tls.bundle))
    is_merged = has_budget(service.namespace, gateway)
    policies = (_on_route(service, policy) for policy in traffic.service_manifests(service, decided))
    return (*rendered, *(_counted(policy) if is_merged else policy for policy in policies))


def has_budget(namespace: str, gateway: Gateway) -> bool:
    """Return whether a namespace has a budget, which the gateway can count."""
    limiter = gateway.limiter
    return limiter is not None and limiter.is_ready and limiter.limits(namespace)


def counted(key: str, resource: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return an object of a service as the budget of its namespace needs it.

    The route counts the tokens of answers, and its traffic policy is merged with that of the Gateway.
    """
    added: Mapping[str, Mapping[str, Json]] = {
        ROUTE_KEY: {"llmRequestCosts": limits.costs()},
        TRAFFIC_KEY: {"mergeType": "StrategicMerge"},
    }
    return {**resource, "spec": {**resource["spec"], **added[key]}} if key in added else resource


def _counted(manifest: Manifest) -> Manifest:
    return Manifest(manifest.key, counted(manifest.key, manifest.resource))


def _name(service: Service, provider: Provider, standing: Mapping[str, str]) -> str:
    """Return the name that the Backend, the AIServiceBackend and the BackendSecurityPolicy of a provider share."""
    return standing.get(f"{routing.BACKEND_KEY}-{provider.key}") or names.hashed(service.name, of=(provider.key,))


def _trusted(service: Service, provider: Provider, standing: Mapping[str, str]) -> str:
    """Return the name of the authorities that the Backend of a provider trusts, where its endpoints give them."""
    key = f"{routing.AUTHORITIES_KEY}-{provider.key}"
    return standing.get(key) or names.hashed(service.name, "ca", of=(provider.key,))


def _route(
    service: Service,
    gateway: Gateway,
    providers: Sequence[Provider],
    named: Mapping[str, str],
    labels: Mapping[str, str],
) -> Mapping[str, Json]:
    parent = {
        "group": routing.GATEWAY_API,
        "kind": "Gateway",
        "namespace": gateway.gateway_namespace,
        "name": gateway.gateway_name,
    }
    rule = {
        "matches": [{"headers": [{"type": "Exact", "name": MODEL_HEADER, "value": service.name}]}],
        "timeouts": {"request": service.timeouts.request},
        "modelsOwnedBy": service.namespace,
        "backendRefs": [_reference(service, provider, named[provider.key]) for provider in providers],
    }
    spec: dict[str, Json] = {"parentRefs": [parent], "hostnames": [service.host], "rules": [rule]}
    if has_budget(service.namespace, gateway) or (service.rate_limit is not None and service.rate_limit.counts_tokens):
        spec["llmRequestCosts"] = limits.costs()
    return _object("AIGatewayRoute", service.namespace, route_name(service.name), labels, spec)


def _reference(service: Service, provider: Provider, name: str) -> Mapping[str, Json]:
    """Return the reference to a provider; its headers are set again for each attempt."""
    limit = service.rate_limit
    # Where tokens are counted by client, the count is looked for under this header when the answer has ended.
    is_counted = limit is not None and limit.counts_tokens and limit.per is LimitScope.CLIENT
    removed = set() if is_counted else {CLIENT_HEADER}
    if isinstance(service.auth, ApiKeys):
        removed.add(service.auth.header.lower())
    elif isinstance(service.auth, Jwt):
        removed.add("authorization")
    reference: dict[str, Json] = {
        "name": name,
        "weight": provider.weight,
        "priority": provider.priority,
        "headerMutation": {
            "set": [{"name": SERVICE_HEADER, "value": names.qualified(service.namespace, service.name)}],
            "remove": sorted(removed),
        },
    }
    if provider.model is not None:
        reference["modelNameOverride"] = provider.model
    return reference


def _provider(
    service: Service, provider: Provider, named: tuple[str, str], labels: Mapping[str, str]
) -> list[Manifest]:
    """Return the objects of a provider, `named` with their name and that of the authorities that its Backend trusts."""
    name, trusted = named
    check = routing.Check(provider.tls, trusted)
    backend = routing.backend(service.namespace, name, labels, provider.endpoints, check)
    spec = {
        "schema": {"name": _SCHEMAS[provider.api], "prefix": f"{provider.prefix}{_VERSION_PREFIX}"},
        "backendRef": {"group": routing.ENVOY, "kind": "Backend", "name": name},
    }
    made = [
        Manifest(f"{routing.BACKEND_KEY}-{provider.key}", backend),
        Manifest(f"{PROVIDER_KEY}-{provider.key}", _object("AIServiceBackend", service.namespace, name, labels, spec)),
    ]
    credential = provider.credential
    if credential is not None:
        kind, field = _KEYS[KeyHeader(credential.header.lower())]
        policy = {
            "targetRefs": [{"group": AI_GATEWAY, "kind": "AIServiceBackend", "name": name}],
            "type": kind,
            field: {"secretRef": {"name": credential.secret}},
        }
        made.append(
            Manifest(
                f"{CREDENTIAL_KEY}-{provider.key}",
                _object("BackendSecurityPolicy", service.namespace, name, labels, policy),
            )
        )
    return made


def _on_route(service: Service, policy: Manifest) -> Manifest:
    """Return a policy of a service as it applies to the HTTPRoute that the AI gateway makes."""
    name = route_name(service.name)
    resource = policy.resource
    (target,) = resource["spec"]["targetRefs"]
    spec = {**resource["spec"], "targetRefs": [{**target, "name": name}]}
    if policy.key == traffic.SECURITY_KEY:
        spec = _telling(spec)
    key = {traffic.TRAFFIC_KEY: TRAFFIC_KEY, traffic.SECURITY_KEY: SECURITY_KEY}[policy.key]
    return Manifest(key, {**resource, "metadata": {**resource["metadata"], "name": name}, "spec": spec})


def _telling(spec: Mapping[str, Json]) -> dict[str, Json]:
    """Return the spec of a SecurityPolicy that writes who calls into a header, for the metrics."""
    told = dict(spec)
    if "apiKeyAuth" in told:
        told["apiKeyAuth"] = {**told["apiKeyAuth"], "forwardClientIDHeader": CLIENT_HEADER}
    if "jwt" in told:
        claim = [{"claim": "sub", "header": CLIENT_HEADER}]
        told["jwt"] = {
            **told["jwt"],
            "providers": [{**each, "claimToHeaders": claim} for each in told["jwt"]["providers"]],
        }
    return told


def _object(
    kind: str, namespace: str, name: str, labels: Mapping[str, str], spec: Mapping[str, Json]
) -> dict[str, Json]:
    return {
        "apiVersion": AI_VERSION,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels)},
        "spec": dict(spec),
    }
