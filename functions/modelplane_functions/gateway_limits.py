"""The rate limit service of an InferenceGateway: its policy, how it enters the Release, and what the status says.

Envoy Gateway refuses every policy that needs the service while it is not configured for it, and answers 500 on the
routes of those policies. So services get such limits only after it has accepted the policy of the Gateway itself, and a
Release that has the service keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.api import gateway_limits, gateway_status
from modelplane.render import gateway as rendering
from modelplane.render import limits
from modelplane.render.manifest import Manifest
from modelplane.routing.model import Gateway
from modelplane_functions.exchange import Condition, Observed, Resource, Truth

Json: TypeAlias = Any

CONDITION = "RateLimit"
_PARTS = ("rateLimit", "provider")


def configured(manifest: Manifest, gateway: Gateway, children: Mapping[str, Resource]) -> Manifest:
    """Return Envoy Gateway's Release with the service, if it is wanted or runs; other manifests as they are."""
    if manifest.key != rendering.RELEASE_KEY:
        return manifest
    if gateway.limiter is not None:
        return limits.with_service(manifest, limits.settings(gateway.limiter))
    running = _running(children)
    return limits.with_service(manifest, running) if running else manifest


def manifests(gateway: Gateway) -> tuple[Manifest, ...]:
    """Return the policy by which Envoy Gateway is asked, with the budgets of namespaces."""
    return (limits.policy(gateway, gateway.limiter),) if gateway.limiter is not None else ()


def is_ready(gateway: Gateway, observed: Observed) -> bool:
    """Return whether services may have limits that the service counts. Once they may, they may as long as it is named.

    Their routes would answer 500 without it whatever they were told now.
    """
    if gateway.limiter is None:
        return False
    was_ready = seen.at(observed.status, "rateLimit", "ready") is True
    return was_ready or _verdict(observed).is_good is True


def status(gateway: Gateway, observed: Observed) -> Mapping[str, Json]:
    """Return the status that services read."""
    if gateway.limiter is None:
        return {}
    return gateway_limits.encode(ready=is_ready(gateway, observed))


def conditions(gateway: Gateway, observed: Observed) -> Iterator[Condition]:
    """Yield whether the service is there, where one is wanted or kept."""
    if gateway.limiter is None:
        if _running(observed.children):
            message = (
                "spec.rateLimit is gone; the rate limit service is kept because routes with limits that it counts "
                "would answer 500 without it"
            )
            yield Condition(CONDITION, Truth.TRUE, "Kept", message)
        return
    verdict = _verdict(observed)
    if verdict.is_good:
        when = "answered with 500" if gateway.limiter.is_closed else "let pass"
        message = (
            f"Envoy Gateway counts with its service and the Redis at {gateway.limiter.redis.url}; while these do "
            f"not answer, requests with a limit are {when}"
        )
        yield Condition(CONDITION, Truth.TRUE, "Configured", message)
        return
    if verdict.is_good is None:
        message = f"waiting for Envoy Gateway to judge the limits of the Gateway: {verdict.message}"
        yield Condition(CONDITION, Truth.UNKNOWN, verdict.reason, message)
        return
    how = (
        "it takes the new configuration when its Release is upgraded"
        if gateway.install
        else "set rateLimit.backend in its configuration (docs/budgets.md)"
    )
    message = f"Envoy Gateway has no rate limit service: {verdict.message}; {how}"
    yield Condition(CONDITION, Truth.FALSE, "RateLimitServiceMissing", message)


def _verdict(observed: Observed) -> gateway_status.Verdict:
    return gateway_status.policy(observed.children.get(limits.POLICY_KEY), "BackendTrafficPolicy")


def _running(children: Mapping[str, Resource]) -> dict[str, Json]:
    """Return the settings of the service in the Release that exists, empty if it has none."""
    given = seen.at(children.get(rendering.RELEASE_KEY), "spec", "forProvider", "values", "config", "envoyGateway")
    if not seen.at(given, "rateLimit"):
        return {}
    return {part: found for part in _PARTS if (found := seen.at(given, part))}
