"""Access to a service at the gateway: who may call, from where, how often, and what is taken from every request.

Source: Envoy Gateway v1.9.0 (SecurityPolicy, BackendTrafficPolicy.rateLimit, ClientTrafficPolicy). Its filters run in
this order: CORS, which answers a browser's question before any key is asked for; keys and tokens; the size of the
request; networks; the limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.routing import access
from modelplane.routing.access import AddressSource, Clients, Cors, LimitScope
from modelplane.routing.limits import Amounts, RateLimit
from modelplane.routing.model import ApiKeys, Gateway, Jwt, Service

Json: TypeAlias = Any


def spec(service: Service) -> Mapping[str, Json]:
    """Return the spec of the SecurityPolicy of a service, empty if it needs none."""
    names_client = service.rate_limit is not None and service.rate_limit.per is LimitScope.CLIENT
    made: dict[str, Json] = {}
    if service.auth is not None:
        made |= _proof(service.auth, names_client=names_client)
    if service.cors is not None:
        made["cors"] = _cors(service.cors)
    if service.clients is not None:
        made["authorization"] = _networks(service.clients)
    return made


def _proof(auth: ApiKeys | Jwt, *, names_client: bool) -> Mapping[str, Json]:
    """Return the check of keys or tokens; `sanitize` keeps a caller's key from every endpoint."""
    if isinstance(auth, ApiKeys):
        keys: dict[str, Json] = {
            "credentialRefs": [{"group": "", "kind": "Secret", "name": auth.secret}],
            "extractFrom": [{"headers": [auth.header]}],
            "sanitize": True,
        }
        if names_client:
            keys["forwardClientIDHeader"] = access.CLIENT_HEADER
        return {"apiKeyAuth": keys}
    provider: dict[str, Json] = {"name": "caller", "issuer": auth.issuer, "remoteJWKS": {"uri": auth.jwks_uri}}
    if auth.audiences:
        provider["audiences"] = list(auth.audiences)
    if names_client:
        provider["claimToHeaders"] = [{"claim": "sub", "header": access.CLIENT_HEADER}]
    return {"jwt": {"providers": [provider]}}


def _cors(cors: Cors) -> Mapping[str, Json]:
    made: dict[str, Json] = {
        "allowOrigins": list(cors.origins),
        "allowMethods": list(cors.methods),
        "allowHeaders": list(cors.headers),
        "maxAge": cors.max_age,
        "allowCredentials": cors.credentials,
    }
    if cors.exposed:
        made["exposeHeaders"] = list(cors.exposed)
    return made


def _networks(clients: Clients) -> Mapping[str, Json]:
    """Return the rules over addresses; the first that matches decides, so those who may not call come first."""
    rules = [
        {"name": name, "action": action, "principal": {"clientCIDRs": [str(network) for network in networks]}}
        for name, action, networks in (("denied", "Deny", clients.denied), ("allowed", "Allow", clients.allowed))
        if networks
    ]
    return {"defaultAction": "Deny" if clients.allowed else "Allow", "rules": rules}


def rate_limit(limit: RateLimit) -> Mapping[str, Json]:
    """Return the limit, counted in each proxy. A request without a client's name shares one count with all such."""
    value = _value(limit.amounts)
    rules: list[Json] = [{"limit": value}]
    if limit.per is LimitScope.CLIENT:
        selector = {"headers": [{"type": "Distinct", "name": access.CLIENT_HEADER}]}
        rules.insert(0, {"clientSelectors": [selector], "limit": value})
    return {"type": "Local", "local": {"rules": rules}}


def _value(amounts: Amounts) -> Mapping[str, Json]:
    return {"requests": amounts.requests, "unit": amounts.unit}


def client_side(gateway: Gateway) -> Mapping[str, Json]:
    """Return the parts of the policy on the client side: the headers that no client may send, and its address."""
    made: dict[str, Json] = {"headers": {"earlyRequestHeaders": {"remove": list(access.INTERNAL_HEADERS)}}}
    known = gateway.client_addresses
    if known is None:
        return made
    if known.source is AddressSource.X_FORWARDED_FOR:
        made["clientIPDetection"] = {"xForwardedFor": {"numTrustedHops": known.trusted_hops}}
    elif known.source is AddressSource.PROXY_PROTOCOL:
        # Not optional: whoever reaches the proxy past the load balancer could write any address.
        made["proxyProtocol"] = {"optional": False}
    return made
