"""KAI Scheduler, which places the pods of a PodGroup together, as the share of its Queue allows.

Its podgrouper makes the PodGroups: one for each pod of a Deployment, one for each group of a LeaderWorkerSet with all
of its pods. It looks for the queue among the labels of the topmost owner that it may read, then of the pod. It may not
read objects of KServe, and must not be allowed to: of an unknown kind it makes one PodGroup of one pod.
Source: KAI v0.17.0 (pkg/podgrouper/podgrouper/plugins/{defaultgrouper,leaderworkerset}, pkg/apis/scheduling/v2alpha2).
KAI itself was not run, because no module proxy serves it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from modelplane import names, seen
from modelplane.render.backend import Problem
from modelplane.render.scheduler import Json, Object, PodMarks, Queue, Sight
from modelplane.render.schedulers import waiting
from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts

NAME = "KAI"
SCHEDULER = "kai-scheduler"
QUEUE = "kai.scheduler/queue"

_REFUSED = {
    "KubeRay": "the head of a Ray cluster stands outside of the pools, and KAI would make one gang of all",
    "KAITO": "its StatefulSets belong to an InferenceSet, of whose pods KAI would make one PodGroup",
    "Dynamo": "of a graph without Grove KAI makes PodGroups of one pod, and would tear a worker over several nodes",
    "VLLMStack": "a VLLMRuntime has no field for the scheduler of its pods",
}


def check(workload: Workload, backend: str) -> None:
    """Check that KAI makes a PodGroup of every worker. Raises: Unsupported if it does not."""
    waiting.check_backend(backend, _REFUSED, NAME, "KServe, LLMD or Native")


def marks(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
    """Return the queue as a label of object and pods, the name of the scheduler, and the class of the priority."""
    queue = {QUEUE: facts.queue}
    return PodMarks(
        labels=queue,
        scheduler_name=SCHEDULER,
        object_labels=queue,
        priority_class=waiting.priority_class(replica, facts),
    )


def frozen(resource: Object) -> Json:
    """Return None: KAI reads the labels of pods when they are made, and refuses no change."""


def queue(replica: Replica, resource: Object) -> Queue | None:
    """Return the queue of an object with its label. The entries are PodGroups, with the labels of the object."""
    name = seen.text(seen.at(resource, "metadata", "labels", QUEUE))
    if not name:
        return None
    return Queue(
        scheduler=NAME,
        name=name,
        resource={"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name}},
        entries={"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup"},
        labels={names.LABEL_REPLICA: replica.name},
    )


def quota(facts: ClusterFacts) -> Object | None:
    """Return the Queue of the cluster."""
    if facts.quota is None:
        return None
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": facts.queue}}


def limit(holder: Object, resource: str) -> int | None:
    """Return the limit of the Queue; -1 is none. Its spec has GPUs in devices, which need not be whole."""
    found = seen.at(holder, "spec", "resources", resource, "limit")
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found) or found < 0:
        return None
    return math.floor(found)


def waits(queue: Queue, sight: Sight) -> Problem | None:
    """Return the reason why PodGroups or, without a word of theirs, pods of a replica wait."""
    where = f"Queue {queue.name}"
    if sight.is_absent and not any(seen.text(seen.at(pod, "spec", "nodeName")) for pod in sight.pods):
        told = f"{where} of KAI does not exist; create it, or correct spec.scheduler.queueName of the cluster"
        return waiting.Waiting(waiting.Rank.MISSING, "QueueMissing", told).problem()
    found = sorted(one for entry in sight.entries for one in _told(entry, where))
    found = found or sorted(waiting.unscheduled(sight.pods, SCHEDULER, where))
    return found[0].problem() if found else None


def _told(entry: Object, where: str) -> Iterator[waiting.Waiting]:
    for condition in seen.objects(seen.at(entry, "status", "schedulingConditions")):
        for one in seen.objects(condition.get("reasons")) or (condition,):
            reason = seen.text(one.get("reason"))
            told = waiting.message(one)
            if reason == "QueueDoesNotExist":
                yield waiting.Waiting(waiting.Rank.MISSING, "QueueMissing", f"{where} of KAI: {told}")
            elif reason in ("OverLimit", "NonPreemptibleOverQuota"):
                yield waiting.Waiting(waiting.Rank.PENDING, "QueuePending", f"it waits in {where} of KAI: {told}")
            else:
                yield waiting.Waiting(waiting.Rank.PENDING, "QueuePending", f"KAI does not place it: {told}")
