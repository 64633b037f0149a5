"""The state of a replica as its observed RayService and the route report it.

Only the head says why it is not ready. A worker that is not scheduled, or whose image cannot be pulled, shows as an
application that stays in deployment until the initializing timeout.
Source: KubeRay v1.6.2 (controllers/ray/rayservice_controller.go), Ray 2.60.0 (serve/schema.py: states of applications).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import cluster_route, operated, shapes
from modelplane.render.backend import Observation, Problem
from modelplane.render.backends.kuberay import service, serving
from modelplane.workload.model import BoundRole, Replica, Role

Json: TypeAlias = Any
Object = seen.Object

_GROUPS = shapes.items(shapes.fields(template=shapes.TEMPLATE))
_DEPLOYMENT = shapes.fields(status=shapes.TEXT, message=shapes.TEXT)
_APPLICATION = shapes.fields(
    status=shapes.TEXT, message=shapes.TEXT, serveDeploymentStatuses=shapes.by_name(_DEPLOYMENT)
)
_CLUSTER = shapes.fields(applicationStatuses=shapes.by_name(_APPLICATION), rayClusterStatus=shapes.fields())
SHAPES: Mapping[str, Json] = {
    service.KIND.name: shapes.fields(
        spec=shapes.fields(
            rayClusterConfig=shapes.fields(
                headGroupSpec=shapes.fields(template=shapes.TEMPLATE), workerGroupSpecs=_GROUPS
            )
        ),
        status=shapes.fields(
            activeServiceStatus=_CLUSTER, pendingServiceStatus=_CLUSTER, numServeEndpoints=shapes.COUNT
        ),
    )
}

_RUNNING, _HEALTHY = "RUNNING", "HEALTHY"
_FAILED = frozenset({"DEPLOY_FAILED", "UNHEALTHY"})
_REASONS = {
    "NOT_STARTED": "NotStarted",
    "DEPLOYING": "Deploying",
    "DEPLOY_FAILED": "DeployFailed",
    "UNHEALTHY": "Unhealthy",
    "DELETING": "Deleting",
}
_INITIALIZING_TIMEOUT = "InitializingTimeout"
_FINAL = frozenset({_INITIALIZING_TIMEOUT, "ValidationFailed"})
# Reasons that say that the head is not ready, and not why.
_COUNTED = frozenset({"ContainersNotReady", "HeadPodNotReady"})


def observe(replica: Replica, objects: Mapping[str, Object | None]) -> Observation:
    """Return the observed state of the replica. A value that the RayService does not report is unknown."""
    is_routed, route_problems = cluster_route.observe(objects.get(cluster_route.KEY))
    observed = objects.get(service.identity(replica).key)
    if observed is None:
        return Observation({}, is_ready=False, is_routed=is_routed, problems=tuple(route_problems))
    stale = tuple(operated.stale(observed, service.KIND.name, "the KubeRay operator"))
    applications = _applications(observed)
    answers = seen.verdict(_ready(observed))
    problems = (*_service_problems(replica, observed), *_application_problems(applications), *stale)
    running = bool(applications) and all(_state(one) == _RUNNING for one in applications.values())
    counted = {bound.spec.role: _workers(observed, bound, applications) for bound in replica.roles}
    workers = {role: count for role, count in counted.items() if count is not None}
    is_ready = answers is True and running and not stale
    return Observation(workers, is_ready, is_routed, (*problems, *_head_problems(observed), *route_problems))


def _ready(observed: Object) -> Object | None:
    return seen.conditions(observed.get("status")).get("Ready")


def _cluster(observed: Object) -> Object:
    """Return the status of the cluster that serves, else of the first one, which is not ready yet."""
    for key in ("activeServiceStatus", "pendingServiceStatus"):
        found = seen.at(observed, "status", key)
        if isinstance(found, Mapping) and (found.get("rayClusterName") or found.get("applicationStatuses")):
            return found
    return {}


def _applications(observed: Object) -> dict[str, Object]:
    return _members(_cluster(observed).get("applicationStatuses"))


def _members(value: Json) -> dict[str, Object]:
    if not isinstance(value, Mapping):
        return {}
    return {str(name): one for name, one in sorted(value.items()) if isinstance(one, Mapping)}


def _state(reported: Object) -> str:
    return seen.text(reported.get("status"))


def _workers(observed: Object, bound: BoundRole, applications: Mapping[str, Object]) -> int | None:
    """Return the ready workers of a role.

    Ray reports whether all replicas of an engine are healthy. While some are not, a service that answers has at least
    one. `numServeEndpoints` counts pods with a proxy, so at most that many engines answer.
    """
    wanted = bound.spec.workers
    states = [_state(one) for one in _deployments(applications, bound.spec.role).values()]
    if states and all(state == _HEALTHY for state in states):
        return wanted
    if applications and all(_state(one) == _RUNNING for one in applications.values()):
        return wanted
    answers = seen.verdict(_ready(observed))
    if answers is None:
        return None
    if not answers:
        return 0
    endpoints = seen.count(seen.at(observed, "status", "numServeEndpoints")) or 0
    return min(wanted, max(1, endpoints // bound.spec.topology.nodes))


def _deployments(applications: Mapping[str, Object], role: Role) -> dict[str, Object]:
    """Return the Serve deployments of the role's engine; the one that takes requests has no prefix."""
    found = _members((applications.get(serving.APPLICATION) or {}).get("serveDeploymentStatuses"))
    return {
        name: one
        for name, one in found.items()
        if ":" in name and name.startswith(serving.PREFILL_DEPLOYMENT) is (role is Role.PREFILL)
    }


