"""Working state of the fleet while one deployment is placed: ledgers and counts that change with every replica.

A board lives for one call of the scheduler. Ledgers are made when they are first read, so that clusters that are
filtered out cost little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from modelplane import names
from modelplane.devices.model import Mode, Request
from modelplane.placement.capacity import ledger
from modelplane.placement.capacity.ledger import Ledger, Trial
from modelplane.placement.decision import Admission, Reason
from modelplane.placement.scheduling import assignment, filters
from modelplane.placement.scheduling.assignment import Assignment, Barred, Goodness, RoleAssignment, Table
from modelplane.placement.scheduling.filters import Refusal
from modelplane.placement.scheduling.likeness import Contents, Likeness, ServingPool
from modelplane.placement.scheduling.refusals import Refusals
from modelplane.placement.scheduling.spending import Excess, Spending
from modelplane.placement.scheduling.tally import Tally
from modelplane.placement.snapshot import (
    Accounting,
    Cluster,
    CurrentReplica,
    Demand,
    Effect,
    Fleet,
    Holding,
    Intent,
    Pool,
    devices_of,
)

NOTHING_KNOWN = Goodness(0, assignment.FREE, 0, 0, 0, assignment.NO_LEFT)
"""A lower bound on the score of an unknown assignment."""

_NODE_MAX = 1 << 16
"""More devices than any node has."""


class PoolEstimate(NamedTuple):
    """An estimate of one ledger, made without packing. It keeps the ledger alive, because it is found by identity.

    `trials` are those of each role and option. `roles` are the roles that sums leave room for.
    """

    state: Ledger
    trials: tuple[tuple[Trial, ...], ...]
    roles: frozenset[int]
    free: int


def _most(request: Request) -> int:
    """Return the most devices that the request takes of a node."""
    return max(_NODE_MAX if one.mode is Mode.ALL else one.count for one in request.each())


def _least(request: Request) -> int:
    """Return the fewest devices that the request takes of a node."""
    return min(one.count for one in request.each())


class Board:
    """The working state of one placement. Ledgers and counts change; the fleet, the demand and the intent do not."""

    def __init__(self, fleet: Fleet, demand: Demand, intent: Intent) -> None:
        self.intent = intent
        self.clusters: Mapping[str, Cluster] = filters.by_name(fleet.clusters)
        self.table = Table(demand)
        self.spending = Spending(intent.budgets)
        self.tally = Tally(self.clusters, intent.spread)
        self.refusals = Refusals()
        self._serving: dict[str, tuple[ServingPool, ...]] = {}
        self._ledgers: dict[str, tuple[Ledger, ...]] = {}
        self._contents = Contents(self.clusters, self.table)
        self._unsolved: set[str] = set()
        """The clusters without room; a later placement never makes room."""
        self._extra: dict[str, list[Holding]] = {}
        self._closed: dict[str, frozenset[str]] = {}
        self._states: dict[tuple[object, ...], Ledger] = {}
        self._seen: dict[Ledger, Ledger] = {}
        """One object for all equal published ledgers, so that they are compared by identity."""
        self._estimates: dict[tuple[int, int], PoolEstimate] = {}
        self._estimates_on: dict[str, list[PoolEstimate]] = {}
        self._most_free: dict[str, int] = {}
        self._roles = frozenset(range(len(demand.roles)))
        self._wanted = sum(role.pods * sum(_most(request) for request in role.requests) for role in demand.roles)
        # What a replica takes at least; the cluster counts what it is given.
        self._least = sum(role.pods * sum(_least(request) for request in role.requests) for role in demand.roles)
        self._barred: dict[str, Refusal | None] = {}
        self._over_committed: dict[tuple[str, str], bool] = {}

    # --- what the fleet says -------------------------------------------------------------------------------------

    def admission(self, replica: CurrentReplica) -> Admission:
        """Return the admission of a replica of the deployment. A rendered replica is no longer refused."""
        cluster = self.clusters.get(replica.cluster)
        key = names.qualified(self.intent.namespace, replica.name)
        if cluster is not None and key in cluster.admitted:
            return Admission.ADMITTED
        if cluster is not None and key in cluster.refused and not replica.bound:
            return Admission.REFUSED
        return Admission.PENDING

    def barred(self, name: str) -> Refusal | None:
        """Return the refusal of a cluster that is filtered out before devices and counts are checked, else None."""
        if name not in self._barred:
            self._barred[name] = filters.refusal(self.clusters[name], self.intent)
        return self._barred[name]

    def serving(self, name: str) -> tuple[ServingPool, ...]:
        """Return the pools of the cluster whose class is known and serves some role, by name."""
        found = self._serving.get(name)
        if found is None:
            serving = self.table.serving(self.clusters[name].pools)
            if len(serving) > 1:
                serving.sort(key=lambda one: one[0].name)
            found = self._serving[name] = tuple(serving)
        return found

    def ledgers(self, name: str) -> tuple[Ledger, ...]:
        """Return the ledgers of `serving`, including replicas that the cluster has not published yet."""
        found = self._ledgers.get(name)
        if found is None:
            accounting, serving = self.clusters[name].accounting, self.serving(name)
            states = [self._state(pool, number, accounting) for pool, number in serving]
            if name in self._extra:
                self._change(name, states)
            if name in self._closed:
                self._close(name, states)
            found = self._ledgers[name] = tuple(states)
        return found

    def _change(self, name: str, states: list[Ledger]) -> None:
        """Put on published ledgers what the cluster has not published."""
        for index, (pool, _) in enumerate(self.serving(name)):
            for holding in self._extra.get(name, ()):
                if pool.name == holding.pool:
                    states[index] = ledger.with_holding(states[index], holding)

    def _state(self, pool: Pool, number: int, accounting: Accounting) -> Ledger:
        what = self.table.dimensions(number, accounting)
        nodes = pool.nodes
        counts = (nodes.declared, nodes.observed, nodes.maximum, nodes.allocatable)
        key = (id(what), counts, pool.allocations)
        state = self._states.get(key)
        if state is None:
            state = ledger.of(pool, what)
            state = self._states[key] = self._seen.setdefault(state, state)
        return state

    def published(self, name: str, pool: Pool) -> Ledger | None:
        """Return the ledger of any pool as its cluster published it, None if its class is unknown."""
        if pool.node_class is None:
            return None
        return self._state(pool, self.table.number(pool.node_class), self.clusters[name].accounting)

    def is_troubled(self, replica: CurrentReplica) -> bool:
        """Return whether the replica's cluster is gone or has an untolerated taint, or its pool is over-committed."""
        cluster = self.clusters.get(replica.cluster)
        if cluster is None:
            return True
        taints = (Effect.NO_SCHEDULE, Effect.NO_EXECUTE)
        if filters.untolerated(cluster.taints, self.intent.tolerations, taints) is not None:
            return True
        held = {holding.pool for holding in replica.holdings}
        return any(self._is_over_committed(cluster, pool) for pool in cluster.pools if pool.name in held)

    def _is_over_committed(self, cluster: Cluster, pool: Pool) -> bool:
        key = (cluster.name, pool.name)
        if key not in self._over_committed:
            state = self.published(cluster.name, pool)
            self._over_committed[key] = state is not None and state.over_committed
        return self._over_committed[key]

    # --- solving -------------------------------------------------------------------------------------------------

    def floor(self, name: str) -> Goodness | None:
        """Return a lower bound on the score of every assignment on the cluster, None when some role has no pool.

        See `Table.floor`.
        """
        if name in self._extra:
            return NOTHING_KNOWN if self.serving(name) else None
        return self.table.floor(self.serving(name), self.clusters[name].accounting)

    def left(self, name: str) -> int | None:
        """Return a lower bound on the free devices after any assignment on the cluster.

        None means that sums alone show that there is no assignment. Cost: no packing.
        """
        estimates = self.estimates(name)
        if len(estimates) == 1:
            roles, least, most = estimates[0].roles, estimates[0].free, estimates[0].free
        else:
            roles = frozenset[int]().union(*[estimate.roles for estimate in estimates])
            free = [estimate.free for estimate in estimates]
            least, most = min(free, default=0), max(free, default=0)
        if roles == self._roles:
            return least - self._wanted
        self._unsolved.add(name)
        # Where nothing is placed, what is nearest to a fit is asked next.
        self._most_free[name] = most
        return None

    def most_free(self, name: str) -> int:
        """Return the number of free devices in the pool of the cluster that has the most."""
        found = self._most_free.get(name)
        if found is None:
            found = self._most_free[name] = max([estimate.free for estimate in self.estimates(name)], default=0)
        return found

    def estimates(self, name: str) -> list[PoolEstimate]:
        """Return the estimates of `ledgers`, made without packing. Cost: sums, once per distinct ledger."""
        found = self._estimates_on.get(name)
        if found is None:
            kinds, known = self.table.kinds, self._estimates
            found = self._estimates_on[name] = [
                known.get((kinds[number], id(state))) or self._estimate(number, state)
                for (_, number), state in zip(self.serving(name), self.ledgers(name), strict=True)
            ]
        return found

    def _estimate(self, number: int, state: Ledger) -> PoolEstimate:
        trials = self.table.trials(number, state)
        roles = frozenset([index for index, row in enumerate(trials) if not all(one.excluded for one in row)])
        found = PoolEstimate(state, trials, roles, state.free_devices)
        self._estimates[self.table.kinds[number], id(state)] = found
        return found

    def solve(self, name: str) -> Assignment | None:
        """Return the best assignment of one more replica to the cluster, None if there is none."""
        if name in self._unsolved:
            return None
        rows = zip(self.serving(name), self.ledgers(name), strict=True)
        pools = tuple([(number, state) for (_, number), state in rows])
        barred: Barred = frozenset()
        if self.refusals.on:
            barred = self.refusals.barred(name, [pool.name for pool, _ in self.serving(name)], self.table.demand)
        found = self.table.solve(pools, barred)
        if self.spending.is_limited:
            found = self._affordable(name, pools, barred, found)
        if found is None:
            self._unsolved.add(name)
        return found

    def _affordable(
        self, name: str, pools: tuple[tuple[int, Ledger], ...], barred: Barred, found: Assignment | None
    ) -> Assignment | None:
        """Return the best assignment that the quotas have room for; `found` is the best without them."""
        # What a quota refused is barred too, and the quota is to be named.
        best = self.table.solve(pools) if found is None and barred else found
        excess = None if best is None else self.excess(name, best.roles)
        if excess is None:
            return found
        found = self.table.solve(pools, barred, lambda chosen: self.excess(name, chosen) is None)
        if found is None:
            self.spending.excess_on[name] = excess
        return found

    def excess(self, name: str, roles: tuple[RoleAssignment, ...], gone: tuple[Holding, ...] = ()) -> Excess | None:
        """Return the limit of a quota that a replica with these roles exceeds once `gone` is free, None without one."""
        return self.spending.excess(self.clusters[name], self.holdings(name, roles), gone)

    def solve_without(self, replica: CurrentReplica, pools: frozenset[str] | None = None) -> Assignment | None:
        """Return the best assignment on the replica's cluster with its holdings released, only on `pools` if given."""
        states = []
        name = replica.cluster
        for (pool, number), state in zip(self.serving(name), self.ledgers(name), strict=True):
            held = [holding for holding in replica.holdings if holding.pool == pool.name]
            free = ledger.released(state, held)
            usable = pools is None or pool.name in pools
            states.append((number, free if usable else ledger.closed(free)))
        if pools is not None or not self.spending.is_limited:
            return self.table.solve(tuple(states))
        # The one that comes is new to the quotas.
        gone = replica.holdings
        return self.table.solve(tuple(states), allows=lambda chosen: self.excess(name, chosen, gone) is None)

    def counted_out(self, name: str) -> Refusal | None:
        """Return the refusal of one more replica by the limit per cluster or the quota of its queue, else None."""
        limit = self.intent.max_replicas_per_cluster
        if limit and (has := self.tally.composed_on(name)) >= limit:
            detail = f"it has {has} of at most {limit} replicas per cluster"
            return Refusal(Reason.REPLICA_LIMIT, detail, "replica limit reached")
        queue = self.clusters[name].queue
        excess = "" if queue is None else queue.excess(devices_of(self._extra.get(name, ())) + self._least)
        return Refusal(Reason.QUEUE_QUOTA, excess, "quota of the queue is held") if excess else None

    def varied(self, cluster: Cluster, demand: Demand, intent: Intent, *, pardoned: bool) -> Board:
        """Return a board of the given cluster with everything that was placed there so far.

        With `pardoned` the refusals of the cluster are ignored.
        """
        name = cluster.name
        board = Board(Fleet((cluster,)), demand, intent)
        board.tally.start_from(self.tally)
        # A quota that allows more takes its refusals back.
        if not pardoned:
            board.refusals = self.refusals.varied(name, same_quotas=intent.budgets == self.intent.budgets)
        board.occupy(name, self._extra.get(name, ()))
        board.spending = self.spending.varied(intent.budgets)
        return board

    def likeness(self, name: str) -> Likeness:
        """Return the present content of the cluster, without the names of it and its pools."""
        return Likeness(self._contents, name, self.serving(name), self.ledgers(name))

    # --- changing ------------------------------------------------------------------------------------------------

    def take_back_quota_refusals(self) -> None:
        """Forget what quotas refused: they have other limits, or more room."""
        self._unsolved.difference_update(self.refusals.take_back_quotas())

    def occupy(self, name: str, holdings: Iterable[Holding]) -> None:
        """Add holdings that the cluster has not published to its ledgers."""
        self._extra.setdefault(name, []).extend(holdings)
        self._forget(name)

    @contextmanager
    def closed(self, name: str, pools: frozenset[str]) -> Iterator[None]:
        """Let nothing more be placed on some pools of a cluster meanwhile."""
        self._closed[name] = pools
        self._forget(name)
        self._unsolved.discard(name)
        try:
            yield
        finally:
            del self._closed[name]
            self._forget(name)
            self._unsolved.discard(name)

    def _close(self, name: str, states: list[Ledger]) -> None:
        for index, (pool, _) in enumerate(self.serving(name)):
            if pool.name in self._closed[name]:
                states[index] = ledger.closed(states[index])

    def _forget(self, name: str) -> None:
        self._ledgers.pop(name, None)
        self._estimates_on.pop(name, None)
        self._most_free.pop(name, None)

    def take(self, name: str, solution: Assignment) -> list[Holding]:
        """Place a new replica and return its holdings."""
        holdings = self.holdings(name, solution.roles)
        self.occupy(name, holdings)
        if self.spending.is_limited:
            self.spending.add(self.clusters[name], holdings)
        self._ledgers[name] = solution.ledgers
        self.tally.add(name, 1)
        return holdings

    def holdings(self, name: str, roles: Iterable[RoleAssignment]) -> list[Holding]:
        """Return the holdings of a replica whose roles are assigned so."""
        pools = [pool.name for pool, _ in self.serving(name)]
        return [
            Holding(role.role, pools[one.pool], role.pods, one.shape, role.nodes_per_worker)
            for role, one in zip(self.table.demand.roles, roles, strict=True)
        ]
