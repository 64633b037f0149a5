"""Versions, as DRA compares them."""

from __future__ import annotations

import pytest

from kubecel import version
from kubecel.errors import InvalidQuantity


@pytest.mark.parametrize("text", ["1.0.0", "18446744073709551615.0.0", "1.2.3-rc.1+b7", "1.2.3--", "1.2.3+01"])
def test_what_is_a_version(text: str) -> None:
    assert str(version.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "v1.0",
        "1",
        "1.2",
        "01.2.3",
        "1.2.3-01",
        "1.2.3-",
        "1.2.3+",
        "18446744073709551616.0.0",
        "1.2.3-é",
        "1.2.3 ",
        "1.2.3.4",
        "1.2.٣",
    ],
)
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(InvalidQuantity):
        version.parse(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("v1", "1.0.0"),
        ("1", "1.0.0"),
        ("v1.0", "1.0.0"),
        ("00.1", "0.1.0"),
        ("1.2.3-rc1", "1.2.3-rc1"),
        ("01.01.01", "1.1.1"),
    ],
)
def test_normalising_fills_up_and_strips(text: str, meant: str) -> None:
    assert version.parse(text, normalize=True) == version.parse(meant)


@pytest.mark.parametrize("text", ["1.2-rc1", "vv1.2.3", "V1.2.3", "1.2.3.4", " 1.2.3", "", "1..3"])
def test_normalising_forgives_no_more_than_that(text: str) -> None:
    with pytest.raises(InvalidQuantity):
        version.parse(text, normalize=True)


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("1.2.3-alpha.1", "1.2.3-alpha.beta"),
        ("1.2.3-2", "1.2.3-10"),
        ("1.2.3-rc", "1.2.3"),
        ("1.2.3-rc", "1.2.3-rc.1"),
        ("1.2.3-99", "1.2.3-a"),
        ("9.0.0", "10.0.0"),
    ],
)
def test_order(lower: str, higher: str) -> None:
    assert version.parse(lower).compare(version.parse(higher)) == -1
    assert version.parse(lower) < version.parse(higher)


def test_build_metadata_does_not_count() -> None:
    assert version.parse("1.2.3+a") == version.parse("1.2.3+b")
    assert hash(version.parse("1.2.3+a")) == hash(version.parse("1.2.3+b"))
