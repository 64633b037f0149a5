"""Trial of a cluster with other hardware: the verdict on one more replica of a deployment after its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from modelplane.placement.decision import Change, World
from modelplane.placement.diagnosis import changes
from modelplane.placement.diagnosis.verdicts import Diagnosis
from modelplane.placement.scheduling import scheduler
from modelplane.placement.scheduling.board import Board
from modelplane.placement.snapshot import Pool, RoleDemand, Snapshot


@dataclass(frozen=True, slots=True)
class ClusterTrial:
    """A cluster with some changes applied, on the board after the deployment's plan."""

    world: World
    board: Board
    countable: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, snapshot: Snapshot, name: str, made: tuple[Change, ...]) -> ClusterTrial:
        """Return the trial of the cluster `name` with the changes applied."""
        board = scheduler.decide(snapshot.fleet, snapshot.demand, snapshot.intent, snapshot.current).board
        cluster = next(one for one in snapshot.fleet.clusters if one.name == name)
        world = changes.applied(World(cluster, snapshot.demand, board.intent), made)
        return cls(world, board, Diagnosis(board).countable)

    @property
    def roles(self) -> tuple[RoleDemand, ...]:
        """Return the demand of the roles with the changes applied."""
        return self.world.demand.roles

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Return the pools of the cluster with the changes applied."""
        return self.world.cluster.pools

    def fits(self, added: Sequence[Pool]) -> bool:
        """Return whether the cluster takes the replica with the added pools."""
        cluster = replace(self.world.cluster, pools=(*self.pools, *added))
        view = changes.board_of(replace(self.world, cluster=cluster), self.board)
        return Diagnosis(view, self.countable).cluster(cluster.name).fits
