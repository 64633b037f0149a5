"""Status of a ModelService, encoded from a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from modelplane.api.gateway import GatewayState
from modelplane.routing import hosts, plan
from modelplane.routing.features import GatewayType
from modelplane.routing.model import Service
from modelplane.routing.plan import Candidate, Plan

Json: TypeAlias = Any


def encode(
    service: Service,
    state: GatewayState,
    groups: Sequence[Sequence[Candidate]],
    decided: Plan,
    before: Mapping[str, Json],
) -> dict[str, Json]:
    """Return the complete status; an address that was known `before` stays while the gateway has none."""
    gateway = state.gateway
    address = state.address or str(before.get("address") or "")
    status: dict[str, Json] = {
        "gateway": gateway.name,
        "endpoints": {"matched": decided.matched, "ready": decided.ready},
        "backends": _backends(service, groups, decided),
    }
    if address:
        status["address"] = address
    if gateway.type is GatewayType.ENVOY_AI:
        status["model"] = service.name
    shown = hosts.authority(service.host, service.namespace, hostname=gateway.hostname, address=address)
    if shown:
        status["url"] = hosts.base_url(shown, service.path, port=gateway.port, is_tls=gateway.is_tls)
    return status


def _backends(service: Service, groups: Sequence[Sequence[Candidate]], decided: Plan) -> list[Json]:
    """Return every matched endpoint once, in the order of the groups; weight 0 where it takes no part in the route."""
    weights = {target.endpoint.name: target.weight for target in decided.targets}
    return [
        {
            "endpoint": candidate.name,
            "backendName": candidate.backend_name,
            "group": index,
            "priority": service.groups[index].priority,
            "weight": weights.get(candidate.name, 0),
            "ready": candidate.ready,
        }
        for index, candidates in enumerate(plan.assign(groups))
        for candidate in candidates
    ]
