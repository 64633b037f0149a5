"""What composers compose: the kinds of every object of a golden outcome or of an example."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from modelplane_cli.simulator.offline import World
from tests.support import rendered, rendering

_REPOSITORY = Path(__file__).resolve().parents[2]


@functools.cache
def examples() -> tuple[World, ...]:
    """Return all examples, settled."""
    return tuple(rendered.folder(_REPOSITORY / "examples" / name) for name in rendering.EXAMPLES)


@functools.cache
def kinds() -> frozenset[tuple[str, str]]:
    """Return group and kind of every object that a composer composes, in a golden outcome or of an example."""
    found: set[tuple[str, str]] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("resource"), dict) and "kind" in value["resource"]:
                found.add(identity(value["resource"]))
                return
            for one in value.values():
                walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)

    for path in sorted((_REPOSITORY / "tests" / "golden").rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            walk(document)
    for settled in examples():
        owned = (one for one in settled.objects() if one["metadata"].get("ownerReferences"))
        # cert-manager makes the requests of a Certificate that is composed.
        found |= {identity(one) for one in owned if identity(one) != ("cert-manager.io", "CertificateRequest")}
    return frozenset(found)


def identity(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return group and kind of a document."""
    group, _, _ = str(document["apiVersion"]).rpartition("/")
    return group, str(document["kind"])
