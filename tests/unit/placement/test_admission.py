"""The cluster's say: who is admitted, who is refused and why, and what is published."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane import placement
from modelplane.placement.decision import Admission, ClusterAccount, Reason
from modelplane.placement.queue_room import QueueRoom
from modelplane.placement.snapshot import Accounting, Holding, NodeCounts, PodShape, ReplicaClaim
from modelplane.workload.model import Role
from tests.support.placements import gpu, nic, node_class, pool, synthetic, used


def claim(name: str, devices: int = 8, pods: int = 1, span: int = 1, where: str = "main", **more: Any) -> ReplicaClaim:
    shape = PodShape((("gpu", devices),))
    return ReplicaClaim(f"ns/{name}", (Holding(Role.DECODE, where, pods, shape, span),), **more)


def say(pools: Any, *claims: ReplicaClaim, accounting: Accounting = Accounting.DEVICE) -> dict[str, Admission]:
    account = placement.admit(tuple(pools), accounting, claims)
    return {verdict.key.removeprefix("ns/"): verdict.admission for verdict in account.verdicts}


A, R, P = Admission.ADMITTED, Admission.REFUSED, Admission.PENDING

CASES = [
    ("room for both", [pool(2)], [claim("a"), claim("b")], {"a": A, "b": A}),
    ("first come, first served", [pool(1)], [claim("b", created="1"), claim("a", created="2")], {"a": R, "b": A}),
    ("equal times: by name", [pool(1)], [claim("b"), claim("a")], {"a": A, "b": R}),
    (
        "priority before age",
        [pool(1)],
        [claim("a", created="1"), claim("b", created="2", priority=1)],
        {"a": R, "b": A},
    ),
    (
        "who holds a place before priority",
        [pool(1)],
        [claim("a", holds=True), claim("b", priority=9)],
        {"a": A, "b": R},
    ),
    ("a small one passes a large one that does not fit", [pool(1)], [claim("a", 16), claim("b", 4)], {"a": R, "b": A}),
    ("held though the pool shrank", [pool(0)], [claim("a", holds=True)], {"a": A}),
    ("held though the pool is gone", [], [claim("a", holds=True)], {"a": A}),
    ("held though the class is gone", [pool(1, None)], [claim("a", holds=True)], {"a": A}),
    ("not judged without its class", [pool(1, None)], [claim("a")], {"a": P}),
    ("no such pool", [pool(1)], [claim("a", where="other")], {"a": R}),
    (
        "over-commit is not made worse",
        [pool(1)],
        [claim("a", holds=True), claim("b", holds=True), claim("c", 1)],
        {"a": A, "b": A, "c": R},
    ),
    ("a gang on different nodes", [pool(1)], [claim("a", 4, 2, 2)], {"a": R}),
    ("growable nodes are room", [pool(NodeCounts(0, maximum=1))], [claim("a")], {"a": A}),
]


@pytest.mark.parametrize(("reason", "pools", "claims", "want"), CASES, ids=[row[0] for row in CASES])
def test_verdicts(reason: str, pools: Any, claims: Any, want: dict[str, Admission]) -> None:
    assert say(pools, *claims) == want, reason
    assert say(pools, *reversed(claims)) == want, "the order of claims does not matter"


def test_whole_node_accounting() -> None:
    claims = [claim("a", 1), claim("b", 1), claim("c", 1)]
    assert say([pool(2)], *claims, accounting=Accounting.NODE) == {"a": A, "b": A, "c": R}
    account = placement.admit((pool(2),), Accounting.NODE, claims)
    assert account.pools[0].free == (("gpu", 0),)
    assert account.verdicts[2].reason is Reason.INSUFFICIENT_NODES


def test_both_roles_or_neither() -> None:
    shape = PodShape((("gpu", 8),))
    both = tuple(Holding(role, "main", 1, shape) for role in Role)
    assert say([pool(1)], ReplicaClaim("ns/a", both), claim("b")) == {"a": R, "b": A}


REASONS = [
    (claim("a", where="other"), Reason.NO_MATCHING_DEVICE, "this cluster has no pool other"),
    (claim("a", 16), Reason.INSUFFICIENT_DEVICES, "main: one pod asks for more than a node of class h200-8x has"),
    (claim("a", 8, 2), Reason.INSUFFICIENT_DEVICES, "main: want 2 nodes x 8 gpu, has 1 node x 8 gpu free"),
    (claim("a", 8, 2, 2), Reason.INSUFFICIENT_NODES, "main: a worker spans 2 nodes, the pool has 1"),
    (
        ReplicaClaim("ns/a", (Holding(Role.DECODE, "main", 1, PodShape((("tpu", 1),))),)),
        Reason.NO_MATCHING_DEVICE,
        "main: class h200-8x has no device tpu (it has gpu)",
    ),
]


@pytest.mark.parametrize(("asked", "reason", "message"), REASONS, ids=[row[2] for row in REASONS])
def test_refusals_say_why(asked: ReplicaClaim, reason: Reason, message: str) -> None:
    (verdict,) = placement.admit((pool(1),), Accounting.DEVICE, [asked]).verdicts
    assert (verdict.reason, verdict.message) == (reason, message)


def test_what_is_published() -> None:
    both = pool(NodeCounts(3, maximum=4), node_class(gpu(8), nic(4), synthetic(), name="both"))
    claims = [claim("a", 8, 2, 2, holds=True), claim("b", 2, 3), claim("c", 2, 1)]
    (book,) = placement.admit((both,), Accounting.DEVICE, claims).pools
    assert [(entry.shape.devices, entry.pods, entry.nodes_per_worker) for entry in book.allocations] == [
        ((("gpu", 2),), 4, 1),
        ((("gpu", 8),), 2, 2),
    ]
    assert book.free == (("gpu", 0), ("nic", 12))
    assert (book.nodes_used, book.over_committed, book.problems) == (3, False, ())


def test_published_allocations_are_not_read_back() -> None:
    """They are this function's own output: the claims are the truth."""
    (book,) = placement.admit((pool(1, used=[used(5)]),), Accounting.DEVICE, [claim("a")]).pools
    assert [entry.pods for entry in book.allocations] == [1]


