"""The replicas of a cluster that may be moved because the cluster keeps them down: one at a time.

Its deployment offers one, once it was down for long enough and a successor has a place elsewhere. The cluster is the
only one who sees all that stand on it, so it says whose turn it is: a failure that takes many replicas at once moves
them one after the other, whatever number of deployments they belong to. A turn that is not over after an hour, because
the successor does not start or the deployment does not answer, keeps nobody else waiting.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from modelplane import minutes, seen
from modelplane.placement.snapshot import ReplicaClaim
from modelplane_functions.exchange import Observed

Json: TypeAlias = Any

TURN_MINUTES = 60
"""The minutes after which the next replica gets its turn beside one whose move is not over."""
TURNS_MAX = 16
"""The most replicas that are named; the definition allows no more."""


def encode(observed: Observed, claims: Iterable[ReplicaClaim]) -> dict[str, Json]:
    """Return status.recovering and status.recoveringSince, the minute in which the last of them got its turn.

    Who has a turn keeps it while it is offered. The next is the first by priority and age.
    """
    offered = {claim.key: claim for claim in claims if claim.recovers and claim.holds}
    listed = observed.status.get("recovering")
    found = [key for key in listed if seen.text(key) in offered] if isinstance(listed, list) else []
    turns = list(dict.fromkeys(found))
    now, since = observed.minute, minutes.read(seen.text(observed.status.get("recoveringSince")))
    if now is not None and (since is None or since > now):
        since = now
    waiting = offered.keys() - set(turns)
    is_over = now is not None and since is not None and now - since >= TURN_MINUTES
    if waiting and (not turns or is_over):
        turns.append(min(waiting, key=lambda key: (-offered[key].priority, offered[key].created, key)))
        since = now
    if not turns:
        return {}
    told = {} if since is None else {"recoveringSince": minutes.written(since)}
    return {"recovering": turns[-TURNS_MAX:], **told}
