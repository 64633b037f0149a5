"""What a gateway's controller says about its objects: verdicts out of the status of Gateway API and Envoy Gateway
kinds.

A verdict is None while the controller has not spoken about what the object is now: no condition yet, or one about an
older generation. Source: Gateway API v1.6.1, Envoy Gateway v1.9.0; `Accepted` of a route alone stays True for backends
that are refused, so it never stands alone here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.api.fields import Field

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`is_good` None: nothing is known yet. `reason` and `message` are the controller's own."""

    is_good: bool | None
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class GatewayAddress:
    """Where a Gateway was programmed; `address` empty while it has none."""

    verdict: Verdict
    address: str


def unseen(kind: str) -> Verdict:
    """Return the verdict on an object that is not there yet."""
    return Verdict(None, "NotCreated", f"the {kind} does not exist yet")


def backend(resource: Resource | None) -> Verdict:
    """Return whether the gateway accepted a Backend."""
    if resource is None:
        return unseen("Backend")
    return _judged(resource, _conditions(Field(resource).at("status")), "Accepted", "Backend")


def gateway_class(resource: Resource | None) -> Verdict:
    """Return whether a controller accepted a GatewayClass."""
    if resource is None:
        return unseen("GatewayClass")
    return _judged(resource, _conditions(Field(resource).at("status")), "Accepted", "GatewayClass")


def policy(resource: Resource | None, kind: str) -> Verdict:
    """Return whether every ancestor accepted a policy; the first that did not speaks for all."""
    if resource is None:
        return unseen(kind)
    ancestors = list(Field(resource).at("status", "ancestors").items())
    return _worst((_judged(resource, _conditions(each), "Accepted", kind) for each in ancestors), kind)


def gateway(resource: Resource | None) -> GatewayAddress:
    """Return whether a Gateway is programmed, and its first address."""
    if resource is None:
        return GatewayAddress(unseen("Gateway"), "")
    status = Field(resource).at("status")
    found = [item.at("value").text("") for item in status.at("addresses").items()]
    address = next((value for value in found if value), "")
    return GatewayAddress(_judged(resource, _conditions(status), "Programmed", "Gateway"), address)


def route(resource: Resource | None, *, gateway_namespace: str, gateway_name: str) -> Verdict:
    """Return whether a route carries traffic at that gateway: accepted, its references resolved, its backends there."""
    if resource is None:
        return unseen("HTTPRoute")
    for parent in Field(resource).at("status", "parents").items():
        ref = parent.at("parentRef")
        if (ref.at("namespace").text(""), ref.at("name").text("")) == (gateway_namespace, gateway_name):
            return _route(resource, _conditions(parent))
    return Verdict(None, "Waiting", f"Gateway {gateway_namespace}/{gateway_name} has not reported on the HTTPRoute yet")


def ready(resource: Resource | None, kind: str) -> Verdict:
    """Return whether an object that Crossplane manages is ready."""
    if resource is None:
        return unseen(kind)
    return _judged(resource, _conditions(Field(resource).at("status")), "Ready", kind)


def _route(resource: Resource, conditions: Mapping[str, Field]) -> Verdict:
    for needed in ("Accepted", "ResolvedRefs"):
        verdict = _judged(resource, conditions, needed, "HTTPRoute")
        if verdict.is_good is not True:
            return verdict
    for optional, good in (
        ("BackendsAvailable", "True"),
        ("PartiallyInvalid", "False"),
        ("RouteRulesOverlap", "False"),
    ):
        condition = conditions.get(optional)
        if condition is not None and condition.at("status").text("") not in {good, "Unknown"}:
            return Verdict(
                is_good=False, reason=condition.at("reason").text(optional), message=condition.at("message").text("")
            )
    return Verdict(is_good=True, reason="Accepted", message="the gateway carries the route")


def _judged(resource: Resource, conditions: Mapping[str, Field], kind: str, of: str) -> Verdict:
    condition = conditions.get(kind)
    if condition is None:
        return Verdict(None, "Waiting", f"the {of} has no condition {kind} yet: is its controller running?")
    generation = Field(resource).at("metadata", "generation").integer(0)
    seen = condition.at("observedGeneration").integer(generation)
    if seen < generation:
        return Verdict(None, "Waiting", f"the {of} was changed and its controller has not looked at it since")
    text = condition.at("message").text("")
    status = condition.at("status").text("Unknown")
    is_good = {"True": True, "False": False}.get(status)
    return Verdict(is_good, condition.at("reason").text(kind), text)


def _worst(verdicts: Iterable[Verdict], kind: str) -> Verdict:
    order = {False: 0, None: 1, True: 2}
    return min(
        verdicts,
        key=lambda verdict: order[verdict.is_good],
        default=Verdict(None, "Waiting", f"no gateway has reported on the {kind} yet"),
    )


def _conditions(holder: Field) -> Mapping[str, Field]:
    return {item.at("type").text(""): item for item in holder.at("conditions").items()}
