"""The state of a replica as its workers, its picker, its pool and its route report it.

Source: inference extension v1.5, whose gateways report on pools. The Deployment of the picker reports for the picker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import cluster_route, shapes
from modelplane.render.backend import Observation, Problem
from modelplane.render.backends.llmd import picker, pool, service
from modelplane.render.workers import manifests, status
from modelplane.render.workers.status import Seen
from modelplane.workload.model import EngineType, Replica, Role

Json: TypeAlias = Any
Object = seen.Object

SHAPES: Mapping[str, Json] = {
    **status.SHAPES,
    pool.KIND: shapes.fields(spec=shapes.fields()),
}


def observe(replica: Replica, objects: Mapping[str, Object | None]) -> Observation:
    """Return the observed state of the replica. A value that no object reports is unknown and never False."""
    found = {bound.spec.role: _workers(replica, objects, bound.spec.role) for bound in replica.roles}
    problems = [problem for role in found.values() for problem in role.problems]
    is_ready = all(role.is_complete for role in found.values())
    is_routed, about_route = _routed(replica, objects)
    if pool.required(replica):
        answers, missing = _picker(replica, objects.get(picker.KEY))
        problems += missing
        is_ready = is_ready and answers is True
        if is_routed and pool.failure_mode(replica) == pool.FAIL_CLOSE:
            is_routed = answers
    workers = {role: seen_.ready for role, seen_ in found.items() if seen_.ready is not None}
    # A decode worker of vLLM that no prefill worker has helped computes the prompt by itself.
    spare = frozenset({Role.PREFILL}) if replica.engine is EngineType.VLLM else frozenset()
    return Observation(workers, is_ready, is_routed, (*problems, *about_route), spare)


def _workers(replica: Replica, objects: Mapping[str, Object | None], role: Role) -> Seen:
    bound = next(bound for bound in replica.roles if bound.spec.role is role)
    found = status.observe(objects.get(manifests.key(bound.spec, service.suffix(bound))), bound.spec.workers)
    if not replica.is_disaggregated:
        return found
    return replace(found, problems=tuple(replace(one, message=f"{role}: {one.message}") for one in found.problems))


def _routed(replica: Replica, objects: Mapping[str, Object | None]) -> tuple[bool | None, list[Problem]]:
    """Return whether a gateway has accepted the route, and the pool if the route leads to one."""
    is_routed, problems = cluster_route.observe(objects.get(cluster_route.KEY))
    if not pool.required(replica) or is_routed is not True:
        return is_routed, problems
    return pool.observe(objects.get(pool.KEY))


def _picker(replica: Replica, observed: Object | None) -> tuple[bool | None, list[Problem]]:
    """Return whether the picker answers, None while that is unknown. The problem names the effect."""
    is_closed = pool.failure_mode(replica) == pool.FAIL_CLOSE
    found = status.observe(observed, 1)
    if found.ready:
        return True, []
    if found.ready is None:
        message = "the Deployment of the endpoint picker has not been observed yet"
        return None, [Problem("PickerNotObserved", message, about_route=is_closed)]
    effect = "requests are refused" if is_closed else "requests go to any worker"
    why = "; ".join(problem.message for problem in found.problems) or "its pod is not ready"
    message = f"the endpoint picker does not answer, so {effect}: {why}"
    return False, [Problem("PickerNotReady", message, about_route=is_closed)]
