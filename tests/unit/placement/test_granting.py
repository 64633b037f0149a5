"""Charges and grants of a quota."""

from __future__ import annotations

from fractions import Fraction

import pytest

from modelplane.devices.model import Claim, Device, NodeClass
from modelplane.placement import granting
from modelplane.placement.charging import Charge, Charger
from modelplane.placement.granting import Ask, QuotaQuestion
from modelplane.placement.snapshot import Accounting, Holding, NodeCounts, PodShape, Pool
from modelplane.workload import allowance
from modelplane.workload.allowance import Limit, Measure, Quota
from modelplane.workload.model import Role
from modelplane.workload.tenancy import Tenants

GPU = Device(name="gpu", driver="gpu.example.com", count=8, claim=Claim.DRA)
NIC = Device(name="nic", driver="nic.example.com", count=2, claim=Claim.DRA)
LARGE = NodeClass("large", (GPU, NIC), cpu_millis=96_000, cost_per_node_hour="80.00")
POOLS = {
    "a": Pool("a", "large", LARGE, NodeCounts(1)),
    "gone": Pool("gone", "no-such", None, NodeCounts(1)),
}


def devices(**selected: object) -> Limit:
    return Limit("d", Measure.DEVICES, Fraction(8), **selected)  # type: ignore[arg-type]


OF_CLASS, OF_OTHER = devices(class_name="large"), devices(class_name="small")
OF_DRIVER = devices(selectors=('device.driver == "gpu.example.com"',))
ABORTING = devices(selectors=('device.attributes["gpu.example.com"].no.such == "x"',))
REPLICAS = Limit("replicas", Measure.REPLICAS, Fraction(2))
COST = Limit("costPerHour", Measure.COST, Fraction(100), currency="USD")
EUROS = Limit("costPerHour", Measure.COST, Fraction(100), currency="EUR")


def held(pool: str = "a", pods: int = 2, cpu: int = 0, **shape: int) -> Holding:
    return Holding(Role.DECODE, pool, pods, PodShape(tuple(sorted(shape.items())), cpu))


@pytest.mark.parametrize(
    ("limit", "holding", "accounting", "amount"),
    [
        pytest.param(OF_CLASS, held(gpu=4, nic=1), Accounting.DEVICE, "10", id="every device of the class"),
        pytest.param(OF_OTHER, held(gpu=4), Accounting.DEVICE, "0", id="another class"),
        pytest.param(OF_DRIVER, held(gpu=4, nic=1), Accounting.DEVICE, "8", id="selected devices"),
        pytest.param(ABORTING, held(gpu=4), Accounting.DEVICE, "0", id="an expression that fails selects nothing"),
        pytest.param(OF_CLASS, held(gpu=1), Accounting.NODE, "16", id="a pod that takes its node takes all of it"),
        pytest.param(OF_DRIVER, held("gone", gpu=4), Accounting.DEVICE, "8", id="unknown devices count for all"),
        pytest.param(OF_OTHER, held("no-such", gpu=4), Accounting.DEVICE, "8", id="so do those of an unknown pool"),
        pytest.param(REPLICAS, held(gpu=4), Accounting.DEVICE, "1", id="one replica"),
        pytest.param(COST, held(gpu=4), Accounting.DEVICE, "80", id="half a node, twice"),
        pytest.param(COST, held(gpu=1, nic=1), Accounting.DEVICE, "80", id="the largest part of a node"),
        pytest.param(COST, held(gpu=1, cpu=48_000), Accounting.DEVICE, "80", id="cpu is a part too"),
        pytest.param(COST, held(gpu=1), Accounting.NODE, "160", id="whole nodes"),
        pytest.param(COST, held(pods=1), Accounting.DEVICE, "0", id="a pod without anything that counts"),
        pytest.param(COST, held(pods=1, gpu=1, cpu=32_000), Accounting.DEVICE, "26.666666", id="down to a millionth"),
    ],
)
def test_a_charge(limit: Limit, holding: Holding, accounting: Accounting, amount: str) -> None:
    found = Charger((limit,)).of([holding], POOLS, accounting)
    assert [allowance.written(one) for one in found.amounts] == [amount]
    assert found.unknown == ("",)


