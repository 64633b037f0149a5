"""The state of a replica as its VLLMRuntime, the operator's Deployment and the route report it.

A VLLMRuntime has neither conditions nor a generation that the operator has seen, and never says that it failed. So the
Deployment that the operator makes is read too. It says whether the pods are those last asked for, and what holds them
up.
Source: vllm-project/production-stack at a6c01db (updateStatus), Kubernetes v1.36 (apps/v1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import cluster_route, shapes
from modelplane.render.backend import Observation, Problem
from modelplane.render.backends.vllmstack import runtime, service
from modelplane.render.workers import status as workers
from modelplane.workload.model import BoundRole, Replica

Json: TypeAlias = Any
Object = seen.Object

SHAPES: Mapping[str, Json] = {
    service.KIND.name: shapes.fields(
        spec=shapes.fields(deploymentConfig=shapes.fields(replicas=shapes.COUNT, podAnnotations=shapes.fields())),
        status=shapes.fields(
            modelStatus=shapes.TEXT,
            lastUpdated=shapes.TEXT,
            replicas=shapes.COUNT,
            availableReplicas=shapes.COUNT,
            updatedReplicas=shapes.COUNT,
        ),
    )
}

_READY, _UNKNOWN = "Ready", "Unknown"
_DEADLINE = "ProgressDeadlineExceeded"
# The Deployment has Kubernetes' own deadline, which ends before a large model has started.
_DEADLINE_SECONDS = 600
# What a pod may wait for its node, its claim and its image's layers before its own start budget begins.
_SCHEDULING_SECONDS = 600
# The operator's startup probe: two minutes, and a hundred tries of twenty seconds. After that the engine starts anew.
START_SECONDS = 120 + 100 * 20


def observe(replica: Replica, objects: Mapping[str, Object | None]) -> Observation:
    """Return the observed state of the replica; a value that no object reports is not known, and never a no."""
    (bound,) = replica.roles
    is_routed, route_problems = cluster_route.observe(objects.get(cluster_route.KEY))
    observed = objects.get(service.identity(replica).key)
    made = _made(objects.get(service.KEY_DEPLOYMENT))
    if observed is None:
        return Observation({}, is_ready=False, is_routed=is_routed, problems=tuple(route_problems))
    pods = None if made is None else workers.observe(made, bound.spec.workers)
    stale = tuple(_stale(observed, made))
    problems = [*stale, *_silent(observed, made)]
    if pods is not None:
        problems += [_in_time(problem, observed, made) for problem in pods.problems]
    ready = _available(observed, bound) if pods is None or pods.ready is None else pods.ready
    is_complete = _is_complete(observed, bound) and (pods is None or pods.is_complete) and not stale
    counted = {} if ready is None else {bound.spec.role: ready}
    return Observation(counted, is_complete, is_routed, (*problems, *route_problems))


def _made(observed: Object | None) -> Object | None:
    """Return the operator's Deployment, None where only its name is known."""
    return observed if isinstance(seen.at(observed, "spec", "template"), Mapping) else None


def _model_status(observed: Object) -> str:
    return seen.text(seen.at(observed, "status", "modelStatus"))


def _count(observed: Object, key: str) -> int | None:
    """Return a count of the status, None while the operator has said nothing; it leaves out a zero."""
    if not _model_status(observed):
        return None
    found = seen.at(observed, "status", key)
    return 0 if found is None else seen.count(found)


def _available(observed: Object, bound: BoundRole) -> int | None:
    found = _count(observed, "availableReplicas")
    return None if found is None else min(found, bound.spec.workers)


def _is_complete(observed: Object, bound: BoundRole) -> bool:
    """Return whether all workers are available as the operator counts them, and none of an older kind is left."""
    counts = (_count(observed, key) for key in ("replicas", "availableReplicas", "updatedReplicas"))
    return _model_status(observed) == _READY and all(count == bound.spec.workers for count in counts)


def _stale(observed: Object, made: Object | None) -> Iterator[Problem]:
    """Yield a problem where the Deployment is not of the VLLMRuntime as it stands."""
    wanted = seen.text(seen.at(observed, "spec", "deploymentConfig", "podAnnotations", runtime.DIGEST))
    found = seen.text(seen.at(made, "spec", "template", "metadata", "annotations", runtime.DIGEST))
    if made is not None and wanted and found != wanted:
        message = (
            "the last change has not reached the Deployment; check that the production stack's operator is running"
        )
        yield Problem("NotProcessed", f"VLLMRuntime: {message}")


def _silent(observed: Object, made: Object | None) -> Iterator[Problem]:
    """Yield a problem where the operator says nothing; once there is a Deployment, it ends in an error of its own."""
    status = _model_status(observed)
    if made is None and not status:
        message = "the production stack's operator has not reported on it; check that it is running"
        yield Problem("NotProcessed", f"VLLMRuntime: {message}")
    elif made is not None and status in ("", _UNKNOWN) and seen.conditions(made.get("status")):
        message = "the operator has created the Deployment and does not report on it; see the operator's log"
        yield Problem("OperatorSilent", f"VLLMRuntime: {message}")


def _in_time(problem: Problem, observed: Object, made: Object | None) -> Problem:
    """Return the problem, not final yet where it is about a deadline and the engine may take longer than that."""
    if problem.reason != _DEADLINE:
        return problem
    condition = seen.conditions(seen.at(made, "status")).get("Progressing")
    since, now = (_time(seen.at(condition, "lastUpdateTime")), _time(seen.at(observed, "status", "lastUpdated")))
    elapsed = _DEADLINE_SECONDS + (0.0 if since is None or now is None else (now - since).total_seconds())
    if elapsed >= _SCHEDULING_SECONDS + START_SECONDS:
        return problem
    return replace(problem, is_final=False)


def _time(value: Json) -> datetime | None:
    """Return a time with its zone, None for anything else."""
    try:
        found = datetime.fromisoformat(seen.text(value))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
