"""Routes and backends of the control plane's gateway.

Source: Gateway API v1.6.1 (HTTPRoute), Envoy Gateway v1.9.0 (Backend, HTTPRouteFilter). Some forms are never rendered,
because the gateway refuses or misreads them: a path rewrite inside a backendRef, any filter inside a backendRef of a
shared rule, and TLS without a server name.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render.manifest import NOTHING, Manifest
from modelplane.routing import access, hosts, relay
from modelplane.routing.access import LimitScope
from modelplane.routing.model import Credential, Endpoint, Gateway, Jwt, Service, Tls
from modelplane.routing.plan import Area, Bundle, Plan, Target
from modelplane.routing.url import AddressKind
from modelplane.workload import authorities

Json: TypeAlias = Any

GATEWAY_API = "gateway.networking.k8s.io"
GATEWAY_API_VERSION = f"{GATEWAY_API}/v1"
ENVOY = "gateway.envoyproxy.io"
ENVOY_VERSION = f"{ENVOY}/v1alpha1"

RULE = "serve"

BACKEND_KEY = "backend"
CREDENTIAL_KEY = "credential"
AUTHORITIES_KEY = "authorities"
ROUTE_KEY = "route"
RULE_FILTER_KEY = "rule-filter"
CIRCLE_FILTER_KEY = "circle-filter"

_CIRCLE: Mapping[str, Json] = {
    "statusCode": 508,
    "contentType": "application/json",
    "body": {
        "type": "Inline",
        "inline": '{"error": {"message": "an endpoint of the service leads back to it", "type": "loop_detected"}}',
    },
}

_AUTHORIZATION = "Authorization"


def endpoint_manifests(endpoint: Endpoint) -> tuple[Manifest, ...]:
    """Return the objects of an endpoint: its Backend, given authorities, and the filter that sets its credential."""
    labels = {names.LABEL_ENDPOINT: endpoint.name}
    trusted = names.hashed(endpoint.name, "ca", of=(AUTHORITIES_KEY,))
    spec = _backend_spec((endpoint,), endpoint.tls, trusted)
    made = [Manifest(BACKEND_KEY, _backend(endpoint.namespace, backend_name(endpoint.name), labels, spec))]
    if endpoint.tls is not None and endpoint.tls.bundle:
        made.append(authorities_config(AUTHORITIES_KEY, endpoint.namespace, trusted, labels, endpoint.tls.bundle))
    if endpoint.credential is not None:
        injection = {"credentialInjection": _injection(endpoint.credential)}
        name = credential_filter_name(endpoint.name)
        made.append(Manifest(CREDENTIAL_KEY, _filter(endpoint.namespace, name, labels, injection)))
    return tuple(made)


@dataclass(frozen=True, slots=True)
class Check:
    """The check of an endpoint's certificate; `trusted` is the name of the ConfigMap with the authorities it gives."""

    tls: Tls | None
    trusted: str


def backend(
    namespace: str, name: str, labels: Mapping[str, str], endpoints: tuple[Endpoint, ...], check: Check
) -> Mapping[str, Json]:
    """Return a Backend with these endpoints, each of which is sent its own Host."""
    return _backend(namespace, name, labels, _backend_spec(endpoints, check.tls, check.trusted))


def backend_name(endpoint: str) -> str:
    """Return the name of an endpoint's Backend; the Backends of a service have other names (`names.hashed`)."""
    return names.backend(endpoint)


def credential_filter_name(endpoint: str) -> str:
    """Return the name of the filter that sets an endpoint's credential."""
    return names.credential_filter(endpoint)


def rule_filter_name(service: Service) -> str:
    """Return the name of the filter of a service's shared rule."""
    return names.bounded(service.name, "rule")


def bundle_key(bundle: Bundle) -> str:
    """Return the composition key of a bundle's Backend."""
    return f"{BACKEND_KEY}-{bundle.key}"


def authorities_key(key: str) -> str:
    """Return the composition key of the authorities to which the Backend of this key refers."""
    return key.replace(BACKEND_KEY, AUTHORITIES_KEY, 1)


