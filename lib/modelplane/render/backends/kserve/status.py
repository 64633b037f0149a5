"""Observation of a replica from its LLMInferenceService and its route.

Source: KServe v0.20.0 conditions and status.workloads (from v0.19). Ready does not include PresetsCombined there and
may refer to an older generation, so both are checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import cluster_route, operated, shapes
from modelplane.render.backend import Observation, Problem
from modelplane.render.backends.kserve import service
from modelplane.workload.model import BoundRole, Replica, Role

Json: TypeAlias = Any
Object = seen.Object

_SINGLE = {Role.DECODE: "MainWorkloadReady", Role.PREFILL: "PrefillWorkloadReady"}
_GANG = {Role.DECODE: "WorkerWorkloadReady", Role.PREFILL: "PrefillWorkerWorkloadReady"}
_WORKLOAD = {Role.DECODE: "primary", Role.PREFILL: "prefill"}
_FINAL = frozenset({"ConfigNotFound", "CombineBaseError", "InvalidRenderedConfig", "InvalidConfig"})
# A reason of a Deployment that says that pods are not ready, and not why.
_COUNTED = frozenset({"MinimumReplicasUnavailable"})
_ROLL_UPS = ("PresetsCombined", "WorkloadsReady", "RouterReady")

_CLAIMS = shapes.items(shapes.fields(name=shapes.TEXT, resourceClaimTemplateName=shapes.TEXT))
_POD = shapes.fields(resourceClaims=_CLAIMS)
_ROLE = {"replicas": shapes.COUNT, "parallelism": shapes.fields(), "template": _POD, "worker": _POD}
_REPLICAS = shapes.fields(kind=shapes.TEXT, name=shapes.TEXT, readyReplicas=shapes.COUNT)
_REFS = shapes.items(shapes.fields())
SHAPES: Mapping[str, Json] = {
    "LLMInferenceService": shapes.fields(
        spec=shapes.fields(
            **_ROLE, prefill=shapes.fields(**_ROLE), router=shapes.fields(gateway=shapes.fields(refs=_REFS))
        ),
        status=shapes.fields(workloads=shapes.fields(primary=_REPLICAS, prefill=_REPLICAS, scheduler=_REPLICAS)),
    )
}


def observe(replica: Replica, objects: Mapping[str, Object | None]) -> Observation:
    """Return the observation of the replica; a missing value is unknown and never a no."""
    observed = objects.get(service.KEY_SERVICE)
    is_routed, route_problems = cluster_route.observe(objects.get(cluster_route.KEY))
    if observed is None:
        return Observation({}, is_ready=False, is_routed=is_routed, problems=tuple(route_problems))
    owner = service.another_owner(replica, observed)
    if owner:
        message = (
            f"LLMInferenceService {service.remote_name(observed)} belongs to replica {owner}, which has the same name"
        )
        none = {bound.spec.role: 0 for bound in replica.roles}
        return Observation(none, is_ready=False, is_routed=is_routed, problems=(Problem("NameTaken", message),))
    conditions = seen.conditions(observed.get("status"))
    stale = tuple(operated.stale(observed, "LLMInferenceService", "KServe"))
    problems = [*stale, *_service_problems(conditions), *route_problems]
    is_ready = not stale and all(seen.verdict(conditions.get(name)) is True for name in ("Ready", "PresetsCombined"))
    counted = {bound.spec.role: _workers(observed, conditions, bound) for bound in replica.roles}
    workers = {role: ready for role, ready in counted.items() if ready is not None}
    return Observation(workers, is_ready, is_routed, tuple(problems))


def _service_problems(conditions: Mapping[str, Object]) -> Iterator[Problem]:
    for name in _ROLL_UPS:
        condition = conditions.get(name)
        if condition is None or seen.verdict(condition) is True:
            continue
        reason = seen.text(condition.get("reason")) or name
        message = seen.text(condition.get("message")) or "no message"
        is_final = seen.verdict(condition) is False and reason in _FINAL
        yield Problem(reason, f"KServe {name}: {message}", is_final, is_count=reason in _COUNTED)


def _workers(observed: Object, conditions: Mapping[str, Object], bound: BoundRole) -> int | None:
    """Return the ready workers of a role, from the count where KServe publishes it, else all or none from its
    condition, else None.
    """
    role = bound.spec
    ready = seen.count(seen.at(observed, "status", "workloads", _WORKLOAD[role.role], "readyReplicas"))
    if ready is not None:
        return min(ready, role.workers)
    verdict = seen.verdict(conditions.get((_GANG if role.topology.is_gang else _SINGLE)[role.role]))
    return None if verdict is None else role.workers * verdict
