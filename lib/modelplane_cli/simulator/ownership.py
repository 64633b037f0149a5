"""Server-side apply with one owner: what an owner leaves out this time and had written before is removed.

Shape: plain JSON. Lists are replaced whole, as the API server does with lists of unknown shape; a composer that writes
a list writes all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any


def apply(live: Mapping[str, Json], desired: Mapping[str, Json], previous: Mapping[str, Json]) -> dict[str, Json]:
    """Return `live` after its owner, who had applied `previous`, applied `desired`.

    Fields of others stay. A map that loses its last field to the removal goes too.
    """
    result = dict(live)
    for name in previous:
        if name not in desired and name in result:
            _remove(result, name, previous[name])
    for name, value in desired.items():
        before = result.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            had = previous.get(name)
            result[name] = apply(before, value, had if isinstance(had, Mapping) else {})
        else:
            result[name] = value
    return result


def _remove(result: dict[str, Json], name: str, owned: Json) -> None:
    held = result[name]
    if isinstance(owned, Mapping) and isinstance(held, Mapping):
        rest = apply(held, {}, owned)
        if rest:
            result[name] = rest
            return
    del result[name]
