"""Selection of the cluster scheduler, and the refusals of each for a workload."""

from __future__ import annotations

from collections.abc import Mapping

from modelplane.errors import InvalidInput, Unsupported
from modelplane.render.scheduler import PodMarks, Scheduler
from modelplane.render.schedulers import kube_scheduler
from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts

SCHEDULERS: dict[str, Scheduler] = {"None": kube_scheduler}
"""The schedulers by their name in spec.scheduler.type; their order does not matter."""


def is_offered(name: str) -> bool:
    """Return whether pods can be rendered for the scheduler with that name."""
    return name in SCHEDULERS


def refusals(workload: Workload) -> Mapping[str, str]:
    """Return the reason why each offered scheduler cannot place the pods, empty if it can."""
    return {name: _refusal(workload, scheduler) for name, scheduler in sorted(SCHEDULERS.items())}


def marks(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
    """Return the marks of a pod of the role for the scheduler of its cluster.

    A replica on a cluster whose scheduler is not offered was placed before the cluster got it, and stays without marks.
    """
    return SCHEDULERS.get(facts.scheduler, kube_scheduler).marks(replica, bound, facts)


def _refusal(workload: Workload, scheduler: Scheduler) -> str:
    try:
        scheduler.check(workload)
    except (InvalidInput, Unsupported) as error:
        return str(error)
    return ""
