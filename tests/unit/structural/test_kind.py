"""Offline admission on small schemas of any kind: defaults, problems, paths and words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane import structural
from modelplane.structural import Cause, Kind, Problem, Severity

Json = Any


def kind_of(spec: Json, *, scope: str = "Namespaced", **root: Json) -> Kind:
    """Return a kind of somebody else's group whose spec has this schema."""
    schema = {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": {"type": "object", **spec},
        },
        **root,
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return structural.kind_of(
        {"spec": {"group": "example.com", "scope": scope, "names": {"kind": "Thing"}, "versions": [version]}}
    )


def thing(spec: Json, **metadata: Json) -> Json:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "a", "namespace": "b", **metadata},
        "spec": spec,
    }


def of(schema: Json) -> Kind:
    """Return a kind whose spec.value has this schema."""
    return kind_of({"properties": {"value": schema}})


def found(kind: Kind, spec: Json, old: Json = None) -> list[tuple[tuple[str | int, ...], str]]:
    problems = kind.problems(thing(spec), None if old is None else thing(old))
    return [(problem.path, problem.message) for problem in problems if problem.severity is Severity.ERROR]


def causes(kind: Kind, value: Json) -> list[Cause]:
    return [problem.cause for problem in kind.problems(thing({"value": value})) if problem.severity is Severity.ERROR]


