"""Kueue, which keeps the pods of an object gated until its LocalQueue has quota for them.

Kueue reads the queue and the priority class as labels of the object that runs the pods, and its webhooks carry them to
the pods. KServe carries labels of the prefix kueue.x-k8s.io from its service to what it makes.
Source: Kueue v0.19.2 (pkg/controller/jobs/{deployment,leaderworkerset,pod,rayservice}, pkg/dra, pkg/util/pod SpecShape;
apis/kueue/v1beta2), KServe v0.20.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from modelplane import names, seen
from modelplane.devices.model import Mode
from modelplane.errors import Unsupported
from modelplane.render.backend import Problem
from modelplane.render.scheduler import Json, Object, PodMarks, Queue, Sight
from modelplane.render.schedulers import waiting
from modelplane.workload.model import BoundRole, Replica, Workload
from modelplane.workload.site import ClusterFacts

NAME = "Kueue"
API_VERSION = "kueue.x-k8s.io/v1beta2"
QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
GATE = "kueue.x-k8s.io/admission"

_REFUSED = {
    "KubeRay": (
        "Kueue writes the node selector and tolerations of a ResourceFlavor into the RayService that it admits, which "
        "would be reverted, and the pods would restart without end"
    ),
    "KAITO": "its StatefulSets have no label of a queue, and Kueue does not support to scale those",
    "Dynamo": (
        "its operator passes no label of a graph on to what runs the pods, and Kueue would admit a worker over several "
        "nodes pod by pod"
    ),
    "VLLMStack": "a VLLMRuntime has no field for the labels of its Deployment",
}
_SHAPE = (
    *("nodeSelector", "affinity", "tolerations", "runtimeClassName", "priority", "topologySpreadConstraints"),
    *("overhead", "resourceClaims"),
)
# Reasons of a Workload whose quota is not reserved. Without the gate UnadmittedWorkloadsObservability Kueue v0.19 gives
# Pending or Inadmissible for all of them.
_REFUSES = frozenset({"ExceedsMaxQuota", "NoMatchingFlavor", "Misconfigured", "Inadmissible"})
_STOPPED = frozenset({"Suspended", "OnHold", "AdmissionGated"})


def check(workload: Workload, backend: str) -> None:
    """Check that Kueue can count what the pods claim, and gate the pods of one worker together.

    Raises: Unsupported if it cannot.
    """
    waiting.check_backend(backend, _REFUSED, NAME, "KServe, LLMD or Native")
    for role in workload.roles:
        for request in role.requests:
            if request.alternatives or request.mode is Mode.ALL:
                what = "alternatives" if request.alternatives else "every matching device"
                raise Unsupported(
                    f"request {request.name} of {role.role} asks for {what}, which Kueue cannot count; ask for a count "
                    "of one kind of device, or use a cluster without Kueue",
                    reason="BackendUnavailable",
                )


def marks(replica: Replica, bound: BoundRole, facts: ClusterFacts) -> PodMarks:
    """Return the labels of the object: its queue, and the WorkloadPriorityClass of the replica's priority."""
    priority = waiting.priority_class(replica, facts)
    return PodMarks(
        object_labels={QUEUE: facts.queue, **({PRIORITY: priority} if priority else {})},
        # The Kueue that Modelplane installs looks at namespaces with this label alone.
        namespace_labels={names.LABEL_MANAGED: "true"},
    )


def frozen(resource: Object) -> Json:
    """Return the queue, whether there is a priority class, and of gangs the size and the shape of their pods.

    Kueue's webhooks refuse a change of the first two while a pod is ready, and of the others always.
    """
    labels = seen.at(resource, "metadata", "labels")
    if not seen.text(seen.at(labels, QUEUE)):
        return None
    common = [seen.at(labels, QUEUE), bool(seen.at(labels, PRIORITY))]
    return [*common, *_gangs(seen.text(resource.get("kind")), seen.at(resource, "spec"))]


