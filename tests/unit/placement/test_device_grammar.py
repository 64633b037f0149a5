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
    Relation,
    Request,
)
from modelplane.placement.decision import Plan, Reason
from modelplane.placement.snapshot import Demand, RoleDemand, Snapshot
from modelplane.workload.model import Role
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
