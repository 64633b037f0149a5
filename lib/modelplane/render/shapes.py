"""Schemas of observed objects, in OpenAPI, for the parts that a backend reads (`SHAPES` of a backend)."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = Any

COUNT: Json = {"type": "integer"}
TEXT: Json = {"type": "string"}


def fields(**properties: Json) -> Json:
    """Return the schema of an object that has these fields, and may have others."""
    return {"type": "object", "properties": properties, "x-kubernetes-preserve-unknown-fields": True}


def by_name(value: Json) -> Json:
    """Return the schema of an object whose fields have any name, and values of one schema."""
    return {"type": "object", "additionalProperties": value}


def items(value: Json) -> Json:
    """Return the schema of a list."""
    return {"type": "array", "items": value}


TEMPLATE = fields(spec=fields(resourceClaims=items(fields(resourceClaimTemplateName=TEXT))))
"""The template of a pod: the claims that the pod waits for."""