VALUES = [
    pytest.param({"type": "string"}, "a", None, id="string"),
    pytest.param({"type": "string"}, 1, Cause.TYPE, id="number-for-string"),
    pytest.param({"type": "integer"}, 3, None, id="integer"),
    pytest.param({"type": "integer"}, 3.0, None, id="whole-float-is-an-integer"),
    pytest.param({"type": "integer"}, 3.5, Cause.TYPE, id="fraction-for-integer"),
    pytest.param({"type": "integer"}, True, Cause.TYPE, id="truth-value-is-no-number"),
    pytest.param({"type": "integer", "format": "int32"}, 2**31, Cause.INVALID, id="too-large-for-32-bits"),
    pytest.param({"type": "integer", "format": "int64"}, 2**63, Cause.INVALID, id="too-large-for-64-bits"),
    pytest.param({"type": "number"}, 3, None, id="integer-is-a-number"),
    pytest.param({"type": "number"}, float("nan"), Cause.TYPE, id="not-a-number"),
    pytest.param({"type": "number", "minimum": 1, "exclusiveMinimum": True}, 1, Cause.INVALID, id="exclusive-minimum"),
    pytest.param({"type": "number", "maximum": 1, "exclusiveMaximum": True}, 1, Cause.INVALID, id="exclusive-maximum"),
    pytest.param({"type": "integer", "multipleOf": 4}, 6, Cause.INVALID, id="not-a-multiple"),
    pytest.param({"type": "boolean"}, "true", Cause.TYPE, id="text-for-truth-value"),
    pytest.param({"x-kubernetes-int-or-string": True}, "1Gi", None, id="int-or-string-text"),
    pytest.param({"x-kubernetes-int-or-string": True}, 1, None, id="int-or-string-number"),
    pytest.param({"x-kubernetes-int-or-string": True}, [], Cause.TYPE, id="int-or-string-list"),
    pytest.param({"type": "string", "enum": ["a", "b"]}, "c", Cause.NOT_SUPPORTED, id="not-in-enum"),
    pytest.param({"type": "string", "maxLength": 2}, "äöü", Cause.TOO_LONG, id="characters-not-bytes-too-long"),
    pytest.param({"type": "string", "maxLength": 3}, "äöü", None, id="characters-not-bytes"),
    pytest.param({"type": "string", "minLength": 1}, "", Cause.INVALID, id="empty"),
    pytest.param({"type": "string", "pattern": "b"}, "abc", None, id="pattern-is-a-search"),
    pytest.param({"type": "string", "pattern": "^a$"}, "a\n", Cause.INVALID, id="dollar-is-the-very-end"),
    pytest.param({"type": "string", "pattern": "^(a+)+$"}, "a" * 60 + "b", Cause.INVALID, id="pattern-in-linear-time"),
    pytest.param({"type": "string", "format": "date-time"}, "2026-01-01T00:00:00Z", None, id="date-time"),
    pytest.param({"type": "string", "format": "date-time"}, "2026-13-01T00:00:00Z", Cause.TYPE, id="no-such-month"),
    pytest.param({"type": "string", "format": "ipv4"}, "10.0.0.256", Cause.TYPE, id="not-an-address"),
    pytest.param({"type": "string", "format": "cidr"}, "10.0.0.0/8", None, id="network"),
    pytest.param({"type": "string", "format": "byte"}, "?", Cause.TYPE, id="not-base64"),
    pytest.param({"type": "string", "format": "uuid"}, "x", Cause.TYPE, id="not-a-uuid"),
    pytest.param({"type": "string", "format": "byte"}, "", Cause.TYPE, id="no-bytes-are-not-base64"),
    pytest.param(
        {"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
        "x",
        Cause.TYPE,
        id="no-alternative-has-the-type",
    ),
    pytest.param({"type": "string", "format": "made-up"}, "x", None, id="unknown-format-is-no-rule"),
    pytest.param(
        {"type": "array", "items": {"type": "string"}, "maxItems": 1}, ["a", "b"], Cause.TOO_MANY, id="too-many"
    ),
    pytest.param({"type": "array", "items": {"type": "string"}, "minItems": 1}, [], Cause.INVALID, id="too-few"),
    pytest.param(
        {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        ["a", "a"],
        Cause.DUPLICATE,
        id="twice-in-a-set",
    ),
    pytest.param(
        {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 1},
        {"a": 1, "b": 2},
        Cause.TOO_MANY,
        id="too-many-entries",
    ),
    pytest.param(
        {"type": "object", "additionalProperties": {"type": "integer"}}, {"a": "b"}, Cause.TYPE, id="map-value"
    ),
    pytest.param({"type": "object", "properties": {}, "minProperties": 1}, {}, Cause.INVALID, id="too-few-entries"),
    pytest.param(
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {},
        Cause.REQUIRED,
        id="required",
    ),
    pytest.param(
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"x": {"y": [1]}}, None, id="anything-goes"
    ),
    pytest.param(
        {"type": "string", "anyOf": [{"pattern": "^a"}, {"pattern": "^b"}]}, "c", Cause.INVALID, id="none-of-any"
    ),
    pytest.param(
        {"type": "string", "oneOf": [{"pattern": "a"}, {"pattern": "b"}]}, "ab", Cause.INVALID, id="two-of-one"
    ),
    pytest.param({"type": "string", "allOf": [{"minLength": 1}, {"maxLength": 2}]}, "abc", Cause.TOO_LONG, id="all-of"),
    pytest.param({"type": "string", "not": {"pattern": "x"}}, "x", Cause.INVALID, id="not"),
    pytest.param({"type": "string", "nullable": True}, None, None, id="null-where-allowed"),
]


@pytest.mark.parametrize(("schema", "value", "cause"), VALUES)
def test_value(schema: Json, value: Json, cause: Cause | None) -> None:
    assert causes(of(schema), value) == ([] if cause is None else [cause])


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        pytest.param({"type": "integer"}, "3", 'must be an integer, not the string "3"', id="type"),
        pytest.param({"type": "string"}, True, "not the boolean true; put it in quotes", id="truth-value"),
        pytest.param({"type": "string", "enum": ["a", "b"]}, "c", 'must be one of "a", "b", not "c"', id="enum"),
        pytest.param({"type": "integer", "minimum": 1}, 0, "must be at least 1, not 0", id="bound"),
        pytest.param({"type": "string", "maxLength": 1}, "ab", "must be at most 1 characters long, not 2", id="length"),
    ],
)
def test_words_say_what_to_write(schema: Json, value: Json, words: str) -> None:
    ((path, message),) = found(of(schema), {"value": value})
    assert path == ("spec", "value")
    assert words in message


@pytest.mark.parametrize(
    ("key", "words"),
    [
        pytest.param("replica", 'did you mean "replicas"?', id="letter-missing"),
        pytest.param("Replicas", 'did you mean "replicas"?', id="case"),
        pytest.param("nodeSelctor", 'did you mean "nodeSelector"?', id="letters-swapped"),
        pytest.param("true", 'write "on" in quotes', id="yaml-truth-value"),
        pytest.param("zzz", 'unknown field "zzz"', id="nothing-alike"),
    ],
)
def test_unknown_field(key: str, words: str) -> None:
    kind = kind_of(
        {
            "properties": {
                "replicas": {"type": "integer"},
                "nodeSelector": {"type": "object"},
                "on": {"type": "array", "items": {"type": "string"}},
            }
        }
    )
    ((path, message),) = found(kind, {key: 1})
    assert path == ("spec", key)
    assert message.endswith(words)


