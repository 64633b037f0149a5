"""JSON Schema (draft-07) of a kind, for editors and for checks without an API server.

The schema must never refuse a document that the API server accepts. It accepts some that the server refuses, because
JSON Schema cannot express CEL rules, which become sentences of the description, or unique keys of a list.

Source: apiextensions.k8s.io/v1 JSONSchemaProps of Kubernetes 1.36. The server removes nulls of members and sets
defaults before it validates, so an optional member may be null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any

_DRAFT = "http://json-schema.org/draft-07/schema#"
_KEPT = (
    *("minimum", "maximum", "multipleOf", "minLength", "maxLength", "pattern"),
    *("minItems", "maxItems", "maxProperties"),
)
_BRANCHES = ("allOf", "anyOf", "oneOf")
_BITS = {"int32": 31, "int64": 63}
_FORMATS = ("date-time", "ipv4", "ipv6")

_TEXT, _WHOLE = ["string", "null"], ["integer", "null"]
_TEXTS = {"type": ["object", "null"], "additionalProperties": {"type": "string"}}
_OBJECTS = {"type": ["array", "null"], "items": {"type": "object"}}
_METADATA: Mapping[str, Json] = {
    "name": {"type": _TEXT, "description": "Name of the object, unique among its kind in its namespace."},
    "generateName": {"type": _TEXT, "description": "Beginning of a name that the API server completes."},
    "namespace": {"type": _TEXT, "description": "Namespace of the object."},
    "labels": {**_TEXTS, "description": "Labels, by which selectors find the object."},
    "annotations": {**_TEXTS, "description": "Remarks of people and tools."},
    "finalizers": {"type": ["array", "null"], "items": {"type": "string"}},
    "ownerReferences": _OBJECTS,
    "managedFields": _OBJECTS,
    **{
        name: {"type": _TEXT}
        for name in ("selfLink", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp")
    },
    **{name: {"type": _WHOLE} for name in ("generation", "deletionGracePeriodSeconds")},
}
_NO_NAMESPACE = {"enum": [None, ""], "description": "None: the object belongs to the whole fleet."}


def of_kind(definition: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema of the kind of a CustomResourceDefinition, in the storage version."""
    spec = definition["spec"]
    version = next(one for one in spec["versions"] if one["storage"])
    root = version["schema"]["openAPIV3Schema"]
    made = _translated(root, at_top=True)
    name = root["properties"].get("metadata", {}).get("properties", {}).get("name", {})
    made["properties"] |= {
        "apiVersion": {"const": f"{spec['group']}/{version['name']}", "description": "API group and version."},
        "kind": {"const": spec["names"]["kind"], "description": "Kind of the object."},
        "metadata": _metadata(name, namespaced=spec["scope"] == "Namespaced"),
    }
    made["required"] = ["apiVersion", "kind", "metadata", *made.get("required", ())]
    return {"$schema": _DRAFT, "title": spec["names"]["kind"], **made}


def of_kinds(definitions: Iterable[Mapping[str, Json]]) -> dict[str, Json]:
    """Return one schema that applies the schema of each document's kind; it accepts objects of other groups."""
    known = {one["spec"]["names"]["kind"]: (one["spec"]["group"], of_kind(one)) for one in definitions}
    branches: list[Json] = []
    for group in sorted({group for group, _ in known.values()}):
        ours = {"apiVersion": {"type": "string", "pattern": f"^{group.replace('.', '[.]')}/"}}
        kinds = sorted(kind for kind, (of, _) in known.items() if of == group)
        branches.append({"if": _if(ours), "then": {"required": ["kind"], "properties": {"kind": {"enum": kinds}}}})
        branches += [
            {"if": _if({**ours, "kind": {"const": kind}}), "then": {"$ref": f"#/definitions/{kind}"}} for kind in kinds
        ]
    bare = {kind: {key: value for key, value in made.items() if key != "$schema"} for kind, (_, made) in known.items()}
    return {"$schema": _DRAFT, "type": "object", "allOf": branches, "definitions": bare}


def _if(properties: Mapping[str, Json]) -> dict[str, Json]:
    return {"required": list(properties), "properties": dict(properties)}


