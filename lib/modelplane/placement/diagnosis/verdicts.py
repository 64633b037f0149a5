"""Verdicts of each cluster, and of each of its pools, on one more replica."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TypeAlias, overload

from modelplane.placement.decision import ClusterVerdict, PoolVerdict, Reason
from modelplane.placement.diagnosis import shortage
from modelplane.placement.scheduling import ranking
from modelplane.placement.scheduling.board import Board, PoolEstimate
from modelplane.placement.scheduling.filters import Refusal
from modelplane.placement.snapshot import Pool

_FARTHEST = 1 << 30

_Says: TypeAlias = tuple[str, tuple[Refusal | None, ...]]
"""The name of a pool and its refusal of each role, None where the role fits."""


class _LazyVerdicts(Sequence[PoolVerdict]):
    """The verdicts of the pools of a cluster, computed when they are first read.

    A refusal by a large fleet has one for every cluster, and most are never read. The board no longer changes then.
    """

    __slots__ = ("_diagnosis", "_name", "_said")

    def __init__(self, diagnosis: Diagnosis, name: str) -> None:
        self._diagnosis, self._name = diagnosis, name
        self._said: tuple[PoolVerdict, ...] | None = None

    def _read(self) -> tuple[PoolVerdict, ...]:
        if self._said is None:
            self._said = self._diagnosis.pools(self._name)
        return self._said

    @overload
    def __getitem__(self, index: int) -> PoolVerdict: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PoolVerdict, ...]: ...
    def __getitem__(self, index: int | slice) -> PoolVerdict | tuple[PoolVerdict, ...]:
        return self._read()[index]

    def __len__(self) -> int:
        return len(self._read())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._read() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._read())

    def __repr__(self) -> str:
        return repr(self._read())


class Diagnosis:
    """The verdicts on the present state of a board. Equal pools are judged once."""

    def __init__(self, board: Board, countable: tuple[frozenset[str], ...] | None = None) -> None:
        self._board = board
        if countable is None:
            eligible = (name for name in board.clusters if board.barred(name) is None)
            countable = ranking.countable_domains(board, eligible)
        self.countable = countable
        self._refusals: dict[object, tuple[Refusal | None, ...]] = {}
        self._sole = len(board.table.demand.roles) == 1

    def all(self) -> tuple[ClusterVerdict, ...]:
        """Return a verdict for every cluster, by name. Cost: a look-up per pool, a diagnosis per distinct pool."""
        return tuple([self.cluster(name) for name in self._board.clusters])

    def cluster(self, name: str) -> ClusterVerdict:
        """Return the verdict of the cluster with the first reason that applies, and the verdicts of its pools."""
        board = self._board
        found, pool = board.barred(name) or board.counted_out(name), ""
        # One role finds a pool or none; whether several find theirs beside each other is for the solver to say.
        if found is None and (self._sole or (board.solve(name) is None and name not in board.spending.excess_on)):
            found, pool = self._unsolved(self._nearest(name))
        if found is None and board.spending.is_limited and board.solve(name) is None:
            excess = board.spending.excess_on.get(name)
            found = None if excess is None else excess.refusal
        if found is None and name in board.refusals.on and board.solve(name) is None:
            # By the ledger it fits, and the very same was refused.
            found = board.refusals.refusal(name)
        if found is None and board.intent.spread:
            found = self._unspread(name)
        if found is None:
            return ClusterVerdict(name, None, "fits", pools=_LazyVerdicts(self, name))
        return ClusterVerdict(name, found.reason, found.detail, found.group, pool, _LazyVerdicts(self, name))

    def pools(self, name: str) -> tuple[PoolVerdict, ...]:
        """Return the verdict of each pool of the cluster on each role, by name."""
        roles = [role.role for role in self._board.table.demand.roles]
        return tuple(
            [
                PoolVerdict(pool, role, None) if found is None else PoolVerdict(pool, role, found.reason, found.detail)
                for pool, says in sorted(self._pools(name), key=itemgetter(0))
                for role, found in zip(roles, says, strict=True)
            ]
        )

    def _nearest(self, name: str) -> list[_Says]:
        """Return what those pools say among which the nearest to a fit is.

        Of one role these are the pools that serve it, where there are any and no other only lacks devices on a node.
        """
        board = self._board
        serving = board.serving(name)
        if not self._sole or not serving or board.table.some_lack_devices:
            return self._pools(name)
        return [
            self._known(name, pool, estimate)
            for (pool, _), estimate in zip(serving, board.estimates(name), strict=True)
        ]

    def _pools(self, name: str) -> list[_Says]:
        """Return what all pools of the cluster say."""
        board = self._board
        # Whoever does not serve needs no ledger.
        rows = zip(board.serving(name), board.estimates(name), strict=True)
        estimates = {id(pool): estimate for (pool, _), estimate in rows}
        return [self._known(name, pool, estimates.get(id(pool))) for pool in board.clusters[name].pools]

    def _known(self, name: str, pool: Pool, estimate: PoolEstimate | None) -> _Says:
        """Return what a pool says to each role. Cost: a look-up where one alike was asked before."""
        what = pool.node_class if estimate is None else estimate
        key = (pool.name, pool.class_name) if what is None else id(what)
        found = self._refusals.get(key)
        if found is None:
            found = self._refusals[key] = self._asked(pool, estimate)
        return (pool.name, found)

    def _asked(self, pool: Pool, estimate: PoolEstimate | None) -> tuple[Refusal | None, ...]:
        board, roles = self._board, self._board.table.demand.roles
        if pool.node_class is None:
            missing = f"InferenceClass {pool.class_name} of pool {pool.name} does not exist"
            detail = f"{missing}; create it or set className to another one"
            return (Refusal(Reason.NO_MATCHING_DEVICE, detail, "no InferenceClass"),) * len(roles)
        says: list[Refusal | None] = []
        for index, match in enumerate(board.table.matches(board.table.number(pool.node_class))):
            if match.miss is not None:
                says.append(shortage.missed(match.miss))
            elif estimate is not None:
                says.append(shortage.of(estimate.trials[index], roles[index]))
        return tuple(says)

    def _unsolved(self, says: list[_Says]) -> tuple[Refusal | None, str]:
        """Return the nearest pool's refusal of the role that no pool takes, or that roles do not fit together.

        None when there is one role and it finds a pool. With the name of the pool that says so.
        """
        if not says:
            return Refusal(Reason.NO_MATCHING_DEVICE, "it has no pools", "no pools"), ""
        if self._sole:
            return _nearest_of(0, says)
        roles = self._board.table.demand.roles
        for index, role in enumerate(roles):
            found, pool = _nearest_of(index, says)
            if found is not None:
                return found._replace(detail=f"{role.role}: {found.detail}"), pool
        both = " and ".join(str(role.role) for role in roles)
        detail = f"{both} each fit alone but not together"
        return Refusal(Reason.INSUFFICIENT_DEVICES, detail, "not enough devices"), ""

    def _unspread(self, name: str) -> Refusal | None:
        board = self._board
        domain = board.tally.domain(name)
        if domain is None:
            missing = [c.topology_key for c in board.intent.spread if c.topology_key not in board.clusters[name].labels]
            keys = ", ".join(missing)
            return Refusal(Reason.SPREAD_CONSTRAINT, f"it has no label {keys}", "spread label missing")
        violation = ranking.skew_violation(board, domain, self.countable)
        return None if violation is None else Refusal(Reason.SPREAD_CONSTRAINT, violation, "spread constraint")


def _nearest_of(role: int, says: list[_Says]) -> tuple[Refusal | None, str]:
    """Return the refusal of the pool that comes nearest to the role, and its name; None when a pool takes it."""
    nearest, name, least = None, "", _FARTHEST
    for pool, refusals in says:
        found = refusals[role]
        if found is None:
            return None, ""
        distance = found.reason.distance
        if distance < least or (distance == least and pool < name):
            nearest, name, least = found, pool, distance
    return nearest, name