def queue(replica: Replica, resource: Object) -> Queue | None:
    """Return the LocalQueue of an object with its label. The entries are Workloads, found by a label of the pods.

    Kueue gives that label to a Workload if its configuration names it (integrations.labelKeysToCopy).
    """
    name = seen.text(seen.at(resource, "metadata", "labels", QUEUE))
    if not name:
        return None
    return Queue(
        scheduler=NAME,
        name=name,
        resource={
            "apiVersion": API_VERSION,
            "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": replica.namespace},
        },
        entries={"apiVersion": API_VERSION, "kind": "Workload"},
        labels={names.LABEL_REPLICA: replica.name},
    )


def quota(facts: ClusterFacts) -> Object | None:
    """Return the ClusterQueue that the cluster names."""
    if facts.quota is None or not facts.quota.holder:
        return None
    return {"apiVersion": API_VERSION, "kind": "ClusterQueue", "metadata": {"name": facts.quota.holder}}


def limit(holder: Object, resource: str) -> int | None:
    """Return the nominal quota over all flavors, and what may be borrowed; a cohort without such a limit has none."""
    groups = seen.objects(seen.at(holder, "spec", "resourceGroups"))
    flavors = [one for group in groups for one in seen.objects(group.get("flavors"))]
    found = [one for flavor in flavors for one in seen.objects(flavor.get("resources")) if one.get("name") == resource]
    if not found:
        return None
    total = [waiting.whole(one.get("nominalQuota")) for one in found]
    if seen.text(seen.at(holder, "spec", "cohortName")):
        total += [waiting.whole(one.get("borrowingLimit")) for one in found]
    return waiting.added(total)


def waits(queue: Queue, sight: Sight) -> Problem | None:
    """Return the reason why Workloads of a replica wait; without any, that pods are gated or the queue is missing."""
    where = f"LocalQueue {_place(queue)}"
    found = sorted(filter(None, (_waiting(one, where, queue, sight) for one in sight.entries)))
    if found:
        first = found[0]
        more = (
            f" ({len(found)} of {len(sight.entries)} Workloads of the replica wait)" if len(sight.entries) > 1 else ""
        )
        return first.problem(more)
    if sight.entries:
        return None
    missing = _missing(where, queue, sight)
    is_placed = any(seen.text(seen.at(pod, "spec", "nodeName")) for pod in sight.pods)
    if missing is not None and not is_placed:
        return missing.problem()
    gated = sum(_is_gated(pod) for pod in sight.pods)
    if not gated:
        return None
    why = sight.unread or (
        f"its Workloads are not found by the label {names.LABEL_REPLICA}; name that label in "
        "integrations.labelKeysToCopy of Kueue's configuration"
    )
    told = f"{gated} pods wait in {where} of Kueue; the reason is not known: {why}"
    return waiting.Waiting(waiting.Rank.PENDING, "QueuePending", told).problem()


def _waiting(entry: Object, where: str, queue: Queue, sight: Sight) -> waiting.Waiting | None:
    """Return what one Workload waits for, None if it is admitted."""
    conditions = seen.conditions(entry.get("status"))
    removed = conditions.get("Evicted")
    is_removed = seen.verdict(removed) is True
    is_admitted = seen.verdict(conditions.get("Admitted")) is True and not is_removed
    if is_admitted or seen.verdict(conditions.get("Finished")) is True:
        return None
    if is_removed:
        return _removed(removed, where)
    reserved = conditions.get("QuotaReserved")
    if seen.verdict(reserved) is True:
        checks = "; ".join(_checks(entry)) or waiting.message(conditions.get("Admitted"))
        return waiting.Waiting(waiting.Rank.CHECKED, "AdmissionCheck", f"{where} has quota for it: {checks}")
    return _missing(where, queue, sight) or _unreserved(reserved, where)


