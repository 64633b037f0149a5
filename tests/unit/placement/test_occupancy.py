"""Nodes that a cluster recorded when it admitted: what is free beside pods that stay is not packed anew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from modelplane import placement
from modelplane.placement.decision import Admission, ClusterAccount, Reason
from modelplane.placement.snapshot import Accounting, Holding, NodeCounts, PodShape, Pool, ReplicaClaim
from modelplane.workload.model import Role
from tests.support.placements import gpu, node_class, pool

EIGHT, FOUR = pool(2), pool(2, node_class(gpu(4)))


def asks(name: str, devices: int, pods: int = 1, span: int = 1) -> ReplicaClaim:
    return ReplicaClaim(f"ns/{name}", (Holding(Role.DECODE, "main", pods, PodShape((("gpu", devices),)), span),))


def admit(where: Pool, *claims: ReplicaClaim) -> ClusterAccount:
    return placement.admit((where,), Accounting.DEVICE, claims)


def stays(account: ClusterAccount, claims: Iterable[ReplicaClaim], *, but: str = "") -> list[ReplicaClaim]:
    """Return the claims of those admitted as the cluster's next call finds them, without some that went."""
    went = {f"ns/{name}" for name in but.split()}
    return [
        replace(claim, holds=True, nodes=account.nodes[claim.key])
        for claim in claims
        if claim.key in account.nodes and claim.key not in went
    ]


def admitted(account: ClusterAccount, name: str) -> bool:
    found = {verdict.key: verdict.admission for verdict in account.verdicts}
    return found[f"ns/{name}"] is Admission.ADMITTED


HALVES = [asks("a", 4), asks("b", 4), asks("c", 4), asks("d", 4)]


def test_two_halves_are_not_a_whole_node() -> None:
    before = admit(EIGHT, *HALVES)
    assert before.nodes == {"ns/a": ((0,),), "ns/b": ((0,),), "ns/c": ((1,),), "ns/d": ((1,),)}
    left = stays(before, HALVES, but="b d")
    account = admit(EIGHT, *left, asks("whole", 8))
    assert not admitted(account, "whole")
    (refused,) = [one for one in account.verdicts if one.key == "ns/whole"]
    assert refused.reason is Reason.INSUFFICIENT_NODES
    assert refused.message == (
        "main: want 1 pod x 8 gpu, has room for 0; what else is free lies beside pods that are not moved"
    )
    assert admitted(admit(EIGHT, *left, asks("half", 4)), "half")
    assert admitted(admit(EIGHT, *stays(before, HALVES, but="c d"), asks("whole", 8)), "whole")


def test_each_takes_the_fullest_node_with_room() -> None:
    three = pool(3)
    claims = [asks("a", 5), asks("b", 6), asks("c", 2), asks("d", 3), asks("e", 1)]
    assert admit(three, *claims).nodes == {
        "ns/a": ((0,),),
        "ns/b": ((1,),),
        "ns/c": ((1,),),
        "ns/d": ((0,),),
        "ns/e": ((2,),),
    }


def test_pods_of_a_gang_stand_on_different_nodes() -> None:
    claims = [asks("gang", 2, pods=4, span=2), asks("one", 2)]
    assert admit(EIGHT, *claims).nodes["ns/gang"] == ((0, 0, 1, 1),)


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param((), id="admitted by a version that recorded none"),
        pytest.param(((7,),), id="a number beyond the pool, which names a node all the same"),
        pytest.param(((0, 1),), id="other than the pods it has"),
        pytest.param(((0,), (1,)), id="other than the holdings it has"),
    ],
)
def test_records_that_say_nothing_are_made_anew(nodes: tuple[tuple[int, ...], ...]) -> None:
    account = admit(EIGHT, replace(asks("a", 4), holds=True, nodes=nodes), asks("b", 4), asks("whole", 8))
    assert account.nodes["ns/a"] == account.nodes["ns/b"] != account.nodes["ns/whole"]
    assert all(one.admission is Admission.ADMITTED for one in account.verdicts)


