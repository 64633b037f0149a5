"""The cluster's side: which of the replicas that name it hold a place. It is the only writer of its cluster's ledger."""

from __future__ import annotations

from collections.abc import Iterable

from modelplane.placement.model import Accounting, Pool, ReplicaClaim
from modelplane.placement.plan import ClusterAccount


def admit(pools: tuple[Pool, ...], accounting: Accounting, claims: Iterable[ReplicaClaim]) -> ClusterAccount:
    """Return a verdict per claim and the ledger per pool.

    Claims are taken in one order whatever order they come in: those that hold a place, then by priority (higher first), creation time
    and key; each is admitted if it fits beside all admitted before it. `Pool.allocations` is not read: the claims are the truth.
    """
    raise NotImplementedError
