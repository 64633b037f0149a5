"""Likeness of clusters: the order among clusters that are equal in all criteria but their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from modelplane.placement.capacity.ledger import Ledger
from modelplane.placement.scheduling.assignment import Table
from modelplane.placement.snapshot import Cluster, Pool

ServingPool: TypeAlias = tuple[Pool, int]
"""A pool whose class serves some role, and the number of the class in the table."""


class Contents:
    """The content of each cluster of one placement. The part without the pools that serve is computed once."""

    __slots__ = ("_clusters", "_others", "_table")

    def __init__(self, clusters: Mapping[str, Cluster], table: Table) -> None:
        self._clusters, self._table = clusters, table
        self._others: dict[str, tuple[object, ...]] = {}

    def of(self, name: str, serving: Sequence[ServingPool], states: Sequence[Ledger]) -> tuple[object, ...]:
        """Return the content of the cluster with these ledgers of the pools that serve."""
        rows = zip(serving, states, strict=True)
        pools = [(self._table.content(number), state.nodes, state.items) for (_, number), state in rows]
        return (tuple(sorted(pools)), self._rest(name, serving))

    def _rest(self, name: str, serving: Sequence[ServingPool]) -> tuple[object, ...]:
        """Return what the cluster is beside the pools that serve."""
        found = self._others.get(name)
        if found is None:
            cluster = self._clusters[name]
            apart = {id(pool) for pool, _ in serving}
            rest = sorted([self._pool(pool) for pool in cluster.pools if id(pool) not in apart])
            taints = sorted([(taint.key, taint.effect, taint.value) for taint in cluster.taints])
            found = (cluster.accounting, sorted(cluster.labels.items()), taints, rest)
            self._others[name] = found
        return found

    def _pool(self, pool: Pool) -> tuple[object, ...]:
        """Return what a pool is that serves nothing here, whatever it is called."""
        known = "" if pool.node_class is None else self._table.content(self._table.number(pool.node_class))
        return (known, pool.nodes.usable, pool.nodes.present, sorted(pool.allocations))


class Likeness:
    """The content of a cluster without names, in a total order.

    It is computed only when two clusters are equal in all other criteria, which is rare. Clusters of equal likeness
    differ only in their names.
    """

    __slots__ = ("_contents", "_found", "_name", "_serving", "_states")

    def __init__(
        self,
        contents: Contents | None = None,
        name: str = "",
        serving: tuple[ServingPool, ...] = (),
        states: tuple[Ledger, ...] = (),
    ) -> None:
        self._contents, self._name, self._serving, self._states = contents, name, serving, states
        self._found: tuple[object, ...] | None = None

    def _read(self) -> tuple[object, ...]:
        if self._found is None:
            self._found = () if self._contents is None else self._contents.of(self._name, self._serving, self._states)
        return self._found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Likeness) and self._read() == other._read()

    def __lt__(self, other: Likeness) -> bool:
        return self._read() < other._read()

    def __hash__(self) -> int:
        return hash(self._read())


ANY_LIKENESS = Likeness()
"""A lower bound on the likeness of every cluster."""
