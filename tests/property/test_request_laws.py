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
from modelplane.devices import matching, pins, versions
from modelplane.devices.matching import MissKind, Option
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
from modelplane.placement import binding
from modelplane.placement.decision import DeviceAssignment, PlacedReplica, PlacedRole, State
from modelplane.placement.snapshot import PodShape
from modelplane.render import claims as rendered
from modelplane.topology.shape import Topology
from modelplane.units import quantity
from modelplane.workload.model import EngineType, Role, RoleSpec, Workload
from tests.support import laws
from tests.support.allocator import allocation, documents, profiles
from tests.support.allocator.allocation import Abort, Allocation, Inventory, Unschedulable
from tests.support.allocator.claims import (
    Claim,
    ClaimConstraint,
    DeviceClass,
    DeviceRequest,
    FirstAvailable,
    Toleration,
)
from tests.support.allocator.claims import Mode as ClaimMode
from tests.support.allocator.claims import Relation as ClaimRelation
from tests.support.allocator.slices import Node

NODE = Node("node-1", {})
DRIVER = "gpu.example.com"
ROOT, RAIL = "resource.kubernetes.io/pcieRoot", "net.example.com/rail"
MARK = 'device.attributes["class.example.com"].name'
CLASSES = ("a", "b")
KEYS = ("sick", "kept")

taints = st.builds(
    DeviceTaint, st.sampled_from(KEYS), st.sampled_from(list(DeviceTaintEffect)), st.sampled_from(["", "x"])
)
tolerations = st.builds(
    DeviceToleration,
    st.sampled_from(["", *KEYS]),
    st.booleans(),
    st.sampled_from(["", "x"]),
    st.sampled_from([None, DeviceTaintEffect.NO_SCHEDULE, DeviceTaintEffect.NO_EXECUTE]),
).filter(lambda one: bool(one.key) if one.is_equal else not one.value)
selectors = st.sampled_from(
    [
        (),
        (),
        (f'device.attributes["{DRIVER}"].model == "one"',),
        (f'device.attributes["{DRIVER}"].model != "one"',),
        (f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',),
    ]
)


@st.composite
def devices(draw: st.DrawFn, number: int) -> Device:
    attributes = [
        ("class.example.com/name", Attribute(AttributeKind.STRING, draw(st.sampled_from("aab")))),
        ("kind", Attribute(AttributeKind.INT, number)),
        ("model", Attribute(AttributeKind.STRING, draw(st.sampled_from(["one", "two"])))),
    ]
    for name in (ROOT, RAIL):
        value = draw(st.sampled_from(["", "r0", "r0", "r1"]))
        if value:
            attributes.append((name, Attribute(AttributeKind.STRING, value)))
    return Device(
        name=f"kind-{number}",
        driver=DRIVER,
        count=draw(st.integers(1, 3)),
        device_class=str(attributes[0][1].value),
        attributes=tuple(sorted(attributes)),
        capacity=(("memory", draw(st.sampled_from(["24Gi", "80Gi"]))),),
        taints=tuple(draw(st.lists(taints, max_size=2))) if draw(st.booleans()) else (),
    )


@st.composite
def exact(draw: st.DrawFn, name: str) -> Request:
    every = draw(st.integers(0, 3)) == 0
    return Request(
        name=name,
        count=1 if every else draw(st.integers(1, 5)),
        selectors=draw(selectors),
        mode=Mode.ALL if every else Mode.EXACT_COUNT,
        tolerations=tuple(draw(st.lists(tolerations, max_size=2))) if draw(st.booleans()) else (),
        capacity=(("memory", draw(st.sampled_from(["20Gi", "60Gi"]))),) if draw(st.integers(0, 4)) == 0 else (),
    )


@st.composite
def requests_of(draw: st.DrawFn, name: str) -> Request:
    if draw(st.booleans()):
        return draw(exact(name))
    each = tuple(draw(exact(f"alt-{number}")) for number in range(draw(st.integers(1, 3))))
    return Request(name, max(one.count for one in each), alternatives=each)


@st.composite
def questions(draw: st.DrawFn) -> tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]]:
    kinds = tuple(draw(devices(number)) for number in range(draw(st.integers(1, 4))))
    requests = tuple(draw(requests_of(name)) for name in ("gpu", "nic")[: draw(st.integers(1, 2))])
    named = [request.name for request in requests]
    named += [f"{request.name}/{one.name}" for request in requests for one in request.alternatives]
    constraints: tuple[Constraint, ...] = ()
    if draw(st.booleans()):
        relation, attribute = draw(st.sampled_from([(Relation.MATCH, ROOT), (Relation.DISTINCT, RAIL)]))
        constraints = (
            Constraint(attribute, tuple(draw(st.lists(st.sampled_from(named), unique=True, max_size=2))), relation),
        )
    return NodeClass("class", kinds), requests, constraints


