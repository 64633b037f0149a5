"""Progress of a staging Job, from the observed claim, Job and pods: what is reported of a ModelCacheCopy.

A copy that was complete stays so while its claim is the same one: a Job that is gone, a cluster that cannot be reached
and a provider that starts anew take nothing away. No message of a container is told; the exit codes of the program say
why it ended, and of its termination message only a commit is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import pod_errors, staging, staging_program
from modelplane.workload import cached

Json: TypeAlias = Any
Object: TypeAlias = Mapping[str, Json]

STARTING = "Starting"
_EXIT_CODE = re.compile(r"exit code (\d{1,3})")


@dataclass(frozen=True, slots=True)
class Seen:
    """The observed objects of a copy, None or empty where they are not observed.

    `unapplied` says why an object of it could not be applied or read, empty if all could.
    """

    claim: Object | None = None
    job: Object | None = None
    pods: Sequence[Object] = ()
    unapplied: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress: complete, given up, running or waiting, with a reason and a message."""

    is_ready: bool = False
    is_final: bool = False
    is_running: bool = False
    reason: str = ""
    message: str = ""


def claim_uid(claim: Object | None) -> str:
    """Return the identity of the observed claim, empty while none is observed."""
    return seen.text(seen.at(claim, "metadata", "uid"))


def is_lost(claim: Object | None, filled: str) -> bool:
    """Return whether the claim that was filled is known not to be there any more."""
    uid = claim_uid(claim)
    return (bool(uid) and uid != filled) or seen.at(claim, "status", "phase") == "Lost"


def commit_in(pods: Sequence[Object]) -> str:
    """Return the commit that a pod has resolved the revision to, empty while none has."""
    for pod in sorted(pods, key=_name):
        for container in seen.objects(seen.at(pod, "status", "initContainerStatuses")):
            ended = seen.at(container, "state", "terminated")
            told = seen.text(seen.at(ended, "message")).strip()
            is_resolver = container.get("name") == staging.RESOLVER and seen.at(ended, "exitCode") == 0
            if is_resolver and cached.is_commit(told):
                return told
    return ""


def judge(found: Seen) -> Progress:
    """Return the progress of a copy that is not complete yet, as far as it is known."""
    if _condition(found.job, "Complete") and claim_uid(found.claim):
        return Progress(is_ready=True, message="the files are complete")
    failed = _failed(found)
    if failed is not None:
        return failed
    running = [pod for pod in found.pods if _is_running(pod)]
    failures = seen.count(seen.at(found.job, "status", "failed")) or 0
    before = f"; {failures} {'pod has' if failures == 1 else 'pods have'} failed before" if failures else ""
    if running:
        resolving = not all(_is_staging(pod) for pod in running)
        what = "the revision is resolved" if resolving else "the files are fetched"
        return Progress(is_running=True, reason="Fetching", message=what + before + _why(found.pods))
    waiting = pod_errors.explain_pods([pod for pod in found.pods if not _has_ended(pod)])
    if waiting is not None:
        return Progress(reason=waiting.reason, message=waiting.message + before)
    if found.unapplied:
        return Progress(reason="NotApplied", message=found.unapplied)
    if failures:
        return Progress(is_running=True, reason="Retrying", message=f"another pod is started{before}{_why(found.pods)}")
    if seen.count(seen.at(found.job, "status", "active")):
        return Progress(is_running=True, reason="Fetching", message="a pod fetches the files")
    return Progress(reason=STARTING, message="the claim is made, and a pod that fills it is started")


def _failed(found: Seen) -> Progress | None:
    condition = seen.condition(seen.at(found.job, "status"), "Failed")
    if seen.verdict(condition) is not True:
        return None
    said = seen.text(condition.get("message"))
    code = _EXIT_CODE.search(said)
    known = staging_program.EXITS.get(int(code[1])) if code else _exit(found.pods)
    again = "then give the ModelCache the annotation modelplane.ai/stage-again with a new text"
    if known is not None:
        return Progress(is_final=True, reason=known.reason, message=f"{known.message}; {again}")
    reason = seen.text(condition.get("reason")) or "JobFailed"
    return Progress(is_final=True, reason=reason, message=f"no further pod is started: {pod_errors.cut(said)}; {again}")


def _exit(pods: Sequence[Object]) -> staging_program.Exit | None:
    """Return the meaning of the exit code of the last pod that ended with one that is known."""
    for pod in sorted(pods, key=lambda one: (_created(one), _name(one)), reverse=True):
        for key in ("initContainerStatuses", "containerStatuses"):
            for container in seen.objects(seen.at(pod, "status", key)):
                code = seen.count(seen.at(container, "state", "terminated", "exitCode"))
                known = None if code is None else staging_program.EXITS.get(code)
                if known is not None:
                    return known
    return None


def _why(pods: Sequence[Object]) -> str:
    """Return the error of a pod that has ended, as words that follow others."""
    problem = pod_errors.explain_pods([pod for pod in pods if _has_ended(pod)])
    return "" if problem is None else f": {problem.message}"


def _condition(resource: Object | None, kind: str) -> bool:
    return seen.verdict(seen.condition(seen.at(resource, "status"), kind)) is True


def _has_ended(pod: Object) -> bool:
    return seen.at(pod, "status", "phase") in ("Failed", "Succeeded")


def _is_running(pod: Object) -> bool:
    statuses = seen.objects(seen.at(pod, "status", "initContainerStatuses"))
    resolves = any(isinstance(seen.at(one, "state", "running"), Mapping) for one in statuses)
    return not _has_ended(pod) and (resolves or _is_staging(pod))


def _is_staging(pod: Object) -> bool:
    statuses = seen.objects(seen.at(pod, "status", "containerStatuses"))
    return any(isinstance(seen.at(one, "state", "running"), Mapping) for one in statuses)


def _name(pod: Object) -> str:
    return seen.text(seen.at(pod, "metadata", "name"))


def _created(pod: Object) -> str:
    return seen.text(seen.at(pod, "metadata", "creationTimestamp"))
