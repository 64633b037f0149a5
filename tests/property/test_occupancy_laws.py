"""Laws of recorded nodes: what is admitted has its place though nobody is moved, whatever came and went."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from modelplane import placement
from modelplane.placement.decision import Admission, ClusterAccount
from modelplane.placement.snapshot import Accounting, Holding, NodeCounts, PodShape, Pool, ReplicaClaim
from modelplane.workload.model import Role
from tests.support import laws
from tests.support.placements import gpu, node_class, pool

STEPS = 25
ROOMY = node_class(gpu(8), cpu_millis=64_000)


def asks(chance: Random, name: str) -> ReplicaClaim:
    """Return a claim of one or two roles, of whole nodes, parts of them, and gangs."""
    holdings = []
    for role in list(Role)[: chance.choice((1, 1, 1, 2))]:
        shape = PodShape((("gpu", chance.choice((1, 1, 2, 3, 4, 8))),), cpu_millis=chance.choice((0, 0, 1000, 30_000)))
        span = chance.choice((1, 1, 1, 2))
        holdings.append(Holding(role, "main", span * chance.choice((1, 1, 2)), shape, span))
    return ReplicaClaim(f"ns/{name}", tuple(holdings), created=name.rjust(4, "0"))


def stays(account: ClusterAccount, claims: list[ReplicaClaim]) -> list[ReplicaClaim]:
    """Return the admitted claims as the cluster's next call finds them."""
    said = {verdict.key: verdict.admission for verdict in account.verdicts}
    return [
        replace(claim, holds=True, nodes=account.nodes[claim.key])
        for claim in claims
        if said[claim.key] is Admission.ADMITTED
    ]


def check_stand(where: Pool, claims: list[ReplicaClaim]) -> None:
    """Assert that the recorded nodes carry what is on them, and that each gang stands on nodes of its own."""
    devices, millis = Counter[int](), Counter[int]()
    for claim in claims:
        for holding, nodes in zip(claim.holdings, claim.nodes, strict=True):
            assert len(nodes) == holding.pods
            workers = holding.pods // holding.nodes_per_worker
            assert holding.nodes_per_worker == 1 or max(Counter(nodes).values()) <= workers
            for node in nodes:
                devices[node] += dict(holding.shape.devices)["gpu"]
                millis[node] += holding.shape.cpu_millis
    assert len(devices) <= where.nodes.usable
    assert max(devices.values(), default=0) <= 8
    assert max(millis.values(), default=0) <= 64_000


@given(st.integers(1, 5), st.randoms(use_true_random=False))
@settings(max_examples=laws.in_proportion(100), deadline=None)
def test_what_is_admitted_has_its_node_though_nobody_is_moved(nodes: int, chance: Random) -> None:
    where, held = pool(nodes, ROOMY), list[ReplicaClaim]()
    for step in range(STEPS):
        if held and chance.random() < 0.4:
            held.pop(chance.randrange(len(held)))
        came = [asks(chance, f"{step}-{number}") for number in range(chance.choice((0, 1, 2)))]
        account = placement.admit((where,), Accounting.DEVICE, chance.sample([*held, *came], len(held) + len(came)))
        after = stays(account, [*held, *came])
        check_stand(where, after)
        assert after[: len(held)] == held, "who holds a place keeps its nodes"
        held = after


@given(st.integers(2, 5), st.randoms(use_true_random=False))
@settings(max_examples=laws.in_proportion(50), deadline=None)
def test_what_was_admitted_keeps_its_place_when_nodes_come_and_go(nodes: int, chance: Random) -> None:
    held = list[ReplicaClaim]()
    for step in range(STEPS):
        where = pool(NodeCounts(chance.randint(1, nodes)), ROOMY)
        came = [asks(chance, str(step))]
        account = placement.admit((where,), Accounting.DEVICE, [*held, *came])
        after = stays(account, [*held, *came])
        assert [claim.key for claim in after[: len(held)]] == [claim.key for claim in held]
        if len(after) > len(held):
            assert not account.over_committed
            known = [claim for claim in after if all(claim.nodes)]
            check_stand(where, known)
        held = [claim for claim in after if chance.random() > 0.2]
