"""The state of a replica as its observed InferenceSet and the route report it.

A set counts its ready members. Why one is not ready stands in the member (a Workspace), whose name KAITO draws at
random, so the message says how to find it.
Source: KAITO v0.11.0 (pkg/inferenceset/inferenceset_controller.go), v0.12.0 (reasons of a pod that does not start).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import cluster_route, shapes
from modelplane.render.backend import Observation, Problem
from modelplane.render.backends.kaito import service
from modelplane.workload.model import Replica

Json: TypeAlias = Any
Object = seen.Object

SHAPES: Mapping[str, Json] = {
    service.KIND.name: shapes.fields(
        spec=shapes.fields(
            replicas=shapes.COUNT, template=shapes.fields(inference=shapes.fields(template=shapes.TEMPLATE))
        ),
        status=shapes.fields(replicas=shapes.COUNT, readyReplicas=shapes.COUNT),
    )
}

_READY = "InferenceSetReady"
# A condition that says no more than the counts do.
_COUNTED = "inferencesetNotReady"
_WAITING = frozenset({"Unschedulable", "PodEvicted", "NodeDiskPressure", "NodeMemoryPressure"})
_CAUSE = re.compile(r"\(last reconcile error: (.*)\)\Z", re.DOTALL)


def observe(replica: Replica, objects: Mapping[str, Object | None]) -> Observation:
    """Return the observed state of the replica; a value that the InferenceSet does not report is not known."""
    is_routed, route_problems = cluster_route.observe(objects.get(cluster_route.KEY))
    observed = objects.get(service.identity(replica).key)
    if observed is None:
        return Observation({}, is_ready=False, is_routed=is_routed, problems=tuple(route_problems))
    (bound,) = replica.roles
    wanted, condition = bound.spec.workers, _condition(observed)
    ready = _count(observed, "readyReplicas")
    is_current = _count(observed, "replicas") == wanted
    is_ready = is_current and seen.verdict(condition) is True and ready is not None and ready >= wanted
    problems = (*_problems(observed, condition), *_hints(replica, observed, wanted), *route_problems)
    workers = {} if ready is None else {bound.spec.role: min(ready, wanted)}
    return Observation(workers, is_ready, is_routed, problems)


def _condition(observed: Object) -> Object | None:
    return seen.conditions(observed.get("status")).get(_READY)


def _count(observed: Object, key: str) -> int | None:
    """Return a count of the status, None while KAITO has said nothing; it leaves a count of 0 out."""
    status = seen.at(observed, "status")
    if not isinstance(status, Mapping) or not seen.conditions(status):
        return None
    return 0 if status.get(key) is None else seen.count(status[key])


def _problems(observed: Object, condition: Object | None) -> Iterator[Problem]:
    """Yield what KAITO says of the set beyond its counts, the error of its last attempt first."""
    if condition is None:
        message = "has no status yet; check that KAITO's controllers run with the gate enableInferenceSetController"
        yield Problem("NotProcessed", f"InferenceSet {message}")
        return
    reason, message = seen.text(condition.get("reason")), seen.text(condition.get("message")) or "no message"
    cause = _CAUSE.search(message)
    if seen.verdict(condition) is not False or (reason == _COUNTED and cause is None):
        return
    said = cause.group(1) if cause is not None else message
    is_final = reason not in _WAITING | {_COUNTED}
    yield Problem(reason or "NotReady", f"InferenceSet: {said}", is_final=is_final)


def _hints(replica: Replica, observed: Object, wanted: int) -> Iterator[Problem]:
    """Yield where KAITO says why a worker is not ready."""
    ready = _count(observed, "readyReplicas")
    if ready is None or ready >= wanted:
        return
    selector = f"{service.LABEL_SET}={service.identity(replica).name}"
    yield Problem(
        "WorkersStarting",
        f"KAITO says why in the Workspaces of the set: kubectl get workspaces -n {replica.namespace} -l {selector}",
        is_count=True,
    )
