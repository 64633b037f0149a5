"""The summary that a cluster's observer writes, decoded: data of a less trusted place.

Shape: JSON text `{version, pools: [{name, asked, kinds, shapes, uncounted}]}`. Whoever may write the ConfigMap on the
cluster writes it, so it is refused as a whole where it is too large or not as described, and what is not known in it is
passed over and named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from modelplane import words
from modelplane.api import inference_class
from modelplane.api.fields import Field
from modelplane.devices.model import Attribute, DeviceTaint, DeviceTaintEffect
from modelplane.devices.sightings import BYTES_MAX, KINDS_MAX, SHAPES_MAX, NodeState, PoolSighting, SeenKind, Shape
from modelplane.errors import InvalidInput

VERSION = 1
NODES_MAX = 15_000
"""The nodes of one cluster, as many as Kubernetes takes and the definition allows."""
_DEVICES_MAX = 4096
_POOLS_MAX = 64
_MOST = 1 << 62
_INT_MAX = 1 << 63
_TEXT_MAX = 253
_VALUES_MAX = 64
_NAMED = 3
_FIELDS = {
    "": frozenset({"version", "pools"}),
    "pools": frozenset({"name", "asked", "kinds", "shapes", "uncounted"}),
    "kinds": frozenset({"driver", "attributes", "capacity", "taints", "partial"}),
    "shapes": frozenset({"nodes", "state", "devices", "resources", "cpuMillis", "memoryBytes"}),
}


@dataclass(frozen=True, slots=True)
class Observation:
    """The sightings by pool, and the names of fields that are not known here."""

    pools: Mapping[str, PoolSighting]
    ignored: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """Return the words on fields that were passed over, empty for none."""
        return f"; fields that are not known are ignored: {words.first(self.ignored, _NAMED)}" if self.ignored else ""


def decode(text: str) -> Observation:
    """Return the observation. Raises: InvalidInput."""
    size = len(text.encode(errors="replace"))
    if size > BYTES_MAX:
        raise InvalidInput(f"has {size} bytes, and at most {BYTES_MAX} are read")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"is not JSON ({type(error).__name__})") from None
    root = Field(found)
    version = root.at("version").integer(0)
    if version != VERSION:
        raise root.at("version").wrong(f"is not {VERSION}, the only version that is read")
    entries = list(root.at("pools").items())
    if len(entries) > _POOLS_MAX:
        raise root.at("pools").wrong(f"must have at most {_POOLS_MAX} entries")
    pools = {one.pool: one for one in reversed([_pool(entry) for entry in entries])}
    return Observation(pools, tuple(sorted({_bare(name) for name in _unknown(root, entries)})))


def _unknown(root: Field, entries: list[Field]) -> Iterator[str]:
    yield from root.members().keys() - _FIELDS[""]
    for entry in entries:
        yield from entry.members().keys() - _FIELDS["pools"]
        for part in ("kinds", "shapes"):
            for one in entry.at(part).items():
                yield from one.members().keys() - _FIELDS[part]


def _bare(name: str) -> str:
    return "".join(letter for letter in name[:32] if letter.isprintable())


def _pool(entry: Field) -> PoolSighting:
    kinds = tuple(_kind(one) for one in _bounded(entry.at("kinds"), KINDS_MAX))
    shapes = tuple(_shape(one, len(kinds)) for one in _bounded(entry.at("shapes"), SHAPES_MAX))
    uncounted = entry.at("uncounted").count(0, least=0, most=NODES_MAX)
    # What is counted of it has to fit into a status of 32 bits, or the API server refuses all of that.
    if sum(shape.nodes for shape in shapes) + uncounted > NODES_MAX:
        raise entry.at("shapes").wrong(f"must have at most {NODES_MAX} nodes")
    if any(sum(count for _, count in shape.devices) > _DEVICES_MAX for shape in shapes):
        raise entry.at("shapes").wrong(f"must have at most {_DEVICES_MAX} devices on a node")
    return PoolSighting(
        pool=_text(entry.at("name")),
        asked=_text(entry.at("asked")),
        kinds=kinds,
        shapes=shapes,
        uncounted=uncounted,
    )


def _kind(entry: Field) -> SeenKind:
    attributes = entry.at("attributes")
    capacity = entry.at("capacity")
    return SeenKind(
        driver=_text(entry.at("driver")),
        attributes=tuple((key, _attribute(attributes.at(key))) for key in sorted(attributes.members())),
        capacity=tuple((name, _text(capacity.at(name))) for name in sorted(capacity.members())),
        taints=tuple(_taint(one) for one in entry.at("taints").items()),
        is_whole=not entry.at("partial").flag(default=False),
    )


def _attribute(field: Field) -> Attribute:
    """Return an attribute whose values a condition can show."""
    found = inference_class.attribute(field)
    values = found.value if isinstance(found.value, tuple) else (found.value,)
    if len(values) > _VALUES_MAX:
        raise field.wrong(f"must have at most {_VALUES_MAX} values")
    for value in values:
        if isinstance(value, str) and (len(value) > _TEXT_MAX or not value.isprintable()):
            raise field.wrong(f"must be at most {_TEXT_MAX} printable characters")
        if isinstance(value, int) and abs(value) > _INT_MAX:
            raise field.wrong("must be an integer of 64 bits")
    return found


def _taint(entry: Field) -> DeviceTaint:
    """Return a taint, written as key, value and effect. An effect that is not known keeps pods off the device."""
    parts = [_text(one, "") for one in entry.items()]
    if len(parts) != 3:
        raise entry.wrong("must have key, value and effect")
    key, value, effect = parts
    known = {one.value: one for one in DeviceTaintEffect}
    return DeviceTaint(key, known.get(effect, DeviceTaintEffect.NO_SCHEDULE), value)


def _shape(entry: Field, kinds: int) -> Shape:
    resources = entry.at("resources")
    return Shape(
        nodes=entry.at("nodes").count(least=1, most=NODES_MAX),
        state=entry.at("state").choice(NodeState),
        cpu_millis=_amount(entry.at("cpuMillis")),
        memory_bytes=_amount(entry.at("memoryBytes")),
        devices=tuple(_counted(one, kinds) for one in _bounded(entry.at("devices"), KINDS_MAX)),
        resources=tuple(
            (name, resources.at(name).count(least=0, most=_DEVICES_MAX)) for name in sorted(resources.members())
        ),
    )


def _counted(entry: Field, kinds: int) -> tuple[int, int]:
    parts = list(entry.items())
    if len(parts) != 2:
        raise entry.wrong("must have the index of a kind and a number of devices")
    return parts[0].count(least=0, most=kinds - 1), parts[1].count(least=0, most=_DEVICES_MAX)


def _amount(field: Field) -> int | None:
    return field.count(least=0, most=_MOST) if field.is_set else None


def _bounded(field: Field, most: int) -> list[Field]:
    entries = list(field.items())
    if len(entries) > most:
        raise field.wrong(f"must have at most {most} entries")
    return entries


def _text(field: Field, default: str | None = None) -> str:
    text = field.text(default)
    if len(text) > _TEXT_MAX or not text.isprintable():
        raise field.wrong(f"must be at most {_TEXT_MAX} printable characters")
    return text
