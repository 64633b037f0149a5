"""What was read out of a remembered resource is read once, and never out of another."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane_functions.memory import resources
from modelplane_functions.memory.resources import Remembered, recall, recall_of


def test_it_is_read_once_while_the_answer_still_holds() -> None:
    resource, reads = Remembered({"kind": "A"}), []

    def read() -> str:
        reads.append(1)
        return f"read {len(reads)}"

    assert [recall(resource, "x", read) for _ in range(3)] == ["read 1"] * 3
    assert recall(resource, "y", read) == "read 2"
    assert recall(resource, "x", read, lambda known: known != "read 1") == "read 3"


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(dict, id="a plain dict"),
        pytest.param(copy.copy, id="a copy"),
        pytest.param(copy.deepcopy, id="a deep copy"),
        pytest.param(lambda one: {**one}, id="spread"),
    ],
)
def test_what_may_be_changed_remembers_nothing(again: Any) -> None:
    resource = Remembered({"metadata": {"name": "a"}})
    recall(resource, "x", lambda: "old")
    other = again(resource)
    assert type(other) is dict
    assert other == resource
    assert [recall(other, "x", lambda: "new") for _ in range(2)] == ["new", "new"]


def test_a_mistake_is_made_out_again() -> None:
    resource = Remembered({})

    def read() -> str:
        raise InvalidInput("wrong")

    for _ in range(2):
        with pytest.raises(InvalidInput, match="wrong"):
            recall(resource, "x", read)


def test_objects_with_equal_specs_keep_their_own_value_side_by_side() -> None:
    resource, reads = Remembered({}), []

    def of(owner: str) -> str:
        return recall_of(resource, "x", owner, lambda: reads.append(owner) or f"of {owner}")  # type: ignore[func-returns-value]

    assert [of(owner) for owner in "ababab"] == ["of a", "of b"] * 3
    assert reads == ["a", "b"]
    for owner in "cdefgh":
        of(owner)
    assert len(resource.read["x"]) == resources.OWNERS_MAX
    assert of("a") == "of a"
    assert reads == [*"abcdefgh", "a"]


def test_a_plain_dict_keeps_no_value_for_its_owner() -> None:
    assert [recall_of({}, "x", "a", lambda value=value: value) for value in (1, 2)] == [1, 2]  # type: ignore[misc]
