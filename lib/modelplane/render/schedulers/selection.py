"""The offered schedulers, and which of them can place a workload's pods."""

from __future__ import annotations

from collections.abc import Mapping

from modelplane.errors import InvalidInput, Unsupported
from modelplane.render.scheduler import PodMarks, Scheduler
from modelplane.render.schedulers import kube_scheduler
from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts

SCHEDULERS: dict[str, Scheduler] = {"None": kube_scheduler}
"""Every scheduler by its name in spec.scheduler.type; the order does not matter."""


def is_offered(name: str) -> bool:
    """Return whether pods are rendered for the scheduler of that name."""
    return name in SCHEDULERS


def refusals(workload: Workload) -> Mapping[str, str]:
    """Return for every offered scheduler why it cannot place the workload's pods, empty text where it can."""
    return {name: _refusal(workload, scheduler) for name, scheduler in sorted(SCHEDULERS.items())}


def marks(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
    """Return what a pod of the role carries for the scheduler of its cluster.

    A replica that ran before its cluster got a scheduler that is not offered stays as it was placed: without marks.
    """
    return SCHEDULERS.get(facts.scheduler, kube_scheduler).marks(replica, bound, facts)


def _refusal(workload: Workload, scheduler: Scheduler) -> str:
    try:
        scheduler.check(workload)
    except (InvalidInput, Unsupported) as error:
        return str(error)
    return ""
