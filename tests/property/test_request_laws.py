"""Laws of the grammar of device requests: what is counted is what the allocator takes, and nothing it gives is refused.

A claim names the DeviceClass of each request and our matching finds it, so what an author asks is put to the allocator
once per choice of DeviceClasses.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from modelplane.api import device_requests
from modelplane.api.fields import Field
from modelplane.devices import matching, pins
from modelplane.devices.matching import MissKind
from modelplane.devices.model import (
    Attribute,
    AttributeKind,
    Constraint,
    Device,
    Mode,
    NodeClass,
    Relation,
    Request,
)
from modelplane.placement import binding
from modelplane.units import quantity
from tests.support import device_questions as drawn
from tests.support import laws
from tests.support.allocator import allocation, profiles
from tests.support.allocator.allocation import Abort, Allocation, Unschedulable
from tests.support.allocator.claims import (
    Claim,
    ClaimConstraint,
    DeviceRequest,
    FirstAvailable,
    Toleration,
)
from tests.support.allocator.claims import Mode as ClaimMode
from tests.support.allocator.claims import Relation as ClaimRelation


@given(drawn.questions())
@settings(max_examples=laws.in_proportion(250), deadline=None)
def test_what_is_rendered_takes_what_is_counted(
    asked: tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]],
) -> None:
    node_class, requests, constraints = asked
    for option in matching.match(node_class, requests, constraints).options:
        replica = drawn.bound(node_class, requests, constraints, option)
        assert binding.misbound(replica.roles[0], node_class) is None
        claim = drawn.claim_of(replica)
        plain = matching.chosen(requests, constraints, drawn.choice_of(requests, option))
        for name, profile in drawn.minors(node_class, *plain).items():
            found = allocation.allocate(drawn.inventory(node_class), [claim], profile)
            assert isinstance(found, Allocation), (name, option, found)
            taken = Counter(one.device.device.rpartition("-")[0] for one in found.claims[0].devices)
            assert tuple(sorted(taken.items())) == option.counted, (name, option, found)
            assert drawn.consumed(found) == option.consumed, (name, option, found)


@st.composite
def shares(draw: st.DrawFn) -> tuple[Device, Request]:
    kind = replace(draw(drawn.devices(0)), allow_multiple_allocations=True, policies=draw(drawn.policies()), taints=())
    amounts = draw(st.sampled_from([(), (("memory", f"{draw(st.integers(0, 30))}Gi"),), (("cores", "1"),)]))
    return replace(kind, device_class=drawn.CLASSES[0], attributes=()), Request(
        "gpu", draw(st.integers(1, 3)), (), capacity=amounts
    )


@given(shares())
@settings(max_examples=laws.in_proportion(250), deadline=None)
def test_a_share_is_what_the_allocator_gives(asked: tuple[Device, Request]) -> None:
    kind, request = asked
    node_class = NodeClass("class", (replace(kind, attributes=drawn.CLASS_A),))
    options = matching.match(node_class, (request,)).options
    for profile in (profiles.V1_36, profiles.V1_37):
        claim = Claim("claim", (_asked(request, iter(drawn.CLASSES)),))
        found = allocation.allocate(drawn.inventory(node_class), [claim], profile)
        assert isinstance(found, Allocation) == bool(options), (found, options)
        if isinstance(found, Allocation):
            assert drawn.consumed(found) == options[0].consumed


def tiered(*values: Attribute | None) -> NodeClass:
    """Return two devices of one DeviceClass for each tier, in order; None publishes none."""
    kinds = []
    for number, value in enumerate(values):
        marks = [("class.example.com/name", Attribute(AttributeKind.STRING, drawn.CLASSES[0]))]
        marks += [] if value is None else [("tier", value)]
        kinds.append(Device(f"kind-{number}", drawn.DRIVER, 2, device_class=drawn.CLASSES[0], attributes=tuple(marks)))
    return NodeClass("class", tuple(kinds))


ONE, TWO = Attribute(AttributeKind.STRING, "one"), Attribute(AttributeKind.STRING, "two")


@example((tiered(Attribute(AttributeKind.VERSION, "1.0.0"), TWO, ONE), (Request("gpu", 2),), ()))
@example((tiered(None, TWO, ONE), (Request("gpu", 2),), ()))
@given(drawn.uneven())
@settings(max_examples=laws.in_proportion(150), deadline=None)
def test_what_is_rendered_ends_no_allocation(
    asked: tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]],
) -> None:
    """A pin reads what its kind publishes; the allocator asks it of every kind of the DeviceClass."""
    node_class, requests, constraints = asked
    kinds = {kind.name: kind for kind in node_class.devices}
    for option in matching.match(node_class, requests, constraints).options:
        replica = drawn.bound(node_class, requests, constraints, option)
        plain = matching.chosen(requests, constraints, drawn.choice_of(requests, option))
        selectors = {one.name: one.selectors for one in plain[0] if one.mode is Mode.EXACT_COUNT}
        are_told = all(
            pins.tell_apart(selectors[pick.request], kinds[pick.device], node_class)
            for pick in option.picks
            if pick.request in selectors
        )
        for name, profile in drawn.minors(node_class, *plain).items():
            found = allocation.allocate(drawn.inventory(node_class), [drawn.claim_of(replica)], profile)
            assert not isinstance(found, Abort), (name, option, found)
            if are_told:
                assert isinstance(found, Allocation), (name, option, found)
                taken = Counter(one.device.device.rpartition("-")[0] for one in found.claims[0].devices)
                assert tuple(sorted(taken.items())) == option.counted, (name, option, found)


@given(drawn.questions())
@settings(max_examples=laws.in_proportion(250), deadline=None)
def test_what_the_allocator_serves_is_found(
    asked: tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]],
) -> None:
    node_class, requests, constraints = asked
    found = matching.match(node_class, requests, constraints)
    assume(not any(kind.is_shared for kind in node_class.devices))  # see test_a_share_is_what_the_allocator_gives
    assume(found.miss is None or found.miss.kind not in (MissKind.UNDECIDED, MissKind.SELECTOR_ERROR))
    answers = list(answered(node_class, requests, constraints))
    if any(isinstance(answer, Abort) for answer in answers):
        return  # the author's own claim would end the scheduling of its pod; what is rendered does not
    served = [answer for answer in answers if isinstance(answer, Allocation)]
    assert bool(served) == bool(found.options), (found, answers)
    for answer in served:
        assert found.options[0].rank <= rank_of(answer, requests)


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]]:
    """Draw one request for each of some kinds, and a constraint over what they say of their neighbours."""
    kinds = []
    for number in range(draw(st.integers(2, 3))):
        kind, value = draw(drawn.devices(number, lists=True)), draw(drawn.rail(lists=True))
        attributes = {name: one for name, one in kind.attributes if name != drawn.RAIL}
        attributes |= {} if value is None else {drawn.RAIL: value}
        attributes["class.example.com/name"] = Attribute(AttributeKind.STRING, drawn.CLASSES[0])
        plain = replace(kind, attributes=tuple(sorted(attributes.items())), taints=(), device_class=drawn.CLASSES[0])
        kinds.append(plain)
    asked = tuple(Request(f"r{i}", 1, (f'device.attributes["{drawn.DRIVER}"].kind == {i}',)) for i in range(len(kinds)))
    constraint = Constraint(drawn.RAIL, (), draw(st.sampled_from(list(Relation))))
    return NodeClass("class", tuple(kinds), lists_are_on=True), asked, (constraint,)


@given(neighbours())
@settings(max_examples=laws.in_proportion(150), deadline=None)
def test_lists_agree_and_differ_as_the_allocator_has_it(
    asked: tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]],
) -> None:
    node_class, requests, (constraint,) = asked
    wanted = tuple(_asked(request, iter(drawn.CLASSES)) for request in requests)
    related = (ClaimConstraint(ClaimRelation(str(constraint.relation)), constraint.attribute),)
    for name, profile in profiles.LISTS.items():
        found = allocation.allocate(drawn.inventory(node_class), [Claim("claim", wanted, related)], profile)
        assert isinstance(found, Allocation) == bool(matching.match(*asked).options), (name, found)


def answered(node_class: NodeClass, requests: tuple[Request, ...], constraints: tuple[Constraint, ...]) -> Any:
    """Yield what the allocator says to what the author asks, for each choice of DeviceClasses."""
    slots = [one for request in requests for one in request.each()]
    latest = (profiles.LISTS if node_class.lists_are_on else profiles.PROFILES)["1.37"]
    for chosen in product(drawn.CLASSES, repeat=len(slots)):
        classes = iter(chosen)
        asked = tuple(_asked(request, classes) for request in requests)
        related = tuple(
            ClaimConstraint(ClaimRelation(str(one.relation)), one.attribute, one.requests) for one in constraints
        )
        yield allocation.allocate(drawn.inventory(node_class), [Claim("claim", asked, related)], latest)


def _asked(request: Request, classes: Any) -> DeviceRequest | FirstAvailable:
    each = tuple(
        DeviceRequest(
            one.name,
            next(classes),
            one.count,
            ClaimMode(str(one.mode)),
            one.selectors,
            tuple(
                Toleration(t.key, "Equal" if t.is_equal else "Exists", t.value, str(t.effect or ""))
                for t in one.tolerations
            ),
            tuple((name, quantity(text)) for name, text in one.capacity) or None,
        )
        for one in request.each()
    )
    return FirstAvailable(request.name, each) if request.alternatives else each[0]


def rank_of(answer: Allocation, requests: tuple[Request, ...]) -> int:
    """Return the sum of the places of the alternatives that serve."""
    served = {one.request for one in answer.claims[0].devices}
    return sum(
        place
        for request in requests
        for place, one in enumerate(request.alternatives)
        if f"{request.name}/{one.name}" in served
    )


@given(drawn.questions())
@settings(max_examples=laws.in_proportion(200), deadline=None)
def test_options_come_by_rank(asked: tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]]) -> None:
    found = matching.match(*asked)
    assert [option.rank for option in found.options] == sorted(option.rank for option in found.options)


@given(drawn.requests_of("gpu"))
@settings(max_examples=laws.in_proportion(200), deadline=None)
def test_a_request_is_read_as_it_was_written(request: Request) -> None:
    assert device_requests.decode(Field(device_requests.encode(request)), default_count=1) == request


@pytest.mark.parametrize("count", [2, 8])
def test_the_unschedulable_is_told(count: int) -> None:
    node_class = NodeClass("class", (Device("gpu", drawn.DRIVER, 1, device_class="a"),))
    found = matching.match(node_class, (Request("gpu", count),))
    assert found.miss is not None
    assert found.miss.kind is MissKind.TOO_FEW
    assert isinstance(
        allocation.allocate(drawn.inventory(node_class), [Claim("claim", (DeviceRequest("gpu", "a", count),))]),
        (Unschedulable, Abort),
    )
