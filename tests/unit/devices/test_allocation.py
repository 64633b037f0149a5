"""What an allocation says when it refuses, and what only our own code can get wrong.

Which devices are chosen is checked against Kubernetes' own allocator, in the conformance suite.
"""

from __future__ import annotations

import pytest

from modelplane.devices.model import Attribute, AttributeKind, Device
from tests.support.allocator import allocation
from tests.support.allocator.allocation import Abort, Allocation, Inventory, Unschedulable
from tests.support.allocator.claims import (
    Claim,
    ClaimConstraint,
    DeviceClass,
    DeviceRequest,
    Mode,
    Relation,
    Toleration,
)
from tests.support.allocator.profiles import PROFILES, V1_35
from tests.support.allocator.slices import DeviceId, Node, Offer, Reach, Requirement, Slice, Taint, Term
from tests.support.allocator.verdicts import AbortKind

DRIVER = "gpu.example.com"
TAINT = Taint("drain", "NoSchedule", "true")


HERE = Reach("n1")


def inventory(*offers: Offer, reach: Reach = HERE) -> Inventory:
    published = Slice("s", DRIVER, "n1", offers, reach=reach)
    return Inventory(Node("n1", {"zone": "a"}), (published,), (DeviceClass("gpu"),))


def offer(name: str, *taints: Taint) -> Offer:
    return Offer(name, Device("", DRIVER, 1), taints=taints)


def claim(count: int = 1, *selectors: str, mode: Mode = Mode.EXACT_COUNT, of: str = "gpu") -> Claim:
    return Claim("c", (DeviceRequest("r", of, count, mode, selectors),))


@pytest.mark.parametrize(
    ("offers", "asked", "words"),
    [
        pytest.param([], claim(), ["wants 1 devices", "there are no more"], id="nothing there"),
        pytest.param([offer("a")], claim(2), ["wants 2 devices", "has 1 for it"], id="one of two"),
        pytest.param([offer("a")], claim(1, "false"), ["has 0 for it", "1 not selected"], id="not selected"),
        pytest.param([offer("a", TAINT)], claim(), ["1 tainted"], id="tainted"),
        pytest.param(
            [offer("a")], claim(1, "false", mode=Mode.ALL), ["all devices", "none is selected"], id="all of none"
        ),
        pytest.param([offer("a"), offer("a")], claim(), ["pool", "device a is there twice"], id="a driver's fault"),
    ],
)
def test_a_refusal_says_what_was_missing(offers: list[Offer], asked: Claim, words: list[str]) -> None:
    verdict = allocation.allocate(inventory(*offers), [asked])
    assert isinstance(verdict, Unschedulable)
    assert [word for word in words if word not in verdict.reason] == []


@pytest.mark.parametrize(
    ("asked", "kind", "word"),
    [
        pytest.param(claim(of="nope"), AbortKind.UNKNOWN_CLASS, "'nope'", id="no such class"),
        pytest.param(claim(1, "device.nope"), AbortKind.SELECTOR_SYNTAX, "selector 0", id="does not compile"),
        pytest.param(
            claim(1, "true", 'device.attributes["x.y"].z == 1'), AbortKind.SELECTOR_ERROR, "selector 1", id="fails"
        ),
        pytest.param(claim(33), AbortKind.TOO_MANY_DEVICES, "33 devices", id="too many"),
    ],
)
def test_an_abort_names_the_object_and_the_fault(asked: Claim, kind: AbortKind, word: str) -> None:
    verdict = allocation.allocate(inventory(offer("a")), [asked])
    assert isinstance(verdict, Abort)
    assert verdict.kind is kind
    assert word in verdict.cause
    assert "c" in verdict.cause


@pytest.mark.parametrize(
    "requirement",
    [
        pytest.param(Requirement("zone", "Near", ("a",)), id="unknown operator"),
        pytest.param(Requirement("zone", "In"), id="no values"),
        pytest.param(Requirement("zone", "Gt", ("many",)), id="no number"),
    ],
)
def test_a_node_selector_that_cannot_be_read_ends_it(requirement: Requirement) -> None:
    there = inventory(offer("a"), reach=Reach(selector=(Term((requirement,)),)))
    verdict = allocation.allocate(there, [claim()])
    assert isinstance(verdict, Abort)
    assert verdict.kind is AbortKind.NODE_SELECTOR


def test_a_version_without_taints_does_not_see_them() -> None:
    there = inventory(offer("a", TAINT))
    assert isinstance(allocation.allocate(there, [claim()]), Unschedulable)
    found = allocation.allocate(there, [claim()], V1_35)
    assert isinstance(found, Allocation)
    assert found.claims[0].devices[0].device == DeviceId(DRIVER, "n1", "a")


