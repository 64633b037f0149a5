"""Quantities, as k8s.io/apimachinery understands them."""

from __future__ import annotations

import pytest

from kubecel import quantity
from kubecel.errors import InvalidQuantity
from kubecel.quantity import Quantity

ACCEPTED = [
    pytest.param(".", "0", id="a-point-alone-is-zero"),
    pytest.param("1.", "1.", id="no-digits-after-the-point-kept-as-written"),
    pytest.param(".5", "500m", id="no-digits-before-the-point"),
    pytest.param("+", "0", id="a-sign-alone-is-zero"),
    pytest.param("Gi", "0", id="a-suffix-alone-is-zero"),
    pytest.param("1E", "1E", id="exa-not-an-exponent"),
    pytest.param("1E3", "1E3", id="capital-exponent-kept-as-written"),
    pytest.param("1e-3", "1e-3", id="negative-exponent"),
    pytest.param("1n", "1n", id="nano"),
    pytest.param("0.1n", "1n", id="rounded-away-from-zero"),
    pytest.param("-0.1n", "-1n", id="rounded-away-from-zero-below-it"),
    pytest.param("1.3Gi", "1395864371200m", id="binary-fraction-becomes-decimal"),
    pytest.param("0.5Gi", "512Mi", id="binary-fraction-that-is-whole"),
    pytest.param("9999999Ei", "9223372036854775807", id="binary-is-capped"),
    pytest.param("81559Mi", "81559Mi", id="an-H100"),
    pytest.param("1024Mi", "1Gi", id="the-largest-binary-suffix"),
    pytest.param("1000m", "1", id="milli-made-whole"),
    pytest.param("1000E", "1", id="beyond-exa-has-no-suffix-and-none-is-written"),
    pytest.param("0.3Ki", "307200m", id="below-1024-is-decimal"),
]
REFUSED = [
    "",
    " 1",
    "1e",
    "1e3.5",
    "1Ki1",
    "1K",
    "200K",
    "1ki",
    "1mi",
    "1_000",
    "١",
    "Infinity",
    "NaN",
    "0x10",
    "--1",
    "Ei",
    "80GB",
]


@pytest.mark.parametrize(("text", "canonical"), ACCEPTED)
def test_what_is_a_quantity_and_how_it_is_written_back(text: str, canonical: str) -> None:
    assert quantity.parse(text).canonical() == canonical


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(InvalidQuantity):
        quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        pytest.param("9Ti", True, id="small-form"),
        pytest.param("1e3", True, id="small-form-with-exponent"),
        pytest.param("100Ti", False, id="three-digits-of-Ti-are-big"),
        pytest.param("1Pi", False, id="Pi-is-big"),
        pytest.param("1000m", False, id="a-negative-scale-is-never-whole"),
        pytest.param("1.0", False, id="a-written-fraction-is-never-whole"),
        pytest.param("0.5Gi", False, id="a-binary-fraction-is-big"),
    ],
)
def test_whether_a_quantity_is_an_integer_depends_on_its_form(text: str, whole: bool) -> None:  # noqa: FBT001 - a column
    parsed = quantity.parse(text)
    assert parsed.is_integer is whole
    if whole:
        assert parsed.as_integer() == parsed.ceil()
    else:
        with pytest.raises(InvalidQuantity, match="cannot convert value to integer"):
            parsed.as_integer()


@pytest.mark.parametrize(
    ("left", "right", "order"),
    [
        pytest.param("1Gi", "1024Mi", 0, id="binary-units"),
        pytest.param("1", "1000m", 0, id="milli"),
        pytest.param("200M", "0.2G", 0, id="decimal-units"),
        pytest.param("50Mi", "50M", 1, id="binary-is-more"),
        pytest.param("81559Mi", "80Gi", -1, id="an-H100-has-less-than-80Gi"),
        pytest.param("143771Mi", "141Gi", -1, id="an-H200-has-less-than-141Gi"),
        pytest.param("1e20", "100E", 0, id="decimal-is-not-capped"),
        pytest.param("9999999E", "9223372036854775807", 1, id="beyond-64-bits"),
        pytest.param("9999999Ei", "9223372036854775807", 0, id="binary-is-capped"),
    ],
)
def test_order_is_exact(left: str, right: str, order: int) -> None:
    first, second = quantity.parse(left), quantity.parse(right)
    assert first.compare(second) == order
    assert (first == second) is (order == 0)
    assert (first < second) is (order < 0)
    if order == 0:
        assert hash(first) == hash(second)


def test_sums_take_the_format_of_the_other_side_from_zero() -> None:
    assert quantity.parse("0").add(quantity.parse("1Gi")).canonical() == "1Gi"
    assert quantity.parse("1Gi").sub(quantity.parse("512Mi")).canonical() == "512Mi"
    assert quantity.parse("1").add(quantity.parse("1n")).canonical() == "1000000001n"


def test_rounding_up_is_exact_in_every_form() -> None:
    assert quantity.parse("1500m").ceil() == 2
    assert quantity.parse("-1500m").ceil() == -1
    assert quantity.parse("0.5Gi").ceil() == 1 << 29
    assert quantity.parse("100Ti").ceil() == 100 << 40


def test_an_exponent_nobody_means_is_refused_instead_of_worked_on_for_hours() -> None:
    with pytest.raises(InvalidQuantity, match="2048"):
        quantity.parse("1e2147483647")


def test_taking_away_the_smallest_integer_wraps_as_it_does_in_kubernetes() -> None:
    smallest = Quantity.of(-(1 << 63))
    assert quantity.parse("1").sub(smallest) == quantity.parse("1").add(smallest)
