"""Selection of the cluster scheduler, and the refusals of each for a workload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from modelplane.errors import InvalidInput, Unsupported
from modelplane.render.backend import Problem
from modelplane.render.scheduler import Object, PodMarks, Queue, Scheduler, Sight
from modelplane.render.schedulers import kai, kube_scheduler, kueue, volcano
from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts

SCHEDULERS: dict[str, Scheduler] = {"None": kube_scheduler, "KAI": kai, "Kueue": kueue, "Volcano": volcano}
"""The schedulers by their name in spec.scheduler.type; their order does not matter."""


def is_offered(name: str) -> bool:
    """Return whether pods can be rendered for the scheduler with that name."""
    return name in SCHEDULERS


def refusals(workload: Workload, backend: str) -> Mapping[str, str]:
    """Return the reason why each offered scheduler cannot place what the backend renders, empty if it can."""
    return {name: _refusal(workload, backend, scheduler) for name, scheduler in sorted(SCHEDULERS.items())}


def refuses(workload: Workload, backends: Iterable[str], scheduler: str) -> Mapping[str, str]:
    """Return the backends whose pods a scheduler cannot place, each with the reason; none for one that is not offered.

    A cluster with a scheduler that is not offered takes no replica at all, whatever its backend.
    """
    found = SCHEDULERS.get(scheduler, kube_scheduler)
    told = {name: _refusal(workload, name, found) for name in backends}
    return {name: why for name, why in told.items() if why}


def refusal(replica: Replica, scheduler: str) -> str:
    """Return the reason why a scheduler cannot place the pods of a replica, empty if it can or is not offered."""
    roles = tuple(bound.spec for bound in replica.roles)
    workload = Workload(replica.namespace, replica.deployment, replica.model, replica.engine, roles)
    return refuses(workload, (replica.backend,), scheduler).get(replica.backend, "")


def marks(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
    """Return the marks of a pod of the role for the scheduler of its cluster.

    A replica on a cluster whose scheduler is not offered was placed before the cluster got it, and stays without marks.
    """
    return SCHEDULERS.get(facts.scheduler, kube_scheduler).marks(replica, bound, facts)


def is_replaced(before: Object, now: Object) -> bool:
    """Return whether an object has to be made anew, because a scheduler refuses the change of it."""
    return any(scheduler.frozen(before) != scheduler.frozen(now) for scheduler in SCHEDULERS.values())


def queue(replica: Replica, resources: Iterable[Object]) -> Queue | None:
    """Return the queue of the objects that run the pods of a replica, None if they have none."""
    for resource in resources:
        for scheduler in SCHEDULERS.values():
            found = scheduler.queue(replica, resource)
            if found is not None:
                return found
    return None


def quota(facts: ClusterFacts) -> Object | None:
    """Return the object with the quota of the cluster's queue as a bare manifest, None if none is named."""
    return SCHEDULERS.get(facts.scheduler, kube_scheduler).quota(facts)


def limit(facts: ClusterFacts, holder: Object) -> int | None:
    """Return the most devices that the cluster's queue may hold by the object of `quota`, None without a limit."""
    resource = "" if facts.quota is None else facts.quota.resource
    return SCHEDULERS.get(facts.scheduler, kube_scheduler).limit(holder, resource)


def waits(queue: Queue, sight: Sight) -> Problem | None:
    """Return the reason why a replica waits in its queue, None if nothing says that it does."""
    return SCHEDULERS.get(queue.scheduler, kube_scheduler).waits(queue, sight)


def _refusal(workload: Workload, backend: str, scheduler: Scheduler) -> str:
    try:
        scheduler.check(workload, backend)
    except (InvalidInput, Unsupported) as error:
        return str(error)
    return ""