@pytest.mark.parametrize(
    ("limit", "pool", "said"),
    [
        pytest.param(EUROS, "a", "InferenceClass large has no cost in EUR; set its spec.cost", id="another currency"),
        pytest.param(COST, "gone", "InferenceClass no-such has no cost in USD; set its spec.cost", id="no class"),
        pytest.param(COST, "x", "the class of pool x is not known, so its cost is not", id="no pool"),
    ],
)
def test_a_cost_that_is_not_known(limit: Limit, pool: str, said: str) -> None:
    assert Charger((limit,)).of([held(pool, gpu=1)], POOLS, Accounting.DEVICE).unknown == (said,)


def ask(replica: str, amount: int, *, number: int = 1, priority: int = 0, created: str = "", due: bool = True) -> Ask:
    question = QuotaQuestion("c", replica, number)
    return Ask(question, Charge((Fraction(amount),), ("",)), priority, created, is_due=due)


def quota(most: int, max_priority: int | None = None) -> Quota:
    limit = Limit("d", Measure.DEVICES, Fraction(most), "large")
    return Quota("team", Tenants(frozenset({"t"})), (limit,), max_priority)


def granted(found: granting.Grants) -> list[str]:
    return [one.replica for one in found.granted]


def test_what_fits_is_granted_by_priority_age_and_name() -> None:
    asks = [ask("d", 4), ask("c", 4, created="2"), ask("b", 4, created="1", priority=5), ask("a", 4, created="1")]
    assert granted(granting.grant(quota(8), (Fraction(0),), asks, ())) == ["b", "d"]
    assert granted(granting.grant(quota(12), (Fraction(0),), asks[::-1], ())) == ["a", "b", "d"]


def test_a_priority_counts_for_no_more_than_the_quota_lets_it() -> None:
    asks = [ask("a", 4, created="2", priority=100), ask("b", 4, created="1", priority=10)]
    assert granted(granting.grant(quota(4), (Fraction(0),), asks, ())) == ["a"]
    assert granted(granting.grant(quota(4, 10), (Fraction(0),), asks, ())) == ["b"]


def test_a_small_one_passes_a_large_one_that_does_not_fit_and_the_reason_is_told() -> None:
    found = granting.grant(quota(8), (Fraction(2),), [ask("a", 8, priority=1), ask("b", 4)], ())
    assert granted(found) == ["b"]
    (refused,) = found.refused
    assert refused.message == "InferenceQuota team allows 8 of d, 2 used and 8 more wanted"


def test_a_grant_stands_while_its_question_is_open_whatever_becomes_of_the_limit() -> None:
    before = {QuotaQuestion("c", "a", 1), QuotaQuestion("c", "b", 1)}
    found = granting.grant(quota(0), (Fraction(0),), [ask("a", 4), ask("b", 4, number=2)], before)
    assert granted(found) == ["a"]
    assert found.taken == (Fraction(4),)
    assert [one.question for one in found.refused] == [QuotaQuestion("c", "b", 2)]


def test_a_question_is_not_answered_before_its_turn() -> None:
    found = granting.grant(quota(8), (Fraction(0),), [ask("a", 4, due=False)], ())
    assert (found.granted, found.refused) == ((), ())


def test_a_change_that_takes_nothing_more_is_granted_though_the_quota_is_over() -> None:
    assert granted(granting.grant(quota(4), (Fraction(8),), [ask("a", 0)], ())) == ["a"]


def test_what_costs_nobody_knows_what_is_refused() -> None:
    charge = Charge((Fraction(0),), ("InferenceClass x has no cost in USD",))
    found = granting.grant(quota(4), (Fraction(0),), [Ask(QuotaQuestion("c", "a", 1), charge)], ())
    assert [one.message for one in found.refused] == [
        "InferenceQuota team limits d, and InferenceClass x has no cost in USD"
    ]


def test_beyond_what_is_held() -> None:
    one, other = Charge((Fraction(4), Fraction(1)), ("", "")), Charge((Fraction(1), Fraction(2)), ("", ""))
    assert one.beyond(other).amounts == (Fraction(3), Fraction(0))