def service_manifests(
    service: Service, gateway: Gateway, plan: Plan, standing: Mapping[str, str] = NOTHING
) -> tuple[Manifest, ...]:
    """Return the route of a service, with the Backends and the filter of a shared rule.

    `standing` has the names of existing objects, by key; they are kept, and the route refers to them.
    """
    labels = {names.LABEL_SERVICE: service.name}
    own = _Own(service, standing)
    rendered = [Manifest(ROUTE_KEY, _route(own, gateway, plan, labels))]
    if plan.is_one_cluster:
        rendered += [
            Manifest(
                bundle_key(bundle),
                _backend(service.namespace, own.bundle(bundle), labels, _bundle_spec(bundle, own.trusted(bundle))),
            )
            for bundle in plan.all_bundles
        ]
        rendered += [
            authorities_config(
                authorities_key(bundle_key(bundle)), service.namespace, own.trusted(bundle), labels, bundle.tls.bundle
            )
            for bundle in plan.all_bundles
            if bundle.tls is not None and bundle.tls.bundle
        ]
    spec = _rule_filter_spec(service, plan)
    if spec:
        filter_ = _filter(service.namespace, own.rule_filter, labels, spec)
        rendered.append(Manifest(RULE_FILTER_KEY, filter_))
    if plan.token:
        filter_ = _filter(service.namespace, own.circle_filter, labels, {"directResponse": _CIRCLE})
        rendered.append(Manifest(CIRCLE_FILTER_KEY, filter_))
    return tuple(rendered)


@dataclass(frozen=True, slots=True)
class _Own:
    """A service and the names of its own objects."""

    service: Service
    standing: Mapping[str, str]

    def bundle(self, bundle: Bundle) -> str:
        """Return the name of a bundle's Backend."""
        return self.standing.get(bundle_key(bundle)) or names.hashed(self.service.name, of=(bundle.key,))

    def trusted(self, bundle: Bundle) -> str:
        """Return the name of the authorities of a bundle's Backend."""
        key = authorities_key(bundle_key(bundle))
        return self.standing.get(key) or names.hashed(self.service.name, "ca", of=(bundle.key,))

    @property
    def rule_filter(self) -> str:
        """Return the name of the filter of a shared rule."""
        return self.standing.get(RULE_FILTER_KEY) or rule_filter_name(self.service)

    @property
    def circle_filter(self) -> str:
        """Return the name of the filter that answers a request that comes back."""
        return self.standing.get(CIRCLE_FILTER_KEY) or names.bounded(self.service.name, "circle")


def _route(own: _Own, gateway: Gateway, plan: Plan, labels: Mapping[str, str]) -> Mapping[str, Json]:
    service = own.service
    spec: dict[str, Json] = {
        "parentRefs": [
            {
                "group": GATEWAY_API,
                "kind": "Gateway",
                "namespace": gateway.gateway_namespace,
                "name": gateway.gateway_name,
            }
        ],
        # The rule for all stands first, because Envoy's clusters are named after the place of a rule in this list. The
        # match alone decides which rule a request takes: one with a header comes before one without.
        "rules": [
            _rule(own, plan),
            *(_area_rule(own, plan, area) for area in plan.areas),
            *_circle_rules(own, plan),
        ],
    }
    wanted = hosts.of_routes(service.host, gateway.hostname)
    if wanted:
        spec["hostnames"] = list(wanted)
    return _object(GATEWAY_API_VERSION, "HTTPRoute", service.namespace, service.name, labels) | {"spec": spec}


def _rule(own: _Own, plan: Plan) -> Mapping[str, Json]:
    service = own.service
    rule: dict[str, Json] = {
        "name": RULE,
        "matches": [{"path": {"type": "PathPrefix", "value": service.path}}],
        "timeouts": {"request": service.timeouts.request},
    }
    filters = _rule_filters(own, plan)
    if filters:
        rule["filters"] = filters
    if plan.is_one_cluster:
        rule["backendRefs"] = [_backend_ref(own.bundle(bundle), bundle.weight) for bundle in plan.bundles]
    else:
        rule["backendRefs"] = [_target_ref(service, target) for target in plan.targets]
    return rule


