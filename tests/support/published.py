"""What a driver publishes of a class, as an API server takes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from modelplane.devices.model import Attribute, Device, DeviceTaint, NodeClass, Policy
from tests.support.allocator import documents
from tests.support.allocator.slices import Counters, Offer

Json = dict[str, Any]

_COUNTERS = 8
"""Counter sets of one slice."""


def slices(node_class: NodeClass, node: str) -> Iterator[Json]:
    """Yield the ResourceSlices of one node of the class, a pool for each driver, counters in slices of their own."""
    named: dict[str, tuple[list[Json], list[Json]]] = {}
    for one in documents.of_class(node_class, node):
        devices, sets = named.setdefault(one.driver, ([], []))
        devices += [_offer(each) for each in one.offers]
        sets += [_counters(each) for each in one.counter_sets]
    for driver, (devices, sets) in named.items():
        contents: list[Json] = [{"devices": devices}]
        contents += [{"sharedCounters": sets[at : at + _COUNTERS]} for at in range(0, len(sets), _COUNTERS)]
        for number, content in enumerate(contents):
            yield {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"{node}-{driver}-{number}"},
                "spec": {
                    "driver": driver,
                    "nodeName": node,
                    "pool": {"name": node, "generation": 1, "resourceSliceCount": len(contents)},
                    **content,
                },
            }


def devices(kind: Device) -> Iterator[Json]:
    """Yield each device of a kind that takes no counters."""
    policies = dict(kind.policies)
    for number in range(kind.count):
        yield {
            "name": f"{kind.name}-{number}",
            "attributes": {name: attribute(value) for name, value in kind.attributes},
            "capacity": {name: capacity(policies.get(name), text) for name, text in kind.capacity},
            **({"allowMultipleAllocations": True} if kind.is_shared else {}),
            "taints": [taint(one) for one in kind.taints],
        }


def _offer(one: Offer) -> Json:
    policies = dict(one.policies)
    made: Json = {
        "name": one.name,
        "attributes": {name: attribute(value) for name, value in one.kind.attributes},
        "capacity": {name: capacity(policies.get(name), text) for name, text in one.kind.capacity},
        "taints": [_written(each.key, each.effect, each.value) for each in one.taints],
        "consumesCounters": [{**_amounts(each), "counterSet": each.set_name} for each in one.draws],
    }
    if one.kind.allow_multiple_allocations:
        made["allowMultipleAllocations"] = True
    return {key: value for key, value in made.items() if value}


def _counters(one: Counters) -> Json:
    return {"name": one.set_name, **_amounts(one)}


def _amounts(one: Counters) -> Json:
    return {"counters": {name: {"value": str(amount)} for name, amount in one.amounts}}


def taint(one: DeviceTaint) -> Json:
    """Return a taint of a device, or of a DeviceTaintRule."""
    return _written(one.key, str(one.effect), one.value)


def _written(key: str, effect: str, value: str) -> Json:
    return {"key": key, "effect": effect, **({"value": value} if value else {})}


def capacity(policy: Policy | None, text: str) -> Json:
    """Return a capacity, with the parts of it that can be taken."""
    if policy is None:
        return {"value": text}
    found: Json = {} if policy.default is None else {"default": str(policy.default)}
    if policy.valid_range is not None:
        bounds = {"min": policy.valid_range.minimum, "max": policy.valid_range.maximum, "step": policy.valid_range.step}
        found["validRange"] = {bound: str(one) for bound, one in bounds.items() if one is not None}
    if policy.valid_values:
        found["validValues"] = [str(one) for one in policy.valid_values]
    return {"value": text, "requestPolicy": found}


def attribute(value: Attribute) -> Json:
    """Return the value of an attribute with its type."""
    return {str(value.kind): _plain(value.value)}


def _plain(value: object) -> object:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
