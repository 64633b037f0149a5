"""Slices, classes and claims read from the JSON that Kubernetes gives them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from modelplane import units
from modelplane.devices.model import Attribute, AttributeKind, CounterSet, Device, Draw, NodeClass, Policy, Range
from modelplane.units import Quantity
from tests.support.allocator.allocation import Inventory
from tests.support.allocator.claims import (
    Allocated,
    Claim,
    ClaimConstraint,
    ClaimRequest,
    DeviceClass,
    DeviceRequest,
    FirstAvailable,
    Mode,
    Relation,
    Toleration,
    Use,
)
from tests.support.allocator.slices import (
    Counters,
    DeviceId,
    Node,
    NodeSelector,
    Offer,
    Reach,
    Requirement,
    Slice,
    Taint,
    Term,
)

Json = Any


def inventory(asked: Json) -> Inventory:
    """Return what an allocation problem says is there."""
    node = asked["node"]["metadata"]
    held = asked.get("allocated", {})
    return Inventory(
        Node(node["name"], node.get("labels", {})),
        tuple(slice_(one) for one in asked.get("slices", [])),
        tuple(
            DeviceClass(one["metadata"]["name"], _selectors(one.get("spec", {}))) for one in asked.get("classes", [])
        ),
        Allocated(
            frozenset(DeviceId(*one) for one in held.get("devices", [])),
            tuple(Use(DeviceId(*one["device"]), _amounts(one["consumed"])) for one in held.get("shared", [])),
        ),
    )


def claims(asked: Json) -> tuple[Claim, ...]:
    """Return the claims of an allocation problem."""
    return tuple(claim(one) for one in asked["claims"])


def slice_(one: Json) -> Slice:
    spec = one["spec"]
    pool = spec["pool"]
    return Slice(
        name=one["metadata"]["name"],
        driver=spec["driver"],
        pool=pool["name"],
        offers=tuple(offer(spec["driver"], device) for device in spec.get("devices", [])),
        counter_sets=tuple(Counters(c["name"], _counters(c)) for c in spec.get("sharedCounters", [])),
        generation=pool.get("generation", 0),
        slices_in_pool=pool["resourceSliceCount"],
        reach=_reach(spec),
        per_device_reach=spec.get("perDeviceNodeSelection"),
    )


def offer(driver: str, device: Json) -> Offer:
    policies = [
        (name, _policy(entry["requestPolicy"]))
        for name, entry in device.get("capacity", {}).items()
        if "requestPolicy" in entry
    ]
    attributes = [
        (name, Attribute(AttributeKind(kind), tuple(value) if isinstance(value, list) else value))
        for name, typed in device.get("attributes", {}).items()
        for kind, value in typed.items()
    ]
    kind = Device(
        name="",
        driver=driver,
        count=1,
        attributes=tuple(sorted(attributes, key=lambda pair: pair[0])),
        capacity=tuple(sorted((name, entry["value"]) for name, entry in device.get("capacity", {}).items())),
        allow_multiple_allocations=device.get("allowMultipleAllocations", False),
    )
    return Offer(
        name=device["name"],
        kind=kind,
        policies=tuple(sorted(policies, key=lambda pair: pair[0])),
        draws=tuple(Counters(c["counterSet"], _counters(c)) for c in device.get("consumesCounters", [])),
        taints=tuple(Taint(t["key"], t["effect"], t.get("value", "")) for t in device.get("taints", [])),
        binding_conditions=tuple(device.get("bindingConditions", [])),
        binding_failure_conditions=tuple(device.get("bindingFailureConditions", [])),
        binds_to_node=device.get("bindsToNode", False),
        reach=_reach(device),
    )


def claim(one: Json) -> Claim:
    devices = one["spec"]["devices"]
    return Claim(
        one["metadata"]["name"],
        tuple(_request(entry) for entry in devices.get("requests", [])),
        tuple(
            ClaimConstraint(relation, entry[relation], tuple(entry.get("requests", [])))
            for entry in devices.get("constraints", [])
            for relation in Relation
            if relation in entry
        ),
    )


def _request(entry: Json) -> ClaimRequest:
    if "firstAvailable" in entry:
        return FirstAvailable(entry["name"], tuple(_exact(one["name"], one) for one in entry["firstAvailable"]))
    return _exact(entry["name"], entry["exactly"])


def _exact(name: str, body: Json) -> DeviceRequest:
    capacity = body.get("capacity")
    return DeviceRequest(
        name=name,
        device_class=body["deviceClassName"],
        count=body.get("count", 0),
        mode=Mode(body["allocationMode"]),
        selectors=_selectors(body),
        tolerations=tuple(
            Toleration(t.get("key", ""), t.get("operator", ""), t.get("value", ""), t.get("effect", ""))
            for t in body.get("tolerations", [])
        ),
        capacity=None if capacity is None else _amounts(capacity.get("requests", {})),
        admin_access=body.get("adminAccess"),
    )


def _selectors(body: Json) -> tuple[str, ...]:
    return tuple(one["cel"]["expression"] for one in body.get("selectors", []))


def _amounts(amounts: Json) -> tuple[tuple[str, Quantity], ...]:
    return tuple((name, units.quantity(text)) for name, text in sorted(amounts.items()))


def _counters(counters: Json) -> tuple[tuple[str, Quantity], ...]:
    return _amounts({name: entry["value"] for name, entry in counters["counters"].items()})


def _policy(policy: Json) -> Policy:
    bounds = policy.get("validRange")
    return Policy(
        default=_quantity(policy.get("default")),
        valid_range=bounds
        and Range(_quantity(bounds.get("min")), _quantity(bounds.get("max")), _quantity(bounds.get("step"))),
        valid_values=tuple(units.quantity(text) for text in policy.get("validValues", [])),
    )


def _quantity(text: str | None) -> Quantity | None:
    return None if text is None else units.quantity(text)


def _reach(spec: Json) -> Reach:
    return Reach(spec.get("nodeName", ""), spec.get("allNodes", False), node_selector(spec.get("nodeSelector")))


def node_selector(selector: Json) -> NodeSelector | None:
    if selector is None:
        return None
    return tuple(
        Term(_requirements(term.get("matchExpressions")), _requirements(term.get("matchFields")))
        for term in selector["nodeSelectorTerms"]
    )


def _requirements(entries: Json) -> tuple[Requirement, ...]:
    return tuple(Requirement(one["key"], one["operator"], tuple(one.get("values", []))) for one in entries or [])


def of_class(node_class: NodeClass, node: str = "node-1") -> tuple[Slice, ...]:
    """Return what the drivers of one node of the class publish, physical device by physical device.

    The devices of one kind stand together, the physical devices of one kind of counter set likewise.
    """
    found = []
    for driver in dict.fromkeys(device.driver for device in node_class.devices):
        offers = tuple(
            offer for device in node_class.devices if device.driver == driver for offer in _offers(device, node_class)
        )
        drawn = {draw.set_name for offer in offers for draw in offer.draws}
        sets = tuple(one for one in _sets(node_class) if one.set_name in drawn)
        reach = Reach(node)
        found.append(Slice(f"{driver}-devices", driver, node, offers, (), 1, 1 + bool(sets), reach))
        if sets:
            found.append(Slice(f"{driver}-counters", driver, node, (), sets, 1, 2, reach))
    return tuple(found)


def _sets(node_class: NodeClass) -> Iterator[Counters]:
    for one in node_class.counter_sets:
        amounts = tuple((name, units.quantity(text)) for name, text in one.counters)
        yield from (Counters(f"{one.name}-{unit}", amounts) for unit in range(one.count))


def _offers(device: Device, node_class: NodeClass) -> Iterator[Offer]:
    kind = replace(device, name="", count=1, draws=(), taints=(), policies=())
    taints = tuple(Taint(one.key, str(one.effect), one.value) for one in device.taints)
    if not device.draws:
        yield from (
            Offer(f"{device.name}-{number}", kind, device.policies, taints=taints) for number in range(device.count)
        )
        return
    sets = {one.name: one for one in node_class.counter_sets}
    for unit in range(sets[device.draws[0].counter_set].count):
        for place, chosen in enumerate(product(*[draw.placements or ((),) for draw in device.draws])):
            draws = tuple(
                _drawn(draw, whole, unit, sets[draw.counter_set])
                for draw, whole in zip(device.draws, chosen, strict=True)
            )
            for alike in range(device.draws[0].alike):
                yield Offer(f"{device.name}-{unit}-{place}-{alike}", kind, draws=draws, taints=taints)


def _drawn(draw: Draw, whole: tuple[str, ...], unit: int, counter_set: CounterSet) -> Counters:
    amounts = {name: units.quantity(text) for name, text in draw.amounts}
    has = dict(counter_set.counters)
    amounts |= {name: units.quantity(has[name]) for name in whole}
    return Counters(f"{draw.counter_set}-{unit}", tuple(sorted(amounts.items())))