tiers = st.sampled_from(
    [
        None,
        Attribute(AttributeKind.STRING, "one"),
        Attribute(AttributeKind.STRING, "two"),
        Attribute(AttributeKind.INT, 1),
        Attribute(AttributeKind.BOOL, value=True),
        Attribute(AttributeKind.VERSION, "1.0.0"),
    ]
)


@st.composite
def uneven(draw: st.DrawFn) -> tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]]:
    """Draw a question about kinds of which some lack what distinguishes others, or publish it as another type."""
    node_class, requests, constraints = draw(questions())
    kinds = []
    for kind in node_class.devices:
        # All of one DeviceClass, so that a claim for one kind is asked of the others.
        attributes = {name: value for name, value in kind.attributes if name not in ("kind", "model")}
        attributes["class.example.com/name"] = Attribute(AttributeKind.STRING, CLASSES[0])
        attributes["model"] = Attribute(AttributeKind.STRING, "one")
        tier, slices = draw(tiers), draw(st.sampled_from([(), (("slices", "1"),), (("slices", "2"),)]))
        if tier is not None:
            attributes["tier"] = tier
        kinds.append(
            replace(
                kind,
                device_class=CLASSES[0],
                attributes=tuple(sorted(attributes.items())),
                capacity=(*kind.capacity, *slices),
            )
        )
    return replace(node_class, devices=tuple(kinds)), requests, constraints


def inventory(node_class: NodeClass) -> Inventory:
    """Return the node as its driver publishes it."""
    classes = tuple(DeviceClass(name, (f'{MARK} == "{name}"',)) for name in CLASSES)
    return Inventory(NODE, documents.of_class(node_class, NODE.name), classes)


def bound(
    node_class: NodeClass, requests: tuple[Request, ...], constraints: tuple[Constraint, ...], option: Option
) -> Any:
    """Return the replica that is served so."""
    template = {"spec": {"containers": [{"name": "engine", "image": "engine"}]}}
    spec = RoleSpec(Role.DECODE, 1, Topology(1, 1, 1, 1, expert=False), requests, constraints, template)
    workload = Workload("team", "model", None, EngineType.CUSTOM, (spec,))
    picks = tuple(DeviceAssignment(one.request, one.device, one.count, one.alternative) for one in option.picks)
    role = PlacedRole(Role.DECODE, "pool", 1, 1, 1, PodShape(option.counted), picks)
    placed = PlacedReplica("model-0", "cluster", "KServe", State.NEW, (role,))
    return binding.bind(workload, placed, {"pool": node_class}, priority=0)


def claim_of(replica: Any) -> Claim:
    """Return the claim that is rendered for the replica's pods."""
    found = rendered.of(replica, replica.roles[0], {}).template
    assert found is not None
    spec = found.resource["spec"]["spec"]
    return documents.claim({"metadata": {"name": "claim"}, "spec": spec})


def choice_of(requests: tuple[Request, ...], option: Option) -> tuple[int, ...]:
    """Return the place of the alternative that serves each request."""
    served = {pick.request: pick.alternative for pick in option.picks}
    return tuple(
        [one.name for one in request.each()].index(served[request.name] or request.name) for request in requests
    )


def minors(requests: tuple[Request, ...], constraints: tuple[Constraint, ...]) -> list[str]:
    """Return the versions that have what is asked."""
    return [
        name
        for name in profiles.PROFILES
        if not versions.lacking_of_all(constraints, minor := int(name.split(".")[1]))
        and not any(versions.lacking(request, minor) for request in requests)
    ]


@given(questions())
@settings(max_examples=laws.in_proportion(250), deadline=None)
def test_what_is_rendered_takes_what_is_counted(
    asked: tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]],
) -> None:
    node_class, requests, constraints = asked
    for option in matching.match(node_class, requests, constraints).options:
        replica = bound(node_class, requests, constraints, option)
        assert binding.misbound(replica.roles[0], node_class) is None
        claim = claim_of(replica)
        for name in minors(*matching.chosen(requests, constraints, choice_of(requests, option))):
            found = allocation.allocate(inventory(node_class), [claim], profiles.PROFILES[name])
            assert isinstance(found, Allocation), (name, option, found)
            taken = Counter(one.device.device.rpartition("-")[0] for one in found.claims[0].devices)
            assert tuple(sorted(taken.items())) == option.counted, (name, option, found)


