"""kube-scheduler, which places every pod without marks."""

from __future__ import annotations

from modelplane.render.backend import Problem
from modelplane.render.scheduler import Json, Object, PodMarks, Queue, Sight
from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts


def check(workload: Workload, backend: str) -> None:
    """Accept every workload, because kube-scheduler places every pod."""


def marks(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
    """Return no marks."""
    return PodMarks()


def frozen(resource: Object) -> Json:
    """Return None: kube-scheduler reads pods only."""


def queue(replica: Replica, resource: Object) -> Queue | None:
    """Return None: kube-scheduler has no queues of users."""
    return None


def quota(facts: ClusterFacts) -> Object | None:
    """Return None: there is no queue with a quota."""
    return None


def limit(holder: Object, resource: str) -> int | None:
    """Return None: there is no quota."""
    return None


def waits(queue: Queue, sight: Sight) -> Problem | None:
    """Return None: there is no queue to wait in."""
    return None
