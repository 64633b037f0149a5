"""The laws of admission: nobody's order, proposal or moment over-commits a cluster."""

# Seeded shuffles need no cryptography.
# ruff: noqa: S311

from __future__ import annotations

import random
from dataclasses import replace
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from modelplane import placement
from modelplane.placement.decision import Admission
from modelplane.placement.snapshot import (
    Accounting,
    Current,
    Fleet,
    Holding,
    Intent,
    PodShape,
    Pool,
    ReplicaClaim,
)
from modelplane.workload.model import Role
from tests.support import placements as given_
from tests.support.laws import (
    LAW,
    SMALL,
    packs,
    pools,
)

claims = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.integers(-1, 1),
        st.integers(1, 5),
        st.integers(1, 2),
        st.integers(1, 2),
        st.sampled_from(["p0", "p1", "nowhere"]),
        st.booleans(),
    ),
    max_size=7,
)


Row: TypeAlias = tuple[int, int, int, int, int, str, bool]


def claim(row: Row) -> ReplicaClaim:
    number, priority, devices, workers, span, pool, holds = row
    shape = PodShape((("gpu", devices),))
    holding = Holding(Role.DECODE, pool, workers * span, shape, span)
    return ReplicaClaim(f"ns/r{number}", (holding,), priority, f"2026-01-01T00:00:{number:02d}Z", holds)


@LAW
@given(st.tuples(pools("p0"), pools("p1")), st.sampled_from(list(Accounting)), claims, st.integers(0, 2**16))
def test_admission_never_overcommits_and_ignores_order(
    two: tuple[Pool, Pool], accounting: Accounting, rows: list[Row], seed: int
) -> None:
    asked = list({c.key: c for c in map(claim, rows)}.values())
    account = placement.admit(two, accounting, asked)
    mixed = list(asked)
    random.Random(seed).shuffle(mixed)
    assert placement.admit(two, accounting, mixed) == account
    assert [v.key for v in account.verdicts] == sorted(c.key for c in asked)
    verdicts = {v.key: v for v in account.verdicts}
    for one in asked:
        if one.holds:
            assert verdicts[one.key].admission is Admission.ADMITTED
        elif verdicts[one.key].admission is Admission.REFUSED:
            assert verdicts[one.key].reason is not None
            assert verdicts[one.key].message
    held = [c for c in asked if c.holds]
    alone = {p.name: p for p in placement.admit(two, accounting, held).pools}
    for pool, book in zip(two, account.pools, strict=True):
        if pool.node_class is None:
            continue
        cluster = given_.cluster("x", pool, accounting=accounting)
        have = {d.name: d.count for d in pool.node_class.devices}
        if any(count > have.get(name, 0) for a in book.allocations for name, count in a.shape.devices):
            assert book.problems, "what cannot be true for the class is said"
        else:
            assert book.over_committed != packs(replace(pool, allocations=book.allocations), cluster)
        if book.over_committed:
            assert alone[pool.name].allocations == book.allocations, "over-commit is never made worse"
        for name, free in book.free:
            assert 0 <= free <= pool.nodes.present * next(d.count for d in pool.node_class.devices if d.name == name)


class Interleaving:
    """Deployments of one role and two clusters whose reconciles happen in any order, from snapshots of any age."""

    def __init__(self, nodes: int, deployments: list[tuple[int, int]]) -> None:
        self.deployments = deployments
        self.base = {name: given_.cluster(name, given_.pool(nodes, SMALL)) for name in ("c0", "c1")}
        self.seen = dict(self.base)
        self.replicas = {number: Current() for number in range(len(deployments))}
        self.snapshots = dict.fromkeys(self.replicas, Fleet(tuple(self.seen.values())))

    def look(self, number: int) -> None:
        self.snapshots[number] = Fleet(tuple(self.seen.values()))

    def propose(self, number: int) -> None:
        size, count = self.deployments[number]
        intent = Intent(f"ns{number}", "d", count)
        demand = given_.demand(given_.role(size))
        plan = placement.schedule(self.snapshots[number], demand, intent, self.replicas[number])
        self.replicas[number] = given_.as_current(plan, self.replicas[number])

    def admit(self, name: str) -> None:
        base = self.base[name]
        account = placement.admit(base.pools, base.accounting, self._claims_on(name))
        assert not account.over_committed
        books = zip(base.pools, account.pools, strict=True)
        self.seen[name] = replace(
            base,
            pools=tuple(replace(p, allocations=book.allocations) for p, book in books),
            admitted=frozenset(v.key for v in account.verdicts if v.admission is Admission.ADMITTED),
            refused={v.key: given_.note(v.message) for v in account.verdicts if v.admission is Admission.REFUSED},
        )

    def _claims_on(self, name: str) -> list[ReplicaClaim]:
        return [
            ReplicaClaim(
                f"ns{number}/{r.name}", r.holdings, 0, r.created, f"ns{number}/{r.name}" in self.seen[name].admitted
            )
            for number, mine in self.replicas.items()
            for r in mine.replicas
            for key in [f"ns{number}/{r.name}"]
            if r.cluster == name
        ]

    def settles(self) -> bool:
        """Whether in-order reconciles come to rest."""
        before = ""
        for _ in range(12):
            for number in self.replicas:
                self.look(number)
                self.propose(number)
            for name in self.base:
                self.admit(name)
            now = repr((self.seen, self.replicas))
            if now == before:
                return True
            before = now
        return False


@LAW
@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=2, max_size=4),
    st.integers(0, 2**16),
)
def test_interleaved_reconciles_never_overcommit(nodes: int, deployments: list[tuple[int, int]], seed: int) -> None:
    """Deployments propose from snapshots of any age, clusters admit at any moment; nothing is admitted twice over."""
    chance = random.Random(seed)
    world = Interleaving(nodes, deployments)
    for _ in range(25):
        number, name = chance.randrange(len(deployments)), chance.choice(sorted(world.base))
        action = chance.choice([world.look, world.propose, world.propose, None])
        if action is None:
            world.admit(name)
        else:
            action(number)
    assert world.settles(), "proposals and refusals chase each other for ever"
    for cluster in world.seen.values():
        for pool in cluster.pools:
            assert packs(pool, cluster)
