"""What each cluster, and each of its pools, says to one more replica."""

from __future__ import annotations

from modelplane.placement import ranking, shortage
from modelplane.placement.board import Board
from modelplane.placement.filters import Refusal
from modelplane.placement.ledger import Ledger
from modelplane.placement.model import Pool
from modelplane.placement.plan import ClusterVerdict, PoolVerdict, Reason

_NEAREST = (
    Reason.REFUSED_BY_CLUSTER,
    Reason.INSUFFICIENT_NODE_RESOURCES,
    Reason.INSUFFICIENT_DEVICES,
    Reason.INSUFFICIENT_NODES,
    Reason.NO_MATCHING_DEVICE,
    Reason.SELECTOR_ERROR,
)
"""Reasons of pools, the one nearest to a fit first: it speaks for the role."""


class Judge:
    """Verdicts on a board as it stands. Equal pools are judged once."""

    def __init__(self, board: Board, countable: tuple[frozenset[str], ...] | None = None) -> None:
        self._board = board
        eligible = [name for name in board.clusters if board.barred(name) is None]
        self.countable = ranking.countable_domains(board, eligible) if countable is None else countable
        self._shortages: dict[tuple[int, Ledger | None, int], Refusal | None] = {}

    def all(self) -> tuple[ClusterVerdict, ...]:
        """Return a verdict for every cluster, by name."""
        return tuple(self.cluster(name) for name in self._board.clusters)

    def cluster(self, name: str) -> ClusterVerdict:
        """Return the cluster's verdict under the first reason that applies, with those of its pools."""
        board = self._board
        barred = board.barred(name)
        pools = self._pools(name)
        found = barred or board.counted_out(name)
        if found is None and board.solve(name) is None:
            found = self._unsolved(name, pools)
        if found is None:
            found = self._unspread(name)
        if found is None:
            return ClusterVerdict(name, None, "fits", pools=pools)
        return ClusterVerdict(name, found.reason, found.detail, found.group, found.pool, pools)

    def _pools(self, name: str) -> tuple[PoolVerdict, ...]:
        board = self._board
        rows = zip(board.lots(name), board.ledgers(name), strict=True)
        states = {pool.name: state for (pool, _), state in rows}
        roles = board.table.demand.roles
        verdicts = []
        for pool in sorted(board.clusters[name].pools, key=lambda pool: pool.name):
            for index, role in enumerate(roles):
                found = self._pool(name, pool, states.get(pool.name), index)
                reason = found.reason if found is not None else None
                verdicts.append(PoolVerdict(pool.name, role.role, reason, found.detail if found is not None else ""))
        return tuple(verdicts)

    def _pool(self, name: str, pool: Pool, state: Ledger | None, role: int) -> Refusal | None:
        board = self._board
        if pool.node_class is None:
            detail = f"InferenceClass {pool.class_name} of pool {pool.name} does not exist"
            return Refusal(Reason.NO_MATCHING_DEVICE, detail, "no InferenceClass")
        number = board.table.number(pool.node_class)
        match = board.table.matches(number)[role]
        if match.miss is None and board.is_refused(name, pool.name):
            return board.refusal(name)
        if match.miss is None and state is None:
            state = board.published(name, pool)
        key = (number, None if match.miss is not None else state, role)
        if key not in self._shortages:
            self._shortages[key] = shortage.of(state, board.table.demand.roles[role], match)
        return self._shortages[key]

    def _unsolved(self, name: str, pools: tuple[PoolVerdict, ...]) -> Refusal:
        """Return why no assignment of roles to pools exists.

        The role that no pool takes, or that they do not fit together.
        """
        if not pools:
            return Refusal(Reason.NO_MATCHING_DEVICE, "it has no pools", "no pools")
        roles = self._board.table.demand.roles
        for index, role in enumerate(roles):
            own = [verdict for verdict in pools if verdict.role is role.role]
            if any(verdict.fits for verdict in own):
                continue
            nearest = min(own, key=lambda verdict: (_NEAREST.index(verdict.reason or _NEAREST[0]), verdict.pool))
            pool = next(p for p in self._board.clusters[name].pools if p.name == nearest.pool)
            found = self._pool(name, pool, self._state(name, pool.name), index)
            if found is not None:
                prefix = f"{role.role}: " if len(roles) > 1 else ""
                return Refusal(found.reason, f"{prefix}{found.detail}", found.group, pool.name)
        both = " and ".join(str(role.role) for role in roles)
        return Refusal(Reason.INSUFFICIENT_DEVICES, f"{both} each fit, and not beside each other", "not enough devices")

    def _state(self, name: str, pool: str) -> Ledger | None:
        rows = zip(self._board.lots(name), self._board.ledgers(name), strict=True)
        return next((state for (lot, _), state in rows if lot.name == pool), None)

    def _unspread(self, name: str) -> Refusal | None:
        board = self._board
        domain = board.domain(name)
        if domain is None:
            missing = [c.topology_key for c in board.intent.spread if c.topology_key not in board.clusters[name].labels]
            keys = ", ".join(missing)
            return Refusal(Reason.SPREAD_CONSTRAINT, f"it has no label {keys}", "spread label missing")
        violation = ranking.skew_violation(board, domain, self.countable)
        return None if violation is None else Refusal(Reason.SPREAD_CONSTRAINT, violation, "spread constraint")
