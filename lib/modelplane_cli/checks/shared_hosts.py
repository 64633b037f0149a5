"""Hosts that two ModelServices ask for: one of them would receive the requests of both.

On a gateway of type EnvoyAI services share a host, because the model in a request chooses the service.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.routing.features import GatewayType
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents.reading import WARNING, Problem
from modelplane_cli.simulator.store import Key

Json: TypeAlias = Any

_DEFAULT_GATEWAY = "default"


def check(checked: Checked) -> list[Problem]:
    """Return a warning at the host of every service but the first of those that share it on one gateway."""
    first: dict[tuple[str, str], Key] = {}
    found = []
    types = {
        key.name: seen.text(seen.at(resource, "spec", "type"))
        for key, resource in checked.objects.items()
        if (key.group, key.kind) == (names.GROUP, "InferenceGateway")
    }
    only = next(iter(types)) if len(types) == 1 else _DEFAULT_GATEWAY
    for key, resource in sorted(checked.objects.items(), key=lambda entry: entry[0]):
        asked = _asked(key, resource)
        if asked is None or types.get(asked[0] or only) == GatewayType.ENVOY_AI:
            continue
        holder = first.setdefault(asked, key)
        if holder != key:
            outcome = (
                "the older HTTPRoute receives the requests of both, and neither is ready"
                if holder.namespace == key.namespace
                else "one namespace holds a host, and a service of the other gets no route (HostHeld)"
            )
            message = f"ModelService {holder.namespace}/{holder.name} has this host too; {outcome}; write another host"
            found.append(checked.sources[key].problem(message, ("spec", "host"), WARNING))
    return found


def _asked(key: Key, resource: Mapping[str, Json]) -> tuple[str, str] | None:
    """Return the gateway and the host that a service asks for, None for one without a host and for other objects."""
    if (key.group, key.kind) != (names.GROUP, "ModelService"):
        return None
    host = seen.text(seen.at(resource, "spec", "host"))
    return (seen.text(seen.at(resource, "spec", "gatewayRef", "name")), host) if host else None
