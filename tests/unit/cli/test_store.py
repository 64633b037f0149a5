"""Objects by identity, and server-side apply with one owner."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane_cli.output import outline
from modelplane_cli.output.outline import Node
from modelplane_cli.output.screen import Mood, Screen
from modelplane_cli.simulator import ownership
from modelplane_cli.simulator.store import Key, Store, key_of
from tests.support.worlds import resource

Json = Any


def filled(*objects: dict[str, Json]) -> Store:
    store = Store()
    for one in objects:
        store.put(one)
    return store


def test_versions_change_exactly_when_content_does() -> None:
    one = resource("A", "x", spec={"a": 1})
    store = filled(one)
    version = store.version(key_of(one))
    assert not store.put({**one})
    assert store.version(key_of(one)) == version
    assert store.put({**one, "spec": {"a": 2}})
    assert store.version(key_of(one)) > version
    assert store.version(Key("", "A", "", "never")) == 0


def test_versions_of_one_kind_are_one_object() -> None:
    store = filled(resource("A", "x", api_version="g/v1"), resource("A", "x", api_version="g/v2"))
    assert len(store) == 1


def test_labels_follow_an_object_that_changes() -> None:
    store = filled(resource("A", "x", labels={"a": "1", "b": "1"}), resource("A", "y", labels={"a": "1"}))
    kind = ("example.org", "A")
    assert [key.name for key in store.select(kind, None, {"a": "1"})] == ["x", "y"]
    assert [key.name for key in store.select(kind, "ns", {"a": "1", "b": "1"})] == ["x"]
    store.put(resource("A", "x", labels={"a": "2"}))
    assert [key.name for key in store.select(kind, None, {"a": "1"})] == ["y"]
    assert store.select(kind, None, {"b": "1"}) == []
    store.remove(Key("example.org", "A", "ns", "y"))
    assert store.select(kind, None, {"a": "1"}) == []


def test_deletion_takes_what_is_controlled_and_nothing_of_the_same_name_elsewhere() -> None:
    owner = {"apiVersion": "example.org/v1", "kind": "A", "name": "x", "controller": True}
    store = filled(
        resource("A", "x", "one"),
        resource("B", "mine", "one", ownerReferences=[owner]),
        resource("B", "theirs", "two", ownerReferences=[owner]),
        resource("B", "watched", "one", ownerReferences=[{**owner, "controller": False}]),
    )
    assert [key.name for key in store.remove(Key("example.org", "A", "one", "x"))] == ["x", "mine"]
    assert [key.name for key in store.of_kind("example.org", "B")] == ["watched", "theirs"]


def test_names_are_ordered_as_crossplane_orders_them() -> None:
    """By "namespace/name" as one text, where "-" comes before "/"."""
    store = filled(resource("A", "x", "a"), resource("A", "x", "a-b"))
    assert [key.namespace for key in store.of_kind("example.org", "A")] == ["a-b", "a"]


APPLIED = [
    pytest.param({}, {"a": 1}, {}, {"a": 1}, id="created"),
    pytest.param({"a": 1}, {"a": 2}, {"a": 1}, {"a": 2}, id="changed"),
    pytest.param({"a": 1, "b": 2}, {"b": 2}, {"a": 1, "b": 2}, {"b": 2}, id="left out is removed"),
    pytest.param({"a": 1, "b": 2}, {"b": 2}, {"b": 2}, {"a": 1, "b": 2}, id="what others own stays"),
    pytest.param(
        {"m": {"a": 1, "b": 2}}, {"m": {}}, {"m": {"a": 1}}, {"m": {"b": 2}}, id="deep removal keeps the rest"
    ),
    pytest.param({"m": {"a": 1}}, {}, {"m": {"a": 1}}, {}, id="an emptied map goes"),
    pytest.param({"m": {"a": 1, "b": 2}}, {}, {"m": {"a": 1}}, {"m": {"b": 2}}, id="a map with others' fields stays"),
    pytest.param({"l": [1, 2]}, {"l": [3]}, {"l": [1, 2]}, {"l": [3]}, id="lists are replaced"),
    pytest.param({"a": {"b": 1}}, {"a": 1}, {}, {"a": 1}, id="a map becomes a value"),
    pytest.param({"a": 1}, {"a": {"b": 1}}, {"a": 1}, {"a": {"b": 1}}, id="a value becomes a map"),
]


@pytest.mark.parametrize(("live", "desired", "previous", "want"), APPLIED)
def test_apply(live: Json, desired: Json, previous: Json, want: Json) -> None:
    assert ownership.apply(live, desired, previous) == want


trees = st.recursive(
    st.integers(0, 3), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=8
)
maps = st.dictionaries(st.sampled_from("abc"), trees, max_size=3)


@given(maps, maps)
def test_applying_again_changes_nothing(live: Json, desired: Json) -> None:
    once = ownership.apply(live, desired, {})
    assert ownership.apply(once, desired, desired) == once


@given(maps, maps)
def test_with_one_owner_the_result_is_what_was_asked_for(first: Json, second: Json) -> None:
    """A map the owner left empty may be kept or not; all values are exactly those of the last apply."""
    result = ownership.apply(ownership.apply({}, first, {}), second, first)
    assert leaves(result) == leaves(second)


@given(maps, maps, maps)
def test_fields_of_others_survive(theirs: Json, first: Json, second: Json) -> None:
    after = ownership.apply(ownership.apply(theirs, first, {}), second, first)
    owned = {*leaves(first), *leaves(second), *empties(first), *empties(second)}
    for path, value in leaves(theirs).items():
        if not any(path[: len(own)] == own or own[: len(path)] == path for own in owned if own):
            assert leaves(after).get(path) == value


def leaves(value: Json, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Json]:
    if not isinstance(value, dict):
        return {path: value}
    found: dict[tuple[str, ...], Json] = {}
    for key, inner in value.items():
        found.update(leaves(inner, (*path, key)))
    return found


def empties(value: Json, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    if not isinstance(value, dict):
        return set()
    below = {found for key, inner in value.items() for found in empties(inner, (*path, key))}
    return below if value else {path}


def test_an_outline_aligns_its_columns_over_all_trees() -> None:
    roots = [
        Node("ns", inside=[Node("A long", "Ready", "one", Mood.GOOD, ["why"], [Node("B", "Bad", "two")])]),
        Node("fleet", inside=[Node("C", detail="no state")]),
    ]
    assert outline.text(roots) == (
        "ns\n└─ A long  Ready  one\n   │  ! why\n   └─ B    Bad    two\nfleet\n└─ C              no state\n"
    )
    assert "\x1b[32mReady\x1b[0m" in outline.text(roots, Screen(colour=True))