def _service_problems(replica: Replica, observed: Object) -> Iterator[Problem]:
    condition = _ready(observed)
    if condition is None or seen.verdict(condition) is not False:
        return
    reason = seen.text(condition.get("reason")) or "NotReady"
    message = seen.text(condition.get("message")) or "no message"
    if reason == _INITIALIZING_TIMEOUT:
        message += f"; KubeRay has abandoned it; delete ModelReplica {replica.name} to create it again"
    if reason in _FINAL:
        yield Problem(reason, f"RayService: {message}", is_final=True, is_count=reason == _INITIALIZING_TIMEOUT)


def _application_problems(applications: Mapping[str, Object]) -> Iterator[Problem]:
    """Yield the messages of applications that do not run, each followed by those of its Serve deployments."""
    for name, application in applications.items():
        state = _state(application)
        if state == _RUNNING:
            continue
        message = seen.text(application.get("message"))
        causes = [
            f"{deployment} is {_state(one)}: {seen.text(one.get('message')) or 'no message'}"
            for deployment, one in _members(application.get("serveDeploymentStatuses")).items()
            if _state(one) != _HEALTHY and (_state(one) in _FAILED or one.get("message"))
        ]
        said = "; ".join([part for part in (message, *causes) if part]) or "no message"
        yield Problem(
            _REASONS.get(state, "NotRunning"),
            f"Ray Serve application {name} is {state or 'not deployed'}: {said}",
            is_final=state in _FAILED,
            is_count=state not in _FAILED,
        )


def _head_problems(observed: Object) -> Iterator[Problem]:
    """Yield the problems of the cluster with its pods: pods that it cannot create, and a head that is not ready."""
    conditions = seen.conditions(_cluster(observed).get("rayClusterStatus"))
    failure = conditions.get("ReplicaFailure")
    if failure is not None and seen.verdict(failure) is True:
        yield _problem(failure, "ReplicaFailure", "pods cannot be created", is_final=True)
    head = conditions.get("HeadPodReady")
    if head is not None and seen.verdict(head) is False:
        yield _problem(head, "HeadPodNotReady", "the Ray head is not ready", is_final=False)


def _problem(condition: Object, name: str, what: str, *, is_final: bool) -> Problem:
    message = seen.text(condition.get("message")) or "no message"
    reason = seen.text(condition.get("reason"))
    reason = name if reason in ("", "Unknown") else reason
    return Problem(reason, f"{what}: {reason}: {message}", is_final=is_final, is_count=reason in _COUNTED)
