"""The situation of a fleet as its documents say it: what is not as wanted, since when, and what it follows from.

Nothing is rehearsed: the conditions are those that the control plane wrote. An object that stands on another one that
is not as wanted follows from it: a replica from its cluster, a deployment from its replicas, a service from what it
sends requests to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api import inference_cluster, replica, replica_endpoint
from modelplane_cli.planning import causes, inspection, replicas
from modelplane_cli.planning.inspection import ServiceState
from modelplane_cli.planning.replicas import DEPLOYMENT, Deployment
from modelplane_cli.planning.routes import SERVICE
from modelplane_cli.simulator import conditions
from modelplane_cli.simulator.definitions import Definitions
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key, Object
from modelplane_cli.simulator.verdict import Failure

Json: TypeAlias = Any

_STANDING = frozenset({"OverCommitted", "Inconsistent"})
"""Reasons of CapacityKnown that name something to do, although its status is True."""


class Severity(IntEnum):
    """The weight of what is not as wanted, the heaviest first."""

    OUTAGE = 0
    """Requests are not answered, or a cluster with replicas does not answer."""
    DEGRADED = 1
    """Less runs than is wanted, or an object is refused."""
    WAITING = 2
    """It is on its way, or nobody can say."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """An object that is not as wanted. `follows` is the object that explains it, None where it explains itself."""

    severity: Severity
    cause: Failure
    more: int
    follows: Key | None

    @property
    def about(self) -> Key:
        """Return the object."""
        return self.cause.about


@dataclass(frozen=True, slots=True)
class Situation:
    """The complaints, worst first, and the number of objects by kind."""

    complaints: tuple[Complaint, ...]
    counts: Mapping[str, int]

    @property
    def is_as_wanted(self) -> bool:
        """Return whether nobody complains."""
        return not self.complaints


def has_status(objects: Mapping[Key, Mapping[str, Json]], kinds: Definitions) -> bool:
    """Return whether any object of ours carries conditions, so that something can be said of it."""
    ours = {kind.kind for kind in kinds}
    return any(
        key.group == names.GROUP and key.kind in ours and isinstance(seen.at(one, "status", "conditions"), list)
        for key, one in objects.items()
    )


def of(world: World, namespace: str | None) -> Situation:
    """Return the situation of all namespaces, or of one and the clusters that its replicas are on."""
    keys = [key for key in world.composites() if _is_asked_for(world, key, namespace)]
    found = [complaint for key in keys if (complaint := _complaint(world, key)) is not None]
    found.sort(key=lambda one: (one.severity, one.follows is not None, one.about.kind, *one.about))
    counts: dict[str, int] = {}
    for key in keys:
        counts[key.kind] = counts.get(key.kind, 0) + 1
    return Situation(tuple(found), counts)


def _is_asked_for(world: World, key: Key, namespace: str | None) -> bool:
    if namespace is None or key.namespace:
        return namespace in (None, key.namespace)
    if key.kind != inference_cluster.KIND:
        return True
    return any(placed.namespace == namespace for placed in _placed(world, key.name))


def _complaint(world: World, key: Key) -> Complaint | None:
    resource = world.store.get(key) or {}
    leaving = seen.text(seen.at(resource, "metadata", "deletionTimestamp"))
    if leaving:
        gone = Failure(key, "Deleted", "Unknown", "BeingDeleted", _why_it_stays(resource), leaving)
        return Complaint(Severity.WAITING, gone, 0, _below(world, key, resource))
    found = [*causes.of(world, key), *_standing(key, resource)]
    if key.kind == SERVICE:
        return _of_service(world, key, found)
    if not found:
        return None
    first = found[0]
    severity = Severity.DEGRADED if first.status == "False" or first.reason in _STANDING else Severity.WAITING
    if first.condition == "ClusterReady" and severity is Severity.DEGRADED and _placed(world, key.name):
        severity = Severity.OUTAGE
    return Complaint(severity, first, len(found) - 1, _below(world, key, resource))


def _of_service(world: World, key: Key, found: list[Failure]) -> Complaint | None:
    state = inspection.of(world, key)
    if not isinstance(state, ServiceState) or (state.is_as_wanted and not found):
        return None
    lost = next((one for one in state.backends if one.causes), None)
    deeper = next((cause for cause in state.causes if cause.about != key), None)
    follows = lost.causes[0].about if lost is not None else None if deeper is None else deeper.about
    is_down = bool(state.backends or state.route.trouble) and not state.route.ready
    since = found[0].since if found else ""
    reason = found[0].reason if found else "NoEndpoints" if is_down else "EndpointsMissing"
    cause = Failure(key, "EndpointsReady", "False", reason, state.message, since)
    return Complaint(Severity.OUTAGE if is_down else Severity.DEGRADED, cause, max(0, len(found) - 1), follows)


def _standing(key: Key, resource: Object) -> Iterator[Failure]:
    told = conditions.find(resource, "CapacityKnown") or {}
    if key.kind == inference_cluster.KIND and told.get("status") == "True" and told.get("reason") in _STANDING:
        said = (seen.text(told.get("reason")), seen.text(told.get("message")))
        yield Failure(key, "CapacityKnown", "True", *said, seen.text(told.get("lastTransitionTime")))


def _below(world: World, key: Key, resource: Object) -> Key | None:
    """Return the object that explains another one, None where it explains itself."""
    if key.kind == DEPLOYMENT:
        return _of_deployment(world, key)
    if key.kind == replica_endpoint.KIND:
        of_replica = Key(names.GROUP, replica.KIND, key.namespace, key.name)
        there = world.store.get(of_replica)
        if there is None:
            return None
        return _below(world, of_replica, there) or (of_replica if causes.of(world, of_replica) else None)
    if key.kind != replica.KIND:
        return None
    cluster = Key(names.GROUP, inference_cluster.KIND, "", seen.text(seen.at(resource, "spec", "clusterName")))
    is_known = world.store.get(cluster) is not None
    return cluster if is_known and any(one.status == "False" for one in causes.of(world, cluster)) else None


def _of_deployment(world: World, key: Key) -> Key | None:
    """Return what keeps the first replica of a deployment from serving. One without a place explains itself."""
    scheduled = conditions.find(world.store.get(key) or {}, "ReplicasScheduled") or {}
    if scheduled.get("status") == "False":
        return None
    for placed in replicas.placed(world.store).by_deployment.get(Deployment(key.namespace, key.name), ()):
        below = _below(world, placed, world.store.get(placed) or {})
        found = below or (placed if causes.of(world, placed) else None)
        if found is not None:
            return found
    return None


def _placed(world: World, cluster: str) -> Sequence[Key]:
    return replicas.placed(world.store).by_cluster.get(cluster, ())


def _why_it_stays(resource: Object) -> str:
    listed = seen.at(resource, "metadata", "finalizers")
    held = ", ".join(str(one) for one in listed) if isinstance(listed, list) else ""
    return f"it is being deleted; it stays while it has the finalizers {held}" if held else "it is being deleted"


# --- as JSON ----------------------------------------------------------------------------------------------------------


def encode(found: Situation) -> dict[str, Json]:
    """Return the situation as JSON."""
    return {
        "asWanted": found.is_as_wanted,
        "counts": dict(sorted(found.counts.items())),
        "complaints": [
            {
                "severity": one.severity.name.capitalize(),
                "kind": one.about.kind,
                "namespace": one.about.namespace,
                "name": one.about.name,
                "condition": one.cause.condition,
                "reason": one.cause.reason,
                "message": one.cause.message,
                "since": one.cause.since or None,
                "more": one.more,
                "follows": None if one.follows is None else inspection.subject(one.follows),
                "explain": explained_by(one),
            }
            for one in found.complaints
        ],
    }


def explained_by(one: Complaint) -> str | None:
    """Return the arguments with which `modelplane explain` says more, None for a kind that it does not take."""
    key = one.follows or one.about
    if key.kind not in inspection.SHORT:
        return None
    return inspection.subject(key) + (f" -n {key.namespace}" if key.namespace else "")