def test_a_search_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "STEPS_MAX", 100)
    there = inventory(*[offer(f"d{i}") for i in range(20)])
    verdict = allocation.allocate(there, [claim(10), claim(11)])
    assert isinstance(verdict, Unschedulable)
    assert "100 steps" in verdict.reason


@pytest.mark.parametrize(
    ("toleration", "want"),
    [
        pytest.param(Toleration("drain", "Equal", "true"), True, id="equal"),
        pytest.param(Toleration("drain", "Equal", "false"), False, id="another value"),
        pytest.param(Toleration("drain", "Exists", effect="NoExecute"), False, id="another effect"),
        pytest.param(Toleration("", "Exists"), True, id="everything"),
        pytest.param(Toleration("drain", "Sometimes"), False, id="unknown operator"),
    ],
)
def test_tolerations(toleration: Toleration, want: bool) -> None:  # noqa: FBT001 - parametrised
    assert toleration.tolerates(TAINT) is want


def _claim_of(*constraints: ClaimConstraint, count: int) -> Claim:
    return Claim("c", (DeviceRequest("r", "gpu", count),), constraints)


ALL_DIFFER = ClaimConstraint(Relation.DISTINCT, "gpu.example.com/model")


@pytest.mark.parametrize(
    ("minor", "count", "expected"),
    [
        pytest.param("1.34", 3, "allocated", id="1.34 only looks whether the attribute is there"),
        pytest.param("1.35", 2, "feature is off", id="1.35 does not have the constraint"),
        pytest.param("1.36", 2, "allocated", id="1.36 remembers the last device of a request"),
        pytest.param("1.36", 3, "allocated", id="1.36 forgets the one before the last"),
        pytest.param("1.37", 2, "allocated", id="1.37 finds two that differ"),
        pytest.param("1.37", 3, "none", id="1.37 compares every pair"),
    ],
)
def test_each_version_tells_devices_apart_in_its_own_way(minor: str, count: int, expected: str) -> None:
    models = ["a", "b", "a"]
    offers = tuple(
        Offer(
            f"gpu-{number}",
            Device("", "gpu.example.com", 1, attributes=(("model", Attribute(AttributeKind.STRING, model)),)),
        )
        for number, model in enumerate(models)
    )
    there = Inventory(
        Node("node-1"),
        (Slice("s", "gpu.example.com", "node-1", offers, reach=Reach("node-1")),),
        (DeviceClass("gpu"),),
    )
    found = allocation.allocate(there, [_claim_of(ALL_DIFFER, count=count)], PROFILES[minor])
    match found:
        case Abort(kind=kind):
            assert str(kind) == expected
        case Unschedulable():
            assert expected == "none"
        case _:
            assert expected == "allocated"


@pytest.mark.parametrize(
    ("minor", "expected"),
    [
        pytest.param("1.34", Abort, id="1.34 ends the scheduling of the pod"),
        pytest.param("1.35", Unschedulable, id="1.35 passes the node over"),
        pytest.param("1.36", Unschedulable, id="1.36 passes the node over"),
        pytest.param("1.37", Unschedulable, id="1.37 passes the node over"),
    ],
)
def test_an_invalid_pool_is_named_whatever_it_ends(minor: str, expected: type) -> None:
    twice = (Offer("gpu-0", Device("", "gpu.example.com", 1)),) * 2
    there = Inventory(
        Node("node-1"),
        (Slice("s", "gpu.example.com", "node-1", twice, reach=Reach("node-1")),),
        (DeviceClass("gpu"),),
    )
    found = allocation.allocate(there, [_claim_of(count=1)], PROFILES[minor])
    assert isinstance(found, expected)
    assert "gpu.example.com/node-1 is invalid: device gpu-0 is there twice" in str(found)


@pytest.mark.parametrize(
    ("minor", "serves"),
    [("1.34", True), ("1.35", False), ("1.36", False), ("1.37", False)],
)
def test_a_pool_that_is_not_whole_serves_devices_only_in_1_34(minor: str, serves: bool) -> None:  # noqa: FBT001 - a table
    offers = (Offer("gpu-0", Device("", "gpu.example.com", 1)),)
    half = Slice("s", "gpu.example.com", "node-1", offers, slices_in_pool=2, reach=Reach("node-1"))
    there = Inventory(Node("node-1"), (half,), (DeviceClass("gpu"),))
    found = allocation.allocate(there, [_claim_of(count=1)], PROFILES[minor])
    assert isinstance(found, allocation.Allocation) is serves
