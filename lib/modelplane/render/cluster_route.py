"""Route from a cluster's gateway to one replica, and its observed state.

Source: Gateway API v1.5 HTTPRoute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render import pods
from modelplane.render.backend import Problem
from modelplane.render.manifest import Manifest, Purpose, Readiness
from modelplane.workload.model import Replica
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any
Object = seen.Object

KEY = "route"

_READY = (
    "has(object.status) && has(object.status.parents) && object.status.parents.exists(p, "
    "p.conditions.exists(c, c.type == 'Accepted' && c.status == 'True') && "
    "p.conditions.exists(c, c.type == 'ResolvedRefs' && c.status == 'True'))"
)


def of(replica: Replica, facts: ClusterFacts, rules: Sequence[Mapping[str, Json]]) -> Manifest:
    """Return the route from the cluster's gateway to the replica, for the internal host name of the replica."""
    parent: dict[str, Json] = {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": facts.gateway_name,
        "namespace": facts.gateway_namespace,
    }
    if facts.gateway_listener:
        parent["sectionName"] = facts.gateway_listener
    return Manifest(
        key=KEY,
        resource={
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": {"name": replica.name, "namespace": replica.namespace, "labels": pods.base_labels(replica)},
            "spec": {
                "parentRefs": [parent],
                "hostnames": [names.internal_host(replica.namespace, replica.name)],
                "rules": [dict(rule) for rule in rules],
            },
        },
        purpose=Purpose.ROUTE,
        readiness=Readiness(_READY),
    )


def rule(paths: tuple[str, ...], backend: Mapping[str, Json]) -> dict[str, Json]:
    """Return a rule without a timeout, because a stream ends only when the model has finished."""
    return {
        "matches": [{"path": {"type": "PathPrefix", "value": path}} for path in paths],
        "backendRefs": [dict(backend)],
        "timeouts": {"request": "0s", "backendRequest": "0s"},
    }


def service(name: str, port: int) -> dict[str, Json]:
    """Return the reference to a Service for a rule."""
    return {"group": "", "kind": "Service", "name": name, "port": port}


def observe(route: Object | None) -> tuple[bool | None, list[Problem]]:
    """Return whether a gateway has accepted the current route, None while none has reported on it."""
    if route is None:
        return None, []
    parents = seen.objects(seen.at(route, "status", "parents"))
    if not parents:
        message = "no gateway controller of the cluster has processed the route yet"
        return None, [Problem("RouteNotProcessed", message, about_route=True)]
    problems: list[Problem] = []
    is_refused = True
    for parent in parents:
        found = seen.conditions(parent)
        verdicts = {name: _current(route, found.get(name)) for name in ("Accepted", "ResolvedRefs")}
        if all(verdicts.values()):
            return True, []
        refused = [name for name, verdict in verdicts.items() if verdict is False]
        is_refused = is_refused and bool(refused)
        open_ones = refused or [name for name, verdict in verdicts.items() if verdict is None]
        problems.append(_route_problem(found.get(open_ones[0]), open_ones[0], is_refused=bool(refused)))
    return False if is_refused else None, problems


def _current(route: Object, condition: Object | None) -> bool | None:
    """Return the verdict of a condition; one about an older form of the route is none."""
    generation = seen.count(seen.at(route, "metadata", "generation"))
    looked_at = seen.count(seen.at(condition, "observedGeneration"))
    if generation is not None and looked_at is not None and looked_at < generation:
        return None
    return seen.verdict(condition)


def _route_problem(condition: Object | None, name: str, *, is_refused: bool) -> Problem:
    if not is_refused:
        message = f"no gateway controller of the cluster has reported condition {name} of the route yet"
        return Problem("RouteNotProcessed", message, about_route=True)
    message = seen.text(seen.at(condition, "message")) or "no message"
    reason = seen.text(seen.at(condition, "reason")) or name
    # A gateway does not learn a kind by waiting.
    is_final = reason == "InvalidKind"
    return Problem(reason, f"the cluster's gateway refused the route: {message}", is_final, about_route=True)
