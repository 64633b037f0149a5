"""What each cluster, and each of its pools, says to one more replica."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter, itemgetter

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


_name = attrgetter("name")
_nearest = itemgetter(0, 1)
_ORDER = {reason: position for position, reason in enumerate(_NEAREST)}


@dataclass(frozen=True, slots=True)
class _Say:
    """What one pool says to one role: the public verdict, and the refusal behind it (None when it fits)."""

    verdict: PoolVerdict
    refusal: Refusal | None


class Judge:
    """Verdicts on a board as it stands. Equal pools are judged once."""

    def __init__(self, board: Board, countable: tuple[frozenset[str], ...] | None = None) -> None:
        self._board = board
        eligible = [name for name in board.clusters if board.barred(name) is None]
        self.countable = ranking.countable_domains(board, eligible) if countable is None else countable
        self._says: dict[tuple[object, ...], _Say] = {}

    def all(self) -> tuple[ClusterVerdict, ...]:
        """Return a verdict for every cluster, by name. Cost: a look-up per pool, a judgement per different pool."""
        return tuple([self.cluster(name) for name in self._board.clusters])

    def cluster(self, name: str) -> ClusterVerdict:
        """Return the cluster's verdict under the first reason that applies, with those of its pools."""
        board = self._board
        says = self._pools(name)
        pools = tuple([say.verdict for say in says])
        found = board.barred(name) or board.counted_out(name)
        if found is None and board.solve(name) is None:
            found = self._unsolved(says)
        if found is None:
            found = self._unspread(name)
        if found is None:
            return ClusterVerdict(name, None, "fits", pools=pools)
        return ClusterVerdict(name, found.reason, found.detail, found.group, found.pool, pools)

    def _pools(self, name: str) -> list[_Say]:
        """Return what the cluster's pools say, by name and then by role."""
        board = self._board
        rows = zip(board.lots(name), board.ledgers(name), strict=True)
        states = {pool.name: state for (pool, _), state in rows}
        pools = board.clusters[name].pools
        says = []
        for pool in pools if len(pools) < 2 else sorted(pools, key=_name):
            for index in range(len(board.table.demand.roles)):
                says.append(self._pool(name, pool, states.get(pool.name), index))
        return says

    def _pool(self, name: str, pool: Pool, state: Ledger | None, role: int) -> _Say:
        board = self._board
        if pool.node_class is None:
            key: tuple[object, ...] = (pool.name, role, pool.class_name)
        else:
            number = board.table.number(pool.node_class)
            if board.table.matches(number)[role].miss is not None:
                key = (pool.name, role, number)
            elif board.is_refused(name, pool.name):
                key = (pool.name, role, number, name)
            else:
                state = board.published(name, pool) if state is None else state
                key = (pool.name, role, number, state)
        found = self._says.get(key)
        if found is None:
            refusal = self._judged(name, pool, state, role)
            verdict = PoolVerdict(
                pool.name,
                board.table.demand.roles[role].role,
                None if refusal is None else refusal.reason,
                "" if refusal is None else refusal.detail,
            )
            found = self._says[key] = _Say(verdict, refusal)
        return found

    def _judged(self, name: str, pool: Pool, state: Ledger | None, role: int) -> Refusal | None:
        board = self._board
        if pool.node_class is None:
            detail = f"InferenceClass {pool.class_name} of pool {pool.name} does not exist"
            return Refusal(Reason.NO_MATCHING_DEVICE, detail, "no InferenceClass")
        match = board.table.matches(board.table.number(pool.node_class))[role]
        if match.miss is None and board.is_refused(name, pool.name):
            return board.refusal(name)
        return shortage.of(state, board.table.demand.roles[role], match)

    def _unsolved(self, says: list[_Say]) -> Refusal:
        """Return why no assignment of roles to pools exists.

        The role that no pool takes, or that they do not fit together.
        """
        if not says:
            return Refusal(Reason.NO_MATCHING_DEVICE, "it has no pools", "no pools")
        roles = self._board.table.demand.roles
        for index, role in enumerate(roles):
            own = says[index :: len(roles)]
            if any(say.refusal is None for say in own):
                continue
            refused = [(_ORDER[say.refusal.reason], say.verdict.pool, say.refusal) for say in own if say.refusal]
            _, pool, found = min(refused, key=_nearest)
            prefix = f"{role.role}: " if len(roles) > 1 else ""
            return Refusal(found.reason, f"{prefix}{found.detail}", found.group, pool)
        both = " and ".join(str(role.role) for role in roles)
        return Refusal(Reason.INSUFFICIENT_DEVICES, f"{both} each fit, and not beside each other", "not enough devices")

    def _unspread(self, name: str) -> Refusal | None:
        board = self._board
        domain = board.domain(name)
        if domain is None:
            missing = [c.topology_key for c in board.intent.spread if c.topology_key not in board.clusters[name].labels]
            keys = ", ".join(missing)
            return Refusal(Reason.SPREAD_CONSTRAINT, f"it has no label {keys}", "spread label missing")
        violation = ranking.skew_violation(board, domain, self.countable)
        return None if violation is None else Refusal(Reason.SPREAD_CONSTRAINT, violation, "spread constraint")
