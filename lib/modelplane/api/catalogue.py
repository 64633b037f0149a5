"""Catalogue of the kinds of this API, read from the bundle that is installed with the package.

The bundle is generated from apis/ and holds every CompositeResourceDefinition and Composition, so that the installed
package needs no other file. It is read once per process, on first use.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any, TypeAlias

from kubecel import caches
from modelplane import structural
from modelplane.structural import crossplane

Json: TypeAlias = Any

_PACKAGE = "modelplane_schemas"
_FILE = "apis.json"


def kinds() -> tuple[str, ...]:
    """Return the names of all kinds, sorted."""
    return tuple(sorted(_bundle()))


def definition(kind: str) -> Mapping[str, Json]:
    """Return the CompositeResourceDefinition of a kind.

    Raises: KeyError for a kind of another API (a bug of the caller).
    """
    found: Mapping[str, Json] = _bundle()[kind]["definition"]
    return found


def composition(kind: str) -> Mapping[str, Json]:
    """Return the Composition that serves a kind."""
    found: Mapping[str, Json] = _bundle()[kind]["composition"]
    return found


def derived(kind: str) -> Mapping[str, Json]:
    """Return the CustomResourceDefinition that Crossplane derives for a kind."""
    return crossplane.derive(definition(kind))


@caches.kept(caches.VERSIONS_MAX)
def structural_kind(kind: str) -> structural.Kind:
    """Return the structural form of a kind, which defaults and checks documents. Cost: some milliseconds, once."""
    return structural.kind_of(derived(kind))


@caches.kept(caches.VERSIONS_MAX)
def _bundle() -> Mapping[str, Mapping[str, Json]]:
    text = resources.files(_PACKAGE).joinpath(_FILE).read_text(encoding="utf-8")
    bundle: Mapping[str, Mapping[str, Json]] = json.loads(text)
    return bundle
