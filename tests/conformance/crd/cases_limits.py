"""Refused limits of ModelServices that the rate limit service counts, and refused services of InferenceGateways."""

from __future__ import annotations

from typing import Any

from modelplane.structural import Cause
from tests.conformance.crd.case import Case, Fine, one

Json = Any
_KIND = "ModelService"
_GATEWAY = "InferenceGateway"
_AUTH = (("spec", "auth"), {"apiKeys": {"secretRef": {"name": "callers"}}})
_REDIS = {"url": "redis.redis-system.svc:6379"}
_OF_ALL = {"requests": 1, "unit": "Hour"}
_OF_CLIENTS = {**_OF_ALL, "per": "Client"}


def _service(name: str, value: Json, says: str | Cause, at: str = "") -> Case:
    path = f"spec.rateLimit{at and '.'}{at}"
    return one(f"service-limit-{name}", _KIND, ("spec", "rateLimit"), value, says, at=path)


def _gateway(name: str, value: Json, says: str | Cause, at: str = "") -> Case:
    path = f"spec.rateLimit{at and '.'}{at}"
    return one(f"gateway-limit-{name}", _GATEWAY, ("spec", "rateLimit"), value, says, at=path)


LIMITS: tuple[Case, ...] = (
    _service("of-nothing-at-all", {}, "write requests, tokens or budgets"),
    _service("with-a-unit-alone", {"unit": "Hour"}, "write requests, tokens or budgets"),
    _service("of-tokens-without-unit", {"tokens": 1}, "need unit"),
    _service("of-too-many-tokens", {"tokens": 4294967296, "unit": "Hour"}, Cause.INVALID, "tokens"),
    _service("counted-by-redis", {**_OF_ALL, "countedBy": "Redis"}, Cause.NOT_SUPPORTED, "countedBy"),
    _service("budget-by-hour", {"budgets": [{"tokens": 1, "unit": "Hour"}]}, Cause.NOT_SUPPORTED, "budgets.0.unit"),
    _service("budget-twice", {"budgets": [{"tokens": 1, "unit": "Day"}] * 2}, Cause.DUPLICATE, "budgets.1"),
    _service("budget-without-unit", {"budgets": [{"tokens": 1}]}, Cause.REQUIRED, "budgets.0.unit"),
    _service(
        "clients-of-all",
        {**_OF_ALL, "clients": [{"names": ["a"], "requests": 2}]},
        "write per: Client",
    ),
    _service("client-without-limit", {**_OF_CLIENTS, "clients": [{"names": ["a"]}]}, "for these clients", "clients.0"),
    _service(
        "client-without-name",
        {**_OF_CLIENTS, "clients": [{"names": [], "requests": 2}]},
        Cause.INVALID,
        "clients.0.names",
    ),
    _service(
        "client-with-space",
        {**_OF_CLIENTS, "clients": [{"names": ["a b"], "requests": 2}]},
        Cause.INVALID,
        "clients.0.names.0",
    ),
    _gateway("without-redis", {}, Cause.REQUIRED, "redis"),
    _gateway("with-a-password", {"redis": {"url": "redis://user:pass@redis:6379"}}, Cause.INVALID, "redis.url"),
    _gateway("without-port", {"redis": {"url": "redis.example.com"}}, Cause.INVALID, "redis.url"),
    _gateway("maybe", {"redis": _REDIS, "whenUnavailable": "Maybe"}, Cause.NOT_SUPPORTED, "whenUnavailable"),
    _gateway(
        "budget-twice",
        {"redis": _REDIS, "namespaces": [{"namespace": "a", "tokens": 1, "unit": "Day"}] * 2},
        Cause.DUPLICATE,
        "namespaces.1",
    ),
    _gateway(
        "budget-by-minute",
        {"redis": _REDIS, "namespaces": [{"namespace": "a", "tokens": 1, "unit": "Minute"}]},
        Cause.NOT_SUPPORTED,
        "namespaces.0.unit",
    ),
)

FINE: tuple[Fine, ...] = (
    Fine(
        "service-with-all-limits",
        _KIND,
        (
            _AUTH,
            (
                ("spec", "rateLimit"),
                {
                    **_OF_CLIENTS,
                    "tokens": 1000,
                    "countedBy": "Gateway",
                    "budgets": [{"tokens": 4294967295, "unit": "Month"}, {"tokens": 1, "unit": "Day"}],
                    "clients": [{"names": ["batch", "a@example.com"], "budgets": [{"tokens": 1, "unit": "Year"}]}],
                },
            ),
        ),
    ),
    Fine("service-with-one-budget", _KIND, ((("spec", "rateLimit"), {"budgets": [{"tokens": 1, "unit": "Week"}]}),)),
    Fine(
        "gateway-with-limits",
        _GATEWAY,
        (
            (("spec", "type"), "EnvoyAI"),
            (
                ("spec", "rateLimit"),
                {
                    "redis": {
                        **_REDIS,
                        "passwordSecretRef": {"name": "redis", "key": "password"},
                        "tls": {"certificateRef": {"name": "own"}, "authorityRef": {"name": "ca"}},
                    },
                    "whenUnavailable": "Deny",
                    "namespaces": [
                        {"namespace": "a", "tokens": 1, "unit": "Day"},
                        {"namespace": "a", "tokens": 1, "unit": "Month"},
                    ],
                },
            ),
        ),
    ),
)
