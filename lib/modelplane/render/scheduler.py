"""Cluster scheduler: the interface between the pods of a replica and the scheduler of their cluster.

A scheduler is a module under `render.schedulers` with the functions of `Scheduler`. Schedulers know neither each other
nor backends, and read only their arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from modelplane.render.backend import Problem
from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any
Object: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class PodMarks:
    """The fields by which a scheduler recognizes its pods. An empty `scheduler_name` means kube-scheduler.

    `labels` and `annotations` are of the pods, `object_labels` and `object_annotations` of the object that runs them.
    `priority_class` is the PriorityClass of pods whose author names none. `namespace_labels` are of their namespace.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    scheduler_name: str = ""
    object_labels: Mapping[str, str] = field(default_factory=dict)
    object_annotations: Mapping[str, str] = field(default_factory=dict)
    priority_class: str = ""
    namespace_labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue that a rendered object waits in, and what tells about the waiting.

    `resource` is the queue as a bare manifest, which is only read. `entries` is {apiVersion, kind} of the objects in
    which the scheduler notes what waits, and `labels` are those of the entries of one replica.
    """

    scheduler: str
    name: str
    resource: Object
    entries: Object
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sight:
    """The objects of a queue as they were read last.

    `queue` is None if it has not been read, and `is_absent` is True if the cluster has no such queue. `unread` says why
    the entries or the queue cannot be read, empty if they can.
    """

    entries: tuple[Object, ...] = ()
    pods: tuple[Object, ...] = ()
    queue: Object | None = None
    is_absent: bool = False
    unread: str = ""


class Scheduler(Protocol):
    """The interface of a cluster scheduler."""

    def check(self, workload: Workload, backend: str) -> None:
        """Check that pods of the workload, as the backend renders them, can be queued and placed as whole gangs.

        Raises: Unsupported if they never can, with what can.
        """

    def marks(self, replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
        """Return the marks of a pod of the role for the scheduler of `facts`."""

    def frozen(self, resource: Object) -> Json:
        """Return the fields of a rendered object that the scheduler lets nobody change, None if it is none of its own.

        An object that differs in it from the one that is there replaces that one.
        """

    def queue(self, replica: Replica, resource: Object) -> Queue | None:
        """Return the queue of a rendered object, None if the object is none of this scheduler."""

    def quota(self, facts: ClusterFacts) -> Object | None:
        """Return the object with the quota of the cluster's queue as a bare manifest, None if none is named."""

    def limit(self, holder: Object, resource: str) -> int | None:
        """Return the most devices that the object of `quota` lets its queue hold, None where it sets no limit."""

    def waits(self, queue: Queue, sight: Sight) -> Problem | None:
        """Return the reason why the replica waits in its queue, None if nothing says that it does."""
