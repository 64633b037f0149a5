"""The state of a replica as its observed RayService and the route report it.

Only the head says why it is not ready. A worker that is not scheduled, or whose image cannot be pulled, shows as an
application that stays in deployment until the initializing timeout.
Source: KubeRay v1.6.2 (controllers/ray/rayservice_controller.go), Ray 2.60.0 (serve/schema.py: states of applications).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import cluster_route
from modelplane.render.backend import Observation, Problem
from modelplane.render.backends.kuberay import service, serving
from modelplane.workload.model import BoundRole, Replica, Role

Json: TypeAlias = Any
Object = seen.Object

_ANY = {"x-kubernetes-preserve-unknown-fields": True}
_COUNT, _TEXT = {"type": "integer"}, {"type": "string"}


def _map(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, **_ANY}


def _by_name(value: Json) -> Json:
    return {"type": "object", "additionalProperties": value}


_CLAIMS = {"type": "array", "items": _map(resourceClaimTemplateName=_TEXT)}
_TEMPLATE = _map(spec=_map(resourceClaims=_CLAIMS))
_GROUPS = {"type": "array", "items": _map(template=_TEMPLATE)}
_DEPLOYMENT = _map(status=_TEXT, message=_TEXT)
_APPLICATION = _map(status=_TEXT, message=_TEXT, serveDeploymentStatuses=_by_name(_DEPLOYMENT))
_CLUSTER = _map(applicationStatuses=_by_name(_APPLICATION), rayClusterStatus=_map())
SHAPES: Mapping[str, Json] = {
    service.KIND: _map(
        spec=_map(rayClusterConfig=_map(headGroupSpec=_map(template=_TEMPLATE), workerGroupSpecs=_GROUPS)),
        status=_map(activeServiceStatus=_CLUSTER, pendingServiceStatus=_CLUSTER, numServeEndpoints=_COUNT),
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
_FINAL = frozenset({"InitializingTimeout", "ValidationFailed"})


def observe(replica: Replica, objects: Mapping[str, Object | None]) -> Observation:
    """Return the observed state of the replica; a value that the RayService does not report is not known."""
    is_routed, route_problems = cluster_route.observe(objects.get(cluster_route.KEY))
    observed = objects.get(service.key(replica))
    if observed is None:
        return Observation({}, is_ready=False, is_routed=is_routed, problems=tuple(route_problems))
    stale = tuple(_stale(observed))
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

    Ray says of an engine whether all of its replicas are healthy. While they are not, a service that answers has at
    least one. `numServeEndpoints` counts pods with a proxy, and no more engines than those answer.
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


def _stale(observed: Object) -> Iterator[Problem]:
    """Yield a problem where the operator has not looked at the RayService as it stands."""
    generation = seen.count(seen.at(observed, "metadata", "generation"))
    looked_at = seen.count(seen.at(observed, "status", "observedGeneration"))
    if generation is not None and looked_at != generation:
        message = f"generation {looked_at or 0} of {generation} is processed; is the KubeRay operator running?"
        yield Problem("NotProcessed", f"RayService: {message}")


def _service_problems(replica: Replica, observed: Object) -> Iterator[Problem]:
    condition = _ready(observed)
    if condition is None or seen.verdict(condition) is not False:
        return
    reason = seen.text(condition.get("reason")) or "NotReady"
    message = seen.text(condition.get("message")) or "no message"
    if reason == "InitializingTimeout":
        message += f"; KubeRay has given it up, so delete ModelReplica {replica.name}, and it is made anew"
    if reason in _FINAL:
        yield Problem(reason, f"RayService: {message}", is_final=True)


def _application_problems(applications: Mapping[str, Object]) -> Iterator[Problem]:
    """Yield what applications say that do not run, and then what each of their Serve deployments says."""
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
        )


def _head_problems(observed: Object) -> Iterator[Problem]:
    """Yield what the cluster says of its pods: those that cannot be made, and a head that is not ready."""
    conditions = seen.conditions(_cluster(observed).get("rayClusterStatus"))
    failure = conditions.get("ReplicaFailure")
    if failure is not None and seen.verdict(failure) is True:
        yield _problem(failure, "ReplicaFailure", "pods cannot be made", is_final=True)
    head = conditions.get("HeadPodReady")
    if head is not None and seen.verdict(head) is False:
        yield _problem(head, "HeadPodNotReady", "the Ray head is not ready", is_final=False)


def _problem(condition: Object, name: str, what: str, *, is_final: bool) -> Problem:
    message = seen.text(condition.get("message")) or "no message"
    reason = seen.text(condition.get("reason"))
    reason = name if reason in ("", "Unknown") else reason
    return Problem(reason, f"{what}: {reason}: {message}", is_final=is_final)
