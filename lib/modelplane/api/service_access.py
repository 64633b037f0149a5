"""Access to a ModelService, decoded: keys and tokens, limits, networks of clients, pages that call from a browser."""

from __future__ import annotations

import re

from modelplane import words
from modelplane.api import networks, upstreams
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.routing import access, headers, limits, url
from modelplane.routing.access import Clients, Cors, LimitScope
from modelplane.routing.limits import AMOUNT_MAX, LONG_UNITS, UNITS, Amounts, Budget, ClientLimit, CountedBy, RateLimit
from modelplane.routing.model import ApiKeys, Jwt

_ANY = "*"
_ORIGIN = re.compile(r"(?:\*|https?://(?:\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]{0,240}[A-Za-z0-9])?(?::[0-9]{1,5})?)\Z")
_CLIENT = re.compile(r"[!-~]{1,253}\Z")
_METHOD = re.compile(r"[A-Z]{1,16}\Z")
# The gateway holds the whole request to measure it, so that the largest size times the parallel requests is memory of
# the proxy. Each number is bounded, because the value is written as it stands.
_SIZE = re.compile(r"(?:[1-9][0-9]{0,4}Ki|(?:[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-6])Mi)\Z")


def auth(field: Field, namespace: str) -> ApiKeys | Jwt | None:
    """Return the proof that clients must give, None for none. Raises: InvalidInput (the author's fault)."""
    if not field.is_set:
        return None
    keys, jwt = field.at("apiKeys"), field.at("jwt")
    if keys.is_set == jwt.is_set:
        raise field.wrong("write exactly one of apiKeys and jwt")
    if keys.is_set:
        header = keys.at("header")
        try:
            headers.check_credential(header.text("Authorization"))
        except InvalidInput as error:
            raise error.under(*header.path) from None
        return ApiKeys(keys.at("secretRef", "name").text(), header.text("Authorization"))
    return Jwt(
        jwt.at("issuer").text(),
        jwt.at("jwksUri").text(),
        upstreams.read(jwt.at("jwksUri"), namespace, url.place),
        tuple(sorted(item.text() for item in jwt.at("audiences").items())),
    )


def rate_limit(field: Field, proof: ApiKeys | Jwt | None) -> RateLimit | None:
    """Return the limits of requests and tokens, None for none. Raises: InvalidInput (the author's fault)."""
    if not field.is_set:
        return None
    unit = field.at("unit").text("")
    if unit and unit not in UNITS:
        raise field.at("unit").wrong(f"must be one of {', '.join(UNITS)}")
    per = field.at("per").choice(LimitScope, LimitScope.SERVICE)
    if per is LimitScope.CLIENT and proof is None:
        raise field.at("per").wrong("Client needs spec.auth, which tells clients apart; write auth, or per: Service")
    others = tuple(_client_limit(item, unit) for item in field.at("clients").items())
    if others and per is not LimitScope.CLIENT:
        raise field.at("clients").wrong("are in place of the limits of each client; write per: Client, or remove them")
    found = RateLimit(_amounts(field, unit), per, others, field.at("countedBy").choice(CountedBy, CountedBy.PROXY))
    _check_names(field.at("clients"), found)
    return found


def _amounts(field: Field, unit: str) -> Amounts:
    """Return the limits for the same requests, at least one."""
    requests, tokens = (_amount(field.at(name)) if field.at(name).is_set else None for name in ("requests", "tokens"))
    budgets = tuple(_budget(item) for item in field.at("budgets").items())
    if requests is None and tokens is None and not budgets:
        raise field.wrong("must have a limit: write requests, tokens or budgets")
    if not unit and (requests is not None or tokens is not None):
        raise field.at("unit").wrong(f"is required with requests and tokens; write one of {', '.join(UNITS)}")
    if len({each.unit for each in budgets}) < len(budgets):
        raise field.at("budgets").wrong("must have one budget for each unit")
    return Amounts(unit, requests, tokens, budgets)


