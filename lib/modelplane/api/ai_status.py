"""Verdicts of the AI gateway on its objects, and of Envoy Gateway on the HTTPRoute that it makes of a route.

The AI gateway reports one condition, Accepted or NotAccepted, without the generation that it has seen. So a route is
good only once the HTTPRoute made of it says the same as it does. Source: Envoy AI Gateway v1.0.0 (`newConditions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.api import gateway_status
from modelplane.api.gateway_status import Resource, Verdict

Json: TypeAlias = Any


def accepted(resource: Resource | None, kind: str) -> Verdict:
    """Return the verdict of the AI gateway on an object of one of its kinds."""
    if resource is None:
        return gateway_status.unseen(kind)
    conditions = seen.conditions(resource.get("status"))
    refusal = conditions.get("NotAccepted")
    if refusal:
        return Verdict(is_good=False, reason="NotAccepted", message=seen.text(refusal.get("message")))
    if seen.verdict(conditions.get("Accepted")) is True:
        return Verdict(is_good=True, reason="Accepted", message=f"the AI gateway has accepted the {kind}")
    return Verdict(None, "Waiting", f"the AI gateway has not reported on the {kind} yet; check its controller")


def route(
    resource: Resource | None, generated: Resource | None, *, gateway_namespace: str, gateway_name: str
) -> Verdict:
    """Return the verdict on an AIGatewayRoute: accepted, and its HTTPRoute made, up to date and accepted."""
    verdict = accepted(resource, "AIGatewayRoute")
    if resource is None or verdict.is_good is not True:
        return verdict
    if generated is None:
        return Verdict(None, "Waiting", "the AI gateway has not made the HTTPRoute of the AIGatewayRoute yet")
    if _said(resource) != _said(generated):
        return Verdict(None, "Waiting", "the AI gateway has not brought the HTTPRoute up to date yet")
    return gateway_status.route(
        _without_overlap(generated), gateway_namespace=gateway_namespace, gateway_name=gateway_name
    )


def _said(route_: Resource) -> Json:
    """Return what both kinds of route say: their gateway, their hosts, and the weights of their first rule."""
    rule = next(iter(seen.objects(seen.at(route_, "spec", "rules"))), {})
    parents = seen.objects(seen.at(route_, "spec", "parentRefs"))
    return (
        [(parent.get("namespace"), parent.get("name")) for parent in parents],
        seen.at(route_, "spec", "hostnames"),
        [(each.get("name"), each.get("weight")) for each in seen.objects(rule.get("backendRefs"))],
    )


def _without_overlap(generated: Resource) -> Resource:
    """Return the route without RouteRulesOverlap: each route of the AI gateway ends in the same rule for the rest."""
    parents = [
        {**parent, "conditions": [one for one in seen.objects(parent.get("conditions")) if not _is_overlap(one)]}
        for parent in seen.objects(seen.at(generated, "status", "parents"))
    ]
    return {**generated, "status": {"parents": parents}}


def _is_overlap(condition: Mapping[str, Json]) -> bool:
    return condition.get("type") == "RouteRulesOverlap"
