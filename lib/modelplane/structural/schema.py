"""Structural OpenAPI schema, read once into typed nodes.

Source: apiextensions.k8s.io/v1 JSONSchemaProps of Kubernetes 1.36. Keywords that structural schemas may not have
($ref, uniqueItems, patternProperties, dependencies) are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Rule:
    """An entry of x-kubernetes-validations."""

    expression: str
    message: str
    field_path: tuple[str, ...] = ()
    # A rule about a change says nothing about a document that is new.
    is_transition: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of the values of one node; None means no limit."""

    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    """A node of a schema."""

    type: str = ""
    format: str = ""
    nullable: bool = False
    int_or_string: bool = False
    preserve_unknown: bool = False
    embedded_resource: bool = False
    default: Json = None
    enum: tuple[Json, ...] = ()
    bounds: Bounds = Bounds()
    properties: Mapping[str, Schema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    additional: Schema | bool | None = None
    items: Schema | None = None
    list_type: str = "atomic"
    list_keys: tuple[str, ...] = ()
    atomic_map: bool = False
    all_of: tuple[Schema, ...] = ()
    any_of: tuple[Schema, ...] = ()
    one_of: tuple[Schema, ...] = ()
    not_: Schema | None = None
    rules: tuple[Rule, ...] = ()
    # Whether rules see other values than the document has: doubles where the schema says number.
    converts: bool = False
    # Whether this node or one below has rules; a subtree without any is not walked for them.
    has_rules: bool = False

    def child(self, key: str) -> Schema | None:
        """Return the schema of the member `key` of an object, None if it has none."""
        known = self.properties.get(key)
        if known is not None:
            return known
        return self.additional if isinstance(self.additional, Schema) else None


def read(openapi: Mapping[str, Json]) -> Schema:
    """Return the typed schema of `openapi`. Cost: linear in the schema."""
    properties = {name: read(value) for name, value in openapi.get("properties", {}).items()}
    additional = openapi.get("additionalProperties")
    below = read(additional) if isinstance(additional, Mapping) else additional
    items = read(openapi["items"]) if isinstance(openapi.get("items"), Mapping) else None
    rules = tuple(_rule(rule) for rule in openapi.get("x-kubernetes-validations", ()))
    branches = [value for value in (*properties.values(), below, items) if isinstance(value, Schema)]
    return Schema(
        type=openapi.get("type", ""),
        format=openapi.get("format", ""),
        nullable=bool(openapi.get("nullable")),
        int_or_string=bool(openapi.get("x-kubernetes-int-or-string")),
        preserve_unknown=bool(openapi.get("x-kubernetes-preserve-unknown-fields")),
        embedded_resource=bool(openapi.get("x-kubernetes-embedded-resource")),
        default=openapi.get("default"),
        enum=tuple(openapi.get("enum") or ()),
        bounds=_bounds(openapi),
        properties=properties,
        required=tuple(openapi.get("required", ())),
        additional=below,
        items=items,
        list_type=openapi.get("x-kubernetes-list-type", "atomic"),
        list_keys=tuple(openapi.get("x-kubernetes-list-map-keys", ())),
        atomic_map=openapi.get("x-kubernetes-map-type") == "atomic",
        all_of=tuple(read(part) for part in openapi.get("allOf", ())),
        any_of=()
        if openapi.get("x-kubernetes-int-or-string")
        else tuple(read(part) for part in openapi.get("anyOf", ())),
        one_of=tuple(read(part) for part in openapi.get("oneOf", ())),
        not_=read(openapi["not"]) if isinstance(openapi.get("not"), Mapping) else None,
        rules=rules,
        converts=openapi.get("type") == "number" or any(branch.converts for branch in branches),
        has_rules=bool(rules) or any(branch.has_rules for branch in branches),
    )


def _bounds(openapi: Mapping[str, Json]) -> Bounds:
    return Bounds(
        minimum=openapi.get("minimum"),
        maximum=openapi.get("maximum"),
        exclusive_minimum=bool(openapi.get("exclusiveMinimum")),
        exclusive_maximum=bool(openapi.get("exclusiveMaximum")),
        multiple_of=openapi.get("multipleOf"),
        min_length=openapi.get("minLength"),
        max_length=openapi.get("maxLength"),
        min_items=openapi.get("minItems"),
        max_items=openapi.get("maxItems"),
        min_properties=openapi.get("minProperties"),
        max_properties=openapi.get("maxProperties"),
        pattern=openapi.get("pattern"),
    )


def _rule(rule: Mapping[str, Json]) -> Rule:
    expression = str(rule["rule"])
    message = str(rule.get("message") or "").strip()
    return Rule(
        expression=expression,
        message=message or f"failed rule: {expression.strip()}",
        field_path=tuple(part for part in str(rule.get("fieldPath", "")).split(".") if part),
        # A rule that mentions oldSelf only inside a string literal would be taken for a transition rule; none is
        # written so.
        is_transition="oldSelf" in expression,
    )
