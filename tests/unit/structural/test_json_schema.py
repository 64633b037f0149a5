"""The JSON Schemas of kinds: never stricter than the API server, and as strict as the language allows."""

from __future__ import annotations

import copy
import functools
import random
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import pytest

from modelplane.api import catalogue
from modelplane.structural import Severity, json_schema, kind_of
from tests.support import rendering

Json = Any
KINDS = catalogue.kinds()
ODD = [
    None,
    "",
    "a",
    "-1",
    "5",
    0,
    -1,
    1,
    2**31,
    2**63,
    1.5,
    True,
    [],
    [None],
    {},
    {"a": "b"},
    ["a", "a"],
    "\u00e9" * 300,
]

AUTHORS = ("name", "namespace", "labels", "annotations")


@functools.cache
def validator(kind: str) -> jsonschema.Draft7Validator:
    schema = json_schema.of_kind(catalogue.derived(kind))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


@functools.cache
def validator_of_all() -> jsonschema.Draft7Validator:
    schema = json_schema.of_kinds(catalogue.derived(kind) for kind in KINDS)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


@functools.cache
def documents() -> tuple[Json, ...]:
    """Return what people write and what functions make of it."""
    found = [one for name in rendering.EXAMPLES for one in rendering.example(name)]
    for name in ("quickstart", "cache", "stack", "clouds/gke"):
        found += [dict(one) for one in rendering.world(rendering.example(name)).objects()]
    return tuple(one for one in found if str(one["apiVersion"]).startswith("modelplane.ai/"))


def refused(document: Json) -> list[str]:
    """Return what the API server has against a document."""
    found = catalogue.structural_kind(document["kind"]).problems(document)
    return [str(one) for one in found if one.severity is Severity.ERROR]


def places(node: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    entries = node.items() if isinstance(node, Mapping) else enumerate(node) if isinstance(node, list) else ()
    for key, below in entries:
        yield from places(below, (*path, key))


def is_authors(path: tuple[Any, ...]) -> bool:
    """Return whether the check of structural schemas looks at a place; the rest of metadata a server writes itself."""
    return path[0] in ("spec", "status") or (path[0] == "metadata" and path[1:2] in ((), *((one,) for one in AUTHORS)))


def changed(draw: random.Random, document: Json) -> Json:
    """Return the document with one place taken away, of another value, or with something beside it."""
    made = copy.deepcopy(document)
    *above, last = draw.choice([path for path in places(made) if is_authors(path)])
    node = made
    for key in above:
        node = node[key]
    what = draw.randrange(4)
    if what == 0:
        del node[last]
    elif what == 1 and isinstance(node, dict):
        node[draw.choice(["unknown", "name", "key", "value", "type"])] = draw.choice(ODD)
    else:
        node[last] = copy.deepcopy(draw.choice(ODD))
    return made


def test_every_document_of_ours_is_taken() -> None:
    assert {one["kind"] for one in documents()} == set(KINDS)
    for document in documents():
        assert [one.message for one in validator(document["kind"]).iter_errors(document)] == []
        assert [one.message for one in validator_of_all().iter_errors(document)] == []


@pytest.mark.parametrize("seed", range(4))
def test_what_the_api_server_takes_is_taken(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - the same cases every time
    taken = missed = found = 0
    for _ in range(500):
        document = changed(draw, draw.choice(documents()))
        errors = [f"{one.json_path}: {one.message}" for one in validator(document["kind"]).iter_errors(document)]
        problems = refused(document)
        assert problems or not errors, document
        taken, missed, found = taken + (not problems), missed + bool(problems and not errors), found + bool(errors)
    assert taken > 30, "the law was asked of documents that are all right"
    assert found > 5 * missed, "most of what is refused is seen in an editor"


def deployment(**spec: Json) -> Json:
    (made, *_) = [copy.deepcopy(one) for one in documents() if one["kind"] == "ModelDeployment"]
    made["spec"] |= spec
    return made


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        pytest.param({"replicaz": 1}, "$.spec", id="unknown field"),
        pytest.param({"replicas": "2"}, "$.spec.replicas", id="another type"),
        pytest.param({"replicas": -1}, "$.spec.replicas", id="out of bounds"),
        pytest.param({"backend": "Other"}, "$.spec.backend", id="not of the list"),
        pytest.param({"model": {"name": "a b", "uri": 1}}, "$.spec.model.uri", id="below"),
        pytest.param({"tolerations": [{"efect": "NoSchedule"}]}, "$.spec.tolerations[0]", id="in a list"),
    ],
)
def test_a_mistake_is_seen_at_its_place(spec: Json, where: str) -> None:
    document = deployment(**spec)
    assert refused(document)
    assert where in [one.json_path for one in validator("ModelDeployment").iter_errors(document)]
    assert not validator_of_all().is_valid(document)