def test_an_over_committed_pool_says_so() -> None:
    account = placement.admit((pool(1),), Accounting.DEVICE, [claim("a", holds=True), claim("b", holds=True)])
    assert account.over_committed
    assert account.pools[0].free == (("gpu", 0),)


def test_a_shrunken_class_is_reported() -> None:
    small = pool(2, node_class(gpu(4)))
    (book,) = placement.admit((small,), Accounting.DEVICE, [claim("a", holds=True)]).pools
    assert book.problems == ("1 pods hold more than one node of class h200-8x has",)


def test_allocations_survive_a_missing_class() -> None:
    """What is admitted stays published, or the next reader would think the pool empty."""
    (book,) = placement.admit((pool(1, None),), Accounting.DEVICE, [claim("a", holds=True)]).pools
    assert [entry.pods for entry in book.allocations] == [1]
    assert book.problems


# --- the quota of a queue ---------------------------------------------------------------------------------------------


def wanting(name: str, devices: int, more: int) -> ReplicaClaim:
    """Return a claim that holds a pod of some devices, and wants one of others."""
    return claim(name, devices, holds=True, wants=claim(name, more).holdings)


def queued(limit: int, *claims: ReplicaClaim) -> ClusterAccount:
    return placement.admit((pool(4),), Accounting.DEVICE, claims, frozenset(), QueueRoom("q", limit, 0))


@pytest.mark.parametrize(
    ("limit", "change", "said"),
    [
        pytest.param(2, claim("a", 4, where="main").holdings, A, id="as many, though the quota allows less"),
        pytest.param(2, claim("a", 2, pods=2).holdings, A, id="as many in two pods"),
        pytest.param(10, claim("a", 6).holdings, A, id="more, and there is room"),
        pytest.param(9, claim("a", 6).holdings, R, id="more, and one is too many"),
    ],
)
def test_a_change_under_the_quota_of_a_queue_counts_what_it_takes_more(
    limit: int, change: tuple[Holding, ...], said: Admission
) -> None:
    account = queued(limit, claim("a", 4, holds=True, wants=change), claim("b", 4, holds=True))
    assert [one.admission for one in account.changes] == [said]
    assert [one.admission for one in account.verdicts] == [A, A]


def test_a_refused_change_leaves_the_count_of_the_queue_as_it_was() -> None:
    account = queued(10, wanting("a", 4, 8), claim("b", 4, holds=True), claim("c", 3))
    assert [one.admission for one in account.changes] == [R]
    assert {one.key: one.admission for one in account.verdicts} == {"ns/a": A, "ns/b": A, "ns/c": R}


def test_who_leaves_frees_the_quota_of_the_queue() -> None:
    """The nodes have room; the quota has none until the one that offers to move has left."""
    account = queued(8, claim("a", 4, holds=True, leaves="d"), claim("b", 4, holds=True), claim("c", 4))
    assert account.asked == (("ns/a", ("main",)),)
