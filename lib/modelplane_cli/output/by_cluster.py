"""Manifests written to a folder per cluster, without the wrappers that carry them there.

What may never happen here: a file outside the folder that was asked for, or a file of an earlier run that goes
unmentioned.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import serving_stack
from modelplane.render import external_names
from modelplane.render.stack import releases
from modelplane_cli.documents import reading
from modelplane_cli.output import manifests
from modelplane_cli.simulator import remote
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Object, controller_of, group_of

Json: TypeAlias = Any

CONTROL_PLANE = "control-plane"
_HELM = "helm"


@dataclass(frozen=True, slots=True)
class Written:
    """The files of this run, and manifests in the same folders that it did not write."""

    files: tuple[Path, ...]
    stale: tuple[Path, ...]


def write(world: World, folder: Path) -> Written:
    """Return the files that were written: `folder`/<cluster>/ and `folder`/control-plane/, one file per object.

    The charts of a serving stack are in `folder`/<cluster>/helm/, as values.

    Nothing is removed; files of earlier runs are reported as stale.
    Raises: OSError when a file cannot be written.
    """
    contents: dict[Path, str] = {}
    for place, name, manifest in _named(world):
        contents[folder / _safe(place) / _safe(name)] = manifests.one_yaml(manifest)
    for cluster, name, text in _values(world):
        contents[folder / _safe(cluster) / _HELM / _safe(name)] = text
    before = {*folder.glob("*/*.yaml"), *folder.glob(f"*/{_HELM}/*.yaml")} if folder.is_dir() else set()
    for path, text in sorted(contents.items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Written(tuple(sorted(contents)), tuple(sorted(before - set(contents))))


def _values(world: World) -> Iterator[tuple[str, str, str]]:
    """Yield cluster, file name and the values of each chart of a serving stack, with the line that installs it.

    They have a folder of their own, because values are no manifests.
    """
    for resource in world.objects():
        owner = controller_of(resource) or {}
        if resource["kind"] != releases.KIND or owner.get("kind") != serving_stack.KIND:
            continue
        given = (resource.get("spec") or {}).get("forProvider") or {}
        chart = given.get("chart") or {}
        name = str((resource["metadata"].get("annotations") or {}).get(external_names.ANNOTATION) or "")
        where, called = str(chart.get("repository")), str(chart.get("name"))
        source = [f"{where}/{called}"] if where.startswith("oci://") else [called, "--repo", where]
        line = ["helm", "upgrade", "--install", name, *source, "--version", str(chart.get("version"))]
        line += ["--namespace", str(given.get("namespace")), "--create-namespace", "--values", f"{name}.yaml"]
        # A name of a dump may have a line break, after which it would be no comment.
        comment = " ".join(shlex.join(line).split())
        text = f"# {comment}\n{manifests.one_yaml(given.get('values') or {})}"
        yield remote.cluster_of(resource, world.store), f"{name}.yaml", text


def _named(world: World) -> Iterator[tuple[str, str, Mapping[str, Json]]]:
    """Yield folder, file name and manifest; kinds of one name in two groups are told apart by the group."""
    placed = [found for resource in world.objects() if (found := _placed(resource, world)) is not None]
    groups: dict[tuple[str, str], set[str]] = {}
    for place, manifest in placed:
        groups.setdefault((place, _file_name(manifest)), set()).add(group_of(manifest["apiVersion"]))
    for place, manifest in placed:
        is_shared = len(groups[(place, _file_name(manifest))]) > 1
        yield place, _file_name(manifest, group_of(manifest["apiVersion"]) if is_shared else ""), manifest


def _placed(resource: Object, world: World) -> tuple[str, Mapping[str, Json]] | None:
    """Return where an object stands and as what; None for what is only observed or is not ours to apply."""
    if (group_of(resource["apiVersion"]), resource["kind"]) != (remote.KUBERNETES, "Object"):
        return CONTROL_PLANE, resource
    if (resource.get("spec") or {}).get("managementPolicies") == ["Observe"]:
        return None
    return remote.cluster_of(resource, world.store), remote.manifest_of(resource)


def _safe(part: str) -> str:
    """Return a name as a part of a path: an observed object may name its cluster or manifest anything."""
    return part if reading.NAME.fullmatch(part) else f"unnamed-{names.digest(part)}.yaml"


def _file_name(manifest: Mapping[str, Json], group: str = "") -> str:
    """Return `kind[.group]-namespace-name.yaml`."""
    metadata = manifest["metadata"]
    kind = ".".join(part for part in (str(manifest["kind"]).lower(), group) if part)
    parts = (kind, str(metadata.get("namespace") or ""), str(metadata["name"]))
    return "-".join(part for part in parts if part) + ".yaml"
