"""Counts of the replicas of one deployment while it is placed: per cluster, and per value of each spread label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from modelplane.placement.scheduling import filters
from modelplane.placement.snapshot import Cluster, SpreadConstraint

Domain: TypeAlias = tuple[str, ...]
"""The values of the spread constraints' labels on a cluster."""


class Tally:
    """The replicas of a deployment per cluster and per domain. All counts begin at zero."""

    def __init__(self, clusters: Mapping[str, Cluster], spread: Sequence[SpreadConstraint]) -> None:
        self.replicas_on: Counter[str] = Counter()
        """The retained replicas per cluster, for the ranking."""
        self.objects_on: Counter[str] = Counter()
        """The composed replicas per cluster, for the limit."""
        self.replicas_in: tuple[Counter[str], ...] = tuple(Counter() for _ in spread)
        self.waiting_on: Counter[str] = Counter()
        """The refused replicas per cluster that wait there; the cluster may still admit them."""
        self._clusters = clusters
        self._spread = spread
        self._domains: dict[str, Domain | None] = {}

    def start_from(self, other: Tally) -> None:
        """Take over the counts of another tally with the same spread constraints; who waits there is not taken over."""
        self.replicas_on, self.objects_on = Counter(other.replicas_on), Counter(other.objects_on)
        self.replicas_in = tuple(Counter(counter) for counter in other.replicas_in)

    def add(self, name: str, more: int) -> None:
        """Add a replica to all counts: ranking, spread and limit. A negative number removes it."""
        self.objects_on[name] += more
        self.count(name, more)

    def count(self, name: str, more: int) -> None:
        """Add a replica to the counts for ranking and spread. A negative number removes it."""
        self.replicas_on[name] += more
        for counter, value in zip(self.replicas_in, self.domain(name) or (), strict=False):
            counter[value] += more

    def composed_on(self, name: str) -> int:
        """Return the number of replicas on the cluster that count against the limit, with those that wait there."""
        return self.objects_on[name] + self.waiting_on[name]

    def counts_in(self, domain: Domain) -> tuple[int, ...]:
        """Return the number of replicas under the domain's value, per spread constraint."""
        return tuple([counter[value] for counter, value in zip(self.replicas_in, domain, strict=True)])

    def waiting_in(self, index: int, value: str) -> int:
        """Return the number of replicas that wait on clusters with a value of one spread constraint's label."""
        if not self.waiting_on:
            return 0
        domains = ((self.domain(name), number) for name, number in self.waiting_on.items())
        return sum(number for domain, number in domains if domain is not None and domain[index] == value)

    def least_in(self, countable: tuple[frozenset[str], ...]) -> tuple[int, ...]:
        """Return the number of replicas of the least loaded countable value, per spread constraint."""
        rows = zip(self.replicas_in, countable, strict=True)
        return tuple([min((counter[other] for other in values), default=0) for counter, values in rows])

    def domain(self, name: str) -> Domain | None:
        """Return the values of the spread labels, None if the cluster lacks one of them or is gone."""
        if name not in self._domains:
            self._domains[name] = self._domain(name)
        return self._domains[name]

    def _domain(self, name: str) -> Domain | None:
        cluster = self._clusters.get(name)
        if cluster is None:
            return None
        if not self._spread:
            return ()
        values = [filters.label(cluster, constraint.topology_key) for constraint in self._spread]
        return None if None in values else tuple(value for value in values if value is not None)
