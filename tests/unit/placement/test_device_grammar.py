"""Device requests on a fleet: alternatives by rank, device taints, all devices, mixtures, versions of Kubernetes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modelplane import placement
from modelplane.devices import locality, matching
from modelplane.devices.matching import MissKind
from modelplane.devices.model import (
    Attribute,
    AttributeKind,
    Constraint,
    Device,
    DeviceTaint,
    DeviceTaintEffect,
    DeviceToleration,
    Mode,
    NodeClass,
    Policy,
    Range,
    Relation,
    Request,
)
from modelplane.placement import snapshot
from modelplane.placement.decision import Plan, Reason
from modelplane.placement.snapshot import Allocation, Demand, Holding, PodShape, RoleDemand, Snapshot
from modelplane.units import quantity
from modelplane.workload.model import Role
from tests.support import mig
from tests.support import placements as build
from tests.support.placements import cluster, current, fleet, gpu, intent, node_class, pool, replica

KIND = f'device.attributes["{build.GPU}"].kind'
BIG, SMALL = gpu(8, "143771Mi", kind="big"), gpu(8, "23034Mi", kind="small")
BIG_CLASS, SMALL_CLASS = node_class(BIG, name="big"), node_class(SMALL, name="small")
SICK = DeviceTaint("sick", DeviceTaintEffect.NO_EXECUTE)
TOLERATES = DeviceToleration("sick", is_equal=False)
CHOICE = Request(
    "gpu",
    8,
    alternatives=(Request("big", 8, (f'{KIND} == "big"',)), Request("small", 8, (f'{KIND} == "small"',))),
)


def demand(*requests: Request) -> Demand:
    return Demand((RoleDemand(Role.DECODE, 1, 1, requests),))


def served(plan: Plan) -> list[tuple[str, str]]:
    """Return the cluster and the alternative of each replica."""
    return [(one.cluster, one.roles[0].devices[0].alternative) for one in plan.replicas]


def test_the_most_wanted_comes_before_the_cheapest() -> None:
    dear = cluster("dear", pool(1, replace(BIG_CLASS, cost_per_node_hour="90")))
    cheap = cluster("cheap", pool(4, replace(SMALL_CLASS, cost_per_node_hour="1")))
    plan = placement.schedule(fleet(cheap, dear), demand(CHOICE), intent(1), build.NOTHING)
    assert served(plan) == [("dear", "big")]
    plan = placement.schedule(fleet(cheap, dear), demand(CHOICE), intent(3), build.NOTHING)
    assert sorted(served(plan)) == [("cheap", "small"), ("cheap", "small"), ("dear", "big")]


def test_why_not_the_first_is_told() -> None:
    both = cluster("c", pool(1, BIG_CLASS, [build.used(1)], "big"), pool(1, SMALL_CLASS, name="small"))
    fleet_ = fleet(both)
    plan = placement.schedule(fleet_, demand(CHOICE), intent(1), build.NOTHING)
    snapshot = Snapshot(fleet_, demand(CHOICE), intent(1), build.NOTHING)
    (standing,) = placement.standings(snapshot, plan)
    assert standing.alternatives == (
        'request "gpu" is served by small, alternative 2 of 2; big: there are not enough free devices',
    )
    alone = fleet(cluster("c", pool(1, SMALL_CLASS, name="small")))
    plan = placement.schedule(alone, demand(CHOICE), intent(1), build.NOTHING)
    (standing,) = placement.standings(replace(snapshot, fleet=alone), plan)
    assert standing.alternatives == (
        'request "gpu" is served by small, alternative 2 of 2; big: small: no device matches request "big"',
    )


def test_a_refusal_tells_of_every_alternative() -> None:
    found = placement.explain(
        fleet(cluster("c", pool(1, node_class(gpu(8, kind="other"))))), demand(CHOICE), intent(1), build.NOTHING
    )
    assert 'no alternative of request "gpu" is served' in found.verdicts[0].detail
    assert found.verdicts[0].reason is Reason.NO_MATCHING_DEVICE


def test_a_taint_keeps_new_ones_away_and_moves_nobody_before_it_ends_pods() -> None:
    tainted = locality.on_cluster(build.H200, (("", replace(SICK, effect=DeviceTaintEffect.NO_SCHEDULE)),), 36)
    old = replica(0, "c", created="2026-01-01T00:00:00Z")
    where = fleet(cluster("c", pool(2, tainted, [build.used(1)]), admitted=frozenset({"ml-team/llama-0"})))
    plan = placement.schedule(where, build.demand(), intent(2), current(old))
    assert [(one.name, str(one.state)) for one in plan.replicas] == [("llama-0", "retained")]
    assert plan.shortfall is not None
    assert "has the taint sick:NoSchedule, which the request does not tolerate" in plan.shortfall.message


def test_a_taint_that_ends_pods_moves_what_does_not_tolerate_it() -> None:
    tainted = locality.on_cluster(build.H200, ((build.GPU, SICK),), 36)
    old = replica(0, "c")
    where = fleet(
        cluster("c", pool(2, tainted, [build.used(1)]), admitted=frozenset({"ml-team/llama-0"})), cluster("free")
    )
    plan = placement.schedule(where, build.demand(), intent(1), current(old))
    assert [(one.cluster, one.replaces) for one in plan.replicas if one.replaces] == [("free", "llama-0")]
    tolerant = demand(Request("gpu", 8, tolerations=(TOLERATES,)))
    plan = placement.schedule(where, tolerant, intent(1), current(old))
    assert [one.name for one in plan.replicas] == ["llama-0"]


def test_all_is_all_there_is() -> None:
    every = Request("gpu", 4, mode=Mode.ALL)
    (option,) = matching.match(node_class(gpu(8, kind="a")), (every,)).options
    assert option.counted == (("gpu", 8),)
    busy = fleet(cluster("c", pool(2, build.H200, [build.used(1, 1)])))
    plan = placement.schedule(busy, demand(every), intent(2), build.NOTHING)
    assert [one.cluster for one in plan.replicas] == ["c"], "one node is partly in use, so all of it is not free"
    few = matching.match(node_class(gpu(2)), (every,))
    assert few.miss is not None
    assert few.miss.kind is MissKind.TOO_FEW


def test_all_meets_a_tainted_device() -> None:
    sick = replace(gpu(1, name="sick", kind="x"), taints=(SICK,))
    found = matching.match(node_class(gpu(7, kind="a"), sick), (Request("gpu", 1, mode=Mode.ALL),))
    assert found.miss is not None
    assert found.miss.kind is MissKind.KEPT_AWAY
    assert "sick has the taint sick:NoExecute" in found.miss.detail


def test_several_kinds_serve_one_request_where_they_can_be_told_apart() -> None:
    told = node_class(gpu(2, name="one", kind="one"), gpu(2, name="two", kind="two"))
    (option, *_) = matching.match(told, (Request("gpu", 3),)).options
    assert option.counted == (("one", 2), ("two", 1))
    alike = node_class(gpu(2, name="one"), gpu(2, name="two"))
    found = matching.match(alike, (Request("gpu", 3),))
    assert found.miss is not None
    assert "published values" in found.miss.detail


def test_one_kind_goes_before_several() -> None:
    found = matching.match(
        node_class(gpu(1, name="one", kind="one"), gpu(4, name="two", kind="two")), (Request("g", 2),)
    )
    assert [option.counted for option in found.options] == [(("two", 2),)]


@pytest.mark.parametrize("count", [33, 64])
def test_a_claim_holds_32_devices(count: int) -> None:
    found = matching.match(node_class(gpu(64)), (Request("gpu", count),))
    assert found.miss is not None
    assert "more than the 32 devices of a claim" in found.miss.detail
    assert matching.match(node_class(gpu(64)), (Request("gpu", 32),)).options


@pytest.mark.parametrize(
    ("request_", "constraint", "needs"),
    [
        pytest.param(Request("gpu", 1, tolerations=(TOLERATES,)), (), "a toleration of device taints", id="toleration"),
        pytest.param(Request("gpu", 1, capacity=(("memory", "1Gi"),)), (), "a capacity request", id="capacity"),
        pytest.param(
            Request("gpu", 1), (Constraint("net/rail", (), Relation.DISTINCT),), "distinctAttribute", id="distinct"
        ),
    ],
)
def test_what_a_version_lacks_is_refused_with_the_version_that_has_it(
    request_: Request, constraint: tuple[Constraint, ...], needs: str
) -> None:
    rail = replace(gpu(), attributes=(("net/rail", Attribute(AttributeKind.STRING, "a")),))
    for minor in (34, 35):
        found = matching.match(NodeClass("c", (rail,), kubernetes_minor=minor), (request_,), constraint)
        assert found.miss is not None
        assert f"{needs} needs Kubernetes 1.36, and the cluster runs 1.{minor}" in found.miss.detail
    assert matching.match(NodeClass("c", (rail,)), (request_,), constraint).options


@pytest.mark.parametrize("minor", [34, 35])
def test_parts_of_devices_are_refused_where_the_version_lacks_counters(minor: int) -> None:
    h100 = mig.node_class("H100", 1)
    assert matching.match(h100, (Request("gpu", 1),)).options
    found = matching.match(locality.on_cluster(h100, (), minor), (Request("gpu", 1),))
    assert found.miss is not None
    assert f"consumes shared counters, which needs Kubernetes 1.36, and the cluster runs 1.{minor}" in found.miss.detail


RAILS = replace(gpu(8), attributes=(*gpu(8).attributes, ("net/rail", Attribute(AttributeKind.STRINGS, ("a", "b")))))
ON_RAIL = 'device.attributes["net"].rail.includes("a")'


def test_lists_are_placed_where_the_gate_is_on_and_refused_elsewhere_with_its_name() -> None:
    for selectors in ((ON_RAIL,), ()):
        asked = (Request("gpu", 1, selectors),)
        listed = locality.on_cluster(node_class(RAILS), (), 36, lists_are_on=True)
        assert matching.match(listed, asked).options
        found = matching.match(locality.on_cluster(node_class(RAILS), (), 36), asked)
        assert found.miss is not None
        assert found.miss.kind is MissKind.KEPT_AWAY
        assert "feature gate DRAListTypeAttributes of Kubernetes 1.36" in found.miss.detail


def test_a_selector_over_lists_is_refused_where_devices_have_none() -> None:
    rail = replace(gpu(8), attributes=(("net/rail", Attribute(AttributeKind.STRING, "a")),))
    found = matching.match(node_class(rail), (Request("gpu", 1, (ON_RAIL,)),))
    assert found.miss is not None
    assert "a selector over lists needs the feature gate DRAListTypeAttributes" in found.miss.detail
    assert matching.match(replace(node_class(rail), lists_are_on=True), (Request("gpu", 1, (ON_RAIL,)),)).options


@pytest.mark.parametrize(
    ("relation", "nic", "serves"),
    [
        pytest.param(Relation.MATCH, ("b", "c"), True, id="a-value-in-common-matches"),
        pytest.param(Relation.MATCH, ("c",), False, id="none-does-not"),
        pytest.param(Relation.MATCH, "b", True, id="a-scalar-is-a-list-of-one"),
        pytest.param(Relation.MATCH, 1, False, id="of-another-type"),
        pytest.param(Relation.DISTINCT, ("c",), True, id="none-in-common-differs"),
        pytest.param(Relation.DISTINCT, ("b", "c"), False, id="one-in-common-does-not"),
    ],
)
def test_constraints_over_lists(relation: Relation, nic: tuple[str, ...] | str | int, *, serves: bool) -> None:
    kinds = {tuple: AttributeKind.STRINGS, str: AttributeKind.STRING, int: AttributeKind.INT}
    other = replace(build.nic(1), attributes=(("net/rail", Attribute(kinds[type(nic)], nic)),))
    listed = NodeClass("c", (RAILS, other), lists_are_on=True)
    requests = (Request("gpu", 1, (build.WANTS_140,)), Request("nic", 1, ('device.driver == "dra.net"',)))
    assert bool(matching.match(listed, requests, (Constraint("net/rail", (), relation),)).options) is serves


TEN = quantity("10Gi")
SHARED = replace(
    gpu(2, "80Gi"), allow_multiple_allocations=True, policies=(("memory", Policy(TEN, Range(TEN, None, TEN))),)
)


def part(memory: str, count: int = 1) -> Request:
    return Request("gpu", count, capacity=(("memory", memory),))


@pytest.mark.parametrize(
    ("asked", "placed"),
    [
        pytest.param(part("35Gi"), 8, id="two-of-40Gi-on-each-of-four"),
        pytest.param(part("41Gi"), 4, id="more-than-half"),
        pytest.param(part("10Gi", 2), 16, id="a-part-of-both-devices-of-a-node"),
        pytest.param(Request("gpu", 1), 32, id="nothing-said-takes-the-default"),
        pytest.param(part("81Gi"), 0, id="more-than-a-device-has"),
        pytest.param(part("10Gi", 3), 0, id="more-devices-than-a-node-has"),
    ],
)
def test_pods_share_devices_as_far_as_their_capacity_goes(asked: Request, placed: int) -> None:
    there = fleet(cluster("c", pool(2, node_class(SHARED))))
    plan = placement.schedule(there, demand(asked), intent(40), build.NOTHING)
    assert len(plan.replicas) == placed


def test_a_refusal_says_what_pods_would_take_of_a_shared_device() -> None:
    held = PodShape((("gpu", 1),), consumed=(("gpu/memory", 50 * 2**30 * 10**9),))
    there = fleet(cluster("c", pool(1, node_class(SHARED), [Allocation(held, 2)])))
    found = placement.explain(there, demand(part("35Gi")), intent(1), build.NOTHING)
    assert "want 1 pod x 1 gpu (memory 40Gi)" in found.message
    found = placement.explain(there, demand(part("91Gi")), intent(1), build.NOTHING)
    assert "gpu publishes 80Gi, and capacity memory of 91Gi is asked" in found.message


def test_a_device_that_was_given_whole_stays_whole_when_its_class_begins_to_share() -> None:
    """Of pods that were admitted by a class without sharing, or by a cluster before 1.36, no capacity is recorded."""
    held = [Allocation(PodShape((("gpu", 1),)), 2)]
    there = fleet(cluster("c", pool(1, node_class(SHARED), held)))
    plan = placement.schedule(there, demand(part("40Gi")), intent(4), build.NOTHING)
    assert not plan.replicas


def test_a_part_of_nothing_is_not_the_whole() -> None:
    free = replace(SHARED, policies=())
    (option,) = matching.match(node_class(free), (part("0"),)).options
    held = [Allocation(PodShape(option.counted, consumed=option.consumed), 9)]
    there = fleet(cluster("c", pool(1, node_class(free), held)))
    plan = placement.schedule(there, demand(part("80Gi")), intent(4), build.NOTHING)
    assert len(plan.replicas) == 2


def test_a_device_of_any_name_is_shared_beside_the_memory_of_its_node() -> None:
    there = fleet(cluster("c", pool(1, replace(node_class(replace(SHARED, name="node")), memory_bytes=2**40))))
    plan = placement.schedule(there, demand(part("80Gi")), intent(4), build.NOTHING)
    assert len(plan.replicas) == 2


GIB = 2**30 * 10**9


def holding(number: int, memory: int | None) -> tuple[Holding, ...]:
    """Return a pod that holds so many devices, with so much memory of all of them; None for all they have."""
    taken = () if memory is None else (("gpu/memory", memory * GIB),)
    return (Holding(Role.DECODE, "main", 1, PodShape((("gpu", number),), consumed=taken)),)


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        pytest.param(holding(1, 10), holding(1, 10), id="the-same"),
        pytest.param(holding(1, 10), holding(2, 20), id="one-of-two-equal-parts"),
        pytest.param(holding(1, 10), holding(1, None), id="a-part-for-the-whole"),
        pytest.param(holding(1, None), holding(1, None), id="whole-devices"),
    ],
)
def test_no_more_of_any_device_is_a_change_in_place(wanted: tuple[Holding, ...], held: tuple[Holding, ...]) -> None:
    assert snapshot.within(wanted, held)


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        pytest.param(holding(1, 20), holding(2, 20), id="as-much-of-fewer-devices"),
        pytest.param(holding(2, 10), holding(1, 10), id="as-much-of-more-devices"),
        pytest.param(holding(1, None), holding(1, 10), id="the-whole-for-a-part"),
    ],
)
def test_more_of_some_device_is_no_change_in_place(wanted: tuple[Holding, ...], held: tuple[Holding, ...]) -> None:
    assert not snapshot.within(wanted, held)


def test_before_1_36_one_pod_has_the_device() -> None:
    old = locality.on_cluster(node_class(SHARED), (), 35)
    plan = placement.schedule(fleet(cluster("c", pool(2, old))), demand(Request("gpu", 1)), intent(40), build.NOTHING)
    assert len(plan.replicas) == 4
    found = matching.match(old, (part("10Gi"),))
    assert found.miss is not None
    assert "a capacity request needs Kubernetes 1.36, and the cluster runs 1.35" in found.miss.detail


def test_all_of_a_shared_device_is_not_offered() -> None:
    found = matching.match(node_class(SHARED), (Request("gpu", 1, mode=Mode.ALL),))
    assert found.miss is not None
    assert "all of a device that is shared is not offered" in found.miss.detail


def test_an_old_cluster_serves_the_alternatives_it_has() -> None:
    choice = replace(
        CHOICE,
        alternatives=(Request("big", 8, (), tolerations=(TOLERATES,)), Request("small", 8, (f'{KIND} == "small"',))),
    )
    old = replace(SMALL_CLASS, kubernetes_minor=34)
    assert [option.rank for option in matching.match(old, (choice,)).options] == [1]


def test_ten_kinds_and_eight_alternatives_each_are_bounded() -> None:
    kinds: tuple[Device, ...] = tuple(gpu(2, name=f"kind-{i}", kind=f"k{i}") for i in range(10))
    each = tuple(Request(f"a{i}", 2, (f'{KIND} != "k{i}"',)) for i in range(8))
    requests = tuple(Request(f"r{i}", 2, alternatives=each) for i in range(4))
    found = matching.match(NodeClass("c", kinds), requests)
    assert 0 < len(found.options) <= matching.RANKED_MAX
    assert found.options[0].rank == 0
