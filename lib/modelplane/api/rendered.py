"""Record of the rendered objects of a replica, kept in its status, which reveals edits of composed objects.

Running objects are kept even if they would be rendered differently today, so their desired state cannot be computed
again. The record tells whether an observed object still is what was rendered.
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
    """The record of rendered objects.

    `source` is a digest of the rendered replica, empty if it is unknown. `objects` are digests of the bare objects by
    their keys.
    """

    source: str = ""
    objects: Mapping[str, str] = field(default_factory=dict)

    def edited(self, observed: Mapping[str, str]) -> tuple[str, ...]:
        """Return the keys of the observed digests that differ from the rendered ones. A missing object is no edit."""
        known = self.objects
        return tuple(key for key in sorted(observed) if key in known and known[key] != observed[key])


NOTHING_RENDERED = Rendered()


def encode(rendered: Rendered) -> dict[str, Json]:
    """Return the part of the status, empty if nothing was rendered."""
    if not rendered.source:
        return {}
    return {"rendered": {"from": rendered.source, "objects": dict(rendered.objects)}}


def decode(status: Mapping[str, Json]) -> Rendered:
    """Return the record of a status, an empty one if it is invalid."""
    try:
        told = Field(status).at("rendered")
        objects = told.at("objects")
        return Rendered(told.at("from").text(""), {key: objects.at(key).text("") for key in objects.members()})
    except InvalidInput:
        return NOTHING_RENDERED


def digest(manifest: Mapping[str, Json]) -> str:
    """Return the digest of a bare object."""
    return names.digest(json.dumps(manifest, sort_keys=True))
