"""Bundles of authorities: certificates and nothing else, each once."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.workload import authorities

ONE = "-----BEGIN CERTIFICATE-----\nMIIBdzCCAR2gAwIBAgIUQ0x5\n-----END CERTIFICATE-----"
TWO = "-----BEGIN CERTIFICATE-----\nMIIBdzCCAR2gAwIBAgIUQ0x6\n-----END CERTIFICATE-----"
KEY = "-----BEGIN PRIVATE KEY-----\nMIIBdzCCAR2gAwIBAgIUQ0x5\n-----END PRIVATE KEY-----"


def test_a_bundle_has_each_certificate_once_and_in_order() -> None:
    assert authorities.bundle([TWO + "\n", f"{ONE}\n{TWO}"]) == f"{TWO}\n{ONE}\n"
    assert authorities.bundle([ONE.replace("\n", "\r\n")]) == f"{ONE}\n"


@pytest.mark.parametrize("text", ["", "x", KEY, f"{ONE}\n{KEY}", f"note\n{ONE}", ONE[:-1], ONE * 900])
def test_anything_else_beside_certificates_refuses_the_whole_text(text: str) -> None:
    assert authorities.blocks(text) == ()


def test_what_signed_before_stays_trusted_and_the_list_is_bounded() -> None:
    more = [ONE.replace("0x5", f"0y{n}") for n in range(5)]
    known = ""
    for one in [*more, ONE]:
        known = authorities.known(one, known)
    assert authorities.blocks(known) == (ONE, more[4], more[3])
    assert authorities.known("", known) == known
    assert authorities.known(ONE, known) == known


@given(st.one_of(st.none(), st.integers(), st.text(), st.binary().map(lambda b: base64.b64encode(b).decode())))
def test_what_another_controller_wrote_is_a_bundle_or_nothing(value: object) -> None:
    found = authorities.from_base64(value)
    assert found == "" or authorities.blocks(found)


def test_a_bundle_in_base64() -> None:
    assert authorities.from_base64(base64.b64encode(f"{ONE}\n".encode()).decode()) == f"{ONE}\n"
    assert authorities.from_base64("%%%") == ""
