"""What each cluster, and each of its pools, says to one more replica."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import overload

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


_order = attrgetter("order")
_ORDER = {reason: position for position, reason in enumerate(_NEAREST)}
_FITS = -1


_name = attrgetter("name")
_NO_MORE: tuple[tuple[Pool | None, int], Ledger | None] = ((None, 0), None)


@dataclass(frozen=True, slots=True)
class _Say:
    """What one pool says to one role: the public verdict, and the refusal behind it (None when it fits).

    It holds the ledger it speaks of, so that no other takes its identity.
    """

    verdict: PoolVerdict
    refusal: Refusal | None
    order: tuple[int, str]
    state: Ledger | None


class _Told(Sequence[PoolVerdict]):
    """What the pools of a cluster say, put together when somebody reads it.

    A refusal by a large fleet has one for every cluster, and most are never read. The board is as the plan left it.
    """

    __slots__ = ("_judge", "_name", "_said")

    def __init__(self, judge: Judge, name: str) -> None:
        self._judge, self._name = judge, name
        self._said: tuple[PoolVerdict, ...] | None = None

    def _read(self) -> tuple[PoolVerdict, ...]:
        if self._said is None:
            self._said = self._judge.pools(self._name)
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


class Judge:
    """Verdicts on a board as it stands. Equal pools are judged once."""

    def __init__(self, board: Board, countable: tuple[frozenset[str], ...] | None = None) -> None:
        self._board = board
        if countable is None:
            eligible = (name for name in board.clusters if board.barred(name) is None)
            countable = ranking.countable_domains(board, eligible)
        self.countable = countable
        self._says: dict[tuple[object, ...], tuple[_Say, ...]] = {}
        self._refusals: dict[tuple[int, int, int], Refusal | None] = {}
        self._sole = len(board.table.demand.roles) == 1

    def all(self) -> tuple[ClusterVerdict, ...]:
        """Return a verdict for every cluster, by name. Cost: a look-up per pool, a judgement per different pool."""
        return tuple([self.cluster(name) for name in self._board.clusters])

    def cluster(self, name: str) -> ClusterVerdict:
        """Return the cluster's verdict under the first reason that applies, with those of its pools."""
        board = self._board
        found = board.barred(name) or board.counted_out(name)
        if found is None:
            # One role finds a pool or none; whether several find theirs beside each other is for the solver to say.
            if self._sole or board.solve(name) is None:
                found = self._unsolved(self._nearest(name))
            if found is None and board.intent.spread:
                found = self._unspread(name)
        if found is None:
            return ClusterVerdict(name, None, "fits", pools=_Told(self, name))
        return ClusterVerdict(name, found.reason, found.detail, found.group, found.pool, _Told(self, name))

    def pools(self, name: str) -> tuple[PoolVerdict, ...]:
        """Return what each of the cluster's pools says to each role, by name."""
        return tuple([say.verdict for own in self._pools(name, self._board.clusters[name].pools) for say in own])

    def _nearest(self, name: str) -> list[tuple[_Say, ...]]:
        """Return what those pools say among which the nearest to a fit is.

        Of one role these are the pools that serve it, where there are any and no other only lacks devices on a node.
        """
        board = self._board
        pools, lots = board.clusters[name].pools, board.lots(name)
        if not self._sole or not lots or board.table.some_lack_devices:
            return self._pools(name, pools)
        return [self._pool(name, lot[0], state) for lot, state in zip(lots, board.ledgers(name), strict=True)]

    def _pools(self, name: str, pools: Sequence[Pool]) -> list[tuple[_Say, ...]]:
        """Return what the cluster's pools say, by name, each to every role."""
        board = self._board
        # Whoever does not serve needs no ledger.
        serving = zip(board.lots(name), board.ledgers(name), strict=True)
        lot, ledger = next(serving, _NO_MORE)
        says = []
        last = ""
        for pool in pools:
            if pool.name < last:
                return self._pools(name, sorted(pools, key=_name))
            last, state = pool.name, None
            if pool is lot[0]:
                state = ledger
                lot, ledger = next(serving, _NO_MORE)
            says.append(self._pool(name, pool, state))
        return says

    def _pool(self, name: str, pool: Pool, state: Ledger | None) -> tuple[_Say, ...]:
        """Return what one pool says to each role. Cost: a look-up where one alike was asked before."""
        what = pool.class_name if pool.node_class is None else id(pool.node_class)
        # A cluster that refuses speaks for itself.
        key = (pool.name, what, id(state), name if name in self._board.refused_on else "")
        found = self._says.get(key)
        if found is None:
            found = self._says[key] = self._judged_by(name, pool, state)
        return found

    def _judged_by(self, name: str, pool: Pool, state: Ledger | None) -> tuple[_Say, ...]:
        says = []
        for index, role in enumerate(self._board.table.demand.roles):
            found = self._judged(name, pool, state, index)
            if found is None:
                says.append(_Say(PoolVerdict(pool.name, role.role, None), None, (_FITS, pool.name), state))
            else:
                verdict = PoolVerdict(pool.name, role.role, found.reason, found.detail)
                told = Refusal(found.reason, found.detail, found.group, pool.name)
                says.append(_Say(verdict, told, (_ORDER[found.reason], pool.name), state))
        return tuple(says)

    def _judged(self, name: str, pool: Pool, state: Ledger | None, role: int) -> Refusal | None:
        board = self._board
        if pool.node_class is None:
            missing = f"InferenceClass {pool.class_name} of pool {pool.name} does not exist"
            detail = f"{missing}; create it, or name another as className"
            return Refusal(Reason.NO_MATCHING_DEVICE, detail, "no InferenceClass")
        number = board.table.number(pool.node_class)
        match = board.table.matches(number)[role]
        if match.miss is None and board.is_refused(name, pool.name):
            return board.refusal(name)
        key = (board.table.kinds[number], id(state), role)
        if key not in self._refusals:
            self._refusals[key] = shortage.of(state, board.table.demand.roles[role], match)
        return self._refusals[key]

    def _unsolved(self, says: list[tuple[_Say, ...]]) -> Refusal | None:
        """Return the nearest pool's refusal of the role that no pool takes, or that roles do not fit together.

        None when there is one role and it finds a pool.
        """
        if not says:
            return Refusal(Reason.NO_MATCHING_DEVICE, "it has no pools", "no pools")
        roles = self._board.table.demand.roles
        for index, role in enumerate(roles):
            found = min([own[index] for own in says], key=_order).refusal
            if found is not None:
                return found if self._sole else replace(found, detail=f"{role.role}: {found.detail}")
        if self._sole:
            return None
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
