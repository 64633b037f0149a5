"""A cluster with other hardware, asked whether it takes one more replica of a deployment after its plan."""

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
    """One cluster with some changes made, on the board as the deployment's plan leaves it."""

    world: World
    board: Board
    countable: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, snapshot: Snapshot, name: str, made: tuple[Change, ...]) -> ClusterTrial:
        """Return the trial of the cluster `name` with the changes made."""
        board = scheduler.decide(snapshot.fleet, snapshot.demand, snapshot.intent, snapshot.current).board
        cluster = next(one for one in snapshot.fleet.clusters if one.name == name)
        world = changes.applied(World(cluster, snapshot.demand, board.intent), made)
        return cls(world, board, Diagnosis(board).countable)

    @property
    def roles(self) -> tuple[RoleDemand, ...]:
        """Return what the roles ask for with the changes made."""
        return self.world.demand.roles

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Return the cluster's pools with the changes made."""
        return self.world.cluster.pools

    def fits(self, added: Sequence[Pool]) -> bool:
        """Return whether the cluster takes the replica with some pools more."""
        cluster = replace(self.world.cluster, pools=(*self.pools, *added))
        view = changes.board_of(replace(self.world, cluster=cluster), self.board)
        return Diagnosis(view, self.countable).cluster(cluster.name).fits