def _circle_rules(own: _Own, plan: Plan) -> list[Json]:
    """Return the rule that ends a circle: an endpoint whose name leads back to the gateway, which no text shows."""
    if not plan.token:
        return []
    header = {"type": "Exact", "name": relay.seen_header(own.service), "value": "1"}
    return [
        {
            "name": "circle",
            "matches": [{"path": {"type": "PathPrefix", "value": own.service.path}, "headers": [header]}],
            "filters": [_extension_ref(own.circle_filter)],
        }
    ]


def _area_rule(own: _Own, plan: Plan, area: Area) -> Mapping[str, Json]:
    """Return the rule for the requests of one place; an unknown place takes the rule for all."""
    rule = dict(_rule(own, plan))
    del rule["name"]
    locality = own.service.balancing.locality
    header = {"type": "Exact", "name": locality.header if locality else "", "value": area.place}
    rule["matches"] = [{**match, "headers": [header]} for match in rule["matches"]]
    rule["backendRefs"] = [_backend_ref(own.bundle(bundle), bundle.weight) for bundle in area.bundles]
    return rule


def _rule_filters(own: _Own, plan: Plan) -> list[Json]:
    service = own.service
    filters: list[Json] = []
    if _rule_filter_spec(service, plan):
        filters.append(_extension_ref(own.rule_filter))
    headers = _headers(service, plan)
    if headers:
        filters.append({"type": "RequestHeaderModifier", "requestHeaderModifier": headers})
    if service.path != "/":
        path = {"type": "ReplacePrefixMatch", "replacePrefixMatch": plan.prefix or "/"}
        filters.append({"type": "URLRewrite", "urlRewrite": {"path": path}})
    return filters


def _headers(service: Service, plan: Plan) -> Mapping[str, Json]:
    """Return the changes of headers on a rule, which has one filter for all of them."""
    changes: dict[str, Json] = {}
    if plan.token:
        changes["set"] = [{"name": relay.HEADER, "value": plan.token}]
    removed = []
    if plan.is_one_cluster and plan.credential is None and isinstance(service.auth, Jwt):
        removed.append(_AUTHORIZATION)
    if service.rate_limit is not None and service.rate_limit.per is LimitScope.CLIENT:
        # The limit has read it by then. Who calls is nobody else's business, least of all a provider's.
        removed.append(access.CLIENT_HEADER)
    if removed:
        changes["remove"] = removed
    return changes


def _rule_filter_spec(service: Service, plan: Plan) -> Mapping[str, Json]:
    """Return the filter of a rule.

    On a shared rule it sets Host and credential: inside a backendRef these would split the cluster. For a service with
    a host it sets the path. The rewrite of HTTPRoute cannot: Envoy Gateway cuts the last "/" of what replaces the
    prefix "/", and "/v1" becomes "/openaiv1".
    """
    rewrite: dict[str, Json] = {}
    if plan.is_one_cluster and plan.targets:
        rewrite["hostname"] = {"type": "Backend"}
    if service.path == "/" and plan.prefix:
        regex = {"pattern": "^/", "substitution": f"{plan.prefix}/"}
        rewrite["path"] = {"type": "ReplaceRegexMatch", "replaceRegexMatch": regex}
    spec: dict[str, Json] = {"urlRewrite": rewrite} if rewrite else {}
    if plan.is_one_cluster and plan.credential is not None:
        spec["credentialInjection"] = _injection(plan.credential)
    return spec


def _target_ref(service: Service, target: Target) -> Mapping[str, Json]:
    endpoint = target.endpoint
    # A client's own Host would choose among all that stands behind the endpoint's address: other tenants' replicas.
    filters: list[Json] = [{"type": "URLRewrite", "urlRewrite": {"hostname": endpoint.host}}]
    if endpoint.credential is not None:
        filters.append(_extension_ref(target.credential_name or credential_filter_name(endpoint.name)))
    elif isinstance(service.auth, Jwt):
        filters.append(_without(_AUTHORIZATION))
    return _backend_ref(target.backend_name, target.weight) | {"filters": filters}


