"""Limits that all proxies of a gateway count together, and the rate limit service that counts for them.

A rule of tokens checks its count when a request comes, without adding to it, and adds the tokens when the answer has
ended. Envoy looks for the headers of a rule both times, so the header with a client's name goes on to the endpoint.

A count is kept under the place of its rule in the list, with the values of its headers. Therefore rules that everybody
has come first, tokens name the method (their counts are never read as those of requests), and the budget of a namespace
names the namespace.

Source: Envoy Gateway v1.9.0 (`buildRouteRateLimits`, EnvoyGateway.rateLimit), Envoy AI Gateway v1.0.0
(llmRequestCosts), envoyproxy/ratelimit (settings).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from modelplane.errors import Unsupported
from modelplane.render import routing
from modelplane.render.manifest import Manifest
from modelplane.routing import access, hosts
from modelplane.routing.access import LimitScope
from modelplane.routing.limits import LONG_UNITS, Amounts, Limiter, NamespaceBudget, RateLimit, Redis, named
from modelplane.routing.model import ApiKeys, Gateway, Jwt, Service

Json: TypeAlias = Any

POLICY_KEY = "rate-limit-policy"

NAMESPACE_HEADER = "x-modelplane-namespace"
_NOBODY = "-"
"""No namespace has this name."""

_METADATA = "io.envoy.ai_gateway"
_TOKENS = "modelplane_tokens"
# The default of 20 ms is less than a busy Redis takes, and what is not answered in time is not counted.
_TIMEOUT = "250ms"
_AUTHORITY_PATH = "/redis-authority"
# Source: Envoy Gateway v1.9.0, HTTPHeader.value.
_HEADER_MAX = 4096


def costs() -> list[Json]:
    """Return the count that the AI gateway takes of an answer: the sum of its input and output tokens."""
    return [{"metadataKey": _TOKENS, "type": "TotalToken"}]


def rate_limit(limit: RateLimit, service: Service) -> Mapping[str, Json]:
    """Return the limits of a service, counted by the rate limit service.

    Each rule of a route has counts of its own, and a service with locality has a rule for each place: there they are
    shared. Elsewhere they are not, since each service with shared counts is one more filter for all requests.
    """
    rules = _of_service(limit, service.auth)
    if service.balancing.locality is not None:
        rules = [{**rule, "shared": True} for rule in rules]
    return {"type": "Global", "global": {"rules": rules}}


def _of_service(limit: RateLimit, proof: ApiKeys | Jwt | None) -> list[Mapping[str, Json]]:
    if limit.per is LimitScope.SERVICE:
        return list(_rules(limit.amounts, ()))
    others = limit.other_names
    every: list[Json] = [_client("Distinct")]
    if others:
        every.insert(0, _client("RegularExpression", others, invert=True))
    rules = [*_rules(limit.amounts, every)]
    if isinstance(proof, Jwt):
        # Tokens without a subject share one count.
        rules += _rules(limit.amounts, [_client("RegularExpression", ".*", invert=True)])
    for each in limit.others:
        own = [_client("RegularExpression", named(each.names)), _client("Distinct")]
        rules += _rules(each.amounts, own)
    return rules


def _client(kind: str, value: str = "", *, invert: bool = False) -> Mapping[str, Json]:
    made: dict[str, Json] = {"type": kind, "name": access.CLIENT_HEADER}
    if value:
        made["value"] = value
    if invert:
        made["invert"] = True
    return made


def _rules(amounts: Amounts, headers: Sequence[Json]) -> Iterator[Mapping[str, Json]]:
    """Yield the rules for requests with these headers: tokens first, the longest unit first."""
    for budget in sorted(amounts.budgets, key=lambda each: LONG_UNITS.index(each.unit), reverse=True):
        yield _of_tokens(budget.tokens, budget.unit, headers)
    if amounts.tokens is not None:
        yield _of_tokens(amounts.tokens, amounts.unit, headers)
    if amounts.requests is not None:
        selectors = {"clientSelectors": [{"headers": list(headers)}]} if headers else {}
        yield {**selectors, "limit": {"requests": amounts.requests, "unit": amounts.unit}}


def _of_tokens(tokens: int, unit: str, headers: Sequence[Json]) -> Mapping[str, Json]:
    selector: dict[str, Json] = {"headers": list(headers)} if headers else {}
    selector["methods"] = [{"value": "POST"}]
    used = {"from": "Metadata", "metadata": {"namespace": _METADATA, "key": _TOKENS}}
    return {
        "clientSelectors": [selector],
        "limit": {"requests": tokens, "unit": unit},
        "cost": {"request": {"from": "Number", "number": 0}, "response": used},
    }


# --- budgets of namespaces --------------------------------------------------------------------------------------------


def policy(gateway: Gateway, limiter: Limiter) -> Manifest:
    """Return the policy on the Gateway with the budgets of namespaces, which the policies of services are merged with.

    Without budgets it has a rule that no request meets: Envoy Gateway says of it whether it knows the service.
    """
    rules = [_of_namespace(each) for each in limiter.budgets] or [
        {
            "clientSelectors": [{"headers": [{"type": "Exact", "name": NAMESPACE_HEADER, "value": "-none"}]}],
            "limit": {"requests": 1, "unit": "Hour"},
        }
    ]
    target = {"group": routing.GATEWAY_API, "kind": "Gateway", "name": gateway.gateway_name}
    return Manifest(
        POLICY_KEY,
        {
            "apiVersion": routing.ENVOY_VERSION,
            "kind": "BackendTrafficPolicy",
            "metadata": {"name": gateway.gateway_name, "namespace": gateway.gateway_namespace},
            "spec": {"targetRefs": [target], "rateLimit": {"type": "Global", "global": {"rules": rules}}},
        },
    )


def _of_namespace(budget: NamespaceBudget) -> Mapping[str, Json]:
    headers = [
        {"type": "Distinct", "name": NAMESPACE_HEADER},
        {"type": "Exact", "name": NAMESPACE_HEADER, "value": budget.namespace},
    ]
    return {**_of_tokens(budget.tokens, budget.unit, headers), "shared": True}


def namespace_header(gateway: Gateway) -> Mapping[str, str] | None:
    """Return the header by which the policy tells namespaces apart, None without budgets.

    Its value is an expression over the host of a request, which only the namespace has. It is evaluated before
    anything changes the host, and replaces what a client wrote.
    """
    if gateway.limiter is None or not gateway.limiter.budgets:
        return None
    cases = "".join(
        f"request.host.matches('{_hosts(gateway, namespace)}') ? '{namespace}' : "
        for namespace in sorted({each.namespace for each in gateway.limiter.budgets})
    )
    return {"name": NAMESPACE_HEADER, "value": f"%CEL({cases}'{_NOBODY}')%"}


def check(gateway: Gateway) -> None:
    """Check that the gateway can tell the namespaces with budgets apart. Raises: Unsupported."""
    told = namespace_header(gateway)
    if told is not None and len(told["value"]) > _HEADER_MAX:
        raise Unsupported(
            f"spec.rateLimit.namespaces has so many namespaces that the expression over their hosts has "
            f"{len(told['value'])} characters, and Envoy Gateway takes {_HEADER_MAX}; have fewer namespaces with a "
            "budget, or grant them fewer hosts (spec.gateway.hosts)",
            reason="TooManyBudgets",
        )


def _hosts(gateway: Gateway, namespace: str) -> str:
    """Return the regular expression of the hosts of a namespace; names of hosts have no other special character.

    Envoy looks for a route without whatever follows a colon, also where that is no port.
    """
    domain = hosts.domain(gateway.hostname).replace(".", "[.]")
    granted = [
        host.replace(".", "[.]") for host, holders in sorted(gateway.grants.items()) if set(holders) == {namespace}
    ]
    return f"(?i)^({'|'.join((f'([^.]+[.])?{namespace}[.]{domain}', *granted))})(:.*)?$"


# --- the service ------------------------------------------------------------------------------------------------------


def settings(limiter: Limiter) -> Mapping[str, Json]:
    """Return the parts of Envoy Gateway's configuration by which it runs the rate limit service."""
    redis = limiter.redis
    # Envoy Gateway v1.9.0 does not start with a text that Go reads as a path: one that begins with a digit and has no
    # scheme. The service takes both forms.
    backend: dict[str, Json] = {"url": f"redis://{redis.url}" if redis.url[0].isdigit() else redis.url}
    if redis.certificate:
        backend["tls"] = {"certificateRef": {"group": "", "kind": "Secret", "name": redis.certificate}}
    return {
        "rateLimit": {
            "backend": {"type": "Redis", "redis": backend},
            "timeout": _TIMEOUT,
            "failClosed": limiter.is_closed,
        },
        "provider": {"type": "Kubernetes", "kubernetes": {"rateLimitDeployment": _deployment(limiter, redis)}},
    }


