"""Tenants of an InferenceCluster or InferenceGateway (`spec.allowedNamespaces`), and the labels of a Namespace.

Shape: a whole resource as plain JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.workload.tenancy import Tenants

Json: TypeAlias = Any

NAMESPACE_API, NAMESPACE_KIND = "v1", "Namespace"


def decode(root: Field) -> Tenants | None:
    """Return the namespaces that may use the cluster or gateway, None where every one may.

    A block that lists nothing allows nobody: whoever has emptied a list did not mean everybody.
    Raises: InvalidInput with the path from the document's root.
    """
    field = root.at("spec", "allowedNamespaces")
    return decode_block(field) if field.is_set else None


def decode_block(field: Field) -> Tenants:
    """Return the namespaces that a block of names and labels selects. Raises: InvalidInput."""
    labels = field.at("matchLabels")
    pairs = ((key, labels.at(key).text("")) for key in sorted(labels.members()))
    return Tenants(frozenset(field.at("names").texts()), tuple(pairs))


def readable(resource: Mapping[str, Json]) -> Tenants | None:
    """Return the same; nobody where it cannot be read, which is reported with the rest of the object."""
    try:
        return decode(Field(resource))
    except InvalidInput:
        return Tenants()


def labels(namespace: Mapping[str, Json]) -> dict[str, str] | None:
    """Return the labels of a Namespace, None where they cannot be read."""
    found = Field(namespace).at("metadata", "labels")
    try:
        return {key: found.at(key).text("") for key in found.members()}
    except InvalidInput:
        return None
