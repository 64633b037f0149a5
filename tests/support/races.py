"""Deployments and clusters that decide in rounds: who proposes, who admits, who is bound; without documents."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

from modelplane import placement
from modelplane.placement.decision import Admission, Plan
from modelplane.placement.snapshot import (
    Cluster,
    Current,
    CurrentReplica,
    Demand,
    Fleet,
    Intent,
    ReplicaClaim,
)
from tests.support import placements as given_


@dataclass(frozen=True, slots=True)
class Deployed:
    """A deployment: what it wants and what it has."""

    intent: Intent
    demand: Demand
    current: Current = given_.NOTHING
    offered: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.intent.namespace}/{self.intent.deployment}"


@dataclass
class Race:
    """A fleet in rounds: every deployment proposes from one snapshot, then every cluster says what it admits.

    What is admitted is bound and serves from then on. A replica is as old as its deployment's place in the order.
    """

    base: dict[str, Cluster]
    deployments: list[Deployed]
    seen: dict[str, Cluster] = field(default_factory=dict)
    round: int = 0

    def __post_init__(self) -> None:
        self.seen = self.seen or dict(self.base)

    @property
    def fleet(self) -> Fleet:
        return Fleet(tuple(self.seen.values()))

    def propose(self, fleet: Fleet, number: int) -> Plan:
        """Let one deployment decide from a snapshot."""
        mine = self.deployments[number]
        plan = placement.schedule(fleet, mine.demand, mine.intent, mine.current)
        known = {one.name for one in mine.current.replicas}
        created = f"2026-01-01T{self.round:02d}:00:{number:02d}Z"
        after = given_.as_current(plan, mine.current).replicas
        fresh = tuple(one if one.name in known else replace(one, created=created) for one in after)
        self.deployments[number] = replace(mine, current=Current(fresh), offered=plan.offered)
        return plan

    def admit(self, name: str) -> None:
        """Let one cluster say what it admits."""
        self.seen[name] = self._judged(name, self._claims(name))

    def without(self, name: str, keys: Container[str]) -> Cluster:
        """Return one cluster as it would be if the claims of `keys` had not come."""
        return self._judged(name, (claim for claim in self._claims(name) if claim.key not in keys))

    def _judged(self, name: str, claims: Iterable[ReplicaClaim]) -> Cluster:
        base = self.base[name]
        before = frozenset(self.seen[name].asked) if name in self.seen else frozenset[str]()
        account = placement.admit(base.pools, base.accounting, claims, before)
        pools = zip(base.pools, account.pools, strict=True)
        return replace(
            base,
            pools=tuple(replace(pool, allocations=book.allocations) for pool, book in pools),
            admitted=frozenset(v.key for v in account.verdicts if v.admission is Admission.ADMITTED),
            refused={v.key: given_.note(v.message) for v in account.verdicts if v.admission is Admission.REFUSED},
            asked={key: frozenset(pools) for key, pools in account.asked},
        )

    def _claims(self, name: str) -> Iterable[ReplicaClaim]:
        admitted = self.seen[name].admitted if name in self.seen else frozenset()
        for mine in self.deployments:
            for one in mine.current.replicas:
                key = f"{mine.intent.namespace}/{one.name}"
                if one.cluster == name:
                    leaves = mine.key if one.name in mine.offered else ""
                    held = key in admitted
                    yield ReplicaClaim(key, one.holdings, mine.intent.priority, one.created, held, leaves=leaves)

    def run_round(self) -> None:
        """Let all propose from one snapshot, all clusters admit, and what is admitted serve."""
        self.round += 1
        fleet = self.fleet
        for number in range(len(self.deployments)):
            self.propose(fleet, number)
        for name in self.base:
            self.admit(name)
        self.deployments = [self._bound(mine) for mine in self.deployments]

    def _bound(self, mine: Deployed) -> Deployed:
        def bound(one: CurrentReplica) -> CurrentReplica:
            is_admitted = one.cluster in self.seen and (
                f"{mine.intent.namespace}/{one.name}" in self.seen[one.cluster].admitted
            )
            return replace(one, bound=True, ready=True) if is_admitted else one

        return replace(mine, current=Current(tuple(bound(one) for one in mine.current.replicas)))

    def settle(self, most: int) -> int:
        """Return the rounds that it took until nothing changed any more."""
        for count in range(most + 1):
            before = repr((self.seen, [mine.current for mine in self.deployments]))
            self.run_round()
            if repr((self.seen, [mine.current for mine in self.deployments])) == before:
                return count
        raise AssertionError(f"still moving after {most} rounds")

    def placed(self) -> Mapping[str, int]:
        """Return how many replicas of each deployment are admitted and not about to be succeeded."""
        return {
            mine.key: sum(
                f"{mine.intent.namespace}/{one.name}" in self.seen[one.cluster].admitted
                for one in mine.current.replicas
                if one.cluster in self.seen
            )
            for mine in self.deployments
        }
