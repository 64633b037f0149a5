"""Counterfactual changes. Each changes one thing of a snapshot and describes it in words."""

from __future__ import annotations

from collections.abc import Iterable

from modelplane.placement.decision import Change, World
from modelplane.placement.diagnosis.changes.cluster import (
    AllowsNamespace,
    HasAddress,
    HasCache,
    HasLabel,
    Installs,
    NoLabel,
    OffersBackend,
    Pardoned,
    Ready,
)
from modelplane.placement.diagnosis.changes.demand import LowerCpu, LowerMemory, OtherSelectors, OtherTopology
from modelplane.placement.diagnosis.changes.intent import MaxSkew, ReplicaLimit, Tolerated
from modelplane.placement.diagnosis.changes.pool import (
    MoreNodes,
    MorePerNode,
    OtherDevice,
    OtherHardware,
    PoolChange,
    RoleChange,
)
from modelplane.placement.diagnosis.changes.quota import MoreQuota
from modelplane.placement.scheduling.board import Board

__all__ = [
    "AllowsNamespace",
    "HasAddress",
    "HasCache",
    "HasLabel",
    "Installs",
    "LowerCpu",
    "LowerMemory",
    "MaxSkew",
    "MoreNodes",
    "MorePerNode",
    "MoreQuota",
    "NoLabel",
    "OffersBackend",
    "OtherDevice",
    "OtherHardware",
    "OtherSelectors",
    "OtherTopology",
    "Pardoned",
    "PoolChange",
    "Ready",
    "ReplicaLimit",
    "RoleChange",
    "Tolerated",
    "applied",
    "board_of",
]


def applied(world: World, changes: Iterable[Change]) -> World:
    """Return the world with the changes applied in order."""
    for change in changes:
        world = change.apply(world)
    return world


def board_of(world: World, board: Board) -> Board:
    """Return the board of the world's cluster, with all replicas that `board` has placed there."""
    return board.varied(world.cluster, world.demand, world.intent, pardoned=world.pardoned)
