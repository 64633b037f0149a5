"""The outage of a replica: since when it does not serve although it once did, and the cause in its cluster.

The time is recorded when the outage begins, because a condition's own time changes with its words. Where a caller has
no clock, none begins. While the replica cannot be seen, what was recorded holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import minutes, names, seen
from modelplane.api.fields import Field
from modelplane.render import outages
from modelplane.render.progress import Known, Progress
from modelplane.workload.model import Replica
from modelplane_functions.exchange import Observed, Resource
from modelplane_functions.replica_pods import Pods

Json: TypeAlias = Any

_SERVED = frozenset({"Running", "Degraded"})


def encode(observed: Observed, replica: Replica, progress: Progress, pods: Pods) -> dict[str, Json]:
    """Return status.down, nothing for a replica that serves or never did.

    It is empty while a replica that served is not seen, and what was recorded of an outage stays.
    """
    before = observed.status.get("down")
    known = _known(before) if isinstance(before, Mapping) else None
    verdicts = (progress.serving.known, progress.workload.known)
    is_new = known is None and observed.minute is not None and seen.text(observed.status.get("phase")) in _SERVED
    if Known.YES in verdicts or (known is None and not is_new):
        return {}
    known = known or {}
    if Known.UNKNOWN in verdicts:
        return {"down": known}
    if observed.minute is not None and _begins(known, observed.minute):
        known = {**known, "since": minutes.written(observed.minute)}
    there = tuple(pods.read(replica))
    cause = outages.cause(there, progress.workload.reason)
    if observed.minute is not None and cause is None and _found_nodes(observed, known, there):
        known = {"since": minutes.written(observed.minute)}
    return {"down": known if cause is None or not known else {**known, "cause": str(cause)}}


def _found_nodes(observed: Observed, known: Resource, pods: tuple[Resource, ...]) -> bool:
    """Return whether pods that had found no node have nodes now: their engines start, as after any restart.

    A move that was offered for it goes on until one of the two serves.
    """
    was_offered = Field(observed.composite).at("metadata", "annotations", names.ANNOTATION_MAY_RECOVER).is_set
    return known.get("cause") == outages.Outage.UNSCHEDULABLE and not was_offered and outages.are_scheduled(pods)


def _begins(known: Resource, minute: int) -> bool:
    """Return whether nothing is known of when an outage began, or a time to come, by a clock that was set back."""
    since = minutes.read(seen.text(known.get("since")))
    return since is None or since > minute


def _known(record: Resource) -> dict[str, Json]:
    """Return what is recorded of an outage, nothing without a time."""
    if minutes.read(seen.text(record.get("since"))) is None:
        return {}
    cause = seen.text(record.get("cause"))
    return {"since": record["since"], **({"cause": cause} if cause in set(outages.Outage) else {})}


def failing(child: Resource, recovery: int | None, minute: int | None) -> str:
    """Return the cause of an outage that has lasted for `recovery` minutes, empty where none has."""
    since = minutes.read(seen.text(seen.at(child, "status", "down", "since")))
    cause = seen.text(seen.at(child, "status", "down", "cause"))
    if recovery is None or minute is None or since is None or not cause or minute - since < recovery:
        return ""
    if not _is_seen(child):
        return ""
    return f"it does not serve since {minutes.written(since)} ({cause})"


def _is_seen(child: Resource) -> bool:
    """Return whether the replica's state is one of now: what was down when it was last seen may serve."""
    conditions = {kind: seen.condition(child.get("status"), kind) for kind in ("WorkloadReady", "Serving")}
    is_stale = seen.verdict(seen.condition(child.get("status"), "StatusStale")) is True
    return not is_stale and all(one.get("status") != "Unknown" for one in conditions.values())


def is_down(child: Resource) -> bool:
    """Return whether the cluster of a replica keeps it down, for whatever time."""
    return bool(seen.text(seen.at(child, "status", "down", "cause")))
