"""Verdicts of a gateway's controller on its objects, read from the status of Gateway API and Envoy Gateway kinds.

A verdict is None until the controller has processed the current generation. Source: Gateway API v1.6.1, Envoy Gateway
v1.9.0. `Accepted` of a route stays True for backends that are refused, so it is never used alone.
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
    """A verdict of the controller, with its reason and message. `is_good` is None while it is unknown."""

    is_good: bool | None
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class GatewayAddress:
    """The verdict on a Gateway, and its address, empty while it has none."""

    verdict: Verdict
    address: str


def unseen(kind: str) -> Verdict:
    """Return the verdict on an object that does not exist yet."""
    return Verdict(None, "NotCreated", f"the {kind} does not exist yet")


def backend(resource: Resource | None) -> Verdict:
    """Return the verdict of the gateway on a Backend."""
    if resource is None:
        return unseen("Backend")
    return _judged(resource, _conditions(Field(resource).at("status")), "Accepted", "Backend")


def gateway_class(resource: Resource | None) -> Verdict:
    """Return the verdict of the controller on a GatewayClass."""
    if resource is None:
        return unseen("GatewayClass")
    return _judged(resource, _conditions(Field(resource).at("status")), "Accepted", "GatewayClass")


def policy(resource: Resource | None, kind: str) -> Verdict:
    """Return the worst verdict of the ancestors of a policy."""
    if resource is None:
        return unseen(kind)
    ancestors = list(Field(resource).at("status", "ancestors").items())
    return _worst((_judged(resource, _conditions(each), "Accepted", kind) for each in ancestors), kind)


def gateway(resource: Resource | None) -> GatewayAddress:
    """Return the verdict on a Gateway, good if it is programmed, and its first address."""
    if resource is None:
        return GatewayAddress(unseen("Gateway"), "")
    status = Field(resource).at("status")
    found = [item.at("value").text("") for item in status.at("addresses").items()]
    address = next((value for value in found if value), "")
    return GatewayAddress(_judged(resource, _conditions(status), "Programmed", "Gateway"), address)


def route(resource: Resource | None, *, gateway_namespace: str, gateway_name: str) -> Verdict:
    """Return the verdict on a route at that gateway: accepted, references resolved, and backends available."""
    if resource is None:
        return unseen("HTTPRoute")
    for parent in Field(resource).at("status", "parents").items():
        ref = parent.at("parentRef")
        if (ref.at("namespace").text(""), ref.at("name").text("")) == (gateway_namespace, gateway_name):
            return _route(resource, _conditions(parent))
    return Verdict(None, "Waiting", f"Gateway {gateway_namespace}/{gateway_name} has not reported on the HTTPRoute yet")


def ready(resource: Resource | None, kind: str) -> Verdict:
    """Return the verdict on an object that Crossplane manages, good if it is ready."""
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
    return Verdict(is_good=True, reason="Accepted", message="the gateway has accepted the route")


def _judged(resource: Resource, conditions: Mapping[str, Field], kind: str, of: str) -> Verdict:
    condition = conditions.get(kind)
    if condition is None:
        return Verdict(None, "Waiting", f"the {of} has no condition {kind} yet; check its controller")
    generation = Field(resource).at("metadata", "generation").integer(0)
    seen = condition.at("observedGeneration").integer(generation)
    if seen < generation:
        return Verdict(None, "Waiting", f"the controller has not processed the current generation of the {of} yet")
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
