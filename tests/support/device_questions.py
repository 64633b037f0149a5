"""Questions about devices made up at random: a class, the requests of one pod, and the claim rendered for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from modelplane.devices import sharing, versions
from modelplane.devices.amounts import nano
from modelplane.devices.matching import Option
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
from modelplane.placement import binding
from modelplane.placement.decision import DeviceAssignment, PlacedReplica, PlacedRole, State
from modelplane.placement.snapshot import PodShape
from modelplane.render import claims as rendered
from modelplane.topology.shape import Topology
from modelplane.units import Quantity, quantity
from modelplane.workload.model import EngineType, Role, RoleSpec, Workload
from tests.support.allocator import documents, profiles
from tests.support.allocator.allocation import Allocation, Inventory
from tests.support.allocator.claims import (
    Claim,
    DeviceClass,
)
from tests.support.allocator.slices import Node

NODE = Node("node-1", {})
DRIVER = "gpu.example.com"
NET = 'device.attributes["net.example.com"]'
ROOT, RAIL = "resource.kubernetes.io/pcieRoot", "net.example.com/rail"
MARK = 'device.attributes["class.example.com"].name'
CLASSES = ("a", "b")
CLASS_A = (("class.example.com/name", Attribute(AttributeKind.STRING, CLASSES[0])),)
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
of_lists = st.sampled_from(
    [
        (f'{NET}.?rail.orValue("none").includes("r0")',),
        (f'"rail" in {NET} && {NET}.rail.includes("r1")',),
    ]
)


roots = st.sampled_from(["r0", "r0", "r1", "r2"])


@st.composite
def rail(draw: st.DrawFn, *, lists: bool) -> Attribute | None:
    """Draw what a device says of one of its neighbours; with `lists` it may have several."""
    if draw(st.integers(0, 3)) == 0:
        return None
    if lists and draw(st.booleans()):
        return Attribute(AttributeKind.STRINGS, tuple(draw(st.lists(roots, min_size=1, max_size=3))))
    return Attribute(AttributeKind.STRING, draw(roots))


def gi(number: int) -> Quantity:
    return quantity(f"{number}Gi")


@st.composite
def policies(draw: st.DrawFn) -> tuple[tuple[str, Policy], ...]:
    """Draw how the memory of a shared device can be taken, by chance not at all."""
    least, step = draw(st.integers(1, 8)), draw(st.sampled_from([1, 4, 5]))
    values = tuple(gi(one) for one in sorted(draw(st.sets(st.integers(1, 24), min_size=1, max_size=4))))
    return draw(
        st.sampled_from(
            [
                (),
                (("memory", Policy(gi(draw(st.integers(1, 24))))),),
                (("memory", Policy(gi(least), Range(gi(least), draw(st.sampled_from([None, gi(24)])), gi(step)))),),
                (("memory", Policy(gi(least), Range(gi(least)))),),
                (("memory", Policy(values[0], None, values)),),
            ]
        )
    )


@st.composite
def devices(draw: st.DrawFn, number: int, *, lists: bool = False, shares: bool = True) -> Device:
    attributes = [
        ("class.example.com/name", Attribute(AttributeKind.STRING, draw(st.sampled_from("aab")))),
        ("kind", Attribute(AttributeKind.INT, number)),
        ("model", Attribute(AttributeKind.STRING, draw(st.sampled_from(["one", "two"])))),
    ]
    for name in (ROOT, RAIL):
        value = draw(rail(lists=lists))
        if value is not None:
            attributes.append((name, value))
    shared = shares and draw(st.integers(0, 3)) == 0
    return Device(
        name=f"kind-{number}",
        driver=DRIVER,
        count=draw(st.integers(1, 3)),
        device_class=str(attributes[0][1].value),
        attributes=tuple(sorted(attributes)),
        capacity=(("memory", draw(st.sampled_from(["24Gi", "80Gi"]))),),
        taints=tuple(draw(st.lists(taints, max_size=2))) if draw(st.booleans()) else (),
        allow_multiple_allocations=shared,
        policies=draw(policies()) if shared else (),
    )


@st.composite
def exact(draw: st.DrawFn, name: str, *, lists: bool = False, shares: bool = True) -> Request:
    every = draw(st.integers(0, 3)) == 0
    parts = shares and draw(st.integers(0, 4)) == 0
    return Request(
        name=name,
        count=1 if every else draw(st.integers(1, 5)),
        selectors=draw(of_lists if lists and draw(st.integers(0, 3)) == 0 else selectors),
        mode=Mode.ALL if every else Mode.EXACT_COUNT,
        tolerations=tuple(draw(st.lists(tolerations, max_size=2))) if draw(st.booleans()) else (),
        capacity=(("memory", draw(st.sampled_from(["3Gi", "20Gi", "60Gi"]))),) if parts else (),
    )


@st.composite
def requests_of(draw: st.DrawFn, name: str, *, lists: bool = False, shares: bool = True) -> Request:
    if draw(st.booleans()):
        return draw(exact(name, lists=lists, shares=shares))
    each = tuple(draw(exact(f"alt-{number}", lists=lists, shares=shares)) for number in range(draw(st.integers(1, 3))))
    return Request(name, max(one.count for one in each), alternatives=each)


@st.composite
def questions(
    draw: st.DrawFn, *, newer: bool = True, lists: bool = True
) -> tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]]:
    """Draw a class, requests and constraints; with `newer` also of what came with 1.36: lists and shared devices.

    Without `lists` no attribute is a list.
    """
    lists = lists and newer and draw(st.integers(0, 2)) == 0
    kinds = tuple(draw(devices(number, lists=lists, shares=newer)) for number in range(draw(st.integers(1, 4))))
    names = ("gpu", "nic")[: draw(st.integers(1 + lists, 2))]
    requests = tuple(draw(requests_of(name, lists=lists, shares=newer)) for name in names)
    named = [request.name for request in requests]
    named += [f"{request.name}/{one.name}" for request in requests for one in request.alternatives]
    constraints: tuple[Constraint, ...] = ()
    if lists or draw(st.booleans()):
        relation, attribute = draw(st.sampled_from([(Relation.MATCH, ROOT), (Relation.DISTINCT, RAIL)]))
        constraints = (
            Constraint(attribute, tuple(draw(st.lists(st.sampled_from(named), unique=True, max_size=2))), relation),
        )
    return NodeClass("class", kinds, lists_are_on=lists), requests, constraints


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


def minors(
    node_class: NodeClass, requests: tuple[Request, ...], constraints: tuple[Constraint, ...]
) -> dict[str, profiles.Profile]:
    """Return the versions that have what is asked, and the devices of the class."""
    found = {}
    for name, profile in (profiles.LISTS if node_class.lists_are_on else profiles.PROFILES).items():
        there = replace(node_class, kubernetes_minor=int(name.split(".")[1]))
        lacks = [versions.lacking(request, there) for request in requests]
        lacks.append(versions.lacking_of_all(constraints, there.kubernetes_minor))
        shares_too_early = there.kubernetes_minor < versions.SHARING and any(one.is_shared for one in there.devices)
        if not any(lacks) and not shares_too_early:
            found[name] = profile
    return found


def consumed(found: Allocation) -> tuple[tuple[str, int], ...]:
    """Return what the devices of a claim that are shared give, as a ledger counts it."""
    return sharing.consumed(
        sharing.Part(one.device.device.rpartition("-")[0], 1, tuple((name, nano(has)) for name, has in one.consumed))
        for one in found.claims[0].devices
        if one.shared
    )