def _without(*headers: str) -> Mapping[str, Json]:
    """Return the filter that keeps headers from an endpoint that has no use for them, as a caller's checked token."""
    return {"type": "RequestHeaderModifier", "requestHeaderModifier": {"remove": list(headers)}}


def _extension_ref(name: str) -> Mapping[str, Json]:
    return {"type": "ExtensionRef", "extensionRef": {"group": ENVOY, "kind": "HTTPRouteFilter", "name": name}}


def _backend_ref(name: str, weight: int) -> dict[str, Json]:
    return {"group": ENVOY, "kind": "Backend", "name": name, "weight": weight}


def _bundle_spec(bundle: Bundle, trusted: str) -> Mapping[str, Json]:
    spec = dict(_backend_spec(bundle.endpoints, bundle.tls, trusted))
    if bundle.standby:
        spec["fallback"] = True
    return spec


def _backend_spec(endpoints: tuple[Endpoint, ...], tls: Tls | None, trusted: str) -> Mapping[str, Json]:
    spec: dict[str, Json] = {"endpoints": [_address(endpoint) for endpoint in endpoints]}
    if tls is not None:
        spec["tls"] = _tls(tls, trusted)
    return spec


def _address(endpoint: Endpoint) -> Mapping[str, Json]:
    """Return one address; `hostname` is what Envoy sends as Host where a rule asks for the chosen endpoint's own, and
    to its health check.
    """
    named = {"hostname": endpoint.host}
    if endpoint.address_kind is AddressKind.FQDN:
        return named | {"fqdn": {"hostname": endpoint.url.host, "port": endpoint.url.port}}
    return named | {"ip": {"address": _literal(endpoint.url.host), "port": endpoint.url.port}}


def _literal(address: str) -> str:
    """Return the address as the Backend's schema takes it: its pattern knows only some of the short forms of IPv6."""
    return ipaddress.ip_address(address).exploded


def _tls(tls: Tls, trusted: str) -> Mapping[str, Json]:
    """Return the check of a certificate; `trusted` is the ConfigMap with the given authorities."""
    if tls.insecure_skip_verify:
        return {"insecureSkipVerify": True, "sni": tls.sni}
    if tls.bundle:
        return {"caCertificateRefs": [{"group": "", "kind": "ConfigMap", "name": trusted}], "sni": tls.sni}
    if tls.authorities:
        refs = [{"group": "", "kind": ref.kind, "name": ref.name} for ref in tls.authorities]
        return {"caCertificateRefs": refs, "sni": tls.sni}
    return {"wellKnownCACertificates": "System", "sni": tls.sni}


def _injection(credential: Credential) -> Mapping[str, Json]:
    """Return the injection; without `overwrite` a client's own header would win and reach the endpoint."""
    return {
        "header": credential.header,
        "overwrite": True,
        "credential": {"valueRef": {"group": "", "kind": "Secret", "name": credential.secret}},
    }


def authorities_config(key: str, namespace: str, name: str, labels: Mapping[str, str], bundle: str) -> Manifest:
    """Return the ConfigMap of the authorities that endpoints give, to which a Backend refers."""
    config = _object("v1", "ConfigMap", namespace, name, labels) | {"data": {authorities.KEY: bundle}}
    return Manifest(key, config)


def _backend(namespace: str, name: str, labels: Mapping[str, str], spec: Mapping[str, Json]) -> Mapping[str, Json]:
    return _object(ENVOY_VERSION, "Backend", namespace, name, labels) | {"spec": {"type": "Endpoints"} | dict(spec)}


def _filter(namespace: str, name: str, labels: Mapping[str, str], spec: Mapping[str, Json]) -> Mapping[str, Json]:
    return _object(ENVOY_VERSION, "HTTPRouteFilter", namespace, name, labels) | {"spec": dict(spec)}


def _object(api_version: str, kind: str, namespace: str, name: str, labels: Mapping[str, str]) -> dict[str, Json]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels)},
    }
