"""The short ways to a field say what the long ones say, mistakes and their places included."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import units
from modelplane.api import allocations
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.units import Quantity

VALUES = [None, "", "a", 0, 7, -1, True, False, 1.5, [], ["a"], {}, {"b": 1}]
HOLDERS = [*[{"x": value} for value in VALUES], UserDict(x="a"), UserDict(x=7), {}, None, "text", ["x"], 3]


def said(read: Callable[[Field], Any], document: Any) -> Any:
    try:
        found = read(Field(document, ("spec",)))
    except InvalidInput as error:
        return error.path, str(error)
    return type(found), found


@pytest.mark.parametrize("document", HOLDERS, ids=repr)
@pytest.mark.parametrize("default", [None, "", "other"], ids=repr)
def test_a_text_below(document: Any, default: str | None) -> None:
    short, long = (lambda root: root.text_at("x", default)), (lambda root: root.at("x").text(default))
    assert said(short, document) == said(long, document)


@pytest.mark.parametrize("document", HOLDERS, ids=repr)
@pytest.mark.parametrize("default", [None, 0, 5], ids=repr)
def test_an_integer_below(document: Any, default: int | None) -> None:
    short, long = (lambda root: root.integer_at("x", default)), (lambda root: root.at("x").integer(default))
    assert said(short, document) == said(long, document)


@pytest.mark.parametrize("document", [*VALUES, ["a", "b"], ("a",), ["a", ""], ["a", 1], [None], ["a", ["b"]]], ids=repr)
def test_texts_of_a_list(document: Any) -> None:
    assert said(Field.texts, document) == said(lambda root: tuple(entry.text() for entry in root.items()), document)


@pytest.mark.parametrize("power", [0, 3])
@pytest.mark.parametrize(
    "text",
    [
        "0",
        "7",
        "007",
        "5m",
        "1500m",
        "0m",
        "15",
        "1.5",
        "1k",
        "64Gi",
        "-3",
        "-3m",
        "9" * 15,
        "9" * 16,
        "9" * 30,
        "9" * 15 + "m",
    ],
)
def test_what_an_allocation_takes_is_counted_exactly(text: str, power: int) -> None:
    amount = units.quantity(text)
    assert allocations._amount(text, power) == Quantity(amount.unscaled, amount.exponent + power).ceil()


@pytest.mark.parametrize("text", ["٣", "²", "1 ", "", "1mm"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        allocations._amount(text, 3)
