"""What a replica's pods were rendered as: the memory, in its status, by which an edit of a composed object is told.

What runs is kept although it would be rendered otherwise today, so that what is desired cannot be computed anew; it is
what was rendered then, and this says whether an observed object still is that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Rendered:
    """`source` is a digest of the replica that was rendered, empty where nothing is known; `objects` are digests of the
    bare objects by their keys.
    """

    source: str = ""
    objects: Mapping[str, str] = field(default_factory=dict)

    def edited(self, objects: Mapping[str, Json]) -> tuple[str, ...]:
        """Return the keys of the observed `objects` that are not what was rendered; one that is gone is no edit."""
        known = self.objects
        return tuple(key for key in sorted(objects) if key in known and known[key] != _digest(objects[key]))


NOTHING_RENDERED = Rendered()


def of(source: str, objects: Mapping[str, Json]) -> Rendered:
    """Return the memory of objects that were rendered from `source`."""
    return Rendered(source, {key: _digest(manifest) for key, manifest in sorted(objects.items())})


def encode(rendered: Rendered) -> dict[str, Json]:
    """Return the part of the status; empty where nothing was rendered."""
    if not rendered.source:
        return {}
    return {"rendered": {"from": rendered.source, "objects": dict(rendered.objects)}}


def decode(status: Mapping[str, Json]) -> Rendered:
    """Return what a status remembers, nothing where it cannot be read."""
    try:
        told = Field(status).at("rendered")
        objects = told.at("objects")
        return Rendered(told.at("from").text(""), {key: objects.at(key).text("") for key in objects.members()})
    except InvalidInput:
        return NOTHING_RENDERED


def _digest(manifest: Json) -> str:
    return names.digest(json.dumps(manifest, sort_keys=True))
