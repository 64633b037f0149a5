"""Allocations of a pool in the status of its InferenceCluster, encoded and decoded."""

from __future__ import annotations

from typing import Any, TypeAlias

from kubecel.caches import Answers
from modelplane import units
from modelplane.api import device_requests
from modelplane.api.fields import Field
from modelplane.devices import sharing
from modelplane.errors import InvalidQuantity
from modelplane.placement.snapshot import Allocation, PodShape
from modelplane.units import Format, Quantity

Json: TypeAlias = Any

LISTED_MAX, CHARACTERS_MAX = 4096, 1024
# So many digits are counted exactly by every Kubernetes, whatever their suffix.
SMALL_DIGITS = 15
_MILLI = 3
_KNOWN = Answers[str, Allocation](LISTED_MAX, longest=CHARACTERS_MAX, name=f"{__name__}.known")
"""A cache of decoded entries of status.pools[].allocations by their content."""


def decode_all(listed: Field) -> tuple[Allocation, ...]:
    """Return one count per shape. Equal ones are read once: a fleet publishes thousands, and few that differ."""
    if not listed.is_set:
        return ()
    return tuple([_KNOWN.get(repr(entry.value)) or _kept(entry) for entry in listed.items()])


def _kept(entry: Field) -> Allocation:
    return _KNOWN.keep(repr(entry.value), decode(entry))


def decode(entry: Field) -> Allocation:
    """Return one decoded entry of status.pools[].allocations, without the cache."""
    devices = entry.at("devices")
    return Allocation(
        shape=PodShape(
            devices=tuple([(name, devices.integer_at(name)) for name in sorted(devices.members())]),
            cpu_millis=_ceil(entry.at("cpu"), power=3),
            memory_bytes=_ceil(entry.at("memory"), power=0),
            consumed=sharing.read(device_requests.decode_amounts(entry.at("consumed"))),
        ),
        pods=entry.integer_at("pods"),
        nodes_per_worker=entry.integer_at("nodesPerWorker", 1),
    )


def encode(allocation: Allocation) -> dict[str, Json]:
    """Return one entry of status.pools[].allocations."""
    shape = allocation.shape
    entry: dict[str, Json] = {"pods": allocation.pods, "devices": dict(shape.devices)}
    if allocation.nodes_per_worker > 1:
        entry["nodesPerWorker"] = allocation.nodes_per_worker
    if shape.consumed:
        entry["consumed"] = dict(sharing.written(shape.consumed))
    if shape.cpu_millis:
        entry["cpu"] = f"{shape.cpu_millis}m" if shape.cpu_millis % 1000 else str(shape.cpu_millis // 1000)
    if shape.memory_bytes:
        entry["memory"] = Quantity.of(shape.memory_bytes, Format.BINARY_SI).canonical()
    return entry


def _ceil(field: Field, *, power: int) -> int:
    """Return an amount times ten to `power`, rounded up as Kubernetes rounds a request; 0 when it is not said."""
    if not field.is_set:
        return 0
    try:
        return _amount(str(field.value), power)
    except InvalidQuantity as error:
        raise error.under(*field.path) from None


def _amount(text: str, power: int) -> int:
    # What we publish ourselves: whole cores, or thousandths of one.
    if len(text) <= SMALL_DIGITS and text.isascii():
        if text.isdigit():
            return int(text) * int(10**power)
        if power == _MILLI and text[:-1].isdigit() and text[-1] == "m":
            return int(text[:-1])
    amount = units.quantity(text)
    return Quantity(amount.unscaled, amount.exponent + power).ceil()
