"""InferenceClass, decoded into the hardware of one node.

Shape: the whole resource as plain JSON. The platform team publishes a class for many readers, so an invalid value is
reported with its path and never replaced by a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane import units
from modelplane.api import device_requests
from modelplane.api.fields import Field
from modelplane.devices import partitions, physical, sharing
from modelplane.devices.model import (
    Attribute,
    AttributeKind,
    Claim,
    CounterSet,
    Device,
    DeviceTaint,
    Draw,
    NodeClass,
    Policy,
    Range,
)
from modelplane.devices.partitions import Undecided
from modelplane.errors import InvalidQuantity
from modelplane.units import Quantity

Json: TypeAlias = Any

KIND = "InferenceClass"
_PRICE = re.compile(r"(?=.{1,32}\Z)[0-9]+(\.[0-9]+)?")
# Source: resource.k8s.io/v1, ResourceDeviceClassPrefix: the implicit extended resource of a DeviceClass.
_OF_DEVICE_CLASS = "deviceclass.resource.kubernetes.io/"
UNITS_MAX = 64
DEVICES_MAX = 1024
"""The limits of the definition for equal physical devices of a node, and for devices of one kind."""


def decode(resource: Mapping[str, Json]) -> NodeClass:
    """Return the node class.

    Raises: InvalidInput with the path from the document's root (the fault of the class's author).
    """
    root = Field(resource)
    spec = root.at("spec")
    cost = spec.at("cost")
    counter_sets = tuple(_counter_set(entry) for entry in spec.at("sharedCounters").items())
    return NodeClass(
        name=root.at("metadata", "name").text(),
        devices=_devices(spec, counter_sets),
        cpu_millis=_floor(spec.at("node", "cpu"), power=3),
        memory_bytes=_floor(spec.at("node", "memory"), power=0),
        cost_per_node_hour=_price(cost.at("perNodeHour")),
        currency=cost.at("currency").text("USD"),
        counter_sets=counter_sets,
    )


def _devices(spec: Field, counter_sets: tuple[CounterSet, ...]) -> tuple[Device, ...]:
    """Return the devices; of one that draws from counters, `count` is what a node holds of it and nothing else."""
    devices = tuple(_device(entry, counter_sets) for entry in spec.at("devices").items())
    counts = {index: device.count for index, device in enumerate(devices)}
    try:
        for family in physical.families(counter_sets, devices):
            counts |= {kind: partitions.most(family, position) for position, kind in enumerate(family.kinds)}
            partitions.most_at_once(family)
    except Undecided:
        raise spec.at("sharedCounters").wrong(
            "has too many possible partitions to be counted; list fewer devices or fewer placements"
        ) from None
    return tuple(replace(device, count=counts[index]) for index, device in enumerate(devices))


def _counter_set(entry: Field) -> CounterSet:
    counters = entry.at("counters")
    return CounterSet(
        name=entry.at("name").text(),
        count=entry.at("count").count(1, least=1, most=UNITS_MAX),
        counters=tuple((name, _amount(counters.at(name))) for name in sorted(counters.members())),
    )


def _draw(entry: Field, counter_sets: tuple[CounterSet, ...], alike: int) -> Draw:
    """Return what a device takes of one counter set: without counters and placements the whole of it.

    Raises: InvalidInput where it could never be taken.
    """
    name = entry.at("counterSet").text()
    found = next((one for one in counter_sets if one.name == name), None)
    if found is None:
        known = ", ".join(one.name for one in counter_sets) or "none"
        raise entry.at("counterSet").wrong(f'counter set "{name}" is not in spec.sharedCounters, which has {known}')
    has = dict(found.counters)
    counters = entry.at("counters")
    amounts = tuple((counter, _amount(counters.at(counter))) for counter in sorted(counters.members()))
    for counter, amount in amounts:
        if counter not in has:
            raise counters.at(counter).wrong(_no_counter(found, counter))
        if units.quantity(amount) > units.quantity(has[counter]):
            raise counters.at(counter).wrong(
                f"must be at most {has[counter]}, the amount of counter set {name}, not {amount}; no device would fit"
            )
    placements = tuple(
        tuple(sorted(_placed(one, found) for one in place.items())) for place in entry.at("placements").items()
    )
    if not amounts and not placements:
        amounts = found.counters
    return Draw(name, amounts, placements, alike)


def _placed(field: Field, counter_set: CounterSet) -> str:
    counter = field.text()
    if counter not in dict(counter_set.counters):
        raise field.wrong(_no_counter(counter_set, counter))
    return counter


def _no_counter(counter_set: CounterSet, counter: str) -> str:
    has = ", ".join(name for name, _ in counter_set.counters)
    return f'counter set {counter_set.name} has no counter "{counter}"; it has {has}'


def _draws(entry: Field, counter_sets: tuple[CounterSet, ...]) -> tuple[Draw, ...]:
    listed = entry.at("consumesCounters")
    draws = tuple(_draw(one, counter_sets, _count(entry)) for one in listed.items())
    counts = {one.name: one.count for one in counter_sets if any(draw.counter_set == one.name for draw in draws)}
    if len(counts) < len(draws):
        raise listed.wrong("has two entries for one counter set; merge them into one entry")
    if len(set(counts.values())) > 1:
        written = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise listed.wrong(f"consumes counters of sets with different counts ({written}); the counts must be equal")
    if draws and entry.at("claim").choice(Claim, Claim.DRA) is not Claim.DRA:
        raise listed.wrong('goes with "claim: DRA" only; remove it or change claim')
    return draws


def _device(entry: Field, counter_sets: tuple[CounterSet, ...]) -> Device:
    return Device(
        name=entry.at("name").text(),
        driver=entry.at("driver").text(),
        count=_count(entry),
        claim=entry.at("claim").choice(Claim, Claim.DRA),
        device_class=entry.at("deviceClassName").text(""),
        resource_name=_resource_name(entry),
        attributes=tuple(
            (name, attribute(entry.at("attributes", name))) for name in sorted(entry.at("attributes").members())
        ),
        capacity=tuple((name, _amount(entry.at("capacity", name))) for name in sorted(entry.at("capacity").members())),
        draws=_draws(entry, counter_sets),
        allow_multiple_allocations=_is_shared(entry),
        policies=tuple(_policies(entry)),
        taints=_taints(entry),
    )


def _resource_name(entry: Field) -> str:
    """Return the resource of a device plugin. Raises: InvalidInput for one that kube-scheduler serves by a claim."""
    field = entry.at("resourceName")
    name = field.text("")
    if name.startswith(_OF_DEVICE_CLASS):
        raise field.wrong(
            f"names the DeviceClass {name.removeprefix(_OF_DEVICE_CLASS)}, and no device plugin; write "
            '"claim: DRA" with this deviceClassName, so that the devices are counted once'
        )
    return name


def _is_shared(entry: Field) -> bool:
    field = entry.at("allowMultipleAllocations")
    shared = field.flag(default=False)
    if shared and entry.at("claim").choice(Claim, Claim.DRA) is not Claim.DRA:
        raise field.wrong('goes with "claim: DRA" only; remove it or change claim')
    if shared and entry.at("consumesCounters").is_set:
        raise field.wrong("is not offered for devices that consume counters; remove one of the two")
    return shared


def _policies(entry: Field) -> Iterator[tuple[str, Policy]]:
    """Yield the policies by the name of a capacity. Raises: InvalidInput where no API server would store one."""
    for name in sorted(entry.at("capacity").members()):
        capacity = entry.at("capacity", name)
        field = capacity.at("requestPolicy")
        if not field.is_set:
            continue
        if not _is_shared(entry):
            raise field.wrong('goes with "allowMultipleAllocations: true" only; remove it or let pods share the device')
        policy = _policy(field)
        wrong = sharing.fault(policy, units.quantity(_amount(capacity)))
        if wrong:
            raise field.wrong(wrong)
        yield name, policy


def _policy(field: Field) -> Policy:
    bounds, values = field.at("validRange"), tuple(field.at("validValues").items())
    if bounds.is_set and values:
        raise field.wrong("has validValues and validRange; remove one")
    return Policy(
        _optional(field, "default"),
        Range(_optional(bounds, "min"), _optional(bounds, "max"), _optional(bounds, "step")) if bounds.is_set else None,
        tuple(_quantity(one) for one in values),
    )


def _optional(parent: Field, name: str) -> Quantity | None:
    return _quantity(parent.at(name)) if parent.at(name).is_set else None


def _taints(entry: Field) -> tuple[DeviceTaint, ...]:
    taints = tuple(device_requests.decode_taint(one) for one in entry.at("taints").items())
    if taints and entry.at("claim").choice(Claim, Claim.DRA) is not Claim.DRA:
        raise entry.at("taints").wrong('goes with "claim: DRA" only; remove it or change claim')
    return taints


def _count(device: Field) -> int:
    """Return how many devices of the kind a node has."""
    return device.at("count").count(1, least=1, most=DEVICES_MAX)


def attribute(field: Field) -> Attribute:
    """Return the typed value of an attribute, as a class or a ResourceSlice has it. Raises: InvalidInput."""
    kinds = [kind for kind in AttributeKind if field.at(kind).is_set]
    if len(kinds) != 1:
        raise field.wrong(f"must have exactly one of {', '.join(AttributeKind)}, not {len(kinds)}")
    (kind,) = kinds
    value = field.at(kind)
    if not kind.is_list:
        return Attribute(kind, _scalar(value, kind))
    values = tuple(_scalar(one, kind.element) for one in value.items())
    if not values:
        raise value.wrong("must have at least one value, as in a ResourceSlice")
    return Attribute(kind, values)


def _scalar(value: Field, kind: AttributeKind) -> str | int | bool:
    if kind is AttributeKind.BOOL:
        return value.flag(default=False)
    if kind is AttributeKind.INT:
        return value.integer()
    if kind is AttributeKind.VERSION:
        try:
            units.version(value.text())
        except InvalidQuantity as error:
            raise error.under(*value.path) from None
    return value.text("")


def _amount(field: Field) -> str:
    return field.at("value").quantity()


def _quantity(value: Field) -> Quantity:
    return units.quantity(value.quantity())


def _price(field: Field) -> str | None:
    """Return a plain decimal number as text, None when absent; with an exponent it could be any size."""
    text = field.optional()
    if text is not None and not _PRICE.fullmatch(text):
        raise field.wrong('must be a plain decimal number of at most 32 characters, for example "88.49"')
    return text


def _floor(field: Field, *, power: int) -> int | None:
    """Return an amount times ten to `power`, rounded down: what a node has may never be counted too high."""
    if not field.is_set:
        return None
    try:
        amount = units.quantity(str(field.value))
    except InvalidQuantity as error:
        raise error.under(*field.path) from None
    return -units.Quantity(-amount.unscaled, amount.exponent + power).ceil()
