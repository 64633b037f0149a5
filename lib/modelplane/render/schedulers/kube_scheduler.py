"""kube-scheduler, which places every pod without marks."""

from __future__ import annotations

from modelplane.render.scheduler import PodMarks
from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts


def check(workload: Workload) -> None:
    """Accept every workload, because kube-scheduler places every pod."""


def marks(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
    """Return no marks."""
    return PodMarks()
