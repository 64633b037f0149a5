"""The rate limit service of an InferenceGateway, decoded, and the part of the status that says whether it is there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api.fields import Field
from modelplane.routing import features
from modelplane.routing.features import GatewayType
from modelplane.routing.limits import AMOUNT_MAX, LONG_UNITS, Limiter, NamespaceBudget, Redis, SecretKey

Json: TypeAlias = Any

BUDGETS_MAX = 64
UNITS = ("Hour", *LONG_UNITS)
_ALLOW, _DENY = "Allow", "Deny"
# Without scheme, user and password: the URL is part of a ConfigMap.
_URL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?:(?P<port>[0-9]{1,5})\Z")
_PORT_MAX = 65535


def decode(field: Field, gateway: GatewayType, version: str) -> Limiter | None:
    """Return the rate limit service, None for none; `version` is that of Envoy Gateway.

    Raises: InvalidInput (the author's fault).
    """
    if not field.is_set:
        return None
    if not features.offers_limits(version):
        raise field.wrong(f"needs Envoy Gateway v1.9.0 or later, and spec.envoyGateway.version is {version}")
    when = field.at("whenUnavailable").text(_ALLOW)
    if when not in (_ALLOW, _DENY):
        raise field.at("whenUnavailable").wrong(f"must be {_ALLOW} or {_DENY}")
    budgets = tuple(_budget(item) for item in field.at("namespaces").items())
    if budgets and gateway is not GatewayType.ENVOY_AI:
        raise field.at("namespaces").wrong(
            f"are budgets of tokens, which a gateway of type {gateway} does not count; remove them, or write them in "
            "an InferenceGateway of type EnvoyAI"
        )
    if len(budgets) > BUDGETS_MAX:
        raise field.at("namespaces").wrong(f"has {len(budgets)} budgets; at most {BUDGETS_MAX} can be counted")
    if len({(each.namespace, each.unit) for each in budgets}) < len(budgets):
        raise field.at("namespaces").wrong("must have one budget for each namespace and unit")
    return Limiter(
        redis=_redis(field.at("redis")),
        replicas=field.at("replicas").count(2, least=1, most=100),
        is_closed=when == _DENY,
        budgets=budgets,
    )


def is_ready(status: Field) -> bool:
    """Return whether the status says that Envoy Gateway knows its rate limit service."""
    return status.at("rateLimit", "ready").value is True


def encode(*, ready: bool) -> Mapping[str, Json]:
    """Return the part of the status that services read."""
    return {"rateLimit": {"ready": ready}}


def _redis(field: Field) -> Redis:
    address = field.at("url")
    match = _URL.match(address.text())
    if not match or not 1 <= int(match["port"]) <= _PORT_MAX:
        raise address.wrong(
            "must be HOST:PORT, for example redis.redis-system.svc:6379; a password is in passwordSecretRef"
        )
    tls, password = field.at("tls"), field.at("passwordSecretRef")
    return Redis(
        url=address.text(),
        password=SecretKey(password.at("name").text(), password.at("key").text()) if password.is_set else None,
        is_tls=tls.is_set,
        certificate=tls.at("certificateRef", "name").text("") if tls.is_set else "",
        authority=tls.at("authorityRef", "name").text("") if tls.is_set else "",
    )


def _budget(field: Field) -> NamespaceBudget:
    namespace, unit = field.at("namespace"), field.at("unit")
    if not names.is_label(namespace.text()):
        raise namespace.wrong("is no name of a namespace")
    if unit.text() not in UNITS:
        raise unit.wrong(f"must be one of {', '.join(UNITS)}")
    return NamespaceBudget(namespace.text(), field.at("tokens").count(least=1, most=AMOUNT_MAX), unit.text())
