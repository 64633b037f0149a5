"""The replica of a cluster that may be moved because the cluster keeps it down: one at a time.

Its deployment offers it, once it was down for long enough and a successor has a place elsewhere. The cluster is the
only one who sees all that stand on it, so it says whose turn it is: a failure that takes many replicas at once moves
them one after the other, whatever number of deployments they belong to.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.placement.snapshot import ReplicaClaim
from modelplane_functions.exchange import Observed

Json: TypeAlias = Any


def encode(observed: Observed, claims: Iterable[ReplicaClaim]) -> dict[str, Json]:
    """Return status.recovering: the replica whose turn it was stays, else the first by priority and age."""
    offered = {claim.key: claim for claim in claims if claim.recovers and claim.holds}
    listed = observed.status.get("recovering")
    before = [key for key in listed if seen.text(key) in offered] if isinstance(listed, list) else []
    order = sorted(offered, key=lambda key: (-offered[key].priority, offered[key].created, key))
    turn = [*before, *order][:1]
    return {"recovering": turn} if turn else {}
