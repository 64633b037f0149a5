"""Installed backends in the status of an InferenceCluster, encoded and decoded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.api.fields import Field
from modelplane.workload.site import Installed

Json: TypeAlias = Any


def encode(backends: Iterable[Installed]) -> list[dict[str, Json]]:
    """Return status.backends. What is not known is left out."""
    return [_encode(one) for one in backends]


def decode(status: Field) -> tuple[Installed, ...]:
    """Return the published states. An entry that cannot be read says nothing."""
    listed = seen.objects(seen.at(status.value, "backends"))
    return tuple(_decode(entry) for entry in listed if seen.text(entry.get("name")))


def missing(status: Field) -> frozenset[str]:
    """Return the API versions that the cluster is known not to serve."""
    return frozenset(version for one in decode(status) for version in one.missing)


def _encode(one: Installed) -> dict[str, Json]:
    entry: dict[str, Json] = {"name": one.backend}
    if one.is_installed is not None:
        entry["installed"] = one.is_installed
    if one.is_served is not None:
        entry["served"] = one.is_served
    if one.versions:
        entry["versions"] = list(one.versions)
    if one.missing:
        entry["missing"] = list(one.missing)
    return entry


def _decode(entry: seen.Object) -> Installed:
    return Installed(
        backend=seen.text(entry.get("name")),
        is_installed=_flag(entry.get("installed")),
        is_served=_flag(entry.get("served")),
        versions=_texts(entry.get("versions")),
        missing=_texts(entry.get("missing")),
    )


def _flag(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
