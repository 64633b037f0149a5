"""The edge between protobuf and plain data."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import struct_pb2
from hypothesis import given
from hypothesis import strategies as st

from modelplane_functions import wire
from modelplane_functions.exchange import (
    Child,
    Condition,
    Event,
    Kind,
    Outcome,
    Ready,
    Requirement,
    Severity,
    Truth,
)


def request_of(composite: dict[str, Any], **fields: Any) -> fnv1.RunFunctionRequest:
    request = fnv1.RunFunctionRequest(meta=fnv1.RequestMeta(tag="t1"), **fields)
    request.observed.composite.resource.update(composite)
    return request


THING: dict[str, Any] = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x", "namespace": "ns"}}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param(3.0, 3, id="integral-is-int: Kubernetes wants ints and range() wants them too"),
        pytest.param(0.5, 0.5, id="fraction-stays"),
        pytest.param(-7.0, -7, id="negative"),
        pytest.param(float(2**53), 2**53, id="last-exact-integer"),
        pytest.param(float(2**54), float(2**54), id="beyond-exactness-is-not-called-an-integer"),
        pytest.param(True, True, id="bool-is-not-a-number"),
        pytest.param("3", "3", id="text-is-not-a-number"),
        pytest.param(None, None, id="null"),
    ],
)
def test_numbers_are_restored(sent: Any, expected: Any) -> None:
    value = wire.decode(request_of({**THING, "spec": {"n": sent, "list": [sent]}})).spec["n"]
    assert value == expected
    assert type(value) is type(expected)


def test_decode_reads_without_changing_the_request() -> None:
    request = request_of(THING)
    before = request.SerializeToString(deterministic=True)
    wire.decode(request)
    wire.subject(request)
    assert request.SerializeToString(deterministic=True) == before


def test_subject_of_an_empty_request_is_empty_and_leaves_it_empty() -> None:
    request = fnv1.RunFunctionRequest()
    assert str(wire.subject(request)) == "no kind (no name)"
    assert request == fnv1.RunFunctionRequest()


def test_a_required_key_without_objects_was_fetched() -> None:
    request = request_of(THING)
    request.required_resources["nothing-there"].SetInParent()
    item = request.required_resources["one"].items.add()
    item.resource.update({"kind": "InferenceClass", "spec": {"count": 8}})
    observed = wire.decode(request)
    assert observed.required == {"nothing-there": (), "one": ({"kind": "InferenceClass", "spec": {"count": 8}},)}
    assert type(observed.required["one"][0]["spec"]["count"]) is int


def test_secrets_stay_behind() -> None:
    request = request_of(THING)
    request.observed.resources["child"].resource.update(THING)
    request.observed.resources["child"].connection_details["password"] = b"hunter2"
    request.credentials["c"].credential_data.data["token"] = b"hunter2"
    assert "hunter2" not in repr(wire.decode(request))


def test_who_wrote_which_field_stays_behind() -> None:
    request = request_of({**THING, "metadata": {**THING["metadata"], "managedFields": [{"manager": "kubectl"}]}})
    request.observed.resources["child"].resource.CopyFrom(request.observed.composite.resource)
    observed = wire.decode(request)
    assert observed.composite == observed.children["child"] == wire.decode(request_of(THING)).composite


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("emitted", "expected"),
    [
        pytest.param({"a": None, "b": 1}, {"b": 1}, id="null-in-a-map-would-own-the-field"),
        pytest.param({"a": {"b": None}}, {"a": {}}, id="nested-null-goes-and-its-map-stays"),
        pytest.param({"a": [None, 1]}, {"a": [None, 1]}, id="null-in-a-list-keeps-its-place"),
        pytest.param({"a": {}}, {"a": {}}, id="empty-map-is-something: emptyDir is written so"),
        pytest.param({"a": []}, {"a": []}, id="empty-list-is-something"),
        pytest.param({"a": ("x", "y")}, {"a": ["x", "y"]}, id="tuple-is-a-list"),
        pytest.param({"a": Colour.RED}, {"a": "red"}, id="enum-is-its-text"),
        pytest.param({"a": True, "b": False}, {"a": True, "b": False}, id="bool-is-not-one"),
    ],
)
def test_children_are_written(emitted: dict[str, Any], expected: dict[str, Any]) -> None:
    child = Child({"apiVersion": "v1", "kind": "Thing", "spec": emitted})
    response = wire.encode(request_of(THING), Outcome(children={"c": child}))
    sent = fnv1.RunFunctionRequest()
    sent.observed.composite.resource.CopyFrom(response.desired.resources["c"].resource)
    assert wire.decode(sent).spec == expected


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        pytest.param({"n": 2**53 + 1}, "c.spec.n: 9007199254740993", id="integer-that-would-be-rounded"),
        pytest.param({"n": [math.inf]}, "c.spec.n[0]: JSON cannot represent inf", id="infinite"),
        pytest.param({"n": math.nan}, "c.spec.n: JSON cannot represent nan", id="not-a-number"),
        pytest.param({"n": {1, 2}}, "c.spec.n: JSON cannot represent set", id="set-has-no-order"),
        pytest.param({1: "x"}, "key 1 is not a string", id="key-that-is-not-text"),
    ],
)
def test_what_json_cannot_hold_is_a_bug(spec: dict[Any, Any], says: str) -> None:
    child = Child({"apiVersion": "v1", "kind": "Thing", "spec": spec})
    with pytest.raises((ValueError, TypeError)) as caught:
        wire.encode(request_of(THING), Outcome(children={"c": child}))
    assert says in str(caught.value)


@pytest.mark.parametrize("lost", ["apiVersion", "kind"])
def test_a_child_without_identity_is_a_bug(lost: str) -> None:
    resource = {"apiVersion": "v1", "kind": "Thing"}
    del resource[lost]
    with pytest.raises(ValueError, match="'c' has no apiVersion or no kind"):
        wire.encode(request_of(THING), Outcome(children={"c": Child(resource)}))


JSON = st.recursive(
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc./-", max_size=4), inner, max_size=4),
    max_leaves=30,
)


@given(spec=st.dictionaries(st.text("abc", max_size=3), JSON, max_size=5))
def test_law_what_is_sent_is_what_arrives(spec: dict[str, Any]) -> None:
    outcome = Outcome(children={"c": Child({"apiVersion": "v1", "kind": "Thing", "spec": spec})})
    back = fnv1.RunFunctionRequest()
    back.observed.composite.resource.CopyFrom(wire.encode(request_of(THING), outcome).desired.resources["c"].resource)
    assert wire.decode(back).composite["spec"] == spec


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        pytest.param(
            Requirement("v1", "Thing", name="x", namespace="ns"),
            fnv1.ResourceSelector(api_version="v1", kind="Thing", match_name="x", namespace="ns"),
            id="by-name",
        ),
        pytest.param(
            Requirement("v1", "Thing", labels={"a": "b"}),
            fnv1.ResourceSelector(api_version="v1", kind="Thing", match_labels=fnv1.MatchLabels(labels={"a": "b"})),
            id="by-labels-everywhere",
        ),
        pytest.param(
            Requirement("v1", "Thing"),
            fnv1.ResourceSelector(api_version="v1", kind="Thing", match_labels=fnv1.MatchLabels()),
            id="all-of-the-kind: an empty match is said, since older Crossplane refuses none",
        ),
    ],
)
def test_requirements(requirement: Requirement, expected: fnv1.ResourceSelector) -> None:
    response = wire.encode(request_of(THING), Outcome(requirements={"r": requirement}))
    assert response.requirements.resources["r"] == expected
    assert response.requirements.resources["r"].WhichOneof("match") is not None


def test_a_question_for_a_kind_and_its_answers() -> None:
    response = wire.encode(request_of(THING), Outcome(kinds={"k": Kind("example.com/v1", "Thing")}))
    assert response.requirements.schemas == {"k": fnv1.SchemaSelector(api_version="example.com/v1", kind="Thing")}
    request = request_of(THING)
    request.required_schemas["not-there"].SetInParent()
    request.required_schemas["there"].openapi_v3.update({"type": "object"})
    assert wire.decode(request).served == {"not-there": False, "there": True}
    assert wire.decode(request_of(THING)).served == {}


def test_report_is_conditions_then_events_with_a_target() -> None:
    outcome = Outcome(
        conditions=(Condition("RouteReady", Truth.UNKNOWN, "Waiting", "for the gateway"),),
        events=(Event(Severity.WARNING, "Moved", "llama-0 moved"),),
        ttl_seconds=300,
    )
    response = wire.encode(request_of(THING), outcome)
    assert response.meta.tag == "t1"
    assert response.meta.ttl.seconds == 300
    assert list(response.conditions) == [
        fnv1.Condition(
            type="RouteReady",
            status=fnv1.STATUS_CONDITION_UNKNOWN,
            reason="Waiting",
            message="for the gateway",
            target=fnv1.TARGET_COMPOSITE,
        )
    ]
    assert list(response.results) == [
        fnv1.Result(
            severity=fnv1.SEVERITY_WARNING, reason="Moved", message="llama-0 moved", target=fnv1.TARGET_COMPOSITE
        )
    ]


def test_fatal_carries_conditions_and_nothing_to_apply() -> None:
    request = request_of(THING)
    request.desired.resources["earlier"].resource.update(THING)
    outcome = Outcome(
        children={"c": Child({"apiVersion": "v1", "kind": "Thing"})},
        status={"replicas": 1},
        conditions=(Condition("Accepted", Truth.FALSE, "InvalidShape", "no"),),
        fatal="no",
    )
    response = wire.encode(request, outcome)
    assert not response.desired.resources
    assert not response.desired.HasField("composite")
    assert [c.reason for c in response.conditions] == ["InvalidShape"]
    assert [(r.severity, r.reason, r.message) for r in response.results] == [
        (fnv1.SEVERITY_FATAL, "InvalidShape", "no")
    ]


@pytest.mark.parametrize(
    ("ready", "expected"),
    [
        pytest.param(Ready.TRUE, fnv1.READY_TRUE, id="true"),
        pytest.param(Ready.FALSE, fnv1.READY_FALSE, id="false"),
        pytest.param(None, fnv1.READY_UNSPECIFIED, id="left-to-the-children"),
    ],
)
def test_readiness_of_the_composite(ready: Ready | None, expected: int) -> None:
    response = wire.encode(request_of(THING), Outcome(ready=ready, status={"n": 1}))
    assert response.desired.composite.ready == expected
    composite = wire.decode(
        fnv1.RunFunctionRequest(observed=fnv1.State(composite=response.desired.composite))
    ).composite
    assert composite == {"apiVersion": "v1", "kind": "Thing", "status": {"n": 1}}


def test_earlier_steps_keep_what_they_desired() -> None:
    request = request_of(THING)
    request.desired.resources["earlier"].resource.update(THING)
    request.desired.composite.resource.update({"status": {"theirs": "kept", "ours": "old"}})
    request.context.update({"k": "v"})
    response = wire.encode(
        request, Outcome(children={"c": Child({"apiVersion": "v1", "kind": "T"}, Ready.TRUE)}, status={"ours": "new"})
    )
    assert sorted(response.desired.resources) == ["c", "earlier"]
    assert response.desired.resources["c"].ready == fnv1.READY_TRUE
    status = response.desired.composite.resource.fields["status"].struct_value
    assert status == struct_pb2.Struct(
        fields={"theirs": struct_pb2.Value(string_value="kept"), "ours": struct_pb2.Value(string_value="new")}
    )
    assert response.context.fields["k"].string_value == "v"


@pytest.mark.parametrize("kind", ["Ready", "Synced", "Healthy", "UpToDate", "Responsive"])
def test_a_condition_crossplane_would_ignore_cannot_be_built(kind: str) -> None:
    with pytest.raises(ValueError, match="belongs to Crossplane"):
        Condition(kind, Truth.TRUE, "Fine")


def test_a_condition_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="no reason"):
        Condition("Accepted", Truth.TRUE, "")


def test_response_is_the_same_under_any_order_of_keys() -> None:
    one = Outcome(children={k: Child({"apiVersion": "v1", "kind": "T", "metadata": {"name": k}}) for k in "abc"})
    two = Outcome(children=dict(reversed(list(one.children.items()))))
    first, second = (wire.encode(request_of(THING), outcome) for outcome in (one, two))
    assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)
