"""The state of a role's workers as an observed Deployment or LeaderWorkerSet reports it.

Neither says why a pod does not start; only the pod does (see render.pod_errors). Both statuses omit a count of zero, so
a count is known once the controller has written any status.
Source: Kubernetes v1.36 (apps/v1), LeaderWorkerSet v0.8.0, which counts groups and has no condition for a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import operated, shapes
from modelplane.render.backend import Problem

Json: TypeAlias = Any
Object = seen.Object

_STATUS = shapes.fields(
    replicas=shapes.COUNT, updatedReplicas=shapes.COUNT, readyReplicas=shapes.COUNT, availableReplicas=shapes.COUNT
)
SHAPES: Mapping[str, Json] = {
    "Deployment": shapes.fields(spec=shapes.fields(replicas=shapes.COUNT, template=shapes.TEMPLATE), status=_STATUS),
    "LeaderWorkerSet": shapes.fields(
        spec=shapes.fields(
            replicas=shapes.COUNT,
            leaderWorkerTemplate=shapes.fields(leaderTemplate=shapes.TEMPLATE, workerTemplate=shapes.TEMPLATE),
        ),
        status=_STATUS,
    ),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """The workers of one role as observed. `ready` is None until the controller has counted them.

    `is_complete` is True if all workers exist with the current template and are ready.
    """

    ready: int | None
    is_complete: bool
    problems: tuple[Problem, ...] = ()


def observe(observed: Object | None, wanted: int) -> Seen:
    """Return the state of the object that runs `wanted` workers, None if it is not observed."""
    if observed is None:
        return Seen(None, is_complete=False)
    stale = tuple(_stale(observed))
    # A condition says nothing of the generation it is about, so those of an older one are passed over.
    problems = stale or tuple(_problems(observed))
    ready = _count(observed, "readyReplicas")
    return Seen(
        None if ready is None else min(ready, wanted),
        is_complete=not stale and _is_complete(observed, wanted),
        problems=problems,
    )


def _count(observed: Object, key: str) -> int | None:
    """Return a count of the status, None until its controller has written one."""
    status = seen.at(observed, "status")
    if not isinstance(status, Mapping) or not seen.conditions(status):
        return None
    return 0 if status.get(key) is None else seen.count(status[key])


def _stale(observed: Object) -> Iterator[Problem]:
    """Yield a problem where the controller has not processed the current Deployment. That of gangs reports none."""
    kind = _kind(observed)
    if kind == "Deployment":
        yield from operated.stale(observed, kind, "the cluster's controller manager")
    elif seen.count(seen.at(observed, "status", "observedGeneration")) is not None:
        yield from operated.stale(observed, kind, "its controller")


def _problems(observed: Object) -> Iterator[Problem]:
    conditions = seen.conditions(observed.get("status"))
    failure = conditions.get("ReplicaFailure")
    if seen.verdict(failure) is True:
        yield _problem(failure, "ReplicaFailure", "pods cannot be created")
    progressing = conditions.get("Progressing")
    if _kind(observed) == "Deployment" and seen.verdict(progressing) is False:
        stuck = _problem(progressing, "Progressing", "pods do not become ready; see the events of the pods")
        yield replace(stuck, is_count=True)


def _problem(condition: Object | None, name: str, what: str) -> Problem:
    message = seen.text(seen.at(condition, "message")) or "no message"
    return Problem(seen.text(seen.at(condition, "reason")) or name, f"{what}: {message}", is_final=True)


def _is_complete(observed: Object, wanted: int) -> bool:
    """Return whether all workers exist with the current template and are ready."""
    counts = ["updatedReplicas", "readyReplicas"]
    if _kind(observed) == "Deployment":
        counts.append("availableReplicas")
    elif seen.verdict(seen.conditions(observed.get("status")).get("Available")) is not True:
        return False
    is_alone = _count(observed, "replicas") == wanted
    return is_alone and all((_count(observed, key) or 0) >= wanted for key in counts)


def _kind(observed: Object) -> str:
    return seen.text(observed.get("kind"))
