"""The state of a replica as an observed Deployment or LeaderWorkerSet and the route report it."""

from __future__ import annotations

from collections.abc import Mapping

from modelplane import seen
from modelplane.render import cluster_route
from modelplane.render.backend import Observation
from modelplane.render.workers import manifests, status
from modelplane.workload.model import Replica

Object = seen.Object

SHAPES = status.SHAPES


def observe(replica: Replica, objects: Mapping[str, Object | None]) -> Observation:
    """Return the observed state of the replica; a value that no object reports is not known, and never a no."""
    (bound,) = replica.roles
    is_routed, route_problems = cluster_route.observe(objects.get(cluster_route.KEY))
    found = status.observe(objects.get(manifests.key(bound.spec)), bound.spec.workers)
    workers = {} if found.ready is None else {bound.spec.role: found.ready}
    return Observation(workers, found.is_complete, is_routed, (*found.problems, *route_problems))
