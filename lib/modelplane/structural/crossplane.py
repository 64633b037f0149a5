"""CustomResourceDefinition that Crossplane derives from a CompositeResourceDefinition.

Source: crossplane-runtime v2.4 pkg/xcrd. Crossplane keeps only parts of the schema. At the level of spec and status it
drops defaults, anyOf, allOf, not and bounds; of metadata it keeps only the maximum length of the name. It adds its own
fields. The conformance suite compares the result with that of Crossplane.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any

_NAME_MAX = 63
_SPEC_KEYWORDS = ("description", "x-kubernetes-validations", "oneOf", "x-kubernetes-preserve-unknown-fields")
_STATUS_KEYWORDS = ("description", "x-kubernetes-validations", "oneOf", "required")

_TEXT = {"type": "string"}
_REFERENCE = {"type": "object", "required": ["name"], "properties": {"name": _TEXT}}
_SELECTOR = {
    "type": "object",
    "required": ["matchLabels"],
    "properties": {"matchLabels": {"type": "object", "additionalProperties": _TEXT}},
}
_CONDITIONS = {
    "description": "Conditions of the resource.",
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {
        "type": "object",
        "required": ["lastTransitionTime", "reason", "status", "type"],
        "properties": {
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "message": _TEXT,
            "reason": _TEXT,
            "status": _TEXT,
            "type": _TEXT,
            "observedGeneration": {"type": "integer", "format": "int64"},
        },
    },
}
_CONDITION_COLUMN = ".status.conditions[?(@.type=='{}')].status"
_COLUMNS = (
    {"name": "SYNCED", "type": "string", "jsonPath": _CONDITION_COLUMN.format("Synced")},
    {"name": "READY", "type": "string", "jsonPath": _CONDITION_COLUMN.format("Ready")},
    {"name": "COMPOSITION", "type": "string", "jsonPath": ".spec.crossplane.compositionRef.name"},
    {
        "name": "COMPOSITIONREVISION",
        "type": "string",
        "jsonPath": ".spec.crossplane.compositionRevisionRef.name",
        "priority": 1,
    },
    {"name": "AGE", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
)


def derive(definition: Mapping[str, Json]) -> dict[str, Json]:
    """Return the CustomResourceDefinition of a CompositeResourceDefinition (apiextensions.crossplane.io/v2)."""
    spec = definition["spec"]
    scope = spec.get("scope", "Namespaced")
    names = {**spec["names"], "categories": [*spec["names"].get("categories", ()), "composite"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": definition["metadata"]["name"]},
        "spec": {
            "group": spec["group"],
            "scope": scope,
            "names": names,
            "versions": [_version(version, scope) for version in spec["versions"]],
        },
    }


def _version(version: Mapping[str, Json], scope: str) -> dict[str, Json]:
    subresources: dict[str, Json] = {"status": {}}
    scale = version.get("subresources", {}).get("scale")
    if scale is not None:
        subresources["scale"] = scale
    return {
        "name": version["name"],
        "served": version["served"],
        "storage": version["referenceable"],
        "additionalPrinterColumns": [*version.get("additionalPrinterColumns", ()), *_COLUMNS],
        "schema": {"openAPIV3Schema": _root(version["schema"]["openAPIV3Schema"], scope)},
        "subresources": subresources,
    }


def _root(schema: Mapping[str, Json], scope: str) -> dict[str, Json]:
    properties = schema.get("properties", {})
    longest = properties.get("metadata", {}).get("properties", {}).get("name", {}).get("maxLength", _NAME_MAX)
    return {
        "type": "object",
        "required": ["spec"],
        **{key: schema[key] for key in ("description", "x-kubernetes-validations") if key in schema},
        "properties": {
            "apiVersion": _TEXT,
            "kind": _TEXT,
            "metadata": {
                "type": "object",
                "properties": {"name": {"type": "string", "maxLength": min(longest, _NAME_MAX)}},
            },
            "spec": _spec(properties.get("spec", {}), scope),
            "status": _status(properties.get("status", {})),
        },
    }


def _spec(schema: Mapping[str, Json], scope: str) -> dict[str, Json]:
    return {
        "type": "object",
        **{key: schema[key] for key in (*_SPEC_KEYWORDS, "required") if key in schema},
        "properties": {**schema.get("properties", {}), "crossplane": _machinery(scope)},
    }


def _status(schema: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "type": "object",
        **{key: schema[key] for key in _STATUS_KEYWORDS if key in schema},
        "properties": {**schema.get("properties", {}), "conditions": _CONDITIONS},
    }


def _machinery(scope: str) -> dict[str, Json]:
    """Return the fields by which Crossplane is told how to reconcile; only a cluster-scoped composite refers across
    namespaces.
    """
    reference = {"apiVersion": _TEXT, "kind": _TEXT, "name": _TEXT}
    if scope == "Cluster":
        reference["namespace"] = _TEXT
    return {
        "description": "Configures how Crossplane will reconcile this composite resource",
        "type": "object",
        "properties": {
            "compositionRef": _REFERENCE,
            "compositionSelector": _SELECTOR,
            "compositionRevisionRef": _REFERENCE,
            "compositionRevisionSelector": _SELECTOR,
            "compositionUpdatePolicy": {"type": "string", "enum": ["Automatic", "Manual"]},
            "resourceRefs": {
                "type": "array",
                "x-kubernetes-list-type": "atomic",
                "items": {"type": "object", "required": ["apiVersion", "kind"], "properties": reference},
            },
        },
    }