def _deployment(limiter: Limiter, redis: Redis) -> Mapping[str, Json]:
    environment: list[Json] = []
    made: dict[str, Json] = {"replicas": limiter.replicas}
    container: dict[str, Json] = {}
    if redis.password is not None:
        reference = {"name": redis.password.name, "key": redis.password.key}
        environment.append({"name": "REDIS_AUTH", "valueFrom": {"secretKeyRef": reference}})
    if redis.is_tls and not redis.certificate:
        # Envoy Gateway v1.9.0 mounts the certificate of a `tls` that has none, and no API server takes such pods.
        environment.append({"name": "REDIS_TLS", "value": "true"})
    if redis.authority:
        environment.append({"name": "REDIS_TLS_CACERT", "value": f"{_AUTHORITY_PATH}/ca.crt"})
        mount = {"name": "redis-authority", "mountPath": _AUTHORITY_PATH, "readOnly": True}
        container["volumeMounts"] = [mount]
        made["pod"] = {"volumes": [{"name": "redis-authority", "secret": {"secretName": redis.authority}}]}
    if environment:
        container["env"] = environment
    return {**made, "container": container} if container else made


def with_service(release: Manifest, configured: Mapping[str, Json]) -> Manifest:
    """Return Envoy Gateway's Release with these `settings`, or those of one that runs."""
    spec = release.resource["spec"]
    given = spec["forProvider"]
    values = {"config": {"envoyGateway": {**given["values"]["config"]["envoyGateway"], **configured}}}
    return Manifest(release.key, {**release.resource, "spec": {**spec, "forProvider": {**given, "values": values}}})
