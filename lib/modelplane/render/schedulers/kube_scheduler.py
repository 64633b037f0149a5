"""kube-scheduler alone: it takes every pod that carries no mark."""

from __future__ import annotations

from modelplane.render.scheduler import PodMarks
from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts


def check(workload: Workload) -> None:
    """Return: kube-scheduler places every pod."""


def marks(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
    """Return no mark."""
    return PodMarks()