def _amount(field: Field) -> int:
    return field.count(least=1, most=AMOUNT_MAX)


def _budget(field: Field) -> Budget:
    return Budget(_amount(field.at("tokens")), long_unit(field.at("unit")))


def long_unit(field: Field) -> str:
    """Return the unit of a budget. Raises: InvalidInput (the author's fault)."""
    unit = field.text()
    if unit not in LONG_UNITS:
        raise field.wrong(f"must be one of {', '.join(LONG_UNITS)}")
    return unit


def _client_limit(field: Field, unit: str) -> ClientLimit:
    clients_of = field.at("names").texts()
    if not clients_of:
        raise field.at("names").wrong("must have the name of a client")
    for item in field.at("names").items():
        if not _CLIENT.match(item.text()):
            raise item.wrong("is no name of a client: write visible ASCII characters without spaces, at most 253")
    return ClientLimit(tuple(sorted(clients_of)), _amounts(field, unit))


def _check_names(field: Field, found: RateLimit) -> None:
    all_names = [name for each in found.others for name in each.names]
    twice = sorted({name for name in all_names if all_names.count(name) > 1})
    if twice:
        raise field.wrong(f"name {words.first(twice, 5)} twice; a client has one limit")
    try:
        limits.named(tuple(all_names))
    except InvalidInput as error:
        raise error.under(*field.path) from None


def clients(field: Field) -> Clients | None:
    """Return the networks that may call, None for all. Raises: InvalidInput (the author's fault)."""
    if not field.is_set:
        return None
    found = Clients(networks.read_all(field.at("allowedCIDRs")), networks.read_all(field.at("deniedCIDRs")))
    if not found.allowed and not found.denied:
        raise field.wrong("must have a network in allowedCIDRs or deniedCIDRs; without clients every network may call")
    try:
        access.check_networks(found)
    except InvalidInput as error:
        raise error.under(*field.path) from None
    return found


def cors(field: Field, proof: ApiKeys | Jwt | None) -> Cors | None:
    """Return the pages that may call, None for none. Raises: InvalidInput (the author's fault).

    The header of an API key is always allowed: without it no page could call.
    """
    if not field.is_set:
        return None
    origins = _all(field.at("allowOrigins"), _ORIGIN, "an origin; write scheme://host, for example https://app.example")
    if not origins:
        raise field.at("allowOrigins").wrong("must have at least one origin, for example https://app.example")
    plain = Cors(origins)
    with_cookies = field.at("allowCredentials").flag(default=False)
    if with_cookies and _ANY in origins:
        raise field.at("allowCredentials").wrong(
            'lets every page act with the cookies of its visitor because allowOrigins has "*"; write the origins'
        )
    named = {item.text() for item in field.at("allowHeaders").items()} or set(plain.headers)
    if isinstance(proof, ApiKeys) and _ANY not in named and proof.header.lower() not in {one.lower() for one in named}:
        named.add(proof.header)
    return Cors(
        origins,
        _all(field.at("allowMethods"), _METHOD, "an HTTP method; write POST, for example") or plain.methods,
        tuple(sorted(named)),
        tuple(sorted({item.text() for item in field.at("exposeHeaders").items()})),
        field.at("maxAge").text(plain.max_age),
        with_cookies,
    )


def max_request_size(field: Field) -> str:
    """Return the largest request as a quantity, empty for no limit. Raises: InvalidInput (the author's fault)."""
    size = field.text("")
    if size and not _SIZE.match(size):
        raise field.wrong(f"{size!r} is no size from 1Ki to 256Mi; write for example 8Mi, or leave it out for no limit")
    return size


def _all(field: Field, pattern: re.Pattern[str], want: str) -> tuple[str, ...]:
    for item in field.items():
        if not pattern.match(item.text()):
            raise item.wrong(f"{item.text()!r} is not {want}")
    return tuple(sorted({item.text() for item in field.items()}))
