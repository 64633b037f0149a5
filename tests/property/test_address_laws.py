"""Laws of hand-written addresses: nothing that glibc reads as an address inside passes, however it is spelled.

What Envoy's resolvers and Go read is asked in `tests/conformance/routing/test_addresses.py`.
"""

from __future__ import annotations

import contextlib
import ipaddress
import random
import socket

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from modelplane.errors import InvalidInput
from modelplane.routing import hosts, url
from modelplane.routing.egress import Rules
from modelplane.routing.url import AddressKind, Place
from tests.support import spellings


def taken(authority: str) -> Place | None:
    """Return where an endpoint of this authority leads, None where it is refused."""
    try:
        place = url.parse(f"http://{authority}/v1")
        hosts.check_upstream("ml-team", place.host)
        Rules().check("ml-team", place.kind, place.host)
    except InvalidInput:
        return None
    return Place(place.kind, place.host)


def of_glibc(host: str) -> set[str]:
    """Return the addresses that glibc reads in a host without asking anybody."""
    found = set()
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            answers = socket.getaddrinfo(host.encode(), 80, family, socket.SOCK_STREAM, 0, socket.AI_NUMERICHOST)
        except (OSError, ValueError):
            continue
        found |= {str(answer[4][0]) for answer in answers}
    with contextlib.suppress(OSError, ValueError):
        found.add(socket.inet_ntoa(socket.inet_aton(host)))
    return found


def check(authority: str) -> None:
    place = taken(authority)
    if place is None:
        return
    read = of_glibc(place.host)
    if place.kind is AddressKind.IP:
        assert read == {place.host}, f"{authority!r}: glibc reads {read} in {place.host}"
        assert not spellings.is_inside(ipaddress.ip_address(place.host)), f"{authority!r} leads to {place.host}"
    else:
        assert read == set(), f"{authority!r} is the name {place.host}, which glibc reads as {read}"
        assert not spellings.spelled_inside(place.host), f"{authority!r} spells an address: {place.host}"


@given(st.integers(0, 2**64))
@settings(max_examples=3_000)
def test_no_spelling_of_a_place_inside_is_taken_for_one_outside(seed: int) -> None:
    check(spellings.authority(random.Random(seed)))  # noqa: S311 - a draw that can be made again


@given(st.text(alphabet="0123456789abcdefxX.:-[]%@ lo\uff11\u3002", min_size=1, max_size=24))
@example("0x7f.1")
@example("2130706433")
@settings(max_examples=3_000)
def test_no_text_of_digits_and_dots_is_read_in_two_ways(authority: str) -> None:
    check(authority)


@pytest.mark.parametrize("host", ["localtest.me", "x.lndo.site", "app.ddev.site", "lcl.host", "localho.st", "a.fuf.me"])
def test_domains_of_developers_that_lead_home_are_refused(host: str) -> None:
    assert taken(host) is None


def test_the_generator_spells_what_glibc_reads() -> None:
    """Otherwise the law would be asked about nothing."""
    texts = [spellings.authority(random.Random(seed)) for seed in range(2_000)]  # noqa: S311 - the same every time
    read = [text for text in texts if any(spellings.is_inside(ipaddress.ip_address(one)) for one in of_glibc(text))]
    assert len(read) > 200
    assert len({text for text in texts if taken(text) is None}) > 1_000
