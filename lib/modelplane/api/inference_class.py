"""InferenceClass decoded: the hardware of one node, as the matcher sees it.

Shape: the whole resource as plain JSON. A class is published by the platform team and read by many, so a fault in one
of its values is reported with the value's path and never guessed around.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import units
from modelplane.api.fields import Field
from modelplane.devices.model import Attribute, AttributeKind, Claim, Device, NodeClass
from modelplane.errors import InvalidQuantity

Json: TypeAlias = Any

KIND = "InferenceClass"


def decode(resource: Mapping[str, Json]) -> NodeClass:
    """Return the node class.

    Raises: InvalidInput with the path from the document's root (the fault of the class's author).
    """
    root = Field(resource)
    spec = root.at("spec")
    cost = spec.at("cost")
    return NodeClass(
        name=root.at("metadata", "name").text(),
        devices=tuple(_device(entry) for entry in spec.at("devices").items()),
        cpu_millis=_floor(spec.at("node", "cpu"), power=3),
        memory_bytes=_floor(spec.at("node", "memory"), power=0),
        cost_per_node_hour=cost.at("perNodeHour").optional(),
        currency=cost.at("currency").text("USD"),
        attributes=dict(sorted(spec.at("attributes").members().items())),
    )


def _device(entry: Field) -> Device:
    return Device(
        name=entry.at("name").text(),
        driver=entry.at("driver").text(),
        count=entry.at("count").integer(1),
        claim=entry.at("claim").choice(Claim, Claim.DRA),
        device_class=entry.at("deviceClassName").text(""),
        resource_name=entry.at("resourceName").text(""),
        attributes=tuple(
            (name, _attribute(entry.at("attributes", name))) for name in sorted(entry.at("attributes").members())
        ),
        capacity=tuple(
            (name, _capacity(entry.at("capacity", name))) for name in sorted(entry.at("capacity").members())
        ),
    )


def _attribute(field: Field) -> Attribute:
    kinds = [kind for kind in AttributeKind if field.at(kind).is_set]
    if len(kinds) != 1:
        raise field.wrong(f"needs exactly one of {', '.join(AttributeKind)}, has {len(kinds)}")
    (kind,) = kinds
    value = field.at(kind)
    if kind is AttributeKind.BOOL:
        return Attribute(kind, value.flag(default=False))
    if kind is AttributeKind.INT:
        return Attribute(kind, value.integer())
    if kind is AttributeKind.VERSION:
        try:
            units.Version.parse(value.text())
        except InvalidQuantity as error:
            raise error.under(*value.path) from None
    return Attribute(kind, value.text(""))


def _capacity(field: Field) -> str:
    value = field.at("value")
    text = str(value.value) if isinstance(value.value, int) and not isinstance(value.value, bool) else value.text()
    try:
        units.Quantity.parse(text)
    except InvalidQuantity as error:
        raise error.under(*value.path) from None
    return text


def _floor(field: Field, *, power: int) -> int | None:
    """Return an amount times ten to `power`, rounded down: what a node has may never be counted too high."""
    if not field.is_set:
        return None
    try:
        amount = units.Quantity.parse(str(field.value))
    except InvalidQuantity as error:
        raise error.under(*field.path) from None
    return -units.Quantity(-amount.unscaled, amount.exponent + power).ceil()