def _removed(condition: Object | None, where: str) -> waiting.Waiting:
    """Return how a Workload that was admitted lost its place. One that was preempted waits again."""
    reason = seen.text(seen.at(condition, "reason"))
    told = f"it lost its place in {where}: {waiting.message(condition)}"
    if reason == "Deactivated":
        return waiting.Waiting(waiting.Rank.REFUSED, "QueueRefuses", f"{told}; set spec.active of its Workload to true")
    return waiting.Waiting(waiting.Rank.PREEMPTED, "Preempted" if reason == "Preempted" else "QueueStopped", told)


def _unreserved(condition: Object | None, where: str) -> waiting.Waiting:
    if condition is None:
        return waiting.Waiting(waiting.Rank.PENDING, "QueuePending", f"{where} of Kueue has not looked at it yet")
    reason, told = seen.text(condition.get("reason")), waiting.message(condition)
    if reason in _REFUSES:
        told = f"{where} does not admit it, and waiting alone does not change that: {told}"
        return waiting.Waiting(waiting.Rank.REFUSED, "QueueRefuses", told)
    if reason in _STOPPED:
        return waiting.Waiting(waiting.Rank.STOPPED, "QueueStopped", f"{where} is stopped: {told}")
    return waiting.Waiting(waiting.Rank.PENDING, "QueuePending", f"it waits in {where} of Kueue: {told}")


def _missing(where: str, queue: Queue, sight: Sight) -> waiting.Waiting | None:
    """Return that the queue does not exist or takes nothing. Kueue itself is silent about it."""
    if sight.is_absent:
        told = (
            f"{where} does not exist, and Kueue says nothing of it; create it, or correct spec.scheduler.queueName of "
            "the cluster for new replicas"
        )
        return waiting.Waiting(waiting.Rank.MISSING, "QueueMissing", told)
    active = seen.condition(seen.at(sight.queue, "status"), "Active")
    if seen.verdict(active) is False:
        cluster_queue = seen.text(seen.at(sight.queue, "spec", "clusterQueue")) or "?"
        told = f"{where} admits nothing, see ClusterQueue {cluster_queue}: {waiting.message(active)}"
        return waiting.Waiting(waiting.Rank.MISSING, "QueueMissing", told)
    return None


def _checks(entry: Object) -> Iterator[str]:
    for one in seen.objects(seen.at(entry, "status", "admissionChecks")):
        if seen.text(one.get("state")) != "Ready":
            name, state = seen.text(one.get("name")) or "?", seen.text(one.get("state")) or "Pending"
            yield f"AdmissionCheck {waiting.cut(name)} is {waiting.cut(state)}: {waiting.message(one)}"


def _is_gated(pod: Object) -> bool:
    return any(seen.text(gate.get("name")) == GATE for gate in seen.objects(seen.at(pod, "spec", "schedulingGates")))


def _place(queue: Queue) -> str:
    return names.qualified(str(seen.at(queue.resource, "metadata", "namespace")), queue.name)


def _gangs(kind: str, spec: Json) -> Iterator[Json]:
    """Yield the frozen fields of gangs: of a LeaderWorkerSet, or of the roles of a service that KServe runs as one."""
    if kind == "LeaderWorkerSet":
        template = seen.at(spec, "leaderWorkerTemplate")
        yield seen.at(template, "size")
        for key in ("leaderTemplate", "workerTemplate"):
            pod = seen.at(template, key, "spec")
            yield None if pod is None else _shape(pod)
    elif kind == "LLMInferenceService":
        for role in (spec, seen.at(spec, "prefill")):
            is_gang = isinstance(role, Mapping) and role.get("worker") is not None
            yield (
                [seen.at(role, "parallelism"), *(_shape(seen.at(role, key)) for key in ("template", "worker"))]
                if is_gang
                else None
            )


def _shape(pod: Json) -> Json:
    """Return the fields of a PodSpec of which Kueue refuses a change in a gang."""
    lists = ("initContainers", "containers")
    return [
        [seen.at(pod, key) for key in _SHAPE],
        *(
            [[seen.at(one, "resources", "requests"), one.get("ports")] for one in seen.objects(seen.at(pod, key))]
            for key in lists
        ),
    ]
