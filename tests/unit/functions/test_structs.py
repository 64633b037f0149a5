"""What was written into protobuf once is the same when it is written again."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from hypothesis import given
from hypothesis import strategies as st

from modelplane_functions import wire
from modelplane_functions.memory.structs import LONGEST_BYTES, Structs

Json = Any


class Colour(StrEnum):
    RED = "red"


def nested(depth: int) -> Json:
    made: Json = {"end": 1}
    for _ in range(depth):
        made = {"a": made}
    return made


def written(structs: Structs, source: Mapping[str, Json]) -> bytes:
    struct = Struct()
    structs.write(struct, source, partial(wire._fill, source=source, where="it"))
    return struct.SerializeToString(deterministic=True)


def size(structs: Structs) -> int:
    return sum(len(key) + len(text) for key, text in structs._known.items())


VALUES = [
    pytest.param({"a": 1}, id="integer"),
    pytest.param({"a": True}, id="true-is-not-one"),
    pytest.param({"a": "1"}, id="text"),
    pytest.param({"a": 0.0}, id="zero"),
    pytest.param({"a": -0.0}, id="negative-zero"),
    pytest.param({"a": None}, id="null-is-left-out"),
    pytest.param({"a": [None]}, id="null-in-a-list"),
    pytest.param({"a": ["x", "y"]}, id="list"),
    pytest.param({"a": ("x", "y")}, id="tuple"),
    pytest.param({"a": {}}, id="empty-object"),
    pytest.param({}, id="nothing"),
    pytest.param({"a": Colour.RED}, id="enum"),
    pytest.param(MappingProxyType({"a": 2}), id="another-mapping"),
    pytest.param(nested(60), id="deeper-than-protobuf-reads"),
]


def test_each_value_is_written_again_as_it_was() -> None:
    kept, anew = Structs(1 << 20), Structs(0)
    sources: list[Json] = [one.values[0] for one in VALUES]
    first = [written(kept, one) for one in sources]
    assert first == [written(kept, one) for one in sources] == [written(anew, one) for one in sources]
    assert not anew._known


@pytest.mark.parametrize("source", VALUES)
def test_what_is_known_is_not_filled_again(source: Mapping[str, Json]) -> None:
    structs, filled = Structs(1 << 20), []

    def fill(struct: Struct) -> None:
        filled.append(struct)
        wire._fill(struct, source, "it")

    for _ in range(3):
        structs.write(Struct(), source, fill)
    is_kept = bool(structs._known)
    assert len(filled) == (1 if is_kept else 3)
    assert is_kept == (type(source) is dict and source != nested(60) and source.get("a") is not Colour.RED)


def test_data_that_is_changed_after_it_was_written_is_written_as_it_is() -> None:
    structs, source = Structs(1 << 20), {"a": [1, {"b": "c"}]}
    before = written(structs, source)
    source["a"][1]["b"] = "d"  # type: ignore[index]
    after = written(structs, source)
    assert after != before
    assert after == written(Structs(0), source)


@pytest.mark.parametrize("spec", [{"n": float("inf")}, {1: "x"}, {"n": {1}}, {"n": 2**60}])
def test_an_error_is_not_kept(spec: Json) -> None:
    structs = Structs(1 << 20)
    for _ in range(2):
        with pytest.raises((TypeError, ValueError)):
            written(structs, spec)
    assert not structs._known


def test_the_bound_holds() -> None:
    structs = Structs(2_000)
    for number in range(500):
        written(structs, {"n": "x" * number})
        assert size(structs) == structs._bytes <= 2_000
    assert structs._known


def test_one_that_is_too_long_displaces_nothing() -> None:
    structs = Structs(1 << 30)
    written(structs, {"a": 1})
    written(structs, {"a": "x" * LONGEST_BYTES})
    assert len(structs._known) == 1


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("a0"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=12,
)


@given(sources=st.lists(st.dictionaries(st.text("ab", max_size=2), JSON, max_size=3), max_size=8))
def test_law_a_warm_cache_writes_what_an_empty_one_writes(sources: list[Json]) -> None:
    structs = Structs(1 << 20)
    for source in sources * 2:
        assert written(structs, source) == written(Structs(0), source)
