"""The budget of a namespace on a route that a service keeps because it can have no other now.

A budget belongs to the platform. A service that is refused, or that has no endpoint, would otherwise be answered
without it as long as its author likes.
"""

from __future__ import annotations

from dataclasses import replace

from modelplane.render import ai_routing
from modelplane.routing.model import Gateway
from modelplane_functions.exchange import Child


def counted(kept: dict[str, Child], namespace: str, gateway: Gateway | None) -> dict[str, Child]:
    """Return the kept children of a service of `namespace` with the budget that its gateway (None for none) counts."""
    if gateway is None or not ai_routing.has_budget(namespace, gateway):
        return kept
    return {key: replace(child, resource=ai_routing.counted(key, child.resource)) for key, child in kept.items()}
