"""Verdicts of a gateway's controller on its objects, read from the status of Gateway API and Envoy Gateway kinds.

A verdict is None until the controller has processed the current generation, and while its condition cannot be read.
Source: Gateway API v1.6.1, Envoy Gateway v1.9.0. `Accepted` of a route stays True for backends that are refused, so it
is never used alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import seen

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]


# The gateway tells both routes, and only one of them takes the requests.
_OVERLAP = "; the older route receives the requests of both; give one of the services another spec.host"


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
    return _judged(resource, resource.get("status"), "Accepted", "Backend")


def gateway_class(resource: Resource | None) -> Verdict:
    """Return the verdict of the controller on a GatewayClass."""
    if resource is None:
        return unseen("GatewayClass")
    return _judged(resource, resource.get("status"), "Accepted", "GatewayClass")


def policy(resource: Resource | None, kind: str) -> Verdict:
    """Return the worst verdict of the ancestors of a policy.

    A listener under which it is merged with the policy of the Gateway is an ancestor that says this alone.
    """
    if resource is None:
        return unseen(kind)
    ancestors = list(seen.objects(seen.at(resource, "status", "ancestors")))
    judging = [each for each in ancestors if not _is_merged_alone(each)] or ancestors
    return _worst((_judged(resource, each, "Accepted", kind) for each in judging), kind)


def _is_merged_alone(ancestor: Json) -> bool:
    conditions = seen.conditions(ancestor)
    return "Merged" in conditions and "Accepted" not in conditions


def gateway(resource: Resource | None) -> GatewayAddress:
    """Return the verdict on a Gateway, good if it is programmed, and its first address."""
    if resource is None:
        return GatewayAddress(unseen("Gateway"), "")
    found = [seen.text(each.get("value")) for each in seen.objects(seen.at(resource, "status", "addresses"))]
    address = next((value for value in found if value), "")
    return GatewayAddress(_judged(resource, resource.get("status"), "Programmed", "Gateway"), address)


def route(resource: Resource | None, *, gateway_namespace: str, gateway_name: str) -> Verdict:
    """Return the verdict on a route at that gateway: accepted, references resolved, and backends available."""
    if resource is None:
        return unseen("HTTPRoute")
    for parent in seen.objects(seen.at(resource, "status", "parents")):
        ref = parent.get("parentRef")
        if (seen.at(ref, "namespace"), seen.at(ref, "name")) == (gateway_namespace, gateway_name):
            return _route(resource, parent)
    return Verdict(None, "Waiting", f"Gateway {gateway_namespace}/{gateway_name} has not reported on the HTTPRoute yet")


def is_attached(route: Resource, *, gateway_namespace: str, gateway_name: str) -> bool:
    """Return whether the gateway has accepted a route. One whose backends are missing answers, too: with an error."""
    return any(
        (seen.at(one, "parentRef", "namespace"), seen.at(one, "parentRef", "name")) == (gateway_namespace, gateway_name)
        and seen.verdict(seen.condition(one, "Accepted")) is True
        for one in seen.objects(seen.at(route, "status", "parents"))
    )


def ready(resource: Resource | None, kind: str) -> Verdict:
    """Return the verdict on an object that Crossplane manages, good if it is ready."""
    if resource is None:
        return unseen(kind)
    return _judged(resource, resource.get("status"), "Ready", kind)


def _route(resource: Resource, parent: Resource) -> Verdict:
    for needed in ("Accepted", "ResolvedRefs"):
        verdict = _judged(resource, parent, needed, "HTTPRoute")
        if verdict.is_good is not True:
            return verdict
    conditions = seen.conditions(parent)
    for optional, is_well in (("BackendsAvailable", True), ("PartiallyInvalid", False), ("RouteRulesOverlap", False)):
        condition = conditions.get(optional)
        if seen.verdict(condition) is (not is_well):
            said = _message(condition) + (_OVERLAP if optional == "RouteRulesOverlap" else "")
            return Verdict(is_good=False, reason=_reason(condition, optional), message=said)
    return Verdict(is_good=True, reason="Accepted", message="the gateway has accepted the route")


def _judged(resource: Resource, holder: Json, kind: str, of: str) -> Verdict:
    condition = seen.condition(holder, kind)
    if not condition:
        return Verdict(None, "Waiting", f"the {of} has no condition {kind} yet; check its controller")
    generation = seen.count(seen.at(resource, "metadata", "generation")) or 0
    processed = seen.count(condition.get("observedGeneration"))
    if processed is not None and processed < generation:
        return Verdict(None, "Waiting", f"the controller has not processed the current generation of the {of} yet")
    return Verdict(seen.verdict(condition), _reason(condition, kind), _message(condition))


def _reason(condition: Json, kind: str) -> str:
    return seen.text(seen.at(condition, "reason")) or kind


def _message(condition: Json) -> str:
    return seen.text(seen.at(condition, "message"))


def _worst(verdicts: Iterable[Verdict], kind: str) -> Verdict:
    order = {False: 0, None: 1, True: 2}
    return min(
        verdicts,
        key=lambda verdict: order[verdict.is_good],
        default=Verdict(None, "Waiting", f"no gateway has reported on the {kind} yet"),
    )
