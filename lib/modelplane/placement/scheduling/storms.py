"""Failures of so large a share of a fleet that moving replicas would only add to them.

Two shares are looked at: of the clusters in sight and of their nodes, and of the replicas of the deployment. From a
third on nothing is moved for failures; the platform still drains what it wants.
"""

from __future__ import annotations

from collections.abc import Iterable

from modelplane.placement.snapshot import Cluster, CurrentReplica, Fleet

SHARE = 3
"""Moves stop when one of so many has failed."""
_FEW = 2
"""So many replicas of a deployment are no single failure."""


def told(fleet: Fleet, replicas: Iterable[CurrentReplica], wanted: int) -> str:
    """Return the share of failures that stops moves, empty where none does. Only a whole fleet tells."""
    if not fleet.is_whole:
        return ""
    down = sum(replica.down for replica in replicas)
    if down >= _FEW and down * SHARE >= wanted:
        return f"{down} of {wanted} replicas of this deployment are down"
    out = [cluster for cluster in fleet.clusters if _is_out(cluster)]
    if out and len(out) * SHARE >= len(fleet.clusters):
        return f"{len(out)} of {len(fleet.clusters)} clusters are out, {out[0].name} among them"
    lost, nodes = (sum(part) for part in zip(*map(_nodes, fleet.clusters), strict=True)) if fleet.clusters else (0, 0)
    if lost and lost * SHARE >= nodes:
        return f"{lost} of {nodes} nodes of the fleet take nothing"
    return ""


def _is_out(cluster: Cluster) -> bool:
    lost, nodes = _nodes(cluster)
    return not cluster.ready or 2 * lost > nodes


def _nodes(cluster: Cluster) -> tuple[int, int]:
    """Return how many nodes take nothing, and of how many. A pool that grows is counted as large as it is."""
    lost = nodes = 0
    for pool in cluster.pools:
        counts = pool.nodes
        is_fixed = counts.maximum is None
        there = max(counts.declared if is_fixed else 0, counts.observed or 0) if counts.observed is not None else None
        total = max(counts.declared, counts.present) if there is None else there
        nodes += total
        if not cluster.ready:
            lost += total
        elif counts.allocatable is not None:
            lost += max(0, total - counts.allocatable)
    return lost, nodes
