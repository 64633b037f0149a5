"""Overrides that no backend takes: entries of backends that are not in use, which no function refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api import scaling
from modelplane.errors import InvalidInput
from modelplane.render import overrides
from modelplane.render.backends import selection
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents.reading import WARNING, Problem
from modelplane_cli.documents.yamltext import Path
from modelplane_cli.simulator.store import controller_of

Json: TypeAlias = Any


def check(checked: Checked, refused: Sequence[Problem]) -> list[Problem]:
    """Return a warning at each such entry of the documents that people wrote, but for what is refused already."""
    known = {(one.file, one.document, one.path) for one in refused}
    found = [
        checked.sources[key].problem(message, path, WARNING)
        for key, resource in sorted(checked.objects.items(), key=lambda entry: entry[0])
        if (key.group, key.kind) == (names.GROUP, scaling.TARGET_KIND) and controller_of(resource) is None
        for path, message in _untakeable(resource)
    ]
    return [one for one in found if (one.file, one.document, one.path) not in known]


def _untakeable(resource: Mapping[str, Json]) -> Iterator[tuple[Path, str]]:
    for index, entry in enumerate(seen.at(resource, "spec", "overrides") or ()):
        backend = entry["backend"]
        try:
            overrides.check_patch(entry["patch"], selection.backend(backend).PATCHABLE, ("spec", "overrides", index))
        except InvalidInput as error:
            idle = f"with another backend the entry has no effect, and {backend} is refused while it is there"
            yield error.path, f"{error.message}; {idle}"
