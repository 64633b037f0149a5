"""The state of a replica as its observed graph and the route report it.

Without Grove the operator says which component is not ready and not why: that stands with its pods. With it, which
somebody may have put there, it says that devices or nodes are lacking.

Source: api/v1beta1 (DynamoGraphDeploymentStatus, ComponentReplicaStatus), internal/controller/dgd_workload_result.go of
the operator 1.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import cluster_route, operated, shapes
from modelplane.render.backend import Observation, Problem
from modelplane.render.backends.dynamo import graph, naming
from modelplane.workload.model import BoundRole, Replica

Json: TypeAlias = Any
Object = seen.Object

_COMPONENTS = shapes.items(shapes.fields(name=shapes.TEXT, replicas=shapes.COUNT, podTemplate=shapes.TEMPLATE))
_COUNTS = shapes.by_name(shapes.fields(replicas=shapes.COUNT, readyReplicas=shapes.COUNT))
SHAPES: Mapping[str, Json] = {
    graph.KIND.name: shapes.fields(
        spec=shapes.fields(components=_COMPONENTS), status=shapes.fields(state=shapes.TEXT, components=_COUNTS)
    )
}

_SUCCESSFUL, _FAILED = "successful", "failed"
_REASONS = {
    "insufficient_capacity": "InsufficientCapacity",
    "pods_not_ready": "PodsNotReady",
    "updating": "Updating",
    "mixed_not_ready_reasons": "ComponentsNotReady",
    "some_resources_are_not_ready": "ComponentsNotReady",
}
# Reasons that say that pods are not ready, and not why.
_COUNTED = frozenset({"pods_not_ready", "updating", "mixed_not_ready_reasons", "some_resources_are_not_ready"})
# So an API server words the refusal of an object that the operator wrote, and it refuses the next one too.
_REFUSED = " is invalid: "


def observe(replica: Replica, objects: Mapping[str, Object | None]) -> Observation:
    """Return the observed state of the replica; a value that the graph does not report is not known."""
    is_routed, route_problems = cluster_route.observe(objects.get(cluster_route.KEY))
    observed = objects.get(graph.identity(replica).key)
    if observed is None:
        return Observation({}, is_ready=False, is_routed=is_routed, problems=tuple(route_problems))
    stale = tuple(operated.stale(observed, graph.KIND.name, "Dynamo's operator"))
    ready = seen.verdict(_condition(observed)) is True and _state(observed) == _SUCCESSFUL and not stale
    counted = {bound.spec.role: _workers(replica, observed, bound) for bound in replica.roles}
    workers = {role: count for role, count in counted.items() if count is not None}
    problems = (*stale, *_problems(observed))
    if _count(observed, naming.FRONTEND) == 0:
        is_routed = False if is_routed else is_routed
        route_problems = [*_no_frontend(), *route_problems]
    return Observation(workers, ready, is_routed, (*problems, *route_problems))


def _condition(observed: Object) -> Object | None:
    return seen.conditions(observed.get("status")).get("Ready")


def _state(observed: Object) -> str:
    return seen.text(seen.at(observed, "status", "state"))


def _count(observed: Object, component: str) -> int | None:
    return seen.count(seen.at(observed, "status", "components", component, "readyReplicas"))


def _workers(replica: Replica, observed: Object, bound: BoundRole) -> int | None:
    """Return the ready workers of a role; while a generation replaces another, both are counted."""
    ready = _count(observed, naming.component(replica, bound.spec.role))
    return None if ready is None else min(ready, bound.spec.workers)


def _problems(observed: Object) -> Iterator[Problem]:
    condition, state = _condition(observed), _state(observed)
    if seen.verdict(condition) is not False and state != _FAILED:
        return
    said = seen.text(seen.at(condition, "reason"))
    message = seen.text(seen.at(condition, "message")) or "no message"
    if state == _FAILED:
        yield Problem(_REASONS.get(said, "Failed"), f"{graph.KIND.name}: {message}", is_final=_REFUSED in message)
    else:
        is_count = said in _COUNTED
        yield Problem(_REASONS.get(said, "NotReady"), f"{graph.KIND.name}: {message}", is_count=is_count)


def _no_frontend() -> Iterator[Problem]:
    message = "no frontend of the graph is ready, and only a frontend answers requests; see the events of its pod"
    yield Problem("FrontendNotReady", message, about_route=True)
