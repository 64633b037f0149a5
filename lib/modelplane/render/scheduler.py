"""Cluster scheduler: the interface between the pods of a replica and the scheduler of their cluster.

A scheduler is a module under `render.schedulers` with the functions of `Scheduler`. Schedulers know neither each other
nor backends, and read only their arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts


@dataclass(frozen=True, slots=True)
class PodMarks:
    """The fields by which a scheduler recognizes its pods. An empty `scheduler_name` means kube-scheduler."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    scheduler_name: str = ""


class Scheduler(Protocol):
    """The interface of a cluster scheduler."""

    def check(self, workload: Workload) -> None:
        """Check that pods of the workload can be placed. Raises: Unsupported if they never can."""

    def marks(self, replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
        """Return the marks of a pod of the role for the scheduler of `facts`."""
