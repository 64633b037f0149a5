"""Laws of allocating the devices of a node, whatever is offered and asked."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from modelplane.devices.model import Attribute, AttributeKind, Device
from modelplane.units import Quantity
from tests.support.allocator import allocation
from tests.support.allocator.allocation import Allocation, Inventory, Unschedulable
from tests.support.allocator.claims import Allocated, Claim, ClaimConstraint, DeviceClass, DeviceRequest, Relation
from tests.support.allocator.slices import Counters, Node, Offer, Reach, Slice

DRIVER = "gpu.example.com"
SHARED = "set"


def offer(number: int, root: str, model: str, slices: int) -> Offer:
    attributes = (
        ("model", Attribute(AttributeKind.STRING, model)),
        ("root", Attribute(AttributeKind.STRING, root)),
    )
    draws = (Counters(SHARED, (("slices", Quantity.of(slices)),)),) if slices else ()
    return Offer(f"dev-{number}", Device("", DRIVER, 1, attributes=attributes), draws=draws)


@st.composite
def inventories(draw: st.DrawFn) -> Inventory:
    rows = draw(
        st.lists(st.tuples(st.sampled_from("rs"), st.sampled_from("ab"), st.integers(0, 3)), min_size=1, max_size=6)
    )
    offers = [offer(number, *row) for number, row in enumerate(rows)]
    cut = draw(st.integers(0, len(offers)))
    parts = [tuple(offers[:cut]), tuple(offers[cut:])]
    reach = Reach("node")
    slices = [Slice(f"part-{i}", DRIVER, "node", part, slices_in_pool=3, reach=reach) for i, part in enumerate(parts)]
    counters = Counters(SHARED, (("slices", Quantity.of(draw(st.integers(1, 7)))),))
    slices.append(Slice("counters", DRIVER, "node", (), (counters,), slices_in_pool=3, reach=reach))
    return Inventory(Node("node"), tuple(slices), (DeviceClass("gpu"),))


@st.composite
def claims(draw: st.DrawFn) -> Claim:
    requests = tuple(
        DeviceRequest(f"r{number}", "gpu", count, selectors=selectors)
        for number, (count, selectors) in enumerate(
            draw(
                st.lists(
                    st.tuples(
                        st.integers(1, 3),
                        st.sampled_from([(), (f'device.attributes["{DRIVER}"].model == "a"',)]),
                    ),
                    min_size=1,
                    max_size=3,
                )
            )
        )
    )
    constraint = ClaimConstraint(Relation.MATCH, f"{DRIVER}/root")
    return Claim("claim", requests, (constraint,) if draw(st.booleans()) else ())


@given(inventories(), claims(), st.randoms())
def test_the_order_of_slices_changes_nothing(inventory: Inventory, claim: Claim, shuffled: random.Random) -> None:
    slices = list(inventory.slices)
    shuffled.shuffle(slices)
    again = allocation.allocate(replace(inventory, slices=tuple(slices)), [claim])
    assert again == allocation.allocate(inventory, [claim])


@given(inventories(), claims())
def test_what_is_allocated_is_what_was_asked(inventory: Inventory, claim: Claim) -> None:
    verdict = allocation.allocate(inventory, [claim])
    if not isinstance(verdict, Allocation):
        return
    offers = {one.name: one for part in inventory.slices for one in part.offers}
    given_out = verdict.claims[0].devices
    assert [one.request for one in given_out] == [r.name for r in claim.requests for _ in range(r.count)]  # type: ignore[union-attr]  # none prefers
    assert len({one.device for one in given_out}) == len(given_out)
    drawn = sum(draw.amounts[0][1].ceil() for one in given_out for draw in offers[one.device.device].draws)
    assert drawn <= inventory.slices[2].counter_sets[0].amounts[0][1].ceil()
    if claim.constraints:
        assert len({dict(offers[one.device.device].kind.attributes)["root"] for one in given_out}) == 1


@given(inventories(), claims())
def test_what_was_allocated_is_not_allocated_again(inventory: Inventory, claim: Claim) -> None:
    verdict = allocation.allocate(inventory, [claim])
    if not isinstance(verdict, Allocation):
        return
    taken = frozenset(one.device for one in verdict.claims[0].devices)
    again = allocation.allocate(replace(inventory, allocated=Allocated(devices=taken)), [claim])
    if isinstance(again, Allocation):
        assert taken.isdisjoint(one.device for one in again.claims[0].devices)


@given(inventories(), claims())
def test_every_refusal_says_why(inventory: Inventory, claim: Claim) -> None:
    verdict = allocation.allocate(inventory, [claim])
    if isinstance(verdict, Unschedulable):
        assert 'claim claim, request "r' in verdict.reason
        assert "node node" in verdict.reason
