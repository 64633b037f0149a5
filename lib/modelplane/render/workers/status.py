"""The state of a role's workers as an observed Deployment or LeaderWorkerSet reports it.

Neither says why a pod does not start: that stands with the pod, which is not observed. Zero of a count is left out of
both statuses, so that a count is known once the controller has said anything.
Source: Kubernetes v1.36 (apps/v1), LeaderWorkerSet v0.8.0, which counts groups and has no condition for a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render.backend import Problem

Json: TypeAlias = Any
Object = seen.Object

_ANY = {"x-kubernetes-preserve-unknown-fields": True}
_COUNT = {"type": "integer"}


def _map(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, **_ANY}


_CLAIMS = {"type": "array", "items": _map(resourceClaimTemplateName={"type": "string"})}
_TEMPLATE = _map(spec=_map(resourceClaims=_CLAIMS))
_STATUS = _map(replicas=_COUNT, updatedReplicas=_COUNT, readyReplicas=_COUNT, availableReplicas=_COUNT)
SHAPES: Mapping[str, Json] = {
    "Deployment": _map(spec=_map(replicas=_COUNT, template=_TEMPLATE), status=_STATUS),
    "LeaderWorkerSet": _map(
        spec=_map(replicas=_COUNT, leaderWorkerTemplate=_map(leaderTemplate=_TEMPLATE, workerTemplate=_TEMPLATE)),
        status=_STATUS,
    ),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """The workers of one role as observed. `ready` is None while nobody has counted them.

    `is_complete` is True if all workers are there as they were last rendered, and ready.
    """

    ready: int | None
    is_complete: bool
    problems: tuple[Problem, ...] = ()


def observe(observed: Object | None, wanted: int) -> Seen:
    """Return the state of the object that runs `wanted` workers; None is not observed."""
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
    """Return a count of the status, None while its controller has said nothing."""
    status = seen.at(observed, "status")
    if not isinstance(status, Mapping) or not seen.conditions(status):
        return None
    return 0 if status.get(key) is None else seen.count(status[key])


def _stale(observed: Object) -> Iterator[Problem]:
    """Yield a problem where the controller has not looked at the Deployment as it stands; one of gangs does not say."""
    generation = seen.count(seen.at(observed, "metadata", "generation"))
    looked_at = seen.count(seen.at(observed, "status", "observedGeneration"))
    if generation is None or looked_at == generation or (looked_at is None and _kind(observed) != "Deployment"):
        return
    message = f"generation {looked_at or 0} of {generation} is processed; is the cluster's controller manager running?"
    yield Problem("NotProcessed", f"Deployment: {message}")


def _problems(observed: Object) -> Iterator[Problem]:
    conditions = seen.conditions(observed.get("status"))
    failure = conditions.get("ReplicaFailure")
    if seen.verdict(failure) is True:
        yield _problem(failure, "ReplicaFailure", "pods cannot be made")
    progressing = conditions.get("Progressing")
    if _kind(observed) == "Deployment" and seen.verdict(progressing) is False:
        yield _problem(progressing, "Progressing", "pods do not become ready; the events of the pods say why")


def _problem(condition: Object | None, name: str, what: str) -> Problem:
    message = seen.text(seen.at(condition, "message")) or "no message"
    return Problem(seen.text(seen.at(condition, "reason")) or name, f"{what}: {message}", is_final=True)


def _is_complete(observed: Object, wanted: int) -> bool:
    """Return whether all workers are there as they were last rendered, and ready."""
    counts = ["updatedReplicas", "readyReplicas"]
    if _kind(observed) == "Deployment":
        counts.append("availableReplicas")
    elif seen.verdict(seen.conditions(observed.get("status")).get("Available")) is not True:
        return False
    is_alone = _count(observed, "replicas") == wanted
    return is_alone and all((_count(observed, key) or 0) >= wanted for key in counts)


def _kind(observed: Object) -> str:
    return seen.text(observed.get("kind"))