def tiered(*values: Attribute | None) -> NodeClass:
    """Return two devices of one DeviceClass for each tier, in order; None publishes none."""
    kinds = []
    for number, value in enumerate(values):
        marks = [("class.example.com/name", Attribute(AttributeKind.STRING, CLASSES[0]))]
        marks += [] if value is None else [("tier", value)]
        kinds.append(Device(f"kind-{number}", DRIVER, 2, device_class=CLASSES[0], attributes=tuple(marks)))
    return NodeClass("class", tuple(kinds))


ONE, TWO = Attribute(AttributeKind.STRING, "one"), Attribute(AttributeKind.STRING, "two")


@example((tiered(Attribute(AttributeKind.VERSION, "1.0.0"), TWO, ONE), (Request("gpu", 2),), ()))
@example((tiered(None, TWO, ONE), (Request("gpu", 2),), ()))
@given(uneven())
@settings(max_examples=laws.in_proportion(150), deadline=None)
def test_what_is_rendered_ends_no_allocation(
    asked: tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]],
) -> None:
    """A pin reads what its kind publishes; the allocator asks it of every kind of the DeviceClass."""
    node_class, requests, constraints = asked
    kinds = {kind.name: kind for kind in node_class.devices}
    for option in matching.match(node_class, requests, constraints).options:
        replica = bound(node_class, requests, constraints, option)
        plain = matching.chosen(requests, constraints, choice_of(requests, option))
        selectors = {one.name: one.selectors for one in plain[0] if one.mode is Mode.EXACT_COUNT}
        are_told = all(
            pins.tell_apart(selectors[pick.request], kinds[pick.device], node_class)
            for pick in option.picks
            if pick.request in selectors
        )
        for name in minors(*plain):
            found = allocation.allocate(inventory(node_class), [claim_of(replica)], profiles.PROFILES[name])
            assert not isinstance(found, Abort), (name, option, found)
            if are_told:
                assert isinstance(found, Allocation), (name, option, found)
                taken = Counter(one.device.device.rpartition("-")[0] for one in found.claims[0].devices)
                assert tuple(sorted(taken.items())) == option.counted, (name, option, found)


@given(questions())
@settings(max_examples=laws.in_proportion(250), deadline=None)
def test_what_the_allocator_serves_is_found(
    asked: tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]],
) -> None:
    node_class, requests, constraints = asked
    found = matching.match(node_class, requests, constraints)
    assume(found.miss is None or found.miss.kind not in (MissKind.UNDECIDED, MissKind.SELECTOR_ERROR))
    answers = list(answered(node_class, requests, constraints))
    if any(isinstance(answer, Abort) for answer in answers):
        return  # the author's own claim would end the scheduling of its pod; what is rendered does not
    served = [answer for answer in answers if isinstance(answer, Allocation)]
    assert bool(served) == bool(found.options), (found, answers)
    for answer in served:
        assert found.options[0].rank <= rank_of(answer, requests)


def answered(node_class: NodeClass, requests: tuple[Request, ...], constraints: tuple[Constraint, ...]) -> Any:
    """Yield what the allocator says to what the author asks, for each choice of DeviceClasses."""
    slots = [one for request in requests for one in request.each()]
    for chosen in product(CLASSES, repeat=len(slots)):
        classes = iter(chosen)
        asked = tuple(_asked(request, classes) for request in requests)
        related = tuple(
            ClaimConstraint(ClaimRelation(str(one.relation)), one.attribute, one.requests) for one in constraints
        )
        yield allocation.allocate(inventory(node_class), [Claim("claim", asked, related)], profiles.V1_37)


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


@given(questions())
@settings(max_examples=laws.in_proportion(200), deadline=None)
def test_options_come_by_rank(asked: tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]]) -> None:
    found = matching.match(*asked)
    assert [option.rank for option in found.options] == sorted(option.rank for option in found.options)


@given(requests_of("gpu"))
@settings(max_examples=laws.in_proportion(200), deadline=None)
def test_a_request_is_read_as_it_was_written(request: Request) -> None:
    assert device_requests.decode(Field(device_requests.encode(request)), default_count=1) == request


@pytest.mark.parametrize("count", [2, 8])
def test_the_unschedulable_is_told(count: int) -> None:
    node_class = NodeClass("class", (Device("gpu", DRIVER, 1, device_class="a"),))
    found = matching.match(node_class, (Request("gpu", count),))
    assert found.miss is not None
    assert found.miss.kind is MissKind.TOO_FEW
    assert isinstance(
        allocation.allocate(inventory(node_class), [Claim("claim", (DeviceRequest("gpu", "a", count),))]),
        (Unschedulable, Abort),
    )
