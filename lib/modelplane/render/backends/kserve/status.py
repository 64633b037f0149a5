"""What an observed LLMInferenceService and its route say of a replica.

Source: KServe v0.20.0 conditions and status.workloads (from v0.19). Ready does not include PresetsCombined there and
may speak of an older generation, so both are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane.render.backend import Observation, Problem
from modelplane.render.backends.kserve import service
from modelplane.workload.model import BoundRole, Replica, Role

Json: TypeAlias = Any
Object: TypeAlias = Mapping[str, Json]

_SINGLE = {Role.DECODE: "MainWorkloadReady", Role.PREFILL: "PrefillWorkloadReady"}
_GANG = {Role.DECODE: "WorkerWorkloadReady", Role.PREFILL: "PrefillWorkerWorkloadReady"}
_WORKLOAD = {Role.DECODE: "primary", Role.PREFILL: "prefill"}
_FINAL = frozenset({"ConfigNotFound", "CombineBaseError", "InvalidRenderedConfig", "InvalidConfig"})
_ROLL_UPS = ("PresetsCombined", "WorkloadsReady", "RouterReady")


def observe(replica: Replica, objects: Mapping[str, Object | None]) -> Observation:
    """Return what the observed objects say of the replica."""
    observed = objects.get(service.KEY_SERVICE)
    is_routed, route_problems = _route(objects.get(service.KEY_ROUTE))
    if observed is None:
        return Observation({}, is_ready=False, is_routed=is_routed, problems=tuple(route_problems))
    conditions = _conditions(observed)
    problems = [*_stale(observed), *_service_problems(conditions), *route_problems]
    is_ready = not any(_stale(observed)) and all(
        conditions.get(name, {}).get("status") == "True" for name in ("Ready", "PresetsCombined")
    )
    workers = {bound.spec.role: _workers(observed, conditions, bound) for bound in replica.roles}
    return Observation(workers, is_ready, is_routed, tuple(problems))


def _conditions(observed: Object) -> dict[str, Object]:
    return {str(entry.get("type")): entry for entry in (observed.get("status") or {}).get("conditions") or ()}


def _stale(observed: Object) -> Iterator[Problem]:
    """Yield a problem when KServe has not looked at the object as it stands now."""
    generation = (observed.get("metadata") or {}).get("generation")
    seen = (observed.get("status") or {}).get("observedGeneration")
    if generation is not None and seen != generation:
        yield Problem(
            "NotProcessed", f"KServe has processed generation {seen or 0} of {generation}; is its controller running?"
        )


def _service_problems(conditions: Mapping[str, Object]) -> Iterator[Problem]:
    for name in _ROLL_UPS:
        condition = conditions.get(name)
        if condition is None or condition.get("status") == "True":
            continue
        reason = str(condition.get("reason") or name)
        message = str(condition.get("message") or "no message")
        is_final = condition.get("status") == "False" and reason in _FINAL
        yield Problem(reason, f"KServe {name}: {message}", is_final)


def _route(route: Object | None) -> tuple[bool | None, list[Problem]]:
    if route is None:
        return None, []
    parents = (route.get("status") or {}).get("parents") or ()
    if not parents:
        message = "no gateway controller of the cluster has looked at the route yet"
        return False, [Problem("RouteNotProcessed", message, about_route=True)]
    problems: list[Problem] = []
    for parent in parents:
        found = {str(entry.get("type")): entry for entry in parent.get("conditions") or ()}
        missing = [name for name in ("Accepted", "ResolvedRefs") if found.get(name, {}).get("status") != "True"]
        if not missing:
            return True, []
        entry = found.get(missing[0], {})
        text = str(entry.get("message") or "no message")
        reason = str(entry.get("reason") or missing[0])
        problems.append(Problem(reason, f"route of the cluster's gateway: {text}", about_route=True))
    return False, problems


def _workers(observed: Object, conditions: Mapping[str, Object], bound: BoundRole) -> int:
    """Return the ready workers of a role, from the count where KServe publishes it, else all or none from its
    condition.
    """
    role = bound.spec
    workload = ((observed.get("status") or {}).get("workloads") or {}).get(_WORKLOAD[role.role]) or {}
    ready = workload.get("readyReplicas")
    if isinstance(ready, int):
        return min(ready, role.workers)
    condition = (_GANG if role.topology.is_gang else _SINGLE)[role.role]
    return role.workers if conditions.get(condition, {}).get("status") == "True" else 0