def test_unknown_field_is_left_out_of_the_stored_form() -> None:
    kind = kind_of({"properties": {"a": {"type": "integer", "default": 1}}})
    assert kind.stored(thing({"b": 2}))["spec"] == {"a": 1}


@pytest.mark.parametrize(
    ("schema", "value", "stored"),
    [
        pytest.param({"type": "integer", "default": 1}, {}, {"value": 1}, id="absent"),
        pytest.param({"type": "integer", "default": 1}, {"value": None}, {"value": 1}, id="null"),
        pytest.param(
            {"type": "integer", "default": 1, "nullable": True}, {"value": None}, {"value": None}, id="nullable"
        ),
        pytest.param({"type": "integer"}, {"value": None}, {}, id="null-without-default-goes"),
        pytest.param({"type": "integer", "default": 1}, {"value": 0}, {"value": 0}, id="zero-is-a-value"),
        pytest.param(
            {"type": "object", "default": {}, "properties": {"a": {"type": "string", "default": "b"}}},
            {},
            {"value": {"a": "b"}},
            id="default-inside-a-default",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "string", "default": "b"}}},
            {},
            {},
            id="no-parent-no-default",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string", "default": "b"}}}},
            {"value": [{}, {"a": "c"}]},
            {"value": [{"a": "b"}, {"a": "c"}]},
            id="in-a-list",
        ),
        pytest.param(
            {
                "type": "object",
                "additionalProperties": {"type": "object", "properties": {"a": {"type": "string", "default": "b"}}},
            },
            {"value": {"x": {}}},
            {"value": {"x": {"a": "b"}}},
            id="in-a-map",
        ),
    ],
)
def test_defaults(schema: Json, value: Json, stored: Json) -> None:
    assert of(schema).stored(thing(value))["spec"] == stored


