"""Applied objects in the status of a ModelReplica, encoded and decoded: what changes by others are told from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import seen

Json: TypeAlias = Any
Entry: TypeAlias = tuple[int, int, str, str, tuple[str, ...]]
"""Source generation, generation, uid, time of the last write, times of reverts."""


def encode(applied: Mapping[str, Entry]) -> dict[str, Json]:
    """Return the part of the status, empty while nothing was seen as applied."""
    listed = [_encode(key, entry) for key, entry in sorted(applied.items())]
    return {"applied": listed} if listed else {}


def decode(status: Mapping[str, Json]) -> dict[str, Entry]:
    """Return the objects that were seen as applied, by key. An entry that cannot be read is left out."""
    found = {}
    for entry in seen.objects(status.get("applied")):
        source, generation = seen.count(entry.get("source")), seen.count(entry.get("generation"))
        key = seen.text(entry.get("object"))
        if key and source is not None and generation is not None:
            listed = entry.get("reverts")
            reverts = tuple(one for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()
            found[key] = (source, generation, seen.text(entry.get("uid")), seen.text(entry.get("time")), reverts)
    return found


def _encode(key: str, of: Entry) -> dict[str, Json]:
    source, generation, uid, time, reverts = of
    entry: dict[str, Json] = {"object": key, "source": source, "generation": generation, "uid": uid}
    if time:
        entry["time"] = time
    if reverts:
        entry["reverts"] = list(reverts)
    return entry
