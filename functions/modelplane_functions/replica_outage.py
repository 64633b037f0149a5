"""The outage of a replica: since when it does not serve although it once did, and the cause in its cluster.

The time is recorded when the outage begins, because a condition's own time changes with its words. Where a caller has
no clock, none begins. While the replica cannot be seen, what was recorded holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import minutes, seen
from modelplane.render import outages
from modelplane.render.progress import Known, Progress
from modelplane.workload.model import Replica
from modelplane_functions.exchange import Observed, Resource
from modelplane_functions.replica_pods import Pods

Json: TypeAlias = Any

_SERVED = frozenset({"Running", "Degraded"})


def encode(observed: Observed, replica: Replica, progress: Progress, pods: Pods) -> dict[str, Json]:
    """Return status.down, nothing for a replica that serves or never did."""
    before = seen.at(observed.status, "down")
    known = before if isinstance(before, Mapping) and minutes.read(seen.text(before.get("since"))) is not None else None
    if Known.YES in (progress.serving.known, progress.workload.known):
        return {}
    if Known.UNKNOWN in (progress.serving.known, progress.workload.known):
        return {} if known is None else {"down": dict(known)}
    if known is None:
        if observed.minute is None or seen.text(observed.status.get("phase")) not in _SERVED:
            return {}
        known = {"since": minutes.written(observed.minute)}
    cause = outages.cause(pods.read(replica), progress.workload.reason)
    told = {} if cause is None else {"cause": str(cause)}
    return {"down": {**known, **told}}


def failing(child: Resource, recovery: int | None, minute: int | None) -> str:
    """Return the cause of an outage that has lasted for `recovery` minutes, empty where none has."""
    since = minutes.read(seen.text(seen.at(child, "status", "down", "since")))
    cause = seen.text(seen.at(child, "status", "down", "cause"))
    if recovery is None or minute is None or since is None or not cause or minute - since < recovery:
        return ""
    return f"it does not serve since {minutes.written(since)} ({cause})"


def is_down(child: Resource) -> bool:
    """Return whether the cluster of a replica keeps it down, for whatever time."""
    return bool(seen.text(seen.at(child, "status", "down", "cause")))