def test_where_a_node_was_lost_what_is_held_is_packed_anew() -> None:
    three = [replace(asks(name, 4), holds=True, nodes=((number,),)) for number, name in enumerate("abc")]
    assert set(admit(pool(3), *three).nodes.values()) == {((0,),), ((1,),), ((2,),)}
    account = admit(EIGHT, *three, asks("half", 4), asks("one", 1))
    assert account.nodes["ns/a"] == account.nodes["ns/b"] != account.nodes["ns/c"] == account.nodes["ns/half"]
    assert not admitted(account, "one")


@pytest.mark.parametrize("allocatable", [3, 1, 0])
def test_a_node_that_rests_for_a_while_makes_nobody_forget_who_stands_where(allocatable: int) -> None:
    halves = [replace(asks(name, 4), holds=True, nodes=((number,),)) for number, name in enumerate("abcd")]
    assert not admitted(admit(pool(4), *halves, asks("whole", 8)), "whole")
    account = admit(pool(NodeCounts(4, 4, allocatable=allocatable)), *halves, asks("whole", 8))
    assert not admitted(account, "whole")
    kept = stays(account, halves)
    assert kept == halves
    assert not admitted(admit(pool(NodeCounts(4, 4, allocatable=4)), *kept, asks("whole", 8)), "whole")


def test_beside_a_node_that_rests_others_take_what_comes() -> None:
    three = [replace(asks(name, 8), holds=True, nodes=((number,),)) for number, name in enumerate("abc")]
    resting = pool(NodeCounts(5, 5, allocatable=4))
    account = admit(resting, *three, asks("one", 8), asks("two", 8))
    assert (admitted(account, "one"), admitted(account, "two")) == (True, False)


def test_where_a_node_became_smaller_what_is_held_stays_and_nothing_comes() -> None:
    held = [replace(one, holds=True, nodes=((0,),)) for one in HALVES[:2]]
    account = admit(FOUR, *held, asks("one", 1))
    assert account.nodes["ns/a"] != account.nodes["ns/b"], "each takes a whole node of four"
    assert not admitted(account, "one")


def test_more_is_held_than_there_is() -> None:
    account = admit(EIGHT, *[replace(asks(name, 8), holds=True) for name in "abc"], asks("one", 1))
    assert account.nodes["ns/a"] == ((),)
    assert not admitted(account, "one")


def test_a_change_stays_where_it_stands() -> None:
    (b,) = stays(admit(EIGHT, *HALVES), HALVES, but="a c d")
    alone = replace(b, nodes=((1,),), wants=(replace(b.holdings[0], shape=PodShape((("gpu", 2),))),))
    assert admit(EIGHT, alone).nodes == {"ns/b": ((1,),)}
    larger = replace(alone, wants=asks("b", 8).holdings)
    assert admit(EIGHT, larger).nodes == {"ns/b": ((1,),)}
    beside = replace(asks("c", 2), holds=True, nodes=((1,),))
    assert admit(EIGHT, larger, beside).nodes == {"ns/b": ((0,),), "ns/c": ((1,),)}, "where it has no room, elsewhere"
    refused = admit(EIGHT, larger, beside, replace(asks("d", 2), holds=True, nodes=((0,),)))
    assert refused.nodes["ns/b"] == ((1,),), "what is refused stays where it was"
    assert refused.changes[0].admission is Admission.REFUSED


def test_nodes_of_a_pool_without_its_class_are_kept() -> None:
    held = replace(asks("a", 4), holds=True, nodes=((3,),))
    assert admit(pool(1, None), held).nodes == {"ns/a": ((3,),)}
    assert placement.admit((), Accounting.DEVICE, [held]).nodes == {"ns/a": ((3,),)}


def test_too_many_pods_are_counted_by_sums_alone() -> None:
    many = pool(300)
    claims = [asks("crowd", 1, pods=1025), asks("a", 8)]
    account = admit(many, *claims)
    assert admitted(account, "crowd")
    assert admitted(account, "a")
    assert set(account.nodes.values()) == {((),)}
