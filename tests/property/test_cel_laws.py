"""Laws of quantities, versions and selectors that hold for any value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane import units
from modelplane.devices import selector
from modelplane.devices.model import Attribute, AttributeKind, Device
from modelplane.errors import InvalidQuantity, InvalidSelector
from modelplane.units import Quantity, Version

SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-3", "e+2"]
NUMBERS = st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,12})?", fullmatch=True)
QUANTITIES = st.builds(lambda number, suffix: units.quantity(number + suffix), NUMBERS, st.sampled_from(SUFFIXES))
PARTS = st.one_of(st.integers(0, 10**6), st.from_regex("[a-z][a-z0-9-]{0,5}", fullmatch=True))
VERSIONS = st.builds(Version, *[st.integers(0, 2**64 - 1)] * 3, st.lists(PARTS, max_size=3).map(tuple))
NAMES = st.from_regex("[a-z][a-zA-Z0-9]{0,8}", fullmatch=True)


@given(QUANTITIES, QUANTITIES)
def test_order_of_quantities_is_antisymmetric_and_agrees_with_equality(left: Quantity, right: Quantity) -> None:
    assert left.compare(right) == -right.compare(left)
    assert (left == right) is (left.compare(right) == 0)
    if left == right:
        assert hash(left) == hash(right)


@given(QUANTITIES)
def test_writing_a_quantity_and_reading_it_again_gives_the_same_value(quantity: Quantity) -> None:
    again = units.quantity(quantity.canonical())
    # a binary quantity is capped at 64 bits when it is read; sums may go beyond
    assert again == quantity or abs(quantity.ceil()) >= 1 << 63


@given(QUANTITIES, QUANTITIES)
def test_adding_and_taking_away_again_changes_nothing(left: Quantity, right: Quantity) -> None:
    assert left.add(right).sub(right) == left
    assert left.add(right) == right.add(left)


@given(QUANTITIES)
def test_the_big_form_has_the_same_value_and_is_never_an_integer(quantity: Quantity) -> None:
    assert quantity.promoted() == quantity
    assert not quantity.promoted().is_integer


@given(st.text(max_size=12))
def test_any_text_is_a_quantity_or_refused(text: str) -> None:
    try:
        units.quantity(text)
    except InvalidQuantity as error:
        assert error.message


@given(VERSIONS, VERSIONS, VERSIONS)
def test_order_of_versions_is_total(first: Version, second: Version, third: Version) -> None:
    assert first.compare(second) == -second.compare(first)
    assert sorted([first, second, third]) == sorted([third, second, first])
    assert units.version(str(first)) == first


@given(st.text(max_size=30))
def test_any_text_compiles_or_is_refused_with_a_reason(text: str) -> None:
    try:
        selector.compile(text)
    except InvalidSelector as error:
        assert error.message


@given(st.dictionaries(NAMES, st.text(max_size=8), max_size=4), NAMES)
def test_a_guarded_attribute_never_aborts(attributes: dict[str, str], name: str) -> None:
    device = Device(
        "d",
        "d.example",
        1,
        attributes=tuple(sorted((k, Attribute(AttributeKind.STRING, v)) for k, v in attributes.items())),
    )
    compiled = selector.compile(f'device.attributes["d.example"].?{name}.orValue("") != ""')
    assert compiled.evaluate(device).matches is bool(attributes.get(name))


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "`a`"])
def test_odd_texts_are_refused_without_a_traceback(text: str) -> None:
    with pytest.raises(InvalidSelector):
        selector.compile(text)