def test_document_is_not_changed() -> None:
    kind = of({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string", "default": "b"}}}})
    document = thing({"value": [{}], "x": 1})
    kind.stored(document)
    kind.problems(document)
    assert document == thing({"value": [{}], "x": 1})


def test_list_map_keys_include_defaults() -> None:
    kind = of(
        {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {
                "type": "object",
                "properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}},
            },
        }
    )
    ((path, message),) = found(kind, {"value": [{"port": 1}, {"port": 1, "protocol": "TCP"}]})
    assert path == ("spec", "value", 1)
    assert 'port 1, protocol "TCP" is in the list already' in message


RULED: Json = {
    "properties": {
        "low": {"type": "integer"},
        "high": {"type": "integer"},
        "name": {
            "type": "string",
            "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "is immutable"}],
        },
        "size": {"type": "number"},
        "namespace": {"type": "string"},
        "items": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["key"],
            "items": {
                "type": "object",
                "properties": {"key": {"type": "string"}, "value": {"type": "string"}},
                "x-kubernetes-validations": [{"rule": "self.value == oldSelf.value", "message": "value is immutable"}],
            },
        },
    },
    "x-kubernetes-validations": [
        {"rule": "!has(self.low) || self.low <= self.high", "message": "low above high", "fieldPath": ".low"},
        {"rule": "!has(self.size) || self.size > 0.5", "message": "too small"},
        {"rule": "!has(self.__namespace__) || self.__namespace__ != 'kube-system'", "message": "not there"},
    ],
}


@pytest.mark.parametrize(
    ("spec", "old", "problems"),
    [
        pytest.param({"low": 1, "high": 2}, None, [], id="holds"),
        pytest.param({"low": 3, "high": 2}, None, [(("spec", "low"), "low above high")], id="fails-at-its-field"),
        pytest.param({"size": 1}, None, [], id="whole-number-is-a-double"),
        pytest.param({"size": 0}, None, [(("spec",), "too small")], id="zero-as-a-double"),
        pytest.param({"namespace": "kube-system"}, None, [(("spec",), "not there")], id="reserved-word-as-a-name"),
        pytest.param({"name": "a"}, None, [], id="new-documents-change-nothing"),
        pytest.param({"name": "a"}, {"name": "b"}, [(("spec", "name"), "is immutable")], id="change"),
        pytest.param({"name": "a"}, {"name": "a"}, [], id="no-change"),
        pytest.param(
            {"items": [{"key": "y", "value": "1"}, {"key": "x", "value": "2"}]},
            {"items": [{"key": "x", "value": "1"}]},
            [(("spec", "items", 1), "value is immutable")],
            id="entries-are-found-by-key",
        ),
    ],
)
def test_rules(spec: Json, old: Json, problems: Json) -> None:
    assert found(kind_of(RULED), spec, old) == problems


def test_failing_evaluation_is_told() -> None:
    kind = kind_of({"properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": [{"rule": "self.a > 0"}]})
    ((path, message),) = found(kind, {})
    assert path == ("spec",)
    assert "self.a > 0" in message


def test_rules_wait_until_the_values_are_right() -> None:
    problems = kind_of(RULED).problems(thing({"low": "3", "high": 2}))
    assert [problem.severity for problem in problems] == [Severity.ERROR, Severity.WARNING]
    assert "rules were not checked" in problems[-1].message


@pytest.mark.parametrize(
    ("metadata", "path", "words"),
    [
        pytest.param({"name": None}, ("metadata", "name"), "is required", id="no-name"),
        pytest.param({"name": "A"}, ("metadata", "name"), "must be lower-case", id="upper-case"),
        pytest.param({"name": "a\n"}, ("metadata", "name"), "must be lower-case", id="line-break-at-the-end"),
        pytest.param({"name": 8}, ("metadata", "name"), "put it in quotes", id="number"),
        pytest.param({"name": "a" * 254}, ("metadata", "name"), "at most 253", id="long"),
        pytest.param({"namespace": None}, ("metadata", "namespace"), "write the namespace", id="no-namespace"),
        pytest.param({"namespace": "a.b"}, ("metadata", "namespace"), "63 lower-case", id="namespace-with-dot"),
        pytest.param({"lables": {}}, ("metadata", "lables"), 'did you mean "labels"?', id="misspelt"),
        pytest.param({"labels": {"a": True}}, ("metadata", "labels", "a"), "put it in quotes", id="label-not-text"),
        pytest.param({"labels": {"a": "b c"}}, ("metadata", "labels"), 'letters, digits and "-_."', id="label-value"),
        pytest.param({"labels": {"/a": "b"}}, ("metadata", "labels"), "the key", id="label-key"),
        pytest.param({"labels": []}, ("metadata", "labels"), "must be an object", id="labels-as-list"),
        pytest.param({"annotations": {"a": 1}}, ("metadata", "annotations", "a"), "put it in quotes", id="annotation"),
        pytest.param(
            {"annotations": {"a": "x" * 270000}}, ("metadata", "annotations"), "bytes in total", id="too-large"
        ),
    ],
)
def test_metadata(metadata: Json, path: Json, words: str) -> None:
    document = thing({}, **metadata)
    document["metadata"] = {key: value for key, value in document["metadata"].items() if value is not None}
    ((found_path, message),) = [(p.path, p.message) for p in kind_of({}).problems(document)]
    assert found_path == path
    assert words in message


def test_generated_name_may_end_in_a_dash() -> None:
    document = thing({})
    document["metadata"] = {"generateName": "a-", "namespace": "b"}
    assert kind_of({}).problems(document) == ()


def test_cluster_scoped_kind_has_no_namespace() -> None:
    (problem,) = kind_of({}, scope="Cluster").problems(thing({}))
    assert problem == Problem(
        ("metadata", "namespace"), "Thing is cluster scoped; remove the namespace", cause=Cause.FORBIDDEN
    )


def test_wrong_version_is_the_only_problem() -> None:
    (problem,) = kind_of({}).problems({**thing({"x": 1}), "apiVersion": "example.com/v2"})[1:]
    assert problem.path == ("apiVersion",)
    assert "must be example.com/v1" in problem.message


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["low", "high", "name", "items", "key", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(spec=JSON_VALUES)
def test_any_document_has_an_answer(spec: Json) -> None:
    """No document makes it fail, and the stored form of a stored form is itself."""
    kind = kind_of(RULED)
    document = thing(spec)
    kind.problems(document)
    stored = kind.stored(document)
    assert kind.stored(stored) == stored


@pytest.mark.slow
@pytest.mark.parametrize("entries", [pytest.param(300_000, id="10-megabytes")])
def test_large_documents_are_answered_in_full(entries: int) -> None:
    """Ten megabytes of good, bad and unknown entries; at a cost above linear this would never come to an end."""
    kind = of(
        {"type": "array", "items": {"type": "object", "properties": {"key": {"type": "string", "pattern": "^k"}}}}
    )
    document = thing({"value": [{"key": f"k{i}", f"unknown{i}": 1} for i in range(entries)]})
    assert len(kind.problems(document)) == entries