def _metadata(name: Mapping[str, Json], *, namespaced: bool) -> dict[str, Json]:
    named = {**_METADATA["name"], **{key: name[key] for key in _KEPT if key in name}}
    return {
        "type": "object",
        "description": "Name, namespace, labels and annotations.",
        "properties": {**_METADATA, "name": named, **({} if namespaced else {"namespace": _NO_NAMESPACE})},
        "additionalProperties": False,
        "anyOf": [{"required": ["name"]}, {"required": ["generateName"]}],
    }


def _translated(schema: Mapping[str, Json], *, at_top: bool = False, droppable: bool = False) -> dict[str, Json]:
    """Return one node of a structural schema as JSON Schema; a null that is `droppable` counts as missing."""
    made: dict[str, Json] = {}
    if text := _description(schema):
        made["description"] = text
    if "default" in schema:
        made["default"] = schema["default"]
    made |= _values(schema, null=droppable or bool(schema.get("nullable")))
    made |= _members(schema, at_top=at_top)
    for key in ("items", "additionalProperties", "not"):
        if key in schema:
            below, is_member = schema[key], key == "additionalProperties"
            made[key] = _translated(below, droppable=is_member) if isinstance(below, Mapping) else below
    for key in _BRANCHES:
        if key in schema and not schema.get("x-kubernetes-int-or-string"):
            made[key] = [_translated(part) for part in schema[key]]
    return made


def _description(schema: Mapping[str, Json]) -> str:
    """Return what hovering shows: the description, and a line for each rule that only the API server can ask."""
    rules = [rule.get("message") or rule["rule"] for rule in schema.get("x-kubernetes-validations", ())]
    return "\n".join(
        [*([schema["description"]] if "description" in schema else []), *(f"Rule: {one}" for one in rules)]
    )


def _values(schema: Mapping[str, Json], *, null: bool) -> dict[str, Json]:
    """Return what a single value must be."""
    made = {key: schema[key] for key in _KEPT if key in schema}
    types = ["integer", "string"] if schema.get("x-kubernetes-int-or-string") else [schema.get("type")]
    if types != [None]:
        allowed = [*types, "null"] if null else types
        made["type"] = allowed if len(allowed) > 1 else allowed[0]
    if "enum" in schema:
        made["enum"] = [*schema["enum"], *([None] if null and None not in schema["enum"] else [])]
    for bound in ("minimum", "maximum"):
        if schema.get(f"exclusive{bound.title()}"):
            made[f"exclusive{bound.title()}"] = made.pop(bound)
    if schema.get("x-kubernetes-list-type") == "set":
        made["uniqueItems"] = True
    return {**made, **_format(schema.get("format"), made)}


def _format(name: str | None, made: Mapping[str, Json]) -> dict[str, Json]:
    if name in _FORMATS:
        return {"format": name}
    if name not in _BITS:
        return {}
    limit = 2 ** _BITS[name]
    bounds = {"minimum": -limit, "maximum": limit - 1}
    return {key: value for key, value in bounds.items() if not {key, f"exclusive{key.title()}"} & made.keys()}


def _members(schema: Mapping[str, Json], *, at_top: bool) -> dict[str, Json]:
    """Return what the members of an object must be. An unknown one is refused, as by kubectl."""
    properties = schema.get("properties", {})
    made: dict[str, Json] = {}
    set_by_itself = {name for name, below in properties.items() if "default" in below}
    required = [name for name in schema.get("required", ()) if name not in set_by_itself]
    if "properties" in schema:
        made["properties"] = {
            name: _translated(below, droppable=name not in required) for name, below in properties.items()
        }
    if required:
        made["required"] = required
    if "minProperties" in schema and not set_by_itself:
        made["minProperties"] = schema["minProperties"]
    is_node = at_top or schema.get("type") == "object"  # a branch of anyOf says only some of the members
    if (
        is_node
        and "properties" in schema
        and "additionalProperties" not in schema
        and not schema.get("x-kubernetes-preserve-unknown-fields")
    ):
        made["additionalProperties"] = False
    return made
