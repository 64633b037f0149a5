"""Overrides: the author's patches of rendered workload objects, within what their backend lists.

May never happen here: a field written that a backend does not list, so that no patch changes a name, a label, a
selector, a claim, a count or the node of a pod; text written that KServe, which runs all of its object, would take for
a template.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane import names
from modelplane.errors import InvalidInput
from modelplane.render.manifest import Manifest, Purpose
from modelplane.workload.model import Replica, Workload

Json: TypeAlias = Any
Path: TypeAlias = tuple[str, ...]

_DEPTH_MAX = 32
_SHOWN = 60
_TEMPLATE_ACTION = "{{"


def check(workload: Workload, backend: str, patchable: frozenset[str]) -> None:
    """Check that the overrides for a backend write only what it lists. Raises: as `check_patch`."""
    for index, one in enumerate(workload.overrides):
        if one.backend == backend:
            check_patch(one.patch, patchable, ("spec", "overrides", index))


def check_patch(patch: Json, patchable: frozenset[str], entry: tuple[str | int, ...]) -> None:
    """Check that the patch of an entry writes only what its backend lists.

    Raises: InvalidInput with the path of the first field that is not listed, or of text that is a template's.
    """
    _writes(patch, _allowed(patchable), (*entry, "patch"))


def apply(manifests: tuple[Manifest, ...], replica: Replica, patchable: frozenset[str]) -> tuple[Manifest, ...]:
    """Return the manifests with the replica's overrides in its workload objects, each noted in an annotation.

    Raises: as `check_patch`.
    """
    if not replica.overrides:
        return manifests
    return tuple(_patched(one, replica, patchable) if one.purpose is Purpose.WORKLOAD else one for one in manifests)


def _patched(manifest: Manifest, replica: Replica, patchable: frozenset[str]) -> Manifest:
    kind = str(manifest.resource["kind"])
    resource: dict[str, Json] = json.loads(json.dumps(manifest.resource))
    notes = []
    for one in replica.overrides:
        for path, value in _writes(one.patch, _allowed(patchable), ("spec", "overrides", "patch")):
            place = _place(resource, path) if _is_of(kind, path, patchable) else None
            if place is not None:
                before = place.get(path[-1])
                place[path[-1]] = _merged(before, value, _DEPTH_MAX)
                notes.append(f"{'.'.join(path)} is {_shown(value)}, rendered as {_shown(before)}")
    if not notes:
        return manifest
    annotations = {**resource["metadata"].get("annotations", {}), names.ANNOTATION_OVERRIDES: "; ".join(notes)}
    resource["metadata"] = {**resource["metadata"], "annotations": annotations}
    return replace(manifest, resource=resource)


def _allowed(patchable: frozenset[str]) -> frozenset[Path]:
    """Return the listed fields as paths, of whatever kind."""
    return frozenset(_split(one)[1] for one in patchable)


def _split(listed: str) -> tuple[str, Path]:
    """Return the kind that a listed field is limited to, empty for every kind, and its path."""
    first, *rest = listed.split(".")
    return (first, tuple(rest)) if first[:1].isupper() else ("", (first, *rest))


def _is_of(kind: str, path: Path, patchable: frozenset[str]) -> bool:
    return any(path == listed and limited in ("", kind) for limited, listed in map(_split, patchable))


def _writes(patch: Json, allowed: frozenset[Path], where: tuple[str | int, ...]) -> tuple[tuple[Path, Json], ...]:
    """Return the listed fields that a patch writes, each with its value.

    Raises: InvalidInput for a field that is not listed, a null, or text that would be run as a template.
    """
    left: list[tuple[Path, Json]] = [((), patch)]
    found = []
    while left:
        path, value = left.pop()
        if path in allowed and value is not None:
            for below in _actions(value):
                message = f'text with "{_TEMPLATE_ACTION}" would be run as a template on the cluster; remove it'
                raise InvalidInput(message, path=(*where, *path, *below))
            found.append((path, value))
        elif path in allowed:
            raise InvalidInput("null removes nothing here; remove the field", path=(*where, *path))
        elif isinstance(value, Mapping) and value and any(one[: len(path)] == path for one in allowed):
            left += [((*path, str(key)), below) for key, below in sorted(value.items(), reverse=True)]
        else:
            may = ", ".join(sorted(".".join(one) for one in allowed)) or "nothing"
            raise InvalidInput(f"cannot be written by an override, which can write {may}", path=(*where, *path))
    return tuple(found)


def _actions(value: Json) -> Iterator[tuple[str | int, ...]]:
    """Yield where in a value a key or a text has a template action."""
    if isinstance(value, str) and _TEMPLATE_ACTION in value:
        yield ()
    elif isinstance(value, Mapping):
        for key, below in value.items():
            if _TEMPLATE_ACTION in str(key):
                yield (str(key),)
            yield from ((str(key), *path) for path in _actions(below))
    elif isinstance(value, (list, tuple)):
        for index, below in enumerate(value):
            yield from ((index, *path) for path in _actions(below))


def _place(resource: dict[str, Json], path: Path) -> dict[str, Json] | None:
    """Return the object that has or would have the field, None where the rendered object has no such place.

    A role or a template that is not rendered is not made by a patch of a part of it.
    """
    place: Json = resource
    for step in path[:-1]:
        place = place.get(step) if isinstance(place, dict) else None
    return place if isinstance(place, dict) else None


def _merged(before: Json, value: Json, depth: int) -> Json:
    if not isinstance(before, Mapping) or not isinstance(value, Mapping) or depth == 0:
        return value
    return {**before, **{key: _merged(before.get(key), below, depth - 1) for key, below in value.items()}}


def _shown(value: Json) -> str:
    if value is None:
        return "nothing"
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
