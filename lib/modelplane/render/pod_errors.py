"""The first useful error of a replica's pods, as their observed status reports it.

What may never happen here: an error about the content of a status, a message of a container (a program writes it, and
it may hold a secret), or a value of an environment variable. Messages are those of kube-scheduler and of the kubelet.
Source: Kubernetes v1.36 (core/v1 PodStatus; pkg/kubelet/images/types.go, pkg/kubelet/container/sync_result.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render.backend import Problem
from modelplane.workload.model import Replica

Json: TypeAlias = Any
Object = seen.Object

PODS_MAX = 64
"""The number of pods that are looked at; of more, those whose names come first."""
MESSAGE_MAX = 400

# A container waits for these without an error.
_STARTING = frozenset({"", "ContainerCreating", "PodInitializing"})
_CRASHING = "CrashLoopBackOff"
_EXITS = {
    126: "the command cannot be executed",
    127: "the command is not found",
    134: "aborted",
    137: "killed",
    139: "segmentation fault",
    143: "terminated",
}
_REASON = re.compile(r"[A-Za-z](?:[A-Za-z0-9_]{0,62}[A-Za-z0-9])?\Z")
_BLANK = re.compile(r"[\s\x00-\x1f\x7f]+")
# A URL that was signed has its signature in the query; one may have a password before its host.
_QUERY = re.compile(r"(://[^\s?\"'<>]{1,2000})\?[^\s\"'<>]+")
_USER = re.compile(r"://[^\s/@\"'<>]{1,2000}@")


class _Rank(IntEnum):
    """The order of errors: what comes first is more probably the cause of the others."""

    REFUSED = 1
    NOT_SCHEDULED = 2
    DEVICE = 3
    NOT_STARTED = 4
    CRASHED = 5
    INCOMPLETE = 6
    PREPARING = 7


@dataclass(frozen=True, slots=True)
class _Finding:
    rank: _Rank
    reason: str
    message: str


def explain(replica: Replica, pods: Sequence[Object]) -> Problem | None:
    """Return the first useful error of the replica's pods, None where none of them reports one.

    Pods of other replicas, pods that are ready and pods that are being deleted are passed over.
    """
    own = [pod for pod in pods if _is_own(replica, pod) and not seen.at(pod, "metadata", "deletionTimestamp")]
    return _told([*_findings(own), *_incomplete(replica, own)])


def explain_pods(pods: Sequence[Object]) -> Problem | None:
    """Return the first useful error of pods that belong to no replica, None where none of them reports one."""
    return _told(_findings(pods))


def _findings(own: Sequence[Object]) -> list[_Finding]:
    ill = sorted((pod for pod in own if not _is_well(pod)), key=_name)[:PODS_MAX]
    return [finding for pod in ill for finding in _first(pod)]


def _told(found: Sequence[_Finding]) -> Problem | None:
    if not found:
        return None
    first = min(found, key=lambda one: one.rank)
    others = sum(one.rank < _Rank.INCOMPLETE for one in found) - 1
    more = f" ({others} more of its pods report errors)" if others > 0 else ""
    return Problem(first.reason, first.message + more)


def cut(text: str) -> str:
    """Return a message of another program on one line, of bounded length, without the secrets that a URL may hold."""
    # What is cut off first bounds the work below.
    line = _BLANK.sub(" ", text[: 8 * MESSAGE_MAX]).strip()
    plain = _USER.sub("://...@", _QUERY.sub(r"\1?...", line))
    return plain if len(plain) <= MESSAGE_MAX else f"{plain[: MESSAGE_MAX - 3].rstrip()}..."


def _is_own(replica: Replica, pod: Object) -> bool:
    labels = seen.at(pod, "metadata", "labels")
    is_there = seen.at(pod, "metadata", "namespace") == replica.namespace
    return bool(is_there and seen.at(labels, names.LABEL_REPLICA) == replica.name)


def _is_well(pod: Object) -> bool:
    is_done = seen.at(pod, "status", "phase") == "Succeeded"
    return is_done or seen.verdict(seen.condition(pod.get("status"), "Ready")) is True


def _name(pod: Object) -> str:
    return seen.text(seen.at(pod, "metadata", "name"))


def _first(pod: Object) -> Iterator[_Finding]:
    """Yield the first error of a pod, if it has one."""
    found = sorted((*_refused(pod), *_unscheduled(pod), *_of_containers(pod), *_preparing(pod)), key=lambda x: x.rank)
    yield from found[:1]


def _refused(pod: Object) -> Iterator[_Finding]:
    """Yield that the pod has failed: it was evicted, or its node has not admitted it."""
    reason = seen.text(seen.at(pod, "status", "reason"))
    if seen.at(pod, "status", "phase") == "Failed" and reason:
        said = cut(seen.text(seen.at(pod, "status", "message"))) or "no message"
        yield _finding(_Rank.REFUSED, reason, f"pod {cut(_name(pod))} has failed, {cut(reason)}: {said}")


def _unscheduled(pod: Object) -> Iterator[_Finding]:
    condition = seen.condition(pod.get("status"), "PodScheduled")
    if seen.verdict(condition) is False:
        said = cut(seen.text(condition.get("message"))) or "no message"
        reason = seen.text(condition.get("reason")) or "Unschedulable"
        yield _finding(_Rank.NOT_SCHEDULED, reason, f"pod {cut(_name(pod))} is not scheduled: {said}")


def _of_containers(pod: Object) -> Iterator[_Finding]:
    for key, kind in (("initContainerStatuses", "init container"), ("containerStatuses", "container")):
        for container in seen.objects(seen.at(pod, "status", key)):
            if container.get("ready") is not True:
                where = f"{kind} {cut(seen.text(container.get('name')))} of pod {cut(_name(pod))}"
                yield from _devices(container, where)
                yield from _waiting(container, where)
                yield from _crashed(pod, container, where)


def _devices(container: Object, where: str) -> Iterator[_Finding]:
    for entry in seen.objects(container.get("allocatedResourcesStatus")):
        for device in seen.objects(entry.get("resources")):
            if device.get("health") == "Unhealthy":
                what = cut(seen.text(device.get("resourceID"))) or "a device"
                message = f"{where} has an unhealthy device: {what} ({cut(seen.text(entry.get('name')))})"
                yield _Finding(_Rank.DEVICE, "DeviceUnhealthy", message)


def _waiting(container: Object, where: str) -> Iterator[_Finding]:
    waiting = seen.at(container, "state", "waiting")
    reason = seen.text(seen.at(waiting, "reason"))
    if reason not in _STARTING and reason != _CRASHING:
        said = cut(seen.text(seen.at(waiting, "message"))) or "no message"
        yield _finding(_Rank.NOT_STARTED, reason, f"{where} cannot start, {cut(reason)}: {said}")


def _crashed(pod: Object, container: Object, where: str) -> Iterator[_Finding]:
    """Yield that the container has ended, and how; an init container that has completed is ready."""
    is_crashing = seen.at(container, "state", "waiting", "reason") == _CRASHING
    ended = seen.at(container, "state", "terminated")
    if not isinstance(ended, Mapping):
        ended = seen.at(container, "lastState", "terminated")
    if not isinstance(ended, Mapping) and not is_crashing:
        return
    times = seen.count(container.get("restartCount")) or 0
    restarted = f", restarted {times} time{'s' * (times != 1)}" if times else ""
    logs = f"kubectl logs -n {cut(seen.text(seen.at(pod, 'metadata', 'namespace')))} {cut(_name(pod))}"
    name = cut(seen.text(container.get("name")))
    message = f"{where} ended{_how(ended)}{restarted}; {logs} -c {name} --previous shows its output"
    reason = _CRASHING if is_crashing else seen.text(seen.at(ended, "reason"))
    yield _finding(_Rank.CRASHED, reason if reason not in ("", "Error") else "ContainerEnded", message)


def _how(ended: Json) -> str:
    """Return the exit code of a container with its meaning, empty where it is not known."""
    code = seen.count(seen.at(ended, "exitCode"))
    reason = cut(seen.text(seen.at(ended, "reason")))
    if code is None:
        return f" ({reason})" if reason else ""
    meaning = reason if reason not in ("", "Error") else _EXITS.get(code, "")
    return f" with exit code {code}" + (f" ({meaning})" if meaning else "")


def _preparing(pod: Object) -> Iterator[_Finding]:
    """Yield what a scheduled pod without an error waits for: its node, or its init containers."""
    status = pod.get("status")
    if seen.verdict(seen.condition(status, "PodScheduled")) is not True:
        return
    if seen.verdict(seen.condition(status, "PodReadyToStartContainers")) is False:
        what = "claims, volumes and network" if seen.objects(seen.at(pod, "spec", "resourceClaims")) else "volumes"
        node = cut(seen.text(seen.at(pod, "spec", "nodeName"))) or "its node"
        message = f"pod {cut(_name(pod))} waits until {node} has prepared {what}; the events of the pod say more"
        yield _Finding(_Rank.PREPARING, "PreparingPod", message)
    initialized = seen.condition(status, "Initialized")
    if seen.verdict(initialized) is False:
        said = cut(seen.text(initialized.get("message"))) or "no message"
        message = f"pod {cut(_name(pod))} waits for its init containers: {said}"
        yield _Finding(_Rank.PREPARING, "Initializing", message)


def _incomplete(replica: Replica, own: Sequence[Object]) -> Iterator[_Finding]:
    """Yield the roles whose gangs have fewer pods than they need; a role without any pod is not known."""
    for bound in replica.roles:
        if not bound.spec.topology.is_gang:
            continue
        role = str(bound.spec.role)
        there = sum(seen.at(pod, "metadata", "labels", names.LABEL_ROLE) == role for pod in own)
        wanted = bound.spec.workers * bound.spec.topology.nodes
        if 0 < there < wanted:
            message = (
                f"{there} of {wanted} pods of {role} exist, and a worker of several nodes starts with all of its pods"
            )
            yield _Finding(_Rank.INCOMPLETE, "GangIncomplete", message)


def _finding(rank: _Rank, reason: str, message: str) -> _Finding:
    """Return a finding whose reason a condition can have."""
    return _Finding(rank, reason if _REASON.match(reason) else "PodNotReady", message)
