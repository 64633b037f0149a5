"""Secrets that a pod template refers to. They are never read, and must exist where the pods run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any


def required(template: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the sorted names of the Secrets that the pods need to start, without optional ones."""
    pod = template.get("spec") or {}
    found = {str(entry["name"]) for entry in pod.get("imagePullSecrets") or ()}
    for container in pod.get("containers") or ():
        found.update(_of_container(container))
    for volume in pod.get("volumes") or ():
        found.update(_of_volume(volume))
    return tuple(sorted(found))


def _of_container(container: Mapping[str, Json]) -> Iterator[str]:
    for variable in container.get("env") or ():
        yield from _named((variable.get("valueFrom") or {}).get("secretKeyRef"), "name")
    for source in container.get("envFrom") or ():
        yield from _named(source.get("secretRef"), "name")


def _of_volume(volume: Mapping[str, Json]) -> Iterator[str]:
    yield from _named(volume.get("secret"), "secretName")
    for source in (volume.get("projected") or {}).get("sources") or ():
        yield from _named(source.get("secret"), "name")


def _named(reference: Mapping[str, Json] | None, key: str) -> Iterator[str]:
    if reference is not None and not reference.get("optional") and reference.get(key):
        yield str(reference[key])
