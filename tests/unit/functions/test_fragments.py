"""What is read from the bytes of a Struct is what protobuf's own objects say, however much was seen before."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import struct_pb2
from hypothesis import given
from hypothesis import strategies as st

from modelplane_functions import wire
from modelplane_functions.memory.fragments import Fragments, UnreadableError

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=30,
)
SHARED = Fragments()


def struct(value: dict[str, Any]) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(value)
    return made


def said(memory: Fragments, value: dict[str, Any]) -> Any:
    return memory.struct(struct(value).SerializeToString(deterministic=True))


@given(value=st.dictionaries(TEXT, VALUES, max_size=5))
def test_law_it_says_what_protobuf_says(value: dict[str, Any]) -> None:
    expected = wire._decode_struct(struct(value))
    for memory in (Fragments(), SHARED, SHARED, Fragments(parts=1), Fragments(part_bytes=0)):
        # As text, since True == 1 and 1 == 1.0 and a composer must not take one for the other.
        assert said(memory, value) == expected
        assert json.dumps(said(memory, value), sort_keys=True) == json.dumps(expected, sort_keys=True)


@pytest.mark.parametrize("length", [0, 1, 122, 123, 127, 128, 129, 16_383, 16_384, 2_100_000])
def test_lengths_take_as_many_bytes_as_they_need(length: int) -> None:
    value = {"a": "x" * length, "k" * length: 1, "l": ["y" * length], "s": {"t": {"u": "z" * length}}}
    assert said(Fragments(), value) == value


def test_a_value_that_says_nothing_is_null() -> None:
    empty = struct_pb2.Struct(fields={"a": struct_pb2.Value()})
    empty.fields["b"].list_value.values.add()
    assert Fragments().struct(empty.SerializeToString(deterministic=True)) == {"a": None, "b": [None]}


def test_what_is_no_number_stays_none() -> None:
    assert math.isnan(said(Fragments(), {"a": math.nan})["a"])


def test_what_says_the_same_is_one_object() -> None:
    memory = Fragments()
    one, other = (said(memory, {"metadata": {"name": name}, "taints": [{"key": "x"}]}) for name in "ab")
    assert one["taints"] is other["taints"]
    assert one["metadata"] != other["metadata"]


def test_so_much_is_kept_and_no_more() -> None:
    memory = Fragments(parts=10, part_bytes=100)
    for number in range(100):
        said(memory, {f"key-{number}": [number, "x" * 99]})
        assert len(memory._fields) <= 10
        assert len(memory._elements) <= 10
    assert all(len(text) <= 100 for text in (*memory._fields, *memory._elements))
    assert memory._elements, "short ones are kept"


UNKNOWN = b"\x7a\x01x"  # field 15, one byte long
FIELD = struct({"a": "b"}).SerializeToString()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(FIELD + UNKNOWN, id="unknown-field-of-the-struct"),
        pytest.param(b"\x0a\x0b\x0a\x01a\x12\x03\x1a\x01b" + UNKNOWN, id="unknown-field-of-an-entry"),
        pytest.param(b"\x0a\x0b\x0a\x01a\x12\x06\x1a\x01b" + UNKNOWN, id="unknown-field-of-a-text"),
        pytest.param(b"\x0a\x0a\x0a\x01a\x12\x05\x20\x01" + UNKNOWN, id="unknown-field-of-a-truth"),
        pytest.param(b"\x0a\x08\x0a\x01a\x12\x03" + UNKNOWN, id="only-an-unknown-field"),
        pytest.param(FIELD[:-1], id="cut-off"),
        pytest.param(FIELD[:1], id="cut-off-at-once"),
        pytest.param(b"\x0a\x03\x0a\x01a", id="without-a-value"),
        pytest.param(b"\x0a\x05\x12\x03\x1a\x01b", id="without-a-key"),
    ],
)
def test_what_protobuf_would_not_write_is_refused(text: bytes) -> None:
    with pytest.raises(UnreadableError):
        Fragments().struct(text)


def test_fields_of_a_later_protocol_are_passed_over() -> None:
    request = fnv1.RunFunctionRequest()
    later = b"\x0a\x0b\x0a\x01a\x12\x06\x1a\x01b" + UNKNOWN + UNKNOWN
    request.required_resources["one"].items.add().resource.ParseFromString(later)
    assert wire.decode(request).required == {"one": ({"a": "b"},)}
