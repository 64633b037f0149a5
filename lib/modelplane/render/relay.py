"""Routes of the legs of a service at the relay.

A leg is rendered as a service of its own: the shared rule of `routing` and the policy of `traffic`, at the relay's
Gateway, under the leg's host. What differs is that the route takes only requests with the token of its service, which
it removes. A request without it gets 404, whoever sends it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import routing, traffic
from modelplane.render.manifest import NOTHING, Manifest
from modelplane.routing import relay
from modelplane.routing.model import Gateway, Relay, Service
from modelplane.routing.plan import Leg, Plan

Json: TypeAlias = Any

_KEY = "leg-"


def prefix(leg_key: str) -> str:
    """Return the prefix of the composition keys of a leg's objects."""
    return f"{_KEY}{leg_key}-"


def leg_of(key: str) -> str:
    """Return the key of the leg whose object has this composition key, empty for an object of no leg."""
    if not key.startswith(_KEY):
        return ""
    return key[len(_KEY) : len(_KEY) + names.DIGEST_DIGITS]


def hop_key(leg_key: str) -> str:
    """Return the composition key of the Backend by which the service's rule reaches a leg."""
    return f"{routing.BACKEND_KEY}-{leg_key}"


def asked_for(key: str) -> str:
    """Return the key of the leg which the Backend with this composition key is asked for, empty for other objects.

    It is a Backend of the service, or of a chain.
    """
    leg = leg_of(key)
    own = key.removeprefix(prefix(leg)) if leg else key
    start = f"{routing.BACKEND_KEY}-"
    return own.removeprefix(start) if own.startswith(start) else ""


def leg_manifests(
    service: Service, gateway: Gateway, plan: Plan, standing: Mapping[str, str] = NOTHING
) -> dict[str, dict[str, Manifest]]:
    """Return the objects of each leg by its key, under their own keys without the `prefix`.

    `standing` has the names of the existing objects of the service, by composition key.
    """
    if gateway.relay is None:
        return {}
    return {leg.key: dict(_manifests(service, gateway, gateway.relay, (plan, leg), standing)) for leg in plan.legs}


def _manifests(
    service: Service, gateway: Gateway, own: Relay, asked: tuple[Plan, Leg], standing: Mapping[str, str]
) -> Iterator[tuple[str, Manifest]]:
    whole, leg = asked
    behind = Service(
        namespace=service.namespace,
        name=leg.name,
        groups=(),
        host=leg.host,
        timeouts=service.timeouts,
        retries=relay.inner(service.retries, len(leg.plan.targets)),
    )
    start = prefix(leg.key)
    known = {key.removeprefix(start): name for key, name in standing.items() if key.startswith(start)}
    rendered = (
        *routing.service_manifests(behind, replace(gateway, gateway_name=own.name), leg.plan, known),
        *traffic.service_manifests(behind, leg.plan),
    )
    for manifest in rendered:
        resource = {**manifest.resource, "metadata": _labelled(service, manifest.resource["metadata"])}
        if manifest.key == routing.ROUTE_KEY:
            resource["spec"] = _guarded(manifest.resource["spec"], whole.token, _changes(service, leg))
        elif manifest.key == routing.RULE_FILTER_KEY:
            resource["spec"] = _silent(manifest.resource["spec"])
        yield manifest.key, replace(manifest, resource=resource)


def _labelled(service: Service, metadata: Mapping[str, Json]) -> Mapping[str, Json]:
    return {**metadata, "labels": {**metadata["labels"], names.LABEL_SERVICE: service.name}}


def _silent(spec: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the filter, which tells no endpoint the hosts of the legs that a request went through."""
    return {**spec, "urlRewrite": {**spec.get("urlRewrite", {}), "appendXForwardedHost": False}}


def _changes(service: Service, leg: Leg) -> Mapping[str, Json]:
    """Return the changes of headers: the endpoints get no token, and requests are marked as seen.

    A chain sends requests on to the relay, which asks for the token.
    """
    if leg.is_chain:
        return {"remove": ["X-Forwarded-Host"]}
    return {
        "set": [{"name": relay.seen_header(service), "value": "1"}],
        "remove": [relay.HEADER, "X-Forwarded-Host"],
    }


def _guarded(spec: Mapping[str, Json], token: str, changes: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the route, which takes only requests with the token, with changes of their headers."""
    wanted = {"type": "Exact", "name": relay.HEADER, "value": token}
    rules = [
        {
            **rule,
            "matches": [{**match, "headers": [wanted]} for match in rule["matches"]],
            "filters": [
                *rule.get("filters", ()),
                {"type": "RequestHeaderModifier", "requestHeaderModifier": changes},
            ],
        }
        for rule in spec["rules"]
    ]
    return {**spec, "rules": rules}
