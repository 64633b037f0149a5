"""Access to a service and the choice of its endpoints, in sentences. The function has decided all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import seen, words
from modelplane.api import service as services
from modelplane.errors import ModelplaneError
from modelplane.routing.access import LimitScope
from modelplane.routing.balancing import AffinityType, Balancing
from modelplane.routing.limits import Amounts, RateLimit
from modelplane.routing.model import ApiKeys, Jwt, Service
from modelplane_cli.simulator import conditions

Json: TypeAlias = Any
_NAMED = 5


def of(resource: Mapping[str, Json]) -> tuple[str, ...]:
    """Return a sentence for each rule of a ModelService, none for one that cannot be read."""
    try:
        service = services.decode(resource)
    except ModelplaneError:
        return ()
    return (*_access(service), *_choice(service.balancing, resource))


def _access(service: Service) -> Iterator[str]:
    if isinstance(service.auth, ApiKeys):
        yield f"clients send a key of Secret {service.auth.secret} in {service.auth.header}"
    elif isinstance(service.auth, Jwt):
        yield f"clients send a token of {service.auth.issuer}"
    limit = service.rate_limit
    if limit is not None:
        yield from _limits(limit)
    if service.clients is not None:
        allowed = words.first([str(each) for each in service.clients.allowed], _NAMED) or "every network"
        denied = words.first([str(each) for each in service.clients.denied], _NAMED)
        yield f"requests may come from {allowed}{f', but not from {denied}' if denied else ''}"
    if service.cors is not None:
        yield f"browsers may call from pages of {words.first(list(service.cors.origins), _NAMED)}"
    if service.max_request_size:
        yield f"a request has at most {service.max_request_size}"


def _limits(limit: RateLimit) -> Iterator[str]:
    where = "the gateway" if limit.is_shared else "each proxy of the gateway"
    who = "each client" if limit.per is LimitScope.CLIENT else "all clients together"
    yield f"{who} may {_amounts(limit.amounts, where)}"
    for each in limit.others:
        listed = words.first(list(each.names), _NAMED)
        yield f"in place of that, {listed} may each {_amounts(each.amounts, where)}"


def _amounts(amounts: Amounts, where: str) -> str:
    said = []
    if amounts.requests is not None:
        said.append(f"send {amounts.requests} requests per {amounts.unit.lower()} to {where}")
    if amounts.tokens is not None:
        said.append(f"use {amounts.tokens} tokens per {amounts.unit.lower()}")
    said += [f"use {each.tokens} tokens per {each.unit.lower()}" for each in amounts.budgets]
    return ", and ".join(said)


def _choice(balancing: Balancing, resource: Mapping[str, Json]) -> Iterator[str]:
    if balancing.locality is not None:
        said = seen.text(seen.at(conditions.find(resource, "EndpointsReady"), "message"))
        yield (
            next(
                (part for part in said.split("; ") if part.startswith("by ")),
                f"endpoints at the place that {balancing.locality.header} names come first",
            )
            + "; SHARE is without regard to places"
        )
    if balancing.affinity is not None:
        by = "the address of its client"
        if balancing.affinity.type is AffinityType.HEADER:
            by = balancing.affinity.header
        yield f"a session stays at one endpoint, by {by}"
    if balancing.slow_start:
        yield f"a new endpoint has its whole share after {balancing.slow_start}"
    if balancing.ejection is not None:
        yield f"an endpoint that fails is left out for {balancing.ejection.time}"