def test_objects_of_others_are_left_alone_and_unknown_kinds_of_ours_are_not() -> None:
    assert validator_of_all().is_valid({"apiVersion": "v1", "kind": "Secret", "data": 1})
    assert not validator_of_all().is_valid({"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeploymnt"})
    assert validator_of_all().is_valid({"apiVersion": "modelplaneXai/v1alpha1", "kind": "ModelDeploymnt"})


@pytest.mark.parametrize("kind", KINDS)
def test_descriptions_are_kept_and_nothing_of_kubernetes_is_left(kind: str) -> None:
    def keys(node: Json) -> Iterator[str]:
        entries = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        yield from (key for key in (node if isinstance(node, dict) else ()) if key.startswith("x-"))
        for below in entries:
            yield from keys(below)

    schema = json_schema.of_kind(catalogue.derived(kind))
    assert list(keys(schema)) == []
    derived = catalogue.derived(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["spec"]["description"].startswith(derived["properties"]["spec"]["description"])


def node(schema: Json) -> Json:
    """Return how one node of a definition, which has to be written, is translated."""
    spec = {"type": "object", "required": ["a"], "properties": {"a": schema}}
    root = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "storage": True, "schema": {"openAPIV3Schema": root}}
    names = {"kind": "A"}
    definition = {"spec": {"group": "b.c", "scope": "Cluster", "names": names, "versions": [version]}}
    made = json_schema.of_kind(definition)
    jsonschema.Draft7Validator.check_schema(made)
    assert kind_of(definition).kind == "A"
    return made["properties"]["spec"]["properties"]["a"]


TRANSLATED = [
    ({"type": "string", "nullable": True, "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
    ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}]}, {"type": ["integer", "string"]}),
    ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, {"type": "integer", "exclusiveMinimum": 1}),
    ({"type": "integer", "format": "int32", "minimum": 1}, {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}),
    (
        {"type": "integer", "format": "int64", "maximum": 9},
        {"type": "integer", "minimum": -(2**63), "maximum": 9},
    ),
    (
        {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
    ),
    (
        {"type": "object", "additionalProperties": {"type": "string", "enum": ["c"]}},
        {"type": "object", "additionalProperties": {"type": ["string", "null"], "enum": ["c", None]}},
    ),
    ({"type": "integer", "default": 1}, {"type": ["integer", "null"], "default": 1}),
    ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"type": "object"}),
    (
        {"type": "object", "properties": {"b": {"type": "string", "default": "c"}}, "required": ["b"]},
        {
            "type": "object",
            "properties": {"b": {"type": ["string", "null"], "default": "c"}},
            "additionalProperties": False,
        },
    ),
    (
        {"type": "object", "properties": {"b": {"type": "string"}}, "anyOf": [{"required": ["b"]}, {"properties": {}}]},
        {
            "type": "object",
            "properties": {"b": {"type": ["string", "null"]}},
            "additionalProperties": False,
            "anyOf": [{"required": ["b"]}, {"properties": {}}],
        },
    ),
    (
        {
            "type": "string",
            "description": "D.",
            "x-kubernetes-validations": [{"rule": "r", "message": "m"}, {"rule": "s"}],
        },
        {"type": "string", "description": "D.\nRule: m\nRule: s"},
    ),
]


@pytest.mark.parametrize(("structural", "translated"), TRANSLATED)
def test_what_a_keyword_becomes(structural: Json, translated: Json) -> None:
    assert node(structural) == translated
