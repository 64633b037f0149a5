"""Scaling that contradicts itself over two documents, or over two fields of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from modelplane import names, seen
from modelplane.api import scaling
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents.reading import WARNING, Problem
from modelplane_cli.documents.yamltext import Path
from modelplane_cli.simulator.store import Key, controller_of

Json: TypeAlias = Any

_SCALERS: Final = frozenset({("keda.sh", scaling.KEDA_KIND), ("autoscaling", scaling.HPA_KIND)})
_SHORT: Final = "LLMInference"
_TWO_WRITERS: Final = (
    "the scaler of spec.scaling writes replicas, and each time this document is applied it is set back; leave it out, "
    "and write the least number as spec.scaling.min"
)


def check(checked: Checked) -> list[Problem]:
    """Return a warning at each such field of the documents that people wrote."""
    by_place = {(key.kind, key.namespace, key.name): resource for key, resource in checked.objects.items()}
    return [
        checked.sources[key].problem(message, path, WARNING)
        for key, resource in sorted(checked.objects.items(), key=lambda entry: entry[0])
        if controller_of(resource) is None
        for path, message in (*_two_writers(checked, key, resource), *_two_scalers(key, resource, by_place))
    ]


def _two_writers(checked: Checked, key: Key, resource: Mapping[str, Json]) -> Iterator[tuple[Path, str]]:
    """Yield a warning about `replicas` beside `scaling`, where the document says it and not only the definition."""
    if (key.group, key.kind) != (names.GROUP, scaling.TARGET_KIND) or seen.at(resource, "spec", "scaling") is None:
        return
    written = checked.sources[key].data
    is_dump = "status" in written or seen.at(written, "metadata", "uid") is not None
    if seen.at(written, "spec", "replicas") is not None and not is_dump:
        yield ("spec", "replicas"), _TWO_WRITERS


def _two_scalers(
    key: Key, resource: Mapping[str, Json], by_place: Mapping[tuple[str, str, str], Mapping[str, Json]]
) -> Iterator[tuple[Path, str]]:
    if (key.group, key.kind) not in _SCALERS:
        return
    name = seen.text(seen.at(resource, "spec", "scaleTargetRef", "name"))
    if not scaling.scales(resource, name):
        return
    for kind in (scaling.TARGET_KIND, _SHORT):
        target = by_place.get((kind, key.namespace, name))
        if target is not None and seen.at(target, "spec", "scaling") is not None:
            message = (
                f"{kind} {name} has spec.scaling, and no scaler is composed beside this one; delete this {key.kind}, "
                "or remove spec.scaling"
            )
            yield ("spec", "scaleTargetRef"), message
