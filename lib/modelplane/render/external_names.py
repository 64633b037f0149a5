"""Names of objects outside of the control plane, where they are chosen here and not by a provider.

A provider finds its object by an annotation. What is chosen here is written twice: a composer that only repeats what it
observes may repeat ours, and never a name that the provider assigned, which may be another one by now. Without the
annotation a provider takes the name of the resource instead, finds nothing, and makes a second object.

Source: crossplane-runtime v2.4 (meta.AnnotationKeyExternalName and the initializer NameAsExternalName).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names

Json: TypeAlias = Any

ANNOTATION = "crossplane.io/external-name"
CHOSEN = f"{names.GROUP}/external-name"


def chosen(name: str) -> dict[str, str]:
    """Return the annotations of a resource whose external name is `name`."""
    return {ANNOTATION: name, CHOSEN: name}


def repeated(observed: Mapping[str, Json]) -> dict[str, str]:
    """Return the annotations with the external name that was chosen here, none where a provider assigns it."""
    name = observed.get(CHOSEN)
    return chosen(name) if isinstance(name, str) and name else {}
