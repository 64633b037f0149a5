"""Limits of requests and tokens: what they count, over which time, and who counts.

Each proxy of the gateway counts for itself, or all count together in a rate limit service. Only the service can count
tokens, since these are known when the answer has ended: a limit of tokens refuses the request after the one that
reached it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from modelplane.errors import InvalidInput
from modelplane.routing.access import LimitScope

# Source: envoyproxy/ratelimit (RateLimitConfig), Envoy Gateway v1.9.0 (HeaderMatch.value, HTTPHeader.value).
AMOUNT_MAX = 2**32 - 1
_MATCH_MAX = 1024

UNITS = ("Second", "Minute", "Hour")
LONG_UNITS = ("Day", "Week", "Month", "Year")
"""Units of budgets, the shortest first. Source: envoyproxy/ratelimit, which counts a month as 30 days and a year as
365, from 1970-01-01 in UTC.
"""


class CountedBy(StrEnum):
    """The counter of requests: each proxy of the gateway for itself, or the rate limit service for all of them."""

    PROXY = "Proxy"
    GATEWAY = "Gateway"


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit of `tokens` for a `unit` of `LONG_UNITS`."""

    tokens: int
    unit: str


@dataclass(frozen=True, slots=True)
class Amounts:
    """Limits for the same requests: `requests` and `tokens` per `unit` (one of `UNITS`), None for none, and budgets."""

    unit: str
    requests: int | None = None
    tokens: int | None = None
    budgets: tuple[Budget, ...] = ()

    @property
    def counts_tokens(self) -> bool:
        """Return whether any of them is a limit of tokens."""
        return self.tokens is not None or bool(self.budgets)


@dataclass(frozen=True, slots=True)
class ClientLimit:
    """Limits of some clients, for each of them, in place of those that all clients have."""

    names: tuple[str, ...]
    amounts: Amounts


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Limits of a service: for all of its requests, or for those of each client, without the clients of `others`."""

    amounts: Amounts
    per: LimitScope = LimitScope.SERVICE
    others: tuple[ClientLimit, ...] = ()
    counted_by: CountedBy = CountedBy.PROXY

    @property
    def is_shared(self) -> bool:
        """Return whether all proxies count together, as they must for tokens and for clients with other limits."""
        return self.counted_by is CountedBy.GATEWAY or self.counts_tokens or bool(self.others)

    @property
    def counts_tokens(self) -> bool:
        """Return whether any of the limits is one of tokens."""
        return self.amounts.counts_tokens or any(each.amounts.counts_tokens for each in self.others)

    @property
    def other_names(self) -> str:
        """Return the regular expression (RE2) of the names of `others`, empty for none."""
        return named(tuple(name for each in self.others for name in each.names))


@dataclass(frozen=True, slots=True)
class NamespaceBudget:
    """A limit of `tokens` per `unit` (`LONG_UNITS`, or Hour) over all services of a namespace together."""

    namespace: str
    tokens: int
    unit: str


@dataclass(frozen=True, slots=True)
class SecretKey:
    """A key of a Secret in the namespace of Envoy Gateway."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Redis:
    """The Redis of the rate limit service at `url` (host:port).

    `password` is a password or USER:PASSWORD. A `certificate` is the Secret with that of the service, and `authority`
    the one with the authority of Redis under ca.crt; empty for none.
    """

    url: str
    password: SecretKey | None = None
    is_tls: bool = False
    certificate: str = ""
    authority: str = ""


@dataclass(frozen=True, slots=True)
class Limiter:
    """The rate limit service of a gateway: its `redis` and `replicas`, and the budgets of namespaces.

    Requests are refused while nobody can count if `is_closed`, else they pass. It `is_ready` once Envoy Gateway has
    accepted a limit that needs it.
    """

    redis: Redis
    replicas: int = 2
    is_closed: bool = False
    budgets: tuple[NamespaceBudget, ...] = ()
    is_ready: bool = False

    def limits(self, namespace: str) -> bool:
        """Return whether the services of a namespace have a budget together."""
        return any(each.namespace == namespace for each in self.budgets)


def named(clients: tuple[str, ...]) -> str:
    """Return the regular expression (RE2) that matches these names and no other, empty for none.

    Raises: InvalidInput when the gateway could not hold it (the author's fault).
    """
    if not clients:
        return ""
    pattern = f"^({'|'.join(re.escape(name) for name in clients)})$"
    if len(pattern) > _MATCH_MAX:
        raise InvalidInput(
            f"the names have {len(pattern)} characters together, and the gateway holds {_MATCH_MAX}; name fewer "
            "clients, or give them shorter names"
        )
    return pattern
