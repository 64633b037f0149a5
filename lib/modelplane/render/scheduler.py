"""The seam between a replica's pods and what places them inside their cluster: kube-scheduler, or one with queues.

A scheduler is a module under `render.schedulers` that offers what `Scheduler` lists; schedulers know nothing of each
other, nor of backends. None of them may read anything but its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts


@dataclass(frozen=True, slots=True)
class PodMarks:
    """The fields of a pod by which a scheduler knows it as one of its own; `scheduler_name` empty: kube-scheduler."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    scheduler_name: str = ""


class Scheduler(Protocol):
    """The offer of a cluster scheduler."""

    def check(self, workload: Workload) -> None:
        """Return when pods of the workload can be placed. Raises: Unsupported where they never can."""

    def marks(self, replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
        """Return what a pod of the role carries so that the scheduler of `facts` places it."""
