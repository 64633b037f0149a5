"""Manifests written to a folder per cluster, without the wrappers that carry them there.

What may never happen here: a file outside the folder that was asked for, or a file of an earlier run that goes
unmentioned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from modelplane import names
from modelplane_cli.output import manifests
from modelplane_cli.world import assumption, documents
from modelplane_cli.world.offline import World
from modelplane_cli.world.store import Object, group_of

Json: TypeAlias = Any

CONTROL_PLANE = "control-plane"


@dataclass(frozen=True, slots=True)
class Written:
    """The files of this run, and manifests in the same folders that it did not write."""

    files: tuple[Path, ...]
    stale: tuple[Path, ...]


def write(world: World, folder: Path) -> Written:
    """Return what was written: `folder`/<cluster>/ and `folder`/control-plane/, one file per object.

    Nothing is removed; files of earlier runs are reported as stale.
    Raises: OSError when a file cannot be written.
    """
    contents: dict[Path, str] = {}
    for resource in world.objects():
        placed = _placed(resource, world)
        if placed is not None:
            place, manifest = placed
            contents[folder / _safe(place) / _safe(_file_name(manifest))] = manifests.one_yaml(manifest)
    before = set(folder.glob("*/*.yaml")) if folder.is_dir() else set()
    for path, text in sorted(contents.items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Written(tuple(sorted(contents)), tuple(sorted(before - set(contents))))


def _placed(resource: Object, world: World) -> tuple[str, Mapping[str, Json]] | None:
    """Return where an object stands and as what; None for what is only observed or is not ours to apply."""
    if (group_of(resource["apiVersion"]), resource["kind"]) != (assumption.KUBERNETES, "Object"):
        return CONTROL_PLANE, resource
    if (resource.get("spec") or {}).get("managementPolicies") == ["Observe"]:
        return None
    return assumption.cluster_of(resource, world.store), assumption.manifest_of(resource)


def _safe(part: str) -> str:
    """Return a name as a part of a path: an observed object may name its cluster or manifest anything."""
    return part if documents.NAME.fullmatch(part) else f"unnamed-{names.digest(part)}.yaml"


def _file_name(manifest: Mapping[str, Json]) -> str:
    """Return `kind-namespace-name.yaml`."""
    metadata = manifest["metadata"]
    parts = (str(manifest["kind"]).lower(), str(metadata.get("namespace") or ""), str(metadata["name"]))
    return "-".join(part for part in parts if part) + ".yaml"
